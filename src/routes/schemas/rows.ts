// Schemas of the rows that reads return, and of the time windows that reads request.

import { answeredTime, described, integerText, members, tableName, text, times, titled, v } from '../../http/schema.ts';
import { isoSeconds } from '../../iso-time.ts';

/** An integer in an answer. */
export const count = () => v.pipe(v.number(), v.integer());

/** A value of a user column. */
export const scalar = v.nullable(v.union([v.number(), v.string(), v.boolean()]));

/** The key of a node of a node table. */
export const nodeKey = () => v.union([v.string(), count()]);

/** A member in an answer. */
export const member = () => v.union([count(), v.string(), v.object({ kind: v.string(), key: nodeKey() })]);

export const MEMBERS_SHOWN =
  'Node ids, ascending. In a named table: keys of nodes, as objects with kind and key if the table has several kinds, in the order in which the nodes were created.';

/** Members by role. */
const roleLists = () => v.record(v.string(), v.array(member()));

/** The built-in fields of a row. */
export const rowEntries = {
  id: described(count(), 'Unique within the table, never reused.'),
  event_ts: described(answeredTime(), 'Epoch seconds; with `times=iso` a text such as 2024-05-02T10:00:00Z.'),
  members: described(v.array(member()), MEMBERS_SHOWN),
  roles: v.optional(described(roleLists(), 'Only of a table with roles: the members of each role, in their order.')),
  weight: v.nullable(v.number()),
  mean_dist_m: v.nullable(v.number()),
  formation: v.nullable(v.string()),
};

/** A row in any answer: the built-in fields, then the user columns of the table. */
export const rowSchema = titled(v.objectWithRest(rowEntries, scalar), 'Hyperedge');

/** A row in the feed of changes, which may be of the past. */
export const changedRow = titled(
  v.objectWithRest(
    {
      ...rowEntries,
      members: described(
        v.array(v.nullable(member())),
        `${MEMBERS_SHOWN} null for a node that was deleted since and whose key is no longer known.`,
      ),
    },
    scalar,
  ),
  'ChangedHyperedge',
);

export const planSchema = titled(
  v.object({
    strategy: described(v.string(), 'The index that was used, such as TPI_BUCKET_PUSHDOWN, or INTERVAL_STAB for `at`.'),
    buckets_scanned: count(),
    total_buckets: count(),
    speedup_factor: described(v.number(), 'total_buckets / max(1, buckets_scanned).'),
    elapsed_us: count(),
  }),
  'QueryPlan',
);

const rowsEntries = {
  hyperedges: described(v.array(rowSchema), 'By time and id.'),
  num_tuples: described(count(), 'Rows in this answer.'),
  query_plan: planSchema,
  next_cursor: described(v.nullable(v.string()), 'Cursor of the next page; null if there is none.'),
};

export const rangeAnswer = titled(v.object({ table: v.string(), ...rowsEntries }), 'Range');

export const lookupAnswer = titled(
  v.object({
    table: v.string(),
    node_id: described(nodeKey(), 'Id of the node; in a named table its key.'),
    ...rowsEntries,
  }),
  'NodeLookup',
);

/** A time as a query parameter: epoch seconds in digits, or ISO 8601. */
const timeText = () =>
  v.union([
    integerText(),
    v.pipe(
      v.string(),
      v.check((value) => isoSeconds(value) !== undefined),
    ),
  ]);

const TIME = 'epoch seconds, or a time in ISO 8601 (UTC without a zone; a date is its first second).';

const optionalRows = {
  at: v.optional(
    described(
      timeText(),
      'Only edges that hold at this time: event_ts <= at and end_ts above it or null. The table must have intervals.',
    ),
  ),
  times: times(),
  members: members(),
  table: v.optional(described(tableName(), 'Default: the primary table.')),
  limit: v.optional(
    described(
      v.pipe(integerText(), v.minValue(1)),
      'Maximum number of rows in one answer. Default: all rows, as a stream.',
    ),
  ),
  cursor: v.optional(
    described(
      text(),
      '`next_cursor` of the previous page; table, node, role and window must be the same. All pages show one state of the table.',
    ),
  ),
};

export const rangeQuery = v.object({
  start_ts: v.optional(
    described(timeText(), `First time of the window, inclusive: ${TIME} Required unless \`at\` is given.`),
  ),
  end_ts: v.optional(
    described(timeText(), `Last time of the window, inclusive: ${TIME} Required unless \`at\` is given.`),
  ),
  ...optionalRows,
});

export const lookupQuery = v.object({
  kind: v.optional(
    described(text(), 'Name of the node table of the node. Needed if the members of the table are of several kinds.'),
  ),
  start_ts: v.optional(described(timeText(), `First time, inclusive: ${TIME} Default: no bound.`)),
  end_ts: v.optional(described(timeText(), `Last time, inclusive: ${TIME} Default: no bound.`)),
  role: v.optional(described(v.string(), 'Only edges in which the node has this role of the table.')),
  ...optionalRows,
});

export const edgeParameters = v.object({ id: described(integerText(), 'Id of the edge.') });

export const edgeQuery = v.object({
  table: optionalRows.table,
  times: optionalRows.times,
  members: optionalRows.members,
});

export const lookupParameters = v.object({
  node_id: described(v.union([integerText(), text()]), 'Id of the node; in a named table its key, percent-encoded.'),
});
