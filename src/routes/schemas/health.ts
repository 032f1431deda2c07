// Schemas of the probes and the statistics.

import { described, v } from '../../http/schema.ts';
import { TRANSPORT_REASONS } from '../../http/transport.ts';
import { count } from './rows.ts';

export const liveAnswer = v.object({ status: v.literal('live') });

export const readyAnswer = v.object({ status: v.literal('ready') });

export const healthAnswer = v.looseObject({
  status: described(
    v.picklist(['ok', 'degraded']),
    '`degraded`: the log has failed, a table or a file of stored answers is damaged, or the leader cannot be followed.',
  ),
  version: v.string(),
  db_dir: v.string(),
  total_records: count(),
  bucket_count: count(),
  bucket_seconds: count(),
  node_count: count(),
  node_count_exact: described(
    v.boolean(),
    'False while the distinct nodes of a large database are being counted. `node_count` is then the last count, or a lower bound before the first count.',
  ),
  wal_pending: count(),
  tables: count(),
  segments: count(),
  resident_bytes: described(count(), 'Size in bytes of the segments in memory.'),
  charged_bytes: described(
    count(),
    'Other memory that counts towards the budget: node filters, memory pinned by cursors, running counts.',
  ),
  pinned_bytes: described(count(), 'The part of it for memtables that only open cursors and transactions still use.'),
  memtable_bytes: count(),
  last_lsn: count(),
  durability: v.picklist(['fsync', 'async']),
  corrupt_tables: described(v.record(v.string(), v.string()), 'Damaged tables that refuse requests, with the reason.'),
  log_failed: described(v.nullable(v.string()), 'The reason why writes are refused; null if they are not.'),
  answers_damaged_until: described(
    v.nullable(v.number()),
    'Until this epoch second, requests with an unknown `Idempotency-Key` are refused: a file of stored answers was damaged.',
  ),
  role: described(v.picklist(['leader', 'follower']), 'A follower answers reads only; its leader takes the writes.'),
  leader: described(
    v.nullable(v.string()),
    'The address of the leader; null if this is not a follower, or if no server leads.',
  ),
  lag_lsn: described(
    v.nullable(count()),
    'Number of LSNs of the leader that are not visible here, as far as is known; null until the leader has answered for the first time.',
  ),
  lag_ms: described(
    v.nullable(count()),
    "Milliseconds since the follower last knew that it had all of its leader's writes; null if it has not had them since its start.",
  ),
  workers: described(
    v.array(v.object({ pid: count(), thread: count() })),
    'The processes that answer reads beside the one that writes; empty if it answers alone.',
  ),
  follow_problem: described(v.nullable(v.string()), 'Why the leader cannot be followed; null if it is followed.'),
  uptime_seconds: v.number(),
  auth_disabled: v.boolean(),
  transport: described(
    v.object({
      name: v.picklist(['uws', 'node']),
      version: v.string(),
      reason: v.picklist(TRANSPORT_REASONS),
      detail: v.string(),
    }),
    'The HTTP server in use, uWebSockets.js or node:http, and the reason.',
  ),
});
