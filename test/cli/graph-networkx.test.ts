// NetworkX reads exported GraphML and GEXF files: the same nodes, attributes, edges and degrees as
// in the table.

import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
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
