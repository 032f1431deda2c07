// Tests stored rules over HTTP. Their meaning and the refusal of wrong rules are tested in
// test/rules.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Answer, Recorder, send, startServer, type TestRole, type TestServer } from './support.ts';

let server: TestServer;
let observer: Recorder;
beforeEach(async () => {
  observer = new Recorder();
  server = await startServer({ auth: true, observer });
});
afterEach(() => server.close());

function ask(
  method: string,
  path: string,
  body?: unknown,
  { role = 'readwrite', ...headers }: Record<string, string> = {},
): Promise<Answer> {
  return send(server, method, path, body, { 'x-api-key': server.keys[role as TestRole], ...headers });
}

const RULE = {
  id: 'rule:close',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'close', args: ['?A', '?B'], confidence: 0.9 },
};
const STORED = { ...RULE, name: 'close', enabled: true, priority: 0, version: 1, stratum: 0 };
const FAR = {
  id: 'rule:far',
  name: 'Far apart',
  priority: 5,
  if: [{ pred: 'hyperedge', args: ['?E'] }, { not: { pred: 'close', args: ['?E', '?E'] } }],
  then: { pred: 'far', args: ['?E'] },
};

describe('rules over HTTP', () => {
  test('are stored, listed, read and deleted', async () => {
    expect((await ask('GET', '/v1/rules')).json).toEqual({ rules: [] });
    expect(await ask('POST', '/v1/rules', RULE)).toMatchObject({ status: 200, json: STORED });
    expect((await ask('POST', '/v1/rules', FAR)).json).toMatchObject({ version: 1, stratum: 1 });
    expect((await ask('POST', '/v1/rules', RULE)).json.version).toBe(2);
    const rest = { enabled: true };
    expect((await ask('GET', '/v1/rules')).json).toEqual({
      rules: [
        { id: 'rule:far', name: 'Far apart', ...rest, priority: 5, version: 1, head: 'far', body_size: 2 },
        { id: 'rule:close', name: 'close', ...rest, priority: 0, version: 2, head: 'close', body_size: 3 },
      ],
    });
    expect((await ask('GET', '/v1/rules/rule:close')).json).toEqual({ ...STORED, version: 2 });
    expect((await ask('DELETE', '/v1/rules/rule:close')).json).toEqual({ id: 'rule:close', deleted: true });
    expect((await ask('GET', '/v1/rules')).json.rules.length).toBe(1);
  });

  test.each(['rule:close', 'rule%3Aclose', '%72ule%3aclose'])('are found by their id in the form %s', async (id) => {
    await ask('POST', '/v1/rules', RULE);
    expect((await ask('GET', `/v1/rules/${id}`)).json).toEqual(STORED);
    expect((await ask('DELETE', `/v1/rules/${id}`)).status).toBe(200);
  });

  test('lead to 404 when they do not exist', async () => {
    await ask('POST', '/v1/rules', RULE);
    for (const method of ['GET', 'DELETE']) {
      expect((await ask(method, '/v1/rules/close')).json).toMatchObject({
        status: 404,
        code: 'rule_not_found',
        detail: 'There is no rule "close". Did you mean rule:close? GET /v1/rules lists them.',
      });
    }
    expect((await ask('GET', '/v1/rules/validate')).status).toBe(405);
  });

  test('lead to 422 with the places of the errors when they are invalid', async () => {
    const { status, json } = await ask('POST', '/v1/rules', { ...RULE, then: { pred: 'close', args: ['?A', '?C'] } });
    expect([status, json.code, json.status]).toEqual([422, 'invalid_rule', 422]);
    expect(json.detail).toBe('rule:close: variable ?C of the head is bound by no positive atom of the body.');
    expect(json.errors).toEqual([{ loc: ['body', 'then', 'args', 1], msg: json.detail.slice(0, -1) }]);
    expect((await ask('GET', '/v1/rules')).json).toEqual({ rules: [] });
  });

  test('lead to 422 with the cycle when they close a cycle with stored rules', async () => {
    await ask('POST', '/v1/rules', FAR);
    const closing = { ...RULE, if: [...RULE.if, { pred: 'far', args: ['?A'] }] };
    const { status, json } = await ask('POST', '/v1/rules', closing);
    expect([status, json.detail]).toEqual([
      422,
      'The rules cannot be stratified: far -> not close -> far (rule:far, rule:close).',
    ]);
  });

  test.each([
    ['no JSON', '{"id":', 'invalid_json'],
    ['nothing', '', 'invalid_json'],
    ['no object', '[1]', 'invalid_rule'],
    ['null', 'null', 'invalid_rule'],
  ])('lead to 422 when the body is wrong: %s', async (_, body, code) => {
    expect((await ask('POST', '/v1/rules', body)).json).toMatchObject({ status: 422, code });
  });
});

describe('validate', () => {
  test('returns the stratum and stores nothing', async () => {
    expect((await ask('POST', '/v1/rules/validate', FAR, { role: 'readonly' })).json).toEqual({
      ok: true,
      errors: [],
      stratum: 1,
    });
    expect((await ask('GET', '/v1/rules')).json).toEqual({ rules: [] });
    expect(server.database.documents.entries('rules')).toEqual([]);
  });

  test('answers 200 and lists every error', async () => {
    const wrong = { ...FAR, id: 'far', priority: 'x', then: { pred: 'far', args: ['?X', '?Y'] } };
    const { status, json } = await ask('POST', '/v1/rules/validate', wrong);
    expect([status, json.ok, json.stratum]).toEqual([200, false, null]);
    expect(json.errors.map(({ loc }: { loc: unknown[] }) => loc.join('.'))).toEqual([
      'body.id',
      'body.priority',
      'body.then.args.0',
      'body.then.args.1',
    ]);
    expect((await ask('POST', '/v1/rules/validate', [])).json).toMatchObject({ ok: false, stratum: null });
  });

  test('answers 422 when the body is not JSON', async () => {
    expect((await ask('POST', '/v1/rules/validate', '{')).json).toMatchObject({ status: 422, code: 'invalid_json' });
  });
});

describe('access to rules', () => {
  test('needs readonly for reading and validating, and readwrite for storing and deleting', async () => {
    const reader = { role: 'readonly' };
    const statuses = [
      await ask('GET', '/v1/rules', undefined, reader),
      await ask('POST', '/v1/rules/validate', RULE, reader),
      await ask('POST', '/v1/rules', RULE, reader),
      await ask('POST', '/v1/rules', RULE),
      await ask('GET', '/v1/rules/rule:close', undefined, reader),
      await ask('DELETE', '/v1/rules/rule:close', undefined, reader),
      await ask('DELETE', '/v1/rules/rule:close'),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 403, 200, 200, 403, 200]);
  });

  test('is written to the audit log if it changes them', async () => {
    await ask('POST', '/v1/rules', RULE);
    await ask('POST', '/v1/rules', RULE);
    await ask('POST', '/v1/rules/validate', RULE);
    await ask('DELETE', '/v1/rules/rule:close');
    await ask('DELETE', '/v1/rules/rule:close');
    expect(observer.audits.map(({ event, statement, role, status }) => [event, statement, role, status])).toEqual([
      ['rule.stored', 'store rule:close version 1', 'readwrite', 200],
      ['rule.stored', 'store rule:close version 2', 'readwrite', 200],
      ['rule.deleted', 'delete rule:close', 'readwrite', 200],
    ]);
  });
});

test('a change with an Idempotency-Key is executed once', async () => {
  const once = (key: string) => ({ 'idempotency-key': key });
  const first = await ask('POST', '/v1/rules', RULE, once('a'));
  const again = await ask('POST', '/v1/rules', RULE, once('a'));
  expect([again.headers.get('idempotent-replayed'), again.text]).toEqual(['true', first.text]);
  expect((await ask('GET', '/v1/rules/rule:close')).json.version).toBe(1);
  expect((await ask('POST', '/v1/rules', FAR, once('a'))).json).toMatchObject({
    status: 409,
    code: 'idempotency_conflict',
  });
  expect((await ask('DELETE', '/v1/rules/rule:close', undefined, once('b'))).status).toBe(200);
  expect((await ask('DELETE', '/v1/rules/rule:close', undefined, once('b'))).status).toBe(200);
  expect((await ask('DELETE', '/v1/rules/rule:close', undefined, once('c'))).status).toBe(404);
});
