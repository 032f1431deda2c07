// Preloaded into the service: prints a line for every step of its event loop in which the main
// thread worked for more than 100 ms (HEDGEROW_LOOP_LIMIT_MS sets another limit). The line also
// contains how much of that time was garbage collection. Works on Linux only.
// With HEDGEROW_LOOP_PROFILE=1 it also prints where the time went: stacks with the innermost
// function first.

import { readFileSync, writeSync } from 'node:fs';
import { Session } from 'node:inspector';
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

const LIMIT_MS = Number(process.env.HEDGEROW_LOOP_LIMIT_MS ?? 100);
const STDERR = 2;
/** Delay before a step is reported, because Node reports garbage collections after the step. */
const TOLD_AFTER_MS = 20;

/**
 * Returns the CPU time of the main thread in milliseconds, which is less than the elapsed time on
 * a busy machine.
 */
function ranMs() {
  return Number(readFileSync('/proc/self/schedstat', 'latin1').split(' ')[0]) / 1e6;
}

if (isMainThread && process.argv.includes('serve')) {
  let collections = [];
  new PerformanceObserver((list) => {
    collections.push(...list.getEntries());
    if (collections.length > 1000) collections = collections.slice(-500);
  }).observe({ entryTypes: ['gc'] });

  const profiler = process.env.HEDGEROW_LOOP_PROFILE === '1' ? new Session() : undefined;
  profiler?.connect();
  profiler?.post('Profiler.enable');
  profiler?.post('Profiler.setSamplingInterval', { interval: 2000 });
  profiler?.post('Profiler.start');
  let profiledSince = performance.now();

  /** Prints the stacks that ran most in the last `ms` milliseconds, and starts a new profile. */
  const tellWhere = (ms) => {
    profiler.post('Profiler.stop', (_, { profile }) => {
      const nodes = new Map(profile.nodes.map((node) => [node.id, node]));
      const parents = new Map(profile.nodes.flatMap((node) => (node.children ?? []).map((child) => [child, node.id])));
      const counts = new Map();
      let at = profile.startTime;
      profile.samples.forEach((id, index) => {
        at += profile.timeDeltas[index];
        if (at < profile.endTime - ms * 1000) return;
        const names = [];
        for (let node = id; node !== undefined && names.length < 6; node = parents.get(node)) {
          const { functionName, url, lineNumber } = nodes.get(node).callFrame;
          names.push(`${functionName || '(anonymous)'} ${url.split('/').slice(-2).join('/')}:${lineNumber + 1}`);
        }
        const stack = names.join(' < ');
        counts.set(stack, (counts.get(stack) ?? 0) + 1);
      });
      const most = [...counts].sort((a, b) => b[1] - a[1]).slice(0, 6);
      for (const [stack, count] of most) writeSync(STDERR, `loop-watch: ${count} samples in ${stack}\n`);
    });
    profiler.post('Profiler.start');
    profiledSince = performance.now();
  };

  /** Reports a step once its garbage collections are known. */
  const tell = (begun, ended, own) => {
    const within = collections.filter(({ startTime }) => startTime >= begun && startTime <= ended);
    const collected = within.reduce((sum, { duration }) => sum + duration, 0);
    const full = within.filter(({ detail }) => detail.kind === constants.NODE_PERFORMANCE_GC_MAJOR);
    const longest = full.reduce((most, { duration }) => Math.max(most, duration), 0);
    writeSync(
      STDERR,
      `loop-watch: a step of ${Math.round(own)} ms, garbage collection ${Math.round(collected)} ms in ${within.length}, ${Math.round(longest)} ms the longest full one\n`,
    );
  };

  let last = performance.now();
  let ran = ranMs();
  let looked = last;
  const turn = () => {
    const now = performance.now();
    if (now - last > LIMIT_MS) {
      const own = ranMs() - ran;
      const begun = last;
      if (own > LIMIT_MS) {
        if (profiler !== undefined) tellWhere(now - begun);
        setTimeout(() => tell(begun, now, own), TOLD_AFTER_MS).unref();
      }
    }
    // Restarts the profile regularly, because it grows over time.
    if (profiler !== undefined && now - profiledSince > 10_000) tellWhere(0);
    if (now - looked > 1 || now - last > LIMIT_MS) {
      ran = ranMs();
      looked = now;
    }
    last = now;
    setImmediate(turn).unref();
  };
  turn();
}
