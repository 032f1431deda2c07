// Defines the tools that describe the database: all tables, one table, stored rules.

import type { HedgerowClient, Table } from '../../client/index.ts';
import { integer, text, v } from '../../http/schema.ts';
import { builtInColumns } from '../../model/columns.ts';
import { DESCRIBED_FIELDS } from '../../model/options.ts';
import { NAME_COLUMN, NODES_SUFFIX } from '../import/targets/target.ts';
import { object, oneTable } from './arguments.ts';
import { fitting } from './bounded.ts';
import { holdsNames, NodeNames } from './names.ts';
import { answer, columns, edge, hint, namesPlace, seconds, time } from './outputs.ts';
import { membersOf, shownEdge, timeText } from './shown.ts';
import { type Tool, tool } from './tool.ts';

const SAMPLE_ROWS = 3;

const listTables = tool({
  name: 'list_tables',
  title: 'List tables',
  description:
    'All tables of the database with their columns and row counts. A row is a hyperedge: a moment (event_ts, epoch seconds), the set of nodes it joins (members) and properties. If nodes is "named", members are keys of nodes, as in \'Ada\' IN e.members; member_tables are then the node tables, which list_node_tables describes and list_nodes reads. Otherwise members are numbers, and names_in is the table with their names; null if no names are stored. roles are what members can be in an edge; intervals is true if edges have an end (end_ts), and then range and node take at.',
  input: object({}),
  output: answer({
    tables: v.array(
      v.strictObject({
        name: text(),
        row_count: integer(),
        columns,
        primary: v.boolean(),
        nodes: v.picklist(['named', 'numbers']),
        member_tables: v.array(text()),
        roles: v.array(text()),
        intervals: v.boolean(),
        names_in: v.nullable(text()),
      }),
    ),
    hint: hint(),
  }),
  run: async (_input, { client }, signal) => {
    const tables = await client.tables.list({ signal });
    const nameTables = new Map(tables.filter(holdsNames).map(({ name }) => [name.toLowerCase(), name]));
    const shown = fitting(
      tables.map(({ name, row_count, columns, primary, nodes, member_tables, roles, intervals }) => ({
        name,
        row_count,
        columns: columns.map((column) => ({ name: column.name, type: column.type })),
        primary,
        nodes,
        member_tables,
        roles,
        intervals,
        names_in: nameTables.get(`${name}${NODES_SUFFIX}`.toLowerCase()) ?? null,
      })),
    );
    const left = tables.length - shown.length;
    return { tables: shown, ...(left > 0 ? { hint: `${left} more tables: SHOW TABLES with query.` } : {}) };
  },
});

/** Returns the table with its indexes, first and last time, table of names, and some rows. */
export async function descriptionOf(client: HedgerowClient, given: string, signal: AbortSignal): Promise<object> {
  const table: Table = await client.tables.get(given, { signal });
  const { name, row_count, columns, primary, nodes, member_tables, roles, intervals } = table;
  const indexes = await client.indexes.list(name, { signal });
  const times = await client.query.run(
    `MATCH (e:\`${name}\`) RETURN MIN(e.event_ts) AS first_ts, MAX(e.event_ts) AS last_ts`,
    {},
    { signal },
  );
  const sample = await client.query.run(`MATCH (e:\`${name}\`) RETURN * LIMIT ${SAMPLE_ROWS}`, {}, { signal });
  const { first_ts, last_ts } = times.rows[0]!;
  const names = await NodeNames.open(client, name, signal);
  const byNumber = await names.namesOf(membersOf(sample.rows));
  return {
    name,
    row_count,
    columns: columns.map((column) => ({ name: column.name, type: column.type })),
    built_in_columns: [
      ...KEYS,
      ...builtInColumns(table.intervals).map((column) => ({ name: column.name, type: column.type })),
    ],
    indexes: indexes.map((index) => ('kind' in index ? `text (${index.columns.join(', ')})` : index.column)),
    primary,
    nodes,
    member_tables,
    roles,
    intervals,
    ...described(table),
    first_ts,
    first_time: timeText(first_ts),
    last_ts,
    last_time: timeText(last_ts),
    names: names.table === undefined ? null : await placeOf(client, names.table, signal),
    sample: fitting(sample.rows.map((row) => shownEdge(row, byNumber))),
    ...hintFor(names),
  };
}

async function placeOf(client: HedgerowClient, table: string, signal: AbortSignal): Promise<object> {
  const { name, row_count } = await client.tables.get(table, { signal });
  return { table: name, column: NAME_COLUMN, count: row_count };
}

function hintFor({ of, table, kinds }: NodeNames): { hint?: string } {
  if (kinds !== undefined)
    return {
      hint: `Members are keys of nodes of ${kinds.join(', ')}: node, insert and run_measure take them, read_node and list_nodes show their attributes. In a statement: ${kinds.length === 1 ? "'key' IN e.members" : `node(${kinds[0]}, 'key') IN e.members`}; MATCH (n:${kinds[0]}) RETURN * LIMIT 20 shows nodes with their attributes.`,
    };
  return table === undefined ? {} : { hint: namesHint(of, table) };
}

function namesHint(table: string, names: string): string {
  return `Nodes have names: node, insert, reason, ask and run_measure accept them. In a statement: MATCH (e:${table}), (n:${names}) WHERE n.${NAME_COLUMN} = 'name' AND shared(e, n) >= 1 RETURN e.event_ts, e.members.`;
}

const KEYS = [
  { name: 'id', type: 'INTEGER' },
  { name: 'event_ts', type: 'INTEGER' },
  { name: 'members', type: 'LIST OF INTEGER' },
];

/** Returns the options that the description of a table shows. */
function described(table: Table): Record<string, number> {
  return Object.fromEntries(DESCRIBED_FIELDS.map((field) => [field, table[field]]));
}

const DESCRIBED_OPTIONS = Object.fromEntries(DESCRIBED_FIELDS.map((field) => [field, integer()]));

const describeTable = tool({
  name: 'describe_table',
  title: 'Describe a table',
  description:
    'Columns, indexes, row count, first and last time of one table, where the names of its nodes are, and a few of its rows. Look here before you write a statement: it names the columns and shows what values look like.',
  input: object({ table: oneTable() }),
  output: answer({
    name: text(),
    row_count: integer(),
    columns,
    built_in_columns: columns,
    indexes: v.array(text()),
    primary: v.boolean(),
    nodes: v.picklist(['named', 'numbers']),
    member_tables: v.array(text()),
    roles: v.array(text()),
    intervals: v.boolean(),
    ...DESCRIBED_OPTIONS,
    first_ts: v.nullable(seconds()),
    first_time: time(),
    last_ts: v.nullable(seconds()),
    last_time: time(),
    names: v.nullable(namesPlace),
    sample: v.array(edge),
    hint: hint(),
  }),
  run: ({ table }, { client }, signal) => descriptionOf(client, table, signal),
});

const listRules = tool({
  name: 'list_rules',
  title: 'List rules',
  description:
    'The stored rules, from which reason derives facts. "?Name" is a variable; a rule holds when everything under "if" does.',
  input: object({}),
  output: answer({
    rules: v.array(
      v.looseObject({
        id: text(),
        name: v.optional(v.nullable(text())),
        enabled: v.boolean(),
        if: v.array(v.union([v.looseObject({}), text()])),
        then: v.looseObject({}),
      }),
    ),
    hint: hint(),
  }),
  run: async (_input, { client }, signal) => {
    const { rules } = await client.rules.list({ signal });
    const shown = fitting(rules);
    const whole = await Promise.all(shown.slice(0, MOST_RULES).map(({ id }) => client.rules.get(id, { signal })));
    const fit = fitting(
      whole.map((rule) => {
        const { version, stratum, ...kept } = rule as typeof rule & { version?: number; stratum?: number };
        return kept;
      }),
    );
    const left = rules.length - fit.length;
    return { rules: fit, ...(left > 0 ? { hint: `${left} more rules are stored.` } : {}) };
  },
});

const MOST_RULES = 50;

export const TABLE_TOOLS: readonly Tool[] = [listTables, describeTable, listRules];
