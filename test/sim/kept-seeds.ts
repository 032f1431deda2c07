// Seeds whose histories once failed. They run before all others, in the tests too.

import type { GoName } from './sim-goes.ts';

export interface KeptSeed {
  seed: number;
  go: GoName;
  /** What they found, or the point of the issue. */
  found: string;
}

export const KEPT_SEEDS: readonly KeptSeed[] = [
  { seed: 40, go: 'memory', found: 'point 1: a commit that was answered with 503 is in the log' },
  { seed: 193, go: 'memory', found: 'point 1: a commit that was answered with 503 is in the log' },
  { seed: 238, go: 'memory', found: 'point 1: a compaction without memory answers 500' },
  { seed: 140, go: 'damage', found: 'point 2: the newest log file was cut after a kill' },
  { seed: 239, go: 'damage', found: 'point 2: the only log file is missing after an orderly end' },
  { seed: 419, go: 'damage', found: 'point 2: a flipped bit in the last frame after a kill' },
  { seed: 104, go: 'damage', found: 'point 10: segments without manifest and log, after an orderly end' },
  { seed: 338, go: 'damage', found: 'point 10: segments without manifest and log, after a kill' },
  { seed: 43, go: 'definitions', found: 'point 9: an answer went for its bytes' },
  { seed: 93, go: 'full', found: 'point 9: an answer went for its bytes' },
  { seed: 24, go: 'full', found: 'point 12: a full disk that has room again' },
  { seed: 45, go: 'full', found: 'point 12: a full disk that has room again' },
  { seed: 51, go: 'tables', found: 'point 13: total_records counts what is not acknowledged' },
  { seed: 156, go: 'full', found: 'point 13: total_records counts what is not acknowledged' },
];
