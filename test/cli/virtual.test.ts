// `hedgerow virtual` against a test server, over a CSV file and a DuckDB file: every command, its
// formats and its user errors.

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { runProgram } from '../../src/cli/program.ts';
import { type VirtualFlags, virtualCommand } from '../../src/cli/virtual/command.ts';
import { jsonObject } from '../../src/cli/virtual/json-text.ts';
import type { VirtualTaskName } from '../../src/cli/virtual/tasks.ts';
import { VIRTUAL_TASKS } from '../../src/cli/virtual/tasks.ts';
import { VIRTUAL_USAGE } from '../../src/cli/virtual/usage.ts';
import { parseSpec } from '../../src/virtual/spec/spec.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { DUCKDB_MISSING, openDuckDb } from '../support/duckdb.ts';
import { rowsOf, stream, TestWorld } from './support.ts';
import { CSV_TRIPS, DUCKDB_TRIPS, writeTrips } from './virtual-files.ts';

const duckdb = await openDuckDb();
duckdb?.close();
if (duckdb === undefined) process.stderr.write(`hedgerow virtual: skipped, ${DUCKDB_MISSING}\n`);

const ALL = 'MATCH (t:Trip){origin:Place, target:Place} RETURN t';

let world: TestWorld;
let server: TestServer;
beforeAll(async () => {
  world = new TestWorld();
  await writeTrips(world.path('root'));
  world.file('trips.json', JSON.stringify(CSV_TRIPS));
  world.file('bank.json', JSON.stringify(DUCKDB_TRIPS));
  server = await startServer({ virtualRoot: world.path('root') });
});
afterAll(async () => {
  await server.close();
  world.remove();
});

async function run(name: VirtualTaskName, args: string[] = [], flags: VirtualFlags = {}, at = world): Promise<number> {
  at.out = '';
  at.err = '';
  return virtualCommand(name, args, { url: server.url, ...flags }, at);
}

/** Returns the output of a command that must succeed. */
async function output(name: VirtualTaskName, args: string[] = [], flags: VirtualFlags = {}): Promise<string> {
  expect(await run(name, args, flags), world.err).toBe(0);
  return world.out;
}

describe.skipIf(duckdb === undefined)('virtual', () => {
  beforeEach(async () => {
    await run('delete', ['trips']);
    await run('delete', ['bank']);
    expect(await run('create', ['trips.json']), world.err).toBe(0);
    expect(await run('create', ['bank.json']), world.err).toBe(0);
  });

  test('creates, lists, shows, replaces and deletes graphs', async () => {
    expect(await output('list', [], { format: 'csv' })).toBe(
      '"id","name","backend_type","edge_labels","node_labels","spec_version"\n' +
        '"trips","Trips","csv","[""Trip""]","[""Place""]",1\n' +
        '"bank","bank","duckdb","[""Trip"",""Ride""]","[""Place"",""Rider""]",1\n',
    );
    expect(JSON.parse(await output('list')).graphs).toHaveLength(2);
    expect(JSON.parse(await output('show', ['trips']))).toEqual({ ...CSV_TRIPS, spec_version: 1 });
    world.stdin = stream([JSON.stringify({ ...CSV_TRIPS, name: 'New' })]);
    expect(await output('replace', ['trips', '-'])).toBe('trips is stored, version 2.\n');
    expect(JSON.parse(await output('replace', ['trips', 'trips.json'], { json: true }))).toMatchObject({
      name: 'Trips',
      spec_version: 3,
    });
    expect(await run('create', ['trips.json'])).toBe(1);
    expect(world.err).toMatch(/^hedgerow: There is a virtual graph "trips" already/);
    expect(await output('delete', ['trips'])).toBe('trips is deleted.\n');
    expect(await run('show', ['trips'])).toBe(1);
    expect(world.err).toMatch(/no virtual graph "trips"/);
  });

  test('prints the hyperedges of a query in every format', async () => {
    const edges = (await output('query', ['trips', ALL], { format: 'ndjson' })).trimEnd().split('\n');
    expect(edges.map((line) => JSON.parse(line).event_ts)).toEqual([1700000000, 1700000060, 1700000120]);
    expect(JSON.parse(edges[0]!)).toEqual({
      edge_label: 'Trip',
      members: [
        { vertex_local_id: 'place:5', role: 'src', name: 'origin' },
        { vertex_local_id: 'place:7', role: 'dst', name: 'target' },
      ],
      event_ts: 1700000000,
      properties: { trip_id: 1, fare: 2.5 },
      provenance: { graph: 'trips', spec_version: 1, captured_at: 0 },
    });
    const asJson = JSON.parse(await output('query', ['trips', ALL], { capturedAt: '9', refresh: true, limit: '1' }));
    expect(asJson).toEqual([
      { ...JSON.parse(edges[0]!), provenance: { graph: 'trips', spec_version: 1, captured_at: 9 } },
    ]);
    expect(await output('query', ['trips', ALL], { format: 'csv' })).toBe(
      '"event_ts","origin","target","trip_id","fare"\n' +
        '1700000000,"place:5","place:7",1,2.5\n1700000060,"place:7","place:9",2,\n1700000120,"place:9",,3,1\n',
    );
    expect(await output('query', ['trips', `${ALL} LIMIT 1`], { format: 'table' })).toMatch(
      /event_ts +origin +target +trip_id +fare\n.*\n2023-11-14T22:13:20Z +place:5 +place:7 +1 +2\.5\n\(1 row\)\n$/s,
    );
  });

  test('accepts and prints times in ISO 8601', async () => {
    const since = 'MATCH (t:Trip) WHERE t.event_ts BETWEEN "2023-11-14T22:14" AND "2023-11-14T23:15:20+01:00" RETURN t';
    expect(await output('query', ['trips', since], { format: 'csv', times: 'iso' })).toBe(
      '"event_ts","origin","target","trip_id","fare"\n' +
        '"2023-11-14T22:14:20Z","place:7","place:9",2,\n"2023-11-14T22:15:20Z","place:9",,3,1\n',
    );
    const line = await output('query', ['trips', `${since} LIMIT 1`], {
      format: 'ndjson',
      times: 'iso',
      capturedAt: '2024-05-02',
    });
    expect(JSON.parse(line)).toMatchObject({
      event_ts: '2023-11-14T22:14:20Z',
      provenance: { captured_at: '2024-05-02T00:00:00Z' },
    });
    const epochs = await output('query', ['trips', `${since} LIMIT 1`], { format: 'table', times: 'epoch' });
    expect(epochs).toContain('\n1700000060 ');
  });

  test('gets the same edges from a database file as from a CSV file, with lists of members for groups', async () => {
    const csv = await output('query', ['trips', ALL], { format: 'csv' });
    expect(await output('query', ['bank', ALL], { format: 'csv', unordered: true })).toBe(csv);
    world.stdin = stream(['MATCH (r:Ride) WHERE size(r) > 1 RETURN r']);
    expect(await output('query', ['bank', '-'], { format: 'csv' })).toBe(
      '"event_ts","rider","ride_id"\n1704103200,"[""rider:ann"",""rider:bob""]",1\n',
    );
    const none = await output('query', ['bank', 'MATCH (r:Ride) WHERE size(r) > 9 RETURN r'], { format: 'csv' });
    expect(none).toBe('"event_ts","rider"\n');
    expect(await output('query', ['bank', 'MATCH (r:Ride) WHERE size(r) > 9 RETURN r'])).toBe('[]\n');
  });

  test('clear-cache drops the cached results', async () => {
    await output('query', ['trips', ALL]);
    expect(await output('clear-cache', ['trips'])).toBe('1 kept result is forgotten.\n');
    expect(JSON.parse(await output('clear-cache', ['trips'], { json: true }))).toEqual({ id: 'trips', cleared: 0 });
  });

  test('shows backends, tables and plans', async () => {
    expect(await output('backends', [], { format: 'csv' })).toMatch(
      /^"type","available","description"\n"duckdb",true,/,
    );
    expect(await output('introspect', ['bank'], { format: 'csv' })).toContain('"rides","rider","VARCHAR",3\n');
    expect(JSON.parse(await output('introspect', ['trips'])).tables[0].name).toBe('trips');
    const text = await output('compile', ['trips', 'MATCH (t:Trip) WHERE origin.id = 5 AND size(t) > 1 RETURN t']);
    expect(text).toMatch(/^SELECT .*\nFROM "trips".*\nWHERE /s);
    expect(text).toContain(
      '\n\nedge       Trip\nmember     origin: Place, column origin_id, role src\nmember     target: Place, column target_id, role dst\n',
    );
    expect(text).toContain('condition  origin.id = 5\ncondition  size > 1\n');
    expect(JSON.parse(await output('compile', ['trips', ALL], { json: true })).plan.edge_label).toBe('Trip');
  });

  test('can save a proposal in a file and store it', async () => {
    const spec = await output('propose', [], { path: 'trips.csv', id: 'found' });
    expect(world.err).toMatch(/^Trip: Each row of trips has a time \(left_at\)/);
    world.file('found.json', spec);
    expect(await output('create', ['found.json'])).toBe('found is stored, version 1.\n');
    expect(await run('propose', [], { path: 'trips.csv', id: 'found', save: true })).toBe(1);
    expect(world.err).toMatch(/"found" already/);
    await output('delete', ['found']);
    world.stdin = stream(['{"backend": {"type": "duckdb", "path": "trips.duckdb"}, "id": "other"}']);
    const answer = JSON.parse(await output('propose', ['-'], { id: 'found', save: true, useLlm: true, json: true }));
    expect(answer).toMatchObject({ saved: true, llm_used: false, spec: { id: 'found', spec_version: 1 } });
    await output('delete', ['found']);
  });

  test('stores a result as a table', async () => {
    const text = await output('materialize', ['trips', ALL], { table: 'copied', bucketSeconds: '60' });
    expect(text).toBe(
      'table    copied, 3 edges\nnodes    Place, 3 nodes\ncolumns  trip_id INTEGER, fare REAL\nskipped  1\n',
    );
    expect(rowsOf(server.database.table('copied')).map((row) => row.members)).toEqual([[1, 2], [2, 3], [3]]);
    expect(await run('materialize', ['trips', ALL], { table: 'copied' })).toBe(1);
    expect(world.err).toMatch(/copied/);
    const json = await output('materialize', ['trips', ALL], { table: 'hashed', ids: 'hash', limit: '1', json: true });
    expect(JSON.parse(json)).toMatchObject({ table: 'hashed', inserted: 1, nodes: 2 });
  });

  test('shows an error in a query at its position', async () => {
    expect(await run('query', ['trips', 'MATCH (t:Trip)\nWHERE t.fares > 1 RETURN t'])).toBe(1);
    expect(world.err).toMatch(/^hedgerow: Line 2, column 9: .*fares.*\n {2}WHERE t\.fares > 1 RETURN t\n {10}\^\n$/);
    for (const name of ['compile', 'query'] as const) {
      expect(await run(name, ['trips', 'MATCH (t:Tripp) RETURN t'], name === 'query' ? { format: 'csv' } : {})).toBe(1);
      expect(world.err).toMatch(/Tripp.*Trip/);
    }
    expect(world.out).toBe('');
  });

  test('stops a query at an interrupt', async () => {
    const ended = run('query', ['bank', ALL], { refresh: true });
    world.interrupt?.();
    expect(await ended).toBe(1);
    expect(world.err).toBe('hedgerow: cancelled.\n');
  });

  test('reports a missing file', async () => {
    world.file('gone.json', JSON.stringify({ ...CSV_TRIPS, id: 'gone', backend: { type: 'csv', path: 'gone.csv' } }));
    expect(await run('create', ['gone.json']), world.err).toBe(0);
    expect(await run('query', ['gone', ALL])).toBe(1);
    expect(world.err).toMatch(/^hedgerow: The file gone\.csv is not there/);
    await output('delete', ['gone']);
  });
});

test('virtual exits with 2 and one line after a wrong call', async () => {
  world.file('list.json', '[1]');
  const calls: [VirtualTaskName, string[], VirtualFlags, RegExp][] = [
    ['propose', [], {}, /needs a FILE/],
    ['propose', [], { path: 'some.data' }, /add --type/],
    ['propose', [], { type: 'csv' }, /--path/],
    ['propose', [], { path: 'a.csv', dsn: 'B' }, /exclude each other/],
    ['propose', ['list.json'], { path: 'a.csv' }, /FILE already names the backend/],
    ['query', ['x', ' '], {}, /needs a QUERY/],
    ['query', ['x', ALL], { limit: '-1' }, /--limit/],
    ['query', ['x', ALL], { format: 'xml' }, /--format/],
    ['query', ['x', ALL], { times: 'unix' }, /--times is "unix"/],
    ['query', ['x', ALL], { capturedAt: 'now' }, /--captured-at is "now", but it takes epoch seconds, or a time/],
    ['list', [], { url: 'ftp://nowhere' }, /--url/],
    ['materialize', ['x', ALL], {}, /--table/],
    ['materialize', ['x', ALL], { table: 't', ids: 'some' }, /map or hash/],
  ];
  for (const [name, args, flags, expected] of calls) {
    expect(await run(name, args, flags), `${name} ${args}`).toBe(2);
    expect(world.err).toMatch(expected);
    expect(world.err.trimEnd().split('\n')).toHaveLength(1);
    expect(world.out).toBe('');
  }
});

test('virtual exits with 1 and one line when a file cannot be read or contains no JSON object', async () => {
  world.file('broken.json', '{\n  "id": "x",\n  "name": }\n');
  world.file('list.json', '[1]');
  world.file('empty.json', '');
  const calls: [VirtualTaskName, string[], RegExp][] = [
    ['create', ['none.json'], /no file none\.json/],
    ['create', ['broken.json'], /broken\.json is not JSON: line 3, column 11: found "}", but expected a value/],
    ['create', ['list.json'], /list\.json holds an array, not an object/],
    ['replace', ['x', 'empty.json'], /empty\.json is empty/],
  ];
  for (const [name, args, expected] of calls) {
    expect(await run(name, args, {}), `${name} ${args}`).toBe(1);
    expect(world.err).toMatch(expected);
    expect(world.err.trimEnd().split('\n')).toHaveLength(1);
  }
});

test('virtual exits with 1 and advice when the server is unreachable or refuses the key', async () => {
  expect(await run('list', [], { url: 'http://127.0.0.1:1' })).toBe(1);
  expect(world.err).toMatch(/^hedgerow: No whole answer .* hedgerow serve-virtual, or name it with --url\.\n$/);
  const guarded = await startServer({ auth: true });
  try {
    expect(await run('list', [], { url: guarded.url })).toBe(1);
    expect(world.err).toMatch(/--api-key/);
    expect(await run('create', ['trips.json'], { url: guarded.url, apiKey: guarded.keys.readonly })).toBe(1);
    expect(world.err).toMatch(/readwrite/);
  } finally {
    await guarded.close();
  }
});

test('virtual names the package to install when the server lacks that package', async () => {
  const bare = await startServer({ installed: () => false });
  try {
    expect(await run('list', [], { url: bare.url })).toBe(1);
    expect(world.err).toMatch(/npm install @duckdb\/node-api/);
  } finally {
    await bare.close();
  }
});

test('virtual is part of the program with all its commands and their arguments', async () => {
  expect(VIRTUAL_USAGE.map(({ name }) => name).sort()).toEqual(Object.keys(VIRTUAL_TASKS).sort());
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
  vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  for (const { name, args } of VIRTUAL_USAGE) {
    expect(await runProgram(['virtual', name, '--help'], '1.2.3'), name).toBe(0);
    if (args.some(([argument]) => argument.startsWith('<')))
      expect(await runProgram(['virtual', name], '1.2.3'), name).toBe(2);
  }
  expect(await runProgram(['virtual', 'list', '--url', 'ftp://nowhere'], '1.2.3')).toBe(2);
  vi.restoreAllMocks();
});

test('the specs in the README are valid', () => {
  const readme = readFileSync(new URL('../../src/virtual/README.md', import.meta.url), 'utf8');
  const specs = [...readme.matchAll(/```json\n([\s\S]*?)```/g)].map((match) => jsonObject(Buffer.from(match[1]!)));
  expect(specs.map((spec) => parseSpec(spec, { root: '/srv' }))).toEqual([
    { spec: expect.objectContaining({ id: 'trips' }) },
    { spec: expect.objectContaining({ id: 'rides' }) },
  ]);
});

describe('JSON written by a person', () => {
  test.each([
    ['{"a" 1}', /line 1, column 6: found "1", but expected :$/],
    ['{"a": 1,}', /column 9: found "}", but expected a name in double quotes$/],
    ['{"a": [1 2]}', /column 10: found "2", but expected , or \]$/],
    ['{"a": tru}', /column 7: found "tru", but expected a value$/],
    ["{'a': 1}", /column 2: found "'", but expected a name in double quotes or }$/],
    ['{"a": 01}', /column 7: found "01", but expected a value$/],
    ['{"a": "x\ny"}', /column 7: found "\\"", but expected a value$/],
    ['{"a": 1} x', /column 10: found "x", but expected the end$/],
    ['{"a": [', /column 8: found the end, but expected a value or \]$/],
    ['{"ä": {"b": 1}', /column 15: found the end, but expected , or }$/],
    ['5', /holds a number, not an object/],
    ['null', /holds null, not an object/],
  ])('is refused with the position of its fault: %j', (text, expected) => {
    expect(() => jsonObject(Buffer.from(text))).toThrow(expected);
  });

  test('is accepted when it is correct', () => {
    const text = '\n{"a": [1, -2.5e3, {"b": "\\u00e4\\n"}, [], {}, true, null]}\n';
    expect(jsonObject(Buffer.from(text))).toEqual(JSON.parse(text));
    expect(() => jsonObject(new Uint8Array([0xff]))).toThrow(/UTF-8/);
  });

  test('is refused with a position wherever the text is cut off', () => {
    const text = '{"id": "x", "list": [1, {"a": null}], "deep": {"b": "\\"\\\\"}}';
    for (let length = 1; length < text.length; length++)
      expect(() => jsonObject(Buffer.from(text.slice(0, length)))).toThrow(/is not JSON: line 1, column \d+: found/);
  });
});
