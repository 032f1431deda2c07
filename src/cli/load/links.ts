// Translates the links between memories after a load, because edges have got new ids. Rows get
// ascending ids in the order of the dump's files, so the n-th id belongs to the n-th row there.

import { holdsMemories, SUPERSEDES } from '../../model/memories.ts';
import type { DumpFile } from '../dump/dump-file.ts';
import type { Link } from '../dump/links.ts';
import { nameText } from '../dump/statement-values.ts';
import { openRunner, type RunnerFlags } from '../query/options.ts';
import type { StatementRunner } from '../run/runner.ts';
import type { World } from '../world.ts';

/** Number of rows that are changed at the same time; their commits share an fsync. */
const AT_ONCE = 32;

/**
 * Sets the column `supersedes` of all tables of memories to the new ids. Links of which the dump
 * does not say where they lead become null, with a warning. May be called again after an
 * interruption. Throws an Error if a table has other rows than those of the dump.
 */
export async function loadLinks(dump: DumpFile, flags: RunnerFlags, world: World): Promise<void> {
  const tables = dump.tables.filter((table) => holdsMemories(table) && table.row_count > 0);
  if (tables.length === 0) return;
  const lost: string[] = [];
  const runner = await openRunner(flags, world);
  try {
    for (const { name, row_count: rowCount } of tables) {
      const links = dump.links?.[name];
      const changed = await translate(runner, { name, rowCount, links: links ?? [] });
      if (links === undefined && changed > 0) lost.push(`${changed} in ${name}`);
    }
  } finally {
    await runner.close();
  }
  if (lost.length > 0)
    world.stderr.write(
      `hedgerow: Links between memories were set to null (column ${SUPERSEDES}: ${lost.join(', ')}), because this dump of an older version does not say where they lead. Dump again with this version to keep them.\n`,
    );
}

interface LoadedRow {
  readonly id: number;
  readonly event_ts: number;
  readonly supersedes: number | null;
}

interface LinkedTable {
  readonly name: string;
  readonly rowCount: number;
  readonly links: readonly Link[];
}

/** Resolves with the number of rows that were changed. */
async function translate(runner: StatementRunner, { name, rowCount, links }: LinkedTable): Promise<number> {
  const rows = await readRows(runner, name);
  if (rows.length !== rowCount)
    throw new Error(
      `The table ${name} holds ${rows.length} memories, but ${rowCount} in the dump: others wrote to it, so the links between its memories (column ${SUPERSEDES}) cannot be translated. Drop the table and load again with --resume while nobody writes.`,
    );
  const wanted = new Map(links.map(([place, target]) => [place, target === null ? null : rows[target]!.id]));
  const changes = rows.flatMap((row, place) => {
    const supersedes = wanted.get(place) ?? null;
    return row.supersedes === supersedes ? [] : [{ ...row, supersedes }];
  });
  for (let from = 0; from < changes.length; from += AT_ONCE)
    await Promise.all(changes.slice(from, from + AT_ONCE).map((row) => setLink(runner, name, row)));
  return changes.length;
}

/** Resolves with the rows by id. */
async function readRows(runner: StatementRunner, name: string): Promise<LoadedRow[]> {
  const columns = ['id', 'event_ts', SUPERSEDES].map((column) => `m.${column} AS ${column}`).join(', ');
  const statement = `MATCH (m:${nameText(name)}) RETURN ${columns}`;
  const rows: LoadedRow[] = [];
  for await (const some of runner.rows(statement, {}, new AbortController().signal))
    rows.push(...(some as readonly unknown[] as readonly LoadedRow[]));
  return rows.sort((a, b) => a.id - b.id);
}

async function setLink(
  runner: StatementRunner,
  name: string,
  { id, event_ts: time, supersedes }: LoadedRow,
): Promise<void> {
  const statement = `UPDATE ${nameText(name)} SET ${SUPERSEDES} = $link WHERE event_ts = $time AND id = $id`;
  const { batches } = await runner.run(statement, { link: supersedes, time, id }, new AbortController().signal);
  for await (const _rows of batches);
}
