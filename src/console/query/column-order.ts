// Determines the order in which the columns of a result are shown.

import { bare } from '../statement-words.ts';
import type { Result } from './run-statement.ts';

/**
 * Built-in columns that many tables do not use. When the statement does not name columns, these are
 * shown last if they contain no value.
 */
const SELDOM_USED = /(^|\.)(weight|mean_dist_m|formation)$/;

export function orderedColumns({ statement, columns, rows }: Pick<Result, 'statement' | 'columns' | 'rows'>) {
  if (!/\bRETURN\s+(DISTINCT\s+)?\*/i.test(bare(statement))) return columns;
  const isUnused = (name: string) => SELDOM_USED.test(name) && rows.every((row) => (row[name] ?? null) === null);
  const unused = new Set(columns.filter(isUnused));
  return [...columns.filter((name) => !unused.has(name)), ...unused];
}
