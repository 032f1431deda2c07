// Parses the text of `/metrics` into samples, and computes quantiles of its histograms.

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Latency {
  readonly label: string;
  readonly count: number;
  readonly p50: number;
  readonly p99: number;
}

const LINE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)/;

export function samplesOf(text: string): Sample[] {
  return text.split('\n').flatMap((line) => {
    const match = line.startsWith('#') ? null : LINE.exec(line);
    if (match === null) return [];
    const labels = Object.fromEntries(
      [...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, name, value]) => [name!, value!]),
    );
    return [{ name: match[1]!, labels, value: match[3] === '+Inf' ? Infinity : Number(match[3]) }];
  });
}

export function sampleValue(samples: readonly Sample[], name: string): number | undefined {
  return samples.find((sample) => sample.name === name)?.value;
}

/**
 * Returns the median and the 99th percentile of a histogram in seconds, for each value of one
 * label, the most frequent value first.
 */
export function latenciesOf(samples: readonly Sample[], name: string, label: string): Latency[] {
  const buckets = new Map<string, { le: number; count: number }[]>();
  for (const sample of samples) {
    if (sample.name !== `${name}_bucket`) continue;
    const key = sample.labels[label] ?? '';
    const list = buckets.get(key) ?? [];
    const le = sample.labels.le === '+Inf' ? Infinity : Number(sample.labels.le);
    const same = list.find((bucket) => bucket.le === le);
    if (same === undefined) list.push({ le, count: sample.value });
    else same.count += sample.value;
    buckets.set(key, list);
  }
  return [...buckets]
    .map(([key, list]) => {
      const sorted = list.sort((a, b) => a.le - b.le);
      return { label: key, count: sorted.at(-1)?.count ?? 0, p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99) };
    })
    .filter(({ count }) => count > 0)
    .sort((a, b) => b.count - a.count);
}

/**
 * Interpolates a quantile linearly within its bucket. A quantile beyond the last finite bucket is
 * the end of that bucket.
 */
function quantile(buckets: readonly { le: number; count: number }[], share: number): number {
  const wanted = share * (buckets.at(-1)?.count ?? 0);
  let [below, start] = [0, 0];
  for (const { le, count } of buckets) {
    if (count >= wanted && count > below) {
      return le === Infinity ? start : start + ((le - start) * (wanted - below)) / (count - below);
    }
    below = count;
    start = le;
  }
  return start;
}
