// Builds a Parquet file from rows in the browser, in the form that the service writes. The types of
// the columns follow from their values.

import type { CellType, ColumnType } from '../../formats/columns.ts';
import { ParquetEncoder } from '../../formats/parquet-encoder.ts';

/** Number of rows that are encoded before the page can respond to input again. */
const TURN_ROWS = 4096;

type Kind = CellType | 'list' | 'other';

/** Holds all rows until the end, because only then are the types of the columns known. */
export class ParquetFile {
  rowCount = 0;
  readonly #columns: readonly Column[];

  constructor(names: readonly string[]) {
    this.#columns = names.map((name) => new Column(name));
  }

  add(row: Readonly<Record<string, unknown>>): void {
    for (const column of this.#columns) column.add(row[column.name]);
    this.rowCount += 1;
  }

  /** Yields the bytes of the file in order. Throws the reason with which `signal` was aborted. */
  async *parts(signal?: AbortSignal): AsyncGenerator<Uint8Array<ArrayBuffer>> {
    const encoder = new ParquetEncoder(this.#columns);
    for (let start = 0; start < this.rowCount; start += TURN_ROWS) {
      yield await encoder.add(this.#columns.map(({ values }) => values.slice(start, start + TURN_ROWS)));
      await new Promise((resolve) => setTimeout(resolve));
      signal?.throwIfAborted();
    }
    yield await encoder.end();
  }
}

/** The values of a column, and the kinds that occur among them. */
class Column {
  readonly name: string;
  readonly values: unknown[] = [];
  readonly #kinds = new Set<Kind>();
  readonly #kindsInLists = new Set<Kind>();

  constructor(name: string) {
    this.name = name;
  }

  add(value: unknown): void {
    this.values.push(value ?? null);
    if (value === null || value === undefined) return;
    this.#kinds.add(kindOf(value));
    if (!Array.isArray(value)) return;
    for (const item of value) if (item !== null) this.#kindsInLists.add(kindOf(item));
  }

  get type(): ColumnType {
    if (!this.#kinds.has('list')) return commonOf(this.#kinds, 'text') ?? 'json';
    const item = commonOf(this.#kindsInLists, 'integer');
    return this.#kinds.size === 1 && item !== undefined ? { listOf: item } : 'json';
  }
}

/** Integers beyond 2^53 may have been rounded, so they count as real. */
function kindOf(value: unknown): Kind {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? 'integer' : 'real';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return Array.isArray(value) ? 'list' : 'other';
}

/**
 * Returns the one type that holds all kinds; `none` when there is no value; undefined when there is
 * no such type.
 */
function commonOf(kinds: ReadonlySet<Kind>, none: CellType): CellType | undefined {
  const [only] = kinds;
  if (only === undefined) return none;
  if ([...kinds].every((kind) => kind === 'integer' || kind === 'real')) return kinds.has('real') ? 'real' : 'integer';
  return kinds.size === 1 && (only === 'text' || only === 'boolean') ? only : undefined;
}
