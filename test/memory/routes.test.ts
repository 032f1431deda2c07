// Tests the routes of the memory of agents: what they store, replace and return, and what they
// refuse.

import { afterEach, beforeEach, expect, test } from 'vitest';
import { knownOfEdges } from '../../src/rules/index.ts';
import { type Answer, Recorder, send, startServer, type TestServer } from '../http/support.ts';

let server: TestServer;

beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

const post = (path: string, body: unknown): Promise<Answer> => send(server, 'POST', path, body);
const remember = (body: object) => post('/v1/memory/remember', body);
const supersede = (body: object) => post('/v1/memory/supersede', body);
const history = (body: object) => post('/v1/memory/history', body);

interface Version {
  readonly id: number;
  readonly superseded_by: number | null;
}

const idsOf = ({ json }: Answer) => (json.memories as Version[]).map(({ id }) => id);

test('the first memory creates the table, its nodes and its indexes', async () => {
  expect((await history({ about: ['Orion'] })).json).toMatchObject({ code: 'table_not_found', status: 404 });
  const stored = await remember({ what: 'The budget is 40.', who: ['Ada'], about: ['Orion', 'budget'], when: 100 });
  expect([stored.status, stored.json]).toEqual([201, { id: 1 }]);
  const { json: table } = await send(server, 'GET', '/v1/tables/memories');
  expect(table).toMatchObject({ nodes: 'named', member_tables: ['things'], roles: ['who', 'about'], intervals: true });
  const { json: indexes } = await send(server, 'GET', '/v1/indexes?table=memories');
  expect(indexes).toMatchObject([
    { table: 'memories', column: 'supersedes' },
    { table: 'memories', kind: 'text', columns: ['what'], language: 'english' },
  ]);
  expect((await send(server, 'GET', '/v1/nodes/things')).json.nodes).toEqual([
    { name: 'Ada' },
    { name: 'Orion' },
    { name: 'budget' },
  ]);
  expect((await history({ id: 1 })).json).toEqual({
    memories: [
      {
        id: 1,
        what: 'The budget is 40.',
        who: ['Ada'],
        about: ['Orion', 'budget'],
        event_ts: 100,
        end_ts: null,
        source: null,
        supersedes: null,
        superseded_by: null,
      },
    ],
    truncated: false,
  });
});

test('of first memories that come at once, each is stored', async () => {
  const all = await Promise.all([1, 2, 3, 4].map((n) => remember({ what: `fact ${n}`, about: ['Orion', `n${n}`] })));
  expect(all.map(({ status }) => status)).toEqual([201, 201, 201, 201]);
  expect(new Set(all.map(({ json }) => json.id)).size).toBe(4);
  expect(idsOf(await history({ about: ['Orion'] })).toSorted()).toEqual([1, 2, 3, 4]);
});

test('a memory begins now unless it says when', async () => {
  await remember({ what: 'now', about: ['x'] });
  expect((await history({ id: 1, times: 'iso' })).json.memories[0].event_ts).toBe('2026-11-22T00:00:00Z');
  await remember({ what: 'then', about: ['x'], when: '2024-05-02', until: '2024-05-03T01:00:00Z', source: 'diary' });
  const iso = await history({ id: 2, times: 'iso' });
  expect(iso.json.memories[0]).toMatchObject({
    event_ts: '2024-05-02T00:00:00Z',
    end_ts: '2024-05-03T01:00:00Z',
    source: 'diary',
  });
});

test('a successor takes over the things of the memory that it replaces', async () => {
  await remember({ what: 'The budget is 40.', who: ['Ada'], about: ['Orion'], when: 100, source: 'mail' });
  const first = await supersede({ id: 1, what: 'The budget is 55.', at: 200 });
  expect([first.status, first.json]).toEqual([200, { id: 2, ended: 1 }]);
  const second = await supersede({
    id: 2,
    what: 'The budget is 60.',
    at: 300,
    who: ['Grace'],
    about: ['Orion', 'Ada'],
  });
  expect(second.json).toEqual({ id: 3, ended: 2 });
  const { json } = await history({ id: 2 });
  expect(json.memories).toEqual([
    {
      id: 1,
      what: 'The budget is 40.',
      who: ['Ada'],
      about: ['Orion'],
      event_ts: 100,
      end_ts: 200,
      source: 'mail',
      supersedes: null,
      superseded_by: 2,
    },
    {
      id: 2,
      what: 'The budget is 55.',
      who: ['Ada'],
      about: ['Orion'],
      event_ts: 200,
      end_ts: 300,
      source: null,
      supersedes: 1,
      superseded_by: 3,
    },
    {
      id: 3,
      what: 'The budget is 60.',
      who: ['Grace'],
      about: ['Ada', 'Orion'],
      event_ts: 300,
      end_ts: null,
      source: null,
      supersedes: 2,
      superseded_by: null,
    },
  ]);
  for (const id of [1, 3]) expect((await history({ id })).json).toEqual(json);
  // The whole chain comes, though only its last memory names Grace.
  expect((await history({ who: ['Grace'] })).json).toEqual(json);
  expect((await history({ who: ['Orion'] })).json).toEqual({ memories: [], truncated: false });
  expect((await history({ about: ['nobody knows this'] })).json).toEqual({ memories: [], truncated: false });
});

test('a memory is replaced once', async () => {
  await remember({ what: 'one', about: ['x'], when: 100 });
  const both = await Promise.all([2, 3].map((n) => supersede({ id: 1, what: `after ${n}`, at: 150 })));
  expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409]);
  expect(both.find(({ status }) => status === 409)?.json).toMatchObject({ code: 'memory_ended' });
  // An earlier time does not help: it has a successor.
  expect((await supersede({ id: 1, what: 'again', at: 120 })).json).toMatchObject({ status: 409 });
  await remember({ what: 'short', about: ['x'], when: 100, until: 110 });
  const { memories } = (await history({ about: ['x'] })).json;
  const [ended] = memories.flatMap(({ id, what }: { id: number; what: string }) => (what === 'short' ? [id] : []));
  expect((await supersede({ id: ended, what: 'late', at: 110 })).status).toBe(409);
  expect((await supersede({ id: ended, what: 'in time', at: 109 })).status).toBe(200);
  expect(idsOf(await history({ about: ['x'] }))).toHaveLength(4);
});

test('a memory whose successor is planned can be superseded earlier', async () => {
  const times = ({ json }: Answer) =>
    json.memories.map((one: Record<string, unknown>) => [
      one.id,
      one.event_ts,
      one.end_ts,
      one.supersedes,
      one.superseded_by,
    ]);
  const [year2024, year2030, year2035, year2040] = [1_704_067_200, 1_893_456_000, 2_051_222_400, 2_208_988_800];
  await remember({ what: 'one', about: ['x'], when: year2024 });
  await supersede({ id: 1, what: 'planned', at: year2040 });
  const late = await supersede({ id: 1, what: 'too late', at: year2040 });
  expect(late.json).toMatchObject({ status: 409, code: 'memory_ended' });
  expect(late.json.detail).toContain(`was superseded by 2 at ${year2040}; supersede that one, at this time or later`);
  const long = await supersede({ id: 1, what: 'too long', at: year2030, until: year2040 + 1 });
  expect(long.json).toMatchObject({ status: 400, errors: [{ loc: ['body', 'until'] }] });
  expect((await supersede({ id: 1, what: 'earlier', at: year2030 })).json).toEqual({ id: 3, ended: 1 });
  expect((await supersede({ id: 3, what: 'between', at: year2030 + 5, until: year2035 })).json.id).toBe(4);
  expect((await supersede({ id: 1, what: 'now' })).json.id).toBe(5);
  const now = Date.parse('2026-11-22') / 1000;
  const whole = await history({ id: 2 });
  expect(times(whole)).toEqual([
    [1, year2024, now, null, 5],
    [5, now, year2030, 1, 3],
    [3, year2030, year2030 + 5, 5, 4],
    [4, year2030 + 5, year2035, 3, 2],
    [2, year2040, null, 4, null],
  ]);
  // What has been replaced by now stays as it was.
  expect((await supersede({ id: 1, what: 'again', at: year2024 + 5 })).json.code).toBe('memory_ended');
  // What was planned can be dropped: it is deleted, and the one before it gets no end.
  await post('/v1/query', { query: 'DELETE FROM memories WHERE id = 2' });
  await post('/v1/query', { query: 'UPDATE memories SET end_ts = null WHERE id = 4' });
  expect((await supersede({ id: 4, what: 'after all', at: year2040 + 7 })).json).toEqual({ id: 6, ended: 4 });
});

test('what has been deleted is in no history, and its neighbours stay', async () => {
  await remember({ what: 'one', about: ['x'], when: 100 });
  await supersede({ id: 1, what: 'two', at: 200 });
  await supersede({ id: 2, what: 'three', at: 300 });
  await post('/v1/query', { query: 'DELETE FROM memories WHERE id = 2' });
  const first = await history({ id: 1 });
  expect(first.json.memories).toMatchObject([{ id: 1, end_ts: 200, superseded_by: null }]);
  expect((await history({ id: 3 })).json.memories).toMatchObject([{ id: 3, supersedes: 2 }]);
  expect((await history({ id: 2 })).json).toMatchObject({ code: 'edge_not_found' });
  expect((await supersede({ id: 2, what: 'no', at: 400 })).json).toMatchObject({ code: 'edge_not_found', status: 404 });
});

test('a history that is too long keeps its newest versions', async () => {
  for (let n = 1; n <= 6; n++) await remember({ what: `fact ${n}`, about: ['x'], when: n });
  await supersede({ id: 1, what: 'later', at: 10 });
  const { json } = await history({ about: ['x'], limit: 3 });
  expect(json).toMatchObject({ truncated: true, memories: [{ id: 5 }, { id: 6 }, { id: 7 }] });
  expect((await history({ about: ['x'], limit: 7 })).json.truncated).toBe(false);
});

test('a history of very long texts keeps the newest that fit', async () => {
  const long = 'x'.repeat(65_000);
  for (let n = 0; n < 80; n++)
    expect((await remember({ what: `${n} ${long}`, about: ['x'], when: n })).status).toBe(201);
  const { json } = await history({ about: ['x'] });
  expect(json.truncated).toBe(true);
  const times = json.memories.map(({ event_ts }: { event_ts: number }) => event_ts);
  expect(times.length).toBeGreaterThan(50);
  expect(times).toEqual(Array.from(times, (_, place) => 80 - times.length + place));
});

test('requests that say too little or too much are refused, and write nothing', async () => {
  const refused = async (answer: Promise<Answer>, ...loc: unknown[]) => {
    const { json } = await answer;
    expect(json).toMatchObject({ status: 400, errors: [{ loc }] });
  };
  await refused(remember({ about: ['x'] }), 'body', 'what');
  await refused(remember({ what: ' \n', about: ['x'] }), 'body', 'what');
  await refused(remember({ what: 'x'.repeat(70_000), about: ['x'] }), 'body', 'what');
  await refused(remember({ what: 'no things' }), 'body', 'who');
  await refused(remember({ what: 'x', who: 'Ada' }), 'body', 'who');
  await refused(remember({ what: 'x', who: ['Ada', ''] }), 'body', 'who', 1);
  await refused(remember({ what: 'x', about: ['x'], when: 10, until: 9 }), 'body', 'until');
  await refused(remember({ what: 'x', about: ['x'], when: 'soon' }), 'body', 'when');
  await refused(remember({ what: 'x', about: ['x'], table: 'no name' }), 'body', 'table');
  expect((await send(server, 'GET', '/v1/tables')).json).toHaveLength(1);
  await remember({ what: 'one', about: ['x'], when: 100 });
  await refused(supersede({ id: 1, what: 'before', at: 99 }), 'body', 'at');
  await refused(supersede({ id: 1, what: 'no things', at: 100, who: [], about: [] }), 'body', 'who');
  await refused(history({}), 'body', 'id');
  await refused(history({ id: 1, about: ['x'] }), 'body', 'id');
  await refused(history({ about: ['x'], limit: 0 }), 'body', 'limit');
  expect((await remember({ what: 'x', about: Array.from({ length: 65 }, (_, n) => `${n}`) })).json).toMatchObject({
    code: 'too_many_members',
  });
  expect((await history({ about: ['x'] })).json.memories).toMatchObject([{ id: 1, end_ts: null }]);
});

test('another table of the shape is used as it is; one of another shape is refused with what it lacks', async () => {
  const make = async (query: string) => expect((await post('/v1/query', { query })).status).toBe(200);
  await make('CREATE NODE TABLE Person (name TEXT)');
  await make(
    'CREATE HYPEREDGE TABLE mine (Person) ROLES (who, about) INTERVALS PROPERTIES (what TEXT, source TEXT, supersedes INTEGER, mood TEXT)',
  );
  expect((await remember({ table: 'MINE', what: 'one', about: ['x'], when: 1 })).status).toBe(201);
  await make("UPDATE mine SET mood = 'glad' WHERE id = 1");
  expect((await supersede({ table: 'mine', id: 1, what: 'two', at: 2 })).json).toEqual({ id: 2, ended: 1 });
  const { json } = await post('/v1/query', {
    query: 'MATCH (e:mine) RETURN e.mood, e.end_ts, e.supersedes ORDER BY e.id',
  });
  expect(json.rows.map((row: object) => Object.values(row))).toEqual([
    ['glad', 2, null],
    [null, null, 1],
  ]);
  const detail = async (table: string) => (await remember({ table, what: 'x', about: ['x'] })).json.detail as string;
  expect(await detail('hyperedges')).toContain(
    'it has no members from one node table with a TEXT key, no role who, no role about, no intervals, no TEXT column what, no TEXT column source, no INTEGER column supersedes',
  );
  expect(await detail('Person')).toContain('it is a node table');
  await make('CREATE NODE TABLE things (number INTEGER)');
  expect(await detail('new_one')).toContain('things has INTEGER keys');
});

test('rules know which memory has replaced which', async () => {
  await remember({ what: 'The budget is 40.', about: ['Orion'], when: 100 });
  await supersede({ id: 1, what: 'The budget is 55.', at: 200 });
  const rules = [
    {
      id: 'rule:replaced',
      if: [{ pred: 'supersedes', args: ['?New', '?Old'] }],
      then: { pred: 'replaced', args: ['?Old', '?New'] },
    },
  ];
  const { json } = await post('/v1/reason', { query: 'Orion', table: 'memories', rules });
  expect(json.derived_facts.map(({ fact }: { fact: string }) => fact)).toEqual(['replaced(1, 2)']);
  const known = knownOfEdges(json.all_edges);
  expect([known('supersedes', [2, 1]), known('supersedes', [1, 2])]).toEqual(['given', 'false']);
  const claims = ['supersedes(2, 1) holds [HEDGE-2].', 'supersedes(1, 2) holds [HEDGE-1].'];
  const checked = await post('/v1/rag/check', { table: 'memories', edge_ids: [1, 2], claims });
  expect(checked.json.results.map(({ supported }: { supported: boolean }) => supported)).toEqual([true, false]);
  const head = [
    { id: 'rule:x', if: [{ pred: 'at', args: ['?E', '?T'] }], then: { pred: 'supersedes', args: ['?E', '?T'] } },
  ];
  expect((await post('/v1/reason', { query: 'Orion', table: 'memories', rules: head })).status).toBe(422);
});

test('a recall shows what holds now, or held then, best first, and why', async () => {
  await remember({ what: 'The budget of Orion is 40,000 euros.', who: ['Ada'], about: ['Orion'], when: 100 });
  await remember({ what: 'Lunch is at noon.', who: ['Grace'], about: ['canteen'], when: 120, source: 'menu' });
  await supersede({ id: 1, what: 'The budget of Orion is 55,000 euros.', at: 200 });
  const recall = (body: object) => post('/v1/memory/recall', body);
  const { json } = await recall({ question: 'How large is the budget of Orion?' });
  expect(json.memories).toHaveLength(1);
  expect(json.memories[0]).toMatchObject({
    id: 3,
    what: 'The budget of Orion is 55,000 euros.',
    who: ['Ada'],
    about: ['Orion'],
    event_ts: 200,
    end_ts: null,
    source: null,
  });
  expect(json.memories[0].score).toBeGreaterThan(0);
  expect(json.memories[0].why[0]).toMatch(/^words: .*budget/);
  expect(idsOf(await recall({ question: 'budgets', at: 150 }))).toEqual([1]);
  expect(idsOf(await recall({ question: 'budgets', at: '1970-01-01T00:03:20Z' }))).toEqual([3]);
  expect(idsOf(await recall({ at: 99 }))).toEqual([]);
  // Without words, the newest come first.
  expect(idsOf(await recall({}))).toEqual([3, 2]);
  expect(idsOf(await recall({ top_k: 1 }))).toEqual([3]);
  expect(idsOf(await recall({ who: ['Grace', 'Nobody'] }))).toEqual([2]);
  expect(idsOf(await recall({ who: ['Grace'], about: ['Orion'] }))).toEqual([]);
  expect(idsOf(await recall({ about: ['Grace'] }))).toEqual([]);
  expect((await recall({ who: ['Grace'], times: 'iso' })).json.memories[0]).toMatchObject({
    event_ts: '1970-01-01T00:02:00Z',
    source: 'menu',
  });
  for (const top_k of [0, 1001, 1.5, '5'])
    expect(await recall({ top_k })).toMatchObject({
      status: 400,
      json: { errors: [{ loc: ['body', 'top_k'], msg: 'must be an integer from 1 to 1000' }] },
    });
  for (const wrong of [{ top_k: 0 }, { top_k: 1001 }, { at: 'soon' }, { question: 5 }, { table: 'hyperedges' }])
    expect((await recall(wrong)).status).toBe(400);
  expect((await recall({ table: 'nope' })).json).toMatchObject({ status: 404, code: 'table_not_found' });
});

test('a recall by words needs a text index, and says how to make one', async () => {
  await remember({ what: 'The budget of Orion is 40.', about: ['Orion'], when: 100 });
  await remember({ what: 'Lunch is at noon.', about: ['canteen'], when: 120 });
  expect((await post('/v1/query', { query: 'DROP TEXT INDEX ON memories' })).status).toBe(200);
  const recall = (body: object) => post('/v1/memory/recall', body);
  const refused = (await recall({ question: 'Which budget?' })).json;
  expect(refused).toMatchObject({ status: 400, code: 'invalid_input', errors: [{ loc: ['body', 'question'] }] });
  expect(refused.detail).toContain('CREATE TEXT INDEX ON memories (what)');
  // Names and stop words are no words of which a text must have some.
  expect(idsOf(await recall({ question: 'Orion?' }))).toEqual([1]);
  expect(idsOf(await recall({}))).toEqual([2, 1]);
  expect(idsOf(await recall({ question: 'what is the ...?' }))).toEqual([2, 1]);
  expect(idsOf(await recall({ about: ['Orion'] }))).toEqual([1]);
  expect((await post('/v1/query', { query: 'CREATE TEXT INDEX ON memories (what)' })).status).toBe(200);
  expect(idsOf(await recall({ question: 'Which budget?' }))).toEqual([1]);
});

test('a write with an Idempotency-Key is done once, and leaves one line in the audit log', async () => {
  const observer = new Recorder();
  const keyed = await startServer({ auth: true, observer });
  try {
    const ask = (path: string, body: unknown, key: string, role: 'readonly' | 'readwrite' = 'readwrite') =>
      send(keyed, 'POST', path, body, { 'x-api-key': keyed.keys[role], 'idempotency-key': key });
    const memory = { what: 'one', about: ['x'], when: 100 };
    const successor = { id: 1, what: 'two', at: 200 };
    expect((await ask('/v1/memory/remember', memory, 'a', 'readonly')).status).toBe(403);
    for (const [path, body, key] of [
      ['/v1/memory/remember', memory, 'a'],
      ['/v1/memory/supersede', successor, 'b'],
    ] as const) {
      const first = await ask(path, body, key);
      const again = await ask(path, body, key);
      expect([again.status, again.text]).toEqual([first.status, first.text]);
      expect(again.headers.get('idempotent-replayed')).toBe('true');
      expect((await ask(path, { ...body, what: 'other' }, key)).json.code).toBe('idempotency_conflict');
    }
    const { memories } = (await ask('/v1/memory/history', { id: 1 }, 'c', 'readonly')).json;
    expect(memories).toMatchObject([{ id: 1 }, { id: 2 }]);
    const written = observer.audits.filter(({ event, status }) => event.startsWith('memory.') && status < 400);
    expect(written).toMatchObject([
      { event: 'memory.remembered', table: 'memories', statement: 'created table memories' },
      { event: 'memory.superseded', table: 'memories' },
    ]);
  } finally {
    await keyed.close();
  }
});
