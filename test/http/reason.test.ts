// Rules, reasoning and questions over HTTP: what is refused and how, faults of a model, keys that stand nowhere.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ModelStandIn, says, sends, startModel } from './model-stand-in.ts';
import { startServer, type TestServer } from './support.ts';

const OWN_KEY = 'sk-server-own-canary-4711';
const CALLERS_KEY = 'sk-callers-canary-0815';

let server: TestServer;
let model: ModelStandIn;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-reason-'));
  model = await startModel();
  server = await startServer({ dir, modelBaseUrl: model.baseUrl, modelKey: OWN_KEY, modelHosts: ['127.0.0.1'] });
  const table = server.database.table();
  for (const [event_ts, ...members] of [
    [100, 1, 2],
    [200, 2, 3],
    [300, 3, 4, 5],
  ] as [number, ...number[]][])
    await table.insert({ event_ts, members, properties: { weight: event_ts / 1000, formation: 'lunch' } });
});
afterAll(async () => {
  await server.close();
  await model.close();
  await rm(dir, { recursive: true, force: true });
});
beforeEach(() => {
  model.asked.length = 0;
});

interface Answered {
  status: number;
  text: string;
  // biome-ignore lint/suspicious/noExplicitAny: answers of many forms are looked at field by field
  json: any;
}

async function send(method: string, path: string, body?: unknown): Promise<Answered> {
  const response = await fetch(server.url + path, {
    method,
    ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
    ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, text, json: JSON.parse(text) };
}
const post = (path: string, body: unknown) => send('POST', path, body);
const ask = (body: object) => post('/v1/rag/query', { query: 'What did node 3 do?', rules: [], ...body });

const MET = {
  id: 'rule:met',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'met', args: ['?A', '?B'] },
};

describe('what is invalid answers 422', () => {
  test.each([
    ['no JSON', '/v1/reason', '{'],
    ['no query', '/v1/reason', {}],
    ['no query to ask', '/v1/rag/query', {}],
    ['a query that is no text', '/v1/reason', { query: 5 }],
    ['an unknown table to reason', '/v1/reason', { query: '', table: 'nope' }],
    ['a bad mode', '/v1/rag/query', { query: '', mode: 'oracle' }],
    ['a bad mode to reason', '/v1/reason', { query: '', mode: 'oracle' }],
    ['top_k 0', '/v1/rag/query', { query: '', top_k: 0 }],
    ['top_k 201', '/v1/rag/query', { query: '', top_k: 201 }],
    ['top_k of a reason beyond 10,000', '/v1/reason', { query: '', top_k: 10_001 }],
    ['a broken top_k', '/v1/rag/query', { query: '', top_k: 1.5 }],
    ['token_budget 499', '/v1/rag/query', { query: '', token_budget: 499 }],
    ['token_budget 12001', '/v1/rag/query', { query: '', token_budget: 12_001 }],
    ['a window that is no number', '/v1/rag/query', { query: '', time_start: 'today' }],
    ['rules that are no list', '/v1/reason', { query: '', rules: {} }],
    ['a malformed rule', '/v1/reason', { query: '', rules: [{}] }],
    ['an unsafe rule', '/v1/reason', { query: '', rules: [{ ...MET, then: { pred: 'met', args: ['?Z'] } }] }],
    ['a cycle through a negation', '/v1/reason', { query: '', rules: [selfDenying()] }],
    ['an unsafe rule in a question', '/v1/rag/query', { query: '', mode: 'neuro', rules: [selfDenying()] }],
    ['a rule to store that is none', '/v1/rules', { id: 'met' }],
    ['an address that is not allowed', '/v1/rag/query', { query: '', base_url: 'https://elsewhere.example/v1' }],
    ['a key that no header can hold', '/v1/rag/query', { query: '', openai_api_key: 'a\nb' }],
  ])('%s', async (_name, path, body) => {
    const { status, json } = await post(path, body);
    expect([status, json.status, typeof json.detail]).toEqual([422, 422, 'string']);
    expect(model.asked).toEqual([]);
  });

  test('but an unknown table of a question is not found', async () => {
    expect((await ask({ table: 'nope', mock: true })).status).toBe(404);
    expect((await send('GET', '/v1/rag/parse?query=x&table=nope')).status).toBe(404);
    expect((await send('GET', '/v1/rag/parse')).status).toBe(422);
  });
});

function selfDenying() {
  return {
    id: 'rule:liar',
    if: [{ pred: 'member', args: ['?E', '?A'] }, { not: { pred: 'liar', args: ['?A'] } }],
    then: { pred: 'liar', args: ['?A'] },
  };
}

describe('reasoning', () => {
  test('runs the rules of the request, or the stored ones that are enabled, or none', async () => {
    const facts = async (rules: unknown) =>
      (await post('/v1/reason', { query: 'nodes 1 and 4', rules })).json.derived_facts.map(
        ({ fact }: { fact: string }) => fact,
      );
    const found = ['met(1, 2)', 'met(3, 4)', 'met(3, 5)', 'met(4, 5)'];
    expect(await facts([MET])).toEqual(found);
    expect(await facts(null)).toEqual([]);
    await post('/v1/rules', MET);
    expect(await facts(null)).toEqual(found);
    expect(await facts([])).toEqual([]);
    await post('/v1/rules', { ...MET, enabled: false });
    expect(await facts(undefined)).toEqual([]);
    expect((await send('DELETE', '/v1/rules/rule:met')).json).toEqual({ id: 'rule:met', deleted: true });
  });

  test('answers more than fits into one body as a stream, the same', async () => {
    const members = Array.from({ length: 64 }, (_, i) => 1000 + i);
    await server.database.table().insert({ event_ts: 400, members });
    const { json } = await post('/v1/reason', { query: 'node 1000', rules: [MET] });
    expect(json.derived_facts.length).toBe((64 * 63) / 2);
    expect(json.proofs.length).toBe(json.derived_facts.length);
    expect(json.proofs[5].goal).toBe(json.derived_facts[5].fact);
    await server.database.table().delete(400, members);
  });

  test('abstains when a proof is asked for and nothing is proved, and when nothing is found', async () => {
    const unproved = await post('/v1/reason', { query: 'node 1', rules: [], require_proof: true });
    expect(unproved.json).toMatchObject({ abstained: true, derived_facts: [], proofs: [] });
    const nothing = await post('/v1/reason', { query: 'node 999', rules: [MET] });
    expect(nothing.json).toMatchObject({ abstained: true });
    const told = await post('/v1/reason', { query: 'node 1', rules: [] });
    expect(told.json.abstained).toBe(false);
  });
});

const SUPPORTED = 'Nodes 2 and 3 met at 200 [HEDGE-2].';

describe('a model', () => {
  test('is sent the context, and its supported sentences are the answer', async () => {
    model.answer = says(`${SUPPORTED} Nodes 2 and 9 met [HEDGE-2]. Everybody was happy.`);
    const { status, json } = await ask({});
    expect(status).toBe(200);
    expect(json).toMatchObject({
      answer: SUPPORTED,
      abstained: false,
      model: 'stand-in-1',
      prompt_tokens: 12,
      completion_tokens: 3,
      firewall: { outcome: 'stripped', supported_count: 1, stripped_count: 2 },
    });
    expect(json.cited_edges.map(({ edge_id }: { edge_id: number }) => edge_id)).toEqual([2]);
    expect(model.asked).toHaveLength(1);
    expect(model.asked[0]!.headers.authorization).toBe(`Bearer ${OWN_KEY}`);
    expect(model.asked[0]!.body).toContain('[HEDGE-2]');
    const past = await send('GET', `/v1/rag/interactions/${json.interaction_id}`);
    expect(past.json.generated.text).toContain('Everybody was happy.');
    expect(past.json.firewall.stripped).toHaveLength(2);
  });

  test('is not asked when nothing was retrieved, nor in mode symbolic', async () => {
    expect((await ask({ query: 'node 999' })).json).toMatchObject({ abstained: true, all_edges: [] });
    const { json } = await ask({ mode: 'symbolic', rules: [MET] });
    expect(json).toMatchObject({ model: 'symbolic', abstained: false, prompt_tokens: 0 });
    expect(model.asked).toEqual([]);
  });

  test('gets the key of the request, and the own key of the server goes to no other address', async () => {
    model.answer = says(SUPPORTED);
    await ask({ openai_api_key: CALLERS_KEY });
    expect(model.asked.at(-1)!.headers.authorization).toBe(`Bearer ${CALLERS_KEY}`);
    const other = await startModel();
    try {
      other.answer = says(SUPPORTED);
      expect((await ask({ base_url: other.baseUrl })).status).toBe(200);
      expect(other.asked[0]!.headers.authorization).toBeUndefined();
      expect(other.asked[0]!.body).not.toContain(OWN_KEY);
    } finally {
      await other.close();
    }
  });

  const faults: [name: string, answer: ModelStandIn['answer'], outcome: 502 | 'abstains'][] = [
    ['500', sends({ error: 'broken' }, 500), 502],
    [
      '401 that repeats the key',
      (response, { headers }) => sends({ error: headers.authorization }, 401)(response, { headers, body: '' }),
      502,
    ],
    ['404', sends({ error: 'no such model' }, 404), 502],
    ['429', sends({ error: 'slow down' }, 429), 502],
    ['a redirect', (response) => void response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end(), 502],
    ['no JSON', sends('<html>', 200, 'text/html'), 502],
    ['broken JSON', sends('{"choices": [', 200), 502],
    ['an array', sends([], 200), 502],
    ['null', sends('null', 200), 502],
    ['no choices', sends({}, 200), 502],
    ['empty choices', sends({ choices: [] }), 502],
    ['a choice without message', sends({ choices: [{}] }), 502],
    ['content that is a number', sends({ choices: [{ message: { content: 5 } }] }), 502],
    ['null content', sends({ choices: [{ message: { content: null } }] }), 'abstains'],
    ['an empty text', says(''), 'abstains'],
    ['blanks', says(' \n\t '), 'abstains'],
    ['no tags', says('All is well. Node 3 is fine.'), 'abstains'],
    ['invented tags', says('Node 3 met node 4 [HEDGE-77] [RULE-5] [STEP-9].'), 'abstains'],
    ['wrong numbers', says('Nodes 2 and 3 met at 201 [HEDGE-2].'), 'abstains'],
    ['more than a megabyte', says('x'.repeat(1_100_000)), 502],
    ['a megabyte of invented tags', says('It is so [HEDGE-99]. '.repeat(40_000)), 'abstains'],
    [
      'an end in the middle',
      (response) => {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' });
        response.write('{"choices"');
        setImmediate(() => response.destroy());
      },
      502,
    ],
    ['no answer but a closed connection', (response) => void response.destroy(), 502],
    ['a question only', says('What did node 3 do?'), 'abstains'],
  ];
  test.each(faults)('that answers %s has its outcome', async (_name, answer, outcome) => {
    model.answer = answer;
    const { status, json, text } = await ask({ openai_api_key: CALLERS_KEY });
    if (outcome === 502) expect([status, json.code]).toEqual([502, 'model_failed']);
    else
      expect([status, json.abstained, json.firewall.outcome, json.cited_edges]).toEqual([200, true, 'abstained', []]);
    expect(text).not.toContain(CALLERS_KEY);
  });

  test('that echoes the key has it masked, and no key stands in answers, interactions, logs or files', async () => {
    model.answer = says(`${SUPPORTED} My key is ${CALLERS_KEY} and yours ${OWN_KEY}.`);
    const asked = await ask({ openai_api_key: CALLERS_KEY, query: 'What did node 3 do?' });
    const past = await send('GET', `/v1/rag/interactions/${asked.json.interaction_id}`);
    const texts = [
      asked.text,
      past.text,
      ...server.errors,
      ...filesBelow(dir).map((file) => readFileSync(file, 'latin1')),
    ];
    expect(past.json.generated.text).toContain('Nodes 2 and 3 met');
    for (const text of texts) expect(text).not.toContain(CALLERS_KEY);
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : statSync(path).isFile() ? [path] : []));
}
