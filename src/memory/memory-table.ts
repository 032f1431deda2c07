// The tables in which memories are kept: their shape, how the first memory creates one, and what is
// said about a table that has another shape.

import type { Database, NamedTableInput, Table } from '../engine/index.ts';
import { HedgerowError, refusal } from '../errors.ts';
import type { ColumnType } from '../model/column-types.ts';
import { ABOUT, MEMORY_TABLE, SOURCE, SUPERSEDES, THING_KEY, THING_TABLE, WHAT, WHO } from '../model/memories.ts';

const ROLES = [WHO, ABOUT] as const;
const COLUMNS: readonly { readonly name: string; readonly type: ColumnType }[] = [
  { name: WHAT, type: 'TEXT' },
  { name: SOURCE, type: 'TEXT' },
  { name: SUPERSEDES, type: 'INTEGER' },
];

/**
 * Words are found by an index in segments, and one by one in rows that are not compacted yet, at
 * about 10 us each. So a recall looks through a few thousand of these at most.
 */
const COMPACT_THRESHOLD = 2048;

/**
 * The definition of a table that the first memory creates. Words are stemmed as English ones: an
 * agent asks where somebody "moved" about a memory that says "moves". Texts in other languages lose
 * little, because the memory and the question are stemmed alike. A table created otherwise, with a
 * text index in another language, is used as it is.
 */
function definitionOf(name: string): NamedTableInput {
  return {
    table: {
      name,
      roles: ROLES,
      intervals: true,
      columns: COLUMNS.map((column) => ({ ...column })),
      compactThreshold: COMPACT_THRESHOLD,
    },
    nodeTable: { name: THING_TABLE, key: { name: THING_KEY, type: 'TEXT' } },
    indexes: [SUPERSEDES],
    text: { columns: [WHAT], language: 'english' },
  };
}

/**
 * Returns the table of memories with a name. Throws `table_not_found`, and `invalid_input` if the
 * table has another shape.
 */
export function memoryTable(database: Database, name: string = MEMORY_TABLE): Table {
  const table = tableIfAny(database, name);
  if (table === undefined) {
    const made = 'It is created with the first thing that is remembered in it.';
    throw new HedgerowError('table_not_found', `There is no table ${JSON.stringify(name)}. ${made}`, {
      fields: { listed: 'tables' },
    });
  }
  assertShape(table);
  return table;
}

/**
 * Returns the table of memories with a name, which is created if it is missing, and whether it was
 * missing. Rejects with `invalid_input` if the name is that of a table of another shape, or is no
 * name.
 */
export async function ensureMemoryTable(
  database: Database,
  name: string = MEMORY_TABLE,
): Promise<{ readonly table: Table; readonly isNew: boolean }> {
  const known = tableIfAny(database, name);
  const table = known ?? (await database.nodes.ensureNamedTable(definitionOf(name)));
  assertShape(table);
  return { table, isNew: known === undefined };
}

/** Throws `invalid_input` if the name is that of a node table. */
function tableIfAny(database: Database, name: string): Table | undefined {
  const lower = name.toLowerCase();
  const isName = (table: Table) => table.name.toLowerCase() === lower;
  if (database.nodes.tables().some(isName)) throw wrongTable(name, 'it is a node table');
  try {
    return database.table(name);
  } catch (error) {
    if (error instanceof HedgerowError && error.code === 'table_not_found') return undefined;
    throw error;
  }
}

function assertShape(table: Table): void {
  const missing = missingIn(table);
  if (missing.length > 0) throw wrongTable(table.name, `it has no ${missing.join(', no ')}`);
}

/** Returns what a table would need to hold memories, as phrases that follow "no". */
function missingIn({ kinds, roles, columns }: Table): string[] {
  const isNamed = kinds?.length === 1 && !kinds[0]!.isInteger;
  const absentRoles = ROLES.filter((role) => roles.find(role)?.name !== role);
  const absent = COLUMNS.filter(({ name, type }) => {
    const column = columns.find(name);
    return column?.name !== name || column.type !== type;
  });
  return [
    ...(isNamed ? [] : ['members from one node table with a TEXT key']),
    ...absentRoles.map((role) => `role ${role}`),
    ...(columns.end === undefined ? ['intervals'] : []),
    ...absent.map(({ name, type }) => `${type} column ${name}`),
  ];
}

function wrongTable(name: string, why: string): HedgerowError {
  return refusal(
    'invalid_input',
    `Table ${name} cannot hold memories: ${why}. Name another table in table; one that does not exist is created.`,
    { errors: [{ loc: ['body', 'table'], msg: `cannot hold memories: ${why}` }] },
  );
}
