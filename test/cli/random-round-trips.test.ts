// Random tables are the same after an export and an import. `HEDGEROW_ROUND_TRIPS` sets the number
// of tables, and `HEDGEROW_FIRST_ROUND_TRIP` the first seed. The long form uses 1,000 tables.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import type { EdgeRow, TableItem } from '../../src/engine/types.ts';
import { startServer } from '../http/support.ts';
import { Random } from '../support/random.ts';
import { HIF_SCHEMA } from './hif-schema.ts';
import { multiset, multisetOf, pick, randomTable, TABLE_NAMES } from './round-trip.ts';
import { rowsOf, TestWorld } from './support.ts';

const TABLES = Number(process.env.HEDGEROW_ROUND_TRIPS ?? 4);
const FIRST = Number(process.env.HEDGEROW_FIRST_ROUND_TRIP ?? 0);
/**
 * Tables per database. Each table is exported and imported in all formats. There are at least two
 * databases: one in a server and one in a directory.
 */
const AT_ONCE = Math.min(4, TABLES / 2);
const FORMATS = ['csv', 'ndjson', 'parquet', 'hif'] as const;
const MOST_MEMBERS = 255;
const isHif = new Ajv({ strict: false, allErrors: true }).compile(HIF_SCHEMA);

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

/** One export and import of one table in one format. */
interface Trip {
  readonly from: TableItem;
  readonly to: string;
  readonly out: string;
  readonly select: Record<string, string>;
  readonly expected: string[];
  /** Whether the table and its columns exist before the import. */
  readonly isThere: boolean;
  readonly flags: Record<string, string>;
}

function tripOf(
  item: TableItem,
  rows: readonly EdgeRow[],
  format: string,
  { to, seed }: { to: string; seed: number },
  random: Random,
): Trip {
  const out = `${seed}-${to}.${format}${random.chance(0.3) ? '.gz' : ''}`;
  const { select, kept } = selection(item, rows, random);
  const separator = pick([';', '|', ' ', '::'], random);
  const isSeparated = format === 'csv' && random.chance(0.3);
  return {
    from: item,
    to,
    out,
    select: { ...select, ...(isSeparated ? { separator } : {}) },
    expected: multisetOf(kept),
    // The type of a column with only nulls cannot be inferred. Therefore no table can be created
    // from HIF or from empty files.
    isThere: kept.length === 0 || format === 'hif' || random.chance(0.5),
    flags: {
      ...(isSeparated ? { separator } : {}),
      ...(random.chance(0.1) ? { batch: String(1 + random.below(7)) } : {}),
    },
  };
}

/** Selects the whole table, a window of it, or the result of a statement. */
function selection(
  { name }: TableItem,
  rows: readonly EdgeRow[],
  random: Random,
): { select: Record<string, string>; kept: readonly EdgeRow[] } {
  switch (random.below(4)) {
    case 0: {
      const [a, b] = rows.length === 0 ? [0, 1] : [pick(rows, random).event_ts, pick(rows, random).event_ts];
      const [start, end] = [Math.min(a, b), Math.max(a, b)];
      const kept = rows.filter(({ event_ts: time }) => time >= start && time <= end);
      return { select: { table: name, start: String(start), end: String(end) }, kept };
    }
    case 1: {
      const kept = rows.filter(({ members }) => members.length > 2);
      return { select: { statement: `MATCH (e:\`${name}\`) WHERE size(e.members) > 2 RETURN *` }, kept };
    }
    default:
      return { select: { table: name }, kept: rows };
  }
}

test(
  `${TABLES} random tables, windows and statement results are the same after an export and an import`,
  async () => {
    for (let seed = FIRST; (seed - FIRST) * AT_ONCE < TABLES; seed++) {
      if (seed % 2 === 0) await throughServer(seed);
      else await throughDirectory(seed);
    }
  },
  60_000 + TABLES * 10_000,
);

async function tripsOf(database: Database, seed: number): Promise<Trip[]> {
  const random = new Random(seed);
  const trips: Trip[] = [];
  for (let at = 0; at < AT_ONCE; at++) {
    const name = random.chance(0.3) ? `${TABLE_NAMES[at]}` : `t${at}`;
    const table = await randomTable(database, random, name, { members: MOST_MEMBERS, defaults: true });
    const rows = rowsOf(table);
    for (const format of FORMATS)
      trips.push(tripOf(table.item(), rows, format, { to: `u${at}_${format}`, seed }, random));
  }
  // The columns have no defaults, because a null in the input counts as omitted and would get the
  // default of the target column.
  const withoutDefault = ({ name, type }: TableItem['columns'][number]) => ({ name, type });
  for (const { from, to, isThere } of trips)
    if (isThere) await database.createTable({ name: to, columns: from.columns.map(withoutDefault) });
  return trips;
}

async function throughServer(seed: number): Promise<void> {
  const server = await startServer({ maxMembers: MOST_MEMBERS });
  try {
    const trips = await tripsOf(server.database, seed);
    for (const trip of trips) await travel(trip, { url: server.url }, {}, seed);
    for (const trip of trips) expectArrived(trip, server.database, seed);
  } finally {
    await server.close();
  }
}

async function throughDirectory(seed: number): Promise<void> {
  const options = { dir: world.path(`db${seed}`), memoryBudgetMb: 64, maxMembers: MOST_MEMBERS };
  const before = await openDatabase(options);
  const trips = await tripsOf(before, seed);
  await before.close();
  for (const trip of trips) await travel(trip, { data: options.dir }, { maxMembers: String(MOST_MEMBERS) }, seed);
  const after = await openDatabase(options);
  try {
    for (const trip of trips) expectArrived(trip, after, seed);
  } finally {
    await after.close();
  }
}

async function travel(trip: Trip, place: object, importFlags: object, seed: number): Promise<void> {
  const { select, out, to, flags } = trip;
  world.err = '';
  expect(await exportCommand({ ...place, ...select, out }, world), `seed ${seed}, ${out}: ${world.err}`).toBe(0);
  if (out.includes('.hif')) expect(isHif(documentOf(out)), JSON.stringify(isHif.errors)).toBe(true);
  const code = await importCommand([out], { ...place, ...importFlags, ...flags, table: to, create: true }, world);
  expect(code, `seed ${seed}, ${out} of ${JSON.stringify(trip.from)}: ${world.err}`).toBe(0);
}

function expectArrived({ from, to, out, expected }: Trip, database: Database, seed: number): void {
  expect(multiset(database.table(to)), `seed ${seed}, ${out} of ${JSON.stringify(from)}`).toEqual(expected);
}

function documentOf(name: string): unknown {
  const bytes = readFileSync(world.path(name));
  return JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString());
}
