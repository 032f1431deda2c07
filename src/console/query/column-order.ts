// In which order the columns of a result stand.

import { bare } from '../statement-words.ts';
import type { Result } from './run-statement.ts';

/** Where nobody has named the columns, those that every table has and this one does not use stand behind the others. */
const SELDOM_USED = /(^|\.)(weight|mean_dist_m|formation)$/;

export function orderedColumns({ statement, columns, rows }: Pick<Result, 'statement' | 'columns' | 'rows'>) {
  if (!/\bRETURN\s+(DISTINCT\s+)?\*/i.test(bare(statement))) return columns;
  const isUnused = (name: string) => SELDOM_USED.test(name) && rows.every((row) => (row[name] ?? null) === null);
  const unused = new Set(columns.filter(isUnused));
  return [...columns.filter((name) => !unused.has(name)), ...unused];
}
