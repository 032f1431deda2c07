// Tests the feed of changes over HTTP: NDJSON, server-sent events, waiting, resuming, refusals and
// the end of the service.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Answer, send, startServer, type TestServer } from './support.ts';

describe.each(['uws', 'node'] as const)('GET /v1/changes over %s', (transport) => {
  let server: TestServer;
  const open: AbortController[] = [];
  beforeAll(async () => {
    server = await startServer({ transport });
    await send(server, 'POST', '/v1/tables', { name: 'other' });
    for (let n = 1; n <= 3; n++) await insert(n);
    await send(server, 'POST', '/v1/query', { query: 'UPDATE hyperedges SET weight = 5 WHERE id = 2' });
    await insert(9, 'other');
    await send(server, 'DELETE', '/v1/hyperedges', { event_ts: 3, members: [3] });
  });
  afterEach(() => {
    for (const controller of open.splice(0)) controller.abort();
  });
  afterAll(() => server.close());

  const insert = (n: number, table = 'hyperedges') =>
    send(server, 'POST', '/v1/hyperedges', { table, event_ts: n, members: [n] });
  const get = (query = '', headers?: Record<string, string>): Promise<Answer> =>
    send(server, 'GET', `/v1/changes${query}`, undefined, headers);
  // biome-ignore lint/suspicious/noExplicitAny: changes have many forms.
  const changesIn = (text: string): any[] =>
    text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));

  /** Reads server-sent events until the text contains `until`; returns all text. */
  async function events(query: string, until: string, headers: Record<string, string> = {}): Promise<string> {
    const controller = new AbortController();
    open.push(controller);
    const answer = await fetch(`${server.url}/v1/changes${query}`, {
      headers: { accept: 'text/event-stream', ...headers },
      signal: controller.signal,
    });
    expect(answer.headers.get('content-type')).toBe('text/event-stream');
    const decoder = new TextDecoder();
    let text = '';
    for await (const chunk of answer.body!) {
      text += decoder.decode(chunk as Uint8Array, { stream: true });
      if (text.includes(until)) break;
    }
    return text;
  }

  test('answers every change in order, with the edge before and after', async () => {
    const { status, headers, text } = await get('?unknown=1', { accept: 'text/event-stream;q=0' });
    expect([status, headers.get('content-type')]).toEqual([200, 'application/x-ndjson']);
    const changes = changesIn(text);
    expect(changes.map(({ op, table, id }) => [op, table, id])).toEqual([
      ['table_created', 'hyperedges', undefined],
      ['table_created', 'other', undefined],
      ['insert', 'hyperedges', 1],
      ['insert', 'hyperedges', 2],
      ['insert', 'hyperedges', 3],
      ['update', 'hyperedges', 2],
      ['insert', 'other', 1],
      ['delete', 'hyperedges', 3],
    ]);
    expect(changes[5]).toMatchObject({ before: { id: 2, weight: null }, row: { id: 2, weight: 5 }, commit_end: true });
    expect(changes[7]).toMatchObject({ before: { id: 3, event_ts: 3, members: [3] } });
    expect(headers.get('x-hedgerow-lsn')).toBe(String(changes[7].lsn));
    const now = Date.now() / 1000;
    for (const { ts } of changes) expect(Math.abs(ts - now)).toBeLessThan(600);
  });

  test('goes on from any LSN, with a limit and for one table', async () => {
    const all = changesIn((await get()).text);
    let from = 0;
    const found: unknown[] = [];
    for (;;) {
      const some = changesIn((await get(`?from_lsn=${from}&limit=2`)).text);
      if (some.length === 0) break;
      expect(some.length).toBeLessThanOrEqual(2);
      found.push(...some);
      from = some.at(-1).lsn;
    }
    expect(found).toEqual(all);
    const other = changesIn((await get('?table=other')).text);
    expect(other).toEqual(all.filter(({ table }) => table === 'other'));
  });

  test('refuses what it does not know, and says how to go on', async () => {
    const ahead = await get('?from_lsn=1000000');
    expect([ahead.status, ahead.json.code, ahead.json.last_lsn]).toEqual([409, 'lsn_ahead', server.database.lastLsn]);
    expect((await get('?table=none')).status).toBe(404);
    for (const query of ['?from_lsn=-1', '?from_lsn=x', '?limit=0', '?wait_s=61', '?wait_s=-1']) {
      const { status, json } = await get(query);
      expect([query, status, json.code]).toEqual([query, 400, 'invalid_input']);
    }
    const bad = await get('', { accept: 'text/event-stream', 'last-event-id': 'x' });
    expect([bad.status, bad.json.errors[0].loc]).toEqual([400, ['header', 'Last-Event-ID']]);
  });

  test('waits for a change, and ends once it has sent something', async () => {
    const { lastLsn } = server.database;
    const waiting = get(`?from_lsn=${lastLsn}&wait_s=60&table=hyperedges`);
    await insert(1, 'other');
    await insert(77);
    const changes = changesIn((await waiting).text);
    expect(changes.map(({ table, row }) => [table, row.event_ts])).toEqual([['hyperedges', 77]]);
    expect((await get(`?from_lsn=${server.database.lastLsn}&wait_s=0`)).text).toBe('');
  });

  test('sends server-sent events as they come, and Last-Event-ID goes on', async () => {
    const { lastLsn } = server.database;
    const reading = events(`?from_lsn=${lastLsn}`, '"event_ts":502');
    await insert(501);
    await insert(502);
    const text = await reading;
    const ids = [...text.matchAll(/^id: (\d+)\ndata: (.*)\n\n/gm)].map(([, id, data]) => [
      Number(id),
      JSON.parse(data!),
    ]);
    expect(ids.map(([id, { lsn, row }]) => [id === lsn, row.event_ts])).toEqual([
      [true, 501],
      [true, 502],
    ]);
    const rest = await events('?from_lsn=0', '"event_ts":502', { 'last-event-id': String(ids[0]![0]) });
    expect(rest).not.toContain('"event_ts":501');
  });

  test('HEAD has no body', async () => {
    const { status, text } = await send(server, 'HEAD', '/v1/changes');
    expect([status, text]).toEqual([200, '']);
  });

  test('a stream that waits ends when the service stops', async () => {
    const own = await startServer({ transport });
    const answer = await fetch(`${own.url}/v1/changes`, { headers: { accept: 'text/event-stream' } });
    const ended = answer.text().then(
      (text) => text.includes('table_created'),
      () => true,
    );
    await own.close();
    expect(await ended).toBe(true);
  });
});

test('a stream that waits ends once its key is revoked', async () => {
  const server = await startServer({ auth: true });
  const admin = { 'x-api-key': server.keys.admin };
  const { key_id: id, plaintext_key: key } = (await send(server, 'POST', '/v1/keys', { role: 'readonly' }, admin)).json;
  const headers = { accept: 'text/event-stream', 'x-api-key': key as string };
  const reading = fetch(`${server.url}/v1/changes`, { headers }).then((answer) => answer.text());
  expect((await send(server, 'DELETE', `/v1/keys/${id}`, undefined, admin)).status).toBe(200);
  await send(server, 'POST', '/v1/hyperedges', { event_ts: 4711, members: [1] }, admin);
  const text = await reading;
  expect(text).toContain('event: error');
  expect(text).toContain('"code":"unauthorized"');
  expect(text).not.toContain('4711');
  await server.close();
});

test('without history, changes are refused with the setting that keeps them', async () => {
  const server = await startServer({ history: null });
  const { status, json } = await send(server, 'GET', '/v1/changes');
  expect([status, json.code]).toEqual([400, 'invalid_input']);
  expect(json.detail).toContain('HEDGEROW_CHANGES_KEEP_SECONDS');
  await server.close();
});

test('an LSN that is no longer kept is refused with the oldest one to read from', async () => {
  const server = await startServer({ history: { seconds: 0, bytes: 0 } });
  for (let round = 0; round < 3; round++) {
    const lines = Array.from({ length: 20_000 }, (_, n) => `{"event_ts":${n},"members":[${n % 99}]}\n`).join('');
    const headers = { 'content-type': 'application/x-ndjson' };
    expect((await send(server, 'POST', '/v1/hyperedges', lines, headers)).status).toBe(201);
    await send(server, 'POST', '/v1/hyperedges/compact', {});
  }
  const { status, json } = await send(server, 'GET', '/v1/changes?from_lsn=1');
  expect([status, json.code]).toEqual([410, 'lsn_gone']);
  expect(json.oldest_lsn).toBeGreaterThan(1);
  expect((await send(server, 'GET', `/v1/changes?from_lsn=${json.oldest_lsn}&limit=1`)).status).toBe(200);
  await server.close();
});
