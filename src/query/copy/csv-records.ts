// Splits the bytes of CSV (RFC 4180) into records.
//
// This parser is our own because an import spends most of its time here. Nearly all lines contain
// no quotes. They are split only by searching for delimiters, which is several times as fast as
// examining every character.
//
// A block is scanned line by line. If the next quote is after the end of the line, the line is a
// record, which is split at its delimiters. Otherwise the record is parsed cell by cell, and may
// extend over several lines. For example, the second record here has two lines:
//
//   1,Anna,4.5
//   2,"Bert
//   and Carl",3.0
//
// An unfinished record at the end of a block is kept. It is scanned again from its beginning when
// the kept bytes have doubled or exceed the maximum length, so that the total work stays linear.
// With `passesFaults`, a faulty line becomes a record with a fault, and scanning resumes at the
// next line.

import { isUtf8 } from 'node:buffer';
import { HedgerowError } from '../../errors.ts';
import { type LineBlock, MAX_LINE_BYTES } from './whole-lines.ts';

/** The cells of a record. Null: the cell is empty and not quoted. */
export type Cells = readonly (string | null)[];

export interface CutRecords {
  readonly records: readonly Cells[];
  /** Offset at which each record ends, in bytes from the beginning of the first block. */
  readonly ends: readonly number[];
  /** Text of each record as it is in the file, with its line break. */
  readonly raws: readonly string[];
  /** Number of lines of each record: more than one if cells contain line breaks. */
  readonly lines: readonly number[];
  /**
   * The reasons why records are not valid UTF-8 or, with `passesFaults`, not valid CSV, by index of
   * the record. These records have no cells.
   */
  readonly faults: ReadonlyMap<number, string>;
  /** Set if the text after the records is not valid CSV and `passesFaults` is false. */
  readonly failure: HedgerowError | undefined;
}

export interface CutRules {
  readonly delimiter: string;
  readonly maxRecordBytes: number;
  /** True: a faulty line becomes a record of its own, and the next line begins another record. */
  readonly passesFaults: boolean;
  /**
   * Number of cells in each record. If a record of several lines has a different number of cells,
   * its opening quote is assumed to lack a closing quote. Undefined: any number of cells is
   * allowed.
   */
  readonly width?: number | undefined;
}

const STRICT: CutRules = { delimiter: ',', maxRecordBytes: MAX_LINE_BYTES, passesFaults: false };

/**
 * Yields the records in the blocks, up to the first `failure`. The cells are substrings of larger
 * texts, which they keep in memory, so copy cells that are kept for long.
 */
export async function* csvRecords(
  blocks: AsyncIterable<Pick<LineBlock, 'bytes'>>,
  rules: CutRules = STRICT,
): AsyncGenerator<CutRecords, void, undefined> {
  const cutter = new RecordCutter(rules);
  for await (const { bytes } of blocks) {
    const cut = cutter.add(bytes);
    if (cut === undefined) continue;
    yield cut;
    if (cut.failure !== undefined) return;
  }
  yield cutter.end();
}

type Fault = 'open' | 'undoubled' | 'bare' | 'long';

function faultText(fault: Fault, { maxRecordBytes }: CutRules): string {
  switch (fault) {
    case 'open':
      return 'a cell in quotes does not end.';
    case 'undoubled':
      return 'a quote inside of a cell in quotes is not doubled.';
    case 'bare':
      return 'a quote is in a cell that is not in quotes.';
    case 'long':
      return `the row is longer than ${maxRecordBytes} bytes.`;
  }
}

class RecordCutter {
  readonly #rules: CutRules;
  /** The beginning of a record that continues in the next block. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  /**
   * The rest is scanned again only when it has at least this many bytes, so that a long record is
   * not scanned with every block.
   */
  #enough = 0;
  /** Number of bytes before the rest, from the beginning of the first block. */
  #offset = 0;

  constructor(rules: CutRules) {
    this.#rules = rules;
  }

  /** Adds whole lines. Returns undefined if more lines are needed. */
  add(bytes: Buffer): CutRecords | undefined {
    this.#rest.push(bytes);
    this.#restBytes += bytes.length;
    return this.#restBytes < this.#enough ? undefined : this.#cut(false);
  }

  end(): CutRecords {
    return this.#cut(true);
  }

  #cut(isEnd: boolean): CutRecords {
    const rules = this.#rules;
    const bytes = this.#rest.length === 1 ? this.#rest[0]! : Buffer.concat(this.#rest);
    const found = new Found(bytes, this.#offset);
    const fault = scan(found, rules, isEnd);
    const rest = bytes.subarray(found.usedBytes - this.#offset);
    this.#offset = found.usedBytes;
    this.#rest = rest.length === 0 ? [] : [rest];
    this.#restBytes = rest.length;
    this.#enough = Math.min(2 * rest.length, rules.maxRecordBytes + 1);
    const failure = fault === undefined ? undefined : new HedgerowError('invalid_input', faultText(fault, rules));
    const { records, ends, raws, lines, faults } = found;
    return { records, ends, raws, lines, faults, failure };
  }
}

/** A text and the records found in it. */
class Found {
  readonly text: string;
  readonly records: Cells[] = [];
  readonly ends: number[] = [];
  readonly raws: string[] = [];
  readonly lines: number[] = [];
  readonly faults = new Map<number, string>();
  usedBytes: number;
  readonly #isUtf8: boolean;
  /** True if each character is one byte. */
  readonly #isPlain: boolean;

  constructor(bytes: Buffer, offset: number) {
    // Invalid UTF-8 is decoded byte by byte, so that valid lines can still be distinguished from
    // invalid ones.
    this.#isUtf8 = isUtf8(bytes);
    this.text = bytes.toString(this.#isUtf8 ? 'utf8' : 'latin1');
    this.usedBytes = offset;
    this.#isPlain = this.text.length === bytes.length;
  }

  add(cells: Cells, start: number, end: number, lines: number): void {
    const raw = this.text.slice(start, end);
    if (!this.#isUtf8) {
      this.#addBytes(cells, Buffer.from(raw, 'latin1'), lines);
      return;
    }
    this.usedBytes += this.#isPlain ? end - start : Buffer.byteLength(raw);
    this.#push(cells, raw, lines);
  }

  addFault(start: number, end: number, fault: string): void {
    this.faults.set(this.records.length, fault);
    this.add([], start, end, 1);
  }

  #addBytes(cells: Cells, raw: Buffer, lines: number): void {
    this.usedBytes += raw.length;
    if (!isUtf8(raw)) {
      this.faults.set(this.records.length, notUtf8(raw));
      this.#push([], raw.toString(), lines);
      return;
    }
    const texts = cells.map((cell) => (cell === null ? null : Buffer.from(cell, 'latin1').toString()));
    this.#push(texts, raw.toString(), lines);
  }

  #push(cells: Cells, raw: string, lines: number): void {
    this.records.push(cells);
    this.ends.push(this.usedBytes);
    this.raws.push(raw);
    this.lines.push(lines);
  }
}

function notUtf8(raw: Buffer): string {
  const shown = new TextDecoder('windows-1252').decode(raw.subarray(0, 80)).replace(/\r?\n?$/, '');
  return `the line is not valid UTF-8; --encoding windows-1252 reads it as ${JSON.stringify(shown)}.`;
}

/**
 * Adds the records in the text to `found`. Returns the fault in the text after the last record, if
 * any. If `isEnd` is false, an unfinished record is left for later.
 */
function scan(found: Found, rules: CutRules, isEnd: boolean): Fault | undefined {
  const { text } = found;
  const { delimiter, maxRecordBytes } = rules;
  const plain = new PlainLines(text, delimiter);
  let quote = indexOr(text, '"', 0);
  for (let at = 0; at < text.length; ) {
    const newline = indexOr(text, '\n', at);
    if (newline === text.length && !isEnd) return undefined;
    if (quote < at) quote = indexOr(text, '"', at);
    let next = Math.min(newline + 1, text.length);
    if (quote > newline) {
      // A carriage return belongs to the line break only if a line feed follows.
      const end = newline < text.length && newline > at && text[newline - 1] === '\r' ? newline - 1 : newline;
      found.add(plain.cells(at, end), at, next, 1);
    } else {
      const record = quotedRecord(text, at, delimiter, maxRecordBytes);
      if (record === 'open' && !isEnd) return undefined;
      if (typeof record !== 'string' && !isSwallowed(record, rules)) {
        next = Math.min(record.next, text.length);
        found.add(record.cells, at, next, record.lines);
      } else {
        const fault = typeof record === 'string' ? record : 'open';
        if (!rules.passesFaults) return fault;
        found.addFault(at, next, faultText(fault, rules));
      }
    }
    at = next;
  }
  return undefined;
}

/**
 * Returns whether a record of several lines has the wrong number of cells. Then its opening quote
 * probably has no closing quote, and a quote in a later line was mistaken for one.
 */
function isSwallowed({ cells, lines }: QuotedRecord, { width }: CutRules): boolean {
  return width !== undefined && lines > 1 && cells.length !== width;
}

/** Splits lines that contain no quotes, one after another. */
class PlainLines {
  readonly #text: string;
  readonly #delimiter: string;
  /**
   * Position of the next delimiter, in this or a later line. Lines without a delimiter thus do not
   * search for it again.
   */
  #next = -1;
  /** Number of cells in the previous line. */
  #width = 0;

  constructor(text: string, delimiter: string) {
    this.#text = text;
    this.#delimiter = delimiter;
  }

  cells(from: number, end: number): Cells {
    const text = this.#text;
    const delimiter = this.#delimiter;
    const cells = new Array<string | null>(this.#width);
    let count = 0;
    let at = from;
    let next = this.#next < from ? indexOr(text, delimiter, from) : this.#next;
    while (next < end) {
      cells[count++] = next === at ? null : text.slice(at, next);
      at = next + 1;
      next = indexOr(text, delimiter, at);
    }
    cells[count++] = end === at ? null : text.slice(at, end);
    cells.length = count;
    this.#next = next;
    this.#width = count;
    return cells;
  }
}

interface QuotedRecord {
  readonly cells: Cells;
  /**
   * Position after the record's line break. It is beyond the end of the text if there is no line
   * break.
   */
  readonly next: number;
  readonly lines: number;
}

/** Parses a record whose first line contains a quote. */
function quotedRecord(text: string, from: number, delimiter: string, most: number): QuotedRecord | Fault {
  const cells: (string | null)[] = [];
  let lines = 1;
  for (let at = from; ; at++) {
    if (text[at] === '"') {
      const close = closingQuote(text, at + 1);
      if ((close < 0 ? text.length : close) - from > most) return 'long';
      if (close < 0) return 'open';
      const inner = text.slice(at + 1, close);
      for (let line = inner.indexOf('\n'); line >= 0; line = inner.indexOf('\n', line + 1)) lines++;
      cells.push(inner.includes('"') ? inner.replaceAll('""', '"') : inner);
      at = close + 1;
    } else {
      const end = cellEnd(text, at, delimiter);
      const cell = text.slice(at, text[end] === '\n' && text[end - 1] === '\r' && end > at ? end - 1 : end);
      if (cell.includes('"')) return 'bare';
      cells.push(cell === '' ? null : cell);
      at = end;
    }
    if (text[at] === '\r' && text[at + 1] === '\n') at++;
    if (at >= text.length || text[at] === '\n') return { cells, next: at + 1, lines };
    if (text[at] !== delimiter) return 'undoubled';
  }
}

/** Returns the position of the closing quote, or -1 if there is none. */
function closingQuote(text: string, from: number): number {
  let at = text.indexOf('"', from);
  while (at >= 0 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
  return at;
}

function cellEnd(text: string, from: number, delimiter: string): number {
  let at = from;
  while (at < text.length && text[at] !== delimiter && text[at] !== '\n') at++;
  return at;
}

/** Returns the position of `what`, or the length of the text if it is not found. */
function indexOr(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at < 0 ? text.length : at;
}
