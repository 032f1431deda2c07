// HIF documents as other libraries write them, and what must not be one: each has a clear outcome. What is exported is valid by the published schema.

import { readFileSync } from 'node:fs';
import Ajv from 'ajv';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { HIF_SCHEMA } from './hif-schema.ts';
import { edgeLines, lookInto, rowsOf, TestWorld } from './support.ts';

const isHif = new Ajv({ strict: false, allErrors: true }).compile(HIF_SCHEMA);

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

async function importDocument(document: unknown, flags: Record<string, string> = {}): Promise<number> {
  world.file('x.json', typeof document === 'string' ? document : JSON.stringify(document));
  return importCommand(['x.json'], { data: 'db', table: 't', create: true, ...flags }, world);
}

/** Members by name where nodes have names, and what is not null, but ids. */
async function stored(): Promise<object[]> {
  return lookInto(world.path('db'), (database) => {
    const nodes = database.tables().find(({ name }) => name === 't_nodes');
    const names = new Map(nodes === undefined ? [] : rowsOf(nodes).map((row) => [row.members[0]!, row.vertex]));
    return rowsOf(database.table('t')).map(({ id: _id, members, ...others }) => ({
      members: members.map((node) => names.get(node) ?? node),
      ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)),
    }));
  });
}

describe('documents of other libraries', () => {
  test('XGI: names of nodes and edges, times in ISO 8601, attributes of nodes', async () => {
    const document = {
      'network-type': 'undirected',
      metadata: { name: 'mail' },
      nodes: [{ node: 'n1', attrs: { name: 'a@x' } }, { node: 'n2' }, { node: 'alone', attrs: {} }],
      edges: [
        { edge: 'e2', attrs: { timestamp: '2001-02-02T11:31:00', subject: 'lunch' } },
        { edge: 'e1', attrs: { timestamp: '2001-02-01T00:00:00' } },
      ],
      incidences: [
        { edge: 'e1', node: 'n1' },
        { edge: 'e2', node: 'n1' },
        { edge: 'e1', node: 'n2' },
      ],
    };
    expect(isHif(document)).toBe(true);
    expect(await importDocument(document), world.err).toBe(0);
    expect(await stored()).toEqual([
      { event_ts: 980985600, members: ['n1', 'n2'] },
      { event_ts: 981113460, members: ['n1'], subject: 'lunch' },
    ]);
  });

  test('HyperNetX: weights and attributes everywhere, no nodes and no metadata', async () => {
    const document = {
      'network-type': 'undirected',
      incidences: [
        { edge: 0, node: 'FN', weight: 1, attrs: { role: 'host' } },
        { edge: 0, node: 'TH', weight: 2 },
        { edge: 1, node: 'TH', weight: 1, direction: 'head' },
      ],
      edges: [
        { edge: 0, weight: 2.5, attrs: { event_ts: 1, misc: { a: [1] } } },
        { edge: 1, weight: 1, attrs: { event_ts: 2 } },
      ],
    };
    expect(isHif(document)).toBe(true);
    expect(await importDocument(document), world.err).toBe(0);
    expect(await stored()).toEqual([
      { event_ts: 1, members: ['FN', 'TH'], weight: 2.5, misc: '{"a":[1]}' },
      { event_ts: 2, members: ['TH'], weight: 1 },
    ]);
  });

  test('an edge that no incidence names, and one without a time, are bad rows of their own', async () => {
    const document = {
      edges: [
        { edge: 1, attrs: { event_ts: 1 } },
        { edge: 2, attrs: { event_ts: 2 } },
      ],
      incidences: [
        { edge: 1, node: 7 },
        { edge: 3, node: 8 },
      ],
    };
    expect(await importDocument(document, { onError: 'skip' }), world.err).toBe(0);
    expect(await stored()).toEqual([{ event_ts: 1, members: [7] }]);
    const reasons = world.objects('x.json.rejects.ndjson').map(({ reason }) => reason);
    expect(reasons.sort()).toEqual([
      expect.stringMatching(/names no node/),
      expect.stringMatching(/event_ts is missing/),
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    ['no list of edges', { incidences: [{ edge: 0, node: 1 }] }, /No edge of x\.json has a time.*--ts-column/],
    ['edges without a time', { incidences: [{ edge: 0, node: 1 }], nodes: [], edges: [{ edge: 0 }] }, /has a time/],
    ['another network-type', { 'network-type': 'simple', incidences: [] }, /one of undirected, directed, asc/],
    ['an unknown key of an edge', { incidences: [], edges: [{ edge: 0, colour: 1 }] }, /colour/],
    ['an unknown key of a node', { incidences: [], nodes: [{ node: 0, colour: 1 }] }, /colour/],
    ['a node without its id', { incidences: [], nodes: [{ weight: 1 }] }, /has no node/],
    ['an edge called by a fraction', { incidences: [{ edge: 0.5, node: 1 }] }, /neither a text nor an integer/],
    ['no incidences', { edges: [{ edge: 0 }] }, /no incidences/],
    ['incidences that are an object', { incidences: {} }, /incidences/],
    ['a list at the top', [], /no JSON object/],
    ['a text behind the document', '{"incidences":[]} x', /something stands behind its end/],
  ])('%s: refused in a sentence, and nothing is made', async (_name, document, message) => {
    expect(await importDocument(document)).not.toBe(0);
    expect(world.err).toMatch(message);
    expect(world.err.split('\n').length).toBe(2);
    expect(world.err).not.toMatch(/\n\s+at /);
  });

  test('keys that HIF does not know are passed over at the top, where they name no edge', async () => {
    const document = { hello: { edges: [{ edge: 9 }] }, metadata: [], incidences: [] };
    expect(await importDocument(document), world.err).toBe(0);
  });

  test('an empty document is no edge', async () => {
    expect(await importDocument({ incidences: [] }), world.err).toBe(0);
    expect(world.out).toMatch(/inserted 0/);
  });
});

describe('exports', () => {
  beforeEach(async () => {
    world.file('x.ndjson', edgeLines(3));
    expect(await importCommand(['x.ndjson'], { data: 'db' }, world), world.err).toBe(0);
  });

  async function exported(statement: string): Promise<{ edges: object[] }> {
    expect(await exportCommand({ data: 'db', statement, out: 'y.hif' }, world), world.err).toBe(0);
    const document = JSON.parse(readFileSync(world.path('y.hif'), 'utf8'));
    expect(isHif(document), JSON.stringify(isHif.errors)).toBe(true);
    return document;
  }

  test('rows of a statement that share an id are edges of their own', async () => {
    const { edges } = await exported(
      'MATCH (a:hyperedges), (b:hyperedges) WHERE a.event_ts < b.event_ts RETURN a.id AS id, a.event_ts AS event_ts, b.members AS members',
    );
    expect(edges.length).toBe(3);
    expect(await importCommand(['y.hif'], { data: 'db', table: 'pairs', create: true }, world), world.err).toBe(0);
    const rows = await lookInto(world.path('db'), (database) => rowsOf(database.table('pairs')));
    expect(rows.map(({ event_ts: time, members }) => [time, members[0]])).toEqual([
      [0, 1],
      [0, 2],
      [1, 2],
    ]);
  });

  test('a weight that is no number is an attribute', async () => {
    const { edges } = await exported(
      "MATCH (e:hyperedges) WHERE e.event_ts = 1 RETURN e.event_ts AS event_ts, e.members AS members, 'heavy' AS weight",
    );
    expect(edges).toEqual([{ edge: 0, attrs: { event_ts: 1, weight: 'heavy' } }]);
  });

  test('a statement without rows is an empty document', async () => {
    expect(await exported('MATCH (e:hyperedges) WHERE e.event_ts > 99 RETURN *')).toMatchObject({
      incidences: [],
      edges: [],
    });
  });

  test.each(['e.formation AS members', "'ab' AS members", 'e.event_ts AS members'])(
    'rows that are no edges are refused: %s',
    async (members) => {
      const statement = `MATCH (e:hyperedges) RETURN e.event_ts AS event_ts, ${members}`;
      expect(await exportCommand({ data: 'db', statement, out: 'y.hif' }, world)).toBe(1);
      expect(world.err).toMatch(/Row 1 is no edge, and HIF holds nothing else/);
    },
  );
});
