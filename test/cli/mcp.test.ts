import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterEach, describe, expect, test } from 'vitest';
import type { McpFlags } from '../../src/cli/mcp/command.ts';
import { type Database, openDatabase } from '../../src/engine/index.ts';
import { startServer, type TestServer } from '../http/support.ts';
import { runCommand } from '../service/child.ts';
import { beginHere, beginProcess, runHere, type Session } from './mcp-session.ts';

/**
 * The number of edges in the table `meetings`. Edge i is a meeting of nodes 1 and 2 with the guest
 * 100 + i, ten seconds after the edge before it.
 */
const EDGES = 400;
const READ_TOOLS = [
  'list_tables',
  'describe_table',
  'list_rules',
  'query',
  'range',
  'node',
  'list_node_tables',
  'read_node',
  'list_nodes',
  'measures',
  'run_measure',
  'reason',
  'ask',
  'check_claims',
  'recall',
  'history',
];
const RULE = {
  id: 'rule:met',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'met', args: ['?A', '?B'] },
};

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form.
type Value = any;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function fill(database: Database): Promise<void> {
  const table = await database.createTable({ name: 'meetings', columns: [{ name: 'note', type: 'TEXT' }] });
  const bulk = table.bulk();
  for (let i = 0; i < EDGES; i++) {
    bulk.add({
      event_ts: 1000 + 10 * i,
      members: [1, 2, 100 + i],
      properties: { formation: i % 2 === 0 ? 'lunch' : 'office' },
    });
  }
  await bulk.commit();
}

async function filledServer(): Promise<TestServer> {
  const server = await startServer({ auth: true });
  closers.push(() => server.close());
  await fill(server.database);
  const headers = { 'x-api-key': server.keys.admin, 'content-type': 'application/json' };
  const stored = await fetch(`${server.url}/v1/rules`, { method: 'POST', headers, body: JSON.stringify(RULE) });
  expect(stored.status).toBe(200);
  return server;
}

async function filledDirectory(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-mcp-'));
  closers.push(async () => rmSync(dir, { recursive: true, force: true }));
  const database = await openDatabase({ dir, memoryBudgetMb: 64 });
  await fill(database);
  await database.close();
  return dir;
}

/** Opens a session in this process. The session is closed at the end of the test. */
async function begin(flags: McpFlags): Promise<Session> {
  const session = await beginHere(flags);
  closers.push(() => session.client.close());
  return session;
}

/** Sends the same requests, whether the session was opened with a server or with a directory. */
async function readEverything(session: Session): Promise<void> {
  await readOffer(session);
  await readRows(session);
  await readConclusions(session);
}

async function readOffer({ client, call }: Session): Promise<void> {
  expect(client.getServerVersion()?.name).toBe('hedgerow');
  expect(client.getInstructions()).toContain('list_tables');
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(READ_TOOLS);
  const ajv = new Ajv2020({ strict: false });
  for (const { name, inputSchema, outputSchema, annotations } of tools) {
    expect(ajv.validateSchema(outputSchema!), name).toBe(true);
    expect(outputSchema).toMatchObject({ type: 'object', additionalProperties: false });
    expect(ajv.validateSchema(inputSchema)).toBe(true);
    expect(inputSchema.additionalProperties).toBe(false);
    expect(annotations?.readOnlyHint).toBe(true);
  }

  const tables = await call('list_tables');
  expect(tables.value.tables.map((table: Value) => [table.name, table.row_count])).toEqual([
    ['hyperedges', 0],
    ['meetings', EDGES],
  ]);
  expect(JSON.parse(tables.text)).toEqual(tables.value);

  const described = (await call('describe_table', { table: 'MEETINGS' })).value;
  expect(described).toMatchObject({ name: 'meetings', first_ts: 1000, last_ts: 1000 + 10 * (EDGES - 1), indexes: [] });
  expect(described.columns).toEqual([{ name: 'note', type: 'TEXT' }]);
  expect(described.sample).toHaveLength(3);

  const { resources } = await client.listResources();
  expect(resources.map(({ uri }) => uri)).toEqual(['hedgerow://tables/hyperedges', 'hedgerow://tables/meetings']);
  const { resourceTemplates } = await client.listResourceTemplates();
  expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).toEqual(['hedgerow://tables/{name}']);
  const { contents } = await client.readResource({ uri: 'hedgerow://tables/meetings' });
  expect(JSON.parse((contents[0] as Value).text).row_count).toBe(EDGES);
}

async function readRows({ call }: Session): Promise<void> {
  const groups = await call('query', {
    statement: 'MATCH (m:meetings) WHERE $n IN m.members RETURN m.formation, COUNT(*) AS n ORDER BY n, m.formation',
    parameters: { n: 1 },
  });
  expect(groups.value).toEqual({
    columns: ['formation', 'n'],
    rows: [
      { formation: 'lunch', n: EDGES / 2 },
      { formation: 'office', n: EDGES / 2 },
    ],
    num_tuples: 2,
    more: false,
  });
  const first = (await call('query', { statement: 'MATCH (m:meetings) RETURN m.id ORDER BY m.id', limit: 5 })).value;
  expect([first.rows.length, first.more]).toEqual([5, true]);
  expect(first.hint).toContain('SKIP 5');

  const seen: number[] = [];
  let cursor: string | undefined;
  do {
    const next = cursor === undefined ? {} : { cursor };
    const { value: page } = await call('range', { table: 'meetings', start_ts: 0, end_ts: 9999, limit: 150, ...next });
    expect(page.hyperedges.length).toBeLessThanOrEqual(150);
    seen.push(...page.hyperedges.map((row: Value) => row.event_ts));
    cursor = page.next_cursor ?? undefined;
    expect(page.hint === undefined).toBe(cursor === undefined);
  } while (cursor !== undefined);
  expect(seen).toEqual(Array.from({ length: EDGES }, (_, i) => 1000 + 10 * i));

  const dated = await call('range', {
    table: 'meetings',
    start_ts: '1970-01-01T00:16:40Z',
    end_ts: '1970-01-01',
    limit: 2,
  });
  expect(dated.value.hyperedges.map((row: Value) => row.event_ts)).toEqual([1000, 1010]);
  const unnamed = (await call('range', { start_ts: 0, end_ts: 9999 })).value;
  expect(unnamed.hint).toMatch(/No table was named, so hyperedges was looked at/);
  const none = await call('query', { statement: 'MATCH (m:meetings) WHERE m.event_ts < 0 RETURN m.id' });
  expect(none.value).toEqual({ rows: [], num_tuples: 0, more: false });

  const ofNode = (await call('node', { node_id: 105, table: 'meetings' })).value;
  expect(ofNode.hyperedges.map((row: Value) => row.members)).toEqual([[1, 2, 105]]);
}

async function readConclusions({ call }: Session): Promise<void> {
  const listed = (await call('measures')).value.measures;
  expect(listed).toHaveLength(25);
  expect(listed.map((one: Value) => one.measure)).toContain('pagerank');
  expect((await call('measures', { measure: 'pagerank' })).value.measures[0].params.properties.alpha).toBeDefined();

  const degree = (await call('run_measure', { table: 'meetings', measure: 'node_degree', limit: 3 })).value;
  expect(degree.rows).toEqual([
    { id: 1, value: EDGES },
    { id: 2, value: EDGES },
    { id: 100, value: 1 },
  ]);
  expect([degree.more, degree.rows_total]).toEqual([true, EDGES + 2]);

  const question = { query: 'event_ts = 1050', table: 'meetings', rules: [RULE] };
  const reasoned = (await call('reason', question)).value;
  expect(reasoned.derived_facts.map((fact: Value) => fact.args)).toEqual([
    [1, 2],
    [1, 105],
    [2, 105],
  ]);
  expect(reasoned.derived_facts[0].proof).toEqual([
    'met(1, 2): by rule:met, confidence 1',
    '  member(6, 1): stored in edge 6 of meetings, event_ts 1050 (1970-01-01T00:17:30Z)',
    '  member(6, 2): stored in edge 6 of meetings, event_ts 1050 (1970-01-01T00:17:30Z)',
    '  1 < 2',
  ]);
  expect([reasoned.facts_by_predicate, reasoned.more]).toEqual([{ met: 3 }, false]);
  const last = (await call('reason', { ...question, skip: 2, limit: 1, predicate: 'met', proof_json: true })).value;
  expect(last.derived_facts.map((fact: Value) => fact.args)).toEqual([[2, 105]]);
  const leaf = last.derived_facts[0].proof.nodes.find((one: Value) => one.kind === 'evidence');
  expect([leaf.table, leaf.event_ts, last.facts_total]).toEqual(['meetings', 1050, 3]);

  const asked = (await call('ask', { query: 'What happened with node 105?', table: 'meetings' })).value;
  expect([asked.abstained, asked.cited_edges.length]).toEqual([false, 1]);
  expect(asked.answer).toContain('HEDGE-');
  expect(asked.computed_by).toBe(null);
  const counted = (await call('ask', { query: 'How many meetings had node 105?', table: 'meetings' })).value;
  expect([counted.abstained, counted.computed_by]).toEqual([false, expect.stringMatching(/MATCH.*COUNT/i)]);

  const claims = ['Nodes 1, 2 and 105 met for office [HEDGE-6].', 'Node 1 met node 99 [HEDGE-6].'];
  const checked = (await call('check_claims', { claims, edge_ids: [6], table: 'meetings' })).value;
  expect([checked.supported, checked.total]).toEqual([1, 2]);
  expect(checked.results.map((one: Value) => [one.supported, one.tags])).toEqual([
    [true, ['HEDGE-6']],
    [false, ['HEDGE-6']],
  ]);
  expect(checked.results[1].reasons.join(' ')).toContain('99');
}

async function beRefused({ client, call }: Session): Promise<void> {
  const cases: [string, Record<string, unknown>, RegExp][] = [
    ['describe_table', { table: 'nope' }, /nope/],
    ['describe_table', { table: 'x'.repeat(100_000) }, /no table|a name or a query parameter is too long/],
    ['describe_table', {}, /^table is missing\./],
    ['range', { start_ts: 0, end_ts: 9, limit: 5000 }, /^limit must be an integer from 1 to 1000\./],
    ['range', { start_ts: 'soon', end_ts: 9 }, /^start_ts is not a time in ISO 8601/],
    ['range', { start_ts: 9, end_ts: 8 }, /^start_ts 9 must not be after end_ts 8/],
    ['describe_table', { table: 'a`) RETURN 1' }, /There is no table "a`\) RETURN 1"\. list_tables lists them/],
    ['query', { statement: 'SHOW TABLES', parameters: 5 }, /^parameters must be an object/],
    ['run_measure', { table: 'meetings', measure: 'density', params: 'x' }, /^params must be an object/],
    ['range', { start_ts: 0, end_ts: 9, cursor: 'x' }, /cursor/],
    ['node', { node_id: 1, from: 3 }, /^from is not an argument of this tool/],
    ['run_measure', { table: 'meetings', measure: 'beauty' }, /beauty/],
    ['run_measure', { table: 'meetings', measure: 'pagerank', params: { alpha: 7 } }, /alpha/],
    ['reason', { query: 'node 1', rules: [{ id: 'x' }] }, /rule/],
    [
      'query',
      { statement: 'INSERT INTO meetings (event_ts, members) VALUES (1, [1])' },
      /writes are off.*--allow-writes/,
    ],
    ['query', { statement: 'DELETE FROM meetings' }, /writes are off/],
    ['query', { statement: '/* MATCH */ delete FROM meetings' }, /writes are off/],
    ['query', { statement: 'ANALYZE DELETE FROM meetings' }, /writes are off/],
    ['query', { statement: 'EXPLAIN ANALYZE DELETE FROM meetings' }, /EXPLAIN takes a statement/],
    ['query', { statement: 'MATCH (m:meetings) RETURN m.id; DELETE FROM meetings' }, /one statement at a time/],
    ['query', { statement: 'COMPACT meetings' }, /writes are off/],
    ['query', { statement: 'DROP HYPEREDGE TABLE meetings' }, /hedgerow query/],
    ['query', { statement: "COPY meetings TO 'x.csv'" }, /hedgerow query/],
    ['query', { statement: 'BEGIN' }, /transaction of its own/],
    ['query', { statement: 'MATCH (m:nope) RETURN m.id' }, /nope/],
  ];
  for (const [name, given, sentence] of cases) {
    const { text, value, isError } = await call(name, given);
    expect([name, isError]).toEqual([name, true]);
    expect(text).toMatch(sentence);
    expect(value.code).toMatch(/^[a-z_]+$/);
  }
  const wrong = await call('query', { statement: 'MATCH (m:meetings) RETRN m.id' });
  expect(wrong.text.split('\n').slice(1)).toEqual(['  MATCH (m:meetings) RETRN m.id', '                     ^']);
  expect(wrong.value.code).toBe('syntax_error');
  await expect(client.callTool({ name: 'drop_everything', arguments: {} })).rejects.toThrow(
    /There is no tool drop_everything; there are list_tables/,
  );
  await expect(call('insert', { edges: [{ event_ts: 1, members: [1] }] })).rejects.toThrow(/There is no tool insert/);
  await expect(client.readResource({ uri: 'hedgerow://tables/nope' })).rejects.toThrow(/There is no resource/);
}

describe('a session over stdio', () => {
  test('reads everything from a server and writes only protocol messages to stdout', async () => {
    const server = await filledServer();
    const session = await beginProcess(['--url', server.url], { HEDGEROW_API_KEY: server.keys.readonly });
    closers.push(() => session.client.close());
    await readEverything(session);
    expect((await session.call('list_rules')).value.rules).toMatchObject([RULE]);
    await beRefused(session);
    expect(session.strays).toEqual([]);
    expect(session.errors()).toBe('');
    expect(server.database.table('meetings').item().row_count).toBe(EDGES);
  });

  test('reads everything from a data directory', async () => {
    const session = await begin({ data: await filledDirectory() });
    await readEverything(session);
    expect((await session.call('list_rules')).value).toEqual({ rules: [] });
    await beRefused(session);
    expect(session.strays).toEqual([]);
    expect(session.errors()).toBe('');
  });

  test('writes only when writes are allowed and the key is readwrite', async () => {
    const server = await filledServer();
    const edges = [
      { event_ts: 7, members: [3, 1], note: 'first' },
      { event_ts: 8, members: [2] },
    ];
    const writer = await begin({ url: server.url, apiKey: server.keys.readwrite, allowWrites: true });
    const { tools } = await writer.client.listTools();
    const hints = (name: string) => tools.find((one) => one.name === name)?.annotations;
    expect(hints('insert')).toMatchObject({ readOnlyHint: false, destructiveHint: false });
    expect(hints('query')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
    expect(hints('range')?.readOnlyHint).toBe(true);
    expect((await writer.call('insert', { table: 'meetings', edges })).value).toMatchObject({ inserted: 2 });
    const updated = await writer.call('query', { statement: "UPDATE meetings SET note = 'second' WHERE event_ts = 8" });
    expect(updated.value.rows).toEqual([{ operation: 'UPDATE', rows_affected: 1 }]);
    const notes = await writer.call('query', { statement: 'MATCH (m:meetings) WHERE m.event_ts < 10 RETURN m.note' });
    expect(notes.value.rows.map((row: Value) => row.note).sort()).toEqual(['first', 'second']);
    expect((await writer.call('insert', { table: 'meetings', edges: [{ event_ts: 1, members: [] }] })).text).toMatch(
      /members/,
    );

    const reader = await begin({ url: server.url, apiKey: server.keys.readonly, allowWrites: true });
    const refused = await reader.call('insert', { table: 'meetings', edges });
    expect([refused.isError, refused.value.code]).toEqual([true, 'forbidden']);
    expect(refused.text).toMatch(/needs the role readwrite; the key has the role readonly/);

    const admin = await begin({ url: server.url, apiKey: server.keys.admin, allowWrites: true });
    expect((await admin.call('query', { statement: 'DROP HYPEREDGE TABLE meetings' })).value.code).toBe('forbidden');
    expect(server.database.table('meetings').item().row_count).toBe(EDGES + 2);
  });

  test('stores writes in a directory durably, and unlocks it when the client has disconnected', async () => {
    const dir = await filledDirectory();
    const session = await begin({ data: dir, allowWrites: true });
    const { value } = await session.call('insert', { table: 'meetings', edges: [{ event_ts: 5, members: [9] }] });
    expect(value.inserted).toBe(1);
    await session.client.close();
    const database = await openDatabase({ dir, memoryBudgetMb: 64 });
    expect(database.table('meetings').item().row_count).toBe(EDGES + 1);
    expect(database.documents.entries('keys')).toEqual([]);
    await database.close();
  });

  test('splits wide rows into more pages to keep answers small, and loses none', async () => {
    const server = await filledServer();
    const table = await server.database.createTable({ name: 'wide', columns: [{ name: 'note', type: 'TEXT' }] });
    for (let i = 0; i < 12; i++)
      await table.insert({ event_ts: i, members: [i], properties: { note: 'x'.repeat(20_000) } });
    const { call } = await begin({ url: server.url, apiKey: server.keys.readonly });
    const rows: number[] = [];
    let cursor: string | undefined;
    do {
      const { value, text } = await call('range', {
        table: 'wide',
        start_ts: 0,
        end_ts: 99,
        ...(cursor ? { cursor } : {}),
      });
      expect(text.length).toBeLessThan(65_000);
      rows.push(...value.hyperedges.map((row: Value) => row.event_ts));
      cursor = value.next_cursor ?? undefined;
    } while (cursor !== undefined);
    expect(rows).toEqual([...Array(12).keys()]);
    const found = (await call('query', { statement: 'MATCH (w:wide) RETURN w.note' })).value;
    expect([found.rows.length, found.more]).toEqual([2, true]);

    await table.insert({ event_ts: 99, members: [1], properties: { note: 'y'.repeat(65_000) } });
    const one = await call('range', { table: 'wide', start_ts: 99, end_ts: 99 });
    expect(one.value.hyperedges[0].note).toMatch(/^y{10000,}… \(\d+ characters more\)$/);
    expect(one.text.length).toBeLessThan(65_000);
    await server.database.createTable({
      name: 'broad',
      columns: Array.from({ length: 900 }, (_, i) => ({ name: `${'c'.repeat(55)}_${i}`, type: 'TEXT' as const })),
    });
    await server.database.table('broad').insert({ event_ts: 1, members: [...Array(60).keys()] });
    for (const [name, given] of [
      ['list_tables', {}],
      ['describe_table', { table: 'broad' }],
      ['range', { table: 'broad', start_ts: 0, end_ts: 9 }],
      ['ask', { query: '', table: 'broad' }],
    ] as const) {
      const broad = await call(name, given);
      expect([name, broad.isError]).toEqual([name, false]);
    }
    const row = await call('query', { statement: 'MATCH (w:wide) WHERE w.event_ts = 99 RETURN w.note' });
    expect(row.text.length).toBeLessThan(65_000);
  });
});

describe('the command', () => {
  test('reports in one line what is missing, and prints nothing to stdout', async () => {
    const missing = join(tmpdir(), 'hedgerow-nothing-here');
    const none = await runHere({ data: missing });
    expect(none).toEqual({ code: 1, out: '', err: `hedgerow: There is no directory ${missing}.\n` });
    const both = await runHere({ data: missing, url: 'http://127.0.0.1:1' });
    expect([both.code, both.out]).toEqual([2, '']);
    expect(await runHere({ url: 'http://127.0.0.1:9' })).toEqual({ code: 0, out: '', err: '' });
  });

  test('names the package to install when it is missing', async () => {
    // A loader that cannot find the package.
    const hook = `export function resolve(name, context, next) {
      if (!name.startsWith('@modelcontextprotocol')) return next(name, context);
      throw Object.assign(new Error('not found'), { code: 'ERR_MODULE_NOT_FOUND' });
    }`;
    const module = (code: string) => `data:text/javascript,${encodeURIComponent(code)}`;
    const register = `import { register } from 'node:module'; register(${JSON.stringify(module(hook))});`;
    const { code, output } = await runCommand(['mcp'], { NODE_OPTIONS: `--import=${module(register)}` });
    expect([code, output.out]).toEqual([1, '']);
    expect(output.error).toBe(
      'hedgerow: The package @modelcontextprotocol/sdk is not installed. Install it beside hedgerow: npm install @modelcontextprotocol/sdk\n',
    );
  });

  test('starts without its server, and each tool reports the address that does not answer', async () => {
    const { call } = await begin({ url: 'http://127.0.0.1:9' });
    const { text, isError } = await call('list_tables');
    expect(isError).toBe(true);
    expect(text).toMatch(/http:\/\/127\.0\.0\.1:9.*hedgerow serve/);
  });

  test('reports how to pass a key when the key is not valid', async () => {
    const server = await startServer({ auth: true });
    closers.push(() => server.close());
    const { call } = await begin({ url: server.url, apiKey: 'hgr_wrong' });
    expect((await call('list_tables')).text).toMatch(/unknown, revoked or expired.*--api-key/);

    const session = await begin({ url: server.url, apiKey: server.keys.readonly });
    expect((await session.call('list_tables')).isError).toBe(false);
    await revoke(server, 'readonly');
    const { text, value, isError } = await session.call('list_tables');
    expect([isError, value.code]).toEqual([true, 'unauthorized']);
    expect(text).not.toContain(server.keys.readonly);
  });

  test('refuses a key that cannot be sent in a header, without repeating it', async () => {
    for (const key of ['hgr_geheim\nX', 'hgr_gehe\u20acim']) {
      const { code, out, err } = await runHere({ url: 'http://127.0.0.1:9', apiKey: key });
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(/characters that no key has/);
      expect(err).not.toContain('gehe');
    }
  });
});

async function revoke(server: TestServer, role: string): Promise<void> {
  const headers = { 'x-api-key': server.keys.admin };
  const keys = (await (await fetch(`${server.url}/v1/keys`, { headers })).json()) as { key_id: string; role: string }[];
  const id = keys.find((key) => key.role === role)!.key_id;
  expect((await fetch(`${server.url}/v1/keys/${id}`, { method: 'DELETE', headers })).status).toBe(200);
}
