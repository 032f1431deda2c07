// Tests the hyperedge routes for tables whose members are nodes of node tables.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { transportsHere } from '../support/transport.ts';
import { type Answer, NDJSON, send, startServer, type TestServer } from './support.ts';

describe.each(transportsHere())('hyperedges with keys over %s', (transport) => {
  let server: TestServer;
  beforeAll(async () => {
    server = await startServer({ transport });
    await send(server, 'POST', '/v1/node-tables', {
      name: 'Person',
      key: { name: 'name', type: 'TEXT' },
      columns: [{ name: 'city', type: 'TEXT', default: 'Rome' }],
    });
    await send(server, 'POST', '/v1/node-tables', { name: 'Room', key: { name: 'id', type: 'INTEGER' } });
    await send(server, 'POST', '/v1/tables', { name: 'calls', member_tables: ['Person'] });
    await send(server, 'POST', '/v1/tables', { name: 'meetings', member_tables: ['Person', 'Room'] });
    await send(server, 'POST', '/v1/tables', { name: 'strict', member_tables: ['Person'], create_nodes: false });
  });
  afterAll(() => server.close());

  const insert = (body: unknown, query = '') => send(server, 'POST', `/v1/hyperedges${query}`, body);
  const range = (table: string, query = '') =>
    send(server, 'GET', `/v1/hyperedges?table=${table}&start_ts=-100&end_ts=1000000${query}`);
  const lookup = (key: string | number, query: string) =>
    send(server, 'GET', `/v1/hyperedges/node/${encodeURIComponent(key)}?${query}`);
  const membersOf = ({ json }: Answer) => json.hyperedges.map(({ members }: { members: unknown }) => members);
  const numberOf = async (table: string, key: string) => {
    const { database } = server;
    return database.nodes.find(database.nodes.table(table), key);
  };

  test('members are keys, and new keys create nodes with the defaults', async () => {
    const made = await insert({ table: 'calls', event_ts: 1, members: ['Ada', 'Grace', 'Ada'], weight: 0.5 });
    expect([made.status, made.json.members]).toEqual([201, ['Ada', 'Grace']]);
    expect((await send(server, 'GET', '/v1/nodes/Person/Grace')).json).toEqual({ name: 'Grace', city: 'Rome' });
    const object = await insert({
      table: 'calls',
      event_ts: 2,
      members: [{ kind: 'person', key: 'Grace' }, { key: 'Alan' }],
    });
    expect(object.json.members).toEqual(['Grace', 'Alan']);
    expect(membersOf(await range('calls'))).toEqual([
      ['Ada', 'Grace'],
      ['Grace', 'Alan'],
    ]);
    // In the order of their numbers, not of their keys.
    const turned = await insert({ table: 'calls', event_ts: 3, members: ['Alan', 'Ada'] });
    expect(turned.json.members).toEqual(['Ada', 'Alan']);
  });

  test('members=numbers and members=objects', async () => {
    const ada = await numberOf('Person', 'Ada');
    const alan = await numberOf('Person', 'Alan');
    expect(membersOf(await range('calls', '&members=numbers')).at(-1)).toEqual([ada, alan]);
    expect(membersOf(await range('calls', '&members=objects')).at(-1)).toEqual([
      { kind: 'Person', key: 'Ada' },
      { kind: 'Person', key: 'Alan' },
    ]);
    const numbers = await insert({ table: 'calls', event_ts: 4, members: ['Ada'] }, '?members=numbers');
    expect(numbers.json.members).toEqual([ada]);
    const objects = await insert({ table: 'calls', event_ts: 4, members: ['Ada'] }, '?members=objects');
    expect(objects.json.members).toEqual([{ kind: 'Person', key: 'Ada' }]);
    expect((await range('calls', '&members=keys')).status).toBe(400);
    expect((await range('hyperedges', '&members=objects')).status).toBe(200);
  });

  test('several kinds take and show objects', async () => {
    const members = [
      { kind: 'Room', key: 5 },
      { kind: 'PERSON', key: 'Ada' },
      { key: 5, kind: 'Room' },
    ];
    const made = await insert({ table: 'meetings', event_ts: 1, members });
    const shown = [
      { kind: 'Person', key: 'Ada' },
      { kind: 'Room', key: 5 },
    ];
    expect([made.status, made.json.members]).toEqual([201, shown]);
    expect(membersOf(await range('meetings'))).toEqual([shown]);
    expect(membersOf(await lookup('Ada', 'table=meetings&kind=person'))).toEqual([shown]);
    const room = await lookup(5, 'table=meetings&kind=Room');
    expect([room.json.node_id, membersOf(room)]).toEqual([5, [shown]]);
    expect((await lookup('Ada', 'table=meetings')).json.errors).toEqual([
      { loc: ['query', 'kind'], msg: 'is missing: the members of meetings are of Person, Room' },
    ]);
    expect((await lookup('Ada', 'table=meetings&kind=Dog')).status).toBe(400);
    expect((await lookup('Ada', 'table=meetings&kind=Room')).status).toBe(400);
  });

  test('a lookup takes a key, and an unknown one finds nothing', async () => {
    const found = await lookup('Grace', 'table=calls');
    expect([found.json.node_id, found.json.num_tuples]).toEqual(['Grace', 2]);
    const nobody = await lookup('Nobody "é/🦔', 'table=calls');
    expect([nobody.status, nobody.json.node_id, nobody.json.hyperedges]).toEqual([200, 'Nobody "é/🦔', []]);
    expect((await lookup('grace', 'table=calls')).json.hyperedges).toEqual([]);
    expect(await numberOf('Person', 'Nobody "é/🦔')).toBe(0);
    const lines = await send(server, 'GET', '/v1/hyperedges/node/Grace?table=calls', undefined, {
      accept: 'application/x-ndjson',
    });
    expect(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).members),
    ).toEqual([
      ['Ada', 'Grace'],
      ['Grace', 'Alan'],
    ]);
    expect((await lookup('x', 'table=hyperedges')).status).toBe(400);
    expect((await lookup('x'.repeat(513), 'table=calls')).status).toBe(400);
  });

  test('deletes by time and members', async () => {
    await insert({ table: 'calls', event_ts: 50, members: ['Ada', 'Grace'] });
    await insert({ table: 'calls', event_ts: 50, members: ['Grace', 'Ada'] });
    const remove = (members: unknown, query = '') =>
      send(server, 'DELETE', `/v1/hyperedges${query}`, { table: 'calls', event_ts: 50, members });
    expect((await remove(['Ada'])).json).toMatchObject({ deleted: false, matched: 0 });
    expect((await remove(['Ada', 'Nobody'])).json).toEqual({
      deleted: false,
      matched: 0,
      table: 'calls',
      event_ts: 50,
      members: ['Nobody', 'Ada'],
    });
    expect((await remove(['Nobody'], '?members=numbers')).json.members).toEqual([null]);
    const removed = await remove(['Grace', { kind: 'Person', key: 'Ada' }], '?members=objects');
    expect(removed.json).toMatchObject({
      matched: 2,
      members: [
        { kind: 'Person', key: 'Ada' },
        { kind: 'Person', key: 'Grace' },
      ],
    });
    expect(await numberOf('Person', 'Nobody')).toBe(0);
    await send(server, 'DELETE', '/v1/hyperedges', {
      table: 'meetings',
      event_ts: 7,
      members: [{ kind: 'Room', key: 9 }],
    });
    expect((await send(server, 'GET', '/v1/nodes/Room/9')).status).toBe(404);
  });

  test('one edge, ETags, ISO times and cursors', async () => {
    const { id } = (await insert({ table: 'calls', event_ts: '1970-01-02', members: ['Iso', 'Ada'] })).json;
    const one = await send(server, 'GET', `/v1/hyperedges/${id}?table=calls&times=iso`);
    expect(one.json).toMatchObject({ id, event_ts: '1970-01-02T00:00:00Z', members: ['Ada', 'Iso'] });
    const asObjects = await send(server, 'GET', `/v1/hyperedges/${id}?table=calls&members=objects`);
    expect(asObjects.json.members).toEqual([
      { kind: 'Person', key: 'Ada' },
      { kind: 'Person', key: 'Iso' },
    ]);
    const iso = await range('calls', '&times=iso');
    expect(iso.json.hyperedges.at(-1)).toMatchObject({ event_ts: '1970-01-02T00:00:00Z', members: ['Ada', 'Iso'] });
    const tags = new Set<string | null>();
    for (const query of ['', '&members=numbers', '&members=objects', '&times=iso']) {
      const answer = await range('calls', query);
      const etag = answer.headers.get('etag')!;
      tags.add(etag);
      const path = `/v1/hyperedges?table=calls&start_ts=-100&end_ts=1000000${query}`;
      expect((await send(server, 'GET', path, undefined, { 'if-none-match': etag })).status).toBe(304);
    }
    expect(tags.size).toBe(4);
    const rows: unknown[] = [];
    let cursor: string | null = '';
    while (cursor !== null) {
      const page: Answer = await range('calls', `&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`);
      rows.push(...membersOf(page));
      cursor = page.json.next_cursor;
    }
    expect(rows).toEqual(membersOf(await range('calls')));
  });

  test('the pages of a node go on when it is deleted, and created again', async () => {
    const times = [700, 701, 702, 703, 704, 705, 706];
    const add = async () => {
      for (const event_ts of times)
        await insert({ table: 'meetings', event_ts, members: [{ kind: 'Person', key: 'Gone' }] });
    };
    const removeAll = async () => {
      await send(server, 'POST', '/v1/query', {
        query: "DELETE FROM meetings WHERE node(Person, 'Gone') IN members",
      });
      expect((await send(server, 'DELETE', '/v1/nodes/Person/Gone')).status).toBe(200);
    };
    await add();
    const timesOf = ({ json }: Answer) => json.hyperedges.map(({ event_ts }: { event_ts: number }) => event_ts);
    const first = await lookup('Gone', 'table=meetings&kind=person&limit=3');
    await removeAll();
    const second = await lookup('Gone', `table=meetings&kind=Person&limit=3&cursor=${first.json.next_cursor}`);
    await add();
    const third = await lookup('Gone', `table=meetings&kind=Person&limit=3&cursor=${second.json.next_cursor}`);
    expect([first, second, third].flatMap(timesOf)).toEqual(times);
    expect(third.json).toMatchObject({ node_id: 'Gone', next_cursor: null });
    const other = await lookup('Grace', `table=meetings&kind=Person&limit=3&cursor=${first.json.next_cursor}`);
    expect(other.json.code).toBe('invalid_cursor');
    const room = await lookup(7, `table=meetings&kind=Room&limit=3&cursor=${first.json.next_cursor}`);
    expect(room.json.code).toBe('invalid_cursor');
    expect(timesOf(await lookup('Gone', 'table=meetings&kind=Person'))).toEqual(times);
    await removeAll();
    expect(timesOf(await lookup('Gone', 'table=meetings&kind=Person'))).toEqual([]);
  });

  test('NDJSON with keys, objects and other tables', async () => {
    const lines = [
      { event_ts: 100, members: ['N1', 'N2'] },
      { event_ts: 101, members: [{ kind: 'Person', key: 'N1' }], weight: 2 },
      { event_ts: 102, members: [{ key: 'N3' }, 'N1'] },
    ];
    const text = lines.map((line) => JSON.stringify(line)).join('\n');
    const many = await send(server, 'POST', '/v1/hyperedges?table=calls', text, NDJSON);
    expect([many.status, many.json.inserted]).toEqual([201, 3]);
    const mixed = [
      { event_ts: 103, members: ['N4'] },
      {
        table: 'meetings',
        event_ts: 103,
        members: [
          { kind: 'Room', key: -1 },
          { kind: 'Person', key: 'N4' },
        ],
      },
      { table: 'hyperedges', event_ts: 103, members: [1, 2] },
    ];
    const all = await send(
      server,
      'POST',
      '/v1/hyperedges?table=calls',
      mixed.map((line) => JSON.stringify(line)).join('\n'),
      NDJSON,
    );
    expect(all.json.tables).toMatchObject({
      calls: { inserted: 1 },
      meetings: { inserted: 1 },
      hyperedges: { inserted: 1 },
    });
    const rows = membersOf(await send(server, 'GET', '/v1/hyperedges?table=calls&start_ts=100&end_ts=103'));
    expect(rows).toEqual([['N1', 'N2'], ['N1'], ['N1', 'N3'], ['N4']]);
    const bad = `${JSON.stringify({ event_ts: 1, members: ['New1'] })}\n${JSON.stringify({ event_ts: 1, members: [7] })}`;
    const refused = await send(server, 'POST', '/v1/hyperedges?table=calls', bad, NDJSON);
    expect([refused.status, refused.json.line]).toEqual([400, 2]);
    expect(await numberOf('Person', 'New1')).toBe(0);
  });

  test('a batch takes keys, and reads what it wrote', async () => {
    const { json } = await send(server, 'POST', '/v1/batch', {
      operations: [
        { type: 'insert', table: 'calls', event_ts: 200, members: ['B1', 'B2', 'Ada'] },
        {
          type: 'insert',
          table: 'meetings',
          event_ts: 200,
          members: [
            { kind: 'Person', key: 'B1' },
            { kind: 'Room', key: 77 },
          ],
        },
        { type: 'delete', table: 'calls', event_ts: 200, members: ['B2', 'B1', 'Ada'] },
        { type: 'insert', table: 'calls', event_ts: 201, members: ['B2'] },
      ],
    });
    expect(json).toMatchObject({ committed: true, ops_success: 4 });
    expect(json.results.map(({ id, matched }: { id?: number; matched?: number }) => [typeof id, matched])).toEqual([
      ['number', undefined],
      ['number', undefined],
      ['undefined', 1],
      ['number', undefined],
    ]);
    const stored = await send(server, 'GET', `/v1/hyperedges/${json.results[3].id}?table=calls`);
    expect(stored.json.members).toEqual(['B2']);
    const rolledBack = await send(server, 'POST', '/v1/batch', {
      operations: [
        { type: 'insert', table: 'calls', event_ts: 202, members: ['B9'] },
        { type: 'insert', table: 'strict', event_ts: 202, members: ['B8'] },
      ],
    });
    expect(rolledBack.json).toMatchObject({ committed: false });
    expect([await numberOf('Person', 'B9'), await numberOf('Person', 'B8')]).toEqual([0, 0]);
  });

  test('create_nodes: false refuses unknown keys and writes nothing', async () => {
    const lsn = server.database.headLsn;
    const refused = await insert({ table: 'strict', event_ts: 1, members: ['Ada', 'Unknown'] });
    expect([refused.status, refused.json.code]).toEqual([400, 'unknown_node']);
    expect(refused.json.detail).toContain('"Unknown"');
    const lines = '{"event_ts":1,"members":["Ada"]}\n{"event_ts":1,"members":["Unknown"]}';
    const many = await send(server, 'POST', '/v1/hyperedges?table=strict', lines, NDJSON);
    expect([many.status, many.json.code, many.json.line]).toEqual([400, 'unknown_node', 2]);
    expect(server.database.headLsn).toBe(lsn);
    expect((await insert({ table: 'strict', event_ts: 1, members: ['Ada'] })).status).toBe(201);
  });

  test('an insert is done once under an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': `edge-${transport}` };
    const body = { table: 'calls', event_ts: 300, members: ['Idem', 'Ada'] };
    const first = await send(server, 'POST', '/v1/hyperedges', body, headers);
    const again = await send(server, 'POST', '/v1/hyperedges', body, headers);
    expect([first.json.members, again.json]).toEqual([['Ada', 'Idem'], first.json]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await lookup('Idem', 'table=calls')).json.num_tuples).toBe(1);
  });

  test('a mixture of kinds in member_tables is refused', async () => {
    const mixed = await send(server, 'POST', '/v1/tables', { name: 'mixed', member_tables: ['Person', 'nothing'] });
    expect([mixed.status, mixed.json.code]).toEqual([400, 'invalid_input']);
    const plain = await send(server, 'POST', '/v1/tables', { name: `plain_${transport}`, member_tables: ['nothing'] });
    expect(plain.json.nodes).toBe('numbers');
  });

  const HOSTILE: [string, unknown][] = [
    ['an unknown kind', [{ kind: 'Dog', key: 'Rex' }]],
    ['a number as key', [5]],
    ['a number of 2^53', [2 ** 53]],
    ['an empty key', ['']],
    ['a key of 513 bytes', ['x'.repeat(513)]],
    ['a key of 513 bytes in 171 characters', ['€'.repeat(171)]],
    ['a control character', ['a\u0000b']],
    ['a newline', ['a\nb']],
    ['NEL (U+0085)', ['a\u0085b']],
    ['a lone surrogate', ['\ud800']],
    ['a boolean', [true]],
    ['null', [null]],
    ['an array', [['Ada']]],
    ['an object without key', [{ kind: 'Person' }]],
    ['an object with a wrong key', [{ kind: 'Person', key: 5 }]],
    ['a kind that is no text', [{ kind: 1, key: 'Ada' }]],
    ['a kind with the name of a prototype', [{ kind: '__proto__', key: 'Ada' }]],
    ['no list', 'Ada'],
    ['an empty list', []],
    ['nothing', undefined],
    ['65 members', Array.from({ length: 65 }, (_, i) => `m${i}`)],
  ];

  test.each(HOSTILE)('members with %s are refused in every route', async (_, members) => {
    const lsn = server.database.headLsn;
    const edge = { table: 'calls', event_ts: 1, members };
    const line = JSON.stringify({ event_ts: 1, members });
    const answers = [
      await insert(edge),
      await send(server, 'POST', '/v1/hyperedges?table=calls', `${line}\n${line}`, NDJSON),
    ];
    if (!Array.isArray(members) || members.length < 65)
      answers.push(await send(server, 'DELETE', '/v1/hyperedges', edge));
    for (const { status } of answers) expect(status).toBe(400);
    const batch = await send(server, 'POST', '/v1/batch', { operations: [{ type: 'insert', ...edge }] });
    expect(batch.json.committed).toBe(false);
    expect(server.database.headLsn).toBe(lsn);
  });

  test.each(['Bare', 5])('a bare key %s of a table with several kinds is refused', async (key) => {
    const answer = await insert({ table: 'meetings', event_ts: 1, members: [key] });
    expect([answer.status, answer.json.errors[0].loc]).toEqual([400, ['body', 'members', 0]]);
  });

  test('unusual keys are members, and are looked up', async () => {
    const keys = [
      '__proto__',
      'constructor',
      'toString',
      'a/b',
      '.',
      '"',
      '🦔',
      '\u202e',
      'é',
      'e\u0301',
      'É',
      'x'.repeat(512),
    ];
    for (const [index, key] of keys.entries()) {
      expect((await insert({ table: 'calls', event_ts: 400 + index, members: [key] })).json.members).toEqual([key]);
      if (key !== '.') expect(membersOf(await lookup(key, 'table=calls'))).toEqual([[key]]);
    }
    const lines = keys.map((key, index) => JSON.stringify({ event_ts: 500 + index, members: [key] })).join('\n');
    await send(server, 'POST', '/v1/hyperedges?table=calls', lines, NDJSON);
    const { json } = await send(server, 'GET', '/v1/hyperedges?table=calls&start_ts=500&end_ts=599');
    expect(json.hyperedges.map(({ members }: { members: string[] }) => members[0])).toEqual(keys);
  });
});
