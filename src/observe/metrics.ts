// The metrics of the service in the Prometheus text format, in their own registry. All names start
// with `hedgerow_`, except those of the library's metrics of the process; README.md lists them.
//
// Labels come from closed sets only: strategies, routes of the route table, status classes, error
// codes. Frequent events are counted in typed arrays (accumulators.ts) and formatted only at a
// scrape. The engine's figures are gathered at a scrape too.

import {
  AggregatorRegistry,
  collectDefaultMetrics,
  Gauge,
  type Metric,
  type MetricObject,
  Registry,
} from 'prom-client';
import { type SchedulerFigures, type StepFigures, WORK_KINDS } from '../schedule/scheduler.ts';
import { AnswerCounts, BYTES_BOUNDS, DURATION_BOUNDS_US, Histograms, OPERATIONS_BOUNDS } from './accumulators.ts';
import type { DatabaseFigures, FiguresSource, LogGroup } from './database-figures.ts';
import { EventLoopMonitor } from './event-loop.ts';
import { QUERY_LABELS, type RefusalCode } from './observer.ts';

const PREFIX = 'hedgerow_';
export const REFUSAL_CODES: readonly RefusalCode[] = ['rate_limited', 'overloaded', 'unauthorized', 'forbidden'];
const MICRO = 1e-6;
const MILLI = 1e-3;

/** Labels of `transport_info`. */
export interface TransportLabels {
  name: string;
  version: string;
  reason: string;
}

/** How far a follower is behind its leader. */
export interface LagSource {
  /** Undefined until the leader has answered for the first time. */
  readonly lagLsns: number | undefined;
  readonly lagMs: number;
}

export interface MetricsOptions {
  version: string;
  transport?: TransportLabels | undefined;
  /** Monotonic milliseconds. */
  nowMs: () => number;
  /** Number of log lines lost so far. */
  logLinesLost: () => number;
  auditLinesLost: () => number;
  schedule?: (() => SchedulerFigures) | undefined;
}

/** The metrics of one process, as another process receives them. */
export type ProcessMetrics = readonly MetricObject[];

/** How the values of several processes of one service become one. */
type Aggregator = 'sum' | 'max';

type Labels = Record<string, string | number>;
interface Sample {
  labels: Labels;
  /** Labels shared by many samples: the library caches their text per object. */
  sharedLabels?: Labels;
  value: number;
  metricName?: string;
}

const NONE: Labels = {};

export class Metrics {
  readonly #registry = new Registry();
  readonly #routes: Labels[] = [];
  readonly #answers = new AnswerCounts();
  readonly #requests = new Histograms(DURATION_BOUNDS_US, 0);
  readonly #queries = new Histograms(DURATION_BOUNDS_US, QUERY_LABELS.length);
  readonly #refused = new Float64Array(REFUSAL_CODES.length);
  readonly #logSync = new Histograms(DURATION_BOUNDS_US, 1);
  readonly #logOperations = new Histograms(OPERATIONS_BOUNDS, 1);
  readonly #logBytes = new Histograms(BYTES_BOUNDS, 1);
  readonly #eventLoop: EventLoopMonitor;
  #source: FiguresSource | undefined;
  #lag: LagSource | undefined;
  /** The engine's figures for the current scrape. */
  #figures: DatabaseFigures | undefined;
  /** Metrics that are the same in all processes of a service: the leading process reports them. */
  readonly #ofService = new Set([`${PREFIX}build_info`]);

  constructor(options: MetricsOptions) {
    this.#eventLoop = new EventLoopMonitor(options.nowMs);
    this.addRoute('*', 'unmatched');
    this.#registerRequests();
    this.#registerEngine();
    this.#registerProcess(options);
    if (options.schedule !== undefined) this.#registerSchedule(options.schedule);
  }

  /**
   * Registers a route and returns its number; the same method and route get the same number. Route
   * 0 exists from the start, for requests that match no route.
   */
  addRoute(method: string, route: string): number {
    const known = this.#routes.findIndex((labels) => labels.method === method && labels.route === route);
    if (known >= 0) return known;
    this.#routes.push({ method, route });
    this.#answers.grow(this.#routes.length);
    this.#requests.grow(this.#routes.length);
    return this.#routes.length - 1;
  }

  request(route: number, status: number, durationUs: number): void {
    const known = route < this.#routes.length ? route : 0;
    this.#answers.add(known, status);
    this.#requests.add(known, durationUs);
  }

  query(label: number, durationUs: number): void {
    this.#queries.add(label, durationUs);
  }

  refused(code: RefusalCode): void {
    this.#refused[REFUSAL_CODES.indexOf(code)]! += 1;
  }

  logGroup(group: LogGroup): void {
    this.#logSync.add(0, group.elapsedUs);
    this.#logOperations.add(0, group.operations);
    this.#logBytes.add(0, group.bytes);
  }

  /**
   * Makes the gauges show this database from now on; undefined removes them from the output. `lag`
   * is given if the database follows a leader.
   */
  attach(source: FiguresSource | undefined, lag?: LagSource): void {
    this.#source = source;
    this.#lag = lag;
  }

  /**
   * Returns the metrics in text form. `others` are those of other processes of the service, which
   * are added.
   */
  async text(others: readonly ProcessMetrics[] = []): Promise<{ contentType: string; text: string }> {
    this.#figures = await this.#source?.gatherFigures();
    const { contentType } = this.#registry;
    if (others.length === 0) return { contentType, text: await this.#registry.metrics() };
    const all = [await this.#objects(), ...others].map((metrics) => [...metrics]);
    return { contentType, text: await AggregatorRegistry.aggregate(all).metrics() };
  }

  /** Returns the metrics of this process for `text` of the process that leads the service. */
  async ofProcess(): Promise<ProcessMetrics> {
    this.#figures = await this.#source?.gatherFigures();
    return (await this.#objects()).filter(({ name }) => !this.#ofService.has(name));
  }

  async #objects(): Promise<MetricObject[]> {
    const metrics = (await this.#registry.getMetricsAsJSON()) as unknown as (MetricObject & { values: Sample[] })[];
    return metrics.map((metric) => ({
      ...metric,
      values: metric.values.map(({ sharedLabels, ...sample }) => ({
        ...sample,
        labels: { ...sharedLabels, ...sample.labels },
      })),
    })) as unknown as MetricObject[];
  }

  close(): void {
    this.#eventLoop.close();
    this.#registry.clear();
  }

  #registerRequests(): void {
    this.#add('counter', 'http_requests_total', 'Answers by route and class of status.', () => {
      const samples: Sample[] = [];
      this.#answers.forEach((route, status, value) => {
        const sharedLabels = this.#routes[route]!;
        samples.push({ labels: { status_class: status }, sharedLabels, value });
      });
      return samples;
    });
    const routes = (place: number) => this.#routes[place]!;
    this.#addHistogram('http_request_duration_seconds', DURATION_HELP, this.#requests, routes, MICRO, true);
    this.#add('counter', 'requests_refused_total', 'Requests refused before their route ran, by reason.', () =>
      REFUSAL_CODES.map((code, place) => ({ labels: { code }, value: this.#refused[place]! })),
    );
    const labels = QUERY_LABELS.map((strategy) => ({ strategy }));
    const strategies = (place: number) => labels[place]!;
    this.#addHistogram('query_duration_seconds', 'Time of finished reads.', this.#queries, strategies, MICRO, false);
  }

  #registerEngine(): void {
    const gauge = this.#addFigure.bind(this);
    const memory = this.#addMemory.bind(this);
    const none = () => NONE;
    for (const name of ['log_sync_duration_seconds', 'log_group_operations', 'log_group_bytes'])
      this.#ofService.add(PREFIX + name);
    gauge('gauge', 'records_total', 'Live edges in all tables.', (figures) => figures.records);
    gauge('gauge', 'tables', 'Tables.', (figures) => figures.tables);
    gauge('gauge', 'nodes', 'Nodes in all node tables.', (figures) => figures.nodes);
    gauge(
      'gauge',
      'corrupt_tables',
      'Tables that refuse requests because of a damaged file.',
      (figures) => figures.corruptTables,
    );
    gauge('gauge', 'indexes', 'Secondary indexes.', (figures) => figures.indexes);
    gauge('gauge', 'segments', 'Segment files in use.', (figures) => figures.segments);
    memory('segments_resident_bytes', 'Segments in memory.', (figures) => figures.residentBytes);
    memory('memory_charged_bytes', 'Other memory within the budget.', (figures) => figures.chargedBytes);
    memory('memory_pinned_bytes', 'Old memtables that readers hold.', (figures) => figures.pinnedBytes);
    memory('node_keys_bytes', 'Keys of nodes in memory.', (figures) => figures.nodeKeyBytes);
    memory('memtable_bytes', 'Memtables in memory.', (figures) => figures.memtableBytes);
    memory('snapshots_open', 'Snapshots that pin segments.', (figures) => figures.snapshotsOpen);
    gauge('gauge', 'wal_size_bytes', 'Write-ahead log on disk.', (figures) => figures.walBytes);
    gauge('gauge', 'wal_pending', 'Operations in the log that no segment holds.', (figures) => figures.walPending);
    gauge('gauge', 'log_failed', '1: the log takes no writes until a restart.', (figures) => Number(figures.logFailed));
    gauge('counter', 'compactions_total', 'Compactions that succeeded.', (figures) => figures.compactions);
    gauge('gauge', 'compactions_running', 'Compactions at work.', (figures) => figures.compactionsRunning);
    gauge(
      'gauge',
      'compactions_queued',
      'Compactions that wait for their turn.',
      (figures) => figures.compactionsQueued,
    );
    this.#ofService.add(`${PREFIX}durability_info`);
    this.#add('gauge', 'durability_info', 'How writes are made durable.', () =>
      this.#figures === undefined ? [] : [{ labels: { mode: this.#figures.durability }, value: 1 }],
    );
    const behind = (name: string, help: string, read: (lag: LagSource) => number) => {
      const samples = () => {
        const value = this.#lag === undefined ? Number.POSITIVE_INFINITY : read(this.#lag);
        // Unknown until the follower has been at the head once.
        return Number.isFinite(value) ? [{ labels: {}, value }] : [];
      };
      this.#add('gauge', name, help, samples, 'max');
    };
    behind(
      'follower_lag_lsn',
      'LSNs of the leader that are not visible here.',
      ({ lagLsns }) => lagLsns ?? Number.POSITIVE_INFINITY,
    );
    behind('follower_lag_seconds', 'Time since all writes of the leader were here.', ({ lagMs }) => lagMs * MILLI);
    this.#addHistogram(
      'log_sync_duration_seconds',
      'Write and sync of one log group.',
      this.#logSync,
      none,
      MICRO,
      false,
    );
    this.#addHistogram('log_group_operations', 'Operations in one log group.', this.#logOperations, none, 1, false);
    this.#addHistogram('log_group_bytes', 'Bytes of one log group.', this.#logBytes, none, 1, false);
  }

  #registerSchedule(schedule: () => SchedulerFigures): void {
    const add = (type: 'gauge' | 'counter', name: string, help: string, read: (figures: SchedulerFigures) => number) =>
      this.#add(type, name, help, () => [{ labels: NONE, value: read(schedule()) }]);
    add('counter', 'long_work_turns_total', 'Turns of the event loop with long work.', ({ turns }) => turns);
    add('counter', 'long_work_steps_total', 'Steps of long work.', ({ steps }) => steps);
    const addByWork = (
      type: 'gauge' | 'counter',
      name: string,
      help: string,
      read: (figures: StepFigures) => number,
    ) => {
      const samples = () => {
        const { byKind } = schedule();
        return WORK_KINDS.map((work) => ({ labels: { work }, value: read(byKind[work]) }));
      };
      this.#add(type, name, help, samples, type === 'gauge' ? 'max' : 'sum');
    };
    addByWork('counter', 'long_work_slow_steps_total', 'Steps over 20 ms.', ({ longSteps }) => longSteps);
    const longest = ({ longestStepMs }: StepFigures) => longestStepMs * MILLI;
    addByWork('gauge', 'long_work_longest_step_seconds', 'The longest step since the start.', longest);
  }

  #registerProcess({ version, transport, logLinesLost, auditLinesLost }: MetricsOptions): void {
    const alone = (value: number) => [{ labels: {}, value }];
    this.#add('counter', 'log_lines_lost_total', 'Log lines that could not be written.', () => alone(logLinesLost()));
    this.#add('counter', 'audit_lines_lost_total', 'Audit lines that could not be written.', () =>
      alone(auditLinesLost()),
    );
    const delays = () => {
      const { p50, p99, max } = this.#eventLoop.read();
      return [
        { labels: { percentile: '50' }, value: p50 },
        { labels: { percentile: '99' }, value: p99 },
        { labels: { percentile: '100' }, value: max },
      ];
    };
    const delayHelp = 'How late timers run; percentile 100 is the worst.';
    this.#add('gauge', 'event_loop_delay_seconds', delayHelp, delays, 'max');
    new Gauge({
      name: `${PREFIX}build_info`,
      help: 'Version of the service and of Node.',
      labelNames: ['version', 'node'],
      registers: [this.#registry],
    }).set({ version, node: process.version }, 1);
    if (transport !== undefined) {
      const { name, reason } = transport;
      this.#ofService.add(`${PREFIX}transport_info`);
      this.#add('gauge', 'transport_info', 'HTTP server in use, and why.', () => [
        { labels: { name, version: transport.version, reason }, value: 1 },
      ]);
    }
    collectDefaultMetrics({ register: this.#registry });
    // The names of these gauges end in `_total` like those of counters, and they only repeat the
    // sums of other metrics.
    for (const what of ['handles', 'requests', 'resources'])
      this.#registry.removeSingleMetric(`nodejs_active_${what}_total`);
  }

  /** Adds a figure of the data. */
  #addFigure(type: 'gauge' | 'counter', name: string, help: string, read: (figures: DatabaseFigures) => number): void {
    this.#ofService.add(PREFIX + name);
    this.#add(type, name, help, () =>
      this.#figures === undefined ? [] : [{ labels: {}, value: read(this.#figures) }],
    );
  }

  /** Adds a figure of what a process holds in memory. */
  #addMemory(name: string, help: string, read: (figures: DatabaseFigures) => number): void {
    this.#addFigure('gauge', name, help, read);
    this.#ofService.delete(PREFIX + name);
  }

  /** Adds a histogram; `sparse` omits series without samples. */
  #addHistogram(
    name: string,
    help: string,
    histograms: Histograms,
    labelsOf: (series: number) => Labels,
    unit: number,
    sparse: boolean,
  ): void {
    const full = PREFIX + name;
    const bounds = [...Array.from(histograms.bounds, (bound) => rounded(bound * unit)), '+Inf'];
    this.#add('histogram', name, help, () => {
      const samples: Sample[] = [];
      for (let series = 0; series < histograms.series; series++) {
        const cumulated = histograms.cumulated(series);
        const count = cumulated[cumulated.length - 1]!;
        if (sparse && count === 0) continue;
        const sharedLabels = labelsOf(series);
        for (const [place, le] of bounds.entries()) {
          samples.push({ metricName: `${full}_bucket`, labels: { le }, sharedLabels, value: cumulated[place]! });
        }
        samples.push({ metricName: `${full}_sum`, labels: NONE, sharedLabels, value: histograms.sum(series) * unit });
        samples.push({ metricName: `${full}_count`, labels: NONE, sharedLabels, value: count });
      }
      return samples;
    });
  }

  /** Adds a metric whose samples are computed at each scrape. */
  #add(
    type: 'gauge' | 'counter' | 'histogram',
    name: string,
    help: string,
    samples: () => Sample[],
    aggregator: Aggregator = 'sum',
  ): void {
    const metric = {
      name: PREFIX + name,
      help,
      type,
      aggregator,
      get: async () => ({ name: PREFIX + name, help, type, aggregator, values: samples() }),
      reset: () => {},
    };
    // The parameter is declared as one of the library's own classes, but the registry needs no more
    // than these members.
    this.#registry.registerMetric(metric as unknown as Metric);
  }
}

const DURATION_HELP = 'Time from the first line of a request to the last byte of its answer.';

/** Rounds to six significant digits, to print 0.00025 instead of 0.00025000000000000001. */
function rounded(value: number): number {
  return Number(value.toPrecision(6));
}
