// Seeds whose histories once failed. They run before all others, in the tests too.

import type { GoName } from './sim-goes.ts';

export interface KeptSeed {
  seed: number;
  go: GoName;
  /** What they found, or the point of the issue. */
  found: string;
}

export const KEPT_SEEDS: readonly KeptSeed[] = [
  { seed: 40, go: 'memory', found: 'point 1: an answer of 503 to a commit that is in the log' },
  { seed: 193, go: 'memory', found: 'point 1: rows of a commit are in the log and not in memory' },
  { seed: 5, go: 'damage', found: 'point 2: the newest log file was cut' },
  { seed: 8, go: 'damage', found: 'point 2: the only log file is missing' },
  { seed: 33, go: 'damage', found: 'point 2: a flipped bit in the last frame after a kill' },
  { seed: 43, go: 'definitions', found: 'point 9: answers go for their bytes' },
  { seed: 39, go: 'full', found: 'point 12: a full disk that has room again' },
  { seed: 84, go: 'full', found: 'point 12: a full disk that has room again' },
  { seed: 17, go: 'transactions', found: 'point 13: total_records counts what is not acknowledged' },
  { seed: 32, go: 'damage', found: 'point 13: total_records counts what is not acknowledged' },
];
