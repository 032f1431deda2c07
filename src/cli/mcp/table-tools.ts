// Tools that say what is there: tables, one table, stored rules.

import type { HedgerowClient, Table } from '../../client/index.ts';
import { object, oneTable } from './arguments.ts';
import { fitting } from './bounded.ts';
import { type Tool, tool } from './tool.ts';

const SAMPLE_ROWS = 3;

const listTables = tool({
  name: 'list_tables',
  title: 'List tables',
  description:
    'All tables of the database with their columns and row counts. A row is a hyperedge: a moment (event_ts, epoch seconds), the set of nodes it joins (members, integers) and properties.',
  input: object({}),
  run: async (_input, { client }, signal) => {
    const tables = await client.tables.list({ signal });
    const shown = fitting(tables);
    return {
      tables: shown,
      ...(shown.length < tables.length
        ? { hint: `${tables.length - shown.length} more tables: SHOW TABLES with query.` }
        : {}),
    };
  },
});

/** The table with its indexes, first and last time, and some rows. */
export async function descriptionOf(client: HedgerowClient, name: string, signal: AbortSignal): Promise<object> {
  const table: Table = await client.tables.get(name, { signal });
  const indexes = await client.indexes.list(table.name, { signal });
  const times = await client.query.run(
    `MATCH (e:\`${table.name}\`) RETURN MIN(e.event_ts) AS first_ts, MAX(e.event_ts) AS last_ts`,
    {},
    { signal },
  );
  const sample = await client.query.run(`MATCH (e:\`${table.name}\`) RETURN * LIMIT ${SAMPLE_ROWS}`, {}, { signal });
  const { first_ts, last_ts } = times.rows[0]!;
  return {
    ...table,
    built_in_columns: BUILT_IN,
    indexes: indexes.map(({ column }) => column),
    first_ts,
    first_time: timeText(first_ts),
    last_ts,
    last_time: timeText(last_ts),
    sample: fitting(sample.rows),
  };
}

/** Null: there is none, or none that the calendar knows. */
function timeText(seconds: unknown): string | null {
  const date = new Date(typeof seconds === 'number' ? seconds * 1000 : Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date.toISOString().replace('.000Z', 'Z');
}

const BUILT_IN = [
  { name: 'id', type: 'INTEGER' },
  { name: 'event_ts', type: 'INTEGER' },
  { name: 'members', type: 'LIST OF INTEGER' },
  { name: 'weight', type: 'REAL' },
  { name: 'mean_dist_m', type: 'REAL' },
  { name: 'formation', type: 'TEXT' },
];

const describeTable = tool({
  name: 'describe_table',
  title: 'Describe a table',
  description:
    'Columns, indexes, row count, first and last time of one table, and a few of its rows. Look here before you write a statement: it names the columns and shows what values look like.',
  input: object({ table: oneTable() }),
  run: ({ table }, { client }, signal) => descriptionOf(client, table, signal),
});

const listRules = tool({
  name: 'list_rules',
  title: 'List rules',
  description:
    'The stored rules, from which reason derives facts. "?Name" is a variable; a rule holds when everything under "if" does.',
  input: object({}),
  run: async (_input, { client }, signal) => {
    const { rules } = await client.rules.list({ signal });
    const shown = fitting(rules);
    const whole = await Promise.all(shown.slice(0, MOST_RULES).map(({ id }) => client.rules.get(id, { signal })));
    const fit = fitting(whole);
    const left = rules.length - fit.length;
    return { rules: fit, ...(left > 0 ? { hint: `${left} more rules are stored.` } : {}) };
  },
});

const MOST_RULES = 50;

export const TABLE_TOOLS: readonly Tool[] = [listTables, describeTable, listRules];
