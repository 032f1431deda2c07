// NetworkX reads exported GraphML and GEXF files: the same nodes, attributes, edges and degrees as
// in the table.

import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { tokenId } from '../../src/cli/export/xml-text.ts';
import type { EdgeRow } from '../../src/engine/index.ts';
import { isoTime } from '../../src/iso-time.ts';
import { Random } from '../support/random.ts';
import { randomTable } from './round-trip.ts';
import { lookInto, rowsOf, TestWorld } from './support.ts';

const SCRIPT = fileURLToPath(new URL('graph_files.py', import.meta.url));
const HAS_NETWORKX = spawnSync('python3', ['-c', 'import networkx']).status === 0;
if (!HAS_NETWORKX)
  console.log('test/cli/graph-networkx.test.ts is left out: python3 with the package networkx is not installed');

const TABLES = 12;

interface ReadGraph {
  nodes: Record<string, Record<string, unknown>>;
  edges: [string, string, Record<string, unknown>][];
  degrees: Record<string, number>;
  graph: Record<string, string>;
}

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

/** Reads files with NetworkX. */
function readGraphs(files: readonly string[]): ReadGraph[] {
  const out = execFileSync('python3', [SCRIPT, ...files], {
    cwd: world.cwd,
    encoding: 'utf8',
    env: { ...process.env, PYTHONIOENCODING: 'utf-8' },
    maxBuffer: 2 ** 28,
  });
  return out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
}

/** The text as XML 1.0 can hold it, by the code of each character. */
function inXml(text: string): string {
  return [...text]
    .map((character) => {
      const code = character.codePointAt(0)!;
      const isForbidden = (code < 32 && !'\t\n\r'.includes(character)) || code === 0xfffe || code === 0xffff;
      return isForbidden ? '\ufffd' : character;
    })
    .join('');
}

/** The attributes that the node of a hyperedge must have. */
function expectedAttributes(row: EdgeRow): Map<string, unknown> {
  const { id, members: _, ...others } = row;
  const given = Object.entries(others)
    .filter(([, value]) => value !== null)
    .map(([name, value]): [string, unknown] => [name, typeof value === 'string' ? inXml(value) : value]);
  return new Map<string, unknown>([
    ['kind', 'hyperedge'],
    ['label', `e${id}`],
    ['event_time', isoTime(row.event_ts)],
    ...given,
  ]);
}

/** NetworkX 2.8 leaves out empty texts of GraphML. */
function withoutEmpty(attributes: Iterable<readonly [string, unknown]>): Map<string, unknown> {
  return new Map([...attributes].filter(([, value]) => value !== ''));
}

function expectGraph(graph: ReadGraph, rows: readonly EdgeRow[], format: string): void {
  const nodes = new Map(Object.entries(graph.nodes));
  const members = new Set(rows.flatMap((row) => row.members));
  expect([...nodes.keys()].sort()).toEqual(
    [...[...members].map((member) => `n${member}`), ...rows.map(({ id }) => `e${id}`)].sort(),
  );
  for (const member of members) expect(nodes.get(`n${member}`)).toEqual({ kind: 'node', label: String(member) });
  for (const row of rows) {
    const interval = format === 'gexf' ? { start: row.event_ts, end: row.event_ts } : {};
    const expected = [...expectedAttributes(row), ...Object.entries(interval)];
    expect(withoutEmpty(Object.entries(nodes.get(`e${row.id}`)!))).toEqual(withoutEmpty(expected));
  }
  const pairs = rows.flatMap((row) => row.members.map((member) => `e${row.id} n${member}`));
  expect(graph.edges.map(([from, to]) => (from.startsWith('e') ? `${from} ${to}` : `${to} ${from}`)).sort()).toEqual(
    pairs.sort(),
  );
  for (const row of rows) expect(graph.degrees[`e${row.id}`]).toBe(row.members.length);
  for (const member of members)
    expect(graph.degrees[`n${member}`]).toBe(rows.filter((row) => row.members.includes(member)).length);
  if (format !== 'gexf') return;
  expect(graph.graph.mode).toBe('dynamic');
  const times = new Map(rows.map(({ id, event_ts: time }) => [`e${id}`, time]));
  for (const [from, to, { start, end }] of graph.edges) {
    const time = times.get(from.startsWith('e') ? from : to);
    expect([start, end]).toEqual([time, time]);
  }
}

test.skipIf(!HAS_NETWORKX)(
  'random tables are the same in NetworkX',
  async () => {
    const tables = await lookInto(world.path('db'), async (database) => {
      const made: EdgeRow[][] = [];
      for (let seed = 0; seed < TABLES; seed++)
        made.push(rowsOf(await randomTable(database, new Random(seed), `t${seed}`)));
      return made;
    });
    expect(tables.flat().length).toBeGreaterThan(100);
    const files: [string, EdgeRow[], string][] = [];
    for (const [seed, rows] of tables.entries())
      for (const format of ['graphml', 'gexf']) {
        const out = `t${seed}.${format}`;
        expect(await exportCommand({ data: 'db', table: `t${seed}`, out }, world), world.err).toBe(0);
        files.push([out, rows, format]);
      }
    const graphs = readGraphs(files.map(([out]) => out));
    for (const [index, [, rows, format]] of files.entries()) expectGraph(graphs[index]!, rows, format);
  },
  60_000,
);

test.skipIf(!HAS_NETWORKX)('names of attributes and edges that occur more than once are kept apart', async () => {
  await lookInto(world.path('db'), async (database) => {
    const columns = ['label', 'Kind', 'start', 'label_2'].map((name) => ({ name, type: 'TEXT' as const }));
    const bulk = (await database.createTable({ name: 't', columns })).bulk();
    const properties = { label: 'mine', Kind: 'other', start: 'here', label_2: 'second' };
    bulk.add({ event_ts: 5, members: [1, 2], properties });
    await bulk.commit();
  });
  const statement =
    'MATCH (a:t), (b:t) RETURN a.id AS id, a.event_ts AS event_ts, b.members AS members, a.label AS label, a.Kind AS Kind, a.start AS start, a.label_2 AS label_2, size(a.members) * 2, a.members AS `list of`';
  for (const format of ['graphml', 'gexf'])
    expect(await exportCommand({ data: 'db', statement, out: `x.${format}` }, world), world.err).toBe(0);
  for (const graph of readGraphs(['x.graphml', 'x.gexf'])) {
    expect(Object.keys(graph.nodes).sort()).toEqual(['e0', 'n1', 'n2']);
    expect(graph.nodes.e0).toMatchObject({
      kind: 'hyperedge',
      label: 'e0',
      id_2: 1,
      label_2: 'mine',
      Kind_2: 'other',
      start_2: 'here',
      label_2_2: 'second',
      list_of: '[1,2]',
    });
    expect(Object.values(graph.nodes.e0!)).toContain(4);
    expect(graph.edges.length).toBe(2);
  }
});

/** Keys that are hard for XML, but that it can hold. */
const KEYS = [
  'Ada',
  'A<b> & "c"',
  "O'Neil",
  '🦊\u200f',
  ' a  b ',
  'a_x20_b',
  'e1',
  'n7',
  ']]>',
  '&amp;',
  'é',
  'e\u0301',
  '%20',
];

test.skipIf(!HAS_NETWORKX)('a named table has its keys, attributes, roles and ends in NetworkX', async () => {
  await lookInto(world.path('db'), async (database) => {
    const columns = [
      { name: 'born', type: 'INTEGER' },
      { name: 'height', type: 'REAL' },
      { name: 'here', type: 'BOOLEAN' },
      { name: 'note', type: 'TEXT' },
    ] as const;
    await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' }, columns: [...columns] });
    const shape = { memberTables: ['Person'], roles: ['head', 'host'], intervals: true };
    const calls = await database.createTable({ name: 'calls', columns: [{ name: 'topic', type: 'TEXT' }], ...shape });
    const transaction = database.begin();
    for (const [at, name] of KEYS.entries())
      transaction.insertNode(database.nodes.table('Person'), {
        name,
        born: at === 0 ? null : 1900 + at,
        height: at / 4,
        here: at % 2 === 0,
        note: `<${name}>`,
      });
    await transaction.commit();
    const bulk = calls.bulk();
    const members = { head: ['Ada', 'n7'], host: ['Ada'] } as never;
    bulk.add({ event_ts: 10, members, properties: { end_ts: 20, topic: '"&"' } });
    bulk.add({ event_ts: 11, members: KEYS.slice(0, -1) });
    await bulk.commit();
  });
  for (const format of ['graphml', 'gexf'])
    expect(await exportCommand({ data: 'db', table: 'calls', out: `x.${format}` }, world), world.err).toBe(0);
  const [graphml, gexf] = readGraphs(['x.graphml', 'x.gexf']);
  for (const [graph, idOf] of [
    [graphml!, (key: string) => tokenId(`Person:${key}`)],
    [gexf!, (key: string) => (key.includes('_x') ? 'Person:a_x5F_x20_b' : `Person:${key}`)],
  ] as const) {
    expect(Object.keys(graph.nodes).sort()).toEqual([...KEYS.map(idOf), 'e1', 'e2'].sort());
    for (const [at, key] of KEYS.entries())
      expect(graph.nodes[idOf(key)]).toEqual({
        kind: 'node',
        node_table: 'Person',
        label: key,
        ...(at === 0 ? {} : { born: 1900 + at }),
        height: at / 4,
        here: at % 2 === 0,
        note: `<${key}>`,
      });
    expect(graph.nodes.e1).toMatchObject({ kind: 'hyperedge', event_ts: 10, end_ts: 20, topic: '"&"' });
    expect(graph.nodes.e1).not.toHaveProperty('head');
    const roles = new Map(graph.edges.map(([from, to, { role }]) => [[from, to].sort().join(' '), role]));
    expect(roles.get(`${idOf('Ada')} e1`)).toBe('head,host');
    expect(roles.get(`${idOf('n7')} e1`)).toBe('head');
    expect(roles.get(`${idOf('Ada')} e2`)).toBeUndefined();
    expect(roles.size).toBe(2 + KEYS.length - 1);
    // The last key is in no edge.
    expect(graph.degrees[idOf(KEYS.at(-1)!)]).toBe(0);
  }
  expect(gexf!.nodes.e1).toMatchObject({ start: 10, end: 20 });
  expect(gexf!.nodes.e2).toMatchObject({ start: 11 });
  expect(gexf!.nodes.e2).not.toHaveProperty('end');
  const first = gexf!.edges.find((edge) => edge.includes('e1'));
  expect(first![2]).toMatchObject({ start: 10, end: 20 });
});
