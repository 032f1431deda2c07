// Reads the figures that a soak samples from a running service every second. Judges by a fitted
// line whether the figures grew after warm-up.

import { readdirSync, readFileSync } from 'node:fs';

/** Figures of one second. Names end in their unit (Bytes, Ms); the other figures are counts. */
export interface Sample {
  seconds: number;
  rssBytes: number;
  heapBytes: number;
  /** Bytes that segments and memtables occupy in instances of the core. */
  residentBytes: number;
  memtableBytes: number;
  logBytes: number;
  descriptors: number;
  /** Approximate number of core instances: the reserved address space divided by 10.5 GB. */
  instances: number;
  requests: number;
  failures: number;
  p50Ms: number;
  p99Ms: number;
  liveMs: number;
}

const INSTANCE_BYTES = 10.5 * 2 ** 30;

export function statusOf(pid: number): { rssBytes: number; addressBytes: number; descriptors: number } {
  const text = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = (name: string) => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0);
  return {
    rssBytes: kilobytes('VmRSS') * 1024,
    addressBytes: kilobytes('VmSize') * 1024,
    descriptors: readdirSync(`/proc/${pid}/fd`).length,
  };
}

export function instancesOf(addressBytes: number): number {
  return Math.round(addressBytes / INSTANCE_BYTES);
}

/** Returns a metric in the text of `GET /metrics`, summed over its labels, or 0 if it is absent. */
export function metric(text: string, name: string): number {
  let sum = 0;
  for (const line of text.split('\n')) {
    const found = /^(\w+)(?:\{[^}]*\})? (\S+)$/.exec(line);
    if (found !== null && found[1] === name) sum += Number(found[2]);
  }
  return sum;
}

/** Fits a least-squares line, and returns its values at the first and at the last point. */
export function fitted(points: readonly { x: number; y: number }[]): { first: number; last: number } {
  const count = points.length;
  const meanX = points.reduce((sum, { x }) => sum + x, 0) / count;
  const meanY = points.reduce((sum, { y }) => sum + y, 0) / count;
  const spread = points.reduce((sum, { x }) => sum + (x - meanX) ** 2, 0);
  const slope = spread === 0 ? 0 : points.reduce((sum, { x, y }) => sum + (x - meanX) * (y - meanY), 0) / spread;
  const at = (x: number) => meanY + slope * (x - meanX);
  return { first: at(points[0]!.x), last: at(points[count - 1]!.x) };
}

export interface Bound {
  name: string;
  of: (sample: Sample) => number;
  /** Allowed rise of the fitted line after warm-up, as a share of its first value. */
  share: number;
  /** Rise of the fitted line after warm-up that is allowed whatever its first value is. */
  amount: number;
}

export const BOUNDS: readonly Bound[] = [
  { name: 'RSS', of: (sample) => sample.rssBytes, share: 0.1, amount: 96 * 2 ** 20 },
  { name: 'heap', of: (sample) => sample.heapBytes, share: 0.2, amount: 48 * 2 ** 20 },
  { name: 'log', of: (sample) => sample.logBytes, share: 0.25, amount: 32 * 2 ** 20 },
  { name: 'descriptors', of: (sample) => sample.descriptors, share: 0.2, amount: 12 },
  { name: 'instances', of: (sample) => sample.instances, share: 0.2, amount: 64 },
];

export interface Verdict {
  name: string;
  first: number;
  last: number;
  flat: boolean;
}

/** Judges whether each figure stays flat after warm-up, the first 30 percent of the samples. */
export function judgeSamples(samples: readonly Sample[]): Verdict[] {
  const measured = samples.slice(Math.floor(samples.length * 0.3));
  return BOUNDS.map(({ name, of, share, amount }) => {
    const { first, last } = fitted(measured.map((sample) => ({ x: sample.seconds, y: of(sample) })));
    return { name, first, last, flat: last - first <= Math.max(amount, share * Math.abs(first)) };
  });
}
