// Imports of HIF documents that other libraries write, and of invalid ones. Each has a defined
// outcome. Exports are valid by the published schema.

import { existsSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { HIF_SCHEMA } from './hif-schema.ts';
import { edgeLines, keyRowsOf, lookInto, rowsOf, TestWorld } from './support.ts';

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

/**
 * Returns the stored rows without ids and nulls. Members are given by name where nodes have names.
 */
async function stored(): Promise<object[]> {
  return lookInto(world.path('db'), (database) => {
    return keyRowsOf(database, 't').map(({ id: _id, members, ...others }) => ({
      members,
      ...Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null)),
    }));
  });
}

describe('the import of documents from other libraries', () => {
  test('reads XGI: names of nodes and edges, times in ISO 8601 and attributes of nodes', async () => {
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
      { event_ts: 980985600, members: ['n1', 'n2'], edge: 'e1', timestamp: '2001-02-01T00:00:00' },
      { event_ts: 981113460, members: ['n1'], edge: 'e2', timestamp: '2001-02-02T11:31:00', subject: 'lunch' },
    ]);
  });

  test('reads a HyperNetX document, which has weights and attributes everywhere, but no list of nodes and no metadata', async () => {
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
      {
        event_ts: 1,
        members: ['FN', 'TH'],
        roles: { host: ['FN'], head: [] },
        edge: 0,
        weight: 2.5,
        misc: '{"a":[1]}',
      },
      { event_ts: 2, members: ['TH'], roles: { host: [], head: ['TH'] }, edge: 1, weight: 1 },
    ]);
  });

  test('drops an edge without incidences and rejects one without a time', async () => {
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
    expect(await stored()).toEqual([{ event_ts: 1, members: [7], edge: 1 }]);
    const reasons = world.objects('x.json.rejects.ndjson').map(({ reason }) => reason);
    expect(reasons).toEqual([expect.stringMatching(/event_ts is missing; --ts/)]);
    expect(world.err).toMatch(/Not kept of x\.json: 1 edge without a node\./);
  });

  test.each<[string, unknown, RegExp]>([
    [
      'no list of edges',
      { incidences: [{ edge: 0, node: 1 }] },
      /No edge of x\.json has a time.*--ts-column.*--ts 2024/,
    ],
    ['edges without a time', { incidences: [{ edge: 0, node: 1 }], nodes: [], edges: [{ edge: 0 }] }, /has a time/],
    ['an unknown network-type', { 'network-type': 'simple', incidences: [] }, /one of undirected, directed, asc/],
    ['an unknown key of an edge', { incidences: [], edges: [{ edge: 0, colour: 1 }] }, /colour/],
    ['an unknown key of a node', { incidences: [], nodes: [{ node: 0, colour: 1 }] }, /colour/],
    ['a node without its id', { incidences: [], nodes: [{ weight: 1 }] }, /has no node/],
    ['a fraction as the name of an edge', { incidences: [{ edge: 0.5, node: 1 }] }, /neither a text nor an integer/],
    ['a field that HIF does not know', { hello: { edges: [] }, incidences: [] }, /field "hello"/],
    ['a list as metadata', { metadata: [], incidences: [] }, /metadata must be an object/],
    ['no incidences', { edges: [{ edge: 0 }] }, /no incidences/],
    ['incidences that are an object', { incidences: {} }, /incidences/],
    ['a list at the top', [], /not a JSON object/],
    ['a text after the document', '{"incidences":[]} x', /there is something after its end/],
  ])('is refused with one sentence and creates nothing: %s', async (_name, document, message) => {
    expect(await importDocument(document)).not.toBe(0);
    expect(world.err).toMatch(message);
    expect(world.err.split('\n').length).toBe(2);
    expect(world.err).not.toMatch(/\n\s+at /);
  });

  test('uses --ts as the time of all edges when none has a time, and keeps edge names as a column', async () => {
    const document = {
      incidences: [
        { edge: 'tea', node: 'ann' },
        { edge: 'talk', node: 'bob' },
      ],
    };
    expect(await importDocument(document, { ts: '1970-01-02' }), world.err).toBe(0);
    expect(await stored()).toEqual([
      { event_ts: 86_400, members: ['ann'], edge: 'tea' },
      { event_ts: 86_400, members: ['bob'], edge: 'talk' },
    ]);
    expect(world.err).toBe('');
  });

  test('uses --ts only for edges without a time, and --ts-column names the attribute with the times', async () => {
    const document = {
      incidences: [
        { edge: 1, node: 1 },
        { edge: 2, node: 2 },
      ],
      edges: [{ edge: 1, attrs: { timestamp: '1970-01-03', edge: 'x' } }],
    };
    expect(await importDocument(document, { ts: '5' }), world.err).toBe(0);
    expect(await stored()).toEqual([
      { event_ts: 5, members: [2], edge_name: 2 },
      { event_ts: 172_800, members: [1], edge_name: 1, timestamp: '1970-01-03', edge: 'x' },
    ]);
  });

  test('reads years as times when --ts-format is a pattern', async () => {
    const document = {
      incidences: [
        { edge: 1, node: 1 },
        { edge: 2, node: 2 },
      ],
      edges: [{ edge: 1, attrs: { year: 1971 } }],
    };
    const flags = { tsColumn: 'year', tsFormat: '%Y', ts: '1970-01-02' };
    expect(await importDocument(document, flags), world.err).toBe(0);
    expect((await stored()).map((edge) => (edge as { event_ts: number }).event_ts)).toEqual([86_400, 31_536_000]);
  });

  test('lists everything that is dropped, in the result and in a dry run', async () => {
    const document = {
      'network-type': 'directed',
      metadata: { source: 'a survey', year: 2020 },
      incidences: [
        { edge: 'e', node: 'ann', weight: 2, direction: 'head' },
        { edge: 'e', node: 'bob', direction: 'tail', attrs: { since: 3 } },
      ],
      nodes: [{ node: 'ann', weight: 1, attrs: { age: 3 } }, { node: 'cid' }],
      edges: [
        { edge: 'e', weight: 1, attrs: { event_ts: 5, members: 2, weight: 7, id: 9, x: 1 } },
        { edge: 'e', attrs: { x: 2 } },
        { edge: 'empty' },
      ],
    };
    const lost =
      'Not kept of x.json: the weight of 1 incidence, the attributes of 1 incidence, ' +
      '1 edge without a node, what a later entry overwrites of 1 edge, ' +
      'the name of the attribute "members" of edges (now members_2), ' +
      'the name of the attribute "weight" of edges (now weight_2), ' +
      'the name of the attribute "id" of edges (now id_2), the metadata (source, year).';
    world.file('x.json', JSON.stringify(document));
    expect(await importCommand(['x.json'], { data: 'db', table: 't', create: true, dryRun: true }, world)).toBe(0);
    expect(world.out).toContain(`warning: ${lost}`);
    expect(await importDocument(document), world.err).toBe(0);
    expect(world.err).toBe(`hedgerow: ${lost}\n`);
    expect(await stored()).toEqual([
      {
        event_ts: 5,
        members: ['ann', 'bob'],
        roles: { head: ['ann'], tail: ['bob'] },
        edge: 'e',
        weight: 1,
        members_2: 2,
        weight_2: 7,
        id_2: 9,
        x: 2,
      },
    ]);
    // In a table of numbers, nodes have no attributes.
    await lookInto(world.path('db'), (database) =>
      database.createTable({ name: 'hyperedges_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] }),
    );
    world.err = '';
    expect(await importDocument(document, { table: 'hyperedges' }), world.err).toBe(0);
    expect(world.err).toMatch(
      /the direction of 2 incidences, .*the weight of 1 node, the attributes of 1 node, 1 node without an edge, .*network-type directed/,
    );
  });

  test('stores edge names only in an existing column unless --create is given', async () => {
    const document = { incidences: [{ edge: 'tea', node: 1 }] };
    world.file('x.json', JSON.stringify(document));
    const flags = { data: 'db', table: 't', ts: '1', createTable: true };
    expect(await importCommand(['x.json'], flags, world), world.err).toBe(0);
    expect(world.err).toBe('hedgerow: Not kept of x.json: the ids of edges (--create makes a column).\n');
    world.err = '';
    expect(await importDocument(document, { ts: '2' }), world.err).toBe(0);
    expect(await importCommand(['x.json'], { ...flags, ts: '3' }, world), world.err).toBe(0);
    expect(world.err).toBe('');
    expect(await stored()).toEqual([
      { event_ts: 1, members: [1] },
      { event_ts: 2, members: [1], edge: 'tea' },
      { event_ts: 3, members: [1], edge: 'tea' },
    ]);
  });

  const WHOLE = JSON.stringify({
    metadata: { a: [1, '}"'] },
    incidences: [
      { edge: 'tea', node: 'ann' },
      { edge: 'tea', node: 'bob' },
    ],
    edges: [{ edge: 'tea', attrs: { event_ts: 1 } }],
  });

  test('writes nothing from a truncated file, wherever it ends', async () => {
    for (let length = 0; length < WHOLE.length; length++) {
      world.err = '';
      expect(await importDocument(WHOLE.slice(0, length)), WHOLE.slice(0, length)).toBe(1);
      expect(world.err).toMatch(/^hedgerow: .*(not a JSON object|Not valid JSON).*\.\n$/);
      expect(existsSync(world.path('db'))).toBe(false);
    }
    expect(await importDocument(WHOLE), world.err).toBe(0);
  });

  test.each<[string, string, RegExp]>([
    ['a list twice', '{"incidences":[],"incidences":[]}', /"incidences" is in it twice/],
    ['a comma at the end of a list', '{"incidences":[{"edge":1,"node":2},]}', /comma with nothing at its side/],
    ['a comma at the end of the object', '{"incidences":[],}', /a key is missing/],
    ['no comma between fields', '{"incidences":[]"edges":[]}', /a comma is missing/],
    ['no colon', '{"incidences" []}', /a colon is missing/],
    ['no value', '{"incidences":[],"metadata":}', /metadata has no value/],
    ['metadata that is not JSON', '{"incidences":[],"metadata":{a}}', /Not valid JSON/],
    ['brackets that do not match', '{"incidences":[{"edge":1,"node":2]}', /ends with \}|breaks off|Not valid JSON/],
    ['one bracket too many', '{"incidences":[]}}', /something after its end/],
    [
      'attributes that are nested deeply',
      `{"incidences":[{"edge":1,"node":2,"attrs":{"a":${'['.repeat(5000)}`,
      /nested deeper/,
    ],
    ['a node that would lose digits', '{"incidences":[{"edge":1,"node":12345678901234567890}]}', /would lose digits/],
    ['NaN', '{"incidences":[{"edge":1,"node":2,"weight":NaN}]}', /Not valid JSON/],
    ['bytes that are not UTF-8', '{"incidences":[{"edge":1,"node":"\u00ff"}]}', /not valid UTF-8/],
  ])('refuses malformed JSON: %s', async (_name, text, message) => {
    world.file('x.json', Buffer.from(text, 'latin1'));
    expect(await importCommand(['x.json'], { data: 'db', table: 't', create: true, ts: '1' }, world)).toBe(1);
    expect(world.err).toMatch(message);
    expect(existsSync(world.path('db'))).toBe(false);
  });

  test('adds no second column with edge names to an export of this database', async () => {
    expect(await importDocument(WHOLE), world.err).toBe(0);
    expect(await exportCommand({ data: 'db', table: 't', out: 'own.hif' }, world), world.err).toBe(0);
    world.err = '';
    expect(await importCommand(['own.hif'], { data: 'db', table: 'u', create: true }, world), world.err).toBe(0);
    expect(world.err).toBe('');
    const columns = await lookInto(world.path('db'), (database) => database.table('u').item().columns);
    expect(columns.filter(({ name }) => name.startsWith('edge')).map(({ name, type }) => [name, type])).toEqual([
      ['edge', 'TEXT'],
    ]);
  });

  test('names edges by their ids in the document again, unless two have the same one', async () => {
    const edges = ['tea', 'talk'].map((edge) => ({ edge, attrs: { event_ts: 5, edge: 'x', edge_name: 1 } }));
    const incidences = edges.map(({ edge }) => ({ edge, node: 'ann' }));
    expect(await importDocument({ incidences, edges }), world.err).toBe(0);
    const exported = async (name: string) => {
      expect(await exportCommand({ data: 'db', table: 't', out: name }, world), world.err).toBe(0);
      return JSON.parse(readFileSync(world.path(name), 'utf8'));
    };
    const named = await exported('named.hif');
    expect(named.metadata).toEqual({ 'written-by': 'Hedgerow', 'edge-names': 'edge_name_2' });
    expect([named.edges, named.incidences]).toEqual([edges, incidences]);
    // The same document once more: ids that occur twice are an attribute.
    expect(await importDocument({ incidences, edges }), world.err).toBe(0);
    const twice = await exported('twice.hif');
    expect(twice.metadata).toEqual({ 'written-by': 'Hedgerow' });
    expect(twice.edges.map(({ edge }: { edge: number }) => edge)).toEqual([1, 2, 3, 4]);
    expect(twice.edges[0].attrs).toEqual({ event_ts: 5, edge: 'x', edge_name: 1, edge_name_2: 'tea' });
  });

  test.each<[string, object, RegExp]>([
    ['an empty id', { node: '' }, /must not be an empty text/],
    ['a control character', { node: 'a\nb' }, /contains a control character/],
    ['half of a surrogate pair', { node: '\ud800' }, /half of a surrogate pair/],
    ['more than 512 bytes', { node: 'é'.repeat(257) }, /more than 512 bytes/],
  ])('refuses an id of a node that no key can be: %s', async (_name, incidence, message) => {
    const incidences = [
      { edge: 1, node: 'ann' },
      { edge: 2, ...incidence },
    ];
    expect(await importDocument({ incidences }, { ts: '1', table: 'u', onError: 'skip' }), world.err).toBe(0);
    expect(world.objects('x.json.rejects.ndjson')).toHaveLength(1);
    world.err = '';
    expect(await importDocument({ incidences }, { ts: '1' })).toBe(1);
    expect(world.err).toMatch(message);
    expect(world.err).not.toMatch(/\n\s+at /);
  });

  test('refuses numbers beyond the range of doubles, which would be lost', async () => {
    for (const edge of ['"weight":1e400', '"attrs":{"a":[{"b":-1e999}]}']) {
      const text = `{"incidences":[{"edge":1,"node":2}],"edges":[{"edge":1,${edge}}]}`;
      expect(await importDocument(text, { ts: '1' })).toBe(1);
      expect(world.err).toMatch(/edges, element 1: .* has a number in (weight|attrs) that is too large/);
      world.err = '';
    }
    expect(existsSync(world.path('db'))).toBe(false);
  });

  test('writes a node that is both head and tail as two incidences', async () => {
    const incidences = [
      { edge: 'e', node: 'ann', direction: 'head', attrs: { role: ['host', 'guest'] } },
      { edge: 'e', node: 'ann', direction: 'tail' },
    ];
    expect(await importDocument({ 'network-type': 'directed', incidences }, { ts: '1' }), world.err).toBe(0);
    expect(world.err).toBe('');
    expect(await exportCommand({ data: 'db', table: 't', out: 'y.hif' }, world), world.err).toBe(0);
    expect(JSON.parse(readFileSync(world.path('y.hif'), 'utf8'))).toMatchObject({
      'network-type': 'directed',
      incidences,
    });
  });

  test('inserts no edges from an empty document', async () => {
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

  test('turn rows with equal ids in the result of a statement into separate edges', async () => {
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

  test('turn a weight that is not a number into an attribute', async () => {
    const { edges } = await exported(
      "MATCH (e:hyperedges) WHERE e.event_ts = 1 RETURN e.event_ts AS event_ts, e.members AS members, 'heavy' AS weight",
    );
    expect(edges).toEqual([{ edge: 0, attrs: { event_ts: 1, weight: 'heavy' } }]);
  });

  test('turn a statement without rows into an empty document', async () => {
    expect(await exported('MATCH (e:hyperedges) WHERE e.event_ts > 99 RETURN *')).toMatchObject({
      incidences: [],
      edges: [],
    });
  });

  test.each(['e.formation AS members', "'ab' AS members", 'e.event_ts AS members'])(
    'refuse rows that are not edges: %s',
    async (members) => {
      const statement = `MATCH (e:hyperedges) RETURN e.event_ts AS event_ts, ${members}`;
      expect(await exportCommand({ data: 'db', statement, out: 'y.hif' }, world)).toBe(1);
      expect(world.err).toMatch(/Row 1 is not an edge, and HIF holds nothing else/);
    },
  );
});
