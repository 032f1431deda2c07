import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/observe/log.ts';
import { createObserver, type ServiceObserver } from '../../src/observe/service-observer.ts';
import { send, startServer, type TestServer } from '../http/support.ts';
import { samplesOf } from './exposition.ts';

let server: TestServer;
let observer: ServiceObserver;
const lines: Record<string, unknown>[] = [];

beforeAll(async () => {
  const log = createLogger({
    format: 'json',
    level: 'info',
    now: () => new Date(),
    write: (line) => void lines.push(JSON.parse(line)),
  });
  observer = createObserver({ log, audit: undefined, version: '1.2.3' });
  server = await startServer({ auth: true, observer });
  observer.attach(server.database.statistics);
});

afterAll(async () => {
  await server.close();
  observer.close();
});

function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  return send(server, method, path, body, { 'x-api-key': server.keys.admin, ...headers });
}

async function scrape(): Promise<Map<string, number>> {
  const { status, text } = await call('GET', '/metrics');
  expect(status).toBe(200);
  return samplesOf(text);
}

describe('GET /metrics', () => {
  it('returns the text format for every role, but not without a key', async () => {
    const answer = await call('GET', '/metrics', undefined, { 'x-api-key': server.keys.readonly });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(samplesOf(answer.text).get('hedgerow_durability_info{mode="fsync"}')).toBe(1);
    const refused = await send(server, 'GET', '/metrics');
    expect(refused.status).toBe(401);
    expect(refused.text).not.toContain('hedgerow_');
  });

  it('counts what the service did', async () => {
    const before = await scrape();
    const edges = '{"event_ts":1,"members":[1,2]}\n{"event_ts":2,"members":[2,3]}\n{"event_ts":30,"members":[3]}\n';
    expect((await call('POST', '/v1/hyperedges', edges, { 'content-type': 'application/x-ndjson' })).status).toBe(201);
    expect((await call('GET', '/v1/hyperedges?start_ts=0&end_ts=9')).json.num_tuples).toBe(2);
    expect((await call('GET', '/v1/hyperedges/node/3')).json.num_tuples).toBe(2);
    expect((await call('GET', '/v1/tables/none')).status).toBe(404);
    expect((await call('GET', '/no/such/route')).status).toBe(404);
    expect((await call('POST', '/v1/hyperedges/compact', {})).status).toBe(200);
    const after = await scrape();
    const grown = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
    expect(after.get('hedgerow_records_total')).toBe(3);
    expect(after.get('hedgerow_segments')).toBe(1);
    expect(grown('hedgerow_compactions_total')).toBe(1);
    expect(grown('hedgerow_http_requests_total{status_class="2xx",method="POST",route="/v1/hyperedges"}')).toBe(1);
    expect(grown('hedgerow_http_requests_total{status_class="4xx",method="GET",route="/v1/tables/{name}"}')).toBe(1);
    expect(grown('hedgerow_http_requests_total{status_class="4xx",method="*",route="unmatched"}')).toBe(1);
    expect(grown('hedgerow_query_duration_seconds_count{strategy="tpi"}')).toBe(1);
    expect(grown('hedgerow_query_duration_seconds_count{strategy="fmi"}')).toBe(1);
  });

  it('counts a query of every strategy', async () => {
    await call('POST', '/v1/tables', { name: 'stays', intervals: true });
    const statements = [
      'INSERT INTO stays (event_ts, members, end_ts) VALUES (1, [1, 2], 5)',
      'CREATE INDEX ON stays (weight)',
      'MATCH (s:stays) WHERE holds(s, 3) RETURN s.id',
      'MATCH (s:stays) WHERE s.weight > 3 RETURN s.id',
      'MATCH (s:stays) WHERE 1 IN s.members RETURN s.id',
      'MATCH (s:stays) WHERE 1 IN s.members AND 2 IN s.members RETURN s.id',
      'MATCH (s:stays), (t:stays) WHERE s.id = t.id RETURN s.id',
      'MATCH (s:stays), (t:stays) WHERE shared(s, t) >= 1 RETURN s.id',
      'MATCH (s:stays), (t:stays) WHERE overlaps(s, t, 9) RETURN s.id',
      'MATCH (s:stays), (t:stays) WHERE s.id < t.id RETURN s.id',
      'MATCH (s:stays) RETURN s.id',
    ];
    const countOf = (samples: ReadonlyMap<string, number>) =>
      [...samples].reduce(
        (sum, [name, value]) => (name.startsWith('hedgerow_query_duration_seconds_count') ? sum + value : sum),
        0,
      );
    const before = countOf(await scrape());
    for (const query of statements) expect((await call('POST', '/v1/query', { query })).status, query).toBe(200);
    expect((await call('GET', '/v1/hyperedges?table=stays&start_ts=0&end_ts=9&at=3')).json.num_tuples).toBe(1);
    expect(countOf(await scrape()) - before).toBe(statements.length - 2 + 1);
  });

  it('uses no label value that a client can invent', async () => {
    await call('GET', '/v1/tables/evil-one');
    await call('GET', '/evil-two?x=evil-three', undefined, { 'x-request-id': 'evil-four' });
    await send(server, 'BREW', '/v1/tables');
    const text = [...(await scrape()).keys()].join('\n');
    expect(text).not.toMatch(/evil|BREW/);
    expect(text).toContain('route="unmatched"');
  });
});

describe('query_complete', () => {
  it('is logged for each finished read, with the request id of the client', async () => {
    const from = lines.length;
    await call('GET', '/v1/hyperedges?start_ts=0&end_ts=9', undefined, { 'x-request-id': 'mine-1' });
    await call('GET', '/v1/hyperedges?start_ts=zero&end_ts=9');
    const made = lines.slice(from).filter(({ msg }) => msg === 'query_complete');
    expect(made).toEqual([
      {
        level: 'info',
        ts: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        strategy: 'TPI_BUCKET_PUSHDOWN',
        duration_us: expect.any(Number),
        records: 2,
        table: 'hyperedges',
        request_id: 'mine-1',
        msg: 'query_complete',
      },
    ]);
    expect(Number.isInteger(made[0]!.duration_us)).toBe(true);
  });

  it('masks a key that a client puts into its request id', async () => {
    const from = lines.length;
    const key = 'hgr_AbCdEfGhIjKlMnOpQrSt';
    await call('GET', '/v1/hyperedges?start_ts=0&end_ts=9', undefined, { 'x-request-id': key });
    expect(lines.length).toBeGreaterThan(from);
    expect(JSON.stringify(lines)).not.toContain(key);
  });
});
