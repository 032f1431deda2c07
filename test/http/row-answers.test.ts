// Tests that the answers of statements that return rows have the same form when the core writes
// them and when they are built from vectors, whole or streamed, alone or concurrently.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type Answer,
  manyEdges,
  NDJSON,
  openSocket,
  Recorder,
  send,
  sleep,
  startServer,
  type TestServer,
} from './support.ts';

let server: TestServer;
const recorder = new Recorder();
const ROWS = 20_000;

beforeAll(async () => {
  server = await startServer({ observer: recorder });
  await run('CREATE HYPEREDGE TABLE calls (node) PROPERTIES (place TEXT) BUCKET_SECONDS 100');
  await send(server, 'POST', '/v1/hyperedges?table=calls', manyEdges(ROWS), NDJSON);
});

afterAll(() => server.close());

function run(
  query: string,
  parameters: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Answer> {
  return send(server, 'POST', '/v1/query', { query, parameters }, headers);
}

/** The start of a filter that no index can answer, so that rows are built from vectors. */
const MADE = "WHERE (e.place IS NULL OR e.place = 'x') AND";
const ANY = 'WHERE';
const lookup = (where: string, items: string) =>
  `MATCH (e:calls) ${where} $node IN e.members AND e.event_ts BETWEEN $from AND $to RETURN ${items}`;

describe('rows that the core writes', () => {
  test.each([
    '*',
    'e',
    'e.id, e.event_ts, e.members, e.place AS ort',
    'e.id, e.event_ts, e.members ORDER BY e.event_ts LIMIT 70',
  ])('have the same form as rows built from vectors: RETURN %s', async (items) => {
    const parameters = { node: 5, from: 100, to: 2000 };
    for (const type of ['*/*', 'application/x-ndjson']) {
      const headers = { accept: type, 'accept-encoding': 'identity' };
      const written = await run(lookup(ANY, items), parameters, headers);
      const made = await run(lookup(MADE, items), parameters, headers);
      expect(written.status).toBe(200);
      expect(withoutTime(written.text)).toBe(withoutTime(made.text));
      expect(written.headers.get('content-type')).toBe(made.headers.get('content-type'));
      expect(written.headers.get('x-hedgerow-lsn')).toBe(made.headers.get('x-hedgerow-lsn'));
      expect(Number(written.headers.get('content-length'))).toBe(Buffer.byteLength(written.text));
    }
  });

  test('equal those of the node route', async () => {
    for (const [node, from, to] of [
      [5, 0, 999],
      [1007, 0, 999],
      [99, 19_000, 30_000],
      [123_456, 0, 9],
    ]) {
      const { json } = await run(lookup(ANY, '*'), { node, from, to });
      const route = await send(server, 'GET', `/v1/hyperedges/node/${node}?table=calls&start_ts=${from}&end_ts=${to}`);
      expect(json.rows).toEqual(route.json.hyperedges);
      expect(json.num_tuples).toBe(route.json.num_tuples);
      const { elapsed_us: _, ...figures } = json.query_plan;
      expect(figures).toEqual({ ...route.json.query_plan, elapsed_us: undefined });
    }
  });

  test('may have column names in any script', async () => {
    const { json } = await run(
      'MATCH (e:calls) RETURN e.id, e.event_ts, e.members, e.place AS `Straße "1" 😀` LIMIT 1',
    );
    expect(json.columns[3]).toBe('Straße "1" 😀');
    expect(json.rows).toEqual([{ id: 1, event_ts: 0, members: [0, 1000], 'Straße "1" 😀': null }]);
  });

  test.each(['*', 'e', 'e.event_ts, e.id'])('are streamed completely when they are many: RETURN %s', async (items) => {
    const { json, headers } = await run(`MATCH (e:calls) RETURN ${items}`);
    expect(headers.get('content-length')).toBeNull();
    expect([json.num_tuples, json.rows.length]).toEqual([ROWS, ROWS]);
    expect(json.query_plan).toMatchObject({ strategy: 'FULL_SCAN', buckets_scanned: 200, total_buckets: 200 });
    const lines = await run(`MATCH (e:calls) RETURN ${items}`, {}, { accept: 'application/x-ndjson' });
    expect(lines.text.endsWith('}\n')).toBe(true);
    const rows = lines.text.trimEnd().split('\n');
    expect(rows.map((line) => JSON.parse(line))).toEqual(json.rows);
  });

  test('are an empty list when nothing matches', async () => {
    const { json } = await run(lookup(ANY, '*'), { node: 5, from: 10, to: 9 });
    expect([json.rows, json.num_tuples, json.columns.length]).toEqual([[], 0, 7]);
    const lines = await run(lookup(ANY, 'e'), { node: -5, from: 0, to: 9 }, { accept: 'application/x-ndjson' });
    expect(lines.text).toBe('');
  });

  test('are reported to the observer like other rows', async () => {
    const before = recorder.queries.length;
    await run(lookup(ANY, '*'), { node: 5, from: 0, to: 999 });
    await run(lookup(MADE, '*'), { node: 5, from: 0, to: 999 });
    const told = recorder.queries.slice(before).map(({ requestId: _, ...facts }) => facts);
    expect(told).toEqual([
      { strategy: 'FMI_LOOKUP', table: 'calls', records: 10 },
      { strategy: 'FMI_LOOKUP', table: 'calls', records: 10 },
    ]);
  });
});

describe('concurrent answers', () => {
  test('do not mix, with or without an Idempotency-Key', async () => {
    const asked = Array.from({ length: 30 }, (_, i) => i);
    const answers = await Promise.all(
      asked.map((i) => {
        const headers: Record<string, string> = i % 3 === 0 ? { 'idempotency-key': `read-${i}` } : {};
        const items = ['*', 'e', 'e.event_ts'][i % 3]!;
        return run(lookup(ANY, items), { node: 1000 + i, from: 0, to: ROWS }, headers);
      }),
    );
    for (const [i, { status, text, json }] of answers.entries()) {
      expect(status, text).toBe(200);
      const [row] = json.rows;
      expect(json.num_tuples).toBe(1);
      expect((row.e ?? row).event_ts).toBe(i);
    }
  });

  test('do not mix when long statements are parsed in steps', async () => {
    const padding = ` /* ${'x'.repeat(17_000)} */`;
    const asked = Array.from({ length: 40 }, (_, i) => i);
    const answers = await Promise.all(
      asked.map((i) => run(lookup(ANY, '*') + padding, { node: 1000 + i, from: 0, to: ROWS })),
    );
    expect(answers.map(({ json }) => json.rows[0].event_ts)).toEqual(asked);
  });

  test('release their snapshots when their client disconnects midway', async () => {
    const { database } = server;
    const table = database.table('calls');
    for (const items of ['*', 'e', 'e.event_ts, e.id']) {
      const body = JSON.stringify({ query: `MATCH (e:calls) RETURN ${items}` });
      const socket = await openSocket(server);
      socket.write(
        `POST /v1/query HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
      );
      await new Promise((resolve) => socket.once('data', resolve));
      socket.destroy();
    }
    for (let i = 0; i < 100 && table.openSnapshots > 0; i++) await sleep(20);
    expect(table.openSnapshots).toBe(0);
  });
});

function withoutTime(text: string): string {
  return text.replace(/"elapsed_us":\d+/, '"elapsed_us":0');
}
