// Every operation of the API by its id in the OpenAPI description: its method and path, and whether
// it may be sent with an Idempotency-Key.

export interface Operation {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** The path, with parameters in braces. */
  readonly path: string;
  /** True for a write that the server carries out only once per Idempotency-Key. */
  readonly idempotent: boolean;
}

const read = (path: string): Operation => ({ method: 'GET', path, idempotent: false });
const write = (method: Operation['method'], path: string): Operation => ({ method, path, idempotent: true });
/**
 * Operations for which the server keeps no answer under an Idempotency-Key: those on API keys,
 * because answers may contain a secret, and those that only read.
 */
const writeOnce = (method: Operation['method'], path: string): Operation => ({ method, path, idempotent: false });

export const OPERATIONS = {
  getLive: read('/health/live'),
  getReady: read('/health/ready'),
  getHealth: read('/health'),
  getMetrics: read('/metrics'),
  getOpenapi: read('/openapi.json'),
  rangeHyperedges: read('/v1/hyperedges'),
  getHyperedge: read('/v1/hyperedges/{id}'),
  patchHyperedge: write('PATCH', '/v1/hyperedges/{id}'),
  lookupNode: read('/v1/hyperedges/node/{node_id}'),
  insertHyperedge: write('POST', '/v1/hyperedges'),
  deleteHyperedge: write('DELETE', '/v1/hyperedges'),
  compactHyperedges: write('POST', '/v1/hyperedges/compact'),
  setAutocompact: write('POST', '/v1/autocompact'),
  getWal: read('/v1/wal'),
  readChanges: read('/v1/changes'),
  listTables: read('/v1/tables'),
  getTable: read('/v1/tables/{name}'),
  createTable: write('POST', '/v1/tables'),
  dropTable: write('DELETE', '/v1/tables/{name}'),
  listNodeTables: read('/v1/node-tables'),
  getNodeTable: read('/v1/node-tables/{name}'),
  createNodeTable: write('POST', '/v1/node-tables'),
  dropNodeTable: write('DELETE', '/v1/node-tables/{name}'),
  listNodes: read('/v1/nodes/{table}'),
  writeNodes: write('POST', '/v1/nodes/{table}'),
  getNode: read('/v1/nodes/{table}/{key}'),
  putNode: write('PUT', '/v1/nodes/{table}/{key}'),
  patchNode: write('PATCH', '/v1/nodes/{table}/{key}'),
  deleteNode: write('DELETE', '/v1/nodes/{table}/{key}'),
  listIndexes: read('/v1/indexes'),
  createIndex: write('POST', '/v1/indexes'),
  dropIndex: write('DELETE', '/v1/indexes/{table}/{column}'),
  dropTextIndex: write('DELETE', '/v1/indexes/{table}/text'),
  runBatch: write('POST', '/v1/batch'),
  runQuery: write('POST', '/v1/query'),
  listMeasures: read('/v1/analytics'),
  runMeasure: writeOnce('POST', '/v1/analytics/{table}/{measure}'),
  listRules: read('/v1/rules'),
  putRule: write('POST', '/v1/rules'),
  validateRule: writeOnce('POST', '/v1/rules/validate'),
  getRule: read('/v1/rules/{id}'),
  deleteRule: write('DELETE', '/v1/rules/{id}'),
  reason: writeOnce('POST', '/v1/reason'),
  ragQuery: writeOnce('POST', '/v1/rag/query'),
  checkClaims: writeOnce('POST', '/v1/rag/check'),
  remember: write('POST', '/v1/memory/remember'),
  supersede: write('POST', '/v1/memory/supersede'),
  recall: writeOnce('POST', '/v1/memory/recall'),
  memoryHistory: writeOnce('POST', '/v1/memory/history'),
  parseQuestion: read('/v1/rag/parse'),
  getInteraction: read('/v1/rag/interactions/{id}'),
  listVirtualBackends: read('/v1/virtual/backends'),
  proposeVirtualGraph: write('POST', '/v1/virtual/propose'),
  listVirtualGraphs: read('/v1/virtual/graphs'),
  createVirtualGraph: write('POST', '/v1/virtual/graphs'),
  getVirtualGraph: read('/v1/virtual/graphs/{id}'),
  replaceVirtualGraph: write('PUT', '/v1/virtual/graphs/{id}'),
  deleteVirtualGraph: write('DELETE', '/v1/virtual/graphs/{id}'),
  clearVirtualCache: write('DELETE', '/v1/virtual/graphs/{id}/cache'),
  introspectVirtualGraph: read('/v1/virtual/graphs/{id}/introspect'),
  compileVirtualQuery: writeOnce('POST', '/v1/virtual/graphs/{id}/compile'),
  queryVirtualGraph: writeOnce('POST', '/v1/virtual/graphs/{id}/query'),
  materializeVirtualQuery: write('POST', '/v1/virtual/graphs/{id}/materialize'),
  createBackup: write('POST', '/v1/backup'),
  listKeys: read('/v1/keys'),
  createKey: writeOnce('POST', '/v1/keys'),
  revokeKey: writeOnce('DELETE', '/v1/keys/{key_id}'),
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** Operations that may take minutes. */
export const LONG_OPERATIONS: ReadonlySet<OperationId> = new Set([
  'compactHyperedges',
  'createIndex',
  'createBackup',
  'runMeasure',
  'reason',
  'ragQuery',
  'proposeVirtualGraph',
  'introspectVirtualGraph',
  'queryVirtualGraph',
  'materializeVirtualQuery',
]);
