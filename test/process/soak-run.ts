// Runs a soak: the built service works under a mixed load and is sampled every second. At the end
// the soak judges how much the figures of the service grew after warm-up.

import { mkdirSync, writeFileSync } from 'node:fs';
import { startChild } from '../service/child.ts';
import { SoakLoad } from './soak-load.ts';
import { histogramTable, percentile, reportPage } from './soak-report.ts';
import { instancesOf, judgeSamples, metric, type Sample, statusOf, type Verdict } from './soak-samples.ts';

export interface SoakResult {
  samples: Sample[];
  verdicts: Verdict[];
  failures: string[];
  requests: number;
  liveP99Ms: number;
  report: string;
}

const MOST_FAILURES = 50;

/** Runs a soak of `seconds`, and writes `report.html` and `samples.json` into `directory`. */
export async function soak(
  seconds: number,
  seed: number,
  directory: string,
  progress: (sample: Sample) => void = () => undefined,
): Promise<SoakResult> {
  const server = await startChild({
    environment: {
      HEDGEROW_AUTH_DISABLED: '1',
      HEDGEROW_API_KEY: '',
      HEDGEROW_MEMORY_BUDGET_MB: '4',
      HEDGEROW_TRANSACTION_IDLE_SECONDS: '5',
    },
  });
  const load = new SoakLoad(server.url, seed);
  const samples: Sample[] = [];
  const [failures, latencies, live]: [string[], number[], number[]] = [[], [], []];
  let requests = 0;
  try {
    await load.prepare();
    load.start();
    const begunMs = performance.now();
    for (let second = 1; second <= seconds && server.ended === undefined; second++) {
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, begunMs + second * 1000 - performance.now())));
      const counts = load.take();
      requests += counts.requests;
      failures.push(...counts.failures.slice(0, MOST_FAILURES - failures.length));
      for (const ms of counts.latencies) latencies.push(Math.round(ms * 10) / 10);
      live.push(...counts.live);
      const sample = await sampleOf(server.url, server.process.pid!, second, counts);
      samples.push(sample);
      progress(sample);
    }
    if (server.ended !== undefined)
      failures.push(`the service ended: ${server.ended} ${server.output.error.slice(-2000)}`);
    await load.stop();
  } finally {
    const end = await server.stop();
    if (end !== 'exit code 0') failures.push(`the service ended with ${end}`);
  }
  const verdicts = judgeSamples(samples);
  mkdirSync(directory, { recursive: true });
  const report = `${directory}/report.html`;
  const tables = histogramTable('all requests', latencies) + histogramTable('/health/live', live);
  writeFileSync(
    report,
    reportPage(`Soak of ${seconds} s, seed ${seed}, ${requests} requests`, samples, verdicts, tables),
  );
  writeFileSync(`${directory}/samples.json`, JSON.stringify(samples));
  return { samples, verdicts, failures, requests, liveP99Ms: percentile(live, 0.99), report };
}

async function sampleOf(
  url: string,
  pid: number,
  seconds: number,
  counts: { requests: number; failures: readonly string[]; latencies: readonly number[]; live: readonly number[] },
): Promise<Sample> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const { rssBytes, addressBytes, descriptors } = statusOf(pid);
  return {
    seconds,
    rssBytes,
    heapBytes: metric(text, 'hedgerow_nodejs_heap_size_used_bytes') || metric(text, 'nodejs_heap_size_used_bytes'),
    residentBytes: metric(text, 'hedgerow_segments_resident_bytes'),
    memtableBytes: metric(text, 'hedgerow_memtable_bytes'),
    logBytes: metric(text, 'hedgerow_wal_size_bytes'),
    descriptors,
    instances: instancesOf(addressBytes),
    requests: counts.requests,
    failures: counts.failures.length,
    p50Ms: percentile(counts.latencies, 0.5),
    p99Ms: percentile(counts.latencies, 0.99),
    liveMs: Math.max(0, ...counts.live),
  };
}
