// Tools that read and write rows: statements, time windows, the edges of a node, inserts.

import type { QueryRow } from '../../client/index.ts';
import { refusal } from '../../errors.ts';
import { described, integer, text, v } from '../../http/schema.ts';
import { type Prepared, prepareText } from '../../query/prepare.ts';
import { edgeBody } from '../../routes/schemas/edges.ts';
import { cursor, MOST_ROWS, object, rowLimit, seconds, someTable } from './arguments.ts';
import { firstOf, fittingPage } from './bounded.ts';
import { type Tool, tool } from './tool.ts';

const query = tool({
  name: 'query',
  title: 'Run a statement',
  description: `Run one statement and get its rows. Examples:
MATCH (e:meetings) WHERE 7 IN e.members AND e.event_ts BETWEEN 1704067200 AND 1704153599 RETURN e.event_ts, e.members ORDER BY e.event_ts LIMIT 20
MATCH (a:meetings), (b:meetings) WHERE follows(b, a, 3600) AND shared(a, b) >= 1 RETURN a.id, b.id LIMIT 20
MATCH (e:meetings) RETURN e.formation, COUNT(*) AS n ORDER BY n DESC
SHOW TABLES; EXPLAIN <statement>. Functions: size(e.members), bucket(e), shared, intersects, overlaps(a, b, seconds), follows(b, a, seconds). Values go into parameters as $name.`,
  input: object({
    statement: described(text(), 'One statement.'),
    parameters: v.optional(
      described(
        v.record(v.string(), v.unknown()),
        'Values of the $names: numbers, texts, booleans, nulls, lists of these.',
      ),
      {},
    ),
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
    const hint = `There are more rows: ask for fewer columns, aggregate, or go on with ORDER BY ... SKIP ${rows.length}.`;
    return { columns: Object.keys(rows[0] ?? {}), rows, num_tuples: rows.length, more, ...(more ? { hint } : {}) };
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

function pageOf<T extends { hyperedges: readonly object[]; next_cursor: string | null }>(page: T): object {
  return page.next_cursor === null ? page : { ...page, hint: MORE_ROWS };
}

const range = tool({
  name: 'range',
  title: 'Edges of a time window',
  description: 'Hyperedges of a table between two times, both inclusive, ordered by time; in pages.',
  input: object({
    table: someTable(),
    start_ts: seconds('First second of the window (epoch).'),
    end_ts: seconds('Last second of the window (epoch).'),
    limit: rowLimit('edges'),
    cursor: cursor(),
  }),
  run: async ({ limit, ...asked }, { client }, signal) =>
    pageOf(await fittingPage(limit, (rows) => client.hyperedges.range({ ...asked, limit: rows }, { signal }))),
});

const node = tool({
  name: 'node',
  title: 'Edges of a node',
  description: 'Hyperedges that hold a node, ordered by time, of all times or of a window; in pages.',
  input: object({
    node_id: described(integer(), 'The node.'),
    table: someTable(),
    start_ts: v.optional(seconds('First second (epoch). Default: no bound.')),
    end_ts: v.optional(seconds('Last second (epoch). Default: no bound.')),
    limit: rowLimit('edges'),
    cursor: cursor(),
  }),
  run: async ({ node_id, limit, ...asked }, { client }, signal) =>
    pageOf(await fittingPage(limit, (rows) => client.hyperedges.node(node_id, { ...asked, limit: rows }, { signal }))),
});

const insert = tool({
  name: 'insert',
  title: 'Insert edges',
  description: 'Insert hyperedges into a table, all or none. Properties of user columns stand beside the other fields.',
  writes: true,
  input: object({
    table: someTable(),
    edges: v.pipe(
      v.array(edgeBody),
      v.minLength(1, 'must hold an edge at least'),
      v.maxLength(MOST_ROWS, `must hold at most ${MOST_ROWS} edges`),
    ),
  }),
  run: ({ table, edges }, { client }, signal) => client.hyperedges.insertMany(edges, table, { signal }),
});

export const ROW_TOOLS: readonly Tool[] = [query, range, node, insert];
