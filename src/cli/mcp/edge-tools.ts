// Defines the tools that read edges in pages: those of a time window and those of a node.

import { refusal } from '../../errors.ts';
import { described, integer, text, v } from '../../http/schema.ts';
import { bound, cursor, givenNode, moment, object, rowLimit, secondsOf, someTable, windowOf } from './arguments.ts';
import { fittingPage } from './bounded.ts';
import { type GivenNode, NodeNames } from './names.ts';
import { answer, edge, hint } from './outputs.ts';
import { membersOf, shownEdge } from './shown.ts';
import { type Tool, tool } from './tool.ts';

const MORE_ROWS = 'There are more rows: call again with next_cursor as cursor.';

interface Page {
  table: string;
  hyperedges: readonly object[];
  num_tuples: number;
  next_cursor: string | null;
}

const pageEntries = {
  table: text(),
  hyperedges: described(v.array(edge), 'Ordered by time.'),
  num_tuples: described(integer(), 'Number of edges in this answer.'),
  next_cursor: described(v.nullable(text()), 'Cursor for the next page; null if this is the last page.'),
  hint: hint(),
};

/** Returns the fields of a page that a model can use, with readable times and names. */
async function pageOf(page: Page, table: string | undefined, names: NodeNames): Promise<Page & { hint?: string }> {
  const { hyperedges, num_tuples, next_cursor } = page;
  const byNumber = await names.namesOf(membersOf(hyperedges));
  const shown = {
    table: page.table,
    hyperedges: hyperedges.map((one) => shownEdge(one, byNumber)),
    num_tuples,
    next_cursor,
  };
  if (next_cursor !== null) return { ...shown, hint: MORE_ROWS };
  if (hyperedges.length > 0 || table !== undefined) return shown;
  return { ...shown, hint: `No table was named, so ${page.table} was looked at; list_tables lists all tables.` };
}

const heldAt = () =>
  v.optional(moment('Tables with intervals: only edges that hold at this time (begun by then, end_ts later or null).'));

function heldOf(at: number | string | undefined): { at?: number } {
  return at === undefined ? {} : { at: secondsOf(at, 'at', 'first') };
}

const range = tool({
  name: 'range',
  title: 'Edges of a time window',
  description:
    'Hyperedges of a table between two times, both inclusive, in pages and ordered by time. Each has its time in epoch seconds (event_ts) and as UTC text (time), and names beside members if names of nodes are stored.',
  input: object({
    table: someTable(),
    start_ts: v.optional(bound('Beginning of the window. Needed unless at is given.')),
    end_ts: v.optional(bound('End of the window, inclusive. Needed unless at is given.')),
    at: heldAt(),
    limit: rowLimit('edges'),
    cursor: cursor(),
  }),
  output: answer(pageEntries),
  run: async ({ limit, table, cursor, at, ...window }, { client }, signal) => {
    const bounds = { ...windowOf(window), ...heldOf(at) };
    // The server refuses a window without both ends.
    const asked = { table, cursor, ...(bounds as { start_ts: number; end_ts: number }) };
    const names = await NodeNames.open(client, table, signal);
    return fittingPage(limit, async (rows) =>
      pageOf(await client.hyperedges.range({ ...asked, limit: rows }, { signal }), table, names),
    );
  },
});

const node = tool({
  name: 'node',
  title: 'Edges of a node',
  description:
    'Hyperedges that contain a node, in pages and ordered by time, over all times or in a window. Where list_tables shows nodes "named", the node is a key, as in members and in list_nodes, and needs kind if member_tables names several node tables. Elsewhere it is a number or, where list_tables shows names_in for the table, a name. The answer repeats the node and shows members by key or with their names. read_node has the attributes of a node.',
  input: object({
    node: v.optional(givenNode('The node: its key in a table of named nodes, else its number or its name.')),
    node_id: v.optional(givenNode('The same as node, under its earlier name.')),
    kind: v.optional(
      described(text(), 'Node table of the node, in a table whose members are of several kinds (member_tables).'),
    ),
    table: someTable(),
    role: v.optional(
      described(text(), 'Only edges in which the node has this role (list_tables shows the roles of a table).'),
    ),
    start_ts: v.optional(bound('Default: no bound.')),
    end_ts: v.optional(bound('Inclusive. Default: no bound.')),
    at: heldAt(),
    limit: rowLimit('edges'),
    cursor: cursor(),
  }),
  output: answer({
    node: described(v.union([integer(), text()]), 'The key or the number that was looked up.'),
    node_id: v.union([integer(), text()]),
    kind: described(v.nullable(text()), 'Node table of the node; null in a table of numbers.'),
    name: described(
      v.nullable(text()),
      'In a table of named nodes the key; elsewhere the stored name, null if there is none.',
    ),
    ...pageEntries,
  }),
  run: async ({ node, node_id, kind, limit, table, role, cursor, at, ...window }, { client }, signal) => {
    const given = oneNode(node, node_id);
    const names = await NodeNames.open(client, table, signal);
    const kindName = kindOf(kind, names);
    const looked = await names.nodeOf(given);
    const unreachable = names.kinds !== undefined && (looked === '.' || looked === '..');
    if (unreachable) throw refusal('invalid_input', dotsText(looked, kindName!, names.of));
    const name = kindName === undefined ? (await names.namesOf([looked])).get(looked as number) : String(looked);
    const asked = { table, kind: kindName, role, cursor, ...windowOf(window), ...heldOf(at) };
    const shown = { node: looked, node_id: looked, kind: kindName ?? null, name: name ?? null };
    return fittingPage(limit, async (rows) => {
      const page = await pageOf(
        await client.hyperedges.node(looked, { ...asked, limit: rows }, { signal }),
        table,
        names,
      );
      const isUnknown = page.num_tuples === 0 && cursor === undefined && kindName !== undefined;
      return { ...shown, ...page, ...(isUnknown ? { hint: noEdges(looked, kindName, page.hint) } : {}) };
    });
  },
});

/** Returns the node that one of the two arguments names. Throws `invalid_input`. */
function oneNode(node: GivenNode | undefined, nodeId: GivenNode | undefined): GivenNode {
  const given = node ?? nodeId;
  if (given === undefined)
    throw refusal('invalid_input', 'node is missing: give the key of the node, or its number or name.', {
      errors: [{ loc: ['arguments', 'node'], msg: 'is missing' }],
    });
  if (nodeId !== undefined && nodeId !== given)
    throw refusal('invalid_input', 'node and node_id name different nodes; leave node_id out.');
  return given;
}

/** Returns the node table of the node; undefined in a table of numbers. Throws `invalid_input`. */
function kindOf(given: string | undefined, { of, kinds }: NodeNames): string | undefined {
  if (kinds === undefined) {
    if (given === undefined) return undefined;
    throw refusal('invalid_input', `Nodes of ${of} are numbers, which have no kind; leave kind out.`);
  }
  if (given === undefined && kinds.length === 1) return kinds[0];
  const found = kinds.find((kind) => kind.toLowerCase() === given?.toLowerCase());
  if (found !== undefined) return found;
  const what =
    given === undefined ? 'say in kind which the node is' : `kind cannot be ${JSON.stringify(given.slice(0, 100))}`;
  throw refusal('invalid_input', `The members of ${of} are nodes of ${kinds.join(', ')}: ${what}.`);
}

/** No URL, and so no request, can contain these keys. */
function dotsText(key: GivenNode, kind: string, table: string): string {
  return `No request can name the key ${JSON.stringify(key)}. Take query: MATCH (e:${table}) WHERE node(${kind}, '${key}') IN e.members RETURN *.`;
}

function noEdges(key: GivenNode, kind: string, hint: string | undefined): string {
  const advice = `No such edges. Keys are compared exactly: list_nodes with table ${kind} and contains finds keys like ${JSON.stringify(String(key).slice(0, 100))}.`;
  return hint === undefined ? advice : `${advice} ${hint}`;
}

export const EDGE_TOOLS: readonly Tool[] = [range, node];
