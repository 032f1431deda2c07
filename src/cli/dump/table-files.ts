// Writes the edges of one table into the files of a dump.

import { type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import type { TableItem } from '../../engine/index.ts';
import { FILE_MODE } from '../../storage/index.ts';
import { rowsOf, tableOf, tableStatement } from '../export/command.ts';
import { bytesOf, type Rows } from '../export/formats.ts';
import { writeOutput } from '../export/output-file.ts';
import type { RowSource } from '../export/rows.ts';
import type { Row } from '../run/runner.ts';
import type { Output } from '../world.ts';
import { type DumpedFile, type DumpFormat, dumpedFile, edgesPath, nullsPath } from './dump-file.ts';
import { type InsertedTable, InsertStatements } from './insert-statements.ts';
import type { LinkCollector } from './links.ts';

/**
 * Writes the files of one table; `item` has the columns to dump. `links`, if given, learns which
 * rows are written where. Throws an Error if the source no longer has the table.
 */
export async function writeTable(
  dir: string,
  format: DumpFormat,
  source: RowSource,
  item: TableItem,
  { signal, stdout, links }: { signal: AbortSignal; stdout: Output; links: LinkCollector | undefined },
): Promise<DumpedFile[]> {
  // The kinds say whether members are numbers or keys, and of which type.
  const table: DumpedTable = { ...item, kinds: tableOf(source.tables, item.name).kinds };
  const tally = { rows: 0 };
  const rows = await rowsOf(source, tableStatement(table.name), table, tally, signal);
  const path = edgesPath(table.name, format);
  if (format === 'statements') {
    await writeOutput(statementBytes(rows.batches, table, links), join(dir, path), stdout);
    return [await dumpedFile(dir, path, table.name, tally.rows)];
  }
  const aside = new AsideFile(join(dir, nullsPath(table.name)), table);
  try {
    await writeOutput(bytesOf(format, withoutNulls(rows, table, aside, links), ';'), join(dir, path), stdout);
  } finally {
    await aside.close();
  }
  const files = [await dumpedFile(dir, path, table.name, tally.rows - aside.rows)];
  if (aside.rows > 0) files.push(await dumpedFile(dir, nullsPath(table.name), table.name, aside.rows));
  return files;
}

type DumpedTable = TableItem & InsertedTable;

async function* statementBytes(
  batches: Rows['batches'],
  table: InsertedTable,
  links: LinkCollector | undefined,
): AsyncGenerator<Uint8Array> {
  const statements = new InsertStatements(table);
  for await (const batch of batches) {
    links?.add(batch, false);
    const text = statements.add(batch);
    if (text !== '') yield Buffer.from(text);
  }
  yield Buffer.from(statements.end());
}

/**
 * Returns the rows that an import restores exactly. Moves the other rows, whose nulls would become
 * defaults, to `aside`.
 */
function withoutNulls(rows: Rows, table: DumpedTable, aside: AsideFile, links: LinkCollector | undefined): Rows {
  const names = table.columns.flatMap(({ name, default: value }) => (value === undefined ? [] : [name]));
  if (names.length === 0 && links === undefined) return rows;
  const hasNull = (row: Row) => names.some((name) => row[name] === null || row[name] === undefined);
  async function* kept(): AsyncGenerator<readonly Row[], void, undefined> {
    for await (const batch of rows.batches) {
      const others = batch.filter(hasNull);
      if (others.length > 0) await aside.add(others);
      const whole = others.length === 0 ? batch : batch.filter((row) => !hasNull(row));
      links?.add(whole, false);
      links?.add(others, true);
      yield whole;
    }
  }
  return { ...rows, batches: kept() };
}

/** The file for the rows that are set aside; it is created when the first row arrives. */
class AsideFile {
  readonly #path: string;
  readonly #statements: InsertStatements;
  #file: FileHandle | undefined;

  constructor(path: string, table: InsertedTable) {
    this.#path = path;
    this.#statements = new InsertStatements(table);
  }

  get rows(): number {
    return this.#statements.count;
  }

  async add(rows: readonly Row[]): Promise<void> {
    this.#file ??= await open(this.#path, 'wx', FILE_MODE);
    await this.#file.appendFile(this.#statements.add(rows));
  }

  async close(): Promise<void> {
    await this.#file?.appendFile(this.#statements.end());
    await this.#file?.sync();
    await this.#file?.close();
    this.#file = undefined;
  }
}
