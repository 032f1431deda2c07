// Export then import gives the same multiset of edges. HEDGEROW_ROUND_TRIPS=1000 is the long form.

import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import Ajv from 'ajv';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { startServer } from '../http/support.ts';
import { Random } from '../support/random.ts';
import { HIF_SCHEMA } from './hif-schema.ts';
import { multiset, randomTable } from './round-trip.ts';
import { lookInto, TestWorld } from './support.ts';

const TABLES = Number(process.env.HEDGEROW_ROUND_TRIPS ?? 60);
/** Tables of one database. */
const AT_ONCE = 12;
const ENDINGS = ['csv', 'ndjson', 'parquet', 'hif', 'csv.gz', 'ndjson.gz', 'parquet.gz', 'hif.json.gz'];
const isHif = new Ajv({ strict: false, allErrors: true }).compile(HIF_SCHEMA);

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

test(
  `${TABLES} random tables are the same behind an export and an import, in every format, into tables that are there and tables that are made`,
  async () => {
    for (let seed = 0; seed * AT_ONCE < TABLES; seed++) {
      const random = new Random(seed);
      const server = await startServer();
      const { database, url } = server;
      try {
        for (let at = 0; at < AT_ONCE; at++) {
          const table = await randomTable(database, random, `t${at}`);
          const ending = ENDINGS[(seed * AT_ONCE + at) % ENDINGS.length]!;
          const out = `${table.name}-${seed}.${ending}`;
          expect(await exportCommand({ url, table: table.name, out }, world), world.err).toBe(0);
          if (ending.startsWith('hif')) expect(isHif(documentOf(out)), JSON.stringify(isHif.errors)).toBe(true);
          const { columns } = table.item();
          // An empty column of a new table says nothing of its type, and all of HIF lacks what is null everywhere.
          const isMade = random.chance(0.5) && !ending.startsWith('hif');
          if (!isMade) await database.createTable({ name: `u${at}`, columns });
          const flags = { url, table: `u${at}`, create: true };
          expect(await importCommand([out], flags, world), `seed ${seed}, ${out}: ${world.err}`).toBe(0);
          expect(multiset(database.table(`u${at}`)), `seed ${seed}, ${out}`).toEqual(multiset(table));
        }
      } finally {
        await server.close();
      }
    }
  },
  60_000 + TABLES * 5000,
);

function documentOf(name: string): unknown {
  const bytes = readFileSync(world.path(name));
  return JSON.parse((name.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString());
}

test('a data directory, a window and a statement, to stdout and to files that are not overwritten', async () => {
  world.file('x.csv', 'ts,members,price\n1,1;2,1.5\n2,2;3,\n3,3;4,2\n');
  expect(await importCommand(['x.csv'], { data: 'db', table: 't', create: true }, world), world.err).toBe(0);
  world.out = '';
  const from = (flags: Record<string, string>) => exportCommand({ data: 'db', ...flags }, world);
  expect(await from({ table: 'T', start: '2', end: '1970-01-01T00:00:02Z', format: 'csv', separator: '|' })).toBe(0);
  expect(world.out).toBe('"id","event_ts","members","weight","mean_dist_m","formation","price"\n2,2,"2|3",,,,\n');
  world.out = '';
  const statement =
    'MATCH (e:t) WHERE e.price > 1 RETURN e.event_ts AS event_ts, e.members AS members, e.price AS price';
  expect(await from({ statement }), world.err).toBe(0);
  expect(world.out).toBe('{"event_ts":1,"members":[1,2],"price":1.5}\n{"event_ts":3,"members":[3,4],"price":2}\n');
  for (const out of ['s.parquet', 's.hif', 's.csv']) {
    expect(await from({ statement, out }), world.err).toBe(0);
    const table = out.slice(2);
    expect(await importCommand([out], { data: 'db', table, create: true }, world), world.err).toBe(0);
    const prices = await lookInto(world.path('db'), (database) => multiset(database.table(table)));
    expect(prices.map((row) => row.replace(/\],\["(formation|mean_dist_m|weight)",null/g, ''))).toEqual([
      '[["event_ts",1],["members",[1,2]],["price",1.5]]',
      '[["event_ts",3],["members",[3,4]],["price",2]]',
    ]);
  }
  expect(await from({ statement, out: 's.csv' })).toBe(1);
  expect(world.err).toMatch(/s\.csv exists already/);
});

test.each<[Record<string, string>, number, RegExp]>([
  [{ table: 'nowhere' }, 1, /no table nowhere; there is hyperedges/],
  [{ statement: 'DELETE' }, 2, /takes a MATCH/],
  [{ statement: 'MATCH (e:hyperedges) RETURN *', table: 'x' }, 2, /neither --table/],
  [{ format: 'xml' }, 2, /csv, ndjson, parquet, hif/],
  [{ out: 'x.doc' }, 2, /says no format/],
  [{ start: 'soon' }, 2, /--start is "soon"/],
  [{ statement: 'MATCH (e:hyperedges) RETURN e.nothing', out: 'x.csv' }, 1, /nothing/],
  [{ statement: 'MATCH (e:hyperedges) RETURN e.id', format: 'hif' }, 1, /must return event_ts and members/],
])('%o is answered with what is wrong', async (flags, code, message) => {
  world.file('x.ndjson', '{"event_ts":1,"members":[1]}\n');
  expect(await importCommand(['x.ndjson'], { data: 'db' }, world)).toBe(0);
  expect(await exportCommand({ data: 'db', ...flags }, world)).toBe(code);
  expect(world.err).toMatch(message);
});
