// Tests aggregates that are computed over the columns of segments. The answers must equal those of
// the naive evaluator over the rows of a plain MATCH, in every state of a table, and no row of a
// segment may be read without need.

import { afterEach, describe, expect, it, vi } from 'vitest';
import type { CoreBuild } from '../../src/core/index.ts';
import type { Database } from '../../src/engine/index.ts';
import { SegmentScan } from '../../src/engine/scan/scan-segments.ts';
import { HedgerowError } from '../../src/errors.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { Statements } from '../../src/query/statements.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { runDoor } from './door.ts';
import { naiveMatch } from './naive.ts';
import type { NaiveRow, NaiveTable } from './naive-expressions.ts';
import { Refusal } from './naive-values.ts';
import { expectSameRows } from './same-rows.ts';

const ROUNDS = Number(process.env.HEDGEROW_FOLDS ?? 60);
const BUCKET_SECONDS = 100;
const COLUMNS = [
  { name: 'weight', type: 'REAL' },
  { name: 'mean_dist_m', type: 'REAL' },
  { name: 'formation', type: 'TEXT' },
  { name: 'narrow', type: 'INTEGER' },
  { name: 'middle', type: 'INTEGER' },
  { name: 'wide', type: 'INTEGER' },
  { name: 'place', type: 'TEXT' },
  { name: 'flag', type: 'BOOLEAN' },
  { name: 'nothing', type: 'INTEGER' },
  { name: 'late', type: 'INTEGER' },
  { name: 'lateText', type: 'TEXT' },
  { name: 'lateReal', type: 'REAL' },
] as const;
const LATE = COLUMNS.slice(-3);
const DEFAULTS = [7, undefined, 0.5] as const;

interface World {
  readonly database: Database;
  readonly statements: Statements;
  readonly random: Random;
}

function values(random: Random, isLate: boolean): Record<string, number | string | boolean | null> {
  const maybe = <T>(value: T): T | null => (random.below(5) === 0 ? null : value);
  return {
    weight: random.below(1000) / 8,
    mean_dist_m: maybe(Math.sin(random.below(2 ** 30)) + 1.1),
    formation: random.below(9) === 0 ? null : `f${random.below(5)}`,
    narrow: maybe(random.below(10) - 4),
    middle: maybe(random.below(100_000) - 50_000),
    wide: (random.below(2 ** 30) - 2 ** 29) * 2 ** 14,
    place: maybe(`place ${random.below(300)}`),
    flag: maybe(random.below(2) === 0),
    ...(isLate
      ? { late: maybe(random.below(5)), lateText: maybe(`l${random.below(3)}`), lateReal: random.below(9) / 3 }
      : {}),
  };
}

async function insert({ database, random }: World, rows: number, fromTs: number, isLate: boolean): Promise<void> {
  const bulk = database.table('T').bulk();
  for (let i = 0; i < rows; i++) {
    const members = Array.from({ length: 1 + random.below(6) }, () => random.below(50));
    bulk.add({ event_ts: fromTs + random.below(9000), members, properties: values(random, isLate) });
  }
  await bulk.commit();
}

async function open(seed: number): Promise<World> {
  const core = (['release', 'plain', 'debug'] as const satisfies readonly CoreBuild[])[seed % 3]!;
  const database = await openSim(simDisk(seed), { core, segmentRows: 200, logFileBytes: 2 ** 22 });
  const columns = COLUMNS.slice(3, -3).map(({ name, type }) => ({ name, type }));
  await database.createTable({ name: 'T', bucketSeconds: BUCKET_SECONDS, columns });
  let us = 0;
  let ids = 0;
  const statements = new Statements({
    database,
    now: () => 0,
    nowUs: () => (us += 5),
    newId: () => `id-${++ids}`,
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: simDisk(),
  });
  return { database, statements, random: new Random(seed) };
}

/** Returns the rows of a table as a MATCH reads them. */
async function rowsOf({ statements }: World): Promise<NaiveTable> {
  const { rows, columns } = await runDoor(statements, 'MATCH (a:T) RETURN *');
  const known = COLUMNS.filter(({ name }) => columns.includes(name));
  return { name: 'T', bucketSeconds: BUCKET_SECONDS, columns: known, rows: rows as NaiveRow[], intervals: false };
}

async function expectSame(world: World, table: NaiveTable, text: string, state: string): Promise<void> {
  let naive: ReturnType<typeof naiveMatch> | undefined;
  let refused: string | undefined;
  try {
    naive = naiveMatch(parseStatement(text) as MatchNode, text, [table], {});
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    refused = error.code;
  }
  try {
    const answer = await runDoor(world.statements, text);
    expect(refused).toBeUndefined();
    expectSameRows(
      { columns: answer.columns, rows: answer.rows.map((row) => JSON.stringify(row)), plan: null },
      naive!,
    );
  } catch (error) {
    if (error instanceof HedgerowError && error.code === refused) return;
    (error as Error).message = `${state}: ${text}\n${(error as Error).message}`;
    throw error;
  }
}

/** How often whole rows of a segment were read, rather than only its columns. */
let rowReads = 0;
const { blocks } = SegmentScan.prototype;
function countRowReads(): void {
  rowReads = 0;
  vi.spyOn(SegmentScan.prototype, 'blocks').mockImplementation(function (this: SegmentScan, columns, segment) {
    if (segment !== undefined) rowReads++;
    return blocks.call(this, columns, segment);
  });
}

afterEach(() => vi.restoreAllMocks());

/** Statements that are computed without reading a row of a segment. */
const FOLDED = [
  'RETURN sum(a.weight), avg(a.weight), min(a.weight), max(a.weight), count(a.weight)',
  'RETURN sum(a.mean_dist_m), count(a.mean_dist_m), avg(a.narrow), sum(a.middle), min(a.middle), max(a.wide)',
  'RETURN count(*), sum(a.event_ts), min(a.id), max(a.id), avg(a.id)',
  'RETURN sum(a.nothing), count(a.nothing), min(a.nothing), count(DISTINCT a.nothing)',
  'RETURN min(a.formation), max(a.place), count(DISTINCT a.place), count(a.formation)',
  'RETURN min(a.flag), max(a.flag), count(DISTINCT a.flag), sum(DISTINCT a.narrow), collect(DISTINCT a.narrow)',
  'RETURN avg(size(a.members)), max(size(a.members)), sum(a.narrow * 2 + size(a.members))',
  'RETURN count(*) + 1 AS n, sum(a.weight) / count(*) AS mean',
  'RETURN bucket(a) AS b, count(*), sum(a.weight), min(a.middle)',
  'RETURN bucket(a) % 7 AS b, count(a.mean_dist_m), avg(a.mean_dist_m), max(a.wide)',
  'RETURN a.formation, count(*), sum(a.weight), count(a.narrow) ORDER BY a.formation DESC',
  'RETURN a.flag, a.narrow, count(*), avg(a.mean_dist_m), sum(a.wide)',
  'RETURN a.formation, a.flag, size(a.members) AS s, count(*), sum(a.narrow)',
  'RETURN a.narrow IS NULL AS n, count(*)',
  'RETURN a.place, count(*) AS c ORDER BY c DESC, a.place LIMIT 5',
  'RETURN 1 AS one, count(*), sum(a.weight)',
  'WHERE a.weight > 60 RETURN count(*), sum(a.middle)',
  'WHERE a.weight <> 60.5 AND a.middle <> 17 RETURN count(*), max(a.middle)',
  'WHERE a.mean_dist_m IS NOT NULL RETURN count(*), sum(a.mean_dist_m)',
  'WHERE a.narrow <> 3 RETURN count(*)',
  'WHERE a.narrow IN [1, 2, -4, null] RETURN count(*), sum(a.weight)',
  'WHERE a.flag RETURN count(*)',
  'WHERE NOT a.flag AND a.formation RETURN count(*)',
  "WHERE NOT a.flag AND a.formation = 'f1' RETURN count(*), avg(a.weight)",
  "WHERE a.place STARTS WITH 'place 1' AND a.middle >= -1000 RETURN count(*), count(DISTINCT a.place)",
  "WHERE a.flag OR a.formation > 'f2' RETURN a.narrow, count(*)",
  'WHERE size(a.members) > 3 AND a.event_ts >= 2500 AND a.event_ts < 7777 RETURN a.formation, count(*), sum(a.weight)',
  'WHERE a.event_ts BETWEEN 3000 AND 9000 RETURN sum(a.weight), count(*), min(a.event_ts), max(a.place)',
  'WHERE bucket(a) = 33 RETURN count(*), sum(a.middle)',
  'WHERE a.event_ts > 100000 RETURN count(*), sum(a.weight), avg(a.narrow)',
  'WHERE a.weight > 1000 RETURN a.formation, count(*)',
  'WHERE a.wide <> null RETURN count(*), sum(a.wide)',
  'WHERE a.id <> null RETURN count(*), sum(a.wide)',
  'WHERE a.id <> 5 AND a.event_ts <> 700 RETURN count(*), sum(a.id)',
] as const;

/** Statements that need the rows of some or all segments. */
const READ = [
  'RETURN sum(a.weight * 2), avg(a.middle % 10)',
  'RETURN a.middle, count(*) AS c ORDER BY c DESC, a.middle LIMIT 7',
  'RETURN count(DISTINCT a.middle), count(DISTINCT a.weight), sum(DISTINCT a.weight)',
  'RETURN a.weight, a.formation, count(*) AS c ORDER BY c DESC, a.weight, a.formation LIMIT 9',
  'RETURN a.place, a.narrow, a.formation, bucket(a) AS b, count(*)',
  'RETURN a.narrow, collect(a.id)',
  'RETURN a.members, count(*) AS c ORDER BY c DESC LIMIT 1',
  'WHERE a.weight + a.narrow > 50 RETURN count(*), sum(a.weight)',
  'WHERE 7 IN a.members RETURN count(*), sum(a.weight), a.flag',
  'WHERE a.middle % 3 = 1 RETURN a.flag, count(*)',
  'WHERE a.event_ts < 500 OR a.event_ts > 8500 RETURN count(*), sum(a.weight)',
  'RETURN sum(a.narrow * 9007199254740991)',
  'WHERE a.narrow * 3002399751580330 > 5 RETURN count(*)',
] as const;

const OF_LATE = [
  'RETURN sum(a.late), count(a.late), avg(a.lateReal), max(a.lateReal), min(a.lateText), count(DISTINCT a.late)',
  'RETURN a.late, count(*), sum(a.lateReal), sum(a.weight)',
  'RETURN a.lateText, a.late, count(*), count(a.lateReal)',
  'WHERE a.late = 7 RETURN count(*), sum(a.lateReal)',
  'WHERE a.late <> 7 RETURN count(*)',
  'WHERE a.lateReal <> 0.5 RETURN count(*), a.late',
  'WHERE a.lateReal >= 0.5 AND a.lateText IS NULL RETURN count(*)',
  'WHERE a.lateReal IS NOT NULL RETURN count(*)',
] as const;

async function checkAll(world: World, state: string, texts: readonly string[], mayRead: boolean): Promise<void> {
  const table = await rowsOf(world);
  expect(table.rows.length).toBeGreaterThan(500);
  for (const text of texts) {
    countRowReads();
    await expectSame(world, table, `MATCH (a:T) ${text}`, state);
    if (!mayRead) expect(rowReads, text).toBe(0);
    vi.restoreAllMocks();
  }
}

async function run(world: World, text: string): Promise<void> {
  await runDoor(world.statements, text);
}

describe('aggregates over columns', () => {
  it.each([1, 2, 3])(
    'agree with the naive evaluator in every state of a table (seed %i)',
    async (seed) => {
      const world = await open(seed);
      const { database } = world;
      await insert(world, 1500, 0, false);
      await checkAll(world, 'in memory', [...FOLDED, ...READ], false);
      await database.compact();
      expect(database.table('T').version.segments.length).toBeGreaterThan(6);
      await checkAll(world, 'compacted', FOLDED, false);
      await checkAll(world, 'compacted', READ, true);
      for (const [place, { name, type }] of LATE.entries()) {
        const byDefault = DEFAULTS[place];
        const column = byDefault === undefined ? { name, type } : { name, type, default: byDefault };
        await database.alterTable('T', { kind: 'addColumn', column });
      }
      await insert(world, 500, 9000, true);
      await database.compact();
      const { segments } = database.table('T').version;
      const has = (id: number) => segments.map(({ facts }) => facts.columns.some((column) => column.id === id));
      const lateId = database.table('T').columns.columns.at(-1)!.id;
      expect(new Set(has(lateId)).size).toBe(2);
      await checkAll(world, 'with segments older than a column', [...FOLDED, ...OF_LATE], false);
      await run(world, 'DELETE FROM T WHERE narrow = 2 AND event_ts > 1000');
      await run(world, 'UPDATE T SET weight = weight + 0.125 WHERE flag AND event_ts > 3000');
      await insert(world, 100, 4000, true);
      await checkAll(world, 'with dead rows and rows in memory', [...FOLDED, ...OF_LATE], false);
      await checkAll(world, 'with dead rows and rows in memory', READ, true);
      await database.close();
    },
    120_000,
  );

  it('include changes that their own transaction has staged, but not those of other transactions', async () => {
    const world = await open(4);
    await insert(world, 900, 0, false);
    await world.database.compact();
    await insert(world, 60, 2000, false);
    await run(world, 'BEGIN');
    await run(world, "DELETE FROM T WHERE formation = 'f3'");
    await run(world, 'UPDATE T SET weight = 1000, flag = true WHERE narrow = 1');
    await run(world, 'INSERT INTO T (event_ts, members, weight, formation) VALUES (50, [1], 5000, "new")');
    await checkAll(world, 'in a transaction', [...FOLDED, ...READ], true);
    const seen = await runDoor(world.statements, 'MATCH (a:T) RETURN count(*) AS n, max(a.weight) AS w', {}, 'other');
    expect(seen.rows[0].n).toBe(960);
    expect(seen.rows[0].w).toBeLessThan(200);
    await run(world, 'ROLLBACK');
    await checkAll(world, 'after it', FOLDED, false);
    await world.database.close();
  }, 60_000);

  it('agree with the naive evaluator if order indexes of columns answer the conditions', async () => {
    const world = await open(5);
    await insert(world, 900, 0, false);
    for (const column of ['weight', 'middle', 'narrow', 'wide']) await world.database.createIndex('T', column);
    await world.database.compact();
    const texts = [
      ...FOLDED,
      'WHERE a.middle > 49000 RETURN count(*), sum(a.weight), a.flag',
      'WHERE a.middle = 17 RETURN count(*), sum(a.weight)',
      'WHERE a.weight >= 10 AND a.weight < 10.5 AND a.flag RETURN count(*), sum(a.middle)',
      'WHERE a.weight < 100 AND a.narrow > 2 RETURN a.formation, count(*)',
    ];
    await checkAll(world, 'indexed', texts, true);
    await run(world, 'DELETE FROM T WHERE narrow = 2');
    await insert(world, 50, 0, false);
    await checkAll(world, 'indexed, with dead rows', texts, true);
    await world.database.close();
  }, 60_000);

  it('agree with the naive evaluator for random statements', async () => {
    const world = await open(6);
    await insert(world, 700, 0, false);
    await world.database.compact();
    await run(world, 'DELETE FROM T WHERE middle < -40000');
    await insert(world, 40, 0, false);
    const table = await rowsOf(world);
    for (let round = 0; round < ROUNDS; round++)
      await expectSame(world, table, randomStatement(world.random), `round ${round}`);
    await world.database.close();
  }, 60_000);

  it('do not fail because of values that no row has', async () => {
    const world = await open(9);
    const bulk = world.database.table('T').bulk();
    for (let i = 0; i < 600; i++) bulk.add({ event_ts: i, members: [1], properties: { narrow: i % 2 === 0 ? 0 : 9 } });
    await bulk.commit();
    await world.database.compact();
    const huge = 'a.narrow * (9 - a.narrow) * 1000000000000000';
    const where = await runDoor(world.statements, `MATCH (a:T) WHERE ${huge} < 1 RETURN count(*) AS n`);
    expect(where.rows).toEqual([{ n: 600 }]);
    const items = await runDoor(
      world.statements,
      `MATCH (a:T) RETURN ${huge} AS key, sum(${huge}) AS s, count(*) AS n`,
    );
    expect(items.rows).toEqual([{ key: 0, s: 0, n: 600 }]);
    await run(world, 'UPDATE T SET narrow = 5 WHERE event_ts = 300');
    for (const text of [`WHERE ${huge} < 1 RETURN count(*)`, `RETURN ${huge} AS key, count(*)`, `RETURN sum(${huge})`])
      await expect(runDoor(world.statements, `MATCH (a:T) ${text}`)).rejects.toThrow('beyond 2^53-1');
    await world.database.compact();
    for (const text of [`WHERE ${huge} < 1 RETURN count(*)`, `RETURN ${huge} AS key, count(*)`, `RETURN sum(${huge})`])
      await expect(runDoor(world.statements, `MATCH (a:T) ${text}`)).rejects.toThrow('beyond 2^53-1');
    await world.database.close();
  });

  it('compute the figures of a whole segment only once', async () => {
    const world = await open(7);
    await insert(world, 800, 0, false);
    await world.database.compact();
    const { segments } = world.database.table('T').version;
    const text = 'MATCH (a:T) RETURN sum(a.weight) AS s, max(a.weight) AS m, count(*) AS n';
    const first = (await runDoor(world.statements, text)).rows;
    expect(segments.map(({ figures }) => figures.size)).toEqual(segments.map(() => 1));
    const kept = segments.map(({ figures }) => [...figures.values()][0]);
    expect((await runDoor(world.statements, text)).rows).toEqual(first);
    expect(segments.map(({ figures }) => [...figures.values()][0])).toEqual(kept);
    await run(world, 'DELETE FROM T WHERE weight > 100');
    const [after] = (await runDoor(world.statements, text)).rows;
    expect(after.m).toBe(100);
    expect(after.s).toBeLessThan(first[0].s);
    await world.database.close();
  });

  it('report the same number of scanned buckets as a statement that reads the rows', async () => {
    const world = await open(8);
    await insert(world, 800, 0, false);
    await world.database.compact();
    const touched = async (text: string) => {
      const result = await world.statements.execute(world.statements.prepare(text), {
        parameters: {},
        session: 'test',
        slices: async () => {},
      });
      for (const _ of result.steps) void _;
      return result.plan()!.buckets_scanned;
    };
    for (const where of [
      '',
      'WHERE a.event_ts > 2000',
      'WHERE a.event_ts BETWEEN 2345 AND 6789',
      'WHERE a.narrow = 3',
    ]) {
      const read = await touched(`MATCH (a:T) ${where} RETURN a.narrow, a.event_ts`);
      expect(await touched(`MATCH (a:T) ${where} RETURN sum(a.weight)`)).toBe(read);
      expect(await touched(`MATCH (a:T) ${where} RETURN sum(a.weight)`)).toBe(read);
      expect(await touched(`MATCH (a:T) ${where} RETURN a.flag, count(*)`)).toBe(read);
    }
    await world.database.close();
  });
});

const KEYS = ['a.narrow', 'a.formation', 'a.flag', 'bucket(a)', 'size(a.members)', 'a.place', 'a.middle', 'a.weight'];
const NUMBERS = [
  'a.narrow',
  'a.middle',
  'a.weight',
  'a.mean_dist_m',
  'a.wide',
  'a.event_ts',
  'a.id',
  'size(a.members)',
];
const CONDITIONS = [
  'a.weight > 50',
  'a.middle <> 3',
  'a.narrow >= 0',
  'a.flag',
  "a.formation <> 'f0'",
  'a.event_ts > 3000',
  'a.narrow IS NULL',
  'a.mean_dist_m > 1',
  "a.flag OR a.formation = 'f1'",
  'size(a.members) <> 2',
  'a.middle % 2 = 0',
];

function randomStatement(random: Random): string {
  const pick = <T>(list: readonly T[]): T => list[random.below(list.length)]!;
  const keys = [...new Set(Array.from({ length: random.below(3) }, () => pick(KEYS)))];
  const aggregates = Array.from({ length: 1 + random.below(3) }, () => {
    const distinct = random.below(4) === 0 ? 'DISTINCT ' : '';
    return random.below(5) === 0
      ? 'count(*)'
      : `${pick(['sum', 'avg', 'min', 'max', 'count'])}(${distinct}${pick(NUMBERS)})`;
  });
  const where = Array.from({ length: random.below(3) }, () => pick(CONDITIONS)).map((one) => `(${one})`);
  const items = [...keys, ...new Set(aggregates)].map((item, place) => `${item} AS r${place}`);
  return `MATCH (a:T) ${where.length > 0 ? `WHERE ${where.join(' AND ')} ` : ''}RETURN ${items.join(', ')}`;
}
