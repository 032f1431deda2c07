// Makes what a dump defines: tables before the edges, everything else after them.

import type { TableItem } from '../../engine/index.ts';
import type { DefinitionStore } from '../dump/definitions.ts';
import type { DumpFile } from '../dump/dump-file.ts';

/**
 * Resolves with the rows that each table of the dump holds already. Throws before anything is made
 * when one is there that is none of this load, or is another one than that of the dump.
 */
export async function makeTables(
  store: DefinitionStore,
  dump: DumpFile,
  resume: boolean,
): Promise<ReadonlyMap<string, number>> {
  const { tables } = await store.read();
  const pairs = dump.tables.map((table) => ({ table, there: tables.find(({ name }) => isSame(name, table.name)) }));
  for (const { table, there } of pairs) if (there !== undefined) checkTable(there, table, resume);
  for (const { table, there } of pairs) {
    if (there === undefined) await store.createTable(table);
    else for (const column of missing(there, table)) await store.addColumn(there.name, column);
  }
  return new Map(pairs.map(({ table, there }) => [table.name, there?.row_count ?? 0]));
}

function checkTable(there: TableItem, table: TableItem, resume: boolean): void {
  if (there.row_count > 0 && !resume)
    throw new Error(
      `The table ${table.name} is there and holds ${there.row_count} edges. Load into a new database; or, when a load was interrupted, with --resume.`,
    );
  if (there.bucket_seconds !== table.bucket_seconds)
    throw new Error(
      `The table ${there.name} is there with buckets of ${there.bucket_seconds} s, but has ${table.bucket_seconds} s in the dump.${there.primary ? ` It is the primary table here: load where HEDGEROW_PRIMARY_TABLE names another.` : ' Load into a new database.'}`,
    );
  for (const column of table.columns) {
    const known = there.columns.find(({ name }) => isSame(name, column.name));
    if (known === undefined) continue;
    if (known.type !== column.type)
      throw new Error(
        `The column ${column.name} of ${there.name} is ${known.type} here, and ${column.type} in the dump.`,
      );
    if (known.default !== column.default)
      throw new Error(
        `The column ${column.name} of ${there.name} has ${defaultText(known.default)} here, and ${defaultText(column.default)} in the dump.`,
      );
  }
}

function defaultText(value: TableItem['columns'][number]['default']): string {
  return value === undefined ? 'no default' : `the default ${JSON.stringify(value)}`;
}

function missing(there: TableItem, { columns }: TableItem): TableItem['columns'] {
  return columns.filter((column) => !there.columns.some(({ name }) => isSame(name, column.name)));
}

/** What is there already stays. */
export async function makeOthers(store: DefinitionStore, dump: DumpFile): Promise<void> {
  const there = await store.read();
  for (const { name, compact_threshold: threshold } of dump.tables) {
    const table = there.tables.find((each) => isSame(each.name, name));
    if (table !== undefined && table.compact_threshold !== threshold) await store.setThreshold(table.name, threshold);
  }
  for (const index of dump.indexes) {
    const isThere = there.indexes.some(
      ({ table, column }) => isSame(table, index.table) && isSame(column, index.column),
    );
    if (!isThere) await store.createIndex(index);
  }
  for (const rule of dump.rules) if (!there.rules.some(({ id }) => id === rule.id)) await store.putRule(rule);
  for (const graph of dump.virtual_graphs)
    if (!there.virtual_graphs.some(({ id }) => id === graph.id)) await store.createGraph(graph);
}

function isSame(name: string, other: string): boolean {
  return name.toLowerCase() === other.toLowerCase();
}
