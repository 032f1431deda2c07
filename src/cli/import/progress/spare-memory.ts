// Keeps the heap small during a long import. By default V8 lets garbage grow to a share of the
// machine's memory before collecting it.

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Size of heap and buffers, in bytes, below which garbage is never collected. */
const LIMIT_BYTES = 40 * 2 ** 20;
/**
 * Above `LIMIT_BYTES`, garbage is collected when this many bytes have been added since the last
 * collection.
 */
const STEP_BYTES = 12 * 2 ** 20;

/** Returns a function to call now and then; it collects garbage when enough has accumulated. */
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
