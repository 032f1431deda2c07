// Schemas of compaction, its threshold, and the state of the write-ahead log.

import { described, integerFrom, tableName, v } from '../../http/schema.ts';
import { count } from './rows.ts';

export const compactBody = v.object({
  ttl_seconds: v.optional(
    described(
      integerFrom(1),
      'Drops the buckets that end before now - ttl_seconds; of a table with intervals, the edges that have ended by the start of the first later bucket. Default: drops none.',
    ),
  ),
  table: v.optional(described(tableName(), 'Default: all tables.')),
});

export const compactAnswer = v.object({
  compacted: v.literal(true),
  table: v.nullable(v.string()),
  tables: v.array(v.string()),
  ttl_seconds: v.nullable(count()),
  wal_pending_before: count(),
  wal_pending_after: count(),
  buckets_dropped: count(),
  edges_dropped: count(),
  tombstones_reconciled: count(),
  elapsed_ms: v.number(),
  corrupt_tables: v.optional(
    described(
      v.record(v.string(), v.string()),
      'Damaged tables that a compaction of all tables has skipped, each with its reason. Absent if there are none.',
    ),
  ),
});

export const autocompactBody = v.object({
  threshold: described(integerFrom(0), '0: no automatic compaction.'),
  table: v.optional(described(tableName(), 'Default: all tables.')),
});

export const autocompactAnswer = v.object({
  threshold: count(),
  table: v.nullable(v.string()),
  applied: v.literal(true),
});

const tableWal = v.object({ pending: count(), threshold: count() });

export const walAnswer = v.object({
  pending: described(count(), 'Entries of all tables that no compaction has written to segments yet.'),
  threshold: described(count(), 'Of the primary table.'),
  size_bytes: count(),
  last_lsn: count(),
  tables: v.record(v.string(), tableWal),
});
