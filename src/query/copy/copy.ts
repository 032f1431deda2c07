// Runs COPY: inserts the rows of a file into a table as one commit, or writes a result into a new
// file.

import type { Attach, Database, Table } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { FileHandle, Fs } from '../../storage/index.ts';
import { bindExpression } from '../binder/expressions.ts';
import { bindMatch } from '../binder/match.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { bindTable } from '../binder/patterns.ts';
import { Scope } from '../binder/scope.ts';
import type { ResultChunk } from '../executor/run-match.ts';
import { constantValue } from '../executor/values/evaluate.ts';
import type { CopyFromNode, CopyToNode, MatchNode, NameNode } from '../parser/ast.ts';
import { type ReadOptions, runRead } from '../read.ts';
import { rowsResult, type StatementResult } from '../result.ts';
import type { Written } from '../write.ts';
import { type CopyFile, type FileFormat, newFile, sourceFile } from './copy-file.ts';
import { NodeCopy } from './copy-nodes.ts';
import { csvRows } from './csv-reader.ts';
import { fileChunks } from './file-chunks.ts';
import { ndjsonRows } from './ndjson-reader.ts';
import { parquetRows } from './parquet-reader.ts';
import { parquetSink, parquetSource } from './parquet-remote.ts';
import { parquetBytes } from './parquet-writer.ts';
import { type ResultColumn, resultColumns } from './result-columns.ts';
import { errorAtRow, type PlaceUnit, type RowBatch } from './rows.ts';
import { csvBytes, ndjsonBytes } from './text-bytes.ts';
import { wholeLines } from './whole-lines.ts';
import { type TemporaryNames, writeFile } from './write-file.ts';

export interface CopyOptions {
  readonly database: Database;
  readonly parameters: ParameterValues;
  readonly fs: Fs;
  /**
   * Absolute path of the folder in which COPY reads and writes files. Undefined: COPY is turned
   * off.
   */
  readonly copyRoot: string | undefined;
  /** Calls `step` until it returns false. Other work runs between the calls. */
  readonly slices: (step: () => boolean) => Promise<void>;
}

export interface CopyFromOptions extends CopyOptions {
  /** Maximum size in bytes of the encoded edges of one COPY; default `MAX_COPY_BYTES`. */
  readonly copyBytes?: number | undefined;
  readonly attach: Attach<Written> | undefined;
}

export interface CopyToOptions extends CopyOptions {
  /** The options for reading the rows. The view in them is released at the end. */
  readonly read: ReadOptions;
  readonly temporaries: TemporaryNames;
}

/**
 * Maximum size in bytes of the encoded edges in one COPY FROM. The edges are held in memory until
 * the commit, which is one log frame (1 GB at most).
 */
export const MAX_COPY_BYTES = 2 ** 29;
const ROWS_A_STEP = 500;

/**
 * Inserts all rows of the file or none, as one commit. Rejects with the fault in the file, or with
 * the fault in one of its rows and that row's position.
 */
export async function copyFrom(node: CopyFromNode, text: string, options: CopyFromOptions): Promise<StatementResult> {
  const { database, fs, copyRoot, attach, copyBytes = MAX_COPY_BYTES } = options;
  const file = sourceFile(fs, copyRoot, fileName(node, text, options.parameters));
  const table = bindTable(database, node.table, text);
  if (table.isOfNodes) return copyNodesFrom(file, table, options);
  const bulk = table.bulk();
  let handle: FileHandle | undefined;
  try {
    handle = openToRead(fs, file.path);
    const unit: PlaceUnit = file.format === 'parquet' ? 'row' : 'line';
    for await (const batch of rowsOf(file, handle, table)) {
      let next = 0;
      await options.slices(() => {
        const end = Math.min(batch.count, next + ROWS_A_STEP);
        while (next < end) addRow(batch, next++, unit, bulk);
        checkSize(bulk.bytes, copyBytes);
        return next < batch.count;
      });
    }
    if (bulk.count === 0) return copied(0, file, database.lastLsn, table.name);
    const { inserted, lsn } = await bulk.commit(attach && (({ inserted }) => attach(writtenOf(inserted, file))));
    return copied(inserted, file, lsn, table.name);
  } finally {
    bulk.discard();
    handle?.close();
  }
}

/** Inserts or replaces the nodes of a file, as one commit. Rejects like `copyFrom`. */
async function copyNodesFrom(file: CopyFile, table: Table, options: CopyFromOptions): Promise<StatementResult> {
  const { database, fs, attach, copyBytes = MAX_COPY_BYTES } = options;
  const handle = openToRead(fs, file.path);
  const nodes = new NodeCopy(database, table);
  try {
    const unit: PlaceUnit = file.format === 'parquet' ? 'row' : 'line';
    for await (const batch of rowsOf(file, handle, table)) {
      let next = 0;
      await options.slices(() => {
        const end = Math.min(batch.count, next + ROWS_A_STEP);
        for (; next < end; next++) placed(batch, next, unit, () => nodes.add(batch, next));
        checkSize(nodes.bytes, copyBytes);
        return next < batch.count;
      });
    }
    if (nodes.count === 0) return copied(0, file, database.lastLsn, table.name);
    const { lsn } = await nodes.commit(attach && (() => attach(writtenOf(nodes.count, file))));
    return copied(nodes.count, file, lsn, table.name);
  } finally {
    nodes.discard();
    handle.close();
  }
}

function addRow(batch: RowBatch, index: number, unit: PlaceUnit, bulk: ReturnType<Table['bulk']>): void {
  placed(batch, index, unit, () => {
    const edge = batch.edge(index);
    if (edge !== undefined) bulk.add(edge);
  });
}

/** Runs `add` for a row. Adds the row's position to the error that it throws. */
function placed(batch: RowBatch, index: number, unit: PlaceUnit, add: () => void): void {
  try {
    add();
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.status >= 500) throw error;
    throw errorAtRow(error, unit, batch.at(index));
  }
}

function checkSize(bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new HedgerowError(
    'query_too_large',
    `The file holds more than ${Math.floor(most / 2 ** 20)} MB of edges, the most that one COPY commits. Split it, or take hedgerow import, which commits in batches. Nothing was inserted.`,
  );
}

function rowsOf({ format, packed }: CopyFile, handle: FileHandle, table: Table): AsyncIterable<RowBatch> {
  switch (format) {
    case 'csv':
      return csvRows(wholeLines(fileChunks(handle, packed)), table);
    case 'ndjson':
      return ndjsonRows(wholeLines(fileChunks(handle, packed)), table);
    case 'parquet':
      return parquetRows(parquetSource(handle), table);
  }
}

function openToRead(fs: Fs, path: string): FileHandle {
  try {
    return fs.open(path, 'read');
  } catch (error) {
    const { code } = error as { code?: unknown };
    throw new HedgerowError('internal', `${path} cannot be read (${String(code)}). Check who may read it.`, {
      cause: error,
    });
  }
}

/**
 * Writes the rows of a MATCH or a table into a new file. Rejects with an error of `newFile`, of the
 * MATCH or of `writeFile`; then no new file remains.
 */
export async function copyTo(node: CopyToNode, text: string, options: CopyToOptions): Promise<StatementResult> {
  const { database, fs, copyRoot, read, temporaries, slices } = options;
  const { view, parameters } = read;
  try {
    const file = newFile(fs, copyRoot, fileName(node, text, options.parameters));
    const match = copiedRows(node.source);
    const columns = resultColumns(bindMatch(match, text, database, parameters));
    const result = runRead(match, text, read);
    const tally = { rows: 0 };
    const pieces = bytesOf(file.format, columns, chunksOf(result, slices, tally));
    await writeFile({ fs, file, temporaries, pieces });
    return copied(tally.rows, file, result.lsn, result.table);
  } finally {
    view.release();
  }
}

/** Returns the MATCH whose rows a COPY TO exports; for a table, `MATCH (T:T) RETURN *`. */
export function copiedRows(source: CopyToNode['source']): MatchNode {
  return 'kind' in source ? source : wholeTable(source);
}

function wholeTable(table: NameNode): MatchNode {
  const { start, end } = table;
  return {
    kind: 'match',
    patterns: [{ alias: table, table, members: undefined, start, end }],
    where: undefined,
    distinct: false,
    items: undefined,
    orderBy: [],
    skip: undefined,
    limit: undefined,
    start,
    end,
  };
}

function bytesOf(
  format: FileFormat,
  columns: readonly ResultColumn[],
  chunks: AsyncIterable<ResultChunk>,
): AsyncIterable<Uint8Array> {
  switch (format) {
    case 'csv':
      return csvBytes(columns, chunks);
    case 'ndjson':
      return ndjsonBytes(columns, chunks);
    case 'parquet':
      return parquetBytes(parquetSink(columns), chunks);
  }
}

async function* chunksOf(
  { steps }: StatementResult,
  slices: CopyOptions['slices'],
  tally: { rows: number },
): AsyncGenerator<ResultChunk, void, undefined> {
  try {
    for (;;) {
      let chunk: ResultChunk | null = null;
      await slices(() => {
        const next = steps.next();
        if (next.done === true) return false;
        chunk = next.value;
        return chunk === null;
      });
      if (chunk === null) return;
      tally.rows += (chunk as ResultChunk).count;
      yield chunk;
    }
  } finally {
    steps.return();
  }
}

function fileName(node: CopyFromNode | CopyToNode, text: string, parameters: ParameterValues): string {
  const scope = new Scope({ text, patterns: [], parameters });
  const bound = bindExpression(node.file, scope);
  if (bound.type !== 'text')
    throw scope.error(node.file, `COPY takes a file name as a text, and this is ${bound.type}.`);
  return constantValue(bound, parameters) as string;
}

function writtenOf(rows: number, { path }: CopyFile): Written {
  return { operation: 'COPY', rows_affected: rows, path };
}

function copied(rows: number, file: CopyFile, lsn: number, table: string | undefined): StatementResult {
  const row = writtenOf(rows, file);
  return rowsResult([row], Object.keys(row), lsn, table);
}
