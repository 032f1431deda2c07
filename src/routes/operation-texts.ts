// The texts of the API description about each operation, in addition to its summary; in Markdown,
// by operation id.

export const OPERATION_TEXTS: Readonly<Record<string, string>> = {
  runQuery:
    'Runs one statement and returns its rows: MATCH to search and join, INSERT, UPDATE and DELETE to write, CREATE, ALTER and DROP to define, SHOW, EXPLAIN and ANALYZE to look, BEGIN, COMMIT and ROLLBACK for transactions. Pass values in `parameters` and refer to them in the statement as `$name`. With `Accept: application/x-ndjson` the answer contains only rows, one per line, and is sent while they are found.',
  getLive:
    'Answers as long as the process can answer at all, also while the database is being opened. Needs no key and is not rate limited: for the liveness probe of a supervisor.',
  getReady:
    'Answers 200 once the database is open. Before that, and while the service stops, answers 503 with `Retry-After`. Needs no key and is not rate limited: for the readiness probe of a load balancer.',
  getHealth:
    'Version, uptime, transport, durability and counts of tables, edges, segments and log entries. For people and dashboards; the probes are `/health/live` and `/health/ready`.',
  getMetrics:
    'The text form that Prometheus scrapes. Names start with `hedgerow_`; the usual `process_` and `nodejs_` metrics are included. The README of `src/observe` lists them.',
  rangeHyperedges:
    'All edges with `start_ts` <= time <= `end_ts`. Without `limit`, all rows are sent in one streamed answer. With `limit`, they are sent in pages: pass `next_cursor` as `cursor`, with the same other parameters, until it is null; all pages show one state of the table. A window that ends before it begins is empty. With `at`, only edges of a table with intervals that hold at this time are returned, and the window is optional: it bounds their beginnings.',
  insertHyperedge:
    'Stores an edge and returns it with its new id once it is durable. User columns may be at the top level or in `properties`. In a table with roles, `members` may be an object that maps roles to lists, or a list whose items may be `{node, role}`; rows have `roles` beside `members`. With `Content-Type: application/x-ndjson` the body has one edge per line. All of them are stored in one commit, or none; the error names the first bad line. In a named table `members` are keys, and a key that nobody has used creates its node in the same commit, unless the table has `create_nodes: false` (400 `unknown_node`). Inserting an edge twice gives two edges: an `Idempotency-Key` makes the request safe to repeat.',
  deleteHyperedge:
    'Removes every edge with exactly this time and this set of members, whatever its other columns contain and whatever roles the members have, and returns how many there were. It is not an error if there were none. To delete single rows, send `DELETE FROM ... WHERE id = ...` to `/v1/query`.',
  getHyperedge:
    'The edge with an id that an insert returned, with all its columns. Each table has its own ids. The answer is 404 if the edge was deleted or never existed. Ids have no index: the table is read in steps until the edge is found.',
  patchHyperedge:
    'Changes the columns that the body names, of the edge with this id, and returns the new row. Null clears a column, so `"end_ts": null` makes an edge of a table with intervals hold again without an end. The time and the members stay; an UPDATE statement can change them. As for reads by id, the table is read in steps until the edge is found.',
  lookupNode:
    'All edges that contain the node, of all times or within a window, found by the index of nodes. Pages and streams work as for a range, and so does `at`. `role` asks for edges in which the node has a role. A node that is in no edge gives an empty list. In a named table the path has the key of the node, percent-encoded, and `kind` names its node table if the table has several; a key that no node has gives an empty list.',
  compactHyperedges:
    'Writes the rows in memory, which so far are durable only in the log, into segments, merges small segments and drops deleted rows; with `ttl_seconds`, also drops older rows. Reads and writes continue meanwhile. The answer is sent when the result is durable.',
  setAutocompact:
    'From now on, a compaction starts automatically when this number of operations is in the log. Applies to one table or, without `table`, to each of them. 0 turns it off.',
  getWal:
    'The number of operations in the log that are not in a segment yet, in total and for each table, and the number at which a compaction starts automatically.',
  readChanges:
    'Everything that was committed after `from_lsn`: inserts, updates with the edge before and after, deletes with the edge before (for one commit, at most 128 MB of such edges), and changes of tables and indexes. The changes of one commit come together; `commit_end` marks the last. As NDJSON (the default), the answer ends with the newest change; with `wait_s` it waits for one if there is none. With `Accept: text/event-stream` it stays open, and `Last-Event-ID` goes on where a connection was lost. Changes are kept for HEDGEROW_CHANGES_KEEP_SECONDS, but never more than HEDGEROW_CHANGES_KEEP_MB of log; for older ones the answer is 410, and for an LSN that was never given, as after a restore, 409. To copy a table: read its rows, then the changes after the LSN in `X-Hedgerow-LSN`.',
  readLog:
    'The commits after `from_lsn` as they are in the log, and those to come, for a server that follows this one (`hedgerow serve --follow`). The answer goes on until one side ends it; while there is nothing to send, a heartbeat comes each second. 410 if the log after `from_lsn` is no longer kept, 409 if `from_lsn` or the commit that ends there is of another history: then the follower begins anew, with a snapshot.',
  readSnapshot:
    'The archive that `POST /v1/backup` would write, as the answer. `X-Hedgerow-LSN` is the LSN of its newest operation; a follower goes on with the log after it.',
  listTables:
    'Every table with its user columns, number of rows and settings, ordered by name. `defaults=true` shows the defaults of columns too.',
  createTable:
    'Makes an empty table. `columns` are user columns beside the built-in ones (id, event_ts, members, weight, mean_dist_m, formation). If all of `member_tables` are node tables, the table is named: its members are nodes by key; if none of them is, they are numbers; a mixture is refused. `roles` are names of roles that members may have, such as sender and recipient. `bucket_seconds` is the width of the time slots of its index: about the width of usual windows is good.',
  getTable:
    'One table with its user columns, number of rows and settings. Upper and lower case in the name do not matter.',
  dropTable: 'Removes the table with its rows and indexes, for good. The primary table cannot be dropped (409).',
  listNodeTables:
    'Every node table with its key, its attributes and its number of nodes, ordered by name. `defaults=true` shows the defaults of attributes too.',
  createNodeTable:
    'Makes an empty node table: a kind of nodes with a key, which people use, and attributes. A hyperedge table that is then created with its name in `member_tables` takes keys as members. Hyperedge tables and node tables share one name space.',
  getNodeTable: 'One node table. Upper and lower case in the name do not matter.',
  dropNodeTable:
    'Removes the node table with its nodes, for good. 409 `table_in_use` while a hyperedge table names it in its `member_tables`.',
  listNodes:
    'All nodes by key: texts by code point, integers by value. Without `limit`, all nodes are sent in one streamed answer. With `limit`, they are sent in pages: pass `next_cursor` as `cursor` until it is null; all pages show one state of the node table.',
  writeNodes:
    'Creates a node, or replaces it if its key is known: attributes that are left out get their defaults. With `Content-Type: application/x-ndjson` the body has one node per line. All of them are written in one commit, or none; the error names the first bad line.',
  getNode:
    'The key and the attributes of a node. The key is percent-encoded, an INTEGER key in digits; upper and lower case matter.',
  putNode:
    'Replaces all attributes of a node, and creates it when it is missing. Attributes that are left out, or null, get their defaults. The body need not contain the key; another key than that of the path is refused.',
  patchNode: 'Sets the attributes that the body names, and leaves the others as they are. null clears an attribute.',
  deleteNode:
    'Deletes a node. 409 `node_in_use` while a live edge holds it. Its key is free again: a node that is created with it later is another one.',
  listIndexes:
    'Indexes on numeric columns and text indexes, of one table or of all. The indexes of times and of nodes always exist and are not listed.',
  createIndex:
    'Indexes a numeric column, so that conditions such as `weight > 0.5` need no full scan. Existing rows are indexed before the answer is sent, later rows when they are written. With `kind: "text"` it makes the text index of the table, of which `search` and `score` in statements find words in `columns`.',
  dropIndex: 'Removes the index. Conditions on the column work as before, by scanning.',
  dropTextIndex: 'Removes the text index. `search` is refused for this table until it has another one.',
  runBatch:
    'Carries out inserts, deletes and reads in order, in one commit: all of them or none. A read sees what the operations before it wrote. If one fails, the answer is 200 with `committed: false`, and nothing has changed; `results` ends with the operation that failed.',
  listMeasures:
    'Each measure with the JSON Schema of its parameters and of its result, and the paper or book that defines it. The answer is the same until the service is upgraded.',
  runMeasure:
    'Computes a measure of a table as a hypergraph, of all times or of the window `start_ts` to `end_ts`. Results by node or edge are objects by id, results by pair are lists `[a, b, value]`; an undefined value is null. In a named table, nodes are keys, or texts `Kind:key` if the members have several kinds, in parameters too. The computation is stopped, with 504, at the time limit of the service, and also when the client disconnects.',
  listRules:
    'Every stored rule without its conditions, by descending priority and then id. `GET /v1/rules/{id}` returns a complete rule.',
  putRule:
    'Stores a rule under its id. If a rule has this id already, it is replaced and its version increases. The rule is checked together with all stored rules: an unbound variable, a negation in a cycle or a predicate with two arities is refused with 422, and nothing changes.',
  validateRule: 'Checks a rule as if it were to be stored, but stores nothing. Lists all faults, not only the first.',
  getRule: 'A stored rule with its conditions, its conclusion, its version and its stratum.',
  deleteRule: 'Removes a rule. Facts that it derived are not stored, so nothing else has to be removed.',
  reason:
    'Retrieves the edges that the text means, applies the rules to them and returns every derived fact with a proof whose leaves are stored edges. Rules see only the retrieved edges; `truncated` is true if more edges matched than `top_k`.',
  ragQuery:
    'Retrieves edges, derives facts by rules and writes an answer in words, with a language model or, with `mode: symbolic`, without one. A sentence stays in the answer only if it agrees with the edges, rules and steps that it cites. Other sentences are stripped. If no sentence is left, the answer abstains.',
  checkClaims:
    'Judges a text, or claims one by one, against stored edges, in the same way as answers of `POST /v1/rag/query`: numbers, times, names, counts and negations must be those of the edges that a sentence cites. Sentences of `text` need tags such as `[HEDGE-2]`; a claim without one is judged against all edges of `edge_ids`. Nothing is stored.',
  remember:
    'Stores one edge: who and about are the roles of its members, which are nodes by key, and it holds from `when` until `until` or without an end. Keys that nobody has used make nodes in the same commit. The first memory of a table makes the table, with a text index on `what` and an index on `supersedes`; this needs no admin key, and another table that exists must have the same shape. Remembering a thing twice gives two memories: an `Idempotency-Key` makes the request safe to repeat.',
  supersede:
    'In one commit, the memory `id` ends at `at` and its successor begins. Rules see the link between the two as `supersedes(new, old)`. `who` and `about` are those of the old memory unless they are given. 409 `memory_ended` if it has ended by then, or has a successor: supersede that one. If its successor is planned for the future, the new memory may begin earlier: it holds until then and comes between the two. To forget something altogether, delete the edge.',
  recall:
    'Memories that hold at `at`, best first: ranked by the words of the question (BM25 with the text index), by memories beside these, by the names in it and by recency, fused by reciprocal rank; `why` says what has matched. `who` and `about` leave out what does not name one of them. A table without a text index is ranked by names and recency.',
  memoryHistory:
    'Every version of what was said, also of what no longer holds: of the memories that name one of these things in these roles, or of one memory, with the versions before and after. Versions that were deleted are missing.',
  parseQuestion:
    'Shows what a question would retrieve, without retrieving it: good for explaining an answer, or for finding out why there was none.',
  getInteraction:
    'How an answer of `POST /v1/rag/query` came about. Kept in memory only: lost after a restart and after 1,000 further questions.',
  listVirtualBackends: 'Each type of backend, whether it can be used here, and what it reads.',
  proposeVirtualGraph:
    'Looks at the tables and keys of a backend and proposes which of them are edges and which are nodes. `use_llm` has a language model refine the proposal; if that fails, the original proposal is returned. `save` stores it.',
  listVirtualGraphs:
    'Id, name, backend and labels of every stored graph. `GET /v1/virtual/graphs/{id}` returns a complete spec.',
  createVirtualGraph:
    'Stores a graph over tables that stay where they are. The spec is checked, but not against the backend: a missing file is noticed only when the graph is used.',
  getVirtualGraph: 'The spec as it was stored, with its version.',
  replaceVirtualGraph:
    'Stores another spec under the same id. The version increases by one, and cached results of the old spec are removed.',
  deleteVirtualGraph: 'Removes the spec and its cached results.',
  clearVirtualCache:
    'Removes the cached results of the graph, so that its next query is sent to the backend. The answer contains the number of removed results.',
  introspectVirtualGraph: 'Asks the backend for its tables, their columns and row counts: what a spec can refer to.',
  compileVirtualQuery:
    'Translates a query into the SQL that would run, with its plan. Literals are bound as parameters, never pasted into the SQL.',
  queryVirtualGraph:
    'Runs a query at the backend and returns hyperedges. Results are cached until the spec or the file changes; `refresh` bypasses the cache. With `Accept: application/x-ndjson` the hyperedges are sent one per line, as the backend delivers them.',
  materializeVirtualQuery:
    'Copies the hyperedges of a query into a new table, where statements, indexes and measures work on them; the vertices become nodes of the node tables that are named like their labels, with their ids as keys. Rows that no table can hold are counted in `skipped`. With `ids` the members are numbers, and `<table>_nodes` stores the vertices. If copying fails, no new table remains.',
  createBackup:
    'Writes an archive of one state of the whole database below the backup root of the server, under a name with time and log position; it appears when it is complete and durable. `hedgerow restore` creates a data directory from it.',
  listKeys:
    'Id, description, role and times of every key that is not revoked. The service stores only hashes of the keys themselves.',
  createKey:
    'Creates a key and returns it; it is never shown again. `expires_days` may be a fraction; without it the key is valid until it is revoked.',
  revokeKey: 'The key is refused from now on. The last admin key that is valid cannot be revoked (409).',
  getOpenapi: 'The document from which clients can be generated. It is the same for every caller and needs no key.',
  getDocs: 'The page works without any other server. A key typed there is kept in the page alone.',
  getDocsFile: 'Scripts and styles of the page at `/docs`.',
  getConsole: 'The page signs in with a key, which it keeps in the browser tab. It needs no other server.',
  getConsoleFile: 'Scripts and styles of the console.',
};
