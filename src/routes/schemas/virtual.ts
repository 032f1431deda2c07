// Schemas of virtual graphs. The schemas of specs only describe the bodies; the parser of specs
// checks these.

import { answeredTime, described, integerFrom, text, time, times, titled, v } from '../../http/schema.ts';

export const graphParameters = v.object({ id: text() });

const backendTypes = ['duckdb', 'parquet', 'csv', 'json', 'postgres'] as const;

const backend = titled(
  v.union(
    [
      v.object({
        type: v.picklist(['duckdb', 'parquet', 'csv', 'json']),
        path: described(text(), 'A file, or a pattern of files, below HEDGEROW_VIRTUAL_ROOT.'),
      }),
      v.object({
        type: v.literal('postgres'),
        dsn: described(text(), 'The NAME of HEDGEROW_VIRTUAL_DSN_<NAME>; addresses and passwords are only there.'),
      }),
    ],
    'must have the type duckdb, parquet, csv or json and a path, or the type postgres and a dsn',
  ),
  'VirtualBackend',
);

const members = v.array(
  v.object({ name: text(), node_label: text(), role: described(text(), 'For instance src, dst, via.') }),
);
const edgeSpec = titled(
  v.variant('shape', [
    v.object({
      label: text(),
      shape: v.literal('row'),
      table: text(),
      ts_column: described(text(), 'Integer seconds, a timestamp or a date.'),
      row_member_columns: described(v.record(v.string(), v.string()), 'Maps names of members to names of columns.'),
      members,
    }),
    v.object({
      label: text(),
      shape: v.literal('group'),
      table: text(),
      ts_column: text(),
      group_columns: described(v.array(v.string()), 'Rows with equal values in these columns form one edge.'),
      member_column: described(text(), 'The column that contains the members.'),
      members: described(members, 'Exactly one entry, which describes every member.'),
    }),
  ]),
  'VirtualEdge',
);

const specFields = {
  id: text(),
  name: text(),
  backend,
  nodes: v.array(v.object({ label: text(), table: text(), id_column: text() })),
  edges: v.array(edgeSpec),
};

export const graphBody = titled(
  v.pipe(
    v.object({ ...specFields, name: v.optional(text()) }),
    v.examples([
      {
        id: 'trips',
        name: 'Trips',
        backend: { type: 'csv', path: 'trips.csv' },
        nodes: [{ label: 'Place', table: 'trips', id_column: 'origin' }],
        edges: [
          {
            label: 'Trip',
            shape: 'row',
            table: 'trips',
            ts_column: 'left_at',
            row_member_columns: { origin: 'origin', target: 'target' },
            members: [
              { name: 'origin', node_label: 'Place', role: 'src' },
              { name: 'target', node_label: 'Place', role: 'dst' },
            ],
          },
        ],
      },
    ]),
  ),
  'VirtualGraphInput',
);

export const storedGraph = titled(v.object({ ...specFields, spec_version: integerFrom(1) }), 'VirtualGraph');

export const graphList = v.object({
  graphs: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      backend_type: v.picklist(backendTypes),
      edge_labels: v.array(v.string()),
      node_labels: v.array(v.string()),
      spec_version: integerFrom(1),
    }),
  ),
});

export const backendList = v.object({
  backends: v.array(v.object({ type: v.picklist(backendTypes), available: v.boolean(), description: v.string() })),
});

export const deletedGraph = v.object({ id: v.string(), deleted: v.literal(true) });
export const clearedCache = v.object({ id: v.string(), cleared: integerFrom(0) });

export const introspectAnswer = v.object({
  tables: v.array(
    v.object({
      name: v.string(),
      columns: v.array(v.object({ name: v.string(), type: v.string() })),
      row_count: described(v.nullable(integerFrom(0)), 'May be an estimate; null if it is not known.'),
    }),
  ),
});

const queryText = () =>
  described(text(), 'MATCH (a:Label){m:NodeLabel, ...} [WHERE condition AND ...] RETURN a [LIMIT n]');

export const compileBody = v.pipe(
  v.object({ query: queryText() }),
  v.examples([{ query: 'MATCH (t:Trip){origin:Place, target:Place} WHERE origin.id = 5 RETURN t' }]),
);

const planValue = v.union([v.number(), v.string(), v.boolean()]);
const predicate = { op: v.string(), value: v.union([planValue, v.array(planValue)]) };

export const compileAnswer = v.object({
  sql: v.string(),
  plan: v.object({
    edge_label: v.string(),
    members: v.array(v.object({ name: v.string(), node_label: v.string(), column: v.string(), role: v.string() })),
    edge_predicates: v.array(v.object({ column: v.string(), ...predicate })),
    member_predicates: v.array(v.object({ member: v.string(), ...predicate })),
    size_predicates: v.array(v.object(predicate)),
  }),
});

const flag = (sentence: string) => v.optional(described(v.boolean('must be true or false'), sentence));
const limit = () => v.optional(described(integerFrom(0), "Maximum number of hyperedges; overrides the query's LIMIT."));

export const queryBody = v.pipe(
  v.object({
    query: queryText(),
    captured_at: v.optional(described(time(), 'Epoch seconds or ISO 8601, for the provenance; default 0.')),
    limit: limit(),
    refresh: flag('Query the backend even if the result is cached.'),
    ordered: flag('Default true: by time, then by the other columns. With false, large results need not be sorted.'),
    times: times(),
  }),
  v.examples([
    { query: 'MATCH (t:Trip){origin:Place, target:Place} RETURN t LIMIT 10' },
    { query: 'MATCH (t:Trip) WHERE t.event_ts BETWEEN "2024-05-02" AND "2024-05-03" RETURN t', times: 'iso' },
  ]),
);

export const hyperedge = titled(
  v.object({
    edge_label: v.string(),
    members: v.array(
      v.object({
        vertex_local_id: described(v.string(), '`<lowercase label>:<value>`'),
        role: v.string(),
        name: v.string(),
      }),
    ),
    event_ts: described(answeredTime(), 'Epoch seconds; with `times: iso` a text such as 2024-05-02T10:00:00Z.'),
    properties: v.record(v.string(), v.unknown()),
    provenance: v.object({ graph: v.string(), spec_version: integerFrom(1), captured_at: answeredTime() }),
  }),
  'VirtualHyperedge',
);

export const queryAnswer = v.object({
  hyperedges: v.array(hyperedge),
  count: integerFrom(0),
  skipped: described(
    integerFrom(0),
    'Number of rows and groups without members or without a time, which are not edges.',
  ),
  sql: v.string(),
  cached: v.boolean(),
  cache_enabled: v.boolean(),
});

export const proposeBody = v.pipe(
  v.object({
    backend,
    id: v.optional(text()),
    name: v.optional(text()),
    save: flag('Store the proposal; needs a readwrite key.'),
    use_llm: flag('Let the configured language model refine it; if that fails, the heuristic proposal is returned.'),
    llm_api_key: v.optional(described(text(), 'Key for the language model; it is not stored.')),
  }),
  v.examples([{ backend: { type: 'csv', path: 'trips.csv' }, id: 'trips' }]),
);

export const proposeAnswer = v.object({
  spec: v.object({ ...specFields, spec_version: v.optional(integerFrom(1)) }),
  rationale: v.array(v.object({ edge: v.string(), reason: v.string() })),
  saved: v.boolean(),
  llm_used: v.boolean(),
});

export const materializeBody = v.pipe(
  v.object({
    query: queryText(),
    table: described(text(), 'Name of the new table. Its members are nodes of one node table per node label.'),
    limit: limit(),
    bucket_seconds: v.optional(integerFrom(1)),
    ids: v.optional(
      described(
        v.picklist(['map', 'hash'], 'must be map or hash'),
        'Makes members numbers, with the vertices in <table>_nodes. map: from 1; hash: 52 bits of a SHA-256, the same in every copy.',
      ),
    ),
  }),
  v.examples([{ query: 'MATCH (t:Trip){origin:Place, target:Place} RETURN t', table: 'trips' }]),
);

export const materializeAnswer = v.object({
  table: v.string(),
  node_tables: v.optional(
    described(
      v.array(v.string()),
      'The node tables of the vertices, one per node label; a key is the value of a vertex.',
    ),
  ),
  nodes_table: v.optional(
    described(
      v.string(),
      'With ids: has one edge per node, with its number as the member and its vertex_local_id in the column vertex.',
    ),
  ),
  ids: v.optional(v.picklist(['map', 'hash'])),
  inserted: integerFrom(0),
  nodes: integerFrom(0),
  skipped: integerFrom(0),
  columns: v.array(v.object({ name: v.string(), type: v.string(), property: v.string() })),
  sql: v.string(),
});
