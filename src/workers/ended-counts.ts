// The counts of workers that have ended, so that the counters of the service do not fall when a
// worker is started again: what each worker reported last. What it counted after that is lost.

import type { ProcessMetrics } from '../observe/metrics.ts';

interface Value {
  readonly labels: Readonly<Record<string, string | number>>;
  readonly metricName?: string;
  value: number;
}

interface Counter {
  readonly name: string;
  readonly values: Value[];
}

export class EndedCounts {
  /** By name of the metric. */
  readonly #counters = new Map<string, Counter>();

  get counts(): ProcessMetrics {
    return [...this.#counters.values()] as unknown as ProcessMetrics;
  }

  /** Adds what a worker has reported. */
  add(metrics: ProcessMetrics): void {
    for (const metric of metrics as unknown as (Counter & { type: string })[]) {
      if (metric.type !== 'counter' && metric.type !== 'histogram') continue;
      const known = this.#counters.get(metric.name);
      if (known === undefined) this.#counters.set(metric.name, structuredClone(metric));
      else addValues(known.values, metric.values);
    }
  }
}

function addValues(into: Value[], more: readonly Value[]): void {
  const known = new Map(into.map((value) => [keyOf(value), value]));
  for (const value of more) {
    const same = known.get(keyOf(value));
    if (same === undefined) into.push({ ...value });
    else same.value += value.value;
  }
}

function keyOf({ labels, metricName = '' }: Value): string {
  return `${metricName} ${JSON.stringify(Object.entries(labels).sort())}`;
}
