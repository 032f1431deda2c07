// Maintenance: compaction, its threshold, and the state of the write-ahead log.

import { jsonReply } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { integerFrom, tableName, v } from '../http/schema.ts';
import { validated } from '../http/validated.ts';

const compact = validated({
  method: 'POST',
  path: '/v1/hyperedges/compact',
  role: 'readwrite',
  summary: 'Compact one table or all; answers when it is done.',
  data: true,
  body: v.object({ ttl_seconds: v.optional(integerFrom(1)), table: v.optional(tableName()) }),
  bodyOptional: true,
  answers: {
    200: v.object({
      compacted: v.literal(true),
      table: v.nullable(v.string()),
      tables: v.array(v.string()),
      ttl_seconds: v.nullable(v.number()),
      wal_pending_before: v.number(),
      wal_pending_after: v.number(),
      buckets_dropped: v.number(),
      edges_dropped: v.number(),
      tombstones_reconciled: v.number(),
      elapsed_ms: v.number(),
    }),
  },
  handler: async ({ body }, { database }) => {
    const table = body.table === undefined ? null : database.table(body.table).name;
    const { tables, ...figures } = await database.compact({
      ...(table === null ? {} : { table }),
      ...(body.ttl_seconds === undefined ? {} : { ttlSeconds: body.ttl_seconds }),
    });
    return jsonReply(200, { compacted: true, table, tables, ttl_seconds: body.ttl_seconds ?? null, ...figures });
  },
});

const autocompact = validated({
  method: 'POST',
  path: '/v1/autocompact',
  role: 'readwrite',
  summary: 'Set the number of log entries that starts a compaction by itself; 0 turns it off.',
  body: v.object({ threshold: integerFrom(0), table: v.optional(tableName()) }),
  answers: {
    200: v.object({ threshold: v.number(), table: v.nullable(v.string()), applied: v.literal(true) }),
  },
  handler: async ({ body }, { database }) => {
    const table = body.table === undefined ? undefined : database.table(body.table).name;
    await database.setCompactThreshold(body.threshold, table);
    return jsonReply(200, { threshold: body.threshold, table: table ?? null, applied: true });
  },
});

const tableWal = v.object({ pending: v.number(), threshold: v.number() });

const wal = validated({
  method: 'GET',
  path: '/v1/wal',
  role: 'readonly',
  summary: 'Entries and bytes in the write-ahead log.',
  answers: {
    200: v.object({
      ...tableWal.entries,
      size_bytes: v.number(),
      last_lsn: v.number(),
      tables: v.record(v.string(), tableWal),
    }),
  },
  handler: (_input, { database }) => jsonReply(200, database.wal()),
});

export const maintenanceRoutes: readonly Route[] = [compact, autocompact, wal];
