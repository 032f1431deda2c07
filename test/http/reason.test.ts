// Tests rules, reasoning and questions over HTTP: refusals, faults of a model, and keys that must
// not appear anywhere.

import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type ModelStandIn, says, sends, startModel } from './model-stand-in.ts';
import { send as sendTo, startServer, type TestServer } from './support.ts';

const OWN_KEY = 'sk-server-own-canary-4711';
const CALLERS_KEY = 'sk-callers-canary-0815';

let server: TestServer;
let model: ModelStandIn;
/** A second model. Its host and port are listed as allowed. */
let other: ModelStandIn;
let dir: string;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'hedgerow-reason-'));
  model = await startModel();
  other = await startModel();
  const modelHosts = ['127.0.0.1', new URL(other.baseUrl).host];
  server = await startServer({ dir, modelBaseUrl: model.baseUrl, modelKey: OWN_KEY, modelHosts });
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
  await other.close();
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

describe('the validation of questions', () => {
  test.each([
    ['no JSON', '/v1/reason', '{'],
    ['no query', '/v1/reason', {}],
    ['no query to ask', '/v1/rag/query', {}],
    ['a query that is not a text', '/v1/reason', { query: 5 }],
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
    ['a question of 10,001 characters', '/v1/rag/query', { query: 'x'.repeat(10_001), mock: true }],
    ['a question of 10,001 characters to reason', '/v1/reason', { query: 'x'.repeat(10_001) }],
    ['a key that no header can hold', '/v1/rag/query', { query: '', openai_api_key: 'a\nb' }],
  ])('answers 422 for: %s', async (_name, path, body) => {
    const { status, json } = await post(path, body);
    expect([status, json.status, typeof json.detail]).toEqual([422, 422, 'string']);
    expect(model.asked).toEqual([]);
  });

  test('accepts a question of 10,000 characters', async () => {
    const query = 'x'.repeat(10_000);
    expect((await post('/v1/reason', { query })).status).toBe(200);
    expect((await ask({ query, mock: true })).status).toBe(200);
  });

  test('answers 404 for an unknown table in a question', async () => {
    expect((await ask({ table: 'nope', mock: true })).status).toBe(404);
    expect((await send('GET', '/v1/rag/parse?query=x&table=nope')).status).toBe(404);
    expect((await send('GET', '/v1/rag/parse')).status).toBe(422);
  });
});

describe('the interpretation of a text', () => {
  const parsed = async (query: string, more = '') =>
    (await send('GET', `/v1/rag/parse?query=${encodeURIComponent(query)}${more}`)).json;

  test('contains times as seconds or as ISO 8601', async () => {
    const since = await parsed('node 1 since 2023-11-14T01:00:00+01:00');
    expect(since.window).toEqual({ start_ts: 1_699_920_000, end_ts: null });
    expect(await parsed('node 1 since 2023-11-14T01:00:00+01:00', '&times=iso')).toEqual({
      ...since,
      window: { start_ts: '2023-11-14T00:00:00Z', end_ts: null },
    });
    expect((await parsed('on 2023-11-14', '&times=iso')).window).toEqual({
      start_ts: '2023-11-14T00:00:00Z',
      end_ts: '2023-11-14T23:59:59Z',
    });
    expect((await parsed('node 1', '&times=iso')).window).toBeNull();
    const asked = await post('/v1/rag/query', { query: 'node 1 since 2023-11-14', mode: 'symbolic', times: 'iso' });
    expect(asked.json.understood.window).toEqual({ start_ts: '2023-11-14T00:00:00Z', end_ts: null });
    expect((await parsed('node 1', '&times=epoch')).window).toBeNull();
    const refused = await send('GET', '/v1/rag/parse?query=x&times=both');
    expect([refused.status, refused.json.errors[0].loc.at(-1)]).toEqual([422, 'times']);
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
  test('runs the rules of the request, or the enabled stored rules, or none', async () => {
    const facts = async (rules: unknown) =>
      (await post('/v1/reason', { query: 'nodes 1 and 4', rules })).json.derived_facts.map(
        ({ fact }: { fact: string }) => fact,
      );
    // `met(3, 5)` follows from an edge that contains node 4, but it concerns neither of the nodes
    // in the question.
    const found = ['met(1, 2)', 'met(3, 4)', 'met(4, 5)'];
    expect(await facts([MET])).toEqual(found);
    expect(await facts(null)).toEqual([]);
    await post('/v1/rules', MET);
    expect(await facts(null)).toEqual(found);
    expect(await facts([])).toEqual([]);
    await post('/v1/rules', { ...MET, enabled: false });
    expect(await facts(undefined)).toEqual([]);
    expect((await send('DELETE', '/v1/rules/rule:met')).json).toEqual({ id: 'rule:met', deleted: true });
  });

  test('streams an answer that does not fit into one body', async () => {
    const members = Array.from({ length: 64 }, (_, i) => 1000 + i);
    await server.database.table().insert({ event_ts: 400, members });
    const { json } = await post('/v1/reason', { query: 'since 400', rules: [MET] });
    expect(json.derived_facts.length).toBe((64 * 63) / 2);
    expect(json.proofs.length).toBe(json.derived_facts.length);
    expect(json.proofs[5].goal).toBe(json.derived_facts[5].fact);
    await server.database.table().delete(400, members);
  });

  test('abstains when a required proof is missing and when no edge is found', async () => {
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
  test('is sent the context, and its supported sentences become the answer', async () => {
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

  test('is not called when nothing was retrieved, nor in the mode symbolic', async () => {
    expect((await ask({ query: 'node 999' })).json).toMatchObject({ abstained: true, all_edges: [] });
    const { json } = await ask({ mode: 'symbolic', rules: [MET] });
    expect(json).toMatchObject({ model: 'symbolic', abstained: false, prompt_tokens: 0 });
    expect(model.asked).toEqual([]);
  });

  test("gets the key in the request; the server's own key is never sent to another address", async () => {
    model.answer = says(SUPPORTED);
    await ask({ openai_api_key: CALLERS_KEY });
    expect(model.asked.at(-1)!.headers.authorization).toBe(`Bearer ${CALLERS_KEY}`);
    other.answer = says(SUPPORTED);
    expect((await ask({ base_url: other.baseUrl })).status).toBe(200);
    expect(other.asked[0]!.headers.authorization).toBeUndefined();
    expect(other.asked[0]!.body).not.toContain(OWN_KEY);
  });

  test('is called only at a listed port', async () => {
    const unlisted = await startModel();
    try {
      const { status, json } = await ask({ base_url: unlisted.baseUrl });
      expect([status, json.code]).toEqual([422, 'invalid_model_address']);
      expect(json.detail).toContain('HEDGEROW_LLM_ALLOWED_HOSTS');
      // Another path on the configured host is also refused.
      expect((await ask({ base_url: model.baseUrl.replace('/v1', '/v2') })).status).toBe(422);
      expect([unlisted.asked, model.asked]).toEqual([[], []]);
    } finally {
      await unlisted.close();
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
  test.each(faults)('leads to 502 or an abstention when its answer is: %s', async (_name, answer, outcome) => {
    model.answer = answer;
    const { status, json, text } = await ask({ openai_api_key: CALLERS_KEY });
    if (outcome === 502) expect([status, json.code]).toEqual([502, 'model_failed']);
    else
      expect([status, json.abstained, json.firewall.outcome, json.cited_edges]).toEqual([200, true, 'abstained', []]);
    expect(text).not.toContain(CALLERS_KEY);
  });

  test('may repeat the key without exposing it in answers, interactions, logs or files', async () => {
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

describe('a model that is not configured', () => {
  test.each([
    ['https://api.openai.com/v1', 'No language model is configured: no API key is set.'],
    ['http://127.0.0.1:9/v1', 'could not be reached'],
  ])('makes questions fail with 502 and advice, except those that need no model: %s', async (modelBaseUrl, what) => {
    const bare = await startServer({ modelBaseUrl, modelHosts: ['api.openai.com', '127.0.0.1'] });
    try {
      await bare.database.table().insert({ event_ts: 100, members: [1, 2] });
      const question = { query: 'node 1', rules: [] };
      const { status, json } = await sendTo(bare, 'POST', '/v1/rag/query', question);
      expect([status, json.code]).toEqual([502, 'model_failed']);
      for (const part of [
        what,
        'no API key is set',
        'OPENAI_API_KEY',
        'HEDGEROW_LLM_BASE_URL',
        '"symbolic"',
        '"mock": true',
      ])
        expect(json.detail).toContain(part);
      for (const more of [{ mode: 'symbolic' }, { mock: true }])
        expect((await sendTo(bare, 'POST', '/v1/rag/query', { ...question, ...more })).status).toBe(200);
    } finally {
      await bare.close();
    }
  });
});

describe('keys', () => {
  let keyed: TestServer;
  beforeAll(async () => {
    const modelHosts = ['127.0.0.1', new URL(other.baseUrl).host];
    keyed = await startServer({ auth: true, modelBaseUrl: model.baseUrl, modelKey: OWN_KEY, modelHosts });
    await keyed.database.table().insert({ event_ts: 100, members: [1, 2] });
  });
  afterAll(() => keyed.close());

  const as = (key: string, method: string, path: string, body?: unknown) =>
    sendTo(keyed, method, path, body, { 'x-api-key': key });
  const question = { query: 'node 1', rules: [] };

  test('may use only the configured model if they are readonly, and other addresses too if they are readwrite', async () => {
    model.answer = says('Nothing.');
    other.answer = says('Nothing.');
    other.asked.length = 0;
    const { readonly, readwrite, admin } = keyed.keys;
    const statusOf = async (key: string, base_url?: string) =>
      (await as(key, 'POST', '/v1/rag/query', { ...question, base_url })).status;
    for (const own of [undefined, null as unknown as string, model.baseUrl, `${model.baseUrl}/`])
      expect([own, await statusOf(readonly, own)]).toEqual([own, 200]);
    expect(model.asked.length).toBe(4);
    const refused = await as(readonly, 'POST', '/v1/rag/query', { ...question, base_url: other.baseUrl });
    expect([refused.status, refused.json.code]).toEqual([403, 'forbidden']);
    expect(refused.json.detail).toContain('readwrite');
    // The refusal must not reveal which hosts are listed.
    expect(await statusOf(readonly, 'https://elsewhere.example/v1')).toBe(403);
    expect(await statusOf(readonly, model.baseUrl.replace('/v1', '/v2'))).toBe(403);
    expect(other.asked).toEqual([]);
    for (const key of [readwrite, admin]) expect(await statusOf(key, other.baseUrl)).toBe(200);
    expect(other.asked.length).toBe(2);
    expect(await statusOf(readwrite, 'https://elsewhere.example/v1')).toBe(422);
  });

  test('can read the interactions that they made, and an admin key can read all', async () => {
    const { readonly, readwrite, admin } = keyed.keys;
    const made: [key: string, id: string][] = [];
    for (const key of [readonly, readwrite, admin]) {
      const { json } = await as(key, 'POST', '/v1/rag/query', { ...question, mock: true });
      made.push([key, json.interaction_id]);
    }
    for (const reader of [readonly, readwrite, admin]) {
      for (const [maker, id] of made) {
        const { status, json } = await as(reader, 'GET', `/v1/rag/interactions/${id}`);
        expect(status).toBe(reader === maker || reader === admin ? 200 : 404);
        if (status === 404) {
          const none = await as(reader, 'GET', '/v1/rag/interactions/none');
          expect({ ...json, request_id: '' }).toEqual({
            ...none.json,
            detail: none.json.detail.replace('none', id),
            request_id: '',
          });
        }
      }
    }
  });
});

function filesBelow(folder: string): string[] {
  return readdirSync(folder)
    .map((name) => join(folder, name))
    .flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : statSync(path).isFile() ? [path] : []));
}
