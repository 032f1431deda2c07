// The kinds of heavy work that loop.ts does, as requests.

import type { Edge } from './dataset.ts';
import { longStatements } from './deadlines-list.ts';
import { copies, virtualGraphs } from './loop-files.ts';

export interface Request {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface Work {
  readonly name: string;
  readonly requests: readonly Request[];
  /** How often the requests are sent; default 2, since the first time runs cold code. */
  readonly times?: number;
  /** True if later work needs what it creates. */
  readonly needed?: boolean;
}

const SMALL = 'small';
const MEASURES = [
  'node_degree',
  'edge_size',
  'density',
  's_connected_components',
  'temporal_coreness',
  'temporal_activity',
  'pairwise_clustering',
  'zhou_clustering',
  'pagerank',
  'betweenness',
  'closeness',
  'overlapping_coefficient',
  'algebraic_connectivity',
  'clique_number',
  's_diameter',
];

/** `fetch` would accept gzip by default. */
const PLAIN = { 'Accept-Encoding': 'identity' };

const get = (path: string, headers: Request['headers'] = {}): Request => ({
  method: 'GET',
  path,
  headers: { ...PLAIN, ...headers },
});
const post = (path: string, body: unknown, headers: Request['headers'] = {}): Request => ({
  method: 'POST',
  path,
  headers: { ...PLAIN, 'Content-Type': 'application/json', ...headers },
  body: JSON.stringify(body),
});
const lines = (path: string, rows: readonly unknown[]): Request => ({
  method: 'POST',
  path,
  headers: { ...PLAIN, 'Content-Type': 'application/x-ndjson' },
  body: `${rows.map((row) => JSON.stringify(row)).join('\n')}\n`,
});
const query = (text: string, parameters: Readonly<Record<string, unknown>> = {}): Request =>
  post('/v1/query', { query: text, parameters });

/**
 * Returns all kinds of work, reads first; the order matters. Virtual graphs are included only if
 * DuckDB is installed.
 */
export function worksOf(edges: readonly Edge[], tiny: boolean, hasDuckDb: boolean): Work[] {
  const scale = (count: number) => (tiny ? Math.ceil(count / 1000) : count);
  return [
    ...pages(),
    {
      name: 'bulk insert of a small table',
      needed: true,
      times: 1,
      requests: smallTable(edges.slice(0, scale(20_000))),
    },
    ...statements(edges, scale),
    ...answers(),
    ...measures(tiny),
    ...reasoning(edges, scale),
    ...bodies(edges, scale),
    ...copies(query),
    ...(hasDuckDb ? virtualGraphs(query, post) : []),
    ...changes(),
  ];
}

/** The first answers of a process. */
function pages(): Work[] {
  return ['/openapi.json', '/', '/docs', '/metrics', '/health', '/v1/tables'].map((path) => ({
    name: `GET ${path}`,
    requests: [get(path, { 'Accept-Encoding': 'gzip' })],
  }));
}

function smallTable(edges: readonly Edge[]): Request[] {
  const rows = edges.map((edge, index) => ({ ...edge, weight: index % 100, formation: `word ${index % 500}` }));
  return [post('/v1/tables', { name: SMALL }), lines(`/v1/hyperedges?table=${SMALL}`, rows)];
}

function statements(edges: readonly Edge[], scale: (count: number) => number): Work[] {
  const reads = longStatements(edges.map(({ event_ts }) => event_ts)).filter(
    ({ query: text }) => !/^(UPDATE|DELETE)/.test(text),
  );
  const ids = Array.from({ length: scale(100_000) }, (_, index) => index * 7);
  const words = ids.map((id) => `word ${id}`);
  const more: [name: string, text: string, parameters?: Record<string, unknown>][] = [
    ['scan with a sum', 'MATCH (e:hyperedges) RETURN sum(e.weight + 1)'],
    ['ORDER BY a number', 'MATCH (e:hyperedges) RETURN e.id ORDER BY e.weight, e.id DESC'],
    [
      'join with follows',
      'MATCH (a:hyperedges), (b:hyperedges) WHERE follows(b, a, 3600) AND shared(a, b) >= 1 RETURN count(*)',
    ],
    ['GROUP BY text, ordered', 'MATCH (e:hyperedges) RETURN e.formation, count(*), avg(e.weight) ORDER BY e.formation'],
    ['IN a list of texts', 'MATCH (e:hyperedges) WHERE e.formation IN $words RETURN count(*)', { words }],
    ['IN a list in the text', `MATCH (e:hyperedges) WHERE e.id IN [${ids.join(', ')}] RETURN count(*)`],
    ['EXPLAIN of a long list', 'EXPLAIN MATCH (e:hyperedges) WHERE e.id IN $ids RETURN e', { ids }],
    [
      'many conditions',
      `MATCH (e:hyperedges) WHERE ${ids
        .slice(0, scale(2000))
        .map((id) => `e.id = ${id}`)
        .join(' OR ')} RETURN count(*)`,
    ],
  ];
  return [
    ...reads.map(({ name, query: text, parameters }) => ({ name, requests: [query(text, parameters)], times: 1 })),
    ...more.map(([name, text, parameters]) => ({ name, requests: [query(text, parameters)] })),
  ];
}

function answers(): Work[] {
  const all = `/v1/hyperedges?start_ts=0&end_ts=${Number.MAX_SAFE_INTEGER}`;
  return [
    { name: 'all rows as NDJSON', requests: [get(all, { Accept: 'application/x-ndjson' })], times: 1 },
    {
      name: 'all rows as NDJSON, gzip',
      requests: [get(all, { Accept: 'application/x-ndjson', 'Accept-Encoding': 'gzip' })],
      times: 1,
    },
    { name: 'rows as JSON', requests: [get(`${all}&limit=10000`)] },
  ];
}

function measures(tiny: boolean): Work[] {
  const of = (table: string) => MEASURES.map((measure) => post(`/v1/analytics/${table}/${measure}`, { params: {} }));
  return [
    { name: 'measures of a small table', requests: of(SMALL) },
    { name: 'measures of a large table', requests: tiny ? [] : of('hyperedges').slice(0, 6), times: 1 },
  ];
}

const RULE = {
  id: 'rule:met',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'met', args: ['?A', '?B'], confidence: 0.9 },
};
const THROUGH = {
  id: 'rule:through',
  if: [
    { pred: 'met', args: ['?A', '?B'] },
    { pred: 'met', args: ['?B', '?C'] },
    { not: { pred: 'met', args: ['?A', '?C'] } },
  ],
  then: { pred: 'through', args: ['?A', '?C'], confidence: 0.8 },
};

function reasoning(edges: readonly Edge[], scale: (count: number) => number): Work[] {
  const rules = Array.from({ length: scale(1000) }, (_, index) => ({
    ...RULE,
    id: `rule:r${index}`,
    if: [...RULE.if, ...(index === 0 ? [] : [{ pred: `p${index - 1}`, args: ['?A', '?B'] }])],
    then: { pred: `p${index}`, args: ['?A', '?B'], confidence: 0.9 },
  }));
  const words =
    'What did node 12 do with nodes 17, 99 and 1200 between yesterday noon and 2015-03-04 with weight over 5? ';
  const question = words.repeat(60).slice(0, 3000);
  const plain = 'alpha bravo charlie delta echo foxtrot golf hotel '.repeat(180).slice(0, 3000);
  const nodes = edges.slice(0, 40).flatMap(({ members }) => members);
  const claims = Array.from({ length: 200 }, (_, index) =>
    `Nodes ${nodes[index % nodes.length]} and ${index} met on 2015-03-04. `.repeat(20),
  );
  const parse = (text: string) => get(`/v1/rag/parse?query=${text.replaceAll(' ', '+').replaceAll('?', '%3F')}`);
  return [
    { name: 'rag parse of the first question', requests: [parse('What did node 12 do?')], times: 1 },
    { name: 'rag parse of a long question', requests: [parse(question), parse(plain)] },
    { name: 'rag of a word in the texts', requests: [post('/v1/reason', { query: 'edges with word 4711 unheard' })] },
    {
      name: 'rag of a long question',
      requests: [
        post('/v1/rag/query', { query: question, mode: 'hybrid', mock: true, rules: [RULE, THROUGH], top_k: 100 }),
        post('/v1/rag/query', {
          query: `nodes ${nodes.join(', ')}`,
          mode: 'symbolic',
          rules: [RULE, THROUGH],
          top_k: 200,
        }),
      ],
    },
    {
      name: 'rag check of many claims',
      requests: [post('/v1/rag/check', { claims, edge_ids: Array.from({ length: 200 }, (_, index) => index + 1) })],
    },
    {
      name: 'rag check of a long text',
      requests: [post('/v1/rag/check', { text: claims[0]!.repeat(20).slice(0, 99_000), edge_ids: [1, 2, 3] })],
    },
    {
      name: 'rules: one with many conditions',
      requests: [
        post('/v1/rules/validate', {
          ...RULE,
          if: [
            ...RULE.if,
            ...Array.from({ length: 60 }, (_, index) => ({ pred: 'member', args: ['?E', `?X${index}`] })),
          ],
        }),
      ],
    },
    { name: 'rules: reason with many', requests: [post('/v1/reason', { query: 'node 12', rules, top_k: 5 })] },
    {
      name: 'rules: stored one by one',
      requests: rules.slice(0, 400).map((rule) => post('/v1/rules', rule)),
      times: 1,
    },
    { name: 'rules: list', requests: [get('/v1/rules')] },
    { name: 'rules: reason with the stored', requests: [post('/v1/reason', { query: 'node 12', top_k: 5 })] },
  ];
}

function bodies(edges: readonly Edge[], scale: (count: number) => number): Work[] {
  const rows = edges
    .slice(0, scale(100_000))
    .map((edge, index) => ({ ...edge, weight: index / 4, formation: `word ${index % 5000}` }));
  const insert = (edge: object) => ({ type: 'insert', table: SMALL, ...edge });
  return [
    {
      name: 'batch of many operations',
      requests: [post('/v1/batch', { operations: rows.slice(0, scale(20_000)).map(insert) })],
    },
    {
      name: 'batch of queries',
      requests: [
        post('/v1/batch', {
          operations: Array.from({ length: 100 }, () => ({
            type: 'query',
            query: `MATCH (e:${SMALL}) RETURN e LIMIT 1000`,
          })),
        }),
      ],
    },
    { name: 'bulk insert, NDJSON', requests: [lines(`/v1/hyperedges?table=${SMALL}`, rows)] },
    {
      name: 'a long JSON body',
      requests: [
        query('MATCH (e:small) WHERE e.id IN $ids RETURN count(*)', { ids: rows.map((_, index) => index * 1e6) }),
      ],
    },
    {
      name: 'a condition with a long text',
      requests: [
        query('MATCH (e:small) WHERE e.formation = $text RETURN count(*)', { text: 'x'.repeat(scale(120_000)) }),
      ],
    },
  ];
}

function changes(): Work[] {
  return [
    { name: 'index of all rows', requests: [post('/v1/indexes', { table: 'hyperedges', column: 'weight' })], times: 1 },
    { name: 'backup', requests: [post('/v1/backup', {})], times: 1 },
    { name: 'UPDATE of all rows', requests: [query('UPDATE hyperedges SET weight = weight + 1')], times: 1 },
    {
      name: 'scan after an UPDATE',
      requests: [query('MATCH (e:hyperedges) RETURN count(DISTINCT e.weight)')],
      times: 1,
    },
    { name: 'UPDATE of texts', requests: [query(`UPDATE ${SMALL} SET formation = formation + '!'`)], times: 1 },
    { name: 'backup with a long log', requests: [post('/v1/backup', {})], times: 1 },
    { name: 'compaction', requests: [post('/v1/hyperedges/compact', {})], times: 1 },
    { name: 'DELETE of many rows', requests: [query('DELETE FROM hyperedges WHERE id % 2 = 0')], times: 1 },
    { name: 'compaction after a DELETE', requests: [post('/v1/hyperedges/compact', {})], times: 1 },
    { name: 'ALTER', requests: [query('ALTER TABLE hyperedges ADD COLUMN more TEXT')], times: 1 },
  ];
}
