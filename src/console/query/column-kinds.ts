// Determines which columns of a result hold times, members or keys of nodes, and the table of
// these. The table follows from the text of the statement, and so do the kinds if the answer has no
// types.

import { bare, patternsOf } from '../statement-words.ts';
import type { Result } from './run-statement.ts';

export interface ColumnKind {
  readonly kind: 'time' | 'members' | 'key';
  /**
   * The table of the edges with the members, or the node table with the keys; undefined when the
   * statement names no table.
   */
  readonly table: string | undefined;
}

const COLUMN = /^(?:(\w+)\.)?(\w+)$/;
/** Matches `e.members AS who`. */
const RENAMED = /(?:\bRETURN\s+(?:DISTINCT\s+)?|,\s*)(\w+)\s*\.\s*(\w+)\s+AS\s+(\w+)/gi;
/** Matches `MIN(e.event_ts) AS first`. */
const EXTREME = /\b(?:MIN|MAX)\s*\(\s*(\w+)\s*\.\s*(\w+)\s*\)\s+AS\s+(\w+)/gi;

/**
 * Returns the kinds of the columns with times, members or keys, by column name. `keyOf` returns the
 * name of a node table's key.
 */
export function columnKinds(
  { statement, columns, types }: Pick<Result, 'statement' | 'columns' | 'types'>,
  keyOf: (table: string) => string | undefined = () => undefined,
) {
  const tables = new Map(patternsOf(statement).map(({ alias, table }) => [alias, table]));
  const [firstTable] = tables.values();
  const text = bare(statement);
  const origins = new Map(
    [...text.matchAll(RENAMED), ...text.matchAll(EXTREME)].map(([, alias, column, name]) => [
      name!,
      `${alias}.${column}`,
    ]),
  );
  const kinds = new Map<string, ColumnKind>();
  for (const name of columns) {
    const origin = origins.get(name) ?? name.replace(/^(?:MIN|MAX)\((.*)\)$/i, '$1').trim();
    const [, alias, column] = COLUMN.exec(origin) ?? [];
    const table = tables.get(alias ?? '') ?? firstTable;
    const isKey = column !== undefined && table !== undefined && column === keyOf(table);
    const kind = isKey ? 'key' : kindOf(column, types?.[name]);
    if (kind !== undefined) kinds.set(name, { kind, table });
  }
  return kinds;
}

/** The type in the answer takes precedence over the name of the column. */
function kindOf(column: string | undefined, type: string | undefined): ColumnKind['kind'] | undefined {
  if (type !== undefined) return type === 'TIME' ? 'time' : type === 'NODES' ? 'members' : undefined;
  if (column === 'members') return 'members';
  return column === 'event_ts' || column === 'end_ts' ? 'time' : undefined;
}
