// Joins of three or more patterns keep the rows of their patterns in memory, not the combinations.
// The tests run them with little memory, and check every result.

import { existsSync, readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { MemoryPool } from '../../src/query/executor/memory.ts';
import { Statements } from '../../src/query/statements.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { Random } from '../support/random.ts';
import { CopyPlace } from './copy-place.ts';
import { runDoor } from './door.ts';

const MB = 2 ** 20;
const ROWS = 700;

interface Edge {
  event_ts: number;
  members: number[];
  n: number;
}

let place: CopyPlace;
let edges: Edge[];
const opened: Statements[] = [];
/** The greatest number of bytes counted at any moment. */
let most = 0;

beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  const random = new Random(11);
  edges = Array.from({ length: ROWS }, () => ({
    event_ts: random.below(2000),
    members: [random.below(12), 12 + random.below(12)],
    n: random.below(8),
  }));
  await place.insert(
    't',
    edges.map(({ event_ts, members, n }) => ({ event_ts, members, properties: { n } })),
  );
});
afterAll(async () => {
  for (const statements of opened) statements.close();
  await place.close();
});

class MeasuredPool extends MemoryPool {
  #held = 0;

  override take(bytes: number): boolean {
    this.#held += bytes;
    most = Math.max(most, this.#held);
    return super.take(bytes);
  }
}

function statementsOf(memoryBytes: number): Statements {
  const statements = new Statements({
    database: place.database,
    now: () => 0,
    nowUs: () => 0,
    newId: () => 'id',
    transactionIdleSeconds: 30,
    copyRoot: undefined,
    fs: nodeFs,
    memory: new MeasuredPool({ statementBytes: memoryBytes, totalBytes: 2 * memoryBytes }),
  });
  opened.push(statements);
  return statements;
}

type Test = (a: Edge, b: Edge) => boolean;
const near: Test = (a, b) => Math.abs(a.event_ts - b.event_ts) <= 300;
const shares: Test = (a, b) => a.members.some((node) => b.members.includes(node));
const same: Test = (a, b) => a.n === b.n;
const close: Test = (a, b) => Math.abs(a.event_ts - b.event_ts) <= 40;
const after: Test = (a, b) => b.event_ts > a.event_ts && b.event_ts - a.event_ts <= 600;
const soon: Test = (a, b) => b.event_ts > a.event_ts && b.event_ts - a.event_ts <= 40;

/**
 * Returns the row count, the sum of `c.n` and the least `c.event_ts` of the join. They are computed
 * for each middle edge `b` from its matches on both sides.
 */
function judged(first: Test, second: Test): { rows: number; sum: number; least: number } {
  let rows = 0;
  let sum = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const b of edges) {
    const before = edges.filter((a) => first(a, b));
    const behind = edges.filter((c) => second(b, c));
    rows += before.length * behind.length;
    sum += before.length * behind.reduce((total, { n }) => total + n, 0);
    if (before.length > 0) for (const { event_ts } of behind) least = Math.min(least, event_ts);
  }
  return { rows, sum, least };
}

const LINKS: Record<string, [where: string, test: Test]> = {
  shared: ['shared(@, @@) >= 1', shares],
  equal: ['@.n = @@.n', same],
};
const WIDE: typeof LINKS = {
  overlaps: ['overlaps(@, @@, 300)', near],
  follows: ['follows(@@, @, 600)', after],
  ...LINKS,
};
const NARROW: typeof LINKS = {
  overlaps: ['overlaps(@, @@, 40)', close],
  follows: ['follows(@@, @, 40)', soon],
  ...LINKS,
};

describe('a join of three patterns with 1 MB', () => {
  for (const [firstName, [first, firstTest]] of Object.entries(WIDE))
    for (const [secondName, [second, secondTest]] of Object.entries(NARROW))
      test(`gives the right aggregates for ${firstName} and ${secondName}`, async () => {
        const where = [first.replace(/@@/g, 'b').replace(/@/g, 'a'), second.replace(/@@/g, 'c').replace(/@/g, 'b')];
        const { rows, sum, least } = judged(firstTest, secondTest);
        // All combinations of the first two patterns alone would exceed the memory limit.
        most = 0;
        const text = `MATCH (a:t), (b:t), (c:t) WHERE ${where.join(' AND ')} RETURN COUNT(*) AS n, SUM(c.n) AS sum, MIN(c.event_ts) AS least`;
        const answer = await runDoor(statementsOf(MB), text);
        expect(answer.rows).toEqual([{ n: rows, sum, least }]);
        expect(rows).toBeGreaterThan(500_000);
        expect(most).toBeLessThan(MB);
      });
});

test('groups, COUNT DISTINCT and joins of four patterns need little memory', async () => {
  const statements = statementsOf(3 * MB);
  const grouped = await runDoor(
    statements,
    'MATCH (a:t), (b:t), (c:t) WHERE overlaps(a, b, 300) AND b.n = c.n RETURN c.n AS n, COUNT(*) AS k, COUNT(DISTINCT a.id) AS d ORDER BY n',
  );
  const expected = [...new Set(edges.map(({ n }) => n))].sort().map((n) => {
    const bs = edges.filter((b) => b.n === n);
    const pairs = bs.flatMap((b) => edges.filter((a) => near(a, b)));
    return { n, k: pairs.length * bs.length, d: new Set(pairs).size };
  });
  expect(grouped.rows).toEqual(expected);
  const four = await runDoor(
    statements,
    'MATCH (a:t), (b:t), (c:t), (d:t) WHERE overlaps(a, b, 20) AND shared(b, c) >= 2 AND overlaps(c, d, 20) RETURN COUNT(*) AS n',
  );
  const both: Test = (a, b) => a.members.every((node) => b.members.includes(node));
  const beside: Test = (a, b) => Math.abs(a.event_ts - b.event_ts) <= 20;
  const neighbours = edges.map((one) => edges.filter((other) => beside(one, other)).length);
  let n = 0;
  for (const [b, one] of edges.entries())
    for (const [c, other] of edges.entries()) if (both(one, other)) n += neighbours[b]! * neighbours[c]!;
  expect(four.rows).toEqual([{ n }]);
});

test('unsorted rows need no memory for their combinations, and a sort that needs too much is refused', async () => {
  const statements = statementsOf(2 * MB);
  const text =
    'MATCH (a:t), (b:t), (c:t) WHERE overlaps(a, b, 300) AND shared(b, c) >= 1 RETURN a.id AS a, b.id AS b, c.id AS c';
  const result = await statements.execute(statements.prepare(text), {
    parameters: {},
    session: 's',
    slices: async (step) => {
      while (step());
    },
  });
  most = 0;
  let rows = 0;
  for (const chunk of result.steps) rows += chunk?.count ?? 0;
  expect(rows).toBe(judged(near, shares).rows);
  expect(most).toBeLessThan(2 * MB);
  await expect(runDoor(statements, `${text} ORDER BY a, b, c`)).rejects.toMatchObject({ code: 'query_too_large' });
});

test('a product of patterns that no condition links is refused before any row is sent', async () => {
  const statements = statementsOf(64 * MB);
  const untied = 'MATCH (a:t), (b:t), (c:t) WHERE overlaps(a, b, 300)';
  for (const items of ['a.id AS a, c.id AS c', 'COUNT(*) AS n']) {
    const result = await statements.execute(statements.prepare(`${untied} RETURN ${items}`), {
      parameters: {},
      session: 's',
      slices: async (step) => {
        while (step());
      },
    });
    let rows = 0;
    const read = () => {
      for (const chunk of result.steps) rows += chunk?.count ?? 0;
    };
    expect(read).toThrow(/No condition ties the patterns together/);
    expect(rows).toBe(0);
  }
});

const DATA = new URL('../../../shared/data/contact-primary-school.ndjson.gz', import.meta.url);

test('a three-way join over 106,879 contacts ends at the deadline, not at the memory limit', async (context) => {
  if (!existsSync(DATA)) context.skip(`${DATA.pathname} is not there`);
  await place.table('school');
  const lines = gunzipSync(readFileSync(DATA)).toString().trim().split('\n');
  const contacts = lines.map((line) => JSON.parse(line) as { event_ts: number; members: number[] });
  await place.insert(
    'school',
    contacts.map(({ event_ts, members }) => ({ event_ts, members })),
  );
  const statements = statementsOf(64 * MB);
  most = 0;
  // There are billions of combinations. The deadline in this test is a number of steps.
  const text =
    'MATCH (a:school), (b:school), (c:school) WHERE shared(a, b) >= 1 AND shared(b, c) >= 1 RETURN COUNT(*) AS n';
  const result = await statements.execute(statements.prepare(text), {
    parameters: {},
    session: 's',
    slices: async (step) => {
      while (step());
    },
  });
  for (let step = 0; step < 2000; step++) expect(result.steps.next().done).toBe(false);
  result.close();
  expect(most).toBeLessThan(64 * MB);
  // This join is small enough for its chains to be counted directly.
  const chains = await runDoor(
    statements,
    'MATCH (a:school), (b:school), (c:school) WHERE follows(b, a, 20) AND shared(a, b) >= 2 AND follows(c, b, 20) AND shared(b, c) >= 2 RETURN COUNT(*) AS n',
  );
  expect(chains.rows).toEqual([{ n: chainsOf(contacts) }]);
});

/**
 * Returns the number of chains of three contacts, in which neighbours are at most 20 s apart and
 * share at least two members. The chains are counted for each middle contact.
 */
function chainsOf(contacts: readonly { event_ts: number; members: number[] }[]): number {
  const ordered = [...contacts].sort((a, b) => a.event_ts - b.event_ts);
  const before = new Float64Array(ordered.length);
  const behind = new Float64Array(ordered.length);
  for (let a = 0; a < ordered.length; a++) {
    const one = ordered[a]!;
    for (let b = a + 1; b < ordered.length && ordered[b]!.event_ts - one.event_ts <= 20; b++) {
      const other = ordered[b]!;
      if (other.event_ts === one.event_ts) continue;
      if (one.members.filter((node) => other.members.includes(node)).length < 2) continue;
      behind[a]!++;
      before[b]!++;
    }
  }
  return before.reduce((sum, count, place) => sum + count * behind[place]!, 0);
}
