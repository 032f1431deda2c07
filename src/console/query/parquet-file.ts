// Puts rows together as a Parquet file, in the browser: columns with the types that their values
// have, in the form that the service writes.

import type { CellType, ColumnType } from '../../formats/columns.ts';
import { ParquetEncoder } from '../../formats/parquet-encoder.ts';

/** Rows that are encoded before the page has its turn again. */
const TURN_ROWS = 4096;

type Kind = CellType | 'list' | 'other';

/** Holds all rows until the end: only then is known what the columns are. */
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

  /** The bytes of the file, in order. Throws what `signal` was aborted with. */
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

/** The values of a column, and what they were seen to be. */
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

/** Numbers beyond 2^53 are known to their next double only. */
function kindOf(value: unknown): Kind {
  if (typeof value === 'number') return Number.isSafeInteger(value) && !Object.is(value, -0) ? 'integer' : 'real';
  if (typeof value === 'string') return 'text';
  if (typeof value === 'boolean') return 'boolean';
  return Array.isArray(value) ? 'list' : 'other';
}

/** The one type that holds them all; `none` when there is nothing to hold. */
function commonOf(kinds: ReadonlySet<Kind>, none: CellType): CellType | undefined {
  const [only] = kinds;
  if (only === undefined) return none;
  if ([...kinds].every((kind) => kind === 'integer' || kind === 'real')) return kinds.has('real') ? 'real' : 'integer';
  return kinds.size === 1 && (only === 'text' || only === 'boolean') ? only : undefined;
}
