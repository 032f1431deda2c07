// Keeps the heap of a long import small: V8 lets garbage pile up to a share of the machine's memory
// before it collects what is long dead.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Bytes of heap and buffers at which garbage is collected. */
const LIMIT_BYTES = 40 * 2 ** 20;
/** And so much more than was in use at the start, and after the last time. */
const STEP_BYTES = 12 * 2 ** 20;

/** To be called now and then; collects when much has piled up since the last time. */
export function memorySparer(): () => void {
  let collect: (() => void) | undefined;
  let limit = nextLimit();
  return () => {
    if (bytesInUse() < limit) return;
    if (collect === undefined) {
      setFlagsFromString('--expose-gc');
      collect = runInNewContext('gc') as () => void;
    }
    collect();
    limit = nextLimit();
  };
}

function nextLimit(): number {
  return Math.max(LIMIT_BYTES, bytesInUse() + STEP_BYTES);
}

function bytesInUse(): number {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
