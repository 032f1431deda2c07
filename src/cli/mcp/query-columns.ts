// Finds out which columns in the answer to a statement are times and which are lists of nodes, so
// that both can be shown in a readable form.

import { AGGREGATES, type Expression, type ItemNode, isAggregate, type Statement } from '../../query/language.ts';

export interface ColumnKinds {
  /** Columns with epoch seconds. */
  readonly times: readonly string[];
  /** Columns with lists of members. */
  readonly members: readonly string[];
  /** Columns with whole edges. */
  readonly edges: readonly string[];
  /** Tables of the patterns in the statement. */
  readonly tables: readonly string[];
}

const NONE: ColumnKinds = { times: [], members: [], edges: [], tables: [] };
const TIME = 'event_ts';

/**
 * Determines the kinds of the columns. `columns`: names of the columns in the answer, in the order
 * of the returned items.
 */
export function columnKinds(statement: Statement, columns: readonly string[]): ColumnKinds {
  if (statement.kind !== 'match') return NONE;
  const tables = statement.patterns.map(({ table }) => table.name);
  const aliases = new Set(statement.patterns.map(({ alias }) => alias.name));
  const { items } = statement;
  const named = (isMeant: (item: ItemNode) => boolean) => columns.filter((_, at) => items?.[at] && isMeant(items[at]));
  // RETURN * names columns as the table does; with several patterns the alias precedes the name.
  const bare = (name: string) => columns.filter((column) => column.split('.').at(-1) === name);
  if (items === undefined) return { times: bare(TIME), members: bare('members'), edges: [], tables };
  return {
    times: named(({ expression }) => isTime(expression)),
    members: named(({ expression }) => isColumn(expression, 'members')),
    edges: named(({ expression }) => expression.kind === 'name' && aliases.has(expression.name)),
    tables,
  };
}

function isTime(expression: Expression): boolean {
  if (expression.kind !== 'call') return isColumn(expression, TIME);
  const [argument] = expression.args;
  const name = expression.name.name.toUpperCase();
  return isAggregate(name) && AGGREGATES[name].keepsTime && argument !== undefined && isColumn(argument, TIME);
}

function isColumn(expression: Expression, name: string): boolean {
  return expression.kind === 'column' && expression.column.name.toLowerCase() === name;
}
