// The tools of MCP for nodes, in a directory and with a server: node tables, nodes by key, lookups
// in tables of several kinds, writes and who may make them.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { startServer } from '../http/support.ts';
import { beginHere, type Session } from './mcp-session.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form.
type Value = any;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const ODD = 'O\'Neil "Bob" <&> 🦊 \u200f/#?%';
/** People by key: as many that a page does not hold them all. */
const PEOPLE = ['Ada', 'Alan', 'Grace', 'ada', ODD, '..', 'Éva', ...Array.from({ length: 8 }, (_, i) => `p${i}`)];
const IN_ORDER = [...PEOPLE].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));

async function fill(database: Database): Promise<void> {
  await database.nodes.createTable({
    name: 'Person',
    key: { name: 'name', type: 'TEXT' },
    columns: [
      { name: 'city', type: 'TEXT', default: 'Rome' },
      { name: 'born', type: 'INTEGER' },
    ],
  });
  await database.nodes.createTable({ name: 'Room', key: { name: 'number', type: 'INTEGER' }, columns: [] });
  const calls = await database.createTable({ name: 'calls', memberTables: ['Person'], roles: ['sender', 'recipient'] });
  const stays = await database.createTable({ name: 'stays', memberTables: ['Person', 'Room'], intervals: true });
  const bulk = calls.bulk();
  bulk.add({ event_ts: 1, members: { sender: ['Ada'], recipient: ['Grace'] } as never });
  bulk.add({ event_ts: 2, members: { sender: ['Grace'], recipient: ['Ada', ODD] } as never });
  for (const [at, name] of PEOPLE.entries()) bulk.add({ event_ts: 10 + at, members: [name] });
  await bulk.commit();
  const room = (number: number) => ({ kind: 'Room', key: number });
  const person = (key: string) => ({ kind: 'Person', key });
  const more = stays.bulk();
  more.add({ event_ts: 5, members: [person('Ada'), room(7)], properties: { end_ts: 20 } });
  more.add({ event_ts: 8, members: [person('Alan'), room(7)] });
  await more.commit();
}

async function places(): Promise<{ directory: Session; server: Session; readonly: Session }> {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-mcp-nodes-'));
  closers.push(async () => rmSync(dir, { recursive: true, force: true }));
  const database = await openDatabase({ dir, memoryBudgetMb: 64 });
  await fill(database);
  await database.close();
  const server = await startServer({ auth: true });
  closers.push(() => server.close());
  await fill(server.database);
  const begin = async (flags: Parameters<typeof beginHere>[0]) => {
    const session = await beginHere(flags);
    closers.push(() => session.client.close());
    return session;
  };
  return {
    directory: await begin({ data: dir, allowWrites: true }),
    server: await begin({ url: server.url, apiKey: server.keys.readwrite, allowWrites: true }),
    readonly: await begin({ url: server.url, apiKey: server.keys.readonly, allowWrites: true }),
  };
}

async function called({ call }: Session, name: string, given: Record<string, unknown>): Promise<Value> {
  const { value, text, isError } = await call(name, given);
  expect(isError, text).toBe(false);
  return value;
}

async function refused({ call }: Session, name: string, given: Record<string, unknown>): Promise<[string, string]> {
  const { value, text, isError } = await call(name, given);
  expect([name, isError]).toEqual([name, true]);
  return [value.code, text];
}

async function readNodes(session: Session): Promise<void> {
  const { node_tables } = await called(session, 'list_node_tables', {});
  expect(node_tables).toEqual([
    {
      name: 'Person',
      key: { name: 'name', type: 'TEXT' },
      columns: [
        { name: 'city', type: 'TEXT' },
        { name: 'born', type: 'INTEGER' },
      ],
      row_count: PEOPLE.length,
      member_of: ['calls', 'stays'],
    },
    { name: 'Room', key: { name: 'number', type: 'INTEGER' }, columns: [], row_count: 1, member_of: ['stays'] },
  ]);
  for (const key of PEOPLE.filter((name) => name !== '..'))
    expect(await called(session, 'read_node', { table: 'PERSON', key })).toEqual({
      table: 'Person',
      key,
      node: { name: key, city: 'Rome', born: null },
    });
  expect((await called(session, 'read_node', { table: 'Room', key: 7 })).node).toEqual({ number: 7 });
  for (const filter of [{}, { where: { CITY: 'Rome', born: null } }, { contains: '' }]) {
    const keys: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await called(session, 'list_nodes', {
        table: 'Person',
        limit: 4,
        ...filter,
        ...(cursor && { cursor }),
      });
      expect([page.table, page.key, page.num_tuples]).toEqual(['Person', 'name', page.nodes.length]);
      keys.push(...page.nodes.map((node: Value) => node.name));
      cursor = page.next_cursor ?? undefined;
      expect(page.hint === undefined).toBe(cursor === undefined);
    } while (cursor !== undefined);
    expect(keys).toEqual(IN_ORDER);
  }
  const found = async (given: object) =>
    (await called(session, 'list_nodes', { table: 'Person', ...given })).nodes.map((node: Value) => node.name);
  expect(await found({ contains: 'da' })).toEqual(['Ada', 'ada']);
  expect(await found({ contains: '" <' })).toEqual([ODD]);
  expect(await found({ where: { name: '..' } })).toEqual(['..']);
  expect(await found({ where: { born: 3 } })).toEqual([]);
}

async function lookUp(session: Session): Promise<void> {
  const times = async (given: object) => {
    const answer = await called(session, 'node', given as Record<string, unknown>);
    return answer.hyperedges.map((edge: Value) => edge.event_ts);
  };
  expect(await times({ table: 'calls', node: 'Ada' })).toEqual([1, 2, 10]);
  expect(await times({ table: 'calls', node_id: 'Ada', role: 'sender' })).toEqual([1]);
  expect(await times({ table: 'calls', node: ODD, kind: 'person', role: 'recipient' })).toEqual([2]);
  expect(await times({ table: 'stays', node: 7, kind: 'Room' })).toEqual([5, 8]);
  expect(await times({ table: 'stays', node: 7, kind: 'Room', at: 25 })).toEqual([8]);
  expect(await times({ table: 'stays', node: 'Ada', kind: 'Person', at: '1970-01-01T00:00:10Z' })).toEqual([5]);
  const shown = await called(session, 'node', { table: 'stays', node: 'Ada', kind: 'PERSON' });
  expect(shown).toMatchObject({ node: 'Ada', node_id: 'Ada', kind: 'Person', name: 'Ada', table: 'stays' });
  expect(shown.hyperedges[0].members).toEqual([
    { kind: 'Person', key: 'Ada' },
    { kind: 'Room', key: 7 },
  ]);
  const unknown = await called(session, 'node', { table: 'calls', node: 'ADA' });
  expect(unknown.hyperedges).toEqual([]);
  expect(unknown.hint).toMatch(/list_nodes with table Person and contains/);
  const numbers = await called(session, 'node', { table: 'hyperedges', node: 5 });
  expect(numbers).toMatchObject({ node: 5, node_id: 5, kind: null, name: null, num_tuples: 0 });
  const held = await called(session, 'range', { table: 'stays', at: 25 });
  expect(held.hyperedges.map((edge: Value) => edge.event_ts)).toEqual([8]);

  const { tables } = await called(session, 'list_tables', {});
  expect(tables.map((table: Value) => [table.name, table.intervals, table.roles])).toEqual([
    ['calls', false, ['sender', 'recipient']],
    ['hyperedges', false, []],
    ['stays', true, []],
  ]);
  const directed = { table: 'calls', measure: 'node_degree', params: { from: 'recipient', to: 'sender', end_ts: 5 } };
  expect((await called(session, 'run_measure', directed)).rows).toEqual(
    expect.arrayContaining([
      { id: 'Ada', value: 1 },
      { id: ODD, value: 1 },
    ]),
  );
  const ofKinds = await called(session, 'run_measure', { table: 'stays', measure: 'node_degree' });
  expect(ofKinds.rows[0]).toEqual({ id: 'Room:7', value: 2 });
}

async function beRefused(session: Session): Promise<void> {
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ['node', { table: 'calls' }, /^node is missing: give the key of the node/],
    ['node', { table: 'calls', node: 'Ada', node_id: 'Alan' }, /name different nodes; leave node_id out/],
    ['node', { table: 'stays', node: 'Ada' }, /members of stays are nodes of Person, Room: say in kind which/],
    ['node', { table: 'stays', node: 'Ada', kind: 'Pet' }, /nodes of Person, Room: kind cannot be "Pet"/],
    ['node', { table: 'hyperedges', node: 1, kind: 'Person' }, /Nodes of hyperedges are numbers.*leave kind out/],
    ['node', { table: 'stays', node: 'seven', kind: 'Room' }, /must be an integer/],
    [
      'node',
      { table: 'calls', node: '..' },
      /Take query: MATCH \(e:calls\) WHERE node\(Person, '\.\.'\) IN e\.members/,
    ],
    ['node', { table: 'calls', node: 'Ada', role: 'boss' }, /role/],
    ['node', { table: 'calls', node: 'Ada', at: 3 }, /interval/],
    ['read_node', { table: 'people', key: 'Ada' }, /no node table "people"; there are Person, Room/],
    ['read_node', { table: 'Person', key: 'Nobody' }, /with the key "Nobody".*list_nodes finds them/],
    ['read_node', { table: 'Person', key: 5 }, /5/],
    ['read_node', { table: 'Room', key: 'x' }, /must be an integer/],
    ['read_node', { table: 'Person', key: '.' }, /Take query: MATCH \(n:Person\) WHERE n\.name = '\.'/],
    ['read_node', { table: 'Person', key: 1.5 }, /^key must be an integer/],
    ['list_nodes', { table: 'Room', contains: '7' }, /keys of Room are integers, so contains does not apply/],
    [
      'list_nodes',
      { table: 'Person', where: { age: 3 } },
      /where names "age", but the columns of Person are name, city, born/,
    ],
    ['list_nodes', { table: 'Person', where: { born: 3 }, cursor: 'x' }, /start again without it/],
    ['list_nodes', { table: 'Person', cursor: 'x' }, /cursor/],
    ['write_nodes', { table: 'Person', nodes: [{ name: 'New' }, { name: '' }] }, /line 2.*empty/i],
    ['write_nodes', { table: 'Person', nodes: [{ name: 'New', age: 3 }] }, /age is not a column of Person/],
    ['write_nodes', { table: 'Person', nodes: [] }, /must hold at least one node/],
    ['write_nodes', { table: 'Person', nodes: [{ city: 'Oslo' }] }, /name.*missing/],
    ['update_node', { table: 'Person', key: 'Nobody', attributes: { born: 1 } }, /with the key "Nobody"/],
    ['update_node', { table: 'Person', key: 'Ada', attributes: { name: 'Bea' } }, /cannot be changed/],
    ['update_node', { table: 'Person', key: 'Ada', attributes: { born: 'old' } }, /born/],
    ['delete_node', { table: 'Person', key: 'Ada' }, /edge/],
    ['delete_node', { table: 'Person', key: 'Nobody' }, /with the key "Nobody"/],
  ];
  for (const [name, given, sentence] of cases) {
    const [code, text] = await refused(session, name, given);
    expect(text).toMatch(sentence);
    expect(code).toMatch(/^[a-z_]+$/);
  }
  expect((await refused(session, 'delete_node', { table: 'Person', key: 'Ada' }))[0]).toBe('node_in_use');
  expect((await called(session, 'list_nodes', { table: 'Person', contains: 'New' })).nodes).toEqual([]);
}

async function write(session: Session): Promise<void> {
  const nodes = [{ name: 'Zoe', born: 1990 }, { name: 'Éva', city: 'Nice' }, { name: '.' }];
  expect(await called(session, 'write_nodes', { table: 'person', nodes })).toEqual({
    table: 'Person',
    keys: ['Zoe', 'Éva', '.'],
    inserted: 2,
    replaced: 1,
  });
  const patched = await called(session, 'update_node', { table: 'Person', key: 'Zoe', attributes: { city: 'Oslo' } });
  expect(patched).toEqual({ table: 'Person', key: 'Zoe', node: { name: 'Zoe', city: 'Oslo', born: 1990 } });
  expect((await called(session, 'read_node', { table: 'Person', key: 'Éva' })).node.city).toBe('Nice');
  expect(await called(session, 'delete_node', { table: 'Person', key: 'Zoe' })).toEqual({
    table: 'Person',
    key: 'Zoe',
    deleted: true,
  });
  await called(session, 'query', { statement: "DELETE FROM stays WHERE node(Person, 'Alan') IN members" });
  await called(session, 'query', { statement: "DELETE FROM calls WHERE 'Alan' IN members" });
  expect((await called(session, 'delete_node', { table: 'Person', key: 'Alan' })).deleted).toBe(true);
  expect((await refused(session, 'read_node', { table: 'Person', key: 'Alan' }))[0]).toBe('node_not_found');
}

describe('nodes of node tables', () => {
  test('are read, looked up and written in a directory and with a server alike', async () => {
    const { directory, server } = await places();
    for (const session of [directory, server]) {
      await readNodes(session);
      await lookUp(session);
      await beRefused(session);
      await write(session);
      expect([session.strays, session.errors()]).toEqual([[], '']);
    }
  });

  test('are written only with a key that may write, and only with --allow-writes', async () => {
    const { readonly, server } = await places();
    await readNodes(readonly);
    for (const [name, given] of [
      ['write_nodes', { table: 'Person', nodes: [{ name: 'Zoe' }] }],
      ['update_node', { table: 'Person', key: 'Ada', attributes: { born: 1 } }],
      ['delete_node', { table: 'Person', key: 'p1' }],
    ] as const) {
      const [code, text] = await refused(readonly, name, given);
      expect([code, text]).toEqual(['forbidden', expect.stringMatching(/needs the role readwrite/)]);
    }
    const { tools } = await server.client.listTools();
    const hints = (wanted: string) => tools.find(({ name }) => name === wanted)?.annotations;
    for (const name of ['write_nodes', 'update_node', 'delete_node'])
      expect(hints(name)).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    const dir = mkdtempSync(join(tmpdir(), 'hedgerow-mcp-nodes-'));
    closers.push(async () => rmSync(dir, { recursive: true, force: true }));
    const reader = await beginHere({ data: dir });
    closers.push(() => reader.client.close());
    const names = (await reader.client.listTools()).tools.map(({ name }) => name);
    expect(names.filter((name) => /write|update|delete|insert/.test(name))).toEqual([]);
    const none = await called(reader, 'list_node_tables', {});
    expect([none.node_tables, none.hint]).toEqual([[], expect.stringMatching(/no node tables: nodes are numbers/)]);
    expect((await refused(reader, 'list_nodes', { table: 'Person' }))[1]).toMatch(/there is none: list_tables/);
  });
});
