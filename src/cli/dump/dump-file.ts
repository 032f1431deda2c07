// Writes and reads the file that lists the contents of a dump. This file is written last, so a
// directory without it does not hold a complete dump.

import { createHash } from 'node:crypto';
import { createReadStream, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTIFIER } from '../../model/columns.ts';
import { nodeFs, writeFileAtomically } from '../../storage/index.ts';
import type { Definitions } from './definitions.ts';
import { areLinks, type Links } from './links.ts';

export const DUMP_FORMATS = ['parquet', 'ndjson', 'statements'] as const;
export type DumpFormat = (typeof DUMP_FORMATS)[number];

/** Describes a file with edges. */
export interface DumpedFile {
  /** Path relative to the directory of the dump. */
  readonly path: string;
  readonly table: string;
  readonly rows: number;
  readonly bytes: number;
  readonly sha256: string;
}

export interface DumpFile extends Definitions {
  readonly format: 'hedgerow-dump';
  readonly version: 1;
  /** Format of the files with edges, except those of `nullsPath`, which contain statements. */
  readonly edges: DumpFormat;
  readonly files: readonly DumpedFile[];
  /** Links of the tables of memories. Absent in dumps of older versions. */
  readonly links?: Links | undefined;
  /** When the dump was made, in epoch milliseconds. */
  readonly at: number;
}

export const DUMP_NAME = 'hedgerow-dump.json';
/** The schema as statements, for people and for `hedgerow shell`; a load does not read it. */
export const SCHEMA_NAME = 'schema.hql';
const ENDINGS: Readonly<Record<DumpFormat, string>> = { parquet: 'parquet', ndjson: 'ndjson.gz', statements: 'hql' };

/** Returns the path of the file for a table's edges, relative to the directory of the dump. */
export function edgesPath(table: string, format: DumpFormat): string {
  return `tables/${table}.${ENDINGS[format]}`;
}

/**
 * Returns the path of the file for edges that have a null in a column with a default. These edges
 * are written as statements, the only format that can set such a column to null.
 */
export function nullsPath(table: string): string {
  return `tables/${table}.nulls.hql`;
}

/** Returns the path of the file for the nodes of a node table. */
export function nodesPath(table: string): string {
  return `nodes/${table}.ndjson.gz`;
}

/** Returns the entry for a file that has just been written. */
export async function dumpedFile(dir: string, path: string, table: string, rows: number): Promise<DumpedFile> {
  const { bytes, sha256 } = await contentOf(join(dir, path));
  return { path, table, rows, bytes, sha256 };
}

async function contentOf(path: string): Promise<{ bytes: number; sha256: string }> {
  const hash = createHash('sha256');
  let bytes = 0;
  for await (const chunk of createReadStream(path, { highWaterMark: 2 ** 18 })) {
    hash.update(chunk as Buffer);
    bytes += (chunk as Buffer).length;
  }
  return { bytes, sha256: hash.digest('hex') };
}

export async function writeDumpFile(dir: string, dump: DumpFile): Promise<void> {
  await writeFileAtomically(nodeFs, join(dir, DUMP_NAME), Buffer.from(`${JSON.stringify(dump, null, 2)}\n`));
}

/**
 * Reads the list of contents, then checks the sizes of all files, then their checksums. Throws an
 * Error for a dump that is incomplete or damaged.
 */
export async function readDump(dir: string): Promise<DumpFile> {
  const dump = readDumpFile(dir);
  for (const { path, bytes } of dump.files) {
    const size = statSync(join(dir, path), { throwIfNoEntry: false })?.size;
    if (size === undefined) throw new Error(`The dump is incomplete: there is no ${join(dir, path)}. ${NOTHING}`);
    if (size !== bytes)
      throw new Error(`The dump is damaged: ${join(dir, path)} has ${size} bytes, not ${bytes}. ${NOTHING}`);
  }
  for (const { path, sha256 } of dump.files)
    if ((await contentOf(join(dir, path))).sha256 !== sha256)
      throw new Error(
        `The dump is damaged: ${join(dir, path)} is not what was written (its SHA-256 differs). ${NOTHING}`,
      );
  return dump;
}

const NOTHING = 'Nothing was loaded; take another copy of the dump, or make it again.';

function readDumpFile(dir: string): DumpFile {
  const path = join(dir, DUMP_NAME);
  let dump: Partial<DumpFile> | null;
  try {
    dump = JSON.parse(readFileSync(path, 'utf8')) as Partial<DumpFile> | null;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new Error(
      isMissing
        ? `${dir} holds no complete dump: there is no ${DUMP_NAME} in it.`
        : `${path} cannot be read: ${(error as Error).message}.`,
      { cause: error },
    );
  }
  const lists: unknown[] = [dump?.tables, dump?.indexes, dump?.rules, dump?.virtual_graphs, dump?.files];
  // Dumps of versions without node tables have no list of them.
  const nodeTables = dump?.node_tables ?? [];
  lists.push(nodeTables);
  const isDump = dump?.format === 'hedgerow-dump' && dump.version === 1 && lists.every(Array.isArray);
  if (!isDump || !DUMP_FORMATS.some((format) => format === dump?.edges))
    throw new Error(`${path} does not describe a dump that this version can load.`);
  const whole = { ...dump, node_tables: nodeTables } as DumpFile;
  checkParts(path, whole);
  return whole;
}

/** Throws an Error if an entry of a list is not what it should be. */
function checkParts(path: string, whole: DumpFile): void {
  const { node_tables: nodeTables, links } = whole;
  const wrong =
    whole.tables.find((table) => !isTable(table)) ??
    nodeTables.find((table) => !isTable(table) || typeof table.key?.name !== 'string') ??
    whole.files.find((file) => !isFile(file, whole));
  if (wrong !== undefined)
    throw new Error(
      `${path} lists something that is neither a table nor a file of a table: ${JSON.stringify(wrong).slice(0, 100)}.`,
    );
  const bare = [...whole.tables, ...nodeTables].find(({ name }) => !whole.files.some(({ table }) => table === name));
  if (bare !== undefined) throw new Error(`${path} names no file for the table ${bare.name}.`);
  const unlinked = whole.tables.find((table) => {
    const listed = links?.[table.name];
    return listed !== undefined && !areLinks(listed, table.row_count);
  });
  if (unlinked !== undefined) throw new Error(`${path} lists links of the table ${unlinked.name} that are none.`);
}

function isTable(table: DumpFile['tables'][number] | DumpFile['node_tables'][number] | null): boolean {
  return (
    typeof table?.name === 'string' &&
    IDENTIFIER.test(table.name) &&
    Number.isSafeInteger(table.row_count) &&
    Array.isArray(table.columns) &&
    table.columns.every((column) => typeof column?.name === 'string' && typeof column.type === 'string')
  );
}

/**
 * Returns whether the entry belongs to a table of the dump and has one of that table's two paths; a
 * dump contains no other files.
 */
function isFile(file: DumpedFile | null, { tables, node_tables, edges }: DumpFile): boolean {
  const { path, table, rows, bytes, sha256 } = file ?? {};
  return (
    (node_tables.some(({ name }) => name === table)
      ? path === nodesPath(table!)
      : tables.some(({ name }) => name === table) &&
        (path === edgesPath(table!, edges) || path === nullsPath(table!))) &&
    [rows, bytes].every(Number.isSafeInteger) &&
    typeof sha256 === 'string'
  );
}
