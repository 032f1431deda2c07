// Compares retrieval with a scan of all rows, for random questions on random tables in every state.
// Also tests how much retrieval reads, and the form of the edges. HEDGEROW_RETRIEVALS is the number
// of questions per state of a table; for a long run, set it to 100.

import { describe, expect, it } from 'vitest';
import type { Database, Scan, Table } from '../../src/engine/index.ts';
import { retrieve } from '../../src/rag/retrieval/retrieve.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import { naiveRetrieval, type PlainRow, type Wish } from './naive-retrieval.ts';
import { COLUMNS, eachState, FIRST_TS, insert, pick, randomWish, retrieved, textOf } from './retrieval-world.ts';

const QUESTIONS = Number(process.env.HEDGEROW_RETRIEVALS ?? 12);

function expectSame(table: Table, rows: readonly PlainRow[], wish: Wish, topK: number, state: string): void {
  const text = textOf(wish);
  const found = retrieved(table, text, { topK });
  const wanted = naiveRetrieval(rows, wish, topK);
  const what = `${state}, top ${topK} of ${rows.length}: ${text}`;
  // Leaves out reports about nodes and words that are in no edge.
  expect(
    found.question.ignored.filter(({ reason }) => !reason.startsWith('No ')),
    what,
  ).toEqual([]);
  expect(
    found.edges.map(({ edge_id }) => edge_id),
    what,
  ).toEqual(wanted.ids);
  expect(found.truncated, what).toBe(wanted.truncated);
  for (const [place, { score }] of found.edges.entries()) expect(score, what).toBeCloseTo(wanted.scores[place]!, 12);
  expectWhole(found.edges, rows);
}

function expectWhole(edges: ReturnType<typeof retrieved>['edges'], rows: readonly PlainRow[]): void {
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const edge of edges.slice(0, 20)) {
    const { edge_id, hedge_tag, score, why, properties, ...rest } = edge;
    expect(why.length).toBeGreaterThan(0);
    expect(hedge_tag).toBe(`HEDGE-${edge_id}`);
    expect(score >= 0 && score <= 1).toBe(true);
    expect({ id: edge_id, ...rest, ...properties }).toEqual(byId.get(edge_id));
  }
}

async function compare(seed: number, rows: number, questions: number, segmentRows: number): Promise<void> {
  const random = new Random(seed);
  const disk = simDisk(seed);
  const options = { core: 'release', segmentRows } as const;
  const reopen = async (database: Database) => {
    await database.close();
    return openSim(disk, options);
  };
  let looked = 0;
  await eachState(random, rows, await openSim(disk, options), reopen, (state, table) => {
    const all = rowsOf(table) as unknown as PlainRow[];
    for (let i = 0; i < questions; i++) {
      const topK = pick(random, [1, 2, 5, 40, 200, 10_000]);
      expectSame(table, all, randomWish(random, rows * 2), topK, `seed ${seed}, ${state}`);
      looked++;
    }
    expect(table.openSnapshots).toBe(0);
  });
  expect(looked).toBe(5 * questions);
}

describe('retrieval', () => {
  it.each(Array.from({ length: 12 }, (_, seed) => seed))(
    'finds the same edges as a scan of a small table, seed %i',
    (seed) => compare(seed, 5 + seed * 8, QUESTIONS, 8),
  );

  it.each([100, 101, 102, 103])('finds the same edges as a scan of a larger table, seed %i', (seed) =>
    compare(seed, 1800, QUESTIONS, 200),
  );
});

async function openTrips(count: number): Promise<Table> {
  const database = await openSim(simDisk(), { core: 'release', segmentRows: 500 });
  await database.createTable({ name: 'Trips', columns: [...COLUMNS] });
  const table = database.table('Trips');
  await insert(
    table,
    Array.from({ length: count }, (_, i) => ({
      event_ts: FIRST_TS + i * 10,
      members: [i % 7, 100 + (i % 50)],
      properties: { note: i % 2 === 0 ? 'escort' : 'patrol' },
    })),
  );
  await database.compact();
  return table;
}

/** Records the scans that a retrieval makes. */
function watched(table: Table): Scan[] {
  const scans: Scan[] = [];
  const scan = table.scan.bind(table);
  table.scan = (...request) => {
    const made = scan(...request);
    scans.push(made);
    return made;
  };
  return scans;
}

describe('the rows that retrieval reads', () => {
  it.each([
    ['', 'TPI_BUCKET_PUSHDOWN'],
    ['node 3', 'FMI_LOOKUP'],
    ['nodes 3 and 103', 'FMI_LOOKUP'],
    [`since ${FIRST_TS + 1000}`, 'TPI_BUCKET_PUSHDOWN'],
    [`node 103 until ${FIRST_TS + 150_000}`, 'FMI_LOOKUP'],
    ['latest 5', 'TPI_BUCKET_PUSHDOWN'],
    ['oldest 5', 'TPI_BUCKET_PUSHDOWN'],
  ])('are few for %j, with the strategy %s', async (text, strategy) => {
    const table = await openTrips(20_000);
    const scans = watched(table);
    const { edges, strategy: found } = retrieved(table, text, { topK: 10 });
    expect(edges.length).toBeGreaterThan(4);
    expect(found).toBe(strategy);
    expect(scans.reduce((sum, scan) => sum + scan.rows, 0)).toBeLessThan(3000);
    expect(scans.map((scan) => scan.plan().strategy)).not.toContain('FULL_SCAN');
  });

  it('are few even if most edges are close together in time and a few are far from them', async () => {
    const database = await openSim(simDisk(), { core: 'release', segmentRows: 500 });
    await database.createTable({ name: 'Trips', columns: [...COLUMNS] });
    const table = database.table('Trips');
    const times = [0, 5, ...Array.from({ length: 10_000 }, (_, i) => FIRST_TS + i), 4 * FIRST_TS];
    await insert(
      table,
      times.map((event_ts) => ({ event_ts, members: [1] })),
    );
    await database.compact();
    const scans = watched(table);
    for (const text of ['node 1', '', 'oldest 10', `node 1 since ${FIRST_TS - 5}`]) {
      const edges = retrieved(table, text, { topK: 10 }).edges.map(({ event_ts }) => event_ts);
      const wanted = text.startsWith('oldest') ? times.slice(0, 10) : times.slice(-10).reverse();
      expect(edges).toEqual(wanted);
    }
    expect(scans.reduce((sum, scan) => sum + scan.rows, 0)).toBeLessThan(10_000);
  });

  it('are reported as FULL_SCAN for a condition without index or window', async () => {
    const table = await openTrips(300);
    expect(retrieved(table, 'note = escort', { topK: 10 }).strategy).toBe('FULL_SCAN');
    expect(retrieved(table, 'note = escort since 2001', { topK: 10 }).strategy).toBe('TPI_BUCKET_PUSHDOWN');
  });

  it('are reported as PSI_RANGE if the index of a column was used', async () => {
    const database = await openSim(simDisk(), { core: 'release', segmentRows: 500 });
    await database.createTable({ name: 'Trips', columns: [...COLUMNS] });
    const table = database.table('Trips');
    const edges = Array.from({ length: 2000 }, (_, i) => ({ event_ts: i, members: [i % 7], properties: { speed: i } }));
    await insert(table, edges);
    await database.compact();
    await database.createIndex('Trips', 'speed');
    const { edges: found, strategy } = retrieved(table, 'speed between 1200 and 1204', { topK: 10 });
    expect(found.map(({ properties }) => properties.speed)).toEqual([1204, 1203, 1202, 1201, 1200]);
    expect(strategy).toBe('PSI_RANGE');
  });
});

describe('a retrieval', () => {
  it('scores edges as documented', async () => {
    const database = await openSim(simDisk(), { core: 'release' });
    await database.createTable({ name: 'Trips', columns: [...COLUMNS] });
    const table = database.table('Trips');
    await insert(table, [
      { event_ts: 0, members: [1, 2], properties: { weight: 1, note: 'An escort.' } },
      { event_ts: 50, members: [1], properties: { weight: 3 } },
      { event_ts: 100, members: [9] },
    ]);
    const { edges } = retrieved(table, 'nodes 1 and 2 escorts', { topK: 10 });
    expect(edges.map(({ edge_id, score }) => [edge_id, Number(score.toFixed(6))])).toEqual([
      [1, 0.4 + 0.3 + 0 + 0.05 / 2],
      [2, Number((0.2 + 0 + 0.125 + (0.05 * 3) / 4).toFixed(6))],
    ]);
    expect(retrieved(table, '', { topK: 10 }).edges.map(({ score }) => Number(score.toFixed(6)))).toEqual(
      [0.25 / 0.3, (0.125 + 0.0375) / 0.3, 0.025 / 0.3].map((score) => Number(score.toFixed(6))),
    );
  });

  it('returns the newest edges for a question without conditions or keywords, and edges with a keyword if it has only those', async () => {
    const table = await openTrips(100);
    const { edges, truncated } = retrieved(table, 'what happened', { topK: 4 });
    expect(edges.map(({ edge_id }) => edge_id)).toEqual([100, 99, 98, 97]);
    expect(truncated).toBe(true);
    expect(retrieved(table, 'what happened', { topK: 100 }).truncated).toBe(false);
    const found = retrieved(table, 'escort duty', { topK: 4 });
    expect(found.edges.map(({ edge_id }) => edge_id)).toEqual([99, 97, 95, 93]);
    expect(found.truncated).toBe(true);
    expect(found.question.ignored.map(({ text }) => text)).toEqual(['duty']);
  });

  it('returns at most the smaller of topK and the number in the text', async () => {
    const table = await openTrips(100);
    expect(retrieved(table, 'top 3', { topK: 10 }).edges).toHaveLength(3);
    expect(retrieved(table, 'top 30', { topK: 10 }).edges).toHaveLength(10);
  });

  it('uses given start and end times, each independently of the other, instead of those in the text', async () => {
    const table = await openTrips(100);
    const text = `between ${FIRST_TS + 100} and ${FIRST_TS + 200}`;
    const times = (override: { startTs?: number; endTs?: number }) => {
      const { edges, question } = retrieved(table, text, { topK: 1000, override });
      const found = edges.map(({ event_ts }) => event_ts - FIRST_TS).sort((a, b) => a - b);
      return [found[0], found.at(-1), question.window];
    };
    const window = (start_ts: number, end_ts: number) => ({ start_ts: FIRST_TS + start_ts, end_ts: FIRST_TS + end_ts });
    expect(times({})).toEqual([100, 200, window(100, 200)]);
    expect(times({ startTs: FIRST_TS + 150 })).toEqual([150, 200, window(150, 200)]);
    expect(times({ endTs: FIRST_TS + 300 })).toEqual([100, 300, window(100, 300)]);
    expect(times({ startTs: FIRST_TS, endTs: FIRST_TS })).toEqual([0, 0, window(0, 0)]);
    expect(retrieved(table, text, { topK: 5, override: { startTs: FIRST_TS + 999 } }).edges).toEqual([]);
  });

  it('finds nothing in an empty table or an empty window', async () => {
    const database = await openSim(simDisk());
    await database.createTable({ name: 'Trips', columns: [...COLUMNS] });
    const table = database.table('Trips');
    for (const text of ['', 'node 1', 'since 2001', 'speed > 1', 'oldest', 'after 2001 and before 2000'])
      expect(retrieved(table, text, { topK: 5 })).toMatchObject({ edges: [], truncated: false });
    expect(table.openSnapshots).toBe(0);
  });

  it('finds edges at the least and the greatest possible time', async () => {
    const database = await openSim(simDisk(), { core: 'release' });
    await database.createTable({ name: 'Trips', columns: [...COLUMNS] });
    const table = database.table('Trips');
    const times = [-(2 ** 53) + 1, 0, ...Array.from({ length: 2000 }, (_, i) => FIRST_TS + i), 2 ** 53 - 1];
    await insert(
      table,
      times.map((event_ts) => ({ event_ts, members: [1] })),
    );
    for (const text of ['node 1', '', 'latest', 'oldest']) {
      const edges = retrieved(table, text, { topK: 7 }).edges.map(({ event_ts }) => event_ts);
      expect(edges).toEqual(text === 'oldest' ? times.slice(0, 7) : times.slice(-7).reverse());
    }
  });

  it('reads one snapshot, unaffected by writes, alterations and compaction between its steps', async () => {
    const database = await openSim(simDisk(), { core: 'release' });
    await database.createTable({ name: 'Trips', columns: [...COLUMNS] });
    const table = database.table('Trips');
    const edges = Array.from({ length: 600 }, (_, i) => ({
      event_ts: FIRST_TS + i,
      members: [1],
      properties: { note: `n${i}`, speed: i },
    }));
    await insert(table, edges);
    const steps = retrieve(table, 'node 1 speed >= 100 note != n5', { topK: 500, nowMs: 0 });
    untilSnapshot(steps, table);
    await insert(table, [{ event_ts: FIRST_TS + 9999, members: [1], properties: { speed: 500 } }]);
    await table.delete(FIRST_TS + 300, [1]);
    await database.alterTable('Trips', { kind: 'dropColumn', column: 'note' });
    await database.alterTable('Trips', { kind: 'renameColumn', column: 'speed', to: 'pace' });
    await database.compact();
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value.edges.map(({ event_ts }) => event_ts - FIRST_TS)).toEqual(
      Array.from({ length: 500 }, (_, i) => 599 - i),
    );
    expect(step.value.edges[0]!.properties.note).toBe('n599');
    expect(table.openSnapshots).toBe(0);
  });

  it('understands a text by the columns that the table has when the snapshot is taken', async () => {
    const database = await openSim(simDisk(), { core: 'release' });
    await database.createTable({ name: 'Trips', columns: [...COLUMNS] });
    const table = database.table('Trips');
    const properties = { note: 'n', speed: 5 };
    await insert(table, [{ event_ts: FIRST_TS, members: [1], properties }]);
    const steps = retrieve(table, 'node 1 pace >= 5', { topK: 5, nowMs: 0 });
    steps.next();
    expect(table.openSnapshots).toBe(0);
    await database.alterTable('Trips', { kind: 'renameColumn', column: 'speed', to: 'pace' });
    let step = steps.next();
    while (step.done !== true) step = steps.next();
    expect(step.value.question.filters).toMatchObject([{ column: 'pace' }]);
    expect(step.value.edges).toHaveLength(1);
  });

  it('releases its snapshot when it is cancelled', async () => {
    const table = await openTrips(5000);
    const steps = retrieve(table, 'node 3 escort', { topK: 500, nowMs: 0 });
    untilSnapshot(steps, table);
    steps.return(undefined as never);
    expect(table.openSnapshots).toBe(0);
  });
});

/** Runs the steps in which the text is understood, and the one that takes the snapshot. */
function untilSnapshot(steps: ReturnType<typeof retrieve>, table: Table): void {
  while (table.openSnapshots === 0) expect(steps.next().done).toBe(false);
  expect(table.openSnapshots).toBe(1);
}
