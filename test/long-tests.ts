// Test files that `npm test` leaves to `npm run test:long`: each takes some seconds or more, mostly
// because it starts the built service, a browser or other processes. Nothing else distinguishes
// them; `npx vitest run FILE` runs any file.

/** By folder. */
const FILES: Readonly<Record<string, readonly string[]>> = {
  backup: ['disk', 'equality', 'kill', 'verify'],
  bench: ['bench'],
  cli: ['full-disk', 'demo', 'dump-damage', 'import-fuzz', 'import-kill', 'mcp-raw', 'mcp'],
  client: ['browser', 'plain-types'],
  console: ['bad-answers', 'frame', 'large', 'links', 'query', 'questions', 'walk', 'writing', 'xss-places', 'xss'],
  crash: ['kill'],
  data: ['analytics-real-data', 'causal-chains', 'http-real-data', 'real-data'],
  engine: ['corruption', 'histories', 'log-damage', 'replay-crash', 'row-crash'],
  fuzz: ['fuzz', 'statements'],
  hosts: ['examples', 'hosts', 'packed'],
  http: [
    'answers-kept',
    'json-pieces',
    'openapi-lint',
    'overload',
    'query-roles',
    'reason-memory',
    'serve',
    'slow-readers',
    'transport',
    'virtual-failures',
    'virtual-specs',
  ],
  process: ['kill', 'soak', 'syscalls'],
  query: ['duckdb', 'fuzz', 'join-blocks', 'parquet-decoder', 'sessions-model'],
  rag: ['retrieve'],
  service: ['canaries', 'docs-page', 'foreign-pages', 'no-binary', 'openapi', 'overload', 'raw-sockets'],
  sim: ['sim'],
  storage: ['directory-lock', 'log-reader'],
  virtual: [
    'backends-failures',
    'backends-paths',
    'backends-sandbox',
    'compile-model',
    'door-backends',
    'door',
    'injection',
    'time-types',
  ],
};

export const LONG_TESTS: readonly string[] = Object.entries(FILES).flatMap(([folder, names]) =>
  names.map((name) => `test/${folder}/${name}.test.ts`),
);
