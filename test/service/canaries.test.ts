import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { routes } from '../../src/routes/index.ts';
import { type ChildServer, runCommand, startChild } from './child.ts';
import { findBelow, findIn, needlesOf, type Secret } from './secret-search.ts';
import { type Answered, recipeOf, type Sent, send } from './valid-requests.ts';

const BOOTSTRAP: Secret = { name: 'first admin key', text: 'canary-Bootstrap/7f3a9c1e+5d2b' };
const MODEL: Secret = { name: 'model key', text: 'sk-canary-Model-8e41b7d09c2f' };
const PASSWORD: Secret = { name: 'password of an address', text: 'canary-Dsn.pass_6b20f4' };
const WRONG: Secret = { name: 'wrong key', text: 'hgr_canaryWrong0123456789abcdefghijklmnopqrstuv' };
const DSN = `postgres://reporter:${PASSWORD.text}@db.example:5432/reports`;
const ENVIRONMENT = {
  HEDGEROW_API_KEY: BOOTSTRAP.text,
  OPENAI_API_KEY: MODEL.text,
  HEDGEROW_VIRTUAL_DSN_REPORTS: DSN,
  HEDGEROW_LOG_LEVEL: 'debug',
};

test('the search finds keys in every encoding', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-search-'));
  const { text } = WRONG;
  const hidden: Record<string, string | Buffer> = {
    plain: `a${text}b`,
    hex: Buffer.from(`xx${text}`).toString('hex'),
    address: encodeURIComponent(BOOTSTRAP.text),
    packed: gzipSync(`tar${'\0'.repeat(600)}${text}`),
    ...Object.fromEntries(
      [0, 1, 2].map((n) => [`base64-${n}`, Buffer.from(`${'y'.repeat(n)}${text}zz`).toString('base64')]),
    ),
    ...Object.fromEntries(
      [0, 1, 2].map((n) => [`url-${n}`, Buffer.from(`${'y'.repeat(n)}${text}`).toString('base64url')]),
    ),
  };
  try {
    for (const [name, content] of Object.entries(hidden)) writeFileSync(join(dir, name), content);
    const { files, found } = findBelow(dir, needlesOf([WRONG, BOOTSTRAP]));
    expect(files).toBe(Object.keys(hidden).length);
    for (const name of Object.keys(hidden)) expect(found.join('\n')).toContain(join(dir, name));
    expect(findBelow(dir, needlesOf([MODEL])).found).toEqual([]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});

/** Returns requests with a secret in places where no secret belongs. */
function oddPlaces(secret: string): Sent[] {
  const escaped = encodeURIComponent(secret);
  const get = (path: string, headers: Record<string, string> = {}): Sent => ({ method: 'GET', path, headers });
  const post = (path: string, body: unknown, headers: Record<string, string> = {}): Sent => ({
    method: 'POST',
    path,
    body,
    headers,
  });
  const range = '/v1/hyperedges?start_ts=0&end_ts=1';
  const edge = { event_ts: 1, members: [1] };
  return [
    ...['api_key', 'key', 'X-API-Key', 'cursor', 'limit', 'table'].map((name) => get(`${range}&${name}=${escaped}`)),
    get(`/v1/hyperedges?start_ts=${escaped}&end_ts=1`),
    get(`/${escaped}`),
    get(`/v1/tables/${escaped}`),
    get(`/v1/hyperedges/node/${escaped}`),
    get(`/docs/${escaped}`),
    get(`/metrics?token=${escaped}`),
    get('/health/live', { 'user-agent': secret, referer: `http://x/?key=${escaped}`, cookie: `key=${secret}` }),
    get('/v1/tables', { origin: `http://${escaped}`, accept: secret, 'accept-encoding': secret }),
    get(range, { 'x-min-lsn': secret, 'x-session-id': secret, 'if-none-match': secret }),
    get('/v1/wal', { 'x-request-id': secret }),
    get('/v1/nope', { 'x-request-id': secret }),
    post('/v1/hyperedges', edge, { 'idempotency-key': secret }),
    post('/v1/hyperedges', { ...edge, api_key: 1, table: secret }),
    post('/v1/hyperedges', { ...edge, [secret]: 1, properties: { [secret]: 1 } }),
    post('/v1/hyperedges', { event_ts: secret, members: [secret] }),
    post('/v1/hyperedges', secret),
    post('/v1/hyperedges', `{"event_ts":1,"members":[${secret}`),
    post('/v1/hyperedges', edge, { 'content-type': secret }),
    post('/v1/hyperedges', `${JSON.stringify(edge)}\n${secret}\n`, { 'content-type': 'application/x-ndjson' }),
    // Only names that are refused: it is not a leak if a client itself stores a secret as a name.
    post('/v1/tables', { name: `${secret}!` }),
    post('/v1/tables', { name: 'odd', columns: [{ name: secret, type: secret }] }),
    post('/v1/indexes', { table: secret, column: secret }),
    post('/v1/batch', { operations: [{ type: secret }] }),
    post('/v1/batch', { operations: [{ type: 'query', cypher: `MATCH (e:${secret}) RETURN e` }] }),
    post('/v1/autocompact', { threshold: secret }),
    post('/v1/backup', { backup_dir: `../${secret}` }),
    post('/v1/keys', { role: secret }),
    { method: 'DELETE', path: `/v1/keys/${escaped}` },
    { method: 'DELETE', path: `/v1/indexes/${escaped}/${escaped}` },
    { method: 'DELETE', path: '/v1/hyperedges', body: { event_ts: secret, members: [] } },
    { method: 'PUT', path: `/v1/tables/${escaped}` },
  ];
}

/**
 * Runs the tests once with each log format. The answers do not depend on the format, so the second
 * run sends fewer requests, only to fill the log.
 */
describe.each([
  ['json', true],
  ['text', false],
] as const)('a service that logs in %s', (format, inFull) => {
  const environment = { ...ENVIRONMENT, HEDGEROW_LOG_FORMAT: format };
  let dir: string;
  let server: ChildServer;
  const secrets: Secret[] = [BOOTSTRAP, MODEL, PASSWORD, { name: 'address', text: DSN }, WRONG];
  /** The output of the processes that have ended. */
  let printed = '';
  const leaks: string[] = [];
  let answers = 0;

  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'hedgerow-canaries-'));
    server = await startChild({ dir, environment });
  });
  afterAll(async () => {
    await server.stop('SIGKILL');
    rmSync(dir, { recursive: true, force: true });
  });

  /**
   * Sends the request and searches the answer for secrets. The answer must not contain any secret
   * that looks like a key. It may contain any other secret only if the request had that secret in
   * its path, body or another header. (If the service also masked secrets sent there, a client
   * could test whether a guess is right.)
   */
  async function watched(request: Sent): Promise<Answered> {
    const answer = await send(server.url, request);
    answers += 1;
    const { 'x-api-key': _key, authorization: _bearer, ...others } = request.headers ?? {};
    const said = `${decodeURIComponent(request.path)} ${JSON.stringify(request.body)} ${JSON.stringify(others)}`;
    const looked = secrets.filter(({ text }) => /^(hgr_|sk-)/.test(text) || !said.includes(text));
    const text = `${JSON.stringify([...answer.headers])}\n${answer.text}`;
    const found = findIn(text, needlesOf(looked));
    if (found.length > 0)
      leaks.push(`${found[0]} in: ${request.method} ${said.slice(0, 200)}: ${answer.text.slice(0, 100)}`);
    return answer;
  }
  const asAdmin = (request: Sent) =>
    watched({ ...request, headers: { 'x-api-key': BOOTSTRAP.text, ...request.headers } });

  async function restart(signal: NodeJS.Signals): Promise<void> {
    await server.stop(signal);
    printed += server.output.out + server.output.error;
    server = await startChild({ dir, environment });
  }

  test('shows keys only when they are created', async () => {
    for (const role of ['readonly', 'readwrite', 'admin']) {
      const request: Sent = {
        method: 'POST',
        path: '/v1/keys',
        body: { role, description: `canary ${role}` },
        headers: { authorization: `Bearer ${BOOTSTRAP.text}`, 'idempotency-key': `make ${role}` },
      };
      const { status, json } = await send(server.url, request);
      expect([status, json.plaintext_key]).toEqual([200, expect.stringMatching(/^hgr_/)]);
      secrets.push({ name: `${role} key`, text: json.plaintext_key });
      // A second identical request creates another key, which shows that the answer was not kept.
      const again = await send(server.url, request);
      expect(again.json.plaintext_key).not.toBe(json.plaintext_key);
      secrets.push({ name: `second ${role} key`, text: again.json.plaintext_key });
    }
  });

  test('puts no key into an answer when every route is called with right and wrong keys in either header', async () => {
    const keys = inFull ? secrets.filter(({ name }) => name.endsWith('key')) : [BOOTSTRAP, WRONG];
    const senders = [...keys, { name: 'nobody', text: '' }];
    for (const route of routes) {
      for (const { text } of senders) {
        const made = await recipeOf(route.method, route.path).make(asAdmin);
        // The answer that creates a key contains it, as checked above.
        if (route.path === '/v1/keys' && route.method === 'POST') made.body = { role: 'none' };
        for (const headers of [{ 'x-api-key': text }, { authorization: `Bearer ${text}` }]) {
          await watched({ method: route.method, ...made, headers: { ...made.headers, ...headers } });
        }
      }
    }
    expect(leaks).toEqual([]);
  });

  test('puts no secret that was sent in an unusual place into an answer', async () => {
    for (const { text } of inFull ? secrets : [WRONG, PASSWORD, secrets.at(-1)!]) {
      for (const request of oddPlaces(text)) {
        await watched(request);
        await asAdmin(request);
      }
    }
    expect(answers).toBeGreaterThan(inFull ? 700 : 300);
    expect(leaks.splice(0).slice(0, 20)).toEqual([]);
  });

  test('has no command that prints a secret', async () => {
    const { HEDGEROW_LOG_LEVEL, ...settings } = environment;
    const inUse = ['serve', '--data', dir, '--port', '0'];
    const others = [
      ['config', 'print'],
      ['config', 'print', '--json'],
      ['serve', '--port', 'x'],
      ['verify', dir],
      ['inspect', dir, '--deep', '--json'],
      ['keys', 'list', '--url', server.url],
      ['keys', 'list', '--data', dir],
      ['keys', 'revoke', WRONG.text, '--url', server.url],
      ['backup', '--url', server.url],
    ];
    for (const parameters of inFull ? [inUse, ...others] : [inUse]) {
      const { output } = await runCommand(parameters, settings);
      const text = output.out + output.error;
      expect(text, parameters.join(' ')).not.toBe('');
      expect(findIn(text, needlesOf(secrets)), `${parameters.join(' ')}: ${text}`).toEqual([]);
    }
  });

  test('writes no secret into a file or log line, even after a crash, a compaction and backups', async () => {
    await restart('SIGKILL');
    await asAdmin({ method: 'POST', path: '/v1/hyperedges/compact', body: {} });
    const backup = await asAdmin({ method: 'POST', path: '/v1/backup', body: { compact_first: true } });
    expect(backup.status).toBe(200);
    await restart('SIGTERM');
    const metrics = await asAdmin({ method: 'GET', path: '/metrics' });
    expect(metrics.text).toContain('hedgerow_');
    await server.stop();
    printed += server.output.out + server.output.error;
    expect(printed).toContain('query_complete');
    expect(findIn(printed, needlesOf(secrets))).toEqual([]);
    const { files, found } = findBelow(dir, needlesOf(secrets));
    expect(files).toBeGreaterThan(4);
    expect(found).toEqual([]);
    expect(leaks).toEqual([]);
  });
});

test('a generated first admin key appears once on standard output and nowhere else', async () => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-canaries-'));
  try {
    const settings = { dir, environment: { HEDGEROW_API_KEY: '', HEDGEROW_LOG_LEVEL: 'debug' } };
    const server = await startChild(settings);
    const shown = server.output.out.match(/hgr_[\w-]{20,}/g) ?? [];
    expect(shown).toHaveLength(1);
    const key = { name: 'made key', text: shown[0]! };
    const answer = await send(server.url, { method: 'GET', path: '/v1/keys', headers: { 'x-api-key': key.text } });
    expect(answer.status).toBe(200);
    await server.stop();
    const again = await startChild(settings);
    await again.stop();
    const needles = needlesOf([key]);
    expect(findIn(server.output.error + again.output.out + again.output.error + answer.text, needles)).toEqual([]);
    expect(findBelow(dir, needles).found).toEqual([]);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
