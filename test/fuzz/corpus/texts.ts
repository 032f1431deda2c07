// Valid inputs and dictionaries for mutations of texts: virtual queries, specs, rules and requests.

export const QUERIES: readonly string[] = [
  'MATCH (t:Transfer){a:Account, b:Account} RETURN t',
  "MATCH (t:Transfer){a:Account, b:Account} WHERE a.id = 'x' AND b.id IN ['y', 'z'] AND t.event_ts >= 5 RETURN t LIMIT 10",
  'MATCH (t:Transfer){a:Account} WHERE t.event_ts BETWEEN 1 AND 2 AND size(t) > 2 AND t.amount <> -1.5 RETURN t',
  "MATCH (m:Meeting){g:Account} WHERE g.id <= 4 AND m.room = 'O''Neil' RETURN m LIMIT 1",
];

export const QUERY_WORDS: readonly string[] = [
  ..."MATCH WHERE AND RETURN LIMIT IN BETWEEN size ( ) { } [ ] : , . = <> < <= > >= ' t a.id t.event_ts Transfer Account".split(
    ' ',
  ),
  '-1e309',
  "'%'",
];

const MEMBERS = [
  { name: 'src', node_label: 'Account', role: 'src' },
  { name: 'dst', node_label: 'Account', role: 'dst' },
];

export const SPECS: readonly unknown[] = [
  {
    id: 'bank',
    name: 'Bank transfers',
    backend: { type: 'duckdb', path: 'bank.duckdb' },
    nodes: [{ label: 'Account', table: 'accounts', id_column: 'id' }],
    edges: [
      {
        label: 'Transfer',
        shape: 'row',
        table: 'transfers',
        ts_column: 'ts',
        row_member_columns: { src: 'from_id', dst: 'to_id' },
        members: MEMBERS,
      },
    ],
  },
  {
    id: 'files',
    backend: { type: 'csv', path: 'data/*.csv' },
    nodes: [{ label: 'Guest', table: 'guests', id_column: 'name' }],
    edges: [
      {
        label: 'Meeting',
        shape: 'group',
        table: 'seats',
        ts_column: 'day',
        group_columns: ['meeting_id', 'room'],
        member_column: 'guest',
        members: [{ name: 'guest', node_label: 'Guest', role: 'guest' }],
      },
    ],
  },
  { id: 'pg', backend: { type: 'postgres', dsn: 'MAIN', schema: 'public' }, nodes: [], edges: [] },
];

export const RULES: readonly unknown[] = [
  [
    {
      id: 'rule:close',
      name: 'close',
      priority: 2,
      if: [
        { pred: 'member', args: ['?E', '?A'] },
        { pred: 'member', args: ['?E', '?B'] },
        { pred: 'mean_dist', args: ['?E', '?D'] },
        { compare: ['?A', '<', '?B'] },
        { compare: ['?D', '<=', 10] },
      ],
      then: { pred: 'close', args: ['?A', '?B'], confidence: 0.9 },
    },
    {
      id: 'rule:far',
      enabled: false,
      if: [{ pred: 'hyperedge', args: ['?E'] }, { not: { pred: 'close', args: ['?E', 1] } }],
      then: { pred: 'far', args: ['?E', 'text', true, 1.5] },
    },
  ],
  [
    { id: 'rule:reach', if: [{ pred: 'edge', args: ['?X', '?Y'] }], then: { pred: 'path', args: ['?X', '?Y'] } },
    {
      id: 'rule:more',
      if: [
        { pred: 'path', args: ['?X', '?Y'] },
        { pred: 'edge', args: ['?Y', '?Z'] },
      ],
      then: { pred: 'path', args: ['?X', '?Z'] },
    },
  ],
];

const EDGE = '{"event_ts":5,"members":[1,2,3],"weight":1.5,"formation":"ring"}';

function post(path: string, body: string, more = ''): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n${more}Content-Length: ${body.length}\r\n\r\n${body}`;
}

export const REQUESTS: readonly string[] = [
  'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n',
  'GET /v1/hyperedges?start_ts=1&end_ts=9&limit=5 HTTP/1.1\r\nHost: x\r\nAccept: application/x-ndjson\r\nAccept-Encoding: gzip\r\n\r\n',
  'GET /v1/hyperedges/node/3?limit=2&cursor=AAAA HTTP/1.1\r\nHost: x\r\nIf-None-Match: "x"\r\n\r\n',
  post('/v1/hyperedges', EDGE, 'Idempotency-Key: k1\r\nX-Request-Id: r\r\n'),
  post(
    '/v1/batch',
    `{"operations":[{"type":"insert",${EDGE.slice(1)},{"type":"query","cypher":"MATCH (e:hyperedges) RETURN COUNT(*)"}]}`,
  ),
  post(
    '/v1/query',
    '{"query":"MATCH (a:hyperedges) WHERE a.weight > $w RETURN a.id LIMIT 3","parameters":{"w":1}}',
    'X-Session-Id: s\r\nX-Min-LSN: 1\r\n',
  ),
  post('/v1/tables', '{"name":"t1","member_tables":["a"],"bucket_seconds":5}'),
  post('/v1/rules', '{"id":"rule:a","if":[{"pred":"member","args":["?E","?A"]}],"then":{"pred":"p","args":["?A"]}}'),
  `POST /v1/hyperedges?table=hyperedges HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n40\r\n${EDGE}\r\n0\r\n\r\n`,
  'OPTIONS /v1/wal HTTP/1.1\r\nHost: x\r\nOrigin: http://a\r\n\r\nHEAD /v1/tables HTTP/1.1\r\nHost: x\r\n\r\n',
];

export const REQUEST_WORDS: readonly string[] = [
  ...[
    '\r\n',
    '\r\n\r\n',
    'HTTP/1.1',
    'HTTP/9',
    'GET ',
    'PUT ',
    'DELETE ',
    'HEAD ',
    'Content-Length: 5',
    'Content-Length: -1',
    'Expect: 100-continue',
  ],
  ...[
    'Transfer-Encoding: chunked',
    'Connection: close',
    'Content-Type: text/x',
    'X-Min-LSN: 99999999999999999',
    '%00',
    '%',
    '../',
    '?a=b&a=c',
    '[[[[',
    '{"',
  ],
  ...[
    'null',
    '1e999',
    '"members":[]',
    '"event_ts":"x"',
    '\u0000',
    '\u00ff',
    'Idempotency-Key: k1',
    'Range: bytes=0-',
    'Upgrade: websocket',
  ],
];
