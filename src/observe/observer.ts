// The interface through which the service reports what it does: log lines, metrics and the audit
// log.

import type { LogFields } from './log.ts';
import type { ProcessMetrics } from './metrics.ts';

/** Labels of the metric `query_duration_seconds`; a closed set. */
export const QUERY_LABELS = ['tpi', 'fmi', 'psi', 'join', 'scan'] as const;
export type QueryLabel = (typeof QUERY_LABELS)[number];

/** Events of the audit log; a closed set. */
export type AuditEvent =
  | 'auth.failed'
  | 'auth.denied'
  | 'key.created'
  | 'key.revoked'
  | 'table.created'
  | 'table.dropped'
  | 'table.altered'
  | 'node_table.created'
  | 'node_table.dropped'
  | 'node_table.altered'
  | 'node.written'
  | 'node.deleted'
  | 'index.created'
  | 'index.dropped'
  | 'hyperedge.inserted'
  | 'hyperedge.updated'
  | 'hyperedge.deleted'
  | 'memory.remembered'
  | 'memory.superseded'
  | 'statement.write'
  | 'batch.committed'
  | 'batch.rolled_back'
  | 'compaction.run'
  | 'backup.created'
  | 'rule.stored'
  | 'rule.deleted'
  | 'virtual.created'
  | 'virtual.replaced'
  | 'virtual.deleted';

/** Why a request was refused before its route ran; a closed set of error codes. */
export type RefusalCode = 'rate_limited' | 'overloaded' | 'unauthorized' | 'forbidden';

/**
 * A finished read of rows: produces the log line `query_complete` and one sample of
 * `query_duration_seconds`.
 */
export interface QueryFacts {
  /** Strategy of the plan, as in the answer (`TPI_BUCKET_PUSHDOWN`, ...). */
  readonly strategy: string;
  readonly table: string;
  readonly records: number;
}

/** One line of the audit log, without its time. */
export interface AuditFacts {
  readonly event: AuditEvent;
  /** Identifier of the key, never the key itself; null if the request had no key. */
  readonly keyId: string | null;
  readonly remoteIp: string;
  readonly role: string;
  readonly status: number;
  readonly requestId: string;
  readonly table?: string | undefined;
  readonly statement?: string | undefined;
}

export interface Observer {
  /**
   * Reports that an answer was sent, or that the client left before that (status 499). `route`
   * is the number that `addRoute` returned; `durationUs` runs from the first line of the request to
   * the last byte handed over. This runs on the hot path and must not allocate.
   */
  requestDone(route: number, status: number, durationUs: number): void;
  /** Reports a read of rows that succeeded. */
  queryDone(facts: QueryFacts, durationUs: number, requestId: string): void;
  audit(facts: AuditFacts): void;
  /**
   * Registers a route template as a label (`GET`, `/v1/tables/{name}`) and returns its number for
   * `requestDone`. Number 0 is for requests that match no route.
   */
  addRoute(method: string, path: string): number;
  refused(code: RefusalCode): void;
  /**
   * Returns all metrics in text format, and their content type. `others` are those of other
   * processes of the service.
   */
  metrics(others?: readonly ProcessMetrics[]): Promise<{ contentType: string; text: string }>;
  error(message: string, fields: LogFields): void;
}

/** An observer that discards everything, for tests and embedding. */
export const UNOBSERVED: Observer = {
  requestDone() {},
  queryDone() {},
  audit() {},
  addRoute: () => 0,
  refused() {},
  metrics: async () => ({ contentType: 'text/plain; version=0.0.4; charset=utf-8', text: '' }),
  error() {},
};
