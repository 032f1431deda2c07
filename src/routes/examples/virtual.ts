// Example bodies for virtual graphs.

import type { BodyExamples } from '../../http/index.ts';

/** A file below the root of virtual graphs. */
const BACKEND = { type: 'csv', path: 'trips.csv' };

/** A spec as sent by a client, with its fields in the order of the service's answer. */
const TRIPS = {
  id: 'trips',
  name: 'Trips',
  backend: BACKEND,
  nodes: [{ label: 'Place', table: 'trips', id_column: 'origin_id' }],
  edges: [
    {
      label: 'Trip',
      table: 'trips',
      ts_column: 'left_at',
      shape: 'row',
      row_member_columns: { origin: 'origin_id', target: 'target_id' },
      members: [
        { name: 'origin', node_label: 'Place', role: 'src' },
        { name: 'target', node_label: 'Place', role: 'dst' },
      ],
    },
  ],
};

/** A query on that graph. */
const QUERY = 'MATCH (t:Trip){origin:Place, target:Place} WHERE origin.id = 5 RETURN t';
const SQL =
  'SELECT edge."left_at" AS "event_ts", edge."origin_id", edge."target_id", edge."trip_id"\nFROM "trips" AS edge\nWHERE edge."origin_id" = CAST($1 AS BIGINT)\nORDER BY 1, 2, 3, 4';

/** The hyperedge that the query finds. */
const HYPEREDGE = {
  edge_label: 'Trip',
  members: [
    { vertex_local_id: 'place:5', role: 'src', name: 'origin' },
    { vertex_local_id: 'place:7', role: 'dst', name: 'target' },
  ],
  event_ts: 1700000000,
  properties: { trip_id: 1 },
  provenance: { graph: 'trips', spec_version: 2, captured_at: 0 },
};

/** Returns the list item for a backend that reads files. */
function inFolder(type: string, what: string, how: string) {
  const description = `${what} below the folder for virtual graphs${how}. See the setting HEDGEROW_VIRTUAL_ROOT.`;
  return { type, available: true, description };
}

export const VIRTUAL_EXAMPLES: Readonly<Record<string, BodyExamples>> = {
  listVirtualBackends: {
    answer: {
      backends: [
        inFolder('duckdb', 'A DuckDB database file', ', opened read-only'),
        inFolder('parquet', 'Parquet files', ': one file or a pattern, one table'),
        inFolder('csv', 'CSV files', ', compressed with gzip or not: one file or a pattern, one table'),
        inFolder('json', 'JSON files', ', an array or one object per line: one file or a pattern, one table'),
        {
          type: 'postgres',
          available: true,
          description:
            'A database of PostgreSQL or a compatible server, identified by the NAME of its connection string. See the setting HEDGEROW_VIRTUAL_DSN_<NAME>.',
        },
      ],
    },
  },
  proposeVirtualGraph: {
    body: { backend: BACKEND, id: 'trips' },
    answer: {
      spec: {
        id: 'trips',
        name: 'trips',
        backend: BACKEND,
        nodes: [{ label: 'Node', table: 'trips', id_column: 'origin_id' }],
        edges: [
          {
            label: 'Trip',
            table: 'trips',
            ts_column: 'left_at',
            shape: 'row',
            row_member_columns: { origin: 'origin_id', target: 'target_id' },
            members: [
              { name: 'origin', node_label: 'Node', role: 'src' },
              { name: 'target', node_label: 'Node', role: 'dst' },
            ],
          },
        ],
      },
      rationale: [
        {
          edge: 'Trip',
          reason:
            'Each row of trips has a time (left_at) and joins origin_id (its name says that it identifies something), target_id (its name says that it identifies something).',
        },
      ],
      saved: false,
      llm_used: false,
    },
  },
  createVirtualGraph: {
    body: TRIPS,
    answer: { ...TRIPS, spec_version: 1 },
  },
  listVirtualGraphs: {
    answer: {
      graphs: [
        {
          id: 'trips',
          name: 'Trips',
          backend_type: 'csv',
          edge_labels: ['Trip'],
          node_labels: ['Place'],
          spec_version: 1,
        },
      ],
    },
  },
  getVirtualGraph: {
    answer: { ...TRIPS, spec_version: 1 },
  },
  replaceVirtualGraph: {
    body: TRIPS,
    answer: { ...TRIPS, spec_version: 2 },
  },
  introspectVirtualGraph: {
    answer: {
      tables: [
        {
          name: 'trips',
          columns: [
            { name: 'trip_id', type: 'BIGINT' },
            { name: 'origin_id', type: 'BIGINT' },
            { name: 'target_id', type: 'BIGINT' },
            { name: 'left_at', type: 'BIGINT' },
          ],
          row_count: 2,
        },
      ],
    },
  },
  compileVirtualQuery: {
    body: { query: QUERY },
    answer: {
      sql: SQL,
      plan: {
        edge_label: 'Trip',
        members: [
          { name: 'origin', node_label: 'Place', column: 'origin_id', role: 'src' },
          { name: 'target', node_label: 'Place', column: 'target_id', role: 'dst' },
        ],
        edge_predicates: [],
        member_predicates: [{ member: 'origin', op: '=', value: 5 }],
        size_predicates: [],
      },
    },
  },
  queryVirtualGraph: {
    body: { query: QUERY },
    answer: {
      hyperedges: [HYPEREDGE],
      count: 1,
      skipped: 0,
      sql: SQL,
      cached: false,
      cache_enabled: true,
    },
    answerLines: [HYPEREDGE],
  },
  clearVirtualCache: { answer: { id: 'trips', cleared: 1 } },
  materializeVirtualQuery: {
    body: { query: 'MATCH (t:Trip){origin:Place, target:Place} RETURN t', table: 'trips' },
    answer: {
      table: 'trips',
      node_tables: ['Place'],
      inserted: 2,
      nodes: 3,
      skipped: 0,
      columns: [{ name: 'trip_id', type: 'INTEGER', property: 'trip_id' }],
      sql: 'SELECT edge."left_at" AS "event_ts", edge."origin_id", edge."target_id", edge."trip_id"\nFROM "trips" AS edge\nORDER BY 1, 2, 3, 4',
    },
  },
  deleteVirtualGraph: { answer: { id: 'trips', deleted: true } },
};
