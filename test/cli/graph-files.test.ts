// Exports of bipartite graphs as GraphML and GEXF. `graph-networkx.test.ts` reads them with another
// program.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { bytesOf } from '../../src/cli/export/formats.ts';
import { NumberSet } from '../../src/cli/export/number-set.ts';
import { idText, nameToken, tokenId, xmlText } from '../../src/cli/export/xml-text.ts';
import type { Row } from '../../src/cli/run/runner.ts';
import type { Database } from '../../src/engine/index.ts';
import { startServer } from '../http/support.ts';
import { MAIN } from '../service/child.ts';
import { expectGolden } from '../support/golden.ts';
import { Random } from '../support/random.ts';
import { lookInto, TestWorld } from './support.ts';

const BUILT = existsSync(new URL('../../dist/cli/export/graphml-bytes.js', import.meta.url));
const FORMATS = ['graphml', 'gexf'] as const;

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => {
  vi.unstubAllEnvs();
  world.remove();
});

const COLUMNS = [
  { name: 'topic', type: 'TEXT' },
  { name: 'count', type: 'INTEGER' },
  { name: 'price', type: 'REAL' },
  { name: 'open', type: 'BOOLEAN' },
  { name: 'label', type: 'TEXT' },
] as const;

async function makeCalls(database: Database): Promise<void> {
  const bulk = (await database.createTable({ name: 'calls', columns: [...COLUMNS] })).bulk();
  bulk.add({
    event_ts: 1_700_000_000,
    members: [7, 1, 3],
    properties: { topic: '<b> & "it\'s"\t]]>\n\r\u0000 \ufffe\u0085é🦊', count: 2 ** 53 - 1, price: 1e-7, open: true },
  });
  bulk.add({
    event_ts: -1,
    members: [3, -5],
    properties: { topic: '', count: -1, price: 1e21, open: false, label: 'mine', weight: 0.5, formation: 'line' },
  });
  bulk.add({ event_ts: 253_402_300_800, members: [9_007_199_254_740_991], properties: {} });
  await bulk.commit();
}

test.each(FORMATS)('a directory and a server give the same %s, as in the golden file', async (format) => {
  await lookInto(world.path('db'), makeCalls);
  const flags = { table: 'calls', format };
  expect(await exportCommand({ data: 'db', ...flags }, world), world.err).toBe(0);
  const fromDirectory = world.out;
  expectGolden(`graph-files/calls.${format}`, fromDirectory);
  expect(world.err).toBe('hedgerow: 3 rows\n');
  const server = await startServer();
  try {
    await makeCalls(server.database);
    expect(await exportCommand({ url: server.url, ...flags, out: `x.${format}.gz` }, world), world.err).toBe(0);
    expect(gunzipSync(readFileSync(world.path(`x.${format}.gz`))).toString()).toBe(fromDirectory);
    world.out = '';
    expect(await exportCommand({ url: server.url, ...flags, end: '-1' }, world), world.err).toBe(0);
    expect(world.out.match(/<node id="[^"]+"/g)).toEqual(['<node id="n-5"', '<node id="n3"', '<node id="e2"']);
  } finally {
    await server.close();
  }
});

describe.each(FORMATS)('an export as %s', (format) => {
  beforeEach(async () => {
    await lookInto(world.path('db'), makeCalls);
  });

  test.each<[string, number, RegExp]>([
    ['MATCH (e:calls) RETURN e.id', 1, /(GraphML|GEXF) holds edges: the statement must return event_ts and members/],
    [
      'MATCH (e:calls) RETURN e.event_ts AS event_ts, e.topic AS members',
      1,
      /Row 1 is not an edge, and (GraphML|GEXF) holds nothing else/,
    ],
  ])('refuses %s and leaves no file', async (statement, code, message) => {
    mkdirSync(world.path('temporary'));
    vi.stubEnv('TMPDIR', world.path('temporary'));
    expect(await exportCommand({ data: 'db', statement, out: `x.${format}` }, world)).toBe(code);
    expect(world.err).toMatch(message);
    expect(readdirSync(world.cwd).sort()).toEqual(['db', 'temporary']);
    expect(readdirSync(world.path('temporary'))).toEqual([]);
  });

  test('refuses --times iso', async () => {
    expect(await exportCommand({ data: 'db', format, times: 'iso' }, world)).toBe(2);
    expect(world.err).toMatch(/--times iso is for csv and ndjson/);
  });

  test('is a document without nodes when there are no rows', async () => {
    const statement = 'MATCH (e:calls) WHERE e.count > 5 AND e.count < 5 RETURN *';
    expect(await exportCommand({ data: 'db', statement, format }, world), world.err).toBe(0);
    expect(world.out).not.toMatch(/<(node|edge) /);
    expect(world.out).toMatch(format === 'gexf' ? /<\/nodes>\n<edges>\n<\/edges>/ : /<graph [^>]*>\n<\/graph>/);
  });

  test('names the rows of a statement by their number and takes each member once', async () => {
    const rows: Row[] = [
      { id: 8, event_ts: 1, members: [2, 2, 1] },
      { id: 8, event_ts: 2, members: [1] },
    ];
    const text = await textOf(format, [rows], false);
    expect(text.match(/<node id="[^"]+"/g)).toEqual(['n2', 'n1', 'e0', 'e1'].map((id) => `<node id="${id}"`));
    expect([...text.matchAll(/source="(\w+)" target="(\w+)"/g)].map(([, from, to]) => [from, to])).toEqual([
      ['e0', 'n2'],
      ['e0', 'n1'],
      ['e1', 'n1'],
    ]);
  });

  test('refuses a later value that does not fit the type of its column', async () => {
    const batches = [[{ id: 1, event_ts: 1, members: [1] }], [{ id: 'x', event_ts: 1, members: [1] }]];
    await expect(textOf(format, batches, false)).rejects.toThrow(
      /The column id holds "x", but its first rows are integer, and a column has one type in (GraphML|GEXF)/,
    );
  });

  test('is written as the rows arrive', async () => {
    let read = 0;
    async function* batches(): AsyncGenerator<Row[]> {
      for (; read < 100; ) {
        read++;
        yield [{ id: read, event_ts: read, members: [read] }];
      }
    }
    let nodes = 0;
    for await (const piece of bytesOf(
      format,
      { columns: EDGE_COLUMNS, batches: batches(), areEdges: true, roles: [] },
      ';',
    )) {
      nodes +=
        Buffer.from(piece)
          .toString()
          .match(/<node /g)?.length ?? 0;
      expect(nodes).toBe(2 * read);
    }
    expect(nodes).toBe(200);
  });
});

const EDGE_COLUMNS = [
  { name: 'id', type: 'integer' },
  { name: 'event_ts', type: 'integer' },
  { name: 'members', type: { listOf: 'integer' } },
] as const;

async function textOf(format: (typeof FORMATS)[number], given: readonly Row[][], areEdges: boolean): Promise<string> {
  async function* batches(): AsyncGenerator<Row[]> {
    yield* given;
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of bytesOf(format, { columns: EDGE_COLUMNS, batches: batches(), areEdges, roles: [] }, ';'))
    pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** Heap of the process that exports, in megabytes; the document is larger than this. */
const HEAP_MB = 64;
const ROWS = 60_000;

test.skipIf(!BUILT)(
  `exports of more than ${HEAP_MB} MB need a heap of ${HEAP_MB} MB${BUILT ? '' : ' (skipped: dist/ is not built)'}`,
  async () => {
    await lookInto(world.path('db'), async (database) => {
      const table = await database.createTable({ name: 't', columns: [{ name: 'note', type: 'TEXT' }] });
      for (let from = 0; from < ROWS; from += 10_000) {
        const bulk = table.bulk();
        for (let i = from; i < from + 10_000; i++)
          bulk.add({ event_ts: i, members: [i, ROWS + (i % 1000)], properties: { note: `<${'x'.repeat(1200)}>` } });
        await bulk.commit();
      }
    });
    for (const format of FORMATS) {
      const flags = ['export', '--data', 'db', '--table', 't', '--out', `t.${format}`];
      execFileSync(process.execPath, [`--max-old-space-size=${HEAP_MB}`, MAIN, ...flags], {
        cwd: world.cwd,
        stdio: 'pipe',
      });
      expect(statSync(world.path(`t.${format}`)).size).toBeGreaterThan(HEAP_MB * 2 ** 20);
      const text = readFileSync(world.path(`t.${format}`), 'latin1');
      expect(text.match(/<node /g)!.length).toBe(2 * ROWS + 1000);
      expect(text.match(/<edge /g)!.length).toBe(2 * ROWS);
    }
  },
  120_000,
);

describe('texts in XML', () => {
  test.each([
    ['', ''],
    ['a & b < c > d " e \' f', "a &amp; b &lt; c &gt; d &quot; e ' f"],
    ['&amp;', '&amp;amp;'],
    [']]>', ']]&gt;'],
    ['\t\n\r', '&#9;&#10;&#13;'],
    ['\u0000\u0001\u0008\u000b\u000c\u000e\u001f', '\ufffd'.repeat(7)],
    ['\u007f\u0080\u0085\u009f\u00a0\u2028\ufdd0', '\u007f\u0080\u0085\u009f\u00a0\u2028\ufdd0'],
    ['\ud800', '\ufffd'],
    ['a\udc00b\ud83d', 'a\ufffdb\ufffd'],
    ['\ufffd\ufffe\uffff', '\ufffd\ufffd\ufffd'],
    ['🦊\u{1ffff}\u{10ffff}é', '🦊\u{1ffff}\u{10ffff}é'],
  ])('%j', (text, expected) => {
    expect(xmlText(text)).toBe(expected);
  });

  test('of every code unit is a character that XML 1.0 allows', () => {
    const allowed = /^[\t\n\r\u0020-\ud7ff\ue000-\ufffd]*$/;
    const codes = Array.from({ length: 65_536 }, (_, code) => code);
    expect(codes.filter((code) => !allowed.test(xmlText(String.fromCharCode(code))))).toEqual([]);
  });

  test.each([
    ['weight', 'weight'],
    ['e.weight * 2', 'e.weight___2'],
    ['COUNT(*)', 'COUNT___'],
    ['größe-1:x', 'größe-1:x'],
    ['a\u00d7b²🦊\ud800\u0000', 'a_b_🦊\ufffd_'],
    ['', '_'],
  ])('name token of %j', (name, expected) => {
    expect(nameToken(name)).toBe(expected);
  });
});

test('a set of numbers accepts each number once', () => {
  const random = new Random(7);
  const [numbers, expected, wrong] = [new NumberSet(), new Set<number>(), [] as number[]];
  for (let i = 0; i < 100_000; i++) {
    const value = random.chance(0.5) ? random.below(30_000) - 15_000 : (random.below(2 ** 31) - 2 ** 30) * 2 ** 22;
    if (numbers.add(value) === expected.has(value)) wrong.push(value);
    expected.add(value);
  }
  expect(wrong).toEqual([]);
  for (const value of [Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER]) expect(numbers.add(value)).toBe(true);
  expect([numbers.add(1e300), numbers.add(1e300)]).toEqual([true, false]);
  const empty = new NumberSet();
  expect([empty.add(0), empty.add(-0)]).toEqual([true, false]);
  expect(numbers.size).toBe(expected.size + 3);
});

describe('a named table', () => {
  const HOSTILE = [
    'Ada',
    'A<b> & "c"',
    "O'Neil",
    ' 🦊\u200f',
    'a b',
    'a_x20_b',
    'e1',
    'n7',
    '\ufffe',
    '\uffff',
    ':',
    'é',
  ];

  beforeEach(async () => {
    await lookInto(world.path('db'), async (database) => {
      const columns = [
        { name: 'born', type: 'INTEGER' },
        { name: 'topic', type: 'TEXT' },
        { name: 'label', type: 'BOOLEAN' },
      ] as const;
      await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' }, columns: [...columns] });
      await database.nodes.createTable({ name: 'e1', key: { name: 'number', type: 'INTEGER' }, columns: [] });
      const shape = { roles: ['sender', 'recipient'], intervals: true };
      const topic = [{ name: 'topic', type: 'TEXT' as const }];
      const calls = await database.createTable({ name: 'calls', memberTables: ['Person'], columns: topic, ...shape });
      const stays = await database.createTable({ name: 'stays', memberTables: ['Person', 'e1'] });
      const transaction = database.begin();
      transaction.insertNode(database.nodes.table('Person'), { name: 'Zoe', born: 1990, topic: 'tea', label: true });
      await transaction.commit();
      const bulk = calls.bulk();
      const members = { sender: ['Ada'], recipient: ['Ada', HOSTILE[1]!] };
      bulk.add({ event_ts: 10, members: members as never, properties: { end_ts: 20, topic: 'x' } });
      bulk.add({ event_ts: 11, members: HOSTILE });
      await bulk.commit();
      const one = [
        { kind: 'Person', key: 'e1' },
        { kind: 'e1', key: 7 },
      ];
      const more = stays.bulk();
      more.add({ event_ts: 5, members: one });
      await more.commit();
    });
  });

  const nodesOf = (text: string) => [...text.matchAll(/<node id="([^"]*)"/g)].map(([, id]) => id!);

  test('has nodes with their keys, attributes and roles, those without an edge too', async () => {
    for (const format of FORMATS) {
      world.out = '';
      expect(await exportCommand({ data: 'db', table: 'calls', format }, world), world.err).toBe(0);
      expectGolden(`graph-files/named.${format}`, world.out);
      const ids = nodesOf(world.out);
      expect(new Set(ids).size).toBe(HOSTILE.length + 1 + 2);
      expect(ids.filter((id) => id.startsWith('Person:'))).toHaveLength(HOSTILE.length + 1);
      // Every incidence joins nodes that are there.
      for (const [, from, to] of world.out.matchAll(/source="([^"]*)" target="([^"]*)"/g))
        expect(ids).toEqual(expect.arrayContaining([from, to]));
    }
  });

  test('of several kinds keeps their nodes apart, and from hyperedges', async () => {
    for (const format of FORMATS) {
      world.out = '';
      expect(await exportCommand({ data: 'db', table: 'stays', format }, world), world.err).toBe(0);
      const ids = nodesOf(world.out);
      expect(ids).toEqual(expect.arrayContaining(['Person:e1', 'e1:7', 'e1']));
      expect(new Set(ids).size).toBe(ids.length);
      expect(world.out).toMatch(format === 'gexf' ? /<attvalue for="v\d+" value="e1"/ : /<data key="v\d+">e1</);
    }
  });

  test('names keys in the rows of a statement without their kind', async () => {
    const statement = "MATCH (c:calls) WHERE c.topic = 'x' RETURN c.event_ts AS event_ts, c.members AS members";
    expect(await exportCommand({ data: 'db', statement, format: 'gexf' }, world), world.err).toBe(0);
    expect(nodesOf(world.out)).toEqual([':Ada', ':A&lt;b&gt; &amp; &quot;c&quot;', 'e0']);
  });

  test('gives different ids to different keys', () => {
    const random = new Random(3);
    const parts = ['_', 'x', '20', '_x', '_x20_', ' ', '5F', 'F', '\ufffe', '\uffff', 'a', '🦊', '"', '%'];
    const keys = new Set<string>();
    for (let i = 0; i < 20_000; i++)
      keys.add(Array.from({ length: random.below(6) }, () => parts[random.below(parts.length)]!).join(''));
    for (const idOf of [idText, tokenId]) {
      const ids = new Set([...keys].map(idOf));
      expect(ids.size).toBe(keys.size);
    }
    for (const key of keys) expect(nameToken(tokenId(`:${key}`))).toBe(tokenId(`:${key}`));
  });
});

test('members that are neither numbers nor keys are refused, and kinds are part of an id', async () => {
  const kinds = await textOf(
    'gexf',
    [[{ id: 2, event_ts: 11, members: [{ kind: 'Place', key: 7 }], end_ts: null }]],
    true,
  );
  expect(kinds).toContain('<node id="Place:7" label="7"');
  expect(kinds).toMatch(/<edge id="\d+" source="e2" target="Place:7" start="11"\/>/);
  await expect(textOf('gexf', [[{ id: 2, event_ts: 11, members: [null, 'Ada'] }]], true)).rejects.toThrow(
    'is not an edge',
  );
});
