// The parts of hyparquet and its decompressors that COPY uses. Only this file imports them.

import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { ColumnMetaData, SchemaTree } from 'hyparquet';
import { type convert, DEFAULT_PARSERS } from 'hyparquet/src/convert.js';
import { decompressPage } from 'hyparquet/src/datapage.js';
import { getMaxDefinitionLevel, getMaxRepetitionLevel, getTreePath } from 'hyparquet/src/schema.js';
import { decompressLz4, decompressLz4Raw, decompressZstd } from 'hyparquet-compressors';

export type {
  AsyncBuffer,
  ColumnMetaData,
  DecodedArray,
  FileMetaData,
  PageHeader,
  RowGroup,
  SchemaTree,
} from 'hyparquet';
export { parquetMetadataAsync, parquetSchema } from 'hyparquet';
export { assembleLists, assembleNested } from 'hyparquet/src/assemble.js';
export { parquetHeader } from 'hyparquet/src/column.js';
export { convert } from 'hyparquet/src/convert.js';
export { deltaBinaryUnpack } from 'hyparquet/src/delta.js';
export { readPlain } from 'hyparquet/src/plain.js';

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const PARSERS = {
  ...DEFAULT_PARSERS,
  stringFromBytes: (bytes: Uint8Array | undefined) => bytes && UTF8.decode(bytes),
};

const COMPRESSORS = {
  GZIP: (input: Uint8Array, size: number) => gunzipSync(input, { maxOutputLength: size }),
  BROTLI: (input: Uint8Array, size: number) => brotliDecompressSync(input, { maxOutputLength: size }),
  ZSTD: (input: Uint8Array) => decompressZstd(input),
  LZ4: decompressLz4,
  LZ4_RAW: decompressLz4Raw,
};

/** Properties of a column that do not depend on the row group. */
export interface LeafColumn {
  readonly decoder: Parameters<typeof convert>[1];
  /** The path as in the file: names joined by dots. */
  readonly path: string;
  readonly maxDefinition: number;
  readonly maxRepetition: number;
  /** True if each row is one value: the column is neither a list nor part of a struct. */
  readonly flat: boolean;
}

/** Returns the properties of a chunk's column. Throws if the column is not in the schema. */
export function leafColumn(schema: SchemaTree, { path_in_schema, type, codec }: ColumnMetaData): LeafColumn {
  const schemaPath = getTreePath(schema, path_in_schema);
  const { element } = schemaPath.at(-1)!;
  const maxRepetition = getMaxRepetitionLevel(schemaPath);
  return {
    decoder: { pathInSchema: path_in_schema, type, element, schemaPath, codec, parsers: PARSERS },
    path: path_in_schema.join('.'),
    maxDefinition: getMaxDefinitionLevel(schemaPath),
    maxRepetition,
    flat: schemaPath.length === 2 && maxRepetition === 0,
  };
}

/** Returns the decompressed contents of a page. `size` is their declared size. */
export function decompressed(bytes: Uint8Array, size: number, { decoder }: LeafColumn): Uint8Array {
  return size === 0 ? new Uint8Array() : decompressPage(bytes, size, decoder.codec, COMPRESSORS);
}
