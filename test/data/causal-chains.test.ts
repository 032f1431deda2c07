// Compares joins over real files with brute force: causal chains of three mails in email-Eu, and
// pairs of contacts in contact-primary-school. Only the first 120,000 mails are used, or all of
// them with `HEDGEROW_FULL_DATA=1`.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { type DoorAnswer, runDoor } from '../query/door.ts';
import { statementsOf } from '../support/statements.ts';
import { type FileEdges, hasDataFile, readDataFile } from './data-file.ts';
import { followers, forEachChain, forEachPair, sharedCount } from './naive-chains.ts';

const HOUR = 3600;
const FULL = process.env.HEDGEROW_FULL_DATA === '1';
const MAILS = FULL ? Infinity : 120_000;

class DataPlace {
  readonly edges: FileEdges;
  readonly #database: Database;
  readonly #run: (text: string, parameters?: Record<string, unknown>) => Promise<DoorAnswer>;

  private constructor(edges: FileEdges, database: Database) {
    this.edges = edges;
    this.#database = database;
    const statements = statementsOf(database);
    this.#run = (text, parameters) => runDoor(statements, text, parameters);
  }

  get bucketSeconds(): number {
    return this.#database.table().bucketSeconds;
  }

  /**
   * Inserts the first `most` edges of a file into a new database. The last `inLog` of them are
   * inserted after the compaction, and so remain in the log.
   */
  static async open(name: string, inLog: number, most = Infinity): Promise<DataPlace> {
    const { times, members } = readDataFile(name);
    const edges = { times: times.slice(0, most), members: members.slice(0, most) };
    const database = await openDatabase({ dir: mkdtempSync(join(tmpdir(), 'hedgerow-chains-')), memoryBudgetMb: 64 });
    const insert = async (from: number, to: number) => {
      const bulk = database.table().bulk();
      for (let i = from; i < to; i++) bulk.add({ event_ts: edges.times[i]!, members: edges.members[i]! });
      await bulk.commit();
    };
    const { length } = edges.times;
    await insert(0, length - inLog);
    await database.compact();
    await insert(length - inLog, length);
    return new DataPlace(edges, database);
  }

  /**
   * Runs a MATCH over patterns `a`, `b`, ... on the primary table. `rest` is the text after the
   * patterns.
   */
  async rows(patterns: string, rest: string, parameters?: Record<string, unknown>): Promise<DoorAnswer['rows']> {
    const list = patterns.split('').map((alias) => `(${alias}:hyperedges)`);
    return (await this.#run(`MATCH ${list.join(', ')} ${rest}`, parameters)).rows;
  }

  async count(patterns: string, where: string, parameters?: Record<string, unknown>): Promise<number> {
    const [row] = await this.rows(patterns, `WHERE ${where} RETURN COUNT(*) AS n`, parameters);
    return row.n;
  }

  async close(): Promise<void> {
    await this.#database.close();
    rmSync(this.#database.dir, { recursive: true });
  }
}

const CHAIN = 'follows(b, a, 3600) AND follows(c, b, 3600)';
const SHARING = 'shared(a, b) >= 1 AND shared(b, c) >= 1';

describe.skipIf(!hasDataFile('email-Eu'))('chains of three mails, each within an hour of the last', () => {
  let place: DataPlace;
  let lists: number[][];
  beforeAll(async () => {
    place = await DataPlace.open('email-Eu', 20_000, MAILS);
    lists = followers(place.edges, HOUR, 1);
  }, 120_000);
  afterAll(() => place.close());

  function countChains(test: (a: number, b: number, c: number) => boolean): number {
    let count = 0;
    forEachChain(lists, (a, b, c) => {
      if (test(a, b, c)) count++;
    });
    return count;
  }

  test('are counted, whichever way the conditions are written', { timeout: 120_000 }, async () => {
    const expected = countChains(() => true);
    if (FULL) expect(expected).toBe(6_093_921);
    else expect(expected).toBeGreaterThan(1_000_000);
    expect(await place.count('abc', `${CHAIN} AND ${SHARING}`)).toBe(expected);
    const mirrored = `intersects(c, b) AND intersects(b, a) AND b.event_ts - a.event_ts BETWEEN 1 AND $w
      AND c.event_ts > b.event_ts AND c.event_ts <= b.event_ts + $w`;
    expect(await place.count('cab', mirrored, { w: HOUR })).toBe(expected);
  });

  test('are counted when one of the mails must be in a time window', { timeout: 120_000 }, async () => {
    const { times } = place.edges;
    const [from, to] = [times[50_000]!, times[90_000]!];
    const within = (edge: number) => times[edge]! >= from && times[edge]! <= to;
    const where = (alias: string) => `${CHAIN} AND ${SHARING} AND ${alias}.event_ts BETWEEN $from AND $to`;
    expect(await place.count('abc', where('a'), { from, to })).toBe(countChains((a) => within(a)));
    expect(await place.count('abc', where('b'), { from, to })).toBe(countChains((_a, b) => within(b)));
    expect(await place.count('abc', where('c'), { from, to })).toBe(countChains((_a, _b, c) => within(c)));
    // The last of these edges are in the log, the first in segments.
    const recent = times[times.length - 25_000]!;
    const expected = countChains((a) => times[a]! >= recent);
    expect(expected).toBeGreaterThan(1000);
    expect(await place.count('abc', `${CHAIN} AND ${SHARING} AND a.event_ts >= $recent`, { recent })).toBe(expected);
  });

  test('are counted when first and third share a member, when consecutive mails share two, and when a node is in b', {
    timeout: 120_000,
  }, async () => {
    const { members } = place.edges;
    const triangle = countChains((a, _b, c) => sharedCount(members[a]!, members[c]!) >= 1);
    expect(triangle).toBeGreaterThan(1000);
    expect(await place.count('abc', `${CHAIN} AND ${SHARING} AND intersects(a, c)`)).toBe(triangle);
    const two = countChains(
      (a, b, c) => sharedCount(members[a]!, members[b]!) >= 2 && sharedCount(members[b]!, members[c]!) >= 2,
    );
    expect(await place.count('abc', `${CHAIN} AND shared(a, b) >= 2 AND shared(b, c) > 1`)).toBe(two);
    const node = members[100_000]![0]!;
    const through = countChains((_a, b) => members[b]!.includes(node));
    expect(through).toBeGreaterThan(0);
    expect(await place.count('abc', `${CHAIN} AND ${SHARING} AND $node IN b.members`, { node })).toBe(through);
  });

  test('are returned in the number that LIMIT requests, without duplicates', { timeout: 120_000 }, async () => {
    const rest = `WHERE ${CHAIN} AND ${SHARING} RETURN a.id AS a, b.id AS b, c.id AS c`;
    const some = await place.rows('abc', `${rest} LIMIT 5000`);
    expect(some.length).toBe(5000);
    expect(new Set(some.map(({ a, b, c }) => `${a} ${b} ${c}`)).size).toBe(5000);
    const chains = some.filter(({ a, b, c }) => lists[a - 1]!.includes(b - 1) && lists[b - 1]!.includes(c - 1));
    expect(chains.length).toBe(5000);
    const last = `${rest.replace('RETURN', 'AND 7 IN b.members RETURN')} SKIP $skip LIMIT 100`;
    const skip = countChains((_a, b) => place.edges.members[b]!.includes(7)) - 10;
    expect(await place.rows('abc', last, { skip })).toHaveLength(10);
  });

  test('are ordered and grouped', { timeout: 120_000 }, async () => {
    const { times } = place.edges;
    const from = times[times.length - 30_000]!;
    const expected: number[][] = [];
    forEachChain(lists, (a, b, c) => {
      if (times[a]! >= from) expected.push([times[c]!, c + 1, b + 1, a + 1]);
    });
    expected.sort((x, y) => y[0]! - x[0]! || x[1]! - y[1]! || x[2]! - y[2]! || x[3]! - y[3]!);
    const rest = `WHERE ${CHAIN} AND ${SHARING} AND a.event_ts >= ${from} RETURN c.event_ts AS t, c.id AS c, b.id AS b, a.id AS a
      ORDER BY t DESC, c, b, a LIMIT 300`;
    const rows = await place.rows('abc', rest);
    expect(rows.map(({ t, a, b, c }) => [t, c, b, a])).toEqual(expected.slice(0, 300));

    const middles = new Map<number, number>();
    forEachChain(lists, (_a, b) => middles.set(b + 1, (middles.get(b + 1) ?? 0) + 1));
    const busiest = [...middles].sort((x, y) => y[1] - x[1] || x[0] - y[0]).slice(0, 50);
    const group = `WHERE ${CHAIN} AND ${SHARING} RETURN b.id AS b, COUNT(*) AS n ORDER BY n DESC, b LIMIT 50`;
    expect((await place.rows('abc', group)).map(({ b, n }) => [b, n])).toEqual(busiest);
  });
});

const SCHOOL = 'contact-primary-school';

describe.skipIf(!hasDataFile(SCHOOL))('pairs of contacts at school', () => {
  let place: DataPlace;
  beforeAll(async () => {
    place = await DataPlace.open(SCHOOL, 10_000);
  }, 120_000);
  afterAll(() => place.close());

  function countPairs(
    band: readonly [number, number],
    test: (a: number, b: number) => boolean,
    ofFirst?: (a: number) => boolean,
  ): number {
    let count = 0;
    const visit = (a: number, b: number) => {
      if (test(a, b)) count++;
    };
    forEachPair(place.edges, band, visit, ofFirst);
    return count;
  }
  const shared = (a: number, b: number) => sharedCount(place.edges.members[a]!, place.edges.members[b]!);

  test.each<[string, [number, number], number]>([
    ['follows(b, a, 60) AND intersects(a, b)', [1, 60], 1],
    ['follows(b, a, 60) AND shared(a, b) >= 2', [1, 60], 2],
    ['follows(b, a, 20) AND shared(b, a) > 2', [1, 20], 3],
    ['overlaps(a, b, 20) AND shared(a, b) >= 1', [-20, 20], 1],
    ['overlaps(a, b, 0) AND intersects(a, b)', [0, 0], 1],
    ['a.event_ts = b.event_ts AND shared(a, b) >= 2', [0, 0], 2],
    ['follows(b, a, 40)', [1, 40], 0],
    ['overlaps(a, b, 20) AND NOT intersects(a, b)', [-20, 20], -1],
  ])('are counted where %s', { timeout: 120_000 }, async (where, band, least) => {
    const test = (a: number, b: number) => (least < 0 ? shared(a, b) === 0 : shared(a, b) >= least);
    const expected = countPairs(band, test);
    expect(expected).toBeGreaterThan(100);
    expect(await place.count('ab', where)).toBe(expected);
  });

  test('are counted within one bucket, in a window, for one child', { timeout: 120_000 }, async () => {
    const { times, members } = place.edges;
    const [from, to] = [times[20_000]!, times[30_000]!];
    const child = members[25_000]![0]!;
    const { bucketSeconds } = place;
    const bucket = (edge: number) => Math.floor(times[edge]! / bucketSeconds);
    const expected = countPairs(
      [-bucketSeconds, bucketSeconds],
      (a, b) => bucket(a) === bucket(b) && shared(a, b) >= 2,
      (a) => times[a]! >= from && times[a]! <= to && members[a]!.includes(child),
    );
    expect(expected).toBeGreaterThan(100);
    const where = `a.event_ts BETWEEN $from AND $to AND $child IN a.members AND bucket(a) = bucket(b) AND shared(a, b) >= 2`;
    expect(await place.count('ab', where, { from, to, child })).toBe(expected);
  });

  test('are counted when they share a member, without a condition on their times', { timeout: 120_000 }, async () => {
    const { times } = place.edges;
    const to = times[1500]!;
    const early = times.filter((time) => time <= to).length;
    let expected = 0;
    for (let a = 0; a < early; a++) for (let b = 0; b < early; b++) if (shared(a, b) >= 1) expected++;
    expect(await place.count('ab', 'intersects(a, b) AND a.event_ts <= $to AND b.event_ts <= $to', { to })).toBe(
      expected,
    );
  });
});
