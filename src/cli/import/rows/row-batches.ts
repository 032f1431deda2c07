// Converts rows to edges or nodes and collects them in batches, which also keep the original rows.

import type { EdgeInput } from '../../../engine/index.ts';
import type { BatchLimits, LineBatch, NamedNode, NodeRow, Position } from '../line-batches.ts';
import type { NodeNames } from '../node-names.ts';
import { reasonOf } from './edge-line.ts';

/** What a row becomes. */
export type RowItem = EdgeInput | NodeRow;

const NEWLINE = 10;

/** The methods of NodeNames for the names that received a number since the last `take`. */
type TakenNames = Pick<NodeNames, 'take' | 'waiting' | 'forget'>;
const NO_NAMES: TakenNames = { take: (): readonly NamedNode[] => [], waiting: 0, forget() {} };

/** How rows of a format become edges or nodes, and how they are shown. */
export interface RowForm<Row, Kept> {
  /** Throws an error that describes what is wrong with the row. */
  itemOf(row: Row): RowItem;
  /** Returns what is kept of a row until its batch is stored. */
  kept(row: Row): Kept;
  shown(kept: Kept): string;
  /**
   * Returns the approximate size of a row in bytes. If left out, the size is estimated from the
   * edge or node.
   */
  bytesOf?(row: Row): number;
}

export class RowBatches<Row, Kept> {
  readonly #limits: BatchLimits;
  readonly #form: RowForm<Row, Kept>;
  readonly #names: TakenNames;
  #from: Position;
  #nextLine = 1;
  #bytes = 0;
  #items: (RowItem | undefined)[] = [];
  #offsets: number[] = [];
  #lines: number[] = [];
  #rows: Kept[] = [];
  #faults = new Map<number, string>();

  constructor(limits: BatchLimits, from: Position, form: RowForm<Row, Kept>, names: TakenNames = NO_NAMES) {
    this.#limits = limits;
    this.#from = from;
    this.#form = form;
    this.#names = names;
  }

  /**
   * Adds a row. Returns the batch if it is now full, or if it must end at its first fault and has
   * one. `line` is the line on which the row begins; `offset` and `nextLine` are the position at
   * which the input continues.
   */
  add(row: Row, line: number, offset: number, nextLine: number): LineBatch | undefined {
    let item: RowItem | undefined;
    const { waiting } = this.#names;
    try {
      item = this.#form.itemOf(row);
    } catch (error) {
      this.#faults.set(this.#items.length, reasonOf(error));
      this.#names.forget(waiting);
    }
    this.#items.push(item);
    this.#bytes += this.#form.bytesOf?.(row) ?? bytesOf(item);
    this.#rows.push(this.#form.kept(row));
    this.#lines.push(line);
    this.#offsets.push(offset);
    this.#nextLine = nextLine;
    const { rows, bytes, endsAtFault } = this.#limits;
    if (endsAtFault === true && this.#faults.size > 0) return this.take();
    return this.#items.length >= rows || this.#bytes >= bytes ? this.take() : undefined;
  }

  /** Returns the rows collected so far as a batch; undefined when there are none. */
  take(): LineBatch | undefined {
    if (this.#items.length === 0) return undefined;
    const next: Position = { offset: this.#offsets[this.#offsets.length - 1]!, line: this.#nextLine };
    const { shown } = this.#form;
    const batch = new RowBatch({
      items: this.#items,
      from: this.#from,
      next,
      offsets: this.#offsets,
      lines: this.#lines,
      rows: this.#rows,
      shown,
      faults: this.#faults,
      names: this.#names.take(),
    });
    this.#from = next;
    this.#bytes = 0;
    this.#items = [];
    this.#offsets = [];
    this.#lines = [];
    this.#rows = [];
    this.#faults = new Map();
    return batch;
  }
}

interface RowBatchParts<Kept> extends Pick<LineBatch, 'faults' | 'names'> {
  readonly items: readonly (RowItem | undefined)[];
  readonly from: Position;
  readonly next: Position;
  readonly offsets: readonly number[];
  readonly lines: readonly number[];
  readonly rows: readonly Kept[];
  shown(kept: Kept): string;
}

class RowBatch<Kept> implements LineBatch {
  readonly tooLong = false;
  readonly count: number;
  #parts: RowBatchParts<Kept>;
  #text: { bytes: Buffer; ends: number[] } | undefined;

  constructor(parts: RowBatchParts<Kept>) {
    this.#parts = parts;
    this.count = parts.items.length;
  }

  get items(): readonly (RowItem | undefined)[] {
    return this.#parts.items;
  }

  get faults(): LineBatch['faults'] {
    return this.#parts.faults;
  }

  get names(): LineBatch['names'] {
    return this.#parts.names;
  }

  get firstLine(): number {
    return this.#parts.lines[0]!;
  }

  get bytes(): Buffer {
    return this.#written().bytes;
  }

  get ends(): readonly number[] {
    return this.#written().ends;
  }

  /** Converts the items to lines of JSON when the lines are first needed. */
  #written(): { bytes: Buffer; ends: number[] } {
    if (this.#text !== undefined) return this.#text;
    const lines = this.#parts.items.map((item) => (item === undefined ? '' : JSON.stringify(item)));
    const bytes = Buffer.from(`${lines.join('\n')}\n`);
    const ends: number[] = [];
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) ends.push(at);
    this.#text = { bytes, ends };
    return this.#text;
  }

  after(index: number): Position {
    const { offsets, lines, from, next } = this.#parts;
    return { offset: index < 0 ? from.offset : offsets[index]!, line: lines[index + 1] ?? next.line };
  }

  original(index: number): string {
    return this.#parts.shown(this.#parts.rows[index]!);
  }

  content(): string | Uint8Array {
    const { rows, from } = this.#parts;
    return typeof rows[0] === 'string' ? `${from.offset}\n${rows.join('')}` : this.bytes;
  }

  release(): void {
    this.#parts = { ...this.#parts, items: [], rows: [], faults: undefined };
    this.#text = undefined;
  }
}

/** Estimates the size in bytes of an edge or node as a line of JSON. */
function bytesOf(item: RowItem | undefined): number {
  if (item === undefined) return 0;
  const { members, properties } = item as Partial<EdgeInput>;
  const values = (Array.isArray(members) ? properties : item) as NodeRow | undefined;
  let bytes = 32 + (Array.isArray(members) ? 12 * members.length : 0);
  for (const name in values) {
    const value = values[name];
    bytes += name.length + (typeof value === 'string' ? value.length : 12);
  }
  return bytes;
}
