// Tests `client.changes` against scripted answers: which requests it sends, when it gives up, and
// how far it reads ahead.

import { describe, expect, test } from 'vitest';
import type { Change, ChangesOptions, HedgerowClient } from '../../src/client/index.ts';
import { caught, failure, type Step, scripted } from './scripted-fetch.ts';

const HEAD = 'retry: 1000\n: changes after LSN 0\n\n';
const change = (lsn: number) => ({ lsn, ts: 1, table: 't', op: 'table_dropped' });
const event = (lsn: number) => `id: ${lsn}\ndata: ${JSON.stringify(change(lsn))}\n\n`;
const line = (lsn: number) => `${JSON.stringify(change(lsn))}\n`;
const cut = (...pieces: string[]): Step => ({ pieces, end: 'cut' });
const whole = (...pieces: string[]): Step => ({ pieces, end: 'whole' });
const silent = (...pieces: string[]): Step => ({ pieces, end: 'silent' });
const gone = (oldest: number): Step => ({
  status: 410,
  json: { detail: 'Gone.', code: 'lsn_gone', oldest_lsn: oldest },
});

async function lsnsOf(client: HedgerowClient, options: ChangesOptions): Promise<number[]> {
  const found: number[] = [];
  for await (const { lsn } of client.changes(options)) found.push(lsn);
  return found;
}

const queries = (requests: readonly { url: string }[]) => requests.map(({ url }) => new URL(url).search);

test('a lost connection is followed by a request for what comes after the last whole event', async () => {
  const steps = [
    cut(HEAD, event(3), event(4), 'id: 5\ndata: {"lsn"'),
    whole(HEAD, event(5)),
    cut(HEAD),
    whole(HEAD, event(9)),
  ];
  const { client, requests, waits } = scripted(steps);
  expect(await lsnsOf(client, { fromLsn: 2, table: 't', limit: 4 })).toEqual([3, 4, 5, 9]);
  expect(queries(requests)).toEqual([
    '?from_lsn=2&table=t&limit=4',
    '?from_lsn=4&table=t&limit=2',
    '?from_lsn=5&table=t&limit=1',
    '?from_lsn=5&table=t&limit=1',
  ]);
  for (const { headers } of requests) expect(headers.get('accept')).toBe('text/event-stream');
  // An answer without changes is a failed attempt, so the third wait is longer.
  expect(waits).toEqual([100, 100, 200]);
});

test('events are found wherever their pieces are cut, with either line break', async () => {
  const text = HEAD + event(3) + event(4).replaceAll('\n', '\r\n') + event(5);
  const { client } = scripted([whole(...text)]);
  expect(await lsnsOf(client, { limit: 3 })).toEqual([3, 4, 5]);
});

test('an id without data shows how far the server has read', async () => {
  const { client, requests } = scripted([cut(HEAD, event(3), 'id: 80\n: nothing new\n\n'), whole(HEAD, event(90))]);
  expect(await lsnsOf(client, { limit: 2 })).toEqual([3, 90]);
  expect(queries(requests)).toEqual(['?from_lsn=0&limit=2', '?from_lsn=80&limit=1']);
});

test('without follow, lines are read, and a lost connection is continued the same way', async () => {
  const { client, requests } = scripted([cut(line(3), '{"lsn":4'), whole(line(4), line(6))]);
  expect(await lsnsOf(client, { follow: false })).toEqual([3, 4, 6]);
  expect(queries(requests)).toEqual(['?from_lsn=0', '?from_lsn=3']);
  for (const { headers } of requests) expect(headers.get('accept')).toBe('application/x-ndjson');
});

test.each([true, false])(
  'without an LSN, reading begins with the oldest change that is kept (follow: %s)',
  async (follow) => {
    const answer = follow ? whole(HEAD, event(60)) : whole(line(60));
    const { client, requests, waits } = scripted([gone(40), gone(50), answer]);
    expect(await lsnsOf(client, { follow, limit: 1 })).toEqual([60]);
    expect(queries(requests)).toEqual(['?from_lsn=0&limit=1', '?from_lsn=40&limit=1', '?from_lsn=50&limit=1']);
    expect(waits).toEqual([]);
  },
);

describe('what is gone is never passed over', () => {
  test('with an LSN', async () => {
    const { client, requests } = scripted([gone(40)]);
    expect(await caught(lsnsOf(client, { fromLsn: 7 }))).toMatchObject({ code: 'lsn_gone', oldestLsn: 40 });
    expect(requests).toHaveLength(1);
  });

  test('without one, once the feed was open', async () => {
    const { client } = scripted([cut(HEAD), gone(40)]);
    expect(await caught(lsnsOf(client, {}))).toMatchObject({ statusCode: 410, oldestLsn: 40 });
  });

  test('in the middle of a stream', async () => {
    const body = JSON.stringify({ detail: 'Gone.', code: 'lsn_gone', status: 410, oldest_lsn: 40 });
    const { client, requests } = scripted([whole(HEAD, event(3), `event: error\ndata: ${body}\n\n`)]);
    const changes = client.changes();
    expect((await changes.next()).value).toEqual(change(3));
    expect(await caught(changes.next())).toMatchObject({
      statusCode: 410,
      code: 'lsn_gone',
      oldestLsn: 40,
      detail: 'Gone.',
    });
    expect(requests).toHaveLength(1);
  });
});

describe('attempts', () => {
  const down = (count: number): Step[] => Array.from({ length: count }, () => 'refused');

  test('are limited until the feed is open', async () => {
    const { client, requests } = scripted(['refused', failure(503)]);
    expect(await caught(lsnsOf(client, {}))).toMatchObject({ statusCode: 503 });
    expect(requests).toHaveLength(4);
  });

  test('are not limited afterwards, and the waits grow to their maximum', async () => {
    const { client, waits } = scripted([cut(HEAD, event(1)), ...down(20), whole(HEAD, event(2))], { maxDelayMs: 1000 });
    expect(await lsnsOf(client, { limit: 2 })).toEqual([1, 2]);
    expect(waits.slice(0, 5)).toEqual([100, 200, 400, 500, 500]);
    expect(waits).toHaveLength(21);
  });

  test('are limited if changes are not followed', async () => {
    const { client, requests } = scripted([cut(line(1)), 'refused']);
    expect(await caught(lsnsOf(client, { follow: false }))).toMatchObject({ name: 'HedgerowConnectionError' });
    expect(requests).toHaveLength(4);
  });

  test('are turned off with retries', async () => {
    const { client, requests } = scripted([cut(HEAD, event(1))], { maxAttempts: 1 });
    expect(await caught(lsnsOf(client, {}))).toMatchObject({ name: 'HedgerowConnectionError' });
    expect(requests).toHaveLength(1);
  });

  test('do not follow errors that stay', async () => {
    const { client, requests } = scripted([cut(HEAD, event(1)), failure(401, {}, 'unauthorized')]);
    expect(await caught(lsnsOf(client, {}))).toMatchObject({ statusCode: 401 });
    expect(requests).toHaveLength(2);
  });

  test('follow a connection that has become silent', async () => {
    const { client, requests } = scripted([silent(HEAD, event(1)), whole(HEAD, event(2))]);
    const errors: unknown[] = [];
    const onRetry = (error: unknown) => errors.push(error);
    expect(await lsnsOf(client, { timeoutMs: 20, limit: 2, onRetry })).toEqual([1, 2]);
    expect(queries(requests)).toEqual(['?from_lsn=0&limit=2', '?from_lsn=1&limit=1']);
    expect(errors).toMatchObject([{ timedOut: true }]);
  });

  test('end with the signal', async () => {
    const controller = new AbortController();
    const { client } = scripted([cut(HEAD, event(1)), 'refused']);
    const onRetry = (_error: unknown, failures: number) => {
      if (failures === 3) controller.abort(new Error('enough'));
    };
    expect(await caught(lsnsOf(client, { signal: controller.signal, onRetry }))).toMatchObject({ message: 'enough' });
  });
});

test('a page of something else at the address is an error', async () => {
  const fetch = async () => new Response('<html></html>', { headers: { 'content-type': 'text/html' } });
  const { client } = scripted([], { fetch });
  expect(String(await caught(lsnsOf(client, {})))).toMatch(/The answer is text\/html.*address of Hedgerow/);
});

test('no more than a few megabytes are read ahead of the consumer, and leaving ends the request', async () => {
  let lsn = 0;
  let signal: AbortSignal | null | undefined;
  const piece = () => Array.from({ length: 500 }, () => event(++lsn)).join('');
  const size = new TextEncoder().encode(piece()).length;
  lsn = 0;
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(new TextEncoder().encode(piece())),
  });
  const { client } = scripted([], {
    fetch: async (_url: unknown, init?: RequestInit) => {
      signal = init?.signal;
      return new Response(body);
    },
  });
  const seen: Change[] = [];
  for await (const one of client.changes()) {
    seen.push(one);
    await new Promise((resolve) => setImmediate(resolve));
    if (seen.length === 200) break;
  }
  expect(seen.map((one) => one.lsn)).toEqual(Array.from({ length: 200 }, (_, n) => n + 1));
  expect((lsn / 500) * size).toBeLessThan(6 * 2 ** 20);
  expect(signal?.aborted).toBe(true);
});
