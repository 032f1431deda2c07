// Exports of bipartite graphs as GraphML and GEXF. `graph-networkx.test.ts` reads them with another
// program.

import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { exportCommand } from '../../src/cli/export/command.ts';
import { bytesOf } from '../../src/cli/export/formats.ts';
import { NumberSet } from '../../src/cli/export/number-set.ts';
import { nameToken, xmlText } from '../../src/cli/export/xml-text.ts';
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

test('keys of named tables are labels, and edges with an end are intervals', async () => {
  const rows = [
    { id: 1, event_ts: 10, members: ['Ada', 'A<b> & "c"'], end_ts: 20 },
    { id: 2, event_ts: 11, members: ['Ada', { kind: 'Place', key: 7 }], end_ts: null },
  ];
  const gexf = await textOf('gexf', [rows], true);
  expect(gexf).toContain('<node id="n1" label="Ada"');
  expect(gexf).toContain('<node id="n2" label="A&lt;b&gt; &amp; &quot;c&quot;"');
  expect(gexf).toContain('<edge id="0" source="e1" target="n1" start="10" end="20"/>');
  expect(await textOf('graphml', [rows], true)).toContain('source="e1" target="n2"');
  const kinds = await textOf(
    'gexf',
    [[{ id: 2, event_ts: 11, members: [{ kind: 'Place', key: 7 }], end_ts: null }]],
    true,
  );
  expect(kinds).toContain('label="Place:7"');
  expect(kinds).toMatch(/<edge id="\d+" source="e2" target="n1" start="11"\/>/);
  await expect(textOf('gexf', [[{ id: 2, event_ts: 11, members: [null, 'Ada'] }]], true)).rejects.toThrow(
    'is not an edge',
  );
});
