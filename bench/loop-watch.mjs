// Loaded into a server (`--import`) by loop.ts: measures how long the event loop of its main thread
// is held, and finds the functions that held it.
//
// A timer fires every millisecond and notes the time. When two notes are further apart than the
// limit, the loop was held in between, or the thread did not run. Linux counts how long the thread
// waited for a processor (the second number of schedstat), and this time is subtracted. What is
// left was spent in the thread: in code, in garbage collection or in a system call.
//
// V8's sampling profiler runs meanwhile. The samples in the time of a gap make up a tree of calls.
// The path from its root that always follows the call with the most samples says what held the
// loop.

import { subscribe } from 'node:diagnostics_channel';
import { openSync, readSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { isMainThread } from 'node:worker_threads';

const TICK_MS = 1;
/** Gaps longer than this are reported. */
const HELD_MS = 10;
const SAMPLE_US = 500;
/** A path ends where the heaviest call has less than this share of the samples of the gap. */
const LEAST_SHARE = 0.3;
/** Number of calls at the end of a path that are reported. */
const SHOWN_CALLS = 6;

if (isMainThread && process.send !== undefined) watch();

function watch() {
  const session = new Session();
  session.connect();
  const waited = waitedReader();
  let gaps = [];
  let slowSteps = [];
  let last = { us: nowUs(), waitedMs: waited() };
  let isWatching = false;
  subscribe('hedgerow:slow-step', (step) => slowSteps.push(step));
  setInterval(() => {
    const note = { us: nowUs(), waitedMs: waited() };
    const wallMs = (note.us - last.us) / 1000;
    const heldMs = wallMs - (note.waitedMs - last.waitedMs) - TICK_MS;
    if (isWatching && wallMs > HELD_MS) gaps.push({ from: last.us, to: note.us, wallMs, heldMs });
    last = note;
  }, TICK_MS).unref();
  process.on('message', async (message) => {
    if (message === 'begin') {
      await session.post('Profiler.enable');
      await session.post('Profiler.setSamplingInterval', { interval: SAMPLE_US });
      await session.post('Profiler.start');
      gaps = [];
      slowSteps = [];
      last = { us: nowUs(), waitedMs: waited() };
      isWatching = true;
      process.send('begun');
    } else if (message === 'end') {
      isWatching = false;
      const { profile } = await session.post('Profiler.stop');
      const samples = samplesOf(profile);
      const held = gaps.map(({ from, to, wallMs, heldMs }) => ({ wallMs, heldMs, ...holder(samples, from, to) }));
      process.send({ held, slowSteps });
    }
  });
  process.channel?.unref();
}

function nowUs() {
  return Number(process.hrtime.bigint() / 1000n);
}

/** Returns a function that reads how long the main thread has waited for a processor, in ms. */
function waitedReader() {
  const file = openSync(`/proc/self/task/${process.pid}/schedstat`, 'r');
  const bytes = Buffer.alloc(80);
  return () => Number(bytes.toString('latin1', 0, readSync(file, bytes, 0, 80, 0)).split(' ')[1]) / 1e6;
}

/** Returns the samples with their times (microseconds of the monotonic clock) and their calls. */
function samplesOf({ nodes, samples, timeDeltas, startTime }) {
  const parents = new Map();
  for (const { id, children = [] } of nodes) for (const child of children) parents.set(child, id);
  const names = new Map(nodes.map(({ id, callFrame }) => [id, nameOf(callFrame)]));
  const stacks = new Map();
  const stackOf = (id) => {
    let stack = stacks.get(id);
    if (stack === undefined) {
      const parent = parents.get(id);
      stack = parent === undefined ? [] : [...stackOf(parent), names.get(id)];
      stacks.set(id, stack);
    }
    return stack;
  };
  let us = startTime;
  return samples.map((id, index) => {
    us += timeDeltas[index];
    return { us, stack: stackOf(id) };
  });
}

function nameOf({ functionName, url, lineNumber }) {
  const name = functionName || 'anonymous';
  if (url === '') return name;
  return `${name} ${url.replace(/^.*\/(dist|node_modules)\//, '').replace(/^wasm:.*$/, 'wasm')}:${lineNumber + 1}`;
}

/** Returns the end of the heaviest path of calls between two times, and its share of the samples. */
function holder(samples, from, to) {
  let inside = samples.filter(({ us }) => us > from && us <= to);
  const total = inside.length;
  const path = [];
  let share = 0;
  for (let depth = 0; ; depth++) {
    const counts = new Map();
    for (const { stack } of inside) {
      const call = stack[depth];
      if (call !== undefined) counts.set(call, (counts.get(call) ?? 0) + 1);
    }
    const [call, count] = [...counts].reduce((most, one) => (one[1] > most[1] ? one : most), ['', 0]);
    if (count === 0 || count < LEAST_SHARE * total) break;
    share = count / total;
    path.push(call);
    inside = inside.filter(({ stack }) => stack[depth] === call);
  }
  return { path: path.slice(-SHOWN_CALLS), share, samples: total };
}
