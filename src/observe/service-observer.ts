// The observer of a running service: turns events into log lines, metrics and audit lines.

import type { SchedulerFigures } from '../schedule/scheduler.ts';
import type { AuditLog } from './audit.ts';
import type { FiguresSource, LogGroup } from './database-figures.ts';
import { jsonText } from './json-text.ts';
import type { LogFields, ServiceLog } from './log.ts';
import { type LagSource, Metrics, type ProcessMetrics, type TransportLabels } from './metrics.ts';
import {
  type AuditFacts,
  type Observer,
  QUERY_LABELS,
  type QueryFacts,
  type QueryLabel,
  type RefusalCode,
} from './observer.ts';
import { isOwnId, type QueryLines } from './query-line.ts';

export interface ObserverOptions {
  log: ServiceLog;
  /** Undefined if no audit log is kept. */
  audit: AuditLog | undefined;
  /** Version of the service; a label of `build_info`. */
  version: string;
  /**
   * The HTTP implementation and why it was chosen: labels of `transport_info`. If omitted, that
   * metric is not exported.
   */
  transport?: TransportLabels | undefined;
  /**
   * Writes the `query_complete` lines of most reads as bytes. If omitted, `log` writes all of them.
   */
  queryLines?: QueryLines | undefined;
  /** Number of log lines dropped so far; by default always 0. */
  logLinesLost?: () => number;
  /** Figures of the scheduler. If omitted, they are not exported. */
  schedule?: () => SchedulerFigures;
  /**
   * Reads that take at least this many milliseconds also write a line `query_slow` at level warn,
   * which appears even when info lines are off. Default: 1000.
   */
  slowMs?: number;
  /** Monotonic milliseconds. */
  nowMs?: () => number;
}

/** An observer that also receives events from the engine. */
export interface ServiceObserver extends Observer {
  /** Makes the gauges show this database from now on, and how far it is behind its leader. */
  attach(database: FiguresSource, lag?: LagSource): void;
  /** Counts a group of log frames. The engine takes this function as its option `observeLog`. */
  readonly logGroup: (group: LogGroup) => void;
  /** Returns the metrics of this process, for the process that leads the service. */
  ofProcess(): Promise<ProcessMetrics>;
  /**
   * Removes the gauges of the database and keeps the counters. Call this before the database
   * closes.
   */
  detach(): void;
  close(): void;
}

/** Labels of the strategies of query plans; any other strategy has the label `scan`. */
const LABEL_OF_STRATEGY: Readonly<Record<string, QueryLabel>> = {
  TPI_BUCKET_PUSHDOWN: 'tpi',
  FMI_LOOKUP: 'fmi',
  FMI_INTERSECT: 'fmi',
  PSI_RANGE: 'psi',
  INTERVAL_STAB: 'tpi',
  TEXT_SEARCH: 'psi',
  FULL_SCAN: 'scan',
  NODE_LOOKUP: 'join',
  TEMPORAL_JOIN: 'join',
  MEMBER_JOIN: 'join',
  HASH_JOIN: 'join',
  NESTED_LOOP: 'join',
};
const SCAN = QUERY_LABELS.indexOf('scan');
/** For each strategy: the index of its label in QUERY_LABELS, and its name as JSON. */
const STRATEGIES = new Map(
  Object.entries(LABEL_OF_STRATEGY).map(([strategy, label]) => [
    strategy,
    { series: QUERY_LABELS.indexOf(label), json: jsonText(strategy) },
  ]),
);

export function createObserver(options: ObserverOptions): ServiceObserver {
  const {
    log,
    audit,
    version,
    transport,
    queryLines,
    logLinesLost = () => 0,
    schedule,
    slowMs = 1000,
    nowMs = () => performance.now(),
  } = options;
  const metrics = new Metrics({
    ...{ version, transport, nowMs, logLinesLost, schedule },
    auditLinesLost: () => audit?.lost ?? 0,
  });
  const isInfo = log.isEnabled('info');
  const slowUs = slowMs * 1000;
  return {
    requestDone: (route, status, durationUs) => metrics.request(route, status, durationUs),
    queryDone: (facts: QueryFacts, durationUs: number, requestId: string): void => {
      const strategy = STRATEGIES.get(facts.strategy);
      metrics.query(strategy?.series ?? SCAN, durationUs);
      const slow = durationUs >= slowUs;
      if (!isInfo && !slow) return;
      if (queryLines !== undefined && !slow && strategy !== undefined && isOwnId(requestId)) {
        queryLines.write(facts.strategy, Math.round(durationUs), facts.records, facts.table, requestId);
        return;
      }
      const members =
        `,"strategy":${strategy?.json ?? jsonText(facts.strategy)},"duration_us":${Math.round(durationUs)}` +
        `,"records":${facts.records},"table":${jsonText(facts.table)},"request_id":${jsonText(requestId)}`;
      log.serialised('info', 'query_complete', members);
      if (slow) log.serialised('warn', 'query_slow', members);
    },
    audit: (facts: AuditFacts) => audit?.write(facts),
    addRoute: (method, path) => metrics.addRoute(method, path),
    refused: (code: RefusalCode) => metrics.refused(code),
    metrics: (others) => metrics.text(others),
    ofProcess: () => metrics.ofProcess(),
    error: (message: string, fields: LogFields) => log.error(message, fields),
    attach: (database, lag) => metrics.attach(database, lag),
    logGroup: (group) => metrics.logGroup(group),
    detach: () => metrics.attach(undefined),
    close: () => metrics.close(),
  };
}
