// Encodes rows as a Parquet file, one row group at a time, for the service, the command line and
// the console. Only this file imports hyparquet-writer.

import { ByteWriter, ParquetWriter } from 'hyparquet-writer';
import type { CellType, ColumnType, ResultColumn } from './columns.ts';

/** Limits of a row group: it is written when it reaches either of them. */
const GROUP_ROWS = 8192;
const GROUP_CHARACTERS = 2 ** 22;

type Schema = ConstructorParameters<typeof ParquetWriter>[0]['schema'];
type Element = Schema[number];

export class ParquetEncoder {
  readonly #columns: readonly ResultColumn[];
  readonly #bytes = new ByteWriter();
  readonly #writer: ParquetWriter;
  #group: RowGroup;

  constructor(columns: readonly ResultColumn[]) {
    this.#columns = columns;
    this.#writer = new ParquetWriter({ writer: this.#bytes, schema: schemaOf(columns), createdBy: 'Hedgerow' });
    this.#group = new RowGroup(columns);
  }

  async add(columns: readonly (readonly unknown[])[]): Promise<Uint8Array<ArrayBuffer>> {
    this.#group.add(columns);
    if (this.#group.full) this.#writeGroup();
    return this.#taken();
  }

  /**
   * Does not await `write`: it is synchronous for a ByteWriter, which has no `flush` that returns a
   * promise.
   */
  #writeGroup(): void {
    const { data, rows } = this.#group;
    void this.#writer.write({ columnData: data, rowGroupSize: rows });
    this.#group = new RowGroup(this.#columns);
  }

  async end(): Promise<Uint8Array<ArrayBuffer>> {
    if (this.#group.rows > 0) this.#writeGroup();
    void this.#writer.finish();
    return this.#taken();
  }

  /** Returns the bytes that were written since the last call. */
  #taken(): Uint8Array<ArrayBuffer> {
    const bytes = this.#bytes;
    const piece = new Uint8Array(bytes.buffer.slice(0, bytes.index));
    bytes.index = 0;
    return piece;
  }

  close(): void {}
}

class RowGroup {
  readonly data: { name: string; data: unknown[] }[];
  readonly #types: readonly ColumnType[];
  rows = 0;
  #characters = 0;

  constructor(columns: readonly ResultColumn[]) {
    this.data = columns.map(({ name }) => ({ name, data: [] }));
    this.#types = columns.map(({ type }) => type);
  }

  get full(): boolean {
    return this.rows >= GROUP_ROWS || this.#characters >= GROUP_CHARACTERS;
  }

  add(columns: readonly (readonly unknown[])[]): void {
    for (const [place, values] of columns.entries()) {
      const { data } = this.data[place]!;
      const type = this.#types[place]!;
      for (const each of values) {
        const value = parquetValue(each, type);
        this.#characters += charactersIn(value);
        data.push(value);
      }
    }
    this.rows += columns[0]?.length ?? 0;
  }
}

/** Returns the length of a text, or of the texts in a list. */
function charactersIn(value: unknown): number {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value) ? value.reduce((sum: number, item) => sum + charactersIn(item), 0) : 0;
}

function parquetValue(value: unknown, type: ColumnType): unknown {
  if (value === null) return null;
  if (type === 'integer') return BigInt(value as number);
  if (type === 'json') return JSON.stringify(value);
  if (typeof type === 'string') return value;
  return (value as readonly unknown[]).map((item) => parquetValue(item, type.listOf));
}

function schemaOf(columns: readonly ResultColumn[]): Schema {
  return [{ name: 'root', num_children: columns.length }, ...columns.flatMap(elementsOf)];
}

/**
 * Returns the schema of a column. Integers, reals, booleans and texts are optional columns of the
 * types INT64, DOUBLE, BOOLEAN and UTF8. A list has the three levels that the Parquet format
 * requires.
 */
function elementsOf({ name, type }: ResultColumn): Element[] {
  if (type === 'json') return [leaf(name, 'text')];
  if (typeof type === 'string') return [leaf(name, type)];
  return [
    { name, repetition_type: 'OPTIONAL', num_children: 1, converted_type: 'LIST', logical_type: { type: 'LIST' } },
    { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
    leaf('element', type.listOf),
  ];
}

function leaf(name: string, type: CellType): Element {
  const base = { name, repetition_type: 'OPTIONAL' as const };
  switch (type) {
    case 'integer':
      return { ...base, type: 'INT64' };
    case 'real':
      return { ...base, type: 'DOUBLE' };
    case 'boolean':
      return { ...base, type: 'BOOLEAN' };
    case 'text':
      return { ...base, type: 'BYTE_ARRAY', converted_type: 'UTF8', logical_type: { type: 'STRING' } };
  }
}
