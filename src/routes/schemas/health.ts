// Schemas of the probes and the statistics.

import { described, v } from '../../http/schema.ts';
import { TRANSPORT_REASONS } from '../../http/transport.ts';
import { count } from './rows.ts';

export const liveAnswer = v.object({ status: v.literal('live') });

export const readyAnswer = v.object({ status: v.literal('ready') });

export const healthAnswer = v.looseObject({
  status: described(
    v.picklist(['ok', 'degraded']),
    '`degraded`: the log has failed, or a table or a file of stored answers is damaged.',
  ),
  version: v.string(),
  db_dir: v.string(),
  total_records: count(),
  bucket_count: count(),
  bucket_seconds: count(),
  node_count: count(),
  node_count_exact: described(
    v.boolean(),
    'False: the distinct nodes of a large database are being counted; `node_count` is the last count, or a lower bound before the first.',
  ),
  wal_pending: count(),
  tables: count(),
  segments: count(),
  resident_bytes: described(count(), 'Segments held in memory.'),
  charged_bytes: described(count(), 'Other memory within the budget: node filters, what cursors pin, counts that run.'),
  pinned_bytes: described(count(), 'Of these, memtables that only open cursors and transactions hold.'),
  memtable_bytes: count(),
  last_lsn: count(),
  durability: v.picklist(['fsync', 'async']),
  corrupt_tables: described(v.record(v.string(), v.string()), 'Tables that refuse, and why.'),
  log_failed: described(v.nullable(v.string()), 'Why writes are refused.'),
  answers_damaged_until: described(
    v.nullable(v.number()),
    'Until this epoch second, requests with an unknown `Idempotency-Key` are refused: a file of stored answers was damaged.',
  ),
  uptime_seconds: v.number(),
  auth_disabled: v.boolean(),
  transport: described(
    v.object({
      name: v.picklist(['uws', 'node']),
      version: v.string(),
      reason: v.picklist(TRANSPORT_REASONS),
      detail: v.string(),
    }),
    'What speaks HTTP: uWebSockets.js, or node:http; and why.',
  ),
});
