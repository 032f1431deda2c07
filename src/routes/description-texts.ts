// Texts of the API description that do not belong to a single route: its introduction and its
// groups.

import type { Tag } from '../http/index.ts';

export const INTRODUCTION = `A temporal hypergraph database: time-stamped events that join any number of nodes.

**Keys.** Send \`X-API-Key\` or \`Authorization: Bearer\`. Each role includes the ones before it: \`readonly\`, \`readwrite\`, \`admin\`; \`x-role\` of an operation names the one it needs.

**Without keys.** If the service needs no key, it answers 403 to requests addressed to a host it does not know, and to pages of origins that are not listed; bodies must name their content type.

**Bodies.** JSON. Unknown fields and query parameters are ignored; null in an optional field is the same as leaving it out. Integers are within ±(2^53-1). Answers over 1 KB are compressed with gzip for clients that accept it.

**Errors.** All answers with a status of 400 or above, and the 307 of a follower, have the same form of body: \`detail\` is a sentence that says what to do, \`code\` is stable. A status that an operation does not list (500 with the code \`internal\`) is a fault of the service: report it with its request id.

**Log position.** Data routes report in \`X-Hedgerow-LSN\` the log position that their answer reflects. A read with \`X-Min-LSN\` waits until that position is visible.

**Retries.** A write with an \`Idempotency-Key\` can be sent again without being carried out twice. When its answer is no longer kept, the retry gets 409 with the code \`already_done\`, the \`lsn\` and the ids of what was written; 409 \`answers_damaged\` means that a damaged file makes it impossible to know whether it was carried out. After 429 and 503 wait for \`Retry-After\` seconds.

**Transactions.** BEGIN, COMMIT and ROLLBACK sent to \`/v1/query\` work within a session: the value of \`X-Session-Id\`, or, without this header, the key itself. Isolation is snapshot isolation: a transaction reads the state of its BEGIN and its own writes, and the first committer of a row wins (409 \`conflict\`). Lost updates and phantoms cannot happen; write skew can: two transactions that each read what the other changes, and change different rows, both commit. An idle transaction is rolled back; then every statement of its session but BEGIN and ROLLBACK answers 409 \`transaction_expired\`.

**Request ids.** \`X-Request-Id\` is returned if it was sent, and is written to the log.

\`HEAD\` works wherever \`GET\` does, \`OPTIONS\` everywhere.`;

export const TAGS: readonly Tag[] = [
  {
    name: 'Hyperedges',
    description: 'Insert, delete and read hyperedges.',
    paths: ['/v1/hyperedges'],
  },
  { name: 'Statements', description: 'The statement language: search, join, change, define.', paths: ['/v1/query'] },
  { name: 'Changes', description: 'What has been committed, in order, and what will be.', paths: ['/v1/changes'] },
  { name: 'Batch', description: 'Several operations as one.', paths: ['/v1/batch'] },
  {
    name: 'Analytics',
    description: 'Measures of a table as a hypergraph: centralities, components, spectra, activity in time.',
    paths: ['/v1/analytics'],
  },
  {
    name: 'Rules',
    description: 'Rules that derive facts from hyperedges.',
    paths: ['/v1/rules'],
  },
  {
    name: 'Reasoning',
    description: 'Facts with proofs, and questions in words whose answers a firewall has checked.',
    paths: ['/v1/reason', '/v1/rag'],
  },
  {
    name: 'Memory',
    description: 'What was said, by whom, about what, and when it holds: the memory of agents.',
    paths: ['/v1/memory'],
  },
  {
    name: 'Virtual graphs',
    description: 'Hypergraphs over tables that live elsewhere: DuckDB, Parquet, CSV, JSON, PostgreSQL.',
    paths: ['/v1/virtual'],
  },
  { name: 'Tables', description: 'Tables of hyperedges.', paths: ['/v1/tables'] },
  {
    name: 'Nodes',
    description: 'Node tables: nodes with keys and attributes, which may be members of hyperedges.',
    paths: ['/v1/node-tables', '/v1/nodes'],
  },
  { name: 'Indexes', description: 'Indexes on numeric columns.', paths: ['/v1/indexes'] },
  {
    name: 'Log',
    description: 'The write-ahead log and the threshold that compacts it.',
    paths: ['/v1/wal', '/v1/autocompact'],
  },
  {
    name: 'Followers',
    description: 'What a server needs that follows this one.',
    paths: ['/v1/log', '/v1/snapshot'],
  },
  { name: 'Backup', description: 'Backups on the server.', paths: ['/v1/backup'] },
  { name: 'Keys', description: 'API keys and their roles.', paths: ['/v1/keys'] },
  {
    name: 'Service',
    description: 'Health, metrics, this description and the console.',
    paths: ['/health', '/metrics', '/openapi.json', '/docs', '/', '/console'],
  },
];
