// Checks that rows that the core writes as text equal the rows that the executor builds from
// vectors, byte for byte, in every state of a table.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import type { Statements } from '../../src/query/statements.ts';
import { WrittenRead } from '../../src/query/written-read.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { statementsOf } from '../support/statements.ts';
import { executor } from './execute.ts';
import { eachState } from './random-world.ts';

/** Statements whose rows the core can write: for each, a condition and the returned items. */
const WRITTEN = [
  ['', 'a.id, a.event_ts, a.members'],
  ['', '*'],
  ['', 'a'],
  ['', 'a AS `the "whole" row`'],
  ['', 'a.id, a.event_ts, a.members, a.place, a.n AS place2, a.ok, a.weight'],
  ['', 'a.id, a.event_ts, a.members, a.score, a.big, a.open, a.formation ORDER BY a.event_ts, a.id'],
  ['WHERE 3 IN a.members', '* ORDER BY a.event_ts'],
  ['WHERE $node IN a.members AND a.event_ts BETWEEN $from AND $to', 'a.id, a.event_ts, a.members LIMIT 5'],
  ['WHERE a.event_ts >= $from', 'a LIMIT $limit'],
  ['WHERE a.n >= 0 AND a.score < 100', '* LIMIT 3'],
  ['WHERE a.weight > -1000', 'a.id AS id, a.event_ts, a.members AS members'],
  ["WHERE a.place = 'x'", '*'],
  ['WHERE a.place = $place AND a.n >= 0', 'a.id, a.event_ts, a.members, a.place LIMIT 3'],
  ["WHERE a.place = 'home' AND 3 IN a.members", 'a'],
] as const;

/**
 * Statements whose rows must be built from vectors, because they need further processing or the
 * core has no text for them.
 */
const MADE = [
  ['', 'a.id, a.members, a.event_ts'],
  ['', 'a.id, a.event_ts'],
  ['', 'a.id AS key, a.event_ts, a.members'],
  ['', 'a.id, a.event_ts, a.members, a.n + 1 AS n'],
  ['', 'DISTINCT a.id, a.event_ts, a.members'],
  ['', '* SKIP 1'],
  ['', '* LIMIT 0'],
  ['', '* ORDER BY a.id'],
  ['', '* ORDER BY a.event_ts DESC LIMIT 3'],
  ["WHERE a.place <> 'x'", '*'],
  ['WHERE 1 IN a.members OR 2 IN a.members', '*'],
  ['WHERE a.event_ts > 5 AND a.event_ts < 5', '*'],
  ['', 'a, a.id'],
] as const;

const PARAMETERS = { node: 2, from: -5, to: 40, limit: 4, place: 'home' };

function textOf(read: WrittenRead): string {
  const pieces: Uint8Array[] = [];
  for (let piece = read.next(); piece !== null; piece = read.next()) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

function written(
  statements: Statements,
  text: string,
  parameters: object,
  format: 'json' | 'ndjson',
): string | undefined {
  const read = statements.read(statements.prepare(text), parameters as Record<string, unknown>, 'mine', format);
  if (read instanceof WrittenRead) return textOf(read);
  read?.close();
  return undefined;
}

describe('rows written as text', () => {
  it.each([11, 12, 13])('equal those of the executor, in every state of random tables (seed %i)', async (seed) => {
    let statements: Statements | undefined;
    let compared = 0;
    await eachState(seed, async ({ database, statements: random, state }) => {
      statements ??= statementsOf(database);
      const fixed = WRITTEN.map(([where, items]) => ({ text: `MATCH (a:Contact) ${where} RETURN ${items}` }));
      for (const { text, parameters } of [...random, ...fixed.map((one) => ({ ...one, parameters: PARAMETERS }))]) {
        const rows = await executor(database)(text, parameters).then(
          (answer) => answer.rows,
          () => undefined,
        );
        if (rows === undefined) continue;
        // Runs the text three times: the first run binds it, the second binds and caches it, and
        // the third uses the cache.
        for (const format of ['json', 'ndjson', 'json'] as const) {
          const found = written(statements, text, parameters, format);
          if (found === undefined) break;
          const wanted = format === 'json' ? rows.join(',') : rows.map((row) => `${row}\n`).join('');
          expect(found, `${state}, ${format}: ${text}`).toBe(wanted);
          compared += 1;
        }
      }
    });
    // Some statements are not written by the core if their table has roles.
    expect(compared).toBeGreaterThan(WRITTEN.length * 3 * 3);
  });
});

describe('a read of one table', () => {
  let database: Database;
  let statements: Statements;

  beforeAll(async () => {
    database = await openSim(simDisk(), { core: 'release', segmentRows: 4096 });
    statements = statementsOf(database);
    const columns = [
      { name: 'n', type: 'INTEGER' as const },
      { name: 'place', type: 'TEXT' as const, default: 'x' },
      { name: 'score', type: 'REAL' as const },
      { name: 'big', type: 'INTEGER' as const, default: -(2 ** 53 - 1) },
      { name: 'ok', type: 'BOOLEAN' as const, default: true },
      { name: 'open', type: 'BOOLEAN' as const },
    ];
    const table = await database.createTable({ name: 'Contact', columns });
    const bulk = table.bulk();
    for (let i = 0; i < 6000; i++) {
      const properties = i % 3 === 0 ? {} : { n: i, place: `"ä\n${i}`, score: i % 2 === 0 ? -0 : i / 7 };
      bulk.add({ event_ts: i, members: [i % 10, 10 + (i % 7)], properties });
    }
    await bulk.commit();
  });

  afterAll(async () => {
    statements.close();
    await database.close();
  });

  const open = (text: string, session = 'mine') =>
    statements.read(statements.prepare(text), PARAMETERS, session, 'json') as WrittenRead;

  it.each(WRITTEN)('is written by the core: %s %s', (where, items) => {
    expect(written(statements, `MATCH (a:Contact) ${where} RETURN ${items}`, PARAMETERS, 'json')).toBeTypeOf('string');
  });

  it.each(MADE)('is built from vectors: %s %s', (where, items) => {
    expect(written(statements, `MATCH (a:Contact) ${where} RETURN ${items}`, PARAMETERS, 'json')).toBeUndefined();
  });

  it('is returned in several pieces if it is large, also for whole rows', async () => {
    for (const items of ['*', 'a', 'a.id, a.event_ts, a.members, a.place']) {
      const text = `MATCH (a:Contact) RETURN ${items}`;
      const read = open(text);
      let pieces = 0;
      let json = '';
      for (let piece = read.next(); piece !== null; piece = read.next()) {
        pieces += piece.length > 0 ? 1 : 0;
        json += Buffer.from(piece).toString();
      }
      expect(pieces).toBeGreaterThan(2);
      expect(read.rows).toBe(6000);
      expect(json).toBe((await executor(database)(text)).rows.join(','));
    }
  });

  it('reports the same plan as the executor', async () => {
    for (const where of ['', 'WHERE 3 IN a.members', 'WHERE a.event_ts < 100', 'WHERE a.n > 5900']) {
      const text = `MATCH (a:Contact) ${where} RETURN *`;
      const read = open(text);
      textOf(read);
      const { plan } = await executor(database)(text);
      expect(read.plan()).toMatchObject({
        strategy: plan!.strategy,
        buckets_scanned: plan!.bucketsScanned,
        total_buckets: plan!.totalBuckets,
        speedup_factor: plan!.totalBuckets / Math.max(1, plan!.bucketsScanned),
      });
      expect(read.plan().elapsed_us).toBeGreaterThanOrEqual(0);
      expect([read.strategy, read.table, read.lsn]).toEqual([plan!.strategy, 'Contact', database.lastLsn]);
    }
  });

  it('keeps a snapshot until its end, or until it is closed', () => {
    const table = database.table('Contact');
    const before = table.openSnapshots;
    const read = open('MATCH (a:Contact) RETURN *');
    expect(table.openSnapshots).toBe(before + 1);
    textOf(read);
    expect(table.openSnapshots).toBe(before);
    const closed = open('MATCH (a:Contact) RETURN *');
    closed.next();
    closed.close();
    closed.close();
    expect(table.openSnapshots).toBe(before);
    expect(closed.next()).toBeNull();
    expect(() => open('MATCH (a:Contact) RETURN a.nothing')).toThrow('no column');
    expect(() => open('MATCH (a:Contact) RETURN * LIMIT $from')).toThrow('0 or more');
    expect(table.openSnapshots).toBe(before);
  });

  it('is available only in sessions without a transaction', async () => {
    const slices = async (step: () => boolean) => {
      while (step());
    };
    await statements.execute(statements.prepare('BEGIN'), { parameters: {}, session: 'busy', slices });
    expect(open('MATCH (a:Contact) RETURN *', 'busy')).toBeUndefined();
    expect(open('MATCH (a:Contact) RETURN * LIMIT 1', 'idle')).toBeInstanceOf(WrittenRead);
    await statements.execute(statements.prepare('ROLLBACK'), { parameters: {}, session: 'busy', slices });
  });

  it('is available only for MATCH', () => {
    for (const text of ['SHOW TABLES', 'EXPLAIN MATCH (a:Contact) RETURN *', 'ANALYZE MATCH (a:Contact) RETURN *'])
      expect(open(text)).toBeUndefined();
  });
});
