// The kinds of heavy work of the part `loop` that read or write files: COPY and virtual graphs.

import type { Request, Work } from './loop-works.ts';

type Query = (text: string) => Request;
type Post = (path: string, body: unknown, headers?: Request['headers']) => Request;

const FORMATS = ['csv', 'csv.gz', 'ndjson', 'parquet'];

/** Returns COPY of all rows in every format: into files, then from these files. */
export function copies(query: Query): Work[] {
  return [
    ...FORMATS.map((format) => ({
      name: `COPY TO ${format}`,
      requests: [query(`COPY hyperedges TO 'all.${format}'`)],
      times: 1,
    })),
    ...FORMATS.map((format) => {
      const table = `copied_${format.replace('.', '_')}`;
      return {
        name: `COPY FROM ${format}`,
        requests: [query(`CREATE HYPEREDGE TABLE ${table} (Node)`), query(`COPY ${table} FROM 'all.${format}'`)],
        times: 1,
      };
    }),
  ];
}

const SPEC = {
  id: 'files',
  name: 'Rows of a table',
  backend: { type: 'parquet', path: 'virtual.parquet' },
  nodes: [
    { label: 'Word', table: 'virtual', id_column: 'word' },
    { label: 'Row', table: 'virtual', id_column: 'id' },
  ],
  edges: [
    {
      label: 'Use',
      shape: 'row',
      table: 'virtual',
      ts_column: 'at',
      row_member_columns: { word: 'word', row: 'id' },
      members: [
        { name: 'word', node_label: 'Word', role: 'word' },
        { name: 'row', node_label: 'Row', role: 'row' },
      ],
    },
    {
      label: 'Group',
      shape: 'group',
      table: 'virtual',
      ts_column: 'at',
      group_columns: ['word'],
      member_column: 'id',
      members: [{ name: 'row', node_label: 'Row', role: 'row' }],
    },
    {
      label: 'Large',
      shape: 'group',
      table: 'virtual',
      ts_column: 'at',
      group_columns: ['part'],
      member_column: 'id',
      members: [{ name: 'row', node_label: 'Row', role: 'row' }],
    },
  ],
};

/** Returns queries of a virtual graph over a file that a COPY writes first. */
export function virtualGraphs(query: Query, post: Post): Work[] {
  const graph = `/v1/virtual/graphs/${SPEC.id}`;
  const uses = 'MATCH (t:Use){word:Word, row:Row}';
  const lines = { Accept: 'application/x-ndjson' };
  const rows = (text: string, limit?: number, headers = lines) =>
    post(`${graph}/query`, { query: text, refresh: true, limit }, headers);
  const isCached = { query: `${uses} RETURN t`, limit: 20_000 };
  return [
    {
      name: 'virtual: file and graph',
      requests: [
        query(
          "COPY (MATCH (e:hyperedges) RETURN e.id AS id, e.event_ts AS at, e.formation AS word, e.weight % 8 AS part) TO 'virtual.parquet'",
        ),
        post('/v1/virtual/graphs', SPEC),
      ],
      times: 1,
    },
    { name: 'virtual: one edge', requests: [rows(`${uses} WHERE row.id = 77 RETURN t`)] },
    { name: 'virtual: rows', requests: [rows(`${uses} RETURN t`)], times: 1 },
    { name: 'virtual: groups', requests: [rows('MATCH (t:Group){row:Row} RETURN t')], times: 1 },
    { name: 'virtual: large groups', requests: [rows('MATCH (t:Large){row:Row} RETURN t')], times: 1 },
    {
      name: 'virtual: cached as JSON',
      requests: [post(`${graph}/query`, isCached), post(`${graph}/query`, isCached)],
    },
    {
      name: 'virtual: copied into a table',
      requests: [post(`${graph}/materialize`, { query: `${uses} RETURN t`, table: 'made' })],
      times: 1,
    },
  ];
}
