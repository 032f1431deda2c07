// Reads the rows of a Parquet file, some of a row group at a time. The only file that knows hyparquet and its decompressors.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import {
  type AsyncBuffer,
  type DecodedArray,
  type FileMetaData,
  parquetMetadataAsync,
  parquetScan,
  parquetSchema,
} from 'hyparquet';
import { decompressLz4, decompressLz4Raw, decompressZstd } from 'hyparquet-compressors';
import type { Table } from '../../engine/index.ts';
import type { EdgeInput } from '../../engine/types.ts';
import { HedgerowError } from '../../errors.ts';
import type { FileHandle } from '../../storage/fs.ts';
import { readFully } from '../../storage/whole-file.ts';
import { EdgeBuilder } from './edge-builder.ts';
import type { RowBatch } from './rows.ts';
import { type Target, targetsOf } from './targets.ts';

/** Rows decoded at once where the file says on which pages they lie; elsewhere it is a whole row group. */
const WINDOW_ROWS = 32_768;
/** A row group that has to be decoded whole, at most. Writers make theirs of 128 MB or a million rows by default. */
const MAX_GROUP_BYTES = 2 ** 29;
const MAX_GROUP_ROWS = 2 ** 22;

type Scan = Awaited<ReturnType<typeof parquetScan>>;

/** A column that is read. */
interface Source {
  readonly name: string;
  readonly target: Target;
}

/** `pause` is awaited between two columns. Throws `invalid_input` or `unknown_column` for what is no Parquet or has other columns. */
export async function* parquetRows(
  handle: FileHandle,
  table: Table,
  pause: () => Promise<void>,
): AsyncGenerator<RowBatch, void, undefined> {
  const file = new PortFile(handle);
  const metadata = await file.attempt(() => parquetMetadataAsync(file));
  const names = await file.attempt(async () => parquetSchema(metadata).children.map((child) => child.element.name));
  const targets = targetsOf(names, table);
  const sources = names.flatMap((name, index): Source[] =>
    targets[index]!.kind === 'id' ? [] : [{ name, target: targets[index]! }],
  );
  const columns = sources.map(({ name }) => name);
  const scan = await file.attempt(() =>
    parquetScan({ file, metadata, columns, compressors: COMPRESSORS, parsers: PARSERS }),
  );
  for (const { start, end } of windowsOf(metadata, columns)) {
    const values: DecodedArray[] = [];
    for (const column of columns) {
      values.push(await file.attempt(() => readColumn(scan, column, start, end)));
      await pause();
    }
    yield {
      count: end - start,
      at: (index) => start + index + 1,
      edge: (index) => edgeOf(values, index, sources),
    };
  }
}

async function readColumn(scan: Scan, column: string, rowStart: number, rowEnd: number): Promise<DecodedArray> {
  const data = await scan.readColumn({ column, rowStart, rowEnd });
  if (data.length !== rowEnd - rowStart)
    throw new Error(`column ${column} has ${data.length} values for ${rowEnd - rowStart} rows`);
  return data;
}

function* windowsOf(
  metadata: FileMetaData,
  columns: readonly string[],
): Generator<{ start: number; end: number }, void, undefined> {
  let groupStart = 0;
  for (const group of metadata.row_groups) {
    const rows = Number(group.num_rows);
    const read = group.columns.filter((chunk) => columns.includes(chunk.meta_data?.path_in_schema[0] ?? ''));
    const hasPages = read.every(
      (chunk) => chunk.offset_index_offset !== undefined && chunk.offset_index_length !== undefined,
    );
    if (!hasPages && (rows > MAX_GROUP_ROWS || group.total_byte_size > MAX_GROUP_BYTES)) {
      throw new HedgerowError(
        'invalid_input',
        `The file has a row group of ${rows} rows and ${group.total_byte_size} bytes. Write it with smaller row groups, or with a page index.`,
      );
    }
    const step = hasPages ? WINDOW_ROWS : Math.max(1, rows);
    for (let from = 0; from < rows; from += step)
      yield { start: groupStart + from, end: groupStart + Math.min(rows, from + step) };
    groupStart += rows;
  }
}

function edgeOf(columns: readonly DecodedArray[], index: number, sources: readonly Source[]): EdgeInput {
  const builder = new EdgeBuilder();
  for (const [place, { target }] of sources.entries()) builder.set(target, plainValue(columns[place]![index]));
  return builder.edge();
}

/** 64-bit integers as numbers, where those can hold them. */
function plainValue(value: unknown): unknown {
  if (typeof value === 'bigint') {
    const number = Number(value);
    if (Number.isSafeInteger(number)) return number;
    throw new HedgerowError('invalid_input', `The integer ${value} lies beyond 2^53-1.`);
  }
  if (Array.isArray(value) || ArrayBuffer.isView(value)) return Array.from(value as ArrayLike<unknown>, plainValue);
  return value ?? null;
}

const DECODER = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

const PARSERS = {
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && DECODER.decode(bytes),
};

const COMPRESSORS = {
  GZIP: (input: Uint8Array) => gunzipSync(input),
  BROTLI: (input: Uint8Array) => brotliDecompressSync(input),
  ZSTD: (input: Uint8Array) => decompressZstd(input),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
};

/** The file as the library reads it: by ranges. */
class PortFile implements AsyncBuffer {
  readonly byteLength: number;
  readonly #handle: FileHandle;
  /** What the disk said, which is no fault of the file. */
  #failure: { error: unknown } | undefined;

  constructor(handle: FileHandle) {
    this.#handle = handle;
    this.byteLength = handle.size();
  }

  slice(start: number, end: number = this.byteLength): ArrayBuffer {
    if (!(start >= 0 && start <= end && end <= this.byteLength)) throw new Error('it names bytes behind its end');
    const bytes = new Uint8Array(end - start);
    try {
      if (readFully(this.#handle, bytes, start) < bytes.length) throw new Error('it became shorter while it was read');
    } catch (error) {
      this.#failure = { error };
      throw error;
    }
    return bytes.buffer;
  }

  /** What the library makes of the file; its errors are the file's. */
  async attempt<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (this.#failure !== undefined) throw this.#failure.error;
      throw new HedgerowError(
        'invalid_input',
        `The file is no Parquet that can be read: ${(error as Error).message}.`,
        { cause: error },
      );
    }
  }
}
