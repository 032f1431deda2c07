// Tests sessions over HTTP: the interleaved requests of one key, in its default session and in
// sessions with different X-Session-Ids.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { MOST_TRANSACTIONS } from '../../src/query/sessions.ts';
import { Random } from '../support/random.ts';
import { type Answer, send, startServer, type TestServer } from './support.ts';

let server: TestServer;

beforeAll(async () => {
  server = await startServer({ auth: true });
});

afterAll(() => server.close());

type Parameters = Record<string, unknown>;

/**
 * Returns a function that runs statements in one session of one key. Without a name, no header is
 * sent, and the key has its default session.
 */
function session(name?: string) {
  return (query: string, parameters?: Parameters): Promise<Answer> => {
    const headers = { 'x-api-key': server.keys.readwrite, ...(name === undefined ? {} : { 'x-session-id': name }) };
    return send(server, 'POST', '/v1/query', { query, parameters }, headers);
  };
}

type Run = ReturnType<typeof session>;

async function define(query: string): Promise<void> {
  const answer = await send(server, 'POST', '/v1/query', { query }, { 'x-api-key': server.keys.admin });
  expect(answer.status, answer.text).toBe(200);
}

/** Returns the rows of a statement that must succeed. */
async function rows(run: Run, query: string, parameters?: Parameters): Promise<Record<string, number>[]> {
  const answer = await run(query, parameters);
  expect(answer.status, `${query}: ${answer.text}`).toBe(200);
  return answer.json.rows;
}

const NAMES = [undefined, 'one', 'two', 'three', 'ONE'];

describe('sessions of one key', () => {
  test('do not capture each other’s writes', async () => {
    await define('CREATE HYPEREDGE TABLE marks (node) PROPERTIES (n INTEGER)');
    const count = async (run: Run) => (await rows(run, 'MATCH (m:marks) RETURN m.n ORDER BY m.n')).map(({ n }) => n);
    const insert = (run: Run, n: number) =>
      rows(run, `INSERT INTO marks (event_ts, members, n) VALUES (${n}, [1], ${n})`);
    const runs = NAMES.map(session);
    const ids = await Promise.all(runs.map(async (run) => (await rows(run, 'BEGIN'))[0]!.transaction_id));
    expect(new Set(ids).size).toBe(NAMES.length);
    await Promise.all(
      runs.map(async (run, place) => {
        for (let i = 0; i < 5; i++) await insert(run, place * 100 + i);
      }),
    );
    const own = (place: number) => [0, 1, 2, 3, 4].map((i) => place * 100 + i);
    expect(await Promise.all(runs.map(count))).toEqual(runs.map((_, place) => own(place)));
    // Requests to other routes and in other sessions of the key are not part of the transaction.
    // They commit separately.
    const rest = { table: 'marks', event_ts: 900, members: [1], properties: { n: 900 } };
    const posted = await send(server, 'POST', '/v1/hyperedges', rest, { 'x-api-key': server.keys.readwrite });
    expect(posted.status).toBe(201);
    await insert(session('four'), 901);
    const [byDefault, one, two, three, upper] = runs as [Run, Run, Run, Run, Run];
    expect((await rows(one, 'COMMIT'))[0]).toMatchObject({ status: 'committed', transaction_id: ids[1] });
    expect(await count(byDefault)).toEqual(own(0));
    expect(await count(two)).toEqual(own(2));
    expect((await rows(two, 'ROLLBACK'))[0]).toMatchObject({ status: 'rolled_back', transaction_id: ids[2] });
    expect(await count(two)).toEqual([...own(1), 900, 901]);
    expect(await Promise.all([rows(byDefault, 'COMMIT'), rows(three, 'ROLLBACK')])).toHaveLength(2);
    expect(await count(upper)).toEqual(own(4));
    await rows(upper, 'ROLLBACK');
    for (const run of runs) expect(await count(run)).toEqual([...own(0), ...own(1), 900, 901]);
    for (const run of runs) expect((await run('COMMIT')).status).toBe(400);
  });

  test('conflict when they change the same row: the second gets 409 and is rolled back entirely', async () => {
    await define('CREATE HYPEREDGE TABLE met (node) PROPERTIES (n INTEGER)');
    await rows(session(), 'INSERT INTO met (event_ts, members, n) VALUES (1, [1], 0), (2, [2], 0)');
    for (const [first, second] of [
      ['UPDATE met SET n = 1 WHERE event_ts = 1', 'UPDATE met SET n = 2 WHERE event_ts = 1'],
      ['UPDATE met SET n = 3 WHERE event_ts = 2', 'DELETE FROM met'],
      ['DELETE FROM met WHERE event_ts = 1', 'DELETE FROM met WHERE event_ts = 1'],
    ] as const) {
      const [a, b] = [session(), session('b')];
      await Promise.all([rows(a, 'BEGIN'), rows(b, 'BEGIN')]);
      await Promise.all([rows(a, first), rows(b, second)]);
      await rows(b, 'INSERT INTO met (event_ts, members, n) VALUES (50, [50], 50)');
      await rows(a, 'COMMIT');
      const seen = await rows(session('c'), 'MATCH (m:met) RETURN *');
      const late = await b('COMMIT');
      expect([late.status, late.json.code]).toEqual([409, 'conflict']);
      expect(late.json.detail).toMatch(/begin again/i);
      expect(await rows(b, 'MATCH (m:met) RETURN *')).toEqual(seen);
      expect((await b('ROLLBACK')).status).toBe(400);
    }
    expect(await rows(session(), 'MATCH (m:met) RETURN m.event_ts, m.n')).toEqual([{ event_ts: 2, n: 3 }]);
  });

  test('get 409 at COMMIT when a commit through another route has changed their rows', async () => {
    await define('CREATE HYPEREDGE TABLE routed (node) PROPERTIES (n INTEGER)');
    const headers = { 'x-api-key': server.keys.readwrite };
    const edge = { table: 'routed', event_ts: 1, members: [1, 2] };
    const others: (() => Promise<Answer>)[] = [
      () => send(server, 'DELETE', '/v1/hyperedges', edge, headers),
      () => session('other')('UPDATE routed SET n = 7'),
      () =>
        send(server, 'POST', '/v1/batch', { operations: [{ type: 'query', cypher: 'DELETE FROM routed' }] }, headers),
    ];
    for (const other of others) {
      await send(server, 'POST', '/v1/hyperedges', edge, headers);
      const run = session('slow');
      await rows(run, 'BEGIN');
      await rows(run, 'UPDATE routed SET n = 1');
      expect((await other()).status).toBe(200);
      expect((await run('COMMIT')).status).toBe(409);
      await rows(run, 'DELETE FROM routed');
    }
  });
});

describe('snapshot isolation as documented', () => {
  const SUM = 'MATCH (d:doctors) RETURN SUM(d.n) AS onCall, COUNT(*) AS rows';
  const [a, b] = [session('a'), session('b')];
  beforeAll(() => define('CREATE HYPEREDGE TABLE doctors (node) PROPERTIES (n INTEGER)'));
  beforeEach(async () => {
    await rows(session(), 'DELETE FROM doctors');
    await rows(session(), 'INSERT INTO doctors (event_ts, members, n) VALUES (1, [1], 1), (2, [2], 1)');
    await Promise.all([rows(a, 'BEGIN'), rows(b, 'BEGIN')]);
  });

  test('prevents lost updates: when two transactions change the same row, the second is refused', async () => {
    for (const run of [a, b]) expect(await rows(run, SUM)).toEqual([{ onCall: 2, rows: 2 }]);
    for (const run of [a, b]) await rows(run, 'UPDATE doctors SET n = n + 1 WHERE event_ts = 1');
    await rows(a, 'COMMIT');
    expect((await b('COMMIT')).json.code).toBe('conflict');
    expect(await rows(session(), SUM)).toEqual([{ onCall: 3, rows: 2 }]);
  });

  test('prevents phantoms: a transaction does not see rows that others insert or delete', async () => {
    expect(await rows(a, SUM)).toEqual([{ onCall: 2, rows: 2 }]);
    await rows(b, 'INSERT INTO doctors (event_ts, members, n) VALUES (3, [3], 1)');
    await rows(b, 'DELETE FROM doctors WHERE event_ts = 1');
    await rows(b, 'COMMIT');
    expect(await rows(a, SUM)).toEqual([{ onCall: 2, rows: 2 }]);
    await rows(a, 'ROLLBACK');
    expect(await rows(a, SUM)).toEqual([{ onCall: 2, rows: 2 }]);
  });

  test('allows write skew: two transactions that change different rows both commit', async () => {
    for (const run of [a, b]) expect(await rows(run, SUM)).toEqual([{ onCall: 2, rows: 2 }]);
    await rows(a, 'UPDATE doctors SET n = 0 WHERE event_ts = 1');
    await rows(b, 'UPDATE doctors SET n = 0 WHERE event_ts = 2');
    for (const run of [a, b]) await rows(run, 'COMMIT');
    expect(await rows(session(), SUM)).toEqual([{ onCall: 0, rows: 2 }]);
  });
});

describe('money between accounts', () => {
  const ACCOUNTS = 12;
  const EACH = 100;
  const TRANSACTIONS = 15;

  /** Runs the statements of one transfer and returns how it ended. */
  async function transfer(run: Run, random: Random): Promise<'committed' | 'rolled back' | 'conflict'> {
    await rows(run, 'BEGIN');
    const [from, to] = [random.below(ACCOUNTS), random.below(ACCOUNTS)];
    const amount = 1 + random.below(20);
    const before = await rows(run, 'MATCH (a:accounts) RETURN SUM(a.n) AS sum, SUM(a.moves) AS moves');
    expect(before[0]!.sum).toBe(ACCOUNTS * EACH);
    const move = 'UPDATE accounts SET n = n + $amount, moves = moves + 1 WHERE event_ts = $account';
    await rows(run, move, { account: from, amount: -amount });
    if (random.chance(0.2)) expect((await run('UPDATE accounts SET n = n / $nothing')).status).toBe(400);
    await rows(run, move, { account: to, amount });
    const after = await rows(run, 'MATCH (a:accounts) RETURN SUM(a.n) AS sum, SUM(a.moves) AS moves');
    expect(after[0]).toEqual({ sum: ACCOUNTS * EACH, moves: before[0]!.moves! + 2 });
    if (random.chance(0.2)) {
      await rows(run, 'ROLLBACK');
      return 'rolled back';
    }
    const { status, json } = await run('COMMIT');
    expect([status, json.code]).toEqual(status === 200 ? [200, undefined] : [409, 'conflict']);
    return status === 200 ? 'committed' : 'conflict';
  }

  test('is never lost, created or seen in the middle of a transfer', { timeout: 120_000 }, async () => {
    await define('CREATE HYPEREDGE TABLE accounts (node) PROPERTIES (n INTEGER, moves INTEGER)');
    const values = Array.from({ length: ACCOUNTS }, (_, place) => `(${place}, [${place}], ${EACH}, 0)`);
    await rows(session(), `INSERT INTO accounts (event_ts, members, n, moves) VALUES ${values}`);
    let running = NAMES.length;
    let looks = 0;
    const ends = { committed: 0, 'rolled back': 0, conflict: 0 };
    const work = NAMES.map(async (name, place) => {
      const random = new Random(place + 1);
      for (let i = 0; i < TRANSACTIONS; i++) ends[await transfer(session(name), random)]++;
      running--;
    });
    const look = async () => {
      while (running > 0) {
        const seen = await rows(session('looks on'), 'MATCH (a:accounts) RETURN a.n, a.moves');
        expect(seen.length).toBe(ACCOUNTS);
        expect(seen.reduce((sum, { n }) => sum + n!, 0)).toBe(ACCOUNTS * EACH);
        expect(seen.reduce((sum, { moves }) => sum + moves!, 0) % 2).toBe(0);
        if (++looks % 10 > 0) continue;
        const compacted = await send(server, 'POST', '/v1/hyperedges/compact', {}, { 'x-api-key': server.keys.admin });
        expect(compacted.status).toBe(200);
      }
    };
    await Promise.all([...work, look()]);
    for (const count of Object.values(ends)) expect(count).toBeGreaterThan(0);
    const [end] = await rows(session(), 'MATCH (a:accounts) RETURN SUM(a.n) AS sum, SUM(a.moves) AS moves');
    expect(end).toEqual({ sum: ACCOUNTS * EACH, moves: 2 * ends.committed });
  });

  test('is not lost when single statements without a transaction change it concurrently', async () => {
    await define('CREATE HYPEREDGE TABLE counters (node) PROPERTIES (n INTEGER)');
    await rows(session(), 'INSERT INTO counters (event_ts, members, n) VALUES (1, [1], 0)');
    const increments = Array.from({ length: 20 }, (_, place) =>
      session(NAMES[place % NAMES.length])('UPDATE counters SET n = n + 1'),
    );
    const statuses = (await Promise.all(increments)).map(({ status }) => status);
    // No transaction is open here, so conflicting statements wait for each other.
    expect(statuses).toEqual(increments.map(() => 200));
    expect(await rows(session(), 'MATCH (c:counters) RETURN c.n')).toEqual([{ n: increments.length }]);
  });
});

test('simultaneous requests in one session run one after another or are refused, and no change is lost', async () => {
  await define('CREATE HYPEREDGE TABLE crowd (node) PROPERTIES (n INTEGER)');
  const run = session('crowded');
  await rows(run, 'BEGIN');
  const values = Array.from({ length: 2000 }, (_, place) => `(${place}, [1], 0)`);
  await rows(run, `INSERT INTO crowd (event_ts, members, n) VALUES ${values}`);
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, place) =>
      run(place % 3 === 0 ? 'MATCH (c:crowd) RETURN *' : 'UPDATE crowd SET n = n + 1'),
    ),
  );
  for (const { status, json } of answers) if (status !== 200) expect([status, json.code]).toEqual([409, 'conflict']);
  const updates = answers.filter(({ status, json }) => status === 200 && json.columns[0] === 'operation').length;
  expect(answers.some(({ status }) => status === 200)).toBe(true);
  await rows(run, 'COMMIT');
  const [figures] = await rows(
    session(),
    'MATCH (c:crowd) RETURN COUNT(*) AS rows, MIN(c.n) AS least, MAX(c.n) AS most',
  );
  expect(figures).toEqual({ rows: 2000, least: updates, most: updates });
});

test('one key holds at most 90 of the 100 open transactions, so that other keys can always begin one', async () => {
  const as = (key: string, name: string) => (query: string) =>
    send(server, 'POST', '/v1/query', { query }, { 'x-api-key': key, 'x-session-id': name });
  const { admin, readwrite } = server.keys;
  const allInOrder = async (runs: ((query: string) => Promise<Answer>)[]) => {
    const answers: Answer[] = [];
    for (const run of runs) answers.push(await run('BEGIN'));
    return answers;
  };
  const greedy = Array.from({ length: MOST_TRANSACTIONS }, (_, place) => as(readwrite, `many-${place}`));
  const begun = await allInOrder(greedy);
  const refused = begun.filter(({ status }) => status !== 200);
  expect(begun.length - refused.length).toBe(90);
  for (const { status, json, headers } of refused) {
    expect([status, json.code]).toEqual([429, 'too_many_transactions']);
    expect(json.detail).toMatch(/90 .*COMMIT or ROLLBACK/);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
  }
  expect(begun.slice(90)).toEqual(refused);
  const others = Array.from({ length: 11 }, (_, place) => as(admin, `other-${place}`));
  const late = await allInOrder(others);
  // The transactions of all keys together fill the limit of 100.
  expect(late.map(({ status }) => status)).toEqual([...Array(10).fill(200), 503]);
  expect([late[10]!.json.code, late[10]!.headers.has('retry-after')]).toEqual(['overloaded', true]);
  // Open transactions continue, and so does every request that does not open one.
  expect((await greedy[89]!('BEGIN')).status).toBe(400);
  const write = (ts: number) => `INSERT INTO hyperedges (event_ts, members) VALUES (${ts}, [1])`;
  expect((await greedy[89]!(write(1))).status).toBe(200);
  expect((await greedy[99]!(write(2))).status).toBe(200);
  // A freed place can be taken again, even by the same key.
  await greedy[0]!('ROLLBACK');
  expect((await greedy[99]!('BEGIN')).status).toBe(200);
  expect((await greedy[98]!('BEGIN')).status).toBe(429);
  for (const run of [...greedy.slice(1, 90), greedy[99]!, ...others.slice(0, 10)])
    expect((await run('COMMIT')).status).toBe(200);
  expect(await rows(session(), 'MATCH (e:hyperedges) RETURN COUNT(*) AS n')).toEqual([{ n: 2 }]);
});
