// Defines the tools for nodes of node tables: their tables, their attributes, and writes.

import { HedgerowApiError, type HedgerowClient, type NodeTable } from '../../client/index.ts';
import { HedgerowError, refusal } from '../../errors.ts';
import { described, integer, tableName, text, v } from '../../http/schema.ts';
import { cursor, MOST_ROWS, object, rowLimit } from './arguments.ts';
import { fitting, fittingPage } from './bounded.ts';
import { answer, columns, hint, row } from './outputs.ts';
import { type Tool, tool } from './tool.ts';

type Key = string | number;

const nodeTable = () => described(tableName(), 'Name of the node table, as listed by list_node_tables.');
const KEY_MESSAGE = 'must be a key: a text or an integer';
const givenKey = () =>
  described(v.union([text(), integer()], KEY_MESSAGE), 'Key of the node, exactly as it is stored, with its case.');
const attributes = () => described(v.record(text(), v.unknown(), 'must be an object'), 'Values by column name.');
const shownKey = () => described(v.union([text(), integer()]), 'Key of the node, which is its name.');
const shownNode = () => described(row, 'The key and the attributes, by column name; null where there is no value.');

const listNodeTables = tool({
  name: 'list_node_tables',
  title: 'List node tables',
  description:
    'The node tables of the database: the kinds of named nodes. Each has a key, which is the name of a node and what members of edges show, and columns with attributes. member_of lists the tables whose edges have these nodes as members. read_node reads a node by key, list_nodes finds nodes.',
  input: object({}),
  output: answer({
    node_tables: v.array(
      v.strictObject({
        name: text(),
        key: described(v.strictObject({ name: text(), type: text() }), 'Column with the keys.'),
        columns: described(columns, 'The attributes.'),
        row_count: described(integer(), 'Number of nodes.'),
        member_of: described(v.array(text()), 'Tables of edges whose members are nodes of this table.'),
      }),
    ),
    hint: hint(),
  }),
  run: async (_input, { client }, signal) => {
    const tables = await client.nodeTables.list({ signal });
    const named = (await client.tables.list({ signal })).filter(({ nodes }) => nodes === 'named');
    const shown = fitting(
      tables.map(({ name, key, columns, row_count }) => ({
        name,
        key: { name: key.name, type: key.type },
        columns: columns.map((column) => ({ name: column.name, type: column.type })),
        row_count,
        member_of: named.filter((table) => table.member_tables.some((one) => isSame(one, name))).map((one) => one.name),
      })),
    );
    const left = tables.length - shown.length;
    return { node_tables: shown, ...hintFor(tables.length, left) };
  },
});

function hintFor(count: number, left: number): { hint?: string } {
  if (count === 0)
    return { hint: 'There are no node tables: nodes are numbers. list_tables shows where names of numbers are kept.' };
  return left > 0 ? { hint: `${left} more node tables: SHOW NODE TABLES with query.` } : {};
}

const readNode = tool({
  name: 'read_node',
  title: 'Read a node',
  description:
    'One node of a node table by its key: its attributes. The tool node has its edges. Keys are compared exactly; list_nodes with contains finds a key of which you know a part.',
  input: object({ table: nodeTable(), key: givenKey() }),
  output: answer({ table: text(), key: shownKey(), node: shownNode() }),
  run: async ({ table, key }, { client }, signal) => {
    const found = await tableNamed(client, table, signal);
    const node = await withAdvice(found, key, () => client.nodes.get(found.name, key, { signal }));
    return { table: found.name, key: node[found.key.name] as Key, node };
  },
});

const listNodes = tool({
  name: 'list_nodes',
  title: 'List or find nodes',
  description:
    'Nodes of a node table with their attributes, in pages and ordered by key. contains keeps those whose key contains a text (case matters), where those with these values of attributes, as in {"city": "Rome"}; other conditions are written as a statement for query: MATCH (p:Person) WHERE p.born > 1900 RETURN *.',
  input: object({
    table: nodeTable(),
    contains: v.optional(described(text(), 'Part of the key; only for keys that are texts.')),
    where: v.optional(attributes()),
    limit: rowLimit('nodes'),
    cursor: cursor(),
  }),
  output: answer({
    table: text(),
    key: described(text(), 'Name of the column with the key, which is the name of a node.'),
    nodes: described(v.array(shownNode()), 'Ordered by key.'),
    num_tuples: described(integer(), 'Number of nodes in this answer.'),
    next_cursor: described(v.nullable(text()), 'Cursor for the next page; null if this is the last page.'),
    hint: hint(),
  }),
  run: async ({ table, contains, where = {}, limit, cursor }, { client }, signal) => {
    const found = await tableNamed(client, table, signal);
    const isAll = contains === undefined && Object.keys(where).length === 0;
    return fittingPage(limit, async (rows) => {
      const page = isAll
        ? await client.nodes.list(found.name, { limit: rows, cursor }, { signal })
        : await foundNodes(client, found, { contains, where, after: cursor, limit: rows }, signal);
      const { nodes, next_cursor } = page;
      const more = next_cursor === null ? {} : { hint: 'There are more nodes: call again with next_cursor as cursor.' };
      return { table: found.name, key: found.key.name, nodes, num_tuples: nodes.length, next_cursor, ...more };
    });
  },
});

interface Search {
  readonly contains: string | undefined;
  readonly where: Readonly<Record<string, unknown>>;
  /** Cursor of the page before: its last key as JSON. */
  readonly after: string | undefined;
  readonly limit: number;
}

/** Finds nodes by a statement. Its pages go on after the last key, so they are no snapshot. */
async function foundNodes(
  client: HedgerowClient,
  { name, key, columns }: NodeTable,
  { contains, where, after, limit }: Search,
  signal: AbortSignal,
): Promise<{ nodes: Record<string, unknown>[]; next_cursor: string | null }> {
  const keyColumn = `n.\`${key.name}\``;
  const conditions: string[] = [];
  const parameters: Record<string, unknown> = {};
  const add = (condition: string, value: unknown): void => {
    const parameter = `v${conditions.length}`;
    parameters[parameter] = value;
    conditions.push(condition.replace('?', `$${parameter}`));
  };
  if (contains !== undefined) {
    if (key.type !== 'TEXT')
      throw refusal('invalid_input', `The keys of ${name} are integers, so contains does not apply; leave it out.`);
    add(`${keyColumn} CONTAINS ?`, contains);
  }
  for (const [given, value] of Object.entries(where)) {
    const column = [key, ...columns].find((one) => isSame(one.name, given));
    if (column === undefined)
      throw refusal(
        'unknown_column',
        `where names ${JSON.stringify(given.slice(0, 100))}, but the columns of ${name} are ${[key, ...columns].map((one) => one.name).join(', ')}.`,
      );
    if (value === null) conditions.push(`n.\`${column.name}\` IS NULL`);
    else add(`n.\`${column.name}\` = ?`, value);
  }
  if (after !== undefined) add(`${keyColumn} > ?`, keyOfCursor(after));
  const statement = `MATCH (n:\`${name}\`) WHERE ${conditions.join(' AND ')} RETURN * ORDER BY ${keyColumn} LIMIT ${limit + 1}`;
  const { rows } = await client.query.run(statement, parameters as Parameters<typeof client.query.run>[1], { signal });
  const nodes = rows.slice(0, limit) as Record<string, unknown>[];
  const next_cursor = rows.length > limit ? JSON.stringify(nodes.at(-1)![key.name]) : null;
  return { nodes, next_cursor };
}

/** Throws `invalid_input` for a text that is no cursor of found nodes. */
function keyOfCursor(cursor: string): Key {
  try {
    const key: unknown = JSON.parse(cursor);
    if (typeof key === 'string' || Number.isSafeInteger(key)) return key as Key;
  } catch {
    // The same answer as for a value of another type.
  }
  throw refusal('invalid_input', 'cursor is not a next_cursor of the same search; start again without it.');
}

const WRITTEN =
  'Nodes that edges name by a new key are created by insert; a node needs no write of its own unless it has attributes.';

const writeNodes = tool({
  name: 'write_nodes',
  title: 'Write nodes',
  description: `Insert nodes into a node table, or replace those whose keys exist, all or none. Attributes that are left out or null get their defaults, also in a node that is replaced: update_node changes some attributes and keeps the others. ${WRITTEN}`,
  writes: true,
  destroys: true,
  input: object({
    table: nodeTable(),
    nodes: v.pipe(
      v.array(attributes(), 'must be an array of nodes'),
      v.minLength(1, 'must hold at least one node'),
      v.maxLength(MOST_ROWS, `must hold at most ${MOST_ROWS} nodes`),
      v.description('Each an object with the key and attributes by column name, as in {"name": "Ada", "born": 1815}.'),
    ),
  }),
  output: answer({
    table: text(),
    keys: described(v.array(v.union([text(), integer()])), 'Keys of the nodes, which are their names, as given.'),
    inserted: described(integer(), 'Number of new nodes.'),
    replaced: integer(),
  }),
  run: async ({ table, nodes }, { client }, signal) => {
    const { name, key } = await tableNamed(client, table, signal);
    const { inserted, replaced } = await client.nodes.writeMany(
      name,
      nodes as Parameters<typeof client.nodes.write>[1][],
      {
        signal,
      },
    );
    const keyOf = (node: Record<string, unknown>) =>
      Object.entries(node).find(([column]) => isSame(column, key.name))![1] as Key;
    return { table: name, keys: fitting(nodes.map(keyOf)), inserted, replaced };
  },
});

const updateNode = tool({
  name: 'update_node',
  title: 'Change a node',
  description: 'Change some attributes of a node and keep the others; null clears one. The key cannot be changed.',
  writes: true,
  destroys: true,
  input: object({ table: nodeTable(), key: givenKey(), attributes: attributes() }),
  output: answer({ table: text(), key: shownKey(), node: shownNode() }),
  run: async ({ table, key, attributes }, { client }, signal) => {
    const found = await tableNamed(client, table, signal);
    const given = attributes as Parameters<typeof client.nodes.patch>[2];
    const node = await withAdvice(found, key, () => client.nodes.patch(found.name, key, given, { signal }));
    return { table: found.name, key: node[found.key.name] as Key, node };
  },
});

const deleteNode = tool({
  name: 'delete_node',
  title: 'Delete a node',
  description:
    "Delete a node that is a member of no edge. While edges have it, delete those first: query with DELETE FROM meetings WHERE 'Ada' IN members.",
  writes: true,
  destroys: true,
  input: object({ table: nodeTable(), key: givenKey() }),
  output: answer({ table: text(), key: shownKey(), deleted: v.boolean() }),
  run: async ({ table, key }, { client }, signal) => {
    const found = await tableNamed(client, table, signal);
    const { deleted } = await withAdvice(found, key, () => client.nodes.delete(found.name, key, { signal }));
    return { table: found.name, key, deleted };
  },
});

/** Returns the node table. Throws `table_not_found`, which lists the node tables. */
async function tableNamed(client: HedgerowClient, given: string, signal: AbortSignal): Promise<NodeTable> {
  const tables = await client.nodeTables.list({ signal });
  const found = tables.find(({ name }) => isSame(name, given));
  if (found !== undefined) return found;
  const known =
    tables.length === 0
      ? 'there is none: list_tables lists the tables of edges'
      : `there are ${tables
          .slice(0, 20)
          .map(({ name }) => name)
          .join(', ')}`;
  throw new HedgerowError(
    'table_not_found',
    `There is no node table ${JSON.stringify(given.slice(0, 100))}; ${known}.`,
  );
}

/** Adds to the errors of a call on one node what can be done. */
async function withAdvice<T>({ name, key: column }: NodeTable, key: Key, call: () => Promise<T>): Promise<T> {
  if (key === '.' || key === '..')
    throw refusal(
      'invalid_input',
      `No request can name the key ${JSON.stringify(key)}. Take query: MATCH (n:${name}) WHERE n.${column.name} = '${key}' RETURN *; write_nodes takes it too.`,
    );
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof HedgerowApiError)) throw error;
    if (error.code !== 'node_not_found') throw error;
    throw new HedgerowError(
      'node_not_found',
      `${error.message} Keys are compared exactly: list_nodes finds them, with contains by a part of the key.`,
    );
  }
}

function isSame(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

export const NODE_TOOLS: readonly Tool[] = [listNodeTables, readNode, listNodes, writeNodes, updateNode, deleteNode];
