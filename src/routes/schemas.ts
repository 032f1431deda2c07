// Answer schemas that several routes share, for the API description and its tests.

import { v } from '../http/schema.ts';

const scalar = v.nullable(v.union([v.number(), v.string(), v.boolean()]));

/** A row everywhere: built-in fields, then the user columns of its table. */
export const rowSchema = v.objectWithRest(
  {
    id: v.number(),
    event_ts: v.number(),
    members: v.array(v.number()),
    weight: v.nullable(v.number()),
    mean_dist_m: v.nullable(v.number()),
    formation: v.nullable(v.string()),
  },
  scalar,
);

export const insertAnswer = v.objectWithRest({ ...rowSchema.entries, table: v.string() }, scalar);

export const bulkInsertAnswer = v.object({
  table: v.string(),
  inserted: v.number(),
  first_id: v.nullable(v.number()),
  last_id: v.nullable(v.number()),
});

export const deleteAnswer = v.object({
  deleted: v.boolean(),
  matched: v.number(),
  table: v.string(),
  event_ts: v.number(),
  members: v.array(v.number()),
});

export const planSchema = v.object({
  strategy: v.string(),
  buckets_scanned: v.number(),
  total_buckets: v.number(),
  speedup_factor: v.number(),
  elapsed_us: v.number(),
});

export const rowsAnswer = v.object({
  table: v.string(),
  node_id: v.optional(v.number()),
  hyperedges: v.array(rowSchema),
  num_tuples: v.number(),
  query_plan: planSchema,
  next_cursor: v.nullable(v.string()),
});

export const tableItem = v.object({
  name: v.string(),
  member_tables: v.array(v.string()),
  bucket_seconds: v.number(),
  compact_threshold: v.number(),
  row_count: v.number(),
  columns: v.array(v.object({ name: v.string(), type: v.picklist(['INTEGER', 'REAL', 'TEXT', 'BOOLEAN']) })),
  created_at: v.number(),
  primary: v.boolean(),
});
