// Imports and exports of named tables with roles and intervals: members of roles are keys.

import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { startServer } from '../http/support.ts';
import { keyRowsOf, lookInto, nodeRowsOf, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

type Flags = Record<string, string | boolean | readonly string[]>;

const CALLS = 'ts,from,to,till,topic\n1,Ada,Bob;Cyd,5,lunch\n2,Bob,Ada,,\n';
const FLAGS: Flags = { role: ['sender=from', 'recipient=to'], endColumn: 'till' };
const STORED = [
  {
    event_ts: 1,
    members: ['Ada', 'Bob', 'Cyd'],
    roles: { sender: ['Ada'], recipient: ['Bob', 'Cyd'] },
    end_ts: 5,
    topic: 'lunch',
  },
  { event_ts: 2, members: ['Ada', 'Bob'], roles: { sender: ['Bob'], recipient: ['Ada'] } },
];
const SHAPE = { nodes: 'named', member_tables: ['t_node'], roles: ['sender', 'recipient'], intervals: true };

const importInto = (path: string, flags: Flags = {}) =>
  importCommand([path], { data: 'db', table: 't', create: true, ...flags }, world);
const exportTo = (out: string, flags: Flags = {}) =>
  exportCommand({ data: 'db', table: 't', out, ...flags } as Parameters<typeof exportCommand>[0], world);

/** Returns the stored rows without ids and nulls. */
const stored = (table = 't') =>
  lookInto(world.path('db'), (database) =>
    keyRowsOf(database, table).map(({ id: _id, ...row }) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)),
    ),
  );
const shape = (table = 't') => lookInto(world.path('db'), (database) => database.table(table).item());
const nodes = (table: string) => lookInto(world.path('db'), (database) => nodeRowsOf(database, table));

describe('a named table with roles and intervals', () => {
  test('is made of CSV, and takes a second file by the names of its roles', async () => {
    world.file('calls.csv', CALLS);
    expect(await importInto('calls.csv', { ...FLAGS, dryRun: true }), world.err).toBe(0);
    for (const line of [
      'table: t at .*, will be made',
      '  with the roles sender, recipient',
      '  with intervals',
      'node table: t_node, key name TEXT, will be made',
      '  end: till .*',
      String.raw`  role: sender from from \(.*; names\)`,
    ])
      expect(world.out).toMatch(new RegExp(`^${line}$`, 'm'));
    expect(world.out).not.toContain('bad rows');
    expect(await importInto('calls.csv', FLAGS), world.err).toBe(0);
    expect(await shape()).toMatchObject(SHAPE);
    expect(await stored()).toEqual(STORED);
    expect(await nodes('t_node')).toEqual([{ name: 'Ada' }, { name: 'Bob' }, { name: 'Cyd' }]);
    world.file('more.csv', 'event_ts,Sender,recipient,end_ts\n9,Zoë,Ada,11\n');
    expect(await importInto('more.csv', { create: false }), world.err).toBe(0);
    expect((await stored()).at(-1)).toEqual({
      event_ts: 9,
      members: ['Ada', 'Zoë'],
      roles: { sender: ['Zoë'], recipient: ['Ada'] },
      end_ts: 11,
    });
  });

  test('is made at a server, which rejects rows by their roles and ends', async () => {
    const server = await startServer();
    try {
      world.file('calls.csv', `${CALLS}9,Ada,Bob,3,x\n`);
      const flags = { ...FLAGS, url: server.url, table: 't', create: true, onError: 'skip' };
      expect(await importCommand(['calls.csv'], flags, world), world.err).toBe(0);
      expect(server.database.table('t').item()).toMatchObject(SHAPE);
      const rows = keyRowsOf(server.database, 't').map(({ members, roles, end_ts }) => ({ members, roles, end_ts }));
      expect(rows).toEqual(
        STORED.map(({ members, roles, end_ts = null }) => expect.objectContaining({ members, roles, end_ts })),
      );
      expect(world.objects('calls.csv.rejects.ndjson')).toHaveLength(1);
    } finally {
      await server.close();
    }
  });

  test('is made of NDJSON whose roles alone have names', async () => {
    const lines = STORED.map(
      ({ roles, members: _members, ...others }) => `${JSON.stringify({ ...others, ...roles })}\n`,
    );
    world.file('calls.ndjson', lines.join(''));
    const flags = { role: ['sender', 'recipient'], endColumn: 'end_ts' };
    expect(await importInto('calls.ndjson', { ...flags, dryRun: true }), world.err).toBe(0);
    expect(world.out).toContain('node table: t_node, key name TEXT, will be made');
    expect(await importInto('calls.ndjson', flags), world.err).toBe(0);
    expect(await shape()).toMatchObject({ ...SHAPE, columns: [{ name: 'topic', type: 'TEXT' }] });
    expect(await stored()).toEqual(STORED);
  });

  test('has no role and no intervals if it was made without', async () => {
    world.file('plain.csv', 'ts,from,to\n1,Ada,Bob\n');
    expect(await importInto('plain.csv'), world.err).toBe(0);
    world.file('calls.csv', CALLS);
    expect(await importInto('calls.csv', { endColumn: 'till', memberColumns: 'from,to' })).toBe(1);
    expect(world.err).toMatch(/Table t has no intervals/);
    expect(await importInto('calls.csv', { role: ['sender=from'] })).toBe(1);
    expect(world.err).toMatch(/Table t has no roles/);
  });

  test('of several kinds keeps the kinds of members in roles', async () => {
    const [ada, room] = [
      { kind: 'Person', key: 'Ada' },
      { kind: 'Room', key: 5 },
    ];
    world.file('k.ndjson', `${JSON.stringify({ event_ts: 1, host: [ada], members: [room] })}\n`);
    expect(await importInto('k.ndjson', { role: ['host'] }), world.err).toBe(0);
    const expected = [{ event_ts: 1, members: [ada, room], roles: { host: [ada] } }];
    const sorted = async (table: string) =>
      (await stored(table)).map((row) => ({ ...row, members: [...(row.members as (typeof ada)[])].sort(byKind) }));
    const byKind = (a: { kind: string }, b: { kind: string }) => a.kind.localeCompare(b.kind);
    expect(await sorted('t')).toEqual(expected);
    for (const format of ['csv', 'ndjson', 'parquet']) {
      expect(await exportTo(`k2.${format}`), world.err).toBe(0);
      expect(await importInto(`k2.${format}`, { table: format, role: ['host'] }), world.err).toBe(0);
      expect(await sorted(format)).toEqual(expected);
      expect((await shape(format)).member_tables.toSorted()).toEqual(['Person', 'Room']);
    }
    expect(await exportTo('k.hif'), world.err).toBe(0);
    const { incidences, nodes: listed } = JSON.parse(readFileSync(world.path('k.hif'), 'utf8'));
    expect(incidences).toContainEqual({ edge: 1, node: 'Person:Ada', attrs: { role: 'host' } });
    expect(incidences).toContainEqual({ edge: 1, node: 'Room:5' });
    expect(listed.map(({ node }: { node: string }) => node)).toEqual(['Person:Ada', 'Room:5']);
  });

  test.each(['csv', 'ndjson', 'parquet'])('is the same after an export and an import as %s', async (format) => {
    world.file('calls.csv', CALLS);
    expect(await importInto('calls.csv', FLAGS), world.err).toBe(0);
    expect(await exportTo(`out.${format}`), world.err).toBe(0);
    const flags = { role: ['sender=sender', 'recipient=recipient'], endColumn: 'end_ts', table: 'u' };
    expect(await importInto(`out.${format}`, flags), world.err).toBe(0);
    expect(await stored('u')).toEqual(STORED);
    expect(await shape('u')).toMatchObject({ ...SHAPE, member_tables: ['u_node'] });
  });
});

const DOCUMENT = {
  'network-type': 'directed',
  nodes: [
    { node: 'ann', weight: 2, attrs: { age: 7 } },
    { node: 'lone', attrs: { age: 9, city: 'Rome' } },
  ],
  edges: [
    { edge: 'first', attrs: { event_ts: 5, end_ts: 8, topic: 'x' } },
    { edge: 'second', attrs: { event_ts: 6 } },
  ],
  incidences: [
    { edge: 'first', node: 'ann', direction: 'tail' },
    { edge: 'first', node: 'bob', direction: 'head' },
    { edge: 'second', node: 'bob', direction: 'tail', attrs: { role: 'chair' } },
    { edge: 'second', node: 'cyd' },
  ],
};

test('HIF with directions, roles, names, attributes of nodes and ends is the same after a round trip', async () => {
  world.file('x.hif', JSON.stringify(DOCUMENT));
  expect(await importInto('x.hif', { dryRun: true }), world.err).toBe(0);
  expect(world.out).toContain('  with intervals\n');
  expect(world.out).not.toContain('column end_ts');
  expect(world.out).not.toContain('warning:');
  expect(await importInto('x.hif'), world.err).toBe(0);
  // Nothing is lost.
  expect(world.err).toBe('');
  const edges = [
    {
      event_ts: 5,
      members: ['ann', 'bob'],
      roles: { tail: ['ann'], head: ['bob'], chair: [] },
      end_ts: 8,
      topic: 'x',
      edge: 'first',
    },
    { event_ts: 6, members: ['bob', 'cyd'], roles: { tail: ['bob'], head: [], chair: ['bob'] }, edge: 'second' },
  ];
  const attributes = [
    { node: 'ann', weight: 2, age: 7, city: null },
    { node: 'lone', weight: null, age: 9, city: 'Rome' },
    { node: 'bob', weight: null, age: null, city: null },
    { node: 'cyd', weight: null, age: null, city: null },
  ];
  expect(await stored()).toEqual(edges);
  expect(await nodes('t_node')).toEqual(attributes);
  expect(await exportTo('own.hif'), world.err).toBe(0);
  world.err = '';
  expect(await importInto('own.hif', { table: 'u' }), world.err).toBe(0);
  expect(world.err).toBe('');
  expect(await stored('u')).toEqual(edges);
  expect(await nodes('u_node')).toEqual(attributes);
  expect(await shape('u')).toMatchObject({ intervals: true, member_tables: ['u_node'] });
  expect(JSON.parse(readFileSync(world.path('own.hif'), 'utf8'))['network-type']).toBe('directed');
});

test('HIF names the directions and attributes of nodes that a table of numbers loses', async () => {
  world.file('x.hif', JSON.stringify(DOCUMENT));
  await lookInto(world.path('db'), async (database) => {
    await database.createTable({ name: 't', roles: ['chair'] });
    await database.createTable({ name: 't_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
  });
  expect(await importInto('x.hif', { propertyColumns: 'topic' }), world.err).toBe(0);
  expect(world.err).toMatch(/the direction of 3 incidences, the weight of 1 node, the attributes of 2 nodes/);
  expect(world.err).toMatch(/the network-type directed/);
  expect(world.err).not.toMatch(/the role/);
});
