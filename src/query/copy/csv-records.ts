// Cuts the bytes of CSV (RFC 4180) into records.
//
// Written by hand because it is most of an import: rows without a quote, which nearly all are, are cut with searches alone, several times as
// fast as by a parser that looks at every character.

import { isUtf8 } from 'node:buffer';
import { HedgerowError } from '../../errors.ts';
import { type LineBlock, MAX_LINE_BYTES } from './whole-lines.ts';

/** Null: the cell is empty and not in quotes. */
export type Cells = readonly (string | null)[];

export interface CutRecords {
  readonly records: readonly Cells[];
  /** Where each ends, in bytes from the beginning of the first block. */
  readonly ends: readonly number[];
  /** Each as it stands in the file, with its line break. */
  readonly raws: readonly string[];
  /** How many lines each takes: more than one when line breaks stand in its cells. */
  readonly lines: readonly number[];
  /** Which of them are no CSV or no UTF-8, and why; they have no cells. Only where faults are passed over. */
  readonly faults: ReadonlyMap<number, string>;
  /** What stands behind the records is no CSV. */
  readonly failure: HedgerowError | undefined;
}

export interface CutRules {
  readonly delimiter: string;
  readonly maxRecordBytes: number;
  /** A line at which something is wrong becomes a record of its own, and the next line begins another. */
  readonly passesFaults: boolean;
  /** How many cells a record has. One of several lines with another number began with a quote that was never closed. Undefined: any number. */
  readonly width?: number | undefined;
}

const STRICT: CutRules = { delimiter: ',', maxRecordBytes: MAX_LINE_BYTES, passesFaults: false };

/** Cells are parts of larger texts in memory: what keeps one for long should copy it. Ends behind what is no CSV. */
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
      return 'a quote stands in a cell that is not in quotes.';
    case 'long':
      return `the row is longer than ${maxRecordBytes} bytes.`;
  }
}

class RecordCutter {
  readonly #rules: CutRules;
  /** The beginning of a record that goes on in the next block. */
  #rest: Buffer[] = [];
  #restBytes = 0;
  /** It is not looked at before there is so much of it: otherwise a long one would be read again with every block. */
  #enough = 0;
  /** Bytes before the rest. */
  #offset = 0;

  constructor(rules: CutRules) {
    this.#rules = rules;
  }

  /** Whole lines. Undefined: more is needed. */
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

/** A text and the records that were found in it. */
class Found {
  readonly text: string;
  readonly records: Cells[] = [];
  readonly ends: number[] = [];
  readonly raws: string[] = [];
  readonly lines: number[] = [];
  readonly faults = new Map<number, string>();
  usedBytes: number;
  readonly #isUtf8: boolean;
  /** One character is one byte. */
  readonly #isPlain: boolean;

  constructor(bytes: Buffer, offset: number) {
    // Otherwise as bytes, so that the lines that are valid can be told from the others.
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

/** Gives what is wrong behind the last record; a record that is not finished stays, when this is not the end. */
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
      // A carriage return belongs to the line break, but not without one.
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

/** The quote that closes its cell belongs to another line. */
function isSwallowed({ cells, lines }: QuotedRecord, { width }: CutRules): boolean {
  return width !== undefined && lines > 1 && cells.length !== width;
}

/** Cuts lines without quotes, one behind the other. */
class PlainLines {
  readonly #text: string;
  readonly #delimiter: string;
  /** Where the next delimiter stands, in whichever line: so that it is not searched for again in every line that has none. */
  #next = -1;
  /** How many cells the last line had. */
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
  /** Behind its line break; more than the text has when it ends without one. */
  readonly next: number;
  readonly lines: number;
}

/** A record of which some cell stands in quotes. */
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

/** -1: there is none. */
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

/** The length of the text when it is not there. */
function indexOr(text: string, what: string, from: number): number {
  const at = text.indexOf(what, from);
  return at < 0 ? text.length : at;
}
