// `hedgerow analyze` on a data directory and on a server: formats, parameters and user errors.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type AnalyzeFlags, analyzeCommand } from '../../src/cli/analyze/command.ts';
import { measureParametersOf } from '../../src/cli/analyze/parameters.ts';
import { largestFirst, rowsOf } from '../../src/cli/analyze/rows.ts';
import { UsageError } from '../../src/cli/world.ts';
import { insertAll } from '../analytics/edges.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { lookInto, TestWorld } from './support.ts';

const EDGES = [
  { event_ts: 1, members: [1, 2, 3], weight: null },
  { event_ts: 2, members: [2, 3], weight: null },
];

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

async function analyze(flags: AnalyzeFlags, table?: string, measure?: string): Promise<number> {
  world.out = '';
  world.err = '';
  return analyzeCommand(table, measure, flags, world);
}

describe('analyze on a data directory and on a server', () => {
  let server: TestServer;
  let places: AnalyzeFlags[];
  beforeEach(async () => {
    await lookInto(world.path('db'), async (database) => insertAll(database.table(), EDGES));
    server = await startServer();
    await insertAll(server.database.table(), EDGES);
    places = [{ data: 'db' }, { url: server.url }];
  });
  afterEach(() => server.close());

  test('prints a measure as JSON or as the rows of its result', async () => {
    for (const place of places) {
      expect(await analyze(place, 'hyperedges', 'node_degree'), world.err).toBe(0);
      expect(JSON.parse(world.out)).toMatchObject({ measure: 'node_degree', result: { 1: 1, 2: 2, 3: 2 } });
      expect(await analyze({ ...place, format: 'csv' }, 'hyperedges', 'node_degree')).toBe(0);
      expect(world.out).toBe('"id","value"\n1,1\n2,2\n3,2\n');
      const two = { ...place, param: ['s=2', 'on=nodes'], params: '{"s": 1}', format: 'ndjson' };
      expect(await analyze(two, 'hyperedges', 's_adjacency')).toBe(0);
      expect(world.out).toBe('{"a":2,"b":3,"value":2}\n');
    }
  });

  test('sorts the largest values in descending order, and equal values by id', async () => {
    const hub = [{ event_ts: 3, members: [9, 2, 3], weight: null }];
    await lookInto(world.path('db'), async (database) => insertAll(database.table(), hub));
    await insertAll(server.database.table(), hub);
    for (const place of places) {
      for (const param of ['top=3', 'limit=3']) {
        expect(await analyze({ ...place, param: [param], format: 'csv' }, 'hyperedges', 'node_degree')).toBe(0);
        expect(world.out).toBe('"id","value"\n2,3\n3,3\n1,1\n');
      }
      expect(await analyze({ ...place, param: ['top=2'], format: 'table' }, 'hyperedges', 'edge_size')).toBe(0);
      const rows = world.out.split('\n').map((line) => line.match(/\d+/g)?.join(' '));
      expect(rows.filter((row) => row?.includes(' '))).toEqual(['1 3', '3 3']);
    }
  });

  test('lists the measures when no table is given', async () => {
    for (const place of places) {
      expect(await analyze({ ...place, format: 'csv' })).toBe(0);
      expect(world.out.trimEnd().split('\n')).toHaveLength(26);
    }
  });

  test('reports an error in one line', async () => {
    for (const place of places) {
      expect(await analyze(place, 'hyperedges', 'densty')).toBe(1);
      expect(world.err).toMatch(/^hedgerow: .*densty.*density/);
      expect(await analyze(place, 'nope', 'density')).toBe(1);
      expect(world.err).toMatch(/nope/);
      expect(await analyze({ ...place, param: ['s=0'] }, 'hyperedges', 's_diameter')).toBe(1);
      expect(world.err).toMatch(/Parameter s/);
      expect(await analyze(place, 'hyperedges')).toBe(2);
    }
  });
});

test('parameters are parsed as JSON, or taken as text when they are not JSON', () => {
  expect(measureParametersOf(['s=2', 'kind=jaccard', 'weighted=true'], '{"s":1,"top":3}')).toEqual({
    s: 2,
    kind: 'jaccard',
    weighted: true,
    top: 3,
  });
  for (const pairs of [['s'], ['=2'], ['s=1', 's=2']])
    expect(() => measureParametersOf(pairs, undefined)).toThrow(UsageError);
  for (const json of ['[1]', '5', '{']) expect(() => measureParametersOf([], json)).toThrow(UsageError);
});

test('results of every shape are shown as rows', () => {
  expect(rowsOf(0.5, 'some')).toEqual([{ value: 0.5 }]);
  expect(rowsOf(null, 'some')).toEqual([{ value: null }]);
  expect(rowsOf({ '-3': 0.5, 7: null }, 'some')).toEqual([
    { id: 7, value: null },
    { id: -3, value: 0.5 },
  ]);
  expect(rowsOf({ 4: { B: 1, intervals: 2 } }, 'some')).toEqual([{ id: 4, B: 1, intervals: 2 }]);
  expect(rowsOf({ value: 3, exact: true }, 'some')).toEqual([{ value: 3, exact: true }]);
  expect(rowsOf({}, 'some')).toEqual([]);
  expect(rowsOf([5, 6], 'some')).toEqual([{ id: 5 }, { id: 6 }]);
  expect(rowsOf([[1, 2, 3]], 'some')).toEqual([{ a: 1, b: 2, value: 3 }]);
  expect(rowsOf([[1, 2, 3]], 's_connected_components')).toEqual([{ size: 3, members: [1, 2, 3] }]);
  expect(rowsOf([{ ts: 1, count: 2 }], 'some')).toEqual([{ ts: 1, count: 2 }]);
});

test('values are ranked with null last, and results that do not map ids to values keep their order', () => {
  const ranked = (result: unknown) => largestFirst(rowsOf(result, 'some'), result);
  expect(ranked({ 1: null, 4: 2, 7: 5, '-2': 2 }).map(({ id }) => id)).toEqual([7, -2, 4, 1]);
  expect(ranked({ 1: { B: 1 }, 2: { B: 5 } }).map(({ id }) => id)).toEqual([1, 2]);
  expect(
    ranked([
      [1, 2, 3],
      [1, 3, 9],
    ]).map(({ b }) => b),
  ).toEqual([2, 3]);
});
