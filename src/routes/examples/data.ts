// Example bodies for hyperedges, statements, batches, measures, tables and indexes.

import type { BodyExamples } from '../../http/index.ts';
import { completeOptions, optionFields } from '../../model/options.ts';

/** A row as reads return it. */
const ROW = { id: 1, event_ts: 1700000000, members: [7, 12, 40], weight: 0.5, mean_dist_m: null, formation: 'convoy' };

/** The options of a table that was created without any. */
const OPTIONS = optionFields(completeOptions({}));

/** A table as the routes for tables return it. */
const TABLE = {
  name: 'hyperedges',
  member_tables: [],
  nodes: 'numbers',
  roles: [],
  intervals: false,
  ...OPTIONS,
  row_count: 2,
  columns: [],
  created_at: 1700000000,
  primary: true,
};

/** An index as the routes for indexes return it. */
const INDEX = { table: 'hyperedges', column: 'weight', created_at: 1700000000 };
const TEXT_INDEX = {
  table: 'hyperedges',
  kind: 'text',
  columns: ['formation'],
  language: 'english',
  created_at: 1700000000,
};

/** A node table, and nodes in it. */
const NODE_TABLE = {
  name: 'Person',
  key: { name: 'name', type: 'TEXT' },
  columns: [
    { name: 'born', type: 'INTEGER' },
    { name: 'city', type: 'TEXT' },
  ],
  row_count: 2,
  created_at: 1700000000,
};
const ADA = { name: 'Ada', born: 1815, city: 'London' };
const GRACE = { name: 'Grace', born: 1906, city: 'New York' };

export const DATA_EXAMPLES: Readonly<Record<string, BodyExamples>> = {
  insertHyperedge: {
    answer: {
      table: 'hyperedges',
      id: 1,
      event_ts: 1700000000,
      members: [7, 12, 40],
      weight: 0.5,
      mean_dist_m: null,
      formation: 'convoy',
    },
    bodyLines: [
      { event_ts: 1700000000, members: [12, 40, 7], formation: 'convoy' },
      { event_ts: 1700000060, members: [7, 12], table: 'hyperedges' },
    ],
  },
  deleteHyperedge: {
    answer: { deleted: true, matched: 1, table: 'hyperedges', event_ts: 1700000000, members: [7, 12, 40] },
  },
  rangeHyperedges: {
    answer: {
      table: 'hyperedges',
      hyperedges: [
        ROW,
        { id: 2, event_ts: 1700000060, members: [7, 12], weight: 0.8, mean_dist_m: null, formation: null },
      ],
      num_tuples: 2,
      query_plan: {
        strategy: 'TPI_BUCKET_PUSHDOWN',
        buckets_scanned: 2,
        total_buckets: 2,
        speedup_factor: 1,
        elapsed_us: 180,
      },
      next_cursor: null,
    },
    answerLines: [
      ROW,
      { id: 2, event_ts: 1700000060, members: [7, 12], weight: 0.8, mean_dist_m: null, formation: null },
    ],
  },
  patchHyperedge: { body: { weight: 0.9 }, answer: { table: 'hyperedges', ...ROW, weight: 0.9 } },
  getHyperedge: { answer: { table: 'hyperedges', ...ROW } },
  lookupNode: {
    answer: {
      table: 'hyperedges',
      node_id: 40,
      hyperedges: [ROW],
      num_tuples: 1,
      query_plan: { strategy: 'FMI_LOOKUP', buckets_scanned: 1, total_buckets: 2, speedup_factor: 2, elapsed_us: 180 },
      next_cursor: null,
    },
    answerLines: [ROW],
  },
  runQuery: {
    answer: {
      columns: ['event_ts', 'members'],
      column_types: ['TIME', 'NODES'],
      rows: [
        { event_ts: 1700000060, members: [7, 12] },
        { event_ts: 1700000000, members: [7, 12, 40] },
      ],
      num_tuples: 2,
      query_plan: { strategy: 'FMI_LOOKUP', buckets_scanned: 2, total_buckets: 2, speedup_factor: 1, elapsed_us: 180 },
    },
    answerLines: [
      { event_ts: 1700000060, members: [7, 12] },
      { event_ts: 1700000000, members: [7, 12, 40] },
    ],
  },
  runBatch: {
    body: {
      operations: [
        { type: 'insert', event_ts: 1700000120, members: [7, 40] },
        { type: 'query', query: 'MATCH (e:hyperedges) RETURN COUNT(*) AS n' },
      ],
    },
    answer: {
      committed: false,
      ops_total: 2,
      ops_success: 1,
      error: 'Operation 1 failed, nothing was applied: operations[1].cypher must be a statement, as a string.',
      results: [
        { op: 0, type: 'insert', success: true },
        { op: 1, type: 'query', success: false, error: 'operations[1].cypher must be a statement, as a string.' },
      ],
    },
  },
  listMeasures: {
    answer: [
      {
        measure: 'density',
        about: 'How full the hypergraph is, in one of five senses.',
        source:
          'overlapness: Lee, Choe, Shin 2021, "How do hyperedges overlap in real-world hypergraphs?"; the others count what is there beside what could be.',
        params: {
          type: 'object',
          additionalProperties: false,
          properties: {
            kind: {
              type: 'string',
              enum: ['incidence', 'edges', 'uniform', 'pairwise', 'overlapness'],
              description:
                'incidence: sum of sizes / (n m); edges: m / (2^n - 1); uniform: edges of size k / C(n, k); pairwise: co-member pairs / C(n, 2); overlapness: sum of sizes / n.',
              default: 'incidence',
            },
            k: { type: 'integer', description: 'Size of the edges counted by kind uniform.', minimum: 1 },
            basis: {
              type: 'string',
              enum: ['events', 'distinct'],
              description: 'events: every edge counts; distinct: equal member sets count once.',
            },
            start_ts: { type: 'integer', description: 'Only edges at this time (seconds) or later.' },
            end_ts: { type: 'integer', description: 'Only edges at this time (seconds) or earlier.' },
            budget_ms: 1.5,
          },
        },
        result: { type: 'number' },
      },
    ],
  },
  runMeasure: {
    body: { params: { start_ts: 1700000000, end_ts: 1700000100 } },
    answer: {
      measure: 'node_degree',
      table: 'hyperedges',
      result: { '7': 2, '12': 2, '40': 1 },
      definition: 'edges',
      basis: 'events',
      params: { weighted: false, basis: 'events', start_ts: 1700000000, end_ts: 1700000100 },
    },
  },
  listTables: { answer: [TABLE] },
  createTable: {
    answer: {
      name: 'sightings',
      member_tables: ['ship'],
      nodes: 'numbers',
      roles: [],
      intervals: false,
      ...OPTIONS,
      row_count: 0,
      columns: [{ name: 'speed', type: 'REAL' }],
      created_at: 1700000000,
      primary: false,
    },
  },
  getTable: { answer: TABLE },
  dropTable: { answer: { name: 'sightings', dropped: true } },
  listNodeTables: { answer: [NODE_TABLE] },
  createNodeTable: { answer: { ...NODE_TABLE, row_count: 0 } },
  getNodeTable: { answer: NODE_TABLE },
  dropNodeTable: { answer: { name: 'Person', dropped: true } },
  listNodes: {
    answer: { table: 'Person', nodes: [ADA, GRACE], num_tuples: 2, next_cursor: null },
    answerLines: [ADA, GRACE],
  },
  writeNodes: { body: ADA, answer: { table: 'Person', inserted: 1, replaced: 0 }, bodyLines: [ADA, GRACE] },
  getNode: { answer: ADA },
  putNode: { body: { born: 1815, city: 'London' }, answer: ADA },
  patchNode: { body: { city: 'London' }, answer: ADA },
  deleteNode: { answer: { table: 'Person', key: 'Ada', deleted: true } },
  listIndexes: { answer: [INDEX, TEXT_INDEX] },
  createIndex: { answer: INDEX },
  dropIndex: { answer: { table: 'hyperedges', column: 'weight', dropped: true } },
  dropTextIndex: { answer: { table: 'hyperedges', kind: 'text', dropped: true } },
};
