// Seeds of histories that once failed. They run before all others, in the tests too.

import type { GoName } from './sim-goes.ts';

export interface KeptSeed {
  seed: number;
  go: GoName;
  /** What the seed found. `point N` is the number of a group of defects when the seed was kept. */
  found: string;
}

export const KEPT_SEEDS: readonly KeptSeed[] = [
  { seed: 40, go: 'memory', found: 'point 1: a commit that was answered with 503 is in the log' },
  { seed: 193, go: 'memory', found: 'point 1: a commit that was answered with 503 is in the log' },
  { seed: 238, go: 'memory', found: 'point 1: a compaction without memory answers 500' },
  { seed: 140, go: 'damage', found: 'point 2: the newest log file was cut after a kill' },
  { seed: 239, go: 'damage', found: 'point 2: the only log file is missing after an orderly end' },
  { seed: 419, go: 'damage', found: 'point 2: a flipped bit in the last frame after a kill' },
  { seed: 104, go: 'damage', found: 'point 10: segments without manifest and log, after a clean close' },
  { seed: 338, go: 'damage', found: 'point 10: segments without manifest and log, after a kill' },
  { seed: 43, go: 'definitions', found: 'point 9: an answer was evicted for its size' },
  { seed: 93, go: 'full', found: 'point 9: an answer was evicted for its size' },
  { seed: 24, go: 'full', found: 'point 12: a full disk that has room again' },
  { seed: 45, go: 'full', found: 'point 12: a full disk that has room again' },
  { seed: 51, go: 'tables', found: 'point 13: total_records counts what is not acknowledged' },
  { seed: 156, go: 'full', found: 'point 13: total_records counts what is not acknowledged' },
  { seed: 400, go: 'memory', found: 'a compaction that finds no memory for rows that died meanwhile' },
  {
    seed: 715,
    go: 'memory',
    found: 'memory that is exhausted after a commit is logged and before it is in a memtable',
  },
  { seed: 1093, go: 'memory', found: 'a merge without memory answers with an error of its own' },
  { seed: 4315, go: 'memory', found: 'a region that found no memory was treated as filled: rows without columns' },
  { seed: 254, go: 'faults', found: 'a file of stored answers that could not be read once' },
  { seed: 8570, go: 'faults', found: 'a fault in the background work of the last start' },
  { seed: 29796, go: 'tables', found: 'a defect of the simulation: a commit that readers see before the model does' },
  {
    seed: 199630,
    go: 'crashes',
    found: 'a manifest that was only in the page cache was used, and undone by a power loss',
  },
  {
    seed: 83019,
    go: 'full',
    found: 'a defect of the simulation: a process that was killed while a full disk had room again',
  },
  { seed: 43421, go: 'damage', found: 'a segment file exchanged for an older one of the same size' },
  { seed: 46769, go: 'damage', found: 'a segment file exchanged for an older one of the same size' },
];
