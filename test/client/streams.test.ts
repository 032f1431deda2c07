import { describe, expect, test } from 'vitest';
import { HedgerowConnectionError } from '../../src/client/index.ts';
import { caught, failure, type Step, scripted } from './scripted-fetch.ts';

const WINDOW = { start_ts: 0, end_ts: 9 };
const row = (id: number, formation: string | null = null) => ({ id, formation });
const line = (value: unknown) => `${JSON.stringify(value)}\n`;
const whole = (...pieces: string[]): Step => ({ pieces, end: 'whole' });

async function all<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const one of rows) found.push(one);
  return found;
}

describe('a stream of rows', () => {
  test('yields each row, wherever the pieces are cut', async () => {
    const text = line(row(1, 'Zürich 🚢')) + line(row(2)) + line(row(3));
    const bytes = [...new TextEncoder().encode(text)].map((byte) => new Uint8Array([byte]));
    const body = new ReadableStream({
      start(controller) {
        for (const byte of bytes) controller.enqueue(byte);
        controller.close();
      },
    });
    const fetch = async () => new Response(body);
    const { client } = scripted([], { fetch });
    expect(await all(client.hyperedges.rangeRows(WINDOW))).toEqual([row(1, 'Zürich 🚢'), row(2), row(3)]);
  });

  test('requests NDJSON', async () => {
    const { client, requests } = scripted([whole('')]);
    expect(await all(client.hyperedges.nodeRows(7, { limit: 3 }))).toEqual([]);
    expect(requests[0]!.url).toBe('http://db.test/v1/hyperedges/node/7?limit=3');
    expect(requests[0]!.headers.get('accept')).toBe('application/x-ndjson');
  });

  test('sends no request before it is read', async () => {
    const { client, requests } = scripted([whole(line(row(1)))]);
    const rows = client.hyperedges.rangeRows(WINDOW);
    await Promise.resolve();
    expect(requests).toHaveLength(0);
    await rows.next();
    expect(requests).toHaveLength(1);
  });

  test.each<[string, Step]>([
    ['between two rows', { pieces: [line(row(1))], end: 'cut' }],
    ['in a row', { pieces: [line(row(1)), '{"id":2'], end: 'cut' }],
    ['in a row, without an error of the connection', whole(line(row(1)), '{"id":2')],
  ])('throws after the previous rows when it is interrupted %s', async (_name, step) => {
    const { client, requests } = scripted([step]);
    const rows = client.hyperedges.rangeRows(WINDOW);
    expect((await rows.next()).value).toEqual(row(1));
    expect(await caught(rows.next())).toBeInstanceOf(HedgerowConnectionError);
    // Rows were already delivered, so the stream cannot start again.
    expect(requests).toHaveLength(1);
  });

  test('is retried when it has not begun', async () => {
    const { client, requests } = scripted([failure(503), whole(line(row(1)))]);
    expect(await all(client.hyperedges.rangeRows(WINDOW))).toEqual([row(1)]);
    expect(requests).toHaveLength(2);
  });

  test('throws at the timeout when it stalls', async () => {
    const { client } = scripted([{ pieces: [line(row(1))], end: 'silent' }], { timeoutMs: 20 });
    const rows = client.hyperedges.rangeRows(WINDOW);
    expect((await rows.next()).value).toEqual(row(1));
    expect(await caught(rows.next())).toMatchObject({ timedOut: true });
  });

  test('ends its request when the loop is left', async () => {
    const { client, requests } = scripted([{ pieces: [line(row(1)), line(row(2))], end: 'silent' }]);
    for await (const _row of client.hyperedges.rangeRows(WINDOW)) break;
    expect(requests[0]!.init.signal!.aborted).toBe(true);
  });

  test('ends with the reason of its AbortSignal', async () => {
    const { client } = scripted([{ pieces: [line(row(1))], end: 'silent' }]);
    const controller = new AbortController();
    const rows = client.hyperedges.rangeRows(WINDOW, { signal: controller.signal });
    await rows.next();
    const next = caught(rows.next());
    controller.abort(new Error('enough'));
    expect(await next).toMatchObject({ message: 'enough' });
  });
});

describe('pages', () => {
  const page = (cursor: string | null): Step => ({ status: 200, json: { hyperedges: [], next_cursor: cursor } });

  test('follow their cursors to the end', async () => {
    const { client, requests } = scripted([page('c1'), page('c2'), page(null)]);
    expect(await all(client.hyperedges.rangePages({ ...WINDOW, limit: 2 }))).toHaveLength(3);
    expect(requests.map(({ url }) => new URL(url).searchParams.get('cursor'))).toEqual([null, 'c1', 'c2']);
    expect(new Set(requests.map(({ url }) => new URL(url).searchParams.get('limit')))).toEqual(new Set(['2']));
  });

  test('are read on demand, each with its own retries', async () => {
    const { client, requests } = scripted([page('c1'), failure(429), page(null)]);
    const pages = client.hyperedges.nodePages(4, { limit: 2 });
    await pages.next();
    expect(requests).toHaveLength(1);
    await pages.next();
    expect(requests).toHaveLength(3);
    expect((await pages.next()).done).toBe(true);
  });
});
