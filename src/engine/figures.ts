// Figures of a database: the WAL status and the health statistics of the specification (2.6, 2.7), and what metrics show, from its tables.

import type { Compactor } from './compaction/compactor.ts';
import type { NodeCounter } from './node-count.ts';
import type { Table } from './table.ts';
import type { EngineFigures, EngineHealth, WalStatus } from './types.ts';

/** What the tables themselves do not know. */
export interface StoreFigures {
  dir: string;
  lastLsn: number;
  logBytes: number;
  residentBytes: number;
  durability: 'fsync' | 'async';
  logFailed: string | null;
  /** Epoch milliseconds. */
  answersDamagedUntil: number | null;
}

/** Pending operations of every table; the threshold is the primary table's. */
export function walStatus(tables: readonly Table[], primary: Table, store: StoreFigures): WalStatus {
  const items: WalStatus['tables'] = {};
  for (const table of tables) {
    items[table.name] = { pending: table.pending, threshold: table.definition.compactThreshold };
  }
  return {
    pending: sum(tables, (table) => table.pending),
    threshold: primary.definition.compactThreshold,
    size_bytes: store.logBytes,
    last_lsn: store.lastLsn,
    tables: items,
  };
}

/** Sums over all tables but the corrupt ones, which are named with their reason. */
export function engineHealth(
  tables: readonly Table[],
  primary: Table,
  nodes: NodeCounter,
  store: StoreFigures,
): EngineHealth {
  const usable = tables.filter((table) => table.corrupt === null);
  const corrupt: Record<string, string> = {};
  for (const table of tables) if (table.corrupt !== null) corrupt[table.name] = table.corrupt.message;
  return {
    db_dir: store.dir,
    total_records: sum(usable, (table) => table.rowCount),
    bucket_count: sum(usable, (table) => table.version.totalBuckets),
    bucket_seconds: primary.bucketSeconds,
    node_count: sum(usable, (table) => nodes.count(table)),
    wal_pending: sum(tables, (table) => table.pending),
    tables: tables.length,
    segments: sum(usable, (table) => table.version.segments.length),
    resident_bytes: store.residentBytes,
    memtable_bytes: sum(tables, (table) => table.memtableBytes),
    last_lsn: store.lastLsn,
    durability: store.durability,
    corrupt_tables: corrupt,
    log_failed: store.logFailed,
    answers_damaged_until: store.answersDamagedUntil === null ? null : Math.ceil(store.answersDamagedUntil / 1000),
  };
}

/** Unlike the health statistics these count nothing that takes time. */
export function engineFigures(
  tables: readonly Table[],
  { finished, queued, running }: Compactor,
  store: StoreFigures,
): EngineFigures {
  return {
    records: sum(tables, (table) => table.rowCount),
    tables: tables.length,
    corruptTables: sum(tables, (table) => (table.corrupt === null ? 0 : 1)),
    indexes: sum(tables, (table) => table.definition.indexes.length),
    segments: sum(tables, (table) => table.version.segments.length),
    residentBytes: store.residentBytes,
    memtableBytes: sum(tables, (table) => table.memtableBytes),
    walPending: sum(tables, (table) => table.pending),
    walBytes: store.logBytes,
    snapshotsOpen: sum(tables, (table) => table.openSnapshots),
    compactions: finished,
    compactionsRunning: running,
    compactionsQueued: queued,
    durability: store.durability,
    logFailed: store.logFailed !== null,
  };
}

function sum(tables: readonly Table[], figure: (table: Table) => number): number {
  return tables.reduce((total, table) => total + figure(table), 0);
}
