// Tools that read and write rows: statements, time windows, the edges of a node, inserts.

import type { QueryRow } from '../../client/index.ts';
import { refusal } from '../../errors.ts';
import { described, integer, text, v } from '../../http/schema.ts';
import { type Prepared, prepareText } from '../../query/prepare.ts';
import { edgeBody } from '../../routes/schemas/edges.ts';
import { cursor, MOST_ROWS, moment, object, rowLimit, someTable, values, windowOf } from './arguments.ts';
import { firstOf, fittingPage } from './bounded.ts';
import { type Tool, tool } from './tool.ts';

/** Enough to write statements without having seen the language before. */
const LANGUAGE = `Run one statement of Hedgerow's own language (not SQL, not Cypher) and get its rows.
Shape: MATCH (alias:Table) [, (alias:Table) ...] [WHERE condition] RETURN [DISTINCT] items [ORDER BY item [DESC], ...] [SKIP n] [LIMIT n]
Each pattern (e:Table) is one hyperedge of that table, not a node; e.event_ts, e.members, e.id, e.weight, e.formation and user columns are its fields. Items: e.column, expressions AS name, COUNT(*), COUNT(DISTINCT x), SUM, AVG, MIN, MAX, COLLECT (plain items beside them group); RETURN * gives all columns.
Conditions: = <> < <= > >=, AND, OR, NOT, IN [..], BETWEEN x AND y, IS NULL, CONTAINS, STARTS WITH, ENDS WITH, + - * / %.
Nodes are integers: 7 IN e.members; size(e.members) is how many. Times are integers: e.event_ts in epoch seconds UTC; there are no date functions. Texts stand in 'single quotes', comments in /* */.
Two edges together: shared(a, b) = number of common members; follows(b, a, 3600): b begins after a, at most 3600 seconds later; overlaps(a, b, 60): at most 60 seconds apart; bucket(e) = time slot of the table. A join without such a condition is refused when it grows too large.
Examples:
MATCH (e:meetings) WHERE 7 IN e.members AND e.event_ts BETWEEN 1704067200 AND 1704153599 RETURN e.event_ts, e.members ORDER BY e.event_ts LIMIT 20
MATCH (e:meetings) RETURN e.formation, COUNT(*) AS n, AVG(size(e.members)) AS people ORDER BY n DESC
MATCH (a:meetings), (b:meetings) WHERE 7 IN a.members AND follows(b, a, 3600) AND shared(a, b) >= 2 RETURN a.id, b.id LIMIT 20
SHOW TABLES
SHOW INDEXES ON meetings
EXPLAIN <statement> shows how it would run, ANALYZE <MATCH ...> how it ran. There is no UNWIND or WITH: what each node does is asked of node, or of run_measure (node_degree). Values can go into parameters as $name.`;

const WRITING = `It also writes here: INSERT INTO meetings (event_ts, members, formation) VALUES (1704067200, [7, 9], 'lunch'); UPDATE meetings SET formation = 'office' WHERE id = 12; DELETE FROM meetings WHERE event_ts < 1704067200. Each statement commits at once and cannot be taken back. Without WHERE, UPDATE and DELETE take every row.`;

const query = tool({
  name: 'query',
  title: 'Run a statement',
  description: LANGUAGE,
  writing: WRITING,
  destroys: true,
  input: object({
    statement: described(text(), 'One statement.'),
    parameters: values('Values of the $names: numbers, texts, booleans, nulls, lists of these.'),
    limit: rowLimit('rows'),
  }),
  run: async ({ statement, parameters, limit }, { client, allowWrites }, signal) => {
    const prepared = prepareText(statement);
    requireAllowed(prepared, allowWrites);
    if (prepared.role !== 'readonly') {
      const { columns, rows, num_tuples } = await client.query.run(statement, parameters, { signal });
      return { columns, rows, num_tuples };
    }
    const { rows, more } = await firstOf<QueryRow>(client.query.rows(statement, parameters, { signal }), limit);
    const hint = `There are more rows: raise limit (to ${MOST_ROWS} at most), return fewer columns, aggregate, or go on with ORDER BY ... SKIP ${rows.length}.`;
    const columns = rows.length === 0 ? {} : { columns: Object.keys(rows[0]!) };
    return { ...columns, rows, num_tuples: rows.length, more, ...(more ? { hint } : {}) };
  },
});

/** Looked at here too, not only by the service: an admin's key must not make a model an admin. Throws `forbidden`. */
function requireAllowed({ role, effect }: Prepared, allowWrites: boolean): void {
  if (role === 'readonly') return;
  if (effect === 'transaction') {
    throw refusal(
      'invalid_statement',
      'Each statement is a transaction of its own here; leave BEGIN, COMMIT and ROLLBACK out.',
    );
  }
  if (role === 'admin') {
    throw refusal(
      'forbidden',
      'Statements that define tables, columns and indexes, and COPY, are not run here; take hedgerow query for them.',
    );
  }
  if (!allowWrites) {
    throw refusal(
      'forbidden',
      'This statement writes, and writes are off; hedgerow mcp --allow-writes with a readwrite key turns them on.',
    );
  }
}

const MORE_ROWS = 'There are more rows: call again with next_cursor as cursor.';

interface Page {
  table: string;
  hyperedges: readonly object[];
  next_cursor: string | null;
}

function pageOf<T extends Page>(page: T, table: string | undefined): object {
  const { hyperedges, next_cursor } = page;
  if (next_cursor !== null) return { ...page, hint: MORE_ROWS };
  if (hyperedges.length > 0 || table !== undefined) return page;
  return { ...page, hint: `No table was named, so ${page.table} was looked at; list_tables shows those there are.` };
}

const range = tool({
  name: 'range',
  title: 'Edges of a time window',
  description:
    'Hyperedges of a table between two times, both inclusive, ordered by time; in pages. Times of the answer are epoch seconds (UTC).',
  input: object({
    table: someTable(),
    start_ts: moment('Beginning of the window.'),
    end_ts: moment('End of the window, itself within it.'),
    limit: rowLimit('edges'),
    cursor: cursor(),
  }),
  run: async ({ limit, table, cursor, ...window }, { client }, signal) => {
    const asked = { table, cursor, ...(windowOf(window) as { start_ts: number; end_ts: number }) };
    const page = await fittingPage(limit, (rows) => client.hyperedges.range({ ...asked, limit: rows }, { signal }));
    return pageOf(page, table);
  },
});

const node = tool({
  name: 'node',
  title: 'Edges of a node',
  description:
    'Hyperedges that hold a node, ordered by time, of all times or of a window; in pages. Nodes have no record of their own: a node is an integer that stands in members.',
  input: object({
    node_id: described(integer(), 'The node: an integer as it stands in members.'),
    table: someTable(),
    start_ts: v.optional(moment('Default: no bound.')),
    end_ts: v.optional(moment('Itself within the window. Default: no bound.')),
    limit: rowLimit('edges'),
    cursor: cursor(),
  }),
  run: async ({ node_id, limit, table, cursor, ...window }, { client }, signal) => {
    const asked = { table, cursor, ...windowOf(window) };
    const page = await fittingPage(limit, (rows) =>
      client.hyperedges.node(node_id, { ...asked, limit: rows }, { signal }),
    );
    return pageOf(page, table);
  },
});

const insert = tool({
  name: 'insert',
  title: 'Insert edges',
  description:
    'Insert hyperedges into a table, all or none. Properties of user columns stand beside the other fields. event_ts is in epoch seconds. What is inserted twice stands there twice.',
  writes: true,
  input: object({
    table: someTable(),
    edges: v.pipe(
      v.array(edgeBody, 'must be an array of edges'),
      v.minLength(1, 'must hold an edge at least'),
      v.maxLength(MOST_ROWS, `must hold at most ${MOST_ROWS} edges`),
    ),
  }),
  run: ({ table, edges }, { client }, signal) => client.hyperedges.insertMany(edges, table, { signal }),
});

export const ROW_TOOLS: readonly Tool[] = [query, range, node, insert];
