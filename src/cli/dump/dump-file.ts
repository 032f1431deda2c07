// The file of a dump that says what is in it; it is written last, so that a directory without it holds no whole dump.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { IDENTIFIER } from '../../limits.ts';
import { writeFileAtomically } from '../../storage/atomic-file.ts';
import { nodeFs } from '../../storage/node-fs.ts';
import type { Definitions } from './definitions.ts';

export const DUMP_FORMATS = ['parquet', 'ndjson'] as const;
export type DumpFormat = (typeof DUMP_FORMATS)[number];

export interface DumpFile extends Definitions {
  readonly format: 'hedgerow-dump';
  readonly version: 1;
  /** Of the files with edges, `tables/<name>.<ending>`. */
  readonly edges: DumpFormat;
  /** Epoch milliseconds. */
  readonly at: number;
}

export const DUMP_NAME = 'hedgerow-dump.json';
const ENDINGS: Readonly<Record<DumpFormat, string>> = { parquet: 'parquet', ndjson: 'ndjson.gz' };

export function edgesPath(dir: string, table: string, format: DumpFormat): string {
  return join(dir, 'tables', `${table}.${ENDINGS[format]}`);
}

export async function writeDumpFile(dir: string, dump: DumpFile): Promise<void> {
  await writeFileAtomically(nodeFs, join(dir, DUMP_NAME), Buffer.from(`${JSON.stringify(dump, null, 2)}\n`));
}

/** Throws an Error for what is no whole dump. */
export function readDumpFile(dir: string): DumpFile {
  const path = join(dir, DUMP_NAME);
  let dump: Partial<DumpFile> | null;
  try {
    dump = JSON.parse(readFileSync(path, 'utf8')) as Partial<DumpFile> | null;
  } catch (error) {
    const isMissing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    throw new Error(
      isMissing
        ? `${dir} holds no whole dump: there is no ${DUMP_NAME} in it.`
        : `${path} cannot be read: ${(error as Error).message}.`,
      { cause: error },
    );
  }
  const lists = [dump?.tables, dump?.indexes, dump?.rules, dump?.virtual_graphs];
  const isDump = dump?.format === 'hedgerow-dump' && dump.version === 1 && lists.every(Array.isArray);
  if (!isDump || !DUMP_FORMATS.some((format) => format === dump?.edges))
    throw new Error(`${path} is no file of a dump that this version can load.`);
  // Names become names of files.
  const wrong = dump?.tables?.find(
    (table) => typeof table?.name !== 'string' || !IDENTIFIER.test(table.name) || !Array.isArray(table.columns),
  );
  if (wrong !== undefined)
    throw new Error(`${path} holds a table that is none: ${JSON.stringify(wrong).slice(0, 100)}.`);
  return dump as DumpFile;
}
