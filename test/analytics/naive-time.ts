// Temporal measures, implemented directly from their definitions. For tests only.

import type { PlainEdge } from './run-measure.ts';

export function activity(events: readonly PlainEdge[], width: number, fill: boolean): { ts: number; count: number }[] {
  const counts = new Map<number, number>();
  for (const { event_ts: ts } of events) {
    const bucket = Math.floor(ts / width) * width;
    counts.set(bucket, (counts.get(bucket) ?? 0) + 1);
  }
  const [first, last] = [Math.min(...counts.keys()), Math.max(...counts.keys())];
  if (fill) for (let ts = first; ts < last; ts += width) counts.set(ts, counts.get(ts) ?? 0);
  return [...counts].map(([ts, count]) => ({ ts, count })).sort((a, b) => a.ts - b.ts);
}

/** Returns the burstiness of `edges`, which must be in time order. */
export function burstiness(edges: readonly PlainEdge[], zeros: boolean): Record<string, number | null> {
  const times = edges.map(({ event_ts: ts }) => ts);
  const wanted = zeros ? times : [...new Set(times)];
  const gaps = wanted.slice(1).map((time, i) => time - wanted[i]!);
  const mean = (list: number[]) => list.reduce((a, b) => a + b, 0) / list.length;
  const sd = (list: number[]) => Math.sqrt(mean(list.map((gap) => (gap - mean(list)) ** 2)));
  const n = gaps.length;
  if (n < 2 || mean(gaps) === 0) return { B: null, finite_size: null, memory: null, intervals: n };
  const r = sd(gaps) / mean(gaps);
  const below = (Math.sqrt(n + 1) - 2) * r + Math.sqrt(n - 1);
  const [before, after] = [gaps.slice(0, -1), gaps.slice(1)];
  const both = mean(before.map((gap, i) => (gap - mean(before)) * (after[i]! - mean(after))));
  return {
    B: (r - 1) / (r + 1),
    finite_size: (Math.sqrt(n + 1) * r - Math.sqrt(n - 1)) / below,
    memory: sd(before) === 0 || sd(after) === 0 ? null : both / (sd(before) * sd(after)),
    intervals: n,
  };
}

/**
 * Returns, for each of `nodes` in turn, the largest k whose hypercore still contains the node.
 * Equal member sets count once.
 */
export function hypercores(nodes: readonly number[], edges: readonly PlainEdge[], m: number): number[] {
  const sets = [...new Map(edges.map(({ members }) => [String(members), members])).values()];
  const result = nodes.map(() => 0);
  for (let k = 1; k <= sets.length; k++) {
    const alive = new Set(nodes);
    for (let some = true; some; ) {
      some = false;
      const living = sets.map((set) => set.filter((v) => alive.has(v))).filter((set) => set.length >= m);
      for (const v of alive) if (living.filter((set) => set.includes(v)).length < k) some = alive.delete(v);
    }
    for (const v of alive) result[nodes.indexOf(v)] = k;
  }
  return result;
}
