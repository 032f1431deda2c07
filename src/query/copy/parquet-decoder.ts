// Decodes the columns of a Parquet file, some of a row group at a time. The only file that knows hyparquet and its decompressors.

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
import { HedgerowError } from '../../errors.ts';
import type { FileHandle } from '../../storage/fs.ts';
import { readFully } from '../../storage/whole-file.ts';
import type { ParquetBatch, ParquetSource } from './parquet-port.ts';

/** Bytes: the mark in front, the length of the footer, the mark behind. */
const SHORTEST_FILE = 12;
/** Rows decoded at once where the file says on which pages they lie; elsewhere it is a whole row group. */
const WINDOW_ROWS = 32_768;
/** A row group that has to be decoded whole, at most. Writers make theirs of 128 MB or a million rows by default. */
const MAX_GROUP_BYTES = 2 ** 29;
const MAX_GROUP_ROWS = 2 ** 22;
/** Rows given at once: so many are copied out of a thread in a few milliseconds. */
const BATCH_ROWS = 1024;

type Scan = Awaited<ReturnType<typeof parquetScan>>;

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
    const columns = [...names];
    const scan = await file.attempt(() =>
      parquetScan({ file, metadata, columns, compressors: COMPRESSORS, parsers: PARSERS }),
    );
    for (const { start, end } of windowsOf(metadata, columns)) {
      const values: DecodedArray[] = [];
      for (const column of columns) values.push(await file.attempt(() => readColumn(scan, column, start, end)));
      for (let from = start; from < end; from += BATCH_ROWS) {
        const to = Math.min(end, from + BATCH_ROWS);
        yield { start: from, count: to - from, columns: values.map((all) => all.slice(from - start, to - start)) };
      }
    }
  }

  close(): void {
    void this.#batches?.return();
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
      throw noParquet((error as Error).message, error);
    }
  }
}

function noParquet(why: string, cause?: unknown): HedgerowError {
  return new HedgerowError('invalid_input', `The file is no Parquet that can be read: ${why}.`, { cause });
}
