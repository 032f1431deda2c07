// Example bodies for probes, metrics, the log, backups, keys and pages.

import type { BodyExamples } from '../../http/index.ts';

export const SERVICE_EXAMPLES: Readonly<Record<string, BodyExamples>> = {
  getLive: { answer: { status: 'live' } },
  getReady: { answer: { status: 'ready' } },
  getHealth: {
    answer: {
      status: 'ok',
      version: '0.1.0',
      db_dir: '/var/lib/hedgerow',
      total_records: 2,
      bucket_count: 2,
      bucket_seconds: 10,
      node_count: 3,
      node_count_exact: true,
      wal_pending: 2,
      tables: 1,
      segments: 0,
      resident_bytes: 0,
      charged_bytes: 0,
      pinned_bytes: 0,
      memtable_bytes: 262144,
      last_lsn: 6,
      durability: 'fsync',
      corrupt_tables: {},
      log_failed: null,
      answers_damaged_until: null,
      role: 'leader',
      leader: null,
      lag_lsn: 0,
      lag_ms: 0,
      workers: [],
      follow_problem: null,
      uptime_seconds: 3600.5,
      auth_disabled: false,
      transport: { name: 'uws', version: '20.51.4', reason: 'loaded', detail: 'Its binary for this machine loads.' },
    },
  },
  getMetrics: {
    texts: { 'text/plain': '# HELP hedgerow_tables Tables.\n# TYPE hedgerow_tables gauge\nhedgerow_tables 1\n' },
  },
  getWal: {
    answer: {
      pending: 2,
      threshold: 0,
      size_bytes: 5528,
      last_lsn: 6,
      tables: { hyperedges: { pending: 2, threshold: 0 } },
    },
  },
  readLog: { texts: { 'application/octet-stream': 'HGFS...' } },
  readSnapshot: { texts: { 'application/gzip': '...' } },
  readChanges: {
    answerLines: [
      {
        lsn: 7,
        ts: 1714644000,
        table: 'hyperedges',
        op: 'insert',
        id: 3,
        row: { id: 3, event_ts: 1714643990, members: [1, 2], weight: null, mean_dist_m: null, formation: null },
        commit_end: true,
      },
    ],
    texts: {
      'text/event-stream':
        'id: 7\ndata: {"lsn":7,"ts":1714644000,"table":"hyperedges","op":"table_altered","columns":[],"commit_end":true}\n\n',
    },
  },
  setAutocompact: {
    body: { threshold: 100000, table: 'hyperedges' },
    answer: { threshold: 100000, table: 'hyperedges', applied: true },
  },
  compactHyperedges: {
    body: { table: 'hyperedges', ttl_seconds: 31536000 },
    answer: {
      compacted: true,
      table: 'hyperedges',
      tables: ['hyperedges'],
      ttl_seconds: 31536000,
      wal_pending_before: 1,
      wal_pending_after: 0,
      buckets_dropped: 0,
      edges_dropped: 0,
      tombstones_reconciled: 1,
      elapsed_ms: 1.5,
    },
  },
  createBackup: {
    answer: {
      path: '/var/lib/hedgerow/backups/nightly/hedgerow-20231114T221320Z-24.tar.gz',
      size_bytes: 2344,
      tables: ['hyperedges', 'trips', 'trips_nodes'],
      compact_first: true,
    },
  },
  listKeys: {
    answer: [
      {
        key_id: 'key_a489a1a17669b9f5',
        description: 'first admin key',
        role: 'admin',
        created_at: 1700000000,
        last_used_at: 1700000000,
        expires_at: null,
      },
      {
        key_id: 'key_4e44fcbdf926fde1',
        description: 'dashboard',
        role: 'readonly',
        created_at: 1700000000,
        last_used_at: null,
        expires_at: 1707776000,
      },
    ],
  },
  createKey: {
    answer: {
      key_id: 'key_4e44fcbdf926fde1',
      description: 'dashboard',
      role: 'readonly',
      created_at: 1700000000,
      expires_at: 1707776000,
      plaintext_key: 'hgr_shown-here-and-nowhere-else',
    },
  },
  revokeKey: { answer: { key_id: 'key_4e44fcbdf926fde1', revoked: true } },
  getOpenapi: { answer: { openapi: '3.1.1', info: { title: 'Hedgerow', version: '0.1.0' }, paths: {} } },
  getDocs: { texts: { 'text/html': '<!doctype html><html lang="en"><title>Hedgerow API</title></html>' } },
  getDocsFile: { texts: { 'text/javascript': "'use strict';" } },
  getConsole: { texts: { 'text/html': '<!doctype html><html lang="en"><title>Hedgerow</title></html>' } },
  getConsoleFile: { texts: { 'text/javascript': 'export {};' } },
};
