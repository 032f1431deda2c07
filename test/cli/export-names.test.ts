// Exports of named tables and node tables, and their import into another directory.

import { readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { HIF_SCHEMA } from './hif-schema.ts';
import { keyRowsOf, lookInto, nodeRowsOf, TestWorld } from './support.ts';

const isHif = new Ajv({ strict: false, allErrors: true }).compile(HIF_SCHEMA);

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

const NAMES = ['Ada', 'ada', 'a;b', 'a, b', 'O\'Neil "Bob"', 'שלום', '👩‍👩‍👧', ' spaced ', 'NULL', '7', '[1]', '.'];

/** Orders the fields of objects, for JSON.stringify. */
function inOrder(_key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Returns the edges without ids, with sorted members, and the nodes by name. */
async function stored(dir: string, table: string, nodes: readonly string[]) {
  return lookInto(world.path(dir), (database) => ({
    edges: keyRowsOf(database, table).map(({ id: _, members, ...row }) => ({
      ...row,
      members: (members as unknown[]).map((member) => JSON.stringify(member)).sort(),
    })),
    nodes: nodes.map((name) =>
      nodeRowsOf(database, name)
        .map((row) => JSON.stringify(row))
        .sort(),
    ),
  }));
}

async function fill(names: readonly string[] = NAMES): Promise<void> {
  const lines = names.map((name, at) =>
    JSON.stringify({ event_ts: at, members: [name, names[at >> 1]], note: `n${at}` }),
  );
  world.file('t.ndjson', `${lines.join('\n')}\n`);
  const people = names.map((name, at) => JSON.stringify({ name, age: at % 3 === 0 ? null : at, city: `c;${at}` }));
  world.file('people.ndjson', `${people.join('\n')}\n{"name":"alone","age":99}\n`);
  const flags = { data: 'a', table: 't', create: true, nodes: 'people.ndjson', nodeTable: 'Person' };
  expect(await importCommand(['t.ndjson'], flags, world), world.err).toBe(0);
}

test.each(['csv', 'ndjson', 'parquet'])('edges and nodes come back from %s', async (format) => {
  // Spaces around a name in a cell of CSV do not count.
  await fill(format === 'csv' ? NAMES.filter((name) => name === name.trim()) : NAMES);
  for (const table of ['t', 'Person'])
    expect(await exportCommand({ data: 'a', table, out: `${table}.out.${format}` }, world), world.err).toBe(0);
  const flags = { data: 'b', table: 't', create: true, nodes: `Person.out.${format}`, nodeTable: 'Person' };
  const types = format === 'ndjson' ? {} : { tsFormat: 's' };
  expect(await importCommand([`t.out.${format}`], { ...flags, ...types }, world), world.err).toBe(0);
  expect(await stored('b', 't', ['Person'])).toEqual(await stored('a', 't', ['Person']));
});

test.each(['csv', 'ndjson', 'parquet'])('members of several kinds come back from %s', async (format) => {
  const lines = [
    {
      event_ts: 1,
      members: [
        { kind: 'Person', key: 'a;"b", c' },
        { kind: 'Room', key: 5 },
      ],
    },
    { event_ts: 2, members: [{ kind: 'Person', key: 'Ada' }] },
  ];
  world.file('t.ndjson', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect(await importCommand(['t.ndjson'], { data: 'a', table: 't', create: true }, world), world.err).toBe(0);
  expect(await exportCommand({ data: 'a', table: 't', out: `t.out.${format}` }, world), world.err).toBe(0);
  const flags = { data: 'b', table: 't', create: true, ...(format === 'ndjson' ? {} : { tsFormat: 's' }) };
  expect(await importCommand([`t.out.${format}`], flags, world), world.err).toBe(0);
  const kinds = ['Person', 'Room'];
  expect(await stored('b', 't', kinds)).toEqual(await stored('a', 't', kinds));
});

test('HIF keeps names, attributes of nodes and nodes without an edge', async () => {
  await fill();
  expect(await exportCommand({ data: 'a', table: 't', out: 't.hif' }, world), world.err).toBe(0);
  const written = JSON.parse(readFileSync(world.path('t.hif'), 'utf8'));
  expect(isHif(written), JSON.stringify(isHif.errors)).toBe(true);
  expect(written.nodes).toHaveLength(NAMES.length + 1);
  expect(written.nodes.find(({ node }: { node: string }) => node === 'alone')).toEqual({
    node: 'alone',
    attrs: { age: 99 },
  });
  world.err = '';
  expect(await importCommand(['t.hif'], { data: 'b', table: 't', create: true }, world), world.err).toBe(0);
  expect(world.err).toBe('');
  expect(await exportCommand({ data: 'b', table: 't', out: 'again.hif' }, world), world.err).toBe(0);
  // The order of edges, and so their ids, may differ; here the time tells them apart.
  const timeOf = (document: { edges: { edge: number; attrs: { event_ts: number } }[] }) =>
    new Map(document.edges.map(({ edge, attrs }) => [edge, attrs.event_ts]));
  const sorted = (list: readonly object[]) => list.map((each) => JSON.stringify(each, inOrder)).sort();
  const contentOf = (document: Parameters<typeof timeOf>[0] & Record<'nodes' | 'incidences', object[]>) => {
    const times = timeOf(document);
    const named = (each: { edge?: number }) => ({ ...each, edge: times.get(each.edge!) });
    return [sorted(document.nodes), sorted(document.edges.map(named)), sorted(document.incidences.map(named))];
  };
  const again = JSON.parse(readFileSync(world.path('again.hif'), 'utf8'));
  expect(contentOf(again)).toEqual(contentOf(written));
});

test('a node table has no times, and is no hypergraph', async () => {
  await fill();
  expect(await exportCommand({ data: 'a', table: 'Person', start: '1' }, world)).toBe(1);
  expect(world.err).toMatch(/node table, whose nodes have no time/);
  expect(await exportCommand({ data: 'a', table: 'Person', format: 'hif' }, world)).toBe(1);
  expect(world.err).toMatch(/node table, and hif holds edges/);
});
