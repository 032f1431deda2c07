// Defines the tools for statements and for inserts of edges.

import type { HedgerowClient, NewHyperedge, QueryRow } from '../../client/index.ts';
import { refusal } from '../../errors.ts';
import { described, finite, integer, text, v } from '../../http/schema.ts';
import { type Prepared, prepareText } from '../../query/language.ts';
import { givenNode, MOST_ROWS, moment, object, rowLimit, secondsOf, someTable, values } from './arguments.ts';
import { firstOf } from './bounded.ts';
import { NodeNames } from './names.ts';
import { answer, hint, more, names, row } from './outputs.ts';
import { type ColumnKinds, columnKinds } from './query-columns.ts';
import { membersOf, namesObject, shownEdge, timeText } from './shown.ts';
import { type Tool, tool } from './tool.ts';

/** Explains enough for a model to write statements without having seen the language before. */
const LANGUAGE = `Run one statement of Hedgerow's own language (not SQL, not Cypher) and get its rows.
Shape: MATCH (alias:Table) [, (alias:Table) ...] [WHERE condition] RETURN [DISTINCT] items [ORDER BY item [DESC], ...] [SKIP n] [LIMIT n]
Each pattern (e:Table) is one hyperedge of that table (or one node, if it is a node table); e.event_ts, e.members, e.id, e.weight, e.formation and user columns are its fields. Items: e.column, expressions AS name, COUNT(*), COUNT(DISTINCT x), SUM, AVG, MIN, MAX, COLLECT (rows are grouped by the items without an aggregate); RETURN * gives all columns.
Conditions: = <> < <= > >=, AND, OR, NOT, IN [..], BETWEEN x AND y, IS NULL, CONTAINS, STARTS WITH, ENDS WITH, + - * / %.
Nodes are integers: 7 IN e.members; size(e.members) is how many. In a table whose member_tables are node tables, members are keys: 'Ada' IN e.members, or node(Person, 'Ada') IN e.members if they are of several kinds; a pattern (p:Person) is a node with its attributes: MATCH (p:Person), (e:calls) WHERE p IN e.members AND p.city = 'Rome' RETURN p.name, COUNT(*). Names of nodes, where list_tables shows names_in: MATCH (e:meetings), (n:meetings_nodes) WHERE n.vertex = 'Ada' AND shared(e, n) >= 1; the field names of the answer gives the names of the members returned. Times are integers: e.event_ts in epoch seconds UTC, which compares with texts such as '2024-05-02' or '2024-05-02T10:00:00Z'; date(e.event_ts) is the day as a text. Texts stand in 'single quotes', comments in /* */.
Two edges together: shared(a, b) = number of common members; follows(b, a, 3600): b begins after a, at most 3600 seconds later; overlaps(a, b, 60): at most 60 seconds apart; during(a, b): a within b. In a table with intervals, holds(e, '2024-05-02') = begun and not ended at that time; e.end_ts is null while it holds; bucket(e) = time slot of the table. In a table with roles (list_tables) each role is a list of members: 5 IN e.sender. A join without such a condition is refused when it grows too large.
[NOT] EXISTS ((b:Table), ... WHERE condition) in WHERE: is there such an edge? The condition can name the aliases outside.
Examples:
MATCH (e:meetings) WHERE 7 IN e.members AND e.event_ts BETWEEN 1704067200 AND 1704153599 RETURN e.event_ts, e.members ORDER BY e.event_ts LIMIT 20
MATCH (e:meetings) RETURN e.formation, COUNT(*) AS n, AVG(size(e.members)) AS people ORDER BY n DESC
MATCH (a:meetings), (b:meetings) WHERE 7 IN a.members AND follows(b, a, 3600) AND shared(a, b) >= 2 RETURN a.id, b.id LIMIT 20
MATCH (a:meetings) WHERE NOT EXISTS ((b:meetings) WHERE shared(a, b) >= 1 AND follows(b, a, 86400)) RETURN a.id, a.members LIMIT 20
SHOW TABLES
SHOW NODE TABLES
SHOW INDEXES ON meetings
EXPLAIN <statement> shows how it would run, ANALYZE <MATCH ...> how it ran. There is no UNWIND or WITH: for what each node does, use the tool node or run_measure (node_degree). Values can go into parameters as $name.`;

const WRITING = `Statements that write are accepted too: INSERT INTO meetings (event_ts, members, formation) VALUES (1704067200, [7, 9], 'lunch'); UPDATE meetings SET formation = 'office' WHERE id = 12; DELETE FROM meetings WHERE event_ts < 1704067200. Each statement commits at once and cannot be undone. Without WHERE, UPDATE and DELETE affect every row.`;

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
  output: answer({
    columns: v.optional(described(v.array(text()), 'Names of the columns; left out if there are no rows.')),
    rows: described(v.array(row), 'Each column with a time is followed by one with the same time in ISO 8601.'),
    num_tuples: described(integer(), 'Number of rows in this answer.'),
    more: v.optional(more()),
    names: names(),
    hint: hint(),
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
    const kinds = columnKinds(prepared.statement, columns.columns ?? []);
    return {
      ...columns,
      rows: rows.map((one) => shownRow(one, kinds)),
      num_tuples: rows.length,
      more,
      ...(await namesIn(rows, kinds, client, signal)),
      ...(more ? { hint } : {}),
    };
  },
});

/**
 * Makes edges readable, and adds a column of text after each column of seconds: `time` after
 * `event_ts`, `a.time` after `a.event_ts`, `first_time` after `first`.
 */
function shownRow(one: QueryRow, { times, edges }: ColumnKinds): object {
  if (times.length === 0 && edges.length === 0) return one;
  const shown: Record<string, unknown> = {};
  for (const [column, value] of Object.entries(one)) {
    const isEdge = edges.includes(column) && typeof value === 'object' && value !== null;
    shown[column] = isEdge ? shownEdge(value, NO_NAMES) : value;
    const text = /(^|\.)event_ts$/.test(column) ? column.replace(/event_ts$/, 'time') : `${column}_time`;
    if (times.includes(column) && !(text in one)) shown[text] = timeText(value);
  }
  return shown;
}

const NO_NAMES: ReadonlyMap<number, string> = new Map();

/**
 * Returns the names of the members in the rows, from the name tables of all tables in the
 * statement.
 */
async function namesIn(
  rows: readonly QueryRow[],
  { members, edges, tables }: ColumnKinds,
  client: HedgerowClient,
  signal: AbortSignal,
): Promise<{ names?: Record<string, string> }> {
  const nodes = rows.flatMap((one) => [
    ...members.flatMap((column) => (Array.isArray(one[column]) ? (one[column] as number[]) : [])),
    ...membersOf(edges.map((column) => one[column]).filter((edge) => typeof edge === 'object' && edge !== null)),
  ]);
  const found = new Map<number, string>();
  if (nodes.length === 0) return {};
  for (const table of new Set(tables.map((name) => name.toLowerCase()))) {
    const known = await NodeNames.open(client, table, signal);
    for (const [node, name] of await known.namesOf(nodes)) if (!found.has(node)) found.set(node, name);
  }
  return found.size === 0 ? {} : { names: namesObject(found) };
}

/**
 * Throws `forbidden` or `invalid_statement` for a statement that is not allowed here. The service
 * alone cannot decide that: with an admin's key, it would let the model do what an admin may do.
 */
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
      'Statements that define tables, columns and indexes, and COPY, are not run here; use hedgerow query for them.',
    );
  }
  if (!allowWrites) {
    throw refusal(
      'forbidden',
      'This statement writes, and writes are off; hedgerow mcp --allow-writes with a readwrite key turns them on.',
    );
  }
}

const insert = tool({
  name: 'insert',
  title: 'Insert edges',
  description:
    'Insert hyperedges into a table, all or none. Values of user columns are further fields of an edge. Members of a table whose nodes are "named" (list_tables) are keys, and new keys create their nodes; in other tables they are numbers, or names that are already stored. Inserting an edge twice gives two edges.',
  writes: true,
  input: object({
    table: someTable(),
    edges: v.pipe(
      v.array(newEdge(), 'must be an array of edges'),
      v.minLength(1, 'must hold at least one edge'),
      v.maxLength(MOST_ROWS, `must hold at most ${MOST_ROWS} edges`),
    ),
  }),
  output: answer({
    table: text(),
    inserted: integer(),
    first_id: described(v.nullable(integer()), 'Id of the first inserted edge of that table.'),
    last_id: v.nullable(integer()),
    tables: v.optional(described(v.looseObject({}), 'The same facts by table, if edges named other tables.')),
  }),
  run: async ({ table, edges }, { client }, signal) => {
    // The opened names, by the name of the edge's table in lower case.
    const opened = new Map<string, NodeNames>();
    const plain: NewHyperedge[] = [];
    for (const [at, one] of edges.entries()) {
      const event_ts = secondsOf(one.event_ts, `edges[${at}].event_ts`, 'first');
      let members: unknown = one.members;
      const given = givenNodes(one.members);
      if (given.some((member) => typeof member === 'string')) {
        const place = one.table ?? table;
        const key = (place ?? '').toLowerCase();
        const names = opened.get(key) ?? (await NodeNames.open(client, place, signal));
        opened.set(key, names);
        members = withNumbers(one.members, await names.nodesOf(given));
      }
      plain.push({ ...one, event_ts, members } as NewHyperedge);
    }
    return client.hyperedges.insertMany(plain, table, { signal });
  },
});

/**
 * Returns the schema of an edge, which accepts what the service accepts, and also names of nodes
 * and ISO times.
 */
function newEdge() {
  return v.looseObject({
    event_ts: moment('Time of the edge.'),
    members: described(
      v.union(
        [
          v.pipe(v.array(givenMember(), 'must be an array of nodes'), v.minLength(1, 'must hold at least one node')),
          v.record(text(), v.array(givenNode('A node.'))),
        ],
        'must be an array of nodes or, in a table with roles, an object of such arrays',
      ),
      'Set of nodes. Keys, numbers or names; {kind, key} where a table has several kinds. In a table with roles also an object that maps roles to arrays of nodes, or items {node, role}.',
    ),
    table: v.nullish(described(text(), 'Default: the table that the call names.')),
    weight: v.nullish(finite()),
    mean_dist_m: v.nullish(finite()),
    formation: v.nullish(text()),
    properties: v.nullish(described(v.record(text(), v.unknown()), 'Values of user columns, by name.')),
  });
}

type GivenNode = number | string;
/** A member with its kind, which only named tables have, or with a role. */
type GivenItem = ({ node: GivenNode } | { kind: string; key: GivenNode }) & {
  role?: string | string[] | null | undefined;
};
type GivenMembers = (GivenNode | GivenItem)[] | Record<string, GivenNode[]>;

function givenMember() {
  const role = v.nullish(v.union([text(), v.array(text())]));
  const key = v.object({ kind: text(), key: givenNode('Key of the node.'), role });
  return v.union([givenNode('A node.'), key, v.object({ node: givenNode('A node.'), role })], 'must be a node');
}

function givenNodes(members: GivenMembers): GivenNode[] {
  if (!Array.isArray(members)) return Object.values(members).flat();
  return members.flatMap((member) => (typeof member !== 'object' ? member : 'node' in member ? member.node : []));
}

/** Returns the members with the numbers in place of the nodes, in the order of `givenNodes`. */
function withNumbers(members: GivenMembers, numbers: readonly GivenNode[]): unknown {
  let at = 0;
  if (Array.isArray(members))
    return members.map((member) => {
      if (typeof member !== 'object') return numbers[at++];
      return 'node' in member ? { ...member, node: numbers[at++] } : member;
    });
  return Object.fromEntries(Object.entries(members).map(([role, nodes]) => [role, nodes.map(() => numbers[at++])]));
}

export const ROW_TOOLS: readonly Tool[] = [query, insert];
