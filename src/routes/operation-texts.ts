// The texts of the API description about each operation, in addition to its summary; in Markdown,
// by operation id.

export const OPERATION_TEXTS: Readonly<Record<string, string>> = {
  runQuery:
    'Runs one statement and returns its rows: MATCH to search and join, INSERT, UPDATE and DELETE to write, CREATE, ALTER and DROP to define, SHOW, EXPLAIN and ANALYZE to look, BEGIN, COMMIT and ROLLBACK for transactions. Values belong into `parameters`; the statement refers to them as `$name`. With `Accept: application/x-ndjson` the rows come one a line as they are found, and nothing else.',
  getLive:
    'Answers as long as the process can answer at all, also while the database is being opened. Needs no key and is not rate limited: for the liveness probe of a supervisor.',
  getReady:
    'Answers 200 once the database is open and 503 with `Retry-After` before that and while the service stops. Needs no key and is not rate limited: for the readiness probe of a load balancer.',
  getHealth:
    'Version, uptime, transport, durability and counts of tables, edges, segments and log entries. For people and dashboards; the probes are `/health/live` and `/health/ready`.',
  getMetrics:
    'The text form that Prometheus scrapes. Names start with `hedgerow_`, beside the usual `process_` and `nodejs_` ones. The README of `src/observe` lists them.',
  rangeHyperedges:
    'All edges with `start_ts` <= time <= `end_ts`. Without `limit` all rows come in one streamed answer. With `limit` they come in pages: pass `next_cursor` as `cursor`, with the same other parameters, until it is null; all pages show one state of the table. A window that ends before it begins is empty.',
  insertHyperedge:
    'Stores an edge and returns it with its new id, once it is durable. User columns are given at top level or in `properties`. With `Content-Type: application/x-ndjson` the body is one edge a line, all stored in one commit or none; the error names the first bad line. Inserting an edge twice gives two edges: an `Idempotency-Key` makes the request safe to repeat.',
  deleteHyperedge:
    'Removes every edge with exactly this time and this set of members, whatever its other columns contain, and returns how many there were. It is not an error if there were none. To delete single rows use `DELETE FROM ... WHERE id = ...` of `/v1/query`.',
  getHyperedge:
    'One edge by the id that its insert returned, with all its columns. Ids belong to a table; an edge that was deleted, or was never there, is 404. Without an index of ids the table is read up to the edge, in turns.',
  lookupNode:
    'All edges that hold the node, of all times or of a window, found by the index of nodes. Pages and streams as for a range. A node that no edge holds gives an empty list.',
  compactHyperedges:
    'Writes what is in the log and in memory into segments, merges small segments and drops what was deleted; `ttl_seconds` also drops what is older. Reads and writes go on meanwhile. It answers when the work is durable.',
  setAutocompact:
    'From now on a compaction starts by itself when this many operations wait in the log, for one table or, without `table`, for all of them. 0 turns it off.',
  getWal:
    'How many operations are in the log that no segment holds yet, for all tables together and for each, and at which number a compaction starts by itself.',
  listTables:
    'Every table with its user columns, number of rows and settings, ordered by name. `defaults=true` shows the defaults of columns too.',
  createTable:
    'Makes an empty table. `columns` are user columns beside the built-in ones (id, event_ts, members, weight, mean_dist_m, formation). `bucket_seconds` is the width of the time slots of its index: about the width of usual windows is good.',
  getTable: 'One table with its user columns, number of rows and settings. The name is compared without case.',
  dropTable: 'Removes the table with its rows and indexes, for good. The primary table cannot be dropped (409).',
  listIndexes:
    'Indexes on numeric columns, of one table or of all. The indexes of times and of nodes are always there and are not listed.',
  createIndex:
    'Indexes a numeric column, so that conditions such as `weight > 0.5` need no full scan. Rows that are there are indexed before it answers; later ones at once.',
  dropIndex: 'Removes the index. Conditions on the column work as before, by scanning.',
  runBatch:
    'Carries out inserts, deletes and reads in order, in one commit: all of them or none. A read sees what the operations before it wrote. When one fails, the answer is a 200 with `committed: false`, and nothing has changed; `results` ends with the operation that failed.',
  listMeasures:
    'Each measure with the JSON Schema of its parameters and of its result, and the paper or book that defines it. The answer is the same until the service is upgraded.',
  runMeasure:
    'Computes a measure of a table as a hypergraph, of all times or of the window `start_ts` to `end_ts`. Results by node or edge are objects by id, results by pair are lists `[a, b, value]`; an undefined value is null. Long work ends with 504 at the time limit of the service, or when the client disconnects.',
  listRules:
    'Every stored rule without its conditions, by descending priority and then id. `GET /v1/rules/{id}` has a rule in full.',
  putRule:
    'Stores a rule under its id; one that is there is replaced and its version grows. The whole set is checked with it: a variable that nothing binds, a negation in a cycle or a predicate with two arities is refused with 422, and nothing changes.',
  validateRule:
    'Checks a rule as storing it would, writes nothing, and lists everything that is wrong, not only the first fault.',
  getRule: 'A stored rule with its conditions, its conclusion, its version and its stratum.',
  deleteRule: 'Removes a rule. Facts that it derived are not stored, so nothing else has to be removed.',
  reason:
    'Retrieves the edges that the text means, runs the rules over them and returns every derived fact with a proof whose leaves are stored edges. Rules see only the edges retrieved; `truncated` says that more matched than `top_k`.',
  ragQuery:
    'Retrieves edges, derives facts by rules and has them put into words, by a language model or, with `mode: symbolic`, without one. A sentence stays in the answer only when the edges, rules and steps it cites say the same; otherwise it is stripped, and with nothing left the answer abstains.',
  checkClaims:
    'Judges a text, or claims one by one, against stored edges as the answers of `POST /v1/rag/query` are judged: numbers, times, names, counts and negations must be those of the edges that a sentence cites. Sentences of `text` need tags such as `[HEDGE-2]`; a claim without one is judged against all edges of `edge_ids`. Nothing is stored.',
  parseQuestion:
    'Shows what a question would retrieve, without retrieving it: good for explaining an answer, or for finding out why there was none.',
  getInteraction:
    'The steps that led to an answer of `POST /v1/rag/query`. Kept only in memory, until a restart or 1,000 further questions.',
  listVirtualBackends: 'Each type of backend, whether it can be used here, and what it reads.',
  proposeVirtualGraph:
    'Looks at the tables and keys of a backend and proposes which of them are edges and which are nodes. `use_llm` has a language model refine the proposal; when that fails, the plain proposal is returned. `save` stores it.',
  listVirtualGraphs:
    'Id, name, backend and labels of every stored graph. `GET /v1/virtual/graphs/{id}` has a spec in full.',
  createVirtualGraph:
    'Stores a graph over tables that stay where they are. The spec is checked, but the backend is not queried: a missing file is noticed only when the graph is used.',
  getVirtualGraph: 'The spec as it was stored, with its version.',
  replaceVirtualGraph:
    'Stores another spec under the same id. Its version grows by one, and results kept of the old one are forgotten.',
  deleteVirtualGraph: 'Removes the spec and its kept results.',
  clearVirtualCache:
    'The next query of the graph asks the backend again. The answer contains how many results were forgotten.',
  introspectVirtualGraph: 'Asks the backend for its tables, their columns and row counts: what a spec can refer to.',
  compileVirtualQuery:
    'Translates a query into the SQL that would run, with its plan. Literals are bound as parameters, never pasted into the SQL.',
  queryVirtualGraph:
    'Runs a query at the backend and returns hyperedges. Results are kept and returned again until the spec or the file changes; `refresh` queries the backend again. With `Accept: application/x-ndjson` the hyperedges come one a line as the backend gives them.',
  materializeVirtualQuery:
    'Copies the hyperedges of a query into a new table, where statements, indexes and measures work on them; the nodes get numbers, and `<table>_nodes` keeps their ids in the column `vertex`. If it fails, neither table exists afterwards.',
  createBackup:
    'Writes an archive of one state of the whole database below the backup root of the server, under a name with time and log position; it appears when it is complete and durable. `hedgerow restore` makes a data directory of it.',
  listKeys:
    'Id, description, role and times of every key that is not revoked. Of the keys themselves only hashes are stored.',
  createKey:
    'Makes a key and returns it, this once only. `expires_days` may be a fraction; without it the key is valid until it is revoked.',
  revokeKey: 'The key is refused from now on. The last admin key that is valid cannot be revoked (409).',
  getOpenapi: 'The document from which clients can be generated. It is the same for every caller and needs no key.',
  getDocs: 'The page works without any other server. A key typed there is kept in the page alone.',
  getDocsFile: 'Scripts and styles of the page at `/docs`.',
  getConsole: 'The page signs in with a key, which it keeps in the browser tab. It needs no other server.',
  getConsoleFile: 'Scripts and styles of the console.',
};
