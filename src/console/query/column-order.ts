// The order of the columns of a result.

import { bare } from '../statement-words.ts';
import type { Result } from './run-statement.ts';

/**
 * Where the statement names no columns, the built-in ones that the table does not use come last.
 */
const SELDOM_USED = /(^|\.)(weight|mean_dist_m|formation)$/;

export function orderedColumns({ statement, columns, rows }: Pick<Result, 'statement' | 'columns' | 'rows'>) {
  if (!/\bRETURN\s+(DISTINCT\s+)?\*/i.test(bare(statement))) return columns;
  const isUnused = (name: string) => SELDOM_USED.test(name) && rows.every((row) => (row[name] ?? null) === null);
  const unused = new Set(columns.filter(isUnused));
  return [...columns.filter((name) => !unused.has(name)), ...unused];
}
