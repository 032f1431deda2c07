// Tests the executor's limits on memory, products and pauses, its slices of rows and groups, and
// queries for the newest rows.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bestRows, bytesWithoutBlock, type Database, searchStatistics } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { bindMatch } from '../../src/query/binder/match.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { QueryContext, type RowSource } from '../../src/query/executor/context.ts';
import { chunkText, rowKeys } from '../../src/query/executor/rows/result-text.ts';
import { runMatch } from '../../src/query/executor/run-match.ts';
import type { MatchNode } from '../../src/query/parser/ast.ts';
import { parseStatement } from '../../src/query/parser/parser.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { newestViewOf, planBound } from './execute.ts';

const ROWS = 32_000;
let database: Database;

/**
 * Makes a table of 32,000 rows (three per second, 20,000 of them compacted) and a table of three
 * rows.
 */
beforeAll(async () => {
  database = await openSim(simDisk(), { core: 'release', segmentRows: 4096, logFileBytes: 2 ** 22 });
  const columns = [
    { name: 'n', type: 'INTEGER' as const },
    { name: 'place', type: 'TEXT' as const },
  ];
  const big = await database.createTable({ name: 'Big', columns });
  const small = await database.createTable({ name: 'Small', columns });
  for (const [from, to] of [
    [0, 20_000],
    [20_000, ROWS],
  ] as const) {
    const bulk = big.bulk();
    for (let i = from; i < to; i++)
      bulk.add({ event_ts: Math.floor(i / 3), members: [i % 100, 1000 + i], properties: { n: i, place: `p${i % 7}` } });
    await bulk.commit();
    if (from === 0) await database.compact();
  }
  for (let i = 0; i < 3; i++) await small.insert({ event_ts: 5000 + i, members: [i], properties: { n: 3 * i } });
});

afterAll(() => database.close());

interface Run {
  readonly rows: string[];
  /** Number of rows in each chunk, in order. */
  readonly chunks: readonly number[];
  readonly pauses: number;
}

/** Scans of the newest state that are not yet closed. */
const open = new Set<object>();
function watched<T extends { close(): void }>(scan: T): T {
  open.add(scan);
  const close = scan.close.bind(scan);
  scan.close = () => {
    close();
    open.delete(scan);
  };
  return scan;
}

const SOURCE: RowSource = {
  bestRows: (pattern, request, statistics, k) =>
    bestRows(pattern.table, newestViewOf(pattern.table), request, statistics, k),
  textStatistics: (pattern, search) => searchStatistics(pattern.table, newestViewOf(pattern.table), search),
  scan: (pattern, request, columns) => watched(pattern.table.scan({ ...request, format: 'columns', columns })),
  scanApart: (pattern, request, columns) => {
    const scans = pattern.table.scanApart({ ...request, format: 'columns', columns });
    return scans && [watched(scans[0]), watched(scans[1])];
  },
  segmentScan: (pattern, request) => {
    const segments = watched(pattern.table.segmentScan(request));
    const blocks = segments.blocks.bind(segments);
    segments.blocks = (columns, segment) => watched(blocks(columns, segment));
    return segments;
  },
  loadEnds: (pattern, startTs, endTs) => pattern.table.loadEnds({ startTs, endTs }),
  bytesWithoutBlock: ({ table }) => bytesWithoutBlock(table, table.version),
  count: (pattern, startTs, endTs) => pattern.table.count({ startTs, endTs }),
  timeBounds: (pattern, startTs, endTs) => pattern.table.timeBounds({ startTs, endTs }),
};

function steps(text: string, memoryBytes?: number, parameters: ParameterValues = {}) {
  const bound = bindMatch(parseStatement(text) as MatchNode, text, database, parameters);
  const plan = planBound(bound, parameters);
  const options = { source: SOURCE, patterns: bound.patterns, parameters, nowUs: () => 0 };
  const context = new QueryContext(memoryBytes === undefined ? options : { ...options, memoryBytes });
  return { steps: runMatch(plan, context), keys: rowKeys(bound.items.map((item) => item.name)), context };
}

function run(text: string, memoryBytes?: number): Run {
  const { steps: all, keys } = steps(text, memoryBytes);
  const rows: string[] = [];
  const chunks: number[] = [];
  let pauses = 0;
  for (const chunk of all) {
    if (chunk === null) pauses++;
    else {
      chunks.push(chunk.count);
      rows.push(...chunkText(chunk, keys, '\n').trimEnd().split('\n'));
    }
  }
  expect(open.size).toBe(0);
  return { rows, chunks, pauses };
}

function refusal(text: string, memoryBytes?: number): HedgerowError {
  try {
    run(text, memoryBytes);
  } catch (error) {
    expect(open.size).toBe(0);
    if (error instanceof HedgerowError) return error;
    throw error;
  }
  throw new Error(`${text} ran`);
}

describe('the memory of a statement', () => {
  it.each([
    ['sorts', 'MATCH (a:Big) RETURN a.n ORDER BY a.place, a.n'],
    ['groups', 'MATCH (a:Big) RETURN a.n, count(*)'],
    ['DISTINCT', 'MATCH (a:Big) RETURN DISTINCT a.n'],
    ['DISTINCT in order', 'MATCH (a:Big) RETURN DISTINCT a.n ORDER BY a.n LIMIT 2'],
    ['COLLECT', 'MATCH (a:Big) RETURN collect(a.n)'],
    ['COUNT DISTINCT', 'MATCH (a:Big) RETURN count(DISTINCT a.n)'],
    ['hash joins', 'MATCH (a:Big), (b:Big) WHERE a.n = b.n RETURN count(*)'],
    ['member joins', 'MATCH (a:Big), (b:Big) WHERE shared(a, b) >= 2 RETURN count(*)'],
    ['joins by time', 'MATCH (a:Big), (b:Big) WHERE overlaps(a, b, 0) RETURN count(*)'],
    ['unions', 'MATCH (a:Big) WHERE a.event_ts < 4000 OR a.event_ts > 4500 AND 7 IN a.members RETURN a.n'],
  ])('is limited for %s', (_, text) => {
    const error = refusal(text, 50_000);
    expect([error.code, error.status]).toEqual(['query_too_large', 400]);
    expect(error.message).toContain('narrow its window or add a LIMIT');
    expect(run(text, 2 ** 28).rows.length).toBeGreaterThan(0);
  });

  it('is not used for rows that are only passed on', () => {
    for (const text of [
      'MATCH (a:Big) RETURN a.n, a.place',
      'MATCH (a:Big) RETURN a.n ORDER BY a.event_ts',
      'MATCH (a:Big) RETURN a.place, count(*), sum(a.n), min(a.n)',
      'MATCH (a:Big) WHERE a.n % 1000 = 5 RETURN a.n',
      'MATCH (a:Big) RETURN count(*)',
    ])
      expect(run(text, 50_000).rows.length).toBeGreaterThan(0);
  });

  it('holds only the rows within the LIMIT if a sort has a LIMIT', () => {
    const { rows } = run('MATCH (a:Big) RETURN a.n AS n ORDER BY n DESC LIMIT 3', 2_000_000);
    expect(rows).toEqual(['{"n":31999}', '{"n":31998}', '{"n":31997}']);
  });
});

describe('products of two patterns', () => {
  it('are refused above a number of pairs, and the error says what to do', () => {
    const error = refusal('MATCH (a:Big), (b:Big) WHERE a.n > 5 AND b.n > 5 RETURN count(*)');
    expect(error.code).toBe('query_too_large');
    expect(error.message).toContain('31994 x 31994 rows are more than 1000000');
    expect(refusal('MATCH (a:Big), (b:Big) WHERE a.n + b.n = 5 RETURN count(*)', 2 ** 30).message).toContain(
      'fits no index',
    );
  });

  it('run if they have few rows', () => {
    expect(run('MATCH (a:Big), (s:Small) RETURN count(*)').rows).toEqual(['{"count(*)":96000}']);
    expect(run('MATCH (a:Big), (s:Small) WHERE a.n < s.n RETURN count(*)').rows).toEqual(['{"count(*)":9}']);
  });
});

describe('slices of an execution', () => {
  it('return at most a few thousand rows each', () => {
    for (const text of [
      'MATCH (a:Big) RETURN 1',
      'MATCH (a:Big) RETURN a.n, a.place, a.members',
      'MATCH (a:Big) RETURN a.n ORDER BY a.place, a.n',
      'MATCH (a:Big) RETURN a.n, count(*)',
      'MATCH (a:Big) RETURN a.n, count(*) AS c ORDER BY c, a.n',
      'MATCH (a:Big) RETURN DISTINCT a.n',
      'MATCH (a:Big), (b:Big) WHERE a.n = b.n RETURN a.n, b.n',
      'MATCH (a:Big) RETURN a.n ORDER BY a.event_ts DESC LIMIT 32000',
    ]) {
      const { chunks, rows } = run(text);
      expect(rows).toHaveLength(ROWS);
      expect(Math.max(...chunks)).toBeLessThanOrEqual(8192);
    }
  });

  it('pause where much is computed and little is returned', () => {
    for (const text of [
      'MATCH (a:Big) RETURN count(a.n)',
      "MATCH (a:Big) WHERE a.place = 'zz' RETURN a.n",
      "MATCH (a:Big) WHERE a.place = 'zz' RETURN count(*)",
      "MATCH (a:Big) WHERE a.place = 'zz' RETURN a.n ORDER BY a.n",
      'MATCH (a:Big) RETURN a.n SKIP 32000',
      'MATCH (a:Big) RETURN DISTINCT a.place',
      'MATCH (a:Big), (b:Big) WHERE a.n = b.n AND a.n + b.n < 0 RETURN a.n',
      'MATCH (a:Big), (b:Big) WHERE overlaps(a, b, 10) AND a.n = b.n + 100000 RETURN a.n',
      'MATCH (a:Big), (b:Big) WHERE shared(a, b) >= 1 AND overlaps(a, b, 100) AND a.n > b.n + 1000 RETURN count(*)',
      'MATCH (a:Big) RETURN a.n ORDER BY a.place DESC, a.n LIMIT 20000',
    ])
      expect(run(text).pauses, text).toBeGreaterThan(1);
  });

  it('close their scans when the caller stops asking for more', () => {
    for (const text of [
      'MATCH (a:Big) RETURN a.n',
      'MATCH (a:Big) RETURN a.place, count(*)',
      'MATCH (a:Big), (b:Big) WHERE a.n = b.n RETURN a.n',
    ]) {
      const { steps: all } = steps(text);
      all.next();
      expect(open.size).toBeGreaterThan(0);
      all.return();
      expect(open.size).toBe(0);
    }
  });

  it('count the buckets they touched, even when they end early', () => {
    const { steps: all, context } = steps('MATCH (a:Big) WHERE a.n % 2 = 0 RETURN a.n LIMIT 5');
    for (const _ of all) void _;
    expect(context.bucketsScanned).toBeGreaterThan(0);
    expect(context.bucketsScanned).toBeLessThanOrEqual(1000);
    const union = steps('MATCH (a:Big) WHERE a.event_ts IN [1, 3, 5] OR 3 IN a.members AND a.event_ts < 9 RETURN a.n');
    for (const _ of union.steps) void _;
    expect(union.context.bucketsScanned).toBeLessThanOrEqual(4);
  });
});

describe('a query for the newest rows', () => {
  const n = (rows: readonly string[]) => rows.map((row) => (JSON.parse(row) as { n: number }).n);

  it('returns the newest rows first, by reading windows that grow', () => {
    const { rows } = run('MATCH (a:Big) RETURN a.n AS n ORDER BY a.event_ts DESC, a.id DESC LIMIT 2000');
    expect(n(rows)).toEqual(Array.from({ length: 2000 }, (_, i) => ROWS - 1 - i));
  });

  it('goes back as far as its conditions require', () => {
    const rare = 'MATCH (a:Big) WHERE a.n % 10000 = 17 RETURN a.n AS n ORDER BY a.event_ts DESC LIMIT 2';
    expect(n(run(rare).rows)).toEqual([30_017, 20_017]);
    const none = 'MATCH (a:Big) WHERE a.n < 0 RETURN a.n AS n ORDER BY a.event_ts DESC LIMIT 2';
    expect(run(none).rows).toEqual([]);
    const windowed =
      'MATCH (a:Big) WHERE a.event_ts BETWEEN 100 AND 200 AND 5 IN a.members RETURN a.n AS n ORDER BY a.event_ts DESC LIMIT 9';
    expect(n(run(windowed).rows)).toEqual([505, 405, 305]);
    expect(n(run('MATCH (a:Big) RETURN a.n AS n ORDER BY a.event_ts DESC, a.id DESC SKIP 31998 LIMIT 9').rows)).toEqual(
      [1, 0],
    );
  });
});

describe('a join by time', () => {
  it('finds each row once if several access paths return it, in any order', () => {
    const near =
      'overlaps(s, a, 600) AND (7 IN a.members AND a.event_ts < 5000 OR a.event_ts = 4900 OR a.event_ts = 5100)';
    const ways = run(`MATCH (s:Small), (a:Big) WHERE ${near} RETURN s.n, a.n`);
    const plain = run(
      `MATCH (s:Small), (a:Big) WHERE ${near.replaceAll('a.event_ts', 'a.event_ts + 0')} RETURN s.n, a.n`,
    );
    expect(ways.rows.length).toBeGreaterThan(50);
    expect([...ways.rows].sort()).toEqual([...plain.rows].sort());
  });
});
