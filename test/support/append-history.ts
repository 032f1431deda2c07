// Checks a history of writes and reads of a list that only grows, such as the edges of one node: is
// it linearizable (Herlihy and Wing, 1990)?
//
// The final list says in which order the writes took effect. A read that returned the first n
// elements took effect after the n-th write and before the next one. So every operation has a rank,
// and any order in which they could have taken effect is sorted by rank: the write of the element
// at index i has rank 2i + 1, a read of n elements has rank 2n. Operations that did not overlap in
// time must take effect in that order. So the history is linearizable if and only if no operation
// ended before another one of a lower rank began.

export interface WriteOperation {
  readonly kind: 'write';
  readonly value: number;
  readonly startMs: number;
  /** Infinity if it was never acknowledged. */
  readonly endMs: number;
}

export interface ReadOperation {
  readonly kind: 'read';
  readonly values: readonly number[];
  readonly startMs: number;
  readonly endMs: number;
}

export type Operation = WriteOperation | ReadOperation;

/** Returns what is wrong with a history; undefined if it is linearizable. */
export function historyProblem(operations: readonly Operation[], final: readonly number[]): string | undefined {
  const places = new Map<number, number>();
  for (const [place, value] of final.entries()) {
    if (places.has(value)) return `the write ${value} was carried out twice`;
    places.set(value, place);
  }
  const ranked: { rank: number; operation: Operation }[] = [];
  const written = new Set<number>();
  for (const operation of operations) {
    if (operation.kind === 'read') {
      const other = operation.values.findIndex((value, index) => value !== final[index]);
      if (other >= 0) return `a read returned ${operation.values[other]} as element ${other}, which is ${final[other]}`;
      ranked.push({ rank: operation.values.length * 2, operation });
      continue;
    }
    written.add(operation.value);
    const place = places.get(operation.value);
    if (place !== undefined) ranked.push({ rank: place * 2 + 1, operation });
    else if (operation.endMs !== Number.POSITIVE_INFINITY) return `the acknowledged write ${operation.value} is lost`;
  }
  for (const value of final) if (!written.has(value)) return `nobody wrote ${value}`;
  ranked.sort((one, other) => one.rank - other.rank);
  /** The operation of a lower rank that began last, and the one of this rank or a lower one. */
  let before: Operation | undefined;
  let latest: Operation | undefined;
  for (const [index, { rank, operation }] of ranked.entries()) {
    if (ranked[index - 1]?.rank !== rank) before = latest;
    if (before !== undefined && operation.endMs < before.startMs)
      return `${textOf(before)} did not see ${textOf(operation)}, which had ended before`;
    if (latest === undefined || operation.startMs > latest.startMs) latest = operation;
  }
  return undefined;
}

function textOf(operation: Operation): string {
  const times = `${operation.startMs.toFixed(1)} to ${operation.endMs.toFixed(1)} ms`;
  return operation.kind === 'write'
    ? `the write ${operation.value} (${times})`
    : `a read of ${operation.values.length} elements (${times})`;
}
