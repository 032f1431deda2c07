// Gathers the edges that rows became in batches, as lines of JSON that know the rows they were made from.

import { reasonOf } from './edge-line.ts';
import type { BatchLimits, LineBatch, NamedNode, Position } from './line-batches.ts';

const NEWLINE = 10;
const NO_NAMES = { take: (): readonly NamedNode[] => [] };

/** How rows of a format become lines, and how they are shown. */
export interface RowForm<Row, Kept> {
  /** Throws what is wrong with the row. */
  lineOf(row: Row): string;
  /** What is held of a row until its batch is stored. */
  kept(row: Row): Kept;
  shown(kept: Kept): string;
}

export class RowBatches<Row, Kept> {
  readonly #limits: BatchLimits;
  readonly #form: RowForm<Row, Kept>;
  readonly #names: { take(): readonly NamedNode[] };
  #from: Position;
  #texts: string[] = [];
  #characters = 0;
  #offsets: number[] = [];
  #lines: number[] = [];
  #rows: Kept[] = [];
  #faults = new Map<number, string>();

  constructor(
    limits: BatchLimits,
    from: Position,
    form: RowForm<Row, Kept>,
    names: { take(): readonly NamedNode[] } = NO_NAMES,
  ) {
    this.#limits = limits;
    this.#from = from;
    this.#form = form;
    this.#names = names;
  }

  /** `line`: on which the row begins; `offset` and `nextLine`: where the input goes on. Gives a batch that is full. */
  add(row: Row, line: number, offset: number, nextLine: number): LineBatch | undefined {
    let text = '';
    try {
      text = this.#form.lineOf(row);
    } catch (error) {
      this.#faults.set(this.#texts.length, reasonOf(error));
    }
    this.#texts.push(text);
    this.#characters += text.length;
    this.#rows.push(this.#form.kept(row));
    this.#lines.push(line);
    this.#offsets.push(offset);
    this.#nextLine = nextLine;
    const { rows, bytes } = this.#limits;
    return this.#texts.length >= rows || this.#characters >= bytes ? this.take() : undefined;
  }

  #nextLine = 1;

  /** Undefined: there is nothing. */
  take(): LineBatch | undefined {
    if (this.#texts.length === 0) return undefined;
    const bytes = Buffer.from(`${this.#texts.join('\n')}\n`);
    const ends: number[] = [];
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(at);
    const [offsets, lines, rows, from] = [this.#offsets, this.#lines, this.#rows, this.#from];
    const next: Position = { offset: offsets[offsets.length - 1]!, line: this.#nextLine };
    const { shown } = this.#form;
    const batch: LineBatch = {
      bytes,
      ends,
      firstLine: lines[0]!,
      tooLong: false,
      after: (index) => ({
        offset: index < 0 ? from.offset : offsets[index]!,
        line: lines[index + 1] ?? next.line,
      }),
      original: (index) => shown(rows[index]!),
      faults: this.#faults,
      names: this.#names.take(),
    };
    this.#from = next;
    this.#texts = [];
    this.#characters = 0;
    this.#offsets = [];
    this.#lines = [];
    this.#rows = [];
    this.#faults = new Map();
    return batch;
  }
}
