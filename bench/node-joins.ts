// Times statements that join people by their attributes to the edges they are in, beside DuckDB and
// SQLite with equal tables, all in this process.

import Sqlite from 'better-sqlite3';
import { type ColumnDefinition, openDatabase } from 'hedgerow';
import { openDuckDb } from '../test/support/duckdb.ts';
import type { Edge } from './dataset.ts';
import { alternate, timed } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import { HedgerowSide, type Rows } from './statement-sides.ts';

const PEOPLE = 100_000;
/**
 * A round repeats its statement for about this long, and the round that is not counted warms up, as
 * in a service that answers all day.
 */
const ROUND_MS = 250;
/** Each city has a hundredth of the people. */
const CITIES = 100;
const BATCH = 50_000;

interface Person {
  readonly id: number;
  readonly name: string;
  readonly city: string;
  readonly born: number;
}

interface Statement {
  readonly what: string;
  readonly ours: string;
  readonly theirs: string;
  /** The least factor by which the faster peer must be slower. */
  readonly target: number;
}

const STATEMENTS: readonly Statement[] = [
  {
    what: 'edges per person, one city of 100',
    ours: "MATCH (p:Person), (c:calls) WHERE p IN c.members AND p.city = 'Rome' RETURN p.name, COUNT(*)",
    theirs: "select p.name, count(*) from p join m on m.node = p.id where p.city = 'Rome' group by p.name",
    target: 5,
  },
  {
    what: 'edges per person, everybody',
    ours: 'MATCH (p:Person), (c:calls) WHERE p IN c.members RETURN p.name, COUNT(*)',
    theirs: 'select p.name, count(*) from p join m on m.node = p.id group by p.name',
    target: 1,
  },
  {
    what: 'edges per city',
    ours: 'MATCH (p:Person), (c:calls) WHERE p IN c.members RETURN p.city, COUNT(*)',
    theirs: 'select p.city, count(*) from p join m on m.node = p.id group by p.city',
    target: 1,
  },
  {
    what: 'edges of one city by person and the newest of each',
    ours: "MATCH (p:Person), (c:calls) WHERE p IN c.members AND p.city = 'Rome' RETURN p.name, MAX(c.event_ts)",
    theirs: "select p.name, max(m.ts) from p join m on m.node = p.id where p.city = 'Rome' group by p.name",
    target: 1,
  },
];

export async function runNodeJoins({ tiny, dataset, workspace, note }: PartOptions): Promise<BenchRow[]> {
  const people = peopleOf(tiny ? 1000 : PEOPLE);
  const edges = dataset.edges.map((edge) => withMembers(edge, people.length));
  const dir = workspace.fresh('node-joins');
  await loadHedgerow(dir, people, edges);
  const ours = new HedgerowSide(await openDatabase({ dir }));
  const duckdb = await openDuckDb();
  if (duckdb === undefined) note('node-joins: DuckDB is not installed and was left out');
  const sqlite = new Sqlite(':memory:');
  try {
    loadSqlite(sqlite, people, edges);
    await duckdb?.createTable('p', { id: 'INTEGER', name: 'VARCHAR', city: 'VARCHAR', born: 'INTEGER' }, cells(people));
    await duckdb?.createTable('m', { node: 'INTEGER', eid: 'INTEGER', ts: 'INTEGER' }, memberships(edges));
    const rows: BenchRow[] = [];
    for (const statement of STATEMENTS) {
      const prepared = await duckdb?.prepare(statement.theirs);
      const inSqlite = sqlite.prepare<unknown[], unknown>(statement.theirs).raw(true);
      const sides: (() => Promise<Rows> | Rows)[] = [
        () => ours.rows(statement.ours, {}),
        () => inSqlite.all() as unknown[][],
        ...(prepared === undefined ? [] : [() => prepared.rows({})]),
      ];
      await checkEqual(statement.what, sides);
      const [own, ...peers] = await alternate(
        tiny ? 1 : 5,
        sides.map((side) => () => millisecondsOf(side, tiny ? 0 : ROUND_MS)),
        true,
      );
      rows.push(
        benchRow({
          name: `${statement.what}, beside SQLite${prepared === undefined ? '' : ' and DuckDB (the faster)'}`,
          unit: '1/s',
          ours: 1000 / own!,
          peer: 1000 / Math.min(...peers),
          target: { ratioAtLeast: statement.target },
        }),
      );
    }
    return rows;
  } finally {
    sqlite.close();
    duckdb?.close();
    await ours.close();
  }
}

/** Runs a side at least once and for some time; returns the milliseconds of one run. */
async function millisecondsOf(side: () => unknown, leastMs: number): Promise<number> {
  let runs = 0;
  let ms = 0;
  do {
    ms += await timed(side);
    runs++;
  } while (ms < leastMs);
  return ms / runs;
}

function peopleOf(count: number): Person[] {
  return Array.from({ length: count }, (_, id) => ({
    id,
    name: `person-${id}`,
    city: id % CITIES === 7 ? 'Rome' : `city-${id % CITIES}`,
    born: 1930 + (id % 90),
  }));
}

function* cells(people: readonly Person[]): Generator<unknown[]> {
  for (const { id, name, city, born } of people) yield [id, name, city, born];
}

function withMembers({ event_ts, members }: Edge, people: number): Edge {
  return { event_ts, members: [...new Set(members.map((node) => node % people))] };
}

function* memberships(edges: readonly Edge[]): Generator<[node: number, edge: number, ts: number]> {
  for (const [index, { event_ts, members }] of edges.entries())
    for (const node of members) yield [node, index + 1, event_ts];
}

async function loadHedgerow(dir: string, people: readonly Person[], edges: readonly Edge[]): Promise<void> {
  const database = await openDatabase({ dir });
  const columns: ColumnDefinition[] = [
    { name: 'city', type: 'TEXT' },
    { name: 'born', type: 'INTEGER' },
  ];
  const nodes = await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' }, columns });
  for (let from = 0; from < people.length; from += BATCH) {
    const transaction = database.begin();
    for (const { name, city, born } of people.slice(from, from + BATCH))
      transaction.insertNode(nodes, { name, city, born });
    await transaction.commit();
  }
  const table = await database.createTable({ name: 'calls', memberTables: ['Person'] });
  for (let from = 0; from < edges.length; from += BATCH) {
    const bulk = table.bulk();
    for (const { event_ts, members } of edges.slice(from, from + BATCH))
      bulk.add({ event_ts, members: members.map((node) => people[node]!.name) });
    await bulk.commit();
  }
  await database.compact();
  await database.close();
}

function loadSqlite(database: Sqlite.Database, people: readonly Person[], edges: readonly Edge[]): void {
  database.exec(`
    create table p(id integer primary key, name text not null, city text, born integer);
    create table m(node integer not null, ts integer not null, eid integer not null, primary key(node, ts, eid)) without rowid;
    create index p_city on p(city);
  `);
  const insertPerson = database.prepare('insert into p values (?, ?, ?, ?)');
  const insertMember = database.prepare('insert into m(node, eid, ts) values (?, ?, ?)');
  database.transaction(() => {
    for (const row of cells(people)) insertPerson.run(...row);
    for (const row of memberships(edges)) insertMember.run(...row);
  })();
  database.exec('analyze');
}

/** Throws if the sides do not return the same rows, in any order. */
async function checkEqual(what: string, sides: readonly (() => Promise<Rows> | Rows)[]): Promise<void> {
  const texts: string[] = [];
  for (const side of sides) {
    const rows = (await side()).map((row) =>
      JSON.stringify(row.map((cell) => (typeof cell === 'bigint' ? Number(cell) : cell))),
    );
    texts.push(rows.sort().join('\n'));
  }
  if (texts.some((text) => text !== texts[0])) throw new Error(`the sides differ: ${what}`);
}
