import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../src/routes/index.ts';
import { USUAL } from '../support/transport.ts';
import { type Answer, Recorder, raw, send, startServer, type TestRole, type TestServer } from './support.ts';

const observer = new Recorder();
let server: TestServer;
beforeAll(async () => {
  server = await startServer({ auth: true, observer });
});
afterAll(() => server.close());

let lastKey = 0;
const freshKey = () => `key ${++lastKey}`;
function ask(
  method: string,
  path: string,
  body: unknown,
  key: string | undefined,
  { role = 'admin', ...headers }: Record<string, string> = {},
): Promise<Answer> {
  return send(server, method, path, body, {
    'x-api-key': server.keys[role as TestRole],
    ...(key === undefined ? {} : { 'idempotency-key': key }),
    ...headers,
  });
}
const count = async () => (await ask('GET', '/v1/tables/hyperedges', undefined, undefined)).json.row_count;
const isReplay = ({ headers }: Answer) => headers.get('idempotent-replayed') === 'true';
const edge = (eventTs: number) => ({ event_ts: eventTs, members: [1, 2] });
const NDJSON_TEXT = { 'content-type': 'application/x-ndjson' };

/** One request for each kind of write, and the status of its first answer. */
const WRITES: readonly [
  name: string,
  method: string,
  path: string,
  body: unknown,
  status: number,
  headers?: Record<string, string>,
][] = [
  ['insert', 'POST', '/v1/hyperedges', edge(1), 201],
  [
    'bulk insert',
    'POST',
    '/v1/hyperedges',
    '{"event_ts":1,"members":[3]}\n{"event_ts":2,"members":[3]}',
    201,
    NDJSON_TEXT,
  ],
  [
    'bulk insert into two tables',
    'POST',
    '/v1/hyperedges',
    '{"event_ts":1,"members":[3]}\n{"event_ts":2,"members":[3],"table":"second"}',
    201,
    NDJSON_TEXT,
  ],
  ['delete', 'DELETE', '/v1/hyperedges', edge(1), 200],
  ['delete of nothing', 'DELETE', '/v1/hyperedges', edge(777), 200],
  [
    'batch',
    'POST',
    '/v1/batch',
    {
      operations: [
        { type: 'insert', ...edge(5) },
        { type: 'delete', ...edge(5) },
        { type: 'insert', ...edge(6) },
      ],
    },
    200,
  ],
  ['batch that fails', 'POST', '/v1/batch', { operations: [{ type: 'insert', ...edge(5) }, { type: 'nope' }] }, 200],
  ['compaction', 'POST', '/v1/hyperedges/compact', { table: 'hyperedges' }, 200],
  ['threshold', 'POST', '/v1/autocompact', { threshold: 0 }, 200],
  ['threshold of one table', 'POST', '/v1/autocompact', { threshold: 0, table: 'HyperEdges' }, 200],
  ['table', 'POST', '/v1/tables', { name: 'third', columns: [{ name: 'price', type: 'REAL' }] }, 201],
  ['drop of a table', 'DELETE', '/v1/tables/third', undefined, 200],
];

describe('a write with an Idempotency-Key', () => {
  beforeAll(async () => {
    await ask('POST', '/v1/tables', { name: 'second' }, undefined);
  });

  test.each(WRITES)('is done once when it is repeated: %s', async (_name, method, path, body, status, headers = {}) => {
    const key = freshKey();
    const first = await ask(method, path, body, key, headers);
    expect([first.status, isReplay(first)]).toEqual([status, false]);
    const { lastLsn } = server.database;
    const audits = observer.audits.length;
    for (let i = 0; i < 2; i++) {
      const again = await ask(method, path, body, key, headers);
      expect([again.status, again.text, isReplay(again)]).toEqual([first.status, first.text, true]);
      expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    }
    expect(server.database.lastLsn).toBe(lastLsn);
    expect(observer.audits.length).toBe(audits);
    const other = await ask(method, path, method === 'POST' ? '{"other":1}' : { other: 1 }, key, headers);
    // DELETE of a table takes no body, so the body cannot differ.
    if (path === '/v1/tables/third') expect(isReplay(other)).toBe(true);
    else expect([other.status, other.json.code, isReplay(other)]).toEqual([409, 'idempotency_conflict', false]);
  });

  test('gets the same answer as without the key if it is an insert', async () => {
    const plain = await ask('POST', '/v1/hyperedges', edge(50), undefined);
    const keyed = await ask('POST', '/v1/hyperedges', edge(50), freshKey());
    expect({ ...keyed.json, id: 0 }).toEqual({ ...plain.json, id: 0 });
    expect(Object.keys(keyed.json)).toEqual(Object.keys(plain.json));
  });

  test('is tested on every route that accepts the header', () => {
    const covered = new Set(WRITES.map(([, method, path]) => `${method} ${path.replace('/third', '/{name}')}`));
    // Covered elsewhere: indexes in indexes.test.ts, backups in test/backup, statements in
    // query.test.ts, rules in rules.test.ts.
    const others = ['POST /v1/indexes', 'DELETE /v1/indexes/{table}/{column}', 'POST /v1/backup', 'POST /v1/query'];
    others.push('DELETE /v1/indexes/{table}/text');
    others.push('POST /v1/rules', 'DELETE /v1/rules/{id}');
    // Covered in nodes.test.ts.
    const node = '/v1/nodes/{table}';
    others.push('POST /v1/node-tables', 'DELETE /v1/node-tables/{name}', `POST ${node}`);
    others.push(`PUT ${node}/{key}`, `PATCH ${node}/{key}`, `DELETE ${node}/{key}`);
    // Covered in intervals.test.ts.
    others.push('PATCH /v1/hyperedges/{id}');
    // Covered in test/memory.
    others.push('POST /v1/memory/remember', 'POST /v1/memory/supersede');
    // Covered in virtual-specs.test.ts and virtual-materialize.test.ts.
    const graph = '/v1/virtual/graphs/{id}';
    others.push('POST /v1/virtual/graphs', `PUT ${graph}`, `DELETE ${graph}`, `DELETE ${graph}/cache`);
    others.push(`POST ${graph}/materialize`, 'POST /v1/virtual/propose');
    const taking = routes.filter((route) => route.idempotent).map(({ method, path }) => `${method} ${path}`);
    expect(taking.filter((name) => !covered.has(name) && !others.includes(name))).toEqual([]);
    for (const route of routes) {
      const isWrite =
        route.role === 'readwrite' ||
        (route.role === 'admin' && route.method !== 'GET') ||
        route.path === '/v1/query' ||
        route.path === '/v1/virtual/propose';
      expect([route.path, route.idempotent]).toEqual([route.path, isWrite && !route.path.startsWith('/v1/keys')]);
    }
  });
});

const FRAMED = {
  id: 'rule:framed',
  if: [{ pred: 'member', args: ['?E', '?A'] }],
  then: { pred: 'seen', args: ['?A'], confidence: 0.9 },
};

test('the stored answer to a change of rules is in the same log frame as the change', async () => {
  const { replays } = server.database;
  const { store } = replays;
  replays.store = () => Promise.reject(new Error('it has no frame of its own'));
  try {
    const made = await ask('POST', '/v1/rules', FRAMED, 'rule');
    expect(made.status).toBe(200);
    const gone = await ask('DELETE', '/v1/rules/rule:framed', undefined, 'rule gone');
    expect([gone.status, gone.json]).toEqual([200, { id: 'rule:framed', deleted: true }]);
    for (const [method, path, body, key, first] of [
      ['POST', '/v1/rules', FRAMED, 'rule', made],
      ['DELETE', '/v1/rules/rule:framed', undefined, 'rule gone', gone],
    ] as const) {
      const again = await ask(method, path, body, key);
      expect([again.status, again.text, isReplay(again)]).toEqual([200, first.text, true]);
    }
  } finally {
    replays.store = store;
  }
});

describe('the scope of a key', () => {
  test('is the API key, the method, the path with its query, and the type of the body', async () => {
    const key = freshKey();
    const body = edge(100);
    const before = await count();
    expect((await ask('POST', '/v1/hyperedges', body, key)).status).toBe(201);
    const others = [
      await ask('POST', '/v1/hyperedges', body, key, { role: 'readwrite' }),
      await ask('POST', '/v1/hyperedges?x=1', body, key),
      await ask('POST', '/v1/hyperedges', body, `${key} `.concat('x')),
      await ask('POST', '/v1/hyperedges', body, undefined),
    ];
    expect(others.map((answer) => [answer.status, isReplay(answer)])).toEqual(others.map(() => [201, false]));
    expect(await count()).toBe(before + 5);
    expect(isReplay(await ask('DELETE', '/v1/hyperedges', body, key))).toBe(false);
    const text = JSON.stringify(body);
    expect((await ask('POST', '/v1/hyperedges', text, key, NDJSON_TEXT)).status).toBe(409);
    expect(isReplay(await ask('POST', '/v1/hyperedges', text, key))).toBe(true);
  });

  test('does not replace the role: a caller whose role is too low is refused before anything is replayed', async () => {
    const key = freshKey();
    await ask('POST', '/v1/tables', { name: 'scoped' }, key);
    expect((await ask('POST', '/v1/tables', { name: 'scoped' }, key, { role: 'readwrite' })).status).toBe(403);
  });
});

describe('answers that are not kept', () => {
  test('include those of 400 or above, so the write may be retried with its key', async () => {
    const key = freshKey();
    expect((await ask('POST', '/v1/hyperedges', { event_ts: 1, members: [] }, key)).status).toBe(400);
    const answer = await ask('POST', '/v1/hyperedges', edge(200), key);
    expect([answer.status, isReplay(answer)]).toEqual([201, false]);
    const missing = freshKey();
    expect((await ask('DELETE', '/v1/tables/later', undefined, missing)).status).toBe(404);
    await ask('POST', '/v1/tables', { name: 'later' }, undefined);
    expect((await ask('DELETE', '/v1/tables/later', undefined, missing)).status).toBe(200);
  });

  test('include those of reads and of the key routes, which ignore the header', async () => {
    const long = { 'idempotency-key': 'x'.repeat(300), 'x-api-key': server.keys.admin };
    expect((await send(server, 'GET', '/v1/tables', undefined, long)).status).toBe(200);
    const made = [1, 2].map(() => ask('POST', '/v1/keys', { role: 'readonly' }, 'same'));
    const [first, second] = await Promise.all(made);
    expect([first!.status, second!.status]).toEqual([200, 200]);
    expect(first!.json.key_id).not.toBe(second!.json.key_id);
    expect([isReplay(first!), isReplay(second!)]).toEqual([false, false]);
  });
});

describe('the header', () => {
  test('accepts 1 to 255 characters of printable ASCII', async () => {
    for (const key of ['x', 'a b~!"\\', 'x'.repeat(255)]) {
      expect((await ask('POST', '/v1/autocompact', { threshold: 0 }, key)).status).toBe(200);
    }
    for (const key of ['x'.repeat(256), 'é', 'aéb', 'a\tb', 'a\x7fb', '', 'x\r\nIdempotency-Key: x']) {
      const text = await raw(server, [
        `DELETE /v1/tables/nope HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.keys.admin}\r\nIdempotency-Key: ${key}\r\n\r\n`,
      ]);
      expect([key, text.slice(0, 12)]).toEqual([key, 'HTTP/1.1 400']);
      // The parser of node:http itself refuses DEL.
      if (USUAL !== 'node' || !key.includes('\x7f')) expect(text).toContain('Idempotency-Key');
    }
  });
});

describe('requests with one key at the same time', () => {
  test('run once: the others get 409 or the answer of that run, and a later request gets that answer', async () => {
    const key = freshKey();
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 8 }, () => ask('POST', '/v1/hyperedges', edge(300), key)));
    const done = answers.filter(({ status }) => status === 201);
    const refused = answers.filter(({ status }) => status === 409);
    expect(done.length + refused.length).toBe(8);
    expect(new Set(done.map(({ text }) => text)).size).toBe(1);
    expect(done.filter((answer) => !isReplay(answer))).toHaveLength(1);
    for (const answer of refused) expect(answer.json.code).toBe('idempotency_conflict');
    expect(await count()).toBe(before + 1);
    expect(isReplay(await ask('POST', '/v1/hyperedges', edge(300), key))).toBe(true);
  });

  test('are executed and audited, and their answer is kept, even if the client disconnects', async () => {
    const key = freshKey();
    const body = JSON.stringify(edge(400));
    const table = server.database.table();
    const { insert } = table;
    let inserted = () => {};
    const done = new Promise<void>((resolve) => {
      inserted = resolve;
    });
    let hasLeft = () => {};
    const left = new Promise<void>((resolve) => {
      hasLeft = resolve;
    });
    table.insert = async (input, attach) => {
      await left;
      const result = await insert.call(table, input, attach);
      inserted();
      return result;
    };
    const requests = observer.requests.length;
    observer.audits.length = 0;
    try {
      await raw(
        server,
        [
          `POST /v1/hyperedges HTTP/1.1\r\nHost: x\r\nX-API-Key: ${server.keys.admin}\r\nIdempotency-Key: ${key}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        ],
        50,
      );
      while (observer.requests.length === requests) await new Promise((resolve) => setTimeout(resolve, 5));
      hasLeft();
      await done;
    } finally {
      table.insert = insert;
    }
    const again = await ask('POST', '/v1/hyperedges', edge(400), key);
    expect([again.status, isReplay(again)]).toEqual([201, true]);
    expect(observer.requests[requests]!.status).toBe(499);
    expect(observer.audits.map(({ event, status, remoteIp }) => [event, status, remoteIp])).toEqual([
      ['hyperedge.inserted', 201, '127.0.0.1'],
    ]);
  });
});

test('a large body is hashed as a whole', async () => {
  const key = freshKey();
  const lines = (last: number) => {
    let text = '';
    for (let i = 0; i < 60_000; i++) text += `{"event_ts":${i},"members":[${i},${i + 1}]}\n`;
    return `${text}{"event_ts":1,"members":[${last}]}\n`;
  };
  expect((await ask('POST', '/v1/hyperedges?table=second', lines(1), key, NDJSON_TEXT)).json.inserted).toBe(60_001);
  expect(isReplay(await ask('POST', '/v1/hyperedges?table=second', lines(1), key, NDJSON_TEXT))).toBe(true);
  expect((await ask('POST', '/v1/hyperedges?table=second', lines(2), key, NDJSON_TEXT)).status).toBe(409);
});

test('all callers share one scope when there are no keys, even after a restart', async () => {
  const dir = await mkdtemp(join(tmpdir(), 'hedgerow-once-'));
  const headers = { 'idempotency-key': 'k' };
  try {
    const one = await startServer({ dir });
    const first = await send(one, 'POST', '/v1/hyperedges', edge(1), headers);
    const compacted = await send(one, 'POST', '/v1/hyperedges/compact', {}, headers);
    expect([first.status, compacted.status]).toEqual([201, 200]);
    await one.close();
    const two = await startServer({ dir });
    const again = await send(two, 'POST', '/v1/hyperedges', edge(1), headers);
    expect([again.status, again.text, isReplay(again)]).toEqual([201, first.text, true]);
    const compactedAgain = await send(two, 'POST', '/v1/hyperedges/compact', {}, headers);
    expect([compactedAgain.text, isReplay(compactedAgain)]).toEqual([compacted.text, true]);
    expect(two.database.table().rowCount).toBe(1);
    await two.close();
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
});
