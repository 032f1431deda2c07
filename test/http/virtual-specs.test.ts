// Tests specs of virtual graphs: they are proposed by a language model, replaced atomically, and
// kept across restarts and backups. API keys must not appear anywhere.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { refinerOf } from '../../src/app.ts';
import type { Config } from '../../src/config.ts';
import { restore } from '../backup/support.ts';
import { type ModelStandIn, says, sends, startModel } from './model-stand-in.ts';
import { type Answer, send, startServer, type TestServer } from './support.ts';

const OWN_KEY = 'sk-server-own-canary-2311';
const CALLERS_KEY = 'sk-callers-canary-9042';

let model: ModelStandIn;
let server: TestServer;
let dir: string;
let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'hedgerow-specs-root-'));
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-specs-'));
  const trips = Array.from(
    { length: 20 },
    (_, n) => `${n},${n % 4},${10 + (n % 5)},2024-01-${10 + n} 10:00:00,${n / 2}`,
  );
  await writeFile(join(root, 'trips.csv'), `trip_id,origin_id,target_id,left_at,price\n${trips.join('\n')}\n`);
  model = await startModel();
  server = await start(dir);
});
afterAll(async () => {
  await server.close();
  await model.close();
  await rm(root, { recursive: true, force: true });
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  model.asked.length = 0;
});

function start(at: string, more: Parameters<typeof startServer>[0] = {}): Promise<TestServer> {
  const config = {
    llmBaseUrl: model.baseUrl,
    llmModel: 'test-model',
    openaiApiKey: OWN_KEY,
    llmAllowedHosts: ['127.0.0.1'],
  };
  return startServer({ dir: at, virtualRoot: root, refine: refinerOf(config as unknown as Config), ...more });
}

const BACKEND = { type: 'csv', path: 'trips.csv' };
const propose = (body: object, to = server): Promise<Answer> =>
  send(to, 'POST', '/v1/virtual/propose', { backend: BACKEND, id: 'trips', ...body });

/** Returns a possible answer of the model. */
function refined(change: object = {}) {
  return {
    nodes: [{ label: 'Town', table: 'trips', id_column: 'origin_id' }],
    edges: [
      {
        label: 'Journey',
        shape: 'row',
        table: 'trips',
        ts_column: 'left_at',
        row_member_columns: { from: 'origin_id', to: 'target_id' },
        members: [
          { name: 'from', node_label: 'Town', role: 'start' },
          { name: 'to', node_label: 'Town', role: 'end' },
        ],
      },
    ],
    rationale: [{ edge: 'Journey', reason: 'People travel between towns.' }],
    ...change,
  };
}
const edgeWith = (change: object) => refined({ edges: [{ ...refined().edges[0], ...change }] });

describe('a proposal with a language model', () => {
  test('is refused for an unknown type of backend, with the accepted types', async () => {
    const { status, json } = await propose({ backend: { type: 'nope' } });
    expect([status, json.detail]).toEqual([
      400,
      expect.stringContaining('the type duckdb, parquet, csv or json and a path'),
    ]);
  });

  test('uses the answer of the model when it is valid', async () => {
    model.answer = says(`Here you are:\n\`\`\`json\n${JSON.stringify(refined())}\n\`\`\``);
    const { status, json } = await propose({ use_llm: true, name: 'Mine' });
    expect(status).toBe(200);
    expect(json).toEqual({
      spec: { id: 'trips', name: 'Mine', backend: BACKEND, nodes: refined().nodes, edges: refined().edges },
      rationale: [{ edge: 'Journey', reason: 'People travel between towns.' }],
      saved: false,
      llm_used: true,
    });
    expect(model.asked).toHaveLength(1);
    const [{ headers, body }] = model.asked as [ModelStandIn['asked'][0]];
    expect(headers.authorization).toBe(`Bearer ${OWN_KEY}`);
    expect(body).toContain('origin_id');
    expect(body).not.toMatch(/sk-/);
    expect(body).not.toContain(root);
  });

  test('does not call the model unless requested', async () => {
    const { json } = await propose({});
    expect([json.llm_used, json.spec.edges.length > 0]).toEqual([false, true]);
    expect(model.asked).toEqual([]);
  });

  const failures: [name: string, answer: ModelStandIn['answer']][] = [
    ['500', sends({ error: 'broken' }, 500)],
    ['401', sends({ error: 'who are you' }, 401)],
    ['no JSON', says('I cannot do that.')],
    ['nothing', says('')],
    ['broken JSON', says('{"nodes": [')],
    ['a list', says('[1, 2]')],
    ['null', says('null')],
    ['an empty object', says('{}')],
    ['no edges', says(JSON.stringify(refined({ edges: [] })))],
    ['no nodes', says(JSON.stringify(refined({ nodes: [] })))],
    ['an unknown table', says(JSON.stringify(edgeWith({ table: 'trips; DROP TABLE x' })))],
    ['an unknown column', says(JSON.stringify(edgeWith({ ts_column: 'gone_at' })))],
    ['a time that is none', says(JSON.stringify(edgeWith({ ts_column: 'price' })))],
    ['an unknown member column', says(JSON.stringify(edgeWith({ row_member_columns: { from: 'x', to: 'y' } })))],
    ['a label that is none', says(JSON.stringify(edgeWith({ label: 'a "b' })))],
    ['another shape', says(JSON.stringify(edgeWith({ shape: 'star' })))],
    ['more than a megabyte', says('x'.repeat(1_100_000))],
    [
      'half an answer',
      (response) => {
        response.writeHead(200, { 'content-length': '99' }).write('{');
        response.destroy();
      },
    ],
    ['a closed connection', (response) => void response.destroy()],
  ];
  test.each(failures)(
    'falls back to the proposal without a model when the model answers: %s',
    async (_name, answer) => {
      const plain = (await propose({})).json;
      model.answer = answer;
      const { status, json } = await propose({ use_llm: true, llm_api_key: CALLERS_KEY });
      expect([status, json]).toEqual([200, plain]);
      expect(model.asked.length).toBeGreaterThan(0);
    },
  );

  test('falls back to the proposal without a model, and saves it, when the model is too slow', async () => {
    const at = await mkdtemp(join(tmpdir(), 'hedgerow-specs-slow-'));
    const slow = await start(at, { queryTimeoutMs: 4000 });
    try {
      model.answer = () => undefined;
      const { status, json } = await propose({ use_llm: true, save: true }, slow);
      expect([status, json.llm_used, json.saved, json.spec.spec_version]).toEqual([200, false, true, 1]);
      expect((await send(slow, 'GET', '/v1/virtual/graphs/trips')).json).toEqual(json.spec);
    } finally {
      await slow.close();
      await rm(at, { recursive: true, force: true });
    }
  });

  test('does not call the model when the id already exists', async () => {
    await propose({ id: 'there', save: true });
    model.answer = says(JSON.stringify(refined()));
    const { status, json } = await propose({ id: 'there', save: true, use_llm: true });
    expect([status, json.code]).toEqual([409, 'graph_exists']);
    expect(model.asked).toEqual([]);
  });

  test('keeps keys out of answers, specs, logs and files, whatever the model repeats', async () => {
    const edge = refined().edges[0]!;
    const echoes = (key: string) =>
      says(
        JSON.stringify(
          refined({
            edges: [{ ...edge, members: edge.members.map((member) => ({ ...member, role: `role ${key}` })) }],
            rationale: [{ edge: 'Journey', reason: `Your key is ${key}.` }],
          }),
        ),
      );
    model.answer = echoes(CALLERS_KEY);
    const first = await propose({ id: 'echo', use_llm: true, llm_api_key: CALLERS_KEY, save: true });
    expect([first.status, first.json.saved]).toEqual([200, true]);
    expect(model.asked[0]!.headers.authorization).toBe(`Bearer ${CALLERS_KEY}`);
    model.answer = echoes(OWN_KEY);
    const second = await propose({ id: 'echo2', use_llm: true, save: true });
    const stored = await send(server, 'GET', '/v1/virtual/graphs/echo');
    const files = await Promise.all((await filesBelow(dir)).map((file) => readFile(file, 'latin1')));
    for (const text of [first.text, second.text, stored.text, ...server.errors, ...files])
      for (const key of [CALLERS_KEY, OWN_KEY]) expect(text.includes(key)).toBe(false);
  });
});

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

const SPEC = { id: 'kept', name: 'Kept', backend: BACKEND, nodes: refined().nodes, edges: refined().edges };
const QUERY = { query: 'MATCH (j:Journey){from:Town, to:Town} RETURN j LIMIT 3' };

test('simultaneous replacements run one after another, and each gets its own version', async () => {
  await send(server, 'POST', '/v1/virtual/graphs', { ...SPEC, id: 'raced' });
  const names = Array.from({ length: 8 }, (_, n) => `name ${n}`);
  const answers = await Promise.all(
    names.map((name) => send(server, 'PUT', '/v1/virtual/graphs/raced', { ...SPEC, id: 'raced', name })),
  );
  expect(answers.map(({ status }) => status)).toEqual(names.map(() => 200));
  expect(answers.map(({ json }) => json.name)).toEqual(names);
  expect(answers.map(({ json }) => json.spec_version).sort()).toEqual([2, 3, 4, 5, 6, 7, 8, 9]);
  const last = answers.find(({ json }) => json.spec_version === 9)!;
  expect((await send(server, 'GET', '/v1/virtual/graphs/raced')).json).toEqual(last.json);
  const created = await Promise.all(
    [1, 2, 3].map(() => send(server, 'POST', '/v1/virtual/graphs', { ...SPEC, id: 'new' })),
  );
  expect(created.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
});

test('a write with an Idempotency-Key is executed once', async () => {
  const once = { ...SPEC, id: 'once' };
  const path = '/v1/virtual/graphs/once';
  const writes: [method: string, path: string, body: unknown, status: number][] = [
    ['POST', '/v1/virtual/graphs', once, 201],
    ['PUT', path, { ...once, name: 'Twice' }, 200],
    ['DELETE', `${path}/cache`, undefined, 200],
    ['DELETE', path, undefined, 200],
    ['POST', '/v1/virtual/propose', { backend: SPEC.backend, id: 'once-more', save: true }, 200],
  ];
  for (const [method, target, body, status] of writes) {
    const headers = { 'idempotency-key': `once ${method} ${target}` };
    await send(server, 'POST', `${path}/query`, QUERY);
    const first = await send(server, method, target, body, headers);
    const { lastLsn } = server.database;
    const again = await send(server, method, target, body, headers);
    expect([first.status, again.status, again.text]).toEqual([status, status, first.text]);
    expect([first, again].map((answer) => answer.headers.get('idempotent-replayed'))).toEqual([null, 'true']);
    expect(server.database.lastLsn).toBe(lastLsn);
    if (body === undefined) continue;
    const other = await send(server, method, target, { ...once, name: 'Other' }, headers);
    expect([other.status, other.json.code]).toEqual([409, 'idempotency_conflict']);
  }
  expect((await send(server, 'GET', path)).status).toBe(404);
});

test('specs survive a restart and a backup, and can be queried afterwards', async () => {
  await send(server, 'POST', '/v1/virtual/graphs', SPEC);
  await send(server, 'PUT', '/v1/virtual/graphs/kept', { ...SPEC, name: 'Kept twice' });
  await send(server, 'POST', '/v1/virtual/graphs', { ...SPEC, id: 'gone' });
  await send(server, 'DELETE', '/v1/virtual/graphs/gone');
  const list = (await send(server, 'GET', '/v1/virtual/graphs')).json;
  const kept = (await send(server, 'GET', '/v1/virtual/graphs/kept')).json;
  const { hyperedges } = (await send(server, 'POST', '/v1/virtual/graphs/kept/query', QUERY)).json;
  expect([kept.spec_version, hyperedges.length]).toEqual([2, 3]);
  const backup = await send(server, 'POST', '/v1/backup', {});
  expect(backup.status).toBe(200);
  await server.close();
  server = await start(dir);
  const restored = join(root, 'restored');
  await restore(backup.json.path, restored);
  const other = await start(restored);
  try {
    for (const one of [server, other]) {
      expect((await send(one, 'GET', '/v1/virtual/graphs')).json).toEqual(list);
      expect((await send(one, 'GET', '/v1/virtual/graphs/kept')).json).toEqual(kept);
      expect((await send(one, 'GET', '/v1/virtual/graphs/gone')).status).toBe(404);
      const answer = (await send(one, 'POST', '/v1/virtual/graphs/kept/query', QUERY)).json;
      expect(answer).toMatchObject({ hyperedges, cached: false });
      const replaced = await send(one, 'PUT', '/v1/virtual/graphs/kept', SPEC);
      expect(replaced.json.spec_version).toBe(3);
    }
  } finally {
    await other.close();
  }
});
