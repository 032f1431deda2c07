import { afterEach, describe, expect, it } from 'vitest';
import { DURATION_BOUNDS_US, Histograms } from '../../src/observe/accumulators.ts';
import type { DatabaseFigures } from '../../src/observe/database-figures.ts';
import { createLogger } from '../../src/observe/log.ts';
import type { QueryFacts } from '../../src/observe/observer.ts';
import { createObserver, type ObserverOptions, type ServiceObserver } from '../../src/observe/service-observer.ts';
import { LONG_STEP_MS, Scheduler, WORK_KINDS } from '../../src/schedule/scheduler.ts';
import { metricNames, samplesOf } from './exposition.ts';

const TIME = '2026-01-02T03:04:05.678Z';
const observers: ServiceObserver[] = [];
let lines: string[] = [];

afterEach(() => {
  for (const observer of observers.splice(0)) observer.close();
  lines = [];
});

function observe(options: Partial<ObserverOptions> & { level?: 'info' | 'warn' } = {}): ServiceObserver {
  const log = createLogger({
    format: 'json',
    level: options.level ?? 'info',
    now: () => new Date(TIME),
    write: (line) => void lines.push(line),
  });
  const observer = createObserver({ log, audit: undefined, version: '1.2.3', ...options });
  observers.push(observer);
  return observer;
}

const FIGURES: DatabaseFigures = {
  records: 11,
  tables: 2,
  corruptTables: 1,
  indexes: 9,
  segments: 3,
  chargedBytes: 77,
  pinnedBytes: 5,
  nodes: 6,
  nodeKeyBytes: 7,
  residentBytes: 4096,
  memtableBytes: 512,
  walPending: 5,
  walBytes: 777,
  snapshotsOpen: 6,
  compactions: 7,
  compactionsRunning: 1,
  compactionsQueued: 2,
  durability: 'async',
  logFailed: false,
};

function query(strategy: string): QueryFacts {
  return { strategy, table: 'trips', records: 4 };
}

describe('reads', () => {
  it('are logged in the documented form', () => {
    const observer = observe();
    observer.queryDone(query('TPI_BUCKET_PUSHDOWN'), 123.6, 'req-1');
    expect(lines).toEqual([
      `{"level":"info","ts":"${TIME}","strategy":"TPI_BUCKET_PUSHDOWN","duration_us":124,"records":4,"table":"trips","request_id":"req-1","msg":"query_complete"}\n`,
    ]);
  });

  it('are logged as valid JSON, whatever request id the client sends', () => {
    observe().queryDone({ strategy: 'odd "one"', table: 'a\\b', records: 0 }, 1, 'x"\\ y');
    expect(JSON.parse(lines[0]!)).toMatchObject({ strategy: 'odd "one"', table: 'a\\b', request_id: 'x"\\ y' });
  });

  it('are logged as warnings when they are slow, even if info lines are off', () => {
    const observer = observe({ level: 'warn', slowMs: 50 });
    observer.queryDone(query('FULL_SCAN'), 49_999, 'a');
    observer.queryDone(query('FULL_SCAN'), 50_000, 'b');
    expect(lines.map((line) => JSON.parse(line))).toEqual([
      {
        level: 'warn',
        ts: TIME,
        strategy: 'FULL_SCAN',
        duration_us: 50_000,
        records: 4,
        table: 'trips',
        request_id: 'b',
        msg: 'query_slow',
      },
    ]);
  });

  it('are counted by the five documented strategies, and unknown strategies count as scan', async () => {
    const observer = observe();
    const strategies = ['TPI_BUCKET_PUSHDOWN', 'FMI_LOOKUP', 'FMI_INTERSECT', 'PSI_RANGE', 'FULL_SCAN'];
    strategies.push('TEMPORAL_JOIN', 'MEMBER_JOIN', 'HASH_JOIN', 'NESTED_LOOP', 'toString', 'made up');
    for (const strategy of strategies) observer.queryDone(query(strategy), 100, 'r');
    const samples = samplesOf((await observer.metrics()).text);
    const counts = Object.fromEntries(
      ['tpi', 'fmi', 'psi', 'join', 'scan'].map((label) => [
        label,
        samples.get(`hedgerow_query_duration_seconds_count{strategy="${label}"}`),
      ]),
    );
    expect(counts).toEqual({ tpi: 1, fmi: 2, psi: 1, join: 4, scan: 3 });
    const all = [...samples.keys()].filter((name) => name.startsWith('hedgerow_query_duration_seconds_count'));
    expect(all).toHaveLength(5);
  });

  it('are counted in cumulative buckets from 50 us to 10 s, with their sum', async () => {
    const observer = observe();
    for (const us of [1, 50, 51, 9_999_999, 60_000_000]) observer.queryDone(query('PSI_RANGE'), us, 'r');
    const samples = samplesOf((await observer.metrics()).text);
    const bucket = (le: string) => samples.get(`hedgerow_query_duration_seconds_bucket{le="${le}",strategy="psi"}`);
    expect(['0.00005', '0.0001', '0.00025', '5', '10', '+Inf'].map(bucket)).toEqual([2, 3, 3, 3, 4, 5]);
    expect(samples.get('hedgerow_query_duration_seconds_sum{strategy="psi"}')).toBeCloseTo(70.000101, 6);
  });
});

describe('requests', () => {
  it('are counted by route and class of status', async () => {
    const observer = observe();
    const tables = observer.addRoute('GET', '/v1/tables/{name}');
    const insert = observer.addRoute('POST', '/v1/hyperedges');
    expect([
      tables,
      insert,
      observer.addRoute('GET', '/v1/tables/{name}'),
      observer.addRoute('*', 'unmatched'),
    ]).toEqual([1, 2, 1, 0]);
    for (const status of [200, 304, 404, 499, 500]) observer.requestDone(tables, status, 200);
    observer.requestDone(insert, 201, 1000);
    observer.requestDone(0, 404, 10);
    observer.requestDone(99, 404, 10);
    const samples = samplesOf((await observer.metrics()).text);
    const totals = [...samples].filter(([name]) => name.startsWith('hedgerow_http_requests_total'));
    expect(Object.fromEntries(totals)).toEqual({
      'hedgerow_http_requests_total{status_class="2xx",method="GET",route="/v1/tables/{name}"}': 1,
      'hedgerow_http_requests_total{status_class="3xx",method="GET",route="/v1/tables/{name}"}': 1,
      'hedgerow_http_requests_total{status_class="4xx",method="GET",route="/v1/tables/{name}"}': 2,
      'hedgerow_http_requests_total{status_class="5xx",method="GET",route="/v1/tables/{name}"}': 1,
      'hedgerow_http_requests_total{status_class="2xx",method="POST",route="/v1/hyperedges"}': 1,
      'hedgerow_http_requests_total{status_class="4xx",method="*",route="unmatched"}': 2,
    });
    const duration = 'hedgerow_http_request_duration_seconds';
    expect(samples.get(`${duration}_count{method="GET",route="/v1/tables/{name}"}`)).toBe(5);
    expect(samples.get(`${duration}_sum{method="GET",route="/v1/tables/{name}"}`)).toBeCloseTo(0.001, 9);
  });

  it('are counted even when their status or their time is invalid', async () => {
    const observer = observe();
    const route = observer.addRoute('GET', '/x');
    for (const status of [0, 99, 600, Number.NaN]) observer.requestDone(route, status, Number.NaN);
    observer.requestDone(route, 200, -5);
    const samples = samplesOf((await observer.metrics()).text);
    expect(samples.get('hedgerow_http_requests_total{status_class="5xx",method="GET",route="/x"}')).toBe(4);
    expect(samples.get('hedgerow_http_request_duration_seconds_sum{method="GET",route="/x"}')).toBe(0);
    expect(samples.get('hedgerow_http_request_duration_seconds_bucket{le="0.00005",method="GET",route="/x"}')).toBe(5);
  });

  it('are counted by reason when they are refused', async () => {
    const observer = observe();
    for (const code of ['rate_limited', 'rate_limited', 'overloaded', 'forbidden'] as const) observer.refused(code);
    const samples = samplesOf((await observer.metrics()).text);
    const refused = [...samples].filter(([name]) => name.startsWith('hedgerow_requests_refused_total'));
    expect(Object.fromEntries(refused)).toEqual({
      'hedgerow_requests_refused_total{code="rate_limited"}': 2,
      'hedgerow_requests_refused_total{code="overloaded"}': 1,
      'hedgerow_requests_refused_total{code="unauthorized"}': 0,
      'hedgerow_requests_refused_total{code="forbidden"}': 1,
    });
  });
});

describe('the engine', () => {
  it('has metrics while it is attached', async () => {
    const observer = observe();
    expect(samplesOf((await observer.metrics()).text).has('hedgerow_records_total')).toBe(false);
    observer.attach({ gatherFigures: async () => FIGURES });
    const samples = samplesOf((await observer.metrics()).text);
    const shown = Object.fromEntries([...samples].filter(([name]) => ENGINE_METRICS.includes(name)));
    expect(shown).toEqual({
      hedgerow_records_total: 11,
      hedgerow_tables: 2,
      hedgerow_corrupt_tables: 1,
      hedgerow_indexes: 9,
      hedgerow_segments: 3,
      hedgerow_segments_resident_bytes: 4096,
      hedgerow_memtable_bytes: 512,
      hedgerow_snapshots_open: 6,
      hedgerow_wal_size_bytes: 777,
      hedgerow_wal_pending: 5,
      hedgerow_log_failed: 0,
      hedgerow_compactions_total: 7,
      hedgerow_compactions_running: 1,
      hedgerow_compactions_queued: 2,
      'hedgerow_durability_info{mode="async"}': 1,
    });
    observer.detach();
    expect(samplesOf((await observer.metrics()).text).has('hedgerow_records_total')).toBe(false);
  });

  it('is read once per scrape', async () => {
    const observer = observe();
    let asked = 0;
    observer.attach({
      gatherFigures: async () => {
        asked += 1;
        return FIGURES;
      },
    });
    await observer.metrics();
    expect(asked).toBe(1);
  });

  it('has metrics of the groups of frames that the log writes', async () => {
    const observer = observe();
    observer.logGroup({ operations: 3, bytes: 300, elapsedUs: 700 });
    observer.logGroup({ operations: 1, bytes: 100, elapsedUs: 300 });
    const samples = samplesOf((await observer.metrics()).text);
    expect(samples.get('hedgerow_log_sync_duration_seconds_count')).toBe(2);
    expect(samples.get('hedgerow_log_sync_duration_seconds_sum')).toBeCloseTo(0.001, 9);
    expect(samples.get('hedgerow_log_sync_duration_seconds_bucket{le="0.0005"}')).toBe(1);
    expect(samples.get('hedgerow_log_group_operations_bucket{le="1"}')).toBe(1);
    expect(samples.get('hedgerow_log_group_operations_sum')).toBe(4);
    expect(samples.get('hedgerow_log_group_bytes_bucket{le="256"}')).toBe(1);
    expect(samples.get('hedgerow_log_group_bytes_sum')).toBe(400);
  });
});

const ENGINE_METRICS = [
  'records_total',
  'tables',
  'corrupt_tables',
  'indexes',
  'segments',
  'segments_resident_bytes',
  'memtable_bytes',
  'snapshots_open',
  'wal_size_bytes',
  'wal_pending',
  'log_failed',
  'compactions_total',
  'compactions_running',
  'compactions_queued',
  'durability_info{mode="async"}',
].map((name) => `hedgerow_${name}`);

describe('the exposition', () => {
  it('states its type and describes every metric', async () => {
    const transport = { name: 'node', version: '24.1.0', reason: 'no_binary' };
    const observer = observe({ logLinesLost: () => 12, transport });
    observer.attach({ gatherFigures: async () => FIGURES });
    const { contentType, text } = await observer.metrics();
    expect(contentType).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text.endsWith('\n')).toBe(true);
    const samples = samplesOf(text);
    expect(samples.get('hedgerow_log_lines_lost_total')).toBe(12);
    expect(samples.get('hedgerow_audit_lines_lost_total')).toBe(0);
    expect(samples.get(`hedgerow_build_info{version="1.2.3",node="${process.version}"}`)).toBe(1);
    const labels = 'name="node",version="24.1.0",reason="no_binary"';
    expect(samples.get(`hedgerow_transport_info{${labels}}`)).toBe(1);
    for (const percentile of ['50', '99', '100']) {
      expect(samples.get(`hedgerow_event_loop_delay_seconds{percentile="${percentile}"}`)).toBeGreaterThanOrEqual(0);
    }
    const names = metricNames(text);
    for (const name of ['process_resident_memory_bytes', 'process_cpu_seconds_total', 'nodejs_heap_size_used_bytes']) {
      expect(names).toContain(name);
    }
    for (const [, name] of text.matchAll(/^# TYPE (\S+) /gm))
      expect(text).toMatch(new RegExp(`^# HELP ${name} \\S`, 'm'));
  });

  it('counts slow steps and shows the longest step by kind of work', async () => {
    let ms = 0;
    const scheduler = new Scheduler(() => ms);
    const observer = observe({ schedule: () => scheduler.figures });
    await scheduler.run('statement', () => {
      ms += 2 * LONG_STEP_MS;
      return false;
    });
    await new Promise((resolve) => setImmediate(resolve));
    const samples = samplesOf((await observer.metrics()).text);
    for (const work of WORK_KINDS) {
      const slow = work === 'statement' ? 1 : 0;
      expect(samples.get(`hedgerow_long_work_slow_steps_total{work="${work}"}`)).toBe(slow);
      expect(samples.get(`hedgerow_long_work_longest_step_seconds{work="${work}"}`)).toBe(slow * 0.04);
    }
  });

  it('is separate for two observers in one process', async () => {
    const [first, second] = [observe(), observe()];
    first.refused('overloaded');
    expect(samplesOf((await second.metrics()).text).get('hedgerow_requests_refused_total{code="overloaded"}')).toBe(0);
  });
});

it('a histogram has the same counts as a sorted list', () => {
  const histograms = new Histograms(DURATION_BOUNDS_US, 1);
  const values = Array.from({ length: 2000 }, (_, index) => (index * 7919) % 20_000_003);
  for (const value of values) histograms.add(0, value);
  const expected = DURATION_BOUNDS_US.map((bound) => values.filter((value) => value <= bound).length);
  expect(histograms.cumulated(0)).toEqual([...expected, values.length]);
  histograms.grow(3);
  histograms.add(2, 50);
  expect(histograms.cumulated(0)).toEqual([...expected, values.length]);
  expect(histograms.cumulated(1).at(-1)).toBe(0);
  expect(histograms.cumulated(2)[0]).toBe(1);
});
