import { describe, expect, test } from 'vitest';
import { HedgerowApiError, HedgerowConnectionError } from '../../src/client/index.ts';
import { delayAfter, retryAfterSeconds } from '../../src/client/retry.ts';
import { caught, failure, OK, type Step, scripted } from './scripted-fetch.ts';

const EDGE = { event_ts: 1, members: [1] };
const CUT: Step = { pieces: ['{"table'], end: 'cut' };

describe('the retry of a read', () => {
  test.each<[string, Step]>([
    ['429', failure(429)],
    ['502', { status: 502, text: '<html>Bad Gateway</html>' }],
    ['503', failure(503)],
    ['504', failure(504)],
    ['a refused connection', 'refused'],
    ['an answer that breaks off', CUT],
  ])('happens after %s', async (_name, step) => {
    const { client, requests, waits } = scripted([step, step, OK]);
    await client.tables.list();
    expect(requests).toHaveLength(3);
    expect(waits).toEqual([100, 200]);
    expect(new Set(requests.map((request) => request.url)).size).toBe(1);
  });

  test('happens after a timeout', async () => {
    const { client, requests } = scripted(['hanging', OK], { timeoutMs: 5 });
    await client.tables.list();
    expect(requests).toHaveLength(2);
  });

  test.each([400, 401, 403, 404, 409, 500, 507])('does not happen after %i', async (status) => {
    const { client, requests } = scripted([failure(status), OK]);
    expect(await caught(client.tables.list())).toMatchObject({ statusCode: status });
    expect(requests).toHaveLength(1);
  });

  test('does not happen after the service stopped the read at its deadline', async () => {
    const { client, requests } = scripted([failure(504, {}, 'timeout'), OK]);
    expect(await caught(client.tables.list())).toMatchObject({ statusCode: 504, code: 'timeout' });
    expect(requests).toHaveLength(1);
  });

  test('happens until the attempts are used up, and then the last error is thrown', async () => {
    const { client, requests, waits } = scripted([failure(503), 'refused', failure(429)], { maxAttempts: 3 });
    expect(await caught(client.tables.list())).toMatchObject({ statusCode: 429, detail: 'No: overloaded.' });
    expect(requests).toHaveLength(3);
    expect(waits).toHaveLength(2);
  });
});

describe('Retry-After', () => {
  test('is waited for, in addition to the jitter', async () => {
    const { client, waits } = scripted([failure(429, { 'retry-after': '7' }), OK]);
    await client.tables.list();
    expect(waits).toEqual([7100]);
  });

  test('may be a date, which is compared with the clock', async () => {
    const { client, waits } = scripted([failure(503, { 'retry-after': 'Mon, 01 Jan 2024 00:00:03 GMT' }), OK]);
    await client.tables.list();
    expect(waits).toEqual([3100]);
  });

  test('ends the call when it exceeds the longest allowed wait', async () => {
    const { client, requests, waits } = scripted([failure(429, { 'retry-after': '31' }), OK]);
    expect(await caught(client.tables.list())).toMatchObject({ statusCode: 429, retryAfter: 31 });
    expect(requests).toHaveLength(1);
    expect(waits).toEqual([]);
  });

  test.each([
    ['0', 0],
    ['120', 120],
    ['Mon, 01 Jan 2024 00:00:10 GMT', 10],
    ['Sun, 31 Dec 2023 00:00:00 GMT', 0],
    ['soon', undefined],
    ['-1x', undefined],
    [null, undefined],
  ])('gives a number of seconds: %j gives %j', (header, seconds) => {
    expect(retryAfterSeconds(header, Date.UTC(2024, 0, 1))).toBe(seconds);
  });
});

describe('the delay', () => {
  const options = { maxAttempts: 10, baseDelayMs: 100, maxDelayMs: 1000 };

  test('doubles with every attempt up to the limit, with random jitter', () => {
    expect([1, 2, 3, 4, 5, 6].map((attempt) => delayAfter(attempt, undefined, 0.5, options))).toEqual([
      50, 100, 200, 400, 500, 500,
    ]);
    expect(delayAfter(3, undefined, 0, options)).toBe(0);
  });

  test('never exceeds the limit', () => {
    expect(delayAfter(5, 1, 0.9, options)).toBe(1000);
    expect(delayAfter(5, 2, 0.9, options)).toBeUndefined();
    expect(delayAfter(10, undefined, 0.5, options)).toBeUndefined();
  });
});

describe('a write', () => {
  test('is retried, and sends the same new key with every attempt', async () => {
    const { client, requests } = scripted([failure(503), 'refused', OK, OK]);
    await client.hyperedges.insert(EDGE);
    await client.hyperedges.insert(EDGE);
    const keys = requests.map((request) => request.headers.get('idempotency-key'));
    expect(keys[0]).toMatch(/^[0-9a-f]{32}$/);
    expect(keys.slice(1, 3)).toEqual([keys[0], keys[0]]);
    expect(keys[3]).not.toBe(keys[0]);
    expect(requests.map((request) => request.body)).toEqual(requests.map(() => JSON.stringify(EDGE)));
  });

  test('uses a given key', async () => {
    const { client, requests } = scripted([OK]);
    await client.tables.drop('t', { idempotencyKey: 'mine' });
    expect(requests[0]!.headers.get('idempotency-key')).toBe('mine');
  });

  test('sends no Idempotency-Key to the routes of API keys and is never retried there', async () => {
    for (const step of [failure(503), 'refused'] as const) {
      const { client, requests } = scripted([step, OK]);
      expect(await caught(client.keys.create({ role: 'readonly' }))).toBeInstanceOf(Error);
      expect(await caught(scripted([step, OK]).client.keys.revoke('k'))).toBeInstanceOf(Error);
      expect(requests).toHaveLength(1);
      expect(requests[0]!.headers.has('idempotency-key')).toBe(false);
    }
  });

  test('is repeated while a lost attempt still runs, but a conflict at the first attempt is an error', async () => {
    const running = failure(409, {}, 'idempotency_conflict');
    const { client, requests } = scripted(['refused', running, OK]);
    await client.hyperedges.insert(EDGE);
    expect(requests).toHaveLength(3);
    const first = scripted([running, OK]);
    expect(await caught(first.client.hyperedges.insert(EDGE))).toMatchObject({ code: 'idempotency_conflict' });
    expect(first.requests).toHaveLength(1);
  });
});

describe('errors', () => {
  test('contain what the server reported', async () => {
    const errors = [{ loc: ['body', 'members', 0], msg: 'must be an integer' }];
    const json = {
      detail: 'members[0] must be an integer.',
      code: 'invalid_input',
      status: 400,
      request_id: 'r-9',
      errors,
    };
    const { client } = scripted([{ status: 400, json }]);
    const error = await caught(client.hyperedges.insert(EDGE));
    expect(error).toBeInstanceOf(HedgerowApiError);
    expect(error).toMatchObject({
      name: 'HedgerowApiError',
      message: '400: members[0] must be an integer.',
      statusCode: 400,
      detail: 'members[0] must be an integer.',
      code: 'invalid_input',
      requestId: 'r-9',
      errors,
      retryAfter: undefined,
    });
  });

  test('keep the text of a proxy in front of the server', async () => {
    const { client } = scripted([{ status: 404, text: 'nginx: no such host\n', headers: { 'x-request-id': 'p-1' } }]);
    expect(await caught(client.tables.list())).toMatchObject({
      statusCode: 404,
      detail: 'nginx: no such host',
      code: undefined,
      requestId: 'p-1',
      errors: [],
    });
  });

  test('contain the reason when the connection fails', async () => {
    const { client } = scripted(['refused'], { maxAttempts: 1 });
    const error = await caught(client.tables.list());
    expect(error).toBeInstanceOf(HedgerowConnectionError);
    expect(error).toMatchObject({
      timedOut: false,
      message: 'No whole answer from http://db.test: connect ECONNREFUSED.',
    });
  });

  test('include answers that are not JSON', async () => {
    const { client, requests } = scripted([{ status: 200, text: '<html>' }]);
    expect(await caught(client.tables.list())).toBeInstanceOf(HedgerowConnectionError);
    expect(requests).toHaveLength(1);
  });

  test('include timeouts', async () => {
    const { client } = scripted(['hanging'], { timeoutMs: 5, maxAttempts: 1 });
    expect(await caught(client.tables.list())).toMatchObject({ name: 'HedgerowConnectionError', timedOut: true });
    expect(await caught(client.tables.list({ timeoutMs: 1 }))).toMatchObject({ timedOut: true });
  });

  test('include timeouts of compactions and backups only when the call sets a timeout', async () => {
    const { client } = scripted(['hanging'], { timeoutMs: 5, maxAttempts: 1 });
    const controller = new AbortController();
    const { signal } = controller;
    const long = [client.hyperedges.compact({}, { signal }), client.backups.create({}, { signal })].map(caught);
    const first = await Promise.race([...long, caught(client.tables.list())]);
    expect(first).toMatchObject({ timedOut: true });
    controller.abort(new Error('enough'));
    expect(await Promise.all(long)).toEqual([new Error('enough'), new Error('enough')]);
    expect(await caught(client.backups.create({}, { timeoutMs: 5 }))).toMatchObject({ timedOut: true });
  });
});

describe('an AbortSignal', () => {
  test('ends a call that waits for its answer, with the reason of the signal', async () => {
    const { client, requests } = scripted(['hanging']);
    const controller = new AbortController();
    const call = caught(client.tables.list({ signal: controller.signal }));
    controller.abort(new Error('not needed any more'));
    expect(await call).toMatchObject({ message: 'not needed any more' });
    expect(requests).toHaveLength(1);
  });

  test('prevents the request when it is already aborted', async () => {
    const { client, requests } = scripted([OK]);
    const error = await caught(client.tables.list({ signal: AbortSignal.abort() }));
    expect(error).toMatchObject({ name: 'AbortError' });
    expect(requests).toHaveLength(0);
  });

  test('ends the delay between two attempts', async () => {
    const controller = new AbortController();
    const { client, requests } = scripted([failure(503)], {
      sleep: async (_ms, signal) => {
        controller.abort(new Error('enough'));
        signal?.throwIfAborted();
      },
    });
    expect(await caught(client.tables.list({ signal: controller.signal }))).toMatchObject({ message: 'enough' });
    expect(requests).toHaveLength(1);
  });

  test('also ends a delay that is timed by the real clock', async () => {
    const controller = new AbortController();
    const { client } = scripted([failure(503, { 'retry-after': '20' })], {
      sleep: undefined as never,
      fetch: async () => {
        queueMicrotask(() => setImmediate(() => controller.abort(new Error('enough'))));
        return new Response('{}', { status: 503, headers: { 'retry-after': '20' } });
      },
    });
    expect(await caught(client.tables.list({ signal: controller.signal }))).toMatchObject({ message: 'enough' });
  });
});

describe('a fetch that does not notice its signal, as in Node after a garbage collection', () => {
  const never = new Promise<never>(() => {});
  const stalled = () => new Response(new ReadableStream({ start: (body) => body.enqueue(new Uint8Array([123])) }));
  test.each<[string, () => Promise<Response>]>([
    ['before the answer', () => never],
    ['in the answer', async () => stalled()],
    ['in the answer of an error', async () => new Response(stalled().body, { status: 500 })],
  ])('is left at the timeout and when the caller aborts: %s', async (_name, fetch) => {
    const { client } = scripted([], { fetch, maxAttempts: 1 });
    expect(await caught(client.tables.list({ timeoutMs: 5 }))).toMatchObject({ timedOut: true });
    const controller = new AbortController();
    const listing = caught(client.tables.list({ signal: controller.signal }));
    controller.abort(new Error('enough'));
    expect(await listing).toMatchObject({ message: 'enough' });
  });

  test('is left in a stream', async () => {
    const { client } = scripted([], { fetch: async () => stalled(), maxAttempts: 1 });
    const window = { start_ts: 0, end_ts: 9 };
    expect(await caught(client.hyperedges.rangeRows(window, { timeoutMs: 5 }).next())).toMatchObject({
      timedOut: true,
    });
    const controller = new AbortController();
    const next = caught(client.changes({ signal: controller.signal }).next());
    await new Promise((resolve) => setImmediate(resolve));
    controller.abort(new Error('enough'));
    expect(await next).toMatchObject({ message: 'enough' });
  });
});
