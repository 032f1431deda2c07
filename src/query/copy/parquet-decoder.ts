// Decodes a Parquet file in batches of rows, even if its row groups are large.

import { HedgerowError } from '../../errors.ts';
import { type FileHandle, readFully } from '../../storage/index.ts';
import { ColumnRows, type RangeFile } from './parquet-column.ts';
import {
  assembleNested,
  type DecodedArray,
  type FileMetaData,
  leafColumn,
  PARSERS,
  parquetMetadataAsync,
  parquetSchema,
  type RowGroup,
  type SchemaTree,
} from './parquet-library.ts';
import type { ParquetBatch, ParquetSource } from './parquet-port.ts';

/**
 * Size in bytes of the shortest possible file: the magic number at the start and at the end, and
 * the length of the footer.
 */
const SHORTEST_FILE = 12;
/**
 * Maximum number of rows that `next` returns. Copying this many between threads takes a few
 * milliseconds.
 */
const BATCH_ROWS = 1024;

export class ParquetDecoder implements ParquetSource {
  readonly #file: PortFile;
  #metadata: FileMetaData | undefined;
  #batches: AsyncGenerator<ParquetBatch, void, undefined> | undefined;

  constructor(handle: FileHandle) {
    this.#file = new PortFile(handle);
  }

  async names(): Promise<string[]> {
    const { byteLength } = this.#file;
    if (byteLength < SHORTEST_FILE) throw noParquet(`it has ${byteLength} bytes`);
    const metadata = await this.#file.attempt(() => parquetMetadataAsync(this.#file));
    this.#metadata = metadata;
    return this.#file.attempt(async () => parquetSchema(metadata).children.map((child) => child.element.name));
  }

  async next(columns: readonly string[]): Promise<ParquetBatch | undefined> {
    this.#batches ??= this.#decode(columns, this.#metadata!);
    const step = await this.#batches.next();
    return step.done === true ? undefined : step.value;
  }

  async *#decode(names: readonly string[], metadata: FileMetaData): AsyncGenerator<ParquetBatch, void, undefined> {
    const file = this.#file;
    const schema = parquetSchema(metadata);
    let start = 0;
    for (const group of metadata.row_groups) {
      const groupEnd = start + Number(group.num_rows);
      const columns = await file.attempt(async () =>
        groupEnd === start ? [] : names.map((name) => columnOf(file, group, schema, name)),
      );
      while (start < groupEnd) {
        const count = Math.min(BATCH_ROWS, groupEnd - start);
        yield { start, count, columns: await file.attempt(async () => columns.map((take) => take(count))) };
        start += count;
      }
    }
  }

  close(): void {
    void this.#batches?.return();
  }
}

/** Returns the next `count` rows of a column. */
type TakeRows = (count: number) => DecodedArray;

function columnOf(file: RangeFile, group: RowGroup, schema: SchemaTree, name: string): TakeRows {
  const column = schema.children.find((child) => child.element.name === name);
  const leaves = group.columns.flatMap(({ meta_data: chunk, file_path: otherFile }) => {
    if (chunk?.path_in_schema[0] !== name) return [];
    if (otherFile) throw new Error('it has columns in other files');
    const leaf = leafColumn(schema, chunk);
    return [{ leaf, rows: new ColumnRows(file, leaf, chunk) }];
  });
  const first = leaves[0]?.rows;
  if (column === undefined || first === undefined) throw new Error(`a row group has no column ${name}`);
  if (column.children.length === 0) return (count) => first.take(count);
  return (count) => {
    const parts = new Map(leaves.map(({ leaf, rows }) => [leaf.path, rows.take(count)]));
    assembleNested(parts, column, PARSERS);
    return parts.get(name)!;
  };
}

/** Gives the library access to the file by byte ranges. */
class PortFile implements RangeFile {
  readonly byteLength: number;
  readonly #handle: FileHandle;
  /** An error while reading bytes, which must not be reported as a fault in the file's contents. */
  #failure: { error: unknown } | undefined;

  constructor(handle: FileHandle) {
    this.#handle = handle;
    this.byteLength = handle.size();
  }

  slice(start: number, end: number = this.byteLength): ArrayBuffer {
    if (!(start >= 0 && start <= end && end <= this.byteLength)) throw new Error('it refers to bytes after its end');
    const bytes = new Uint8Array(end - start);
    try {
      if (readFully(this.#handle, bytes, start) < bytes.length) throw new Error('it became shorter while it was read');
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
    return bytes.buffer;
  }

  /** Runs library code on the file. Errors of the library are reported as faults in the file. */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.#failure !== undefined) throw this.#failure.error;
      throw noParquet((error as Error).message, error);
    }
  }
}

export function noParquet(why: string, cause?: unknown): HedgerowError {
  return new HedgerowError('invalid_input', `The file is not a Parquet file that can be read: ${why}.`, { cause });
}
