// Tests the routes of node tables and of nodes, over both transports.

import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compareTexts } from '../../src/model/text-order.ts';
import { transportsHere } from '../support/transport.ts';
import { type Answer, NDJSON, Recorder, send, startServer, type TestServer } from './support.ts';

/** Sends a request whose path is not normalized, as `fetch` does with dots. */
function sendRaw(server: TestServer, method: string, path: string, body?: unknown): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const sent = request({ host: '127.0.0.1', port: server.port, method, path, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (piece: string) => {
        text += piece;
      });
      response.on('end', () => {
        const isJson = response.headers['content-type'] === 'application/json';
        const json = isJson && text !== '' ? JSON.parse(text) : undefined;
        resolve({ status: response.statusCode!, headers: new Headers(), text, json });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

const PERSON = {
  name: 'Person',
  key: { name: 'name', type: 'TEXT' },
  columns: [
    { name: 'born', type: 'INTEGER' },
    { name: 'city', type: 'TEXT', default: 'Rome' },
  ],
};

describe('node tables', () => {
  let server: TestServer;
  const recorder = new Recorder();
  beforeAll(async () => {
    server = await startServer({ observer: recorder });
  });
  afterAll(() => server.close());

  test('are created, listed, shown and dropped', async () => {
    const made = await send(server, 'POST', '/v1/node-tables', PERSON);
    expect(made.status).toBe(201);
    expect(made.json).toEqual({
      name: 'Person',
      key: { name: 'name', type: 'TEXT' },
      columns: [
        { name: 'born', type: 'INTEGER' },
        { name: 'city', type: 'TEXT' },
      ],
      row_count: 0,
      created_at: made.json.created_at,
    });
    expect((await send(server, 'POST', '/v1/node-tables', { ...PERSON, name: 'PERSON' })).json.code).toBe(
      'table_exists',
    );
    expect((await send(server, 'POST', '/v1/tables', { name: 'person' })).json.code).toBe('table_exists');
    const list = await send(server, 'GET', '/v1/node-tables');
    expect(list.json).toEqual([made.json]);
    const withDefaults = await send(server, 'GET', '/v1/node-tables?defaults=true');
    expect(withDefaults.json[0].columns[1]).toEqual({ name: 'city', type: 'TEXT', default: 'Rome' });
    const one = await send(server, 'GET', '/v1/node-tables/person');
    expect(one.json).toEqual(made.json);
    for (const [path, answer] of [
      ['/v1/node-tables', list],
      ['/v1/node-tables/Person', one],
    ] as const) {
      const again = await send(server, 'GET', path, undefined, { 'if-none-match': answer.headers.get('etag')! });
      expect(again.status).toBe(304);
    }
    await send(server, 'PUT', '/v1/nodes/Person/Ada', {});
    const changed = await send(server, 'GET', '/v1/node-tables/Person', undefined, {
      'if-none-match': one.headers.get('etag')!,
    });
    expect([changed.status, changed.json.row_count]).toEqual([200, 1]);
    expect((await send(server, 'GET', '/v1/tables/Person')).status).toBe(404);
    expect((await send(server, 'GET', '/v1/tables')).json.map(({ name }: { name: string }) => name)).toEqual([
      'hyperedges',
    ]);
    expect((await send(server, 'DELETE', '/v1/tables/Person')).status).toBe(404);
    const used = await send(server, 'POST', '/v1/tables', { name: 'calls', member_tables: ['Person'] });
    expect(used.json).toMatchObject({ nodes: 'named', create_nodes: true });
    const refused = await send(server, 'DELETE', '/v1/node-tables/Person');
    expect([refused.status, refused.json.code]).toEqual([409, 'table_in_use']);
    await send(server, 'DELETE', '/v1/tables/calls');
    const dropped = await send(server, 'DELETE', '/v1/node-tables/PERSON');
    expect([dropped.status, dropped.json]).toEqual([200, { name: 'Person', dropped: true }]);
    expect((await send(server, 'GET', '/v1/node-tables/Person')).json.code).toBe('table_not_found');
    const events = recorder.audits.map(({ event, table }) => `${event} ${table}`);
    expect(events).toContain('node_table.created Person');
    expect(events).toContain('node.written Person');
    expect(events.at(-1)).toBe('node_table.dropped Person');
  });

  test.each([
    ['no key', { name: 'A' }],
    ['a key of another type', { name: 'A', key: { name: 'k', type: 'REAL' } }],
    ['no name of the key', { name: 'A', key: { type: 'TEXT' } }],
    ['an attribute with the name of the key', { ...PERSON, columns: [{ name: 'NAME', type: 'TEXT' }] }],
    ['a wrong default', { ...PERSON, name: 'A', columns: [{ name: 'x', type: 'INTEGER', default: 'y' }] }],
    ['a name that is no identifier', { ...PERSON, name: 'a b' }],
  ])('refuses %s', async (_, body) => {
    const answer = await send(server, 'POST', '/v1/node-tables', body);
    expect([answer.status < 500, answer.status >= 400]).toEqual([true, true]);
    expect((await send(server, 'GET', '/v1/node-tables')).json).toEqual([]);
  });

  test('the creation is done once under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'node-table' };
    const first = await send(server, 'POST', '/v1/node-tables', PERSON, headers);
    const again = await send(server, 'POST', '/v1/node-tables', PERSON, headers);
    expect([first.status, again.status, again.json]).toEqual([201, 201, first.json]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    await send(server, 'DELETE', '/v1/node-tables/Person');
  });

  test('create_nodes is shown and kept', async () => {
    await send(server, 'POST', '/v1/node-tables', PERSON);
    const body = { name: 'strict', member_tables: ['Person'], create_nodes: false };
    expect((await send(server, 'POST', '/v1/tables', body)).json.create_nodes).toBe(false);
    expect((await send(server, 'GET', '/v1/tables/strict')).json.create_nodes).toBe(false);
    expect((await send(server, 'GET', '/v1/tables/hyperedges')).json.create_nodes).toBeUndefined();
    const edge = { table: 'strict', event_ts: 1, members: ['Nobody'] };
    const refused = await send(server, 'POST', '/v1/hyperedges', edge);
    expect([refused.status, refused.json.code]).toEqual([400, 'unknown_node']);
    expect((await send(server, 'GET', '/v1/nodes/Person')).json.nodes).toEqual([]);
  });
});

describe.each(transportsHere())('nodes over %s', (transport) => {
  let server: TestServer;
  const recorder = new Recorder();
  beforeAll(async () => {
    server = await startServer({ transport, observer: recorder });
    await send(server, 'POST', '/v1/node-tables', PERSON);
    await send(server, 'POST', '/v1/node-tables', { name: 'Room', key: { name: 'id', type: 'INTEGER' } });
    await send(server, 'POST', '/v1/tables', { name: 'calls', member_tables: ['Person'] });
  });
  afterAll(() => server.close());

  test('PUT creates and replaces, PATCH changes, DELETE deletes', async () => {
    const path = '/v1/nodes/person/Ada';
    expect((await send(server, 'GET', path)).json.code).toBe('node_not_found');
    const made = await send(server, 'PUT', path, { born: 1815 });
    expect([made.status, made.json]).toEqual([200, { name: 'Ada', born: 1815, city: 'Rome' }]);
    expect(Number(made.headers.get('x-hedgerow-lsn'))).toBe(server.database.lastLsn);
    expect((await send(server, 'GET', path)).json).toEqual(made.json);
    const patched = await send(server, 'PATCH', path, { city: null, name: 'Ada' });
    expect(patched.json).toEqual({ name: 'Ada', born: 1815, city: null });
    expect((await send(server, 'GET', path)).json).toEqual(patched.json);
    const other = await send(server, 'PATCH', path, { BORN: 1816 });
    expect(other.json).toEqual({ name: 'Ada', born: 1816, city: null });
    const replaced = await send(server, 'PUT', path, { city: 'London', born: null });
    expect(replaced.json).toEqual({ name: 'Ada', born: null, city: 'London' });
    expect((await send(server, 'GET', path)).json).toEqual(replaced.json);
    const deleted = await send(server, 'DELETE', path);
    expect([deleted.status, deleted.json]).toEqual([200, { table: 'Person', key: 'Ada', deleted: true }]);
    for (const method of ['GET', 'DELETE']) expect((await send(server, method, path)).json.code).toBe('node_not_found');
    expect((await send(server, 'PATCH', path, {})).json.code).toBe('node_not_found');
    expect(recorder.audits.at(-1)).toMatchObject({ event: 'node.deleted', table: 'Person', status: 200 });
  });

  test('the tag of a node changes with its table', async () => {
    await send(server, 'PUT', '/v1/nodes/Person/Tag', {});
    const first = await send(server, 'GET', '/v1/nodes/Person/Tag');
    const tag = { 'if-none-match': first.headers.get('etag')! };
    expect((await send(server, 'GET', '/v1/nodes/Person/Tag', undefined, tag)).status).toBe(304);
    await send(server, 'PATCH', '/v1/nodes/Person/Tag', { born: 1 });
    expect((await send(server, 'GET', '/v1/nodes/Person/Tag', undefined, tag)).json.born).toBe(1);
    await send(server, 'DELETE', '/v1/nodes/Person/Tag');
  });

  test.each([
    ['another key', { name: 'Grace' }, 'invalid_input'],
    ['an unknown column', { age: 3 }, 'unknown_column'],
    ['a wrong type', { born: '1815' }, 'invalid_input'],
    ['a number beyond 2^53', { born: 2 ** 53 }, 'invalid_input'],
    ['an attribute twice', { born: 1, BORN: 2 }, 'invalid_input'],
    ['half of a surrogate pair', '{"city":"\\ud800"}', 'invalid_input'],
    ['an unknown __proto__', '{"__proto__":1}', 'unknown_column'],
    ['no object', [], 'invalid_input'],
    ['no JSON', '{', 'invalid_json'],
  ])('PUT and PATCH refuse %s', async (_, body, code) => {
    await send(server, 'PUT', '/v1/nodes/Person/Kept', { born: 1 });
    for (const method of ['PUT', 'PATCH']) {
      const answer = await send(server, method, '/v1/nodes/Person/Kept', body);
      expect([answer.status, answer.json.code]).toEqual([400, code]);
    }
    expect((await send(server, 'GET', '/v1/nodes/Person/Kept')).json.born).toBe(1);
  });

  test.each([
    ['Person', 'x'.repeat(513), 'too long'],
    ['Person', '\u0085', 'a control character'],
    ['Person', 'a\tb', 'a tab'],
    ['Person', '\u007f', 'DEL'],
    ['Room', 'abc', 'no digits'],
    ['Room', '9007199254740992', '2^53'],
    ['Room', '1.5', 'a fraction'],
  ])('a key of %s that cannot be is refused: %s (%s)', async (table, key) => {
    const path = `/v1/nodes/${table}/${encodeURIComponent(key)}`;
    for (const method of ['GET', 'PUT', 'PATCH', 'DELETE']) {
      const answer = await send(server, method, path, method === 'GET' || method === 'DELETE' ? undefined : {});
      expect([answer.status, answer.json.code]).toEqual([400, 'invalid_input']);
    }
  });

  test('a path that is not UTF-8 is refused', async () => {
    for (const key of ['%ED%A0%80', '%FF', '%C3', '%'])
      expect((await sendRaw(server, 'GET', `/v1/nodes/Person/${key}`)).status).toBe(400);
  });

  const KEYS = [
    '.',
    '..',
    '/',
    'a/b//c',
    '"\'\\`',
    '🦔',
    '\u202eabc\u200f',
    'é',
    'e\u0301',
    'Ada Lovelace',
    'a?b#c&d=e',
    '%2F',
    '+',
    '__proto__',
    'constructor',
    'x'.repeat(512),
    'é'.repeat(256),
    'node',
  ];

  test('any key works percent-encoded, and names that differ by case or form are different', async () => {
    for (const [index, key] of [...KEYS, 'ada lovelace'].entries()) {
      const path = `/v1/nodes/Person/${encodeURIComponent(key).replaceAll('.', '%2E')}`;
      expect((await sendRaw(server, 'PUT', path, { born: index })).json).toEqual({
        name: key,
        born: index,
        city: 'Rome',
      });
      expect((await sendRaw(server, 'GET', path)).json.born).toBe(index);
    }
    for (const key of KEYS) {
      const path = `/v1/nodes/Person/${encodeURIComponent(key).replaceAll('.', '%2E')}`;
      expect((await sendRaw(server, 'GET', path)).json.name).toBe(key);
      expect((await sendRaw(server, 'DELETE', path)).json).toEqual({ table: 'Person', key, deleted: true });
    }
    expect((await send(server, 'GET', '/v1/nodes/Person/ada%20lovelace')).json.born).toBe(KEYS.length);
  });

  test('integer keys are written in digits, negative ones too', async () => {
    for (const key of [0, -5, 9007199254740991, -9007199254740991]) {
      expect((await send(server, 'PUT', `/v1/nodes/Room/${key}`, {})).json).toEqual({ id: key });
      expect((await send(server, 'GET', `/v1/nodes/Room/${key}`)).json).toEqual({ id: key });
    }
    const list = (await send(server, 'GET', '/v1/nodes/Room')).json;
    expect(list.nodes).toEqual([-9007199254740991, -5, 0, 9007199254740991].map((id) => ({ id })));
  });

  test('POST inserts or replaces, and tells how many', async () => {
    const one = { name: 'Post', born: 1 };
    expect((await send(server, 'POST', '/v1/nodes/Person', one)).json).toEqual({
      table: 'Person',
      inserted: 1,
      replaced: 0,
    });
    const again = await send(server, 'POST', '/v1/nodes/Person', { name: 'Post', city: 'Oslo' });
    expect([again.status, again.json]).toEqual([200, { table: 'Person', inserted: 0, replaced: 1 }]);
    expect((await send(server, 'GET', '/v1/nodes/Person/Post')).json).toEqual({
      name: 'Post',
      born: null,
      city: 'Oslo',
    });
    const lines = '\ufeff{"name":"L1"}\n\n{"name":"Post","born":3}\r\n{"name":"L2"}\n{"name":"L1","born":9}';
    const many = await send(server, 'POST', '/v1/nodes/Person', lines, NDJSON);
    expect(many.json).toEqual({ table: 'Person', inserted: 2, replaced: 2 });
    expect((await send(server, 'GET', '/v1/nodes/Person/L1')).json.born).toBe(9);
    expect((await send(server, 'POST', '/v1/nodes/Person', {})).json.errors).toEqual([
      { loc: ['body', 'name'], msg: 'is missing' },
    ]);
    expect((await send(server, 'POST', '/v1/nodes/Person', '\n', NDJSON)).json.code).toBe('invalid_input');
    expect((await send(server, 'POST', '/v1/nodes/none', one)).json.code).toBe('table_not_found');
    expect((await send(server, 'POST', '/v1/nodes/calls', one)).json.code).toBe('table_not_found');
  });

  test.each([
    ['no JSON', '{"name":"N1"}\n{'],
    ['no key', '{"name":"N1"}\n{"born":1}'],
    ['null as key', '{"name":"N1"}\n{"name":null}'],
    ['a wrong type', '{"name":"N1"}\n{"name":"N2","born":true}'],
    ['an unknown column', '{"name":"N1"}\n{"name":"N2","x":1}'],
    ['a number as key', '{"name":"N1"}\n{"name":5}'],
  ])('a line with %s fails all with its number', async (_, lines) => {
    const lsn = server.database.headLsn;
    const answer = await send(server, 'POST', '/v1/nodes/Person', lines, NDJSON);
    expect([answer.status, answer.json.line, answer.json.detail.startsWith('Line 2: ')]).toEqual([400, 2, true]);
    expect(server.database.headLsn).toBe(lsn);
    expect((await send(server, 'GET', '/v1/nodes/Person/N1')).status).toBe(404);
  });

  test('a node that a live edge holds is not deleted', async () => {
    const edge = { table: 'calls', event_ts: 1, members: ['Held', 'Other'] };
    await send(server, 'POST', '/v1/hyperedges', edge);
    const refused = await send(server, 'DELETE', '/v1/nodes/Person/Held');
    expect([refused.status, refused.json.code]).toEqual([409, 'node_in_use']);
    await send(server, 'DELETE', '/v1/hyperedges', edge);
    expect((await send(server, 'DELETE', '/v1/nodes/Person/Held')).status).toBe(200);
  });

  test('writers of one node at the same time all succeed', async () => {
    const puts = Array.from({ length: 20 }, (_, born) => send(server, 'PUT', '/v1/nodes/Person/Busy', { born }));
    const patches = Array.from({ length: 20 }, () => send(server, 'PATCH', '/v1/nodes/Person/Post', { born: 7 }));
    for (const { status } of await Promise.all([...puts, ...patches])) expect(status).toBe(200);
    const { json } = await send(server, 'GET', '/v1/nodes/Person');
    expect(json.nodes.filter(({ name }: { name: string }) => name === 'Busy')).toHaveLength(1);
  });

  test('a write is done once under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': `once-${transport}` };
    const first = await send(server, 'POST', '/v1/nodes/Person', { name: 'Once' }, headers);
    const again = await send(server, 'POST', '/v1/nodes/Person', { name: 'Once' }, headers);
    expect([first.json.inserted, again.json.inserted]).toEqual([1, 1]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await send(server, 'POST', '/v1/nodes/Person', { name: 'Twice' }, headers)).status).toBe(409);
    const failed = { 'idempotency-key': `bad-${transport}` };
    expect((await send(server, 'PATCH', '/v1/nodes/Person/Nobody', {}, failed)).status).toBe(404);
    expect((await send(server, 'PATCH', '/v1/nodes/Person/Nobody', {}, failed)).status).toBe(404);
  });

  test.each([
    ['PUT', '/v1/nodes/Person/Kept', { born: 1 }, 200],
    ['PATCH', '/v1/nodes/Person/Kept', { born: 2 }, 200],
    ['DELETE', '/v1/nodes/Person/Kept', undefined, 200],
    ['DELETE', '/v1/node-tables/Idle', undefined, 200],
  ] as const)('%s %s is done once under an Idempotency-Key', async (method, path, body, status) => {
    await send(server, 'PUT', '/v1/nodes/Person/Kept', {});
    await send(server, 'POST', '/v1/node-tables', { name: 'Idle', key: { name: 'k', type: 'TEXT' } });
    const headers = { 'idempotency-key': `${method} ${path} ${transport}` };
    const first = await send(server, method, path, body, headers);
    const lsn = server.database.lastLsn;
    const again = await send(server, method, path, body, headers);
    expect([first.status, again.status, again.text]).toEqual([status, status, first.text]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(server.database.lastLsn).toBe(lsn);
  });

  test('HEAD and OPTIONS', async () => {
    const head = await send(server, 'HEAD', '/v1/nodes/Person/Once');
    expect([head.status, head.text]).toEqual([200, '']);
    expect((await send(server, 'OPTIONS', '/v1/nodes/Person/Once')).headers.get('allow')).toBe(
      'DELETE, GET, HEAD, OPTIONS, PATCH, PUT',
    );
    expect((await send(server, 'PUT', '/v1/nodes/Person', {})).status).toBe(405);
  });
});

describe('lists of nodes', () => {
  let server: TestServer;
  const recorder = new Recorder();
  const keys = Array.from({ length: 3000 }, (_, index) => {
    const letter = ['a', 'é', 'Z', '🦔', 'ﬀ', '\u{10ffff}', 'long-common-prefix-'][index % 7]!;
    return `${letter}${(index * 7919) % 3001}`;
  });
  beforeAll(async () => {
    server = await startServer({ observer: recorder });
    await send(server, 'POST', '/v1/node-tables', PERSON);
    const lines = keys.map((name, born) => `${JSON.stringify({ name, born })}\n`).join('');
    await send(server, 'POST', '/v1/nodes/Person', lines, NDJSON);
  });
  afterAll(() => server.close());

  const sorted = () => keys.toSorted(compareTexts);
  const namesOf = (nodes: { name: string }[]) => nodes.map(({ name }) => name);

  test('are in the order of code points, as JSON and as NDJSON', async () => {
    const json = await send(server, 'GET', '/v1/nodes/person');
    expect(json.json).toMatchObject({ table: 'Person', num_tuples: keys.length, next_cursor: null });
    expect(namesOf(json.json.nodes)).toEqual(sorted());
    const lines = await send(server, 'GET', '/v1/nodes/Person', undefined, { accept: 'application/x-ndjson' });
    expect(
      namesOf(
        lines.text
          .trimEnd()
          .split('\n')
          .map((line) => JSON.parse(line)),
      ),
    ).toEqual(sorted());
    expect(recorder.queries.at(-1)).toMatchObject({ table: 'Person', records: keys.length });
    for (const [answer, accept] of [
      [json, 'application/json'],
      [lines, 'application/x-ndjson'],
    ] as const) {
      const headers = { accept, 'if-none-match': answer.headers.get('etag')! };
      expect((await send(server, 'GET', '/v1/nodes/Person', undefined, headers)).status).toBe(304);
    }
  });

  test('all pages show one state, whatever is written meanwhile', async () => {
    const before = sorted();
    const pages: string[][] = [];
    let cursor: string | null = null;
    do {
      const query = cursor === null ? '' : `&cursor=${cursor}`;
      const asLines = pages.length % 2 === 1;
      const accept = asLines ? 'application/x-ndjson' : 'application/json';
      const page = await send(server, 'GET', `/v1/nodes/Person?limit=701${query}`, undefined, { accept });
      expect(page.status).toBe(200);
      const nodes = asLines
        ? page.text
            .trimEnd()
            .split('\n')
            .map((line) => JSON.parse(line))
        : page.json.nodes;
      cursor = asLines ? page.headers.get('x-next-cursor') : page.json.next_cursor;
      pages.push(namesOf(nodes));
      // A node before and one after what was read, one deleted, one changed, and a compaction.
      const last = pages.at(-1)!.at(-1)!;
      await send(server, 'PUT', `/v1/nodes/Person/${encodeURIComponent(`${last}!`)}`, {});
      await send(server, 'PUT', `/v1/nodes/Person/A${pages.length}`, {});
      keys.push(`${last}!`, `A${pages.length}`);
      const gone = before[before.length - pages.length]!;
      await send(server, 'DELETE', `/v1/nodes/Person/${encodeURIComponent(gone)}`);
      keys.splice(keys.indexOf(gone), 1);
      if (pages.length === 2) await server.database.compact({});
    } while (cursor !== null);
    expect(pages.map(({ length }) => length)).toEqual([701, 701, 701, 701, 196]);
    expect(pages.flat()).toEqual(before);
    expect(namesOf((await send(server, 'GET', '/v1/nodes/Person')).json.nodes)).toEqual(sorted());
  });

  test('a key that was deleted and created again comes once', async () => {
    await send(server, 'PUT', '/v1/nodes/Person/Again', { born: 1 });
    const cursor = (await send(server, 'GET', '/v1/nodes/Person?limit=1')).json.next_cursor;
    await send(server, 'DELETE', '/v1/nodes/Person/Again');
    await send(server, 'PUT', '/v1/nodes/Person/Again', { born: 2 });
    const bornOf = ({ json }: Answer) =>
      json.nodes.filter(({ name }: { name: string }) => name === 'Again').map(({ born }: { born: number }) => born);
    expect(bornOf(await send(server, 'GET', '/v1/nodes/Person'))).toEqual([2]);
    expect(bornOf(await send(server, 'GET', `/v1/nodes/Person?limit=5000&cursor=${cursor}`))).toEqual([1]);
    keys.push('Again');
  });

  test.each(['limit=0', 'limit=x', 'cursor=abc', 'limit=1&limit=2'])('?%s is refused', async (query) => {
    expect((await send(server, 'GET', `/v1/nodes/Person?${query}`)).status).toBe(400);
  });

  test('a cursor of another table is refused', async () => {
    await send(server, 'POST', '/v1/node-tables', { ...PERSON, name: 'Other' });
    const cursor = (await send(server, 'GET', '/v1/nodes/Person?limit=1')).json.next_cursor;
    expect((await send(server, 'GET', `/v1/nodes/Other?cursor=${cursor}`)).json.code).toBe('invalid_cursor');
    expect((await send(server, 'GET', '/v1/nodes/Other')).json.nodes).toEqual([]);
    expect((await send(server, 'GET', '/v1/nodes/Other?limit=3')).json.next_cursor).toBeNull();
  });

  test('a dropped column is not shown, a new one is', async () => {
    await send(server, 'POST', '/v1/node-tables', { ...PERSON, name: 'Altered' });
    await send(server, 'PUT', '/v1/nodes/Altered/Ada', { born: 1 });
    const { nodes } = server.database;
    await nodes.alterTable('Altered', { kind: 'dropColumn', column: 'born' });
    await nodes.alterTable('Altered', { kind: 'addColumn', column: { name: 'tall', type: 'BOOLEAN', default: true } });
    expect((await send(server, 'GET', '/v1/nodes/Altered')).json.nodes).toEqual([
      { name: 'Ada', city: 'Rome', tall: true },
    ]);
    expect((await send(server, 'PUT', '/v1/nodes/Altered/Ada', { tall: false })).json.tall).toBe(false);
  });
});
