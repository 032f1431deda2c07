// All fuzz targets by name, and a run over all of them with a watchdog that detects hangs.

import { Worker } from 'node:worker_threads';
import { lineTarget, recordTarget, segmentTarget } from './core-targets.ts';
import { fileTargets } from './file-targets.ts';
import { type FuzzFigures, fuzzTarget, type Target } from './fuzz-loop.ts';
import { httpTarget } from './http-target.ts';
import { textTargets } from './text-targets.ts';

/** An input that has no result after this time counts as a hang. */
const HANG_MS = 30_000;
const WATCH = `
const { workerData } = require('node:worker_threads');
const beat = new Int32Array(workerData.beat);
let [last, since] = [-1, Date.now()];
setInterval(() => {
  if (beat[0] !== last || beat[1] === 0) [last, since] = [beat[0], Date.now()];
  else if (Date.now() - since > workerData.hangMs) {
    process.stderr.write('target number ' + beat[1] + ' hangs at input ' + last + ' of seed ' + workerData.seed + '\\n');
    process.kill(process.pid, 'SIGKILL');
  }
}, 1000);`;

/** Runs the inputs on all targets, divided among them, or only on the target named `only`. */
export async function fuzzAll(
  inputs: number,
  seed: number,
  only: string | undefined,
  progress: (text: string) => void = () => undefined,
): Promise<FuzzFigures[]> {
  const targets = (
    [
      ...textTargets(),
      recordTarget(),
      lineTarget(),
      segmentTarget(),
      ...(await fileTargets()),
      await httpTarget(),
    ] as Target<unknown>[]
  ).filter(({ name }) => only === undefined || name === only);
  if (targets.length === 0) throw new Error(`No target is called ${only}.`);
  const shares = targets.reduce((sum, { share }) => sum + share, 0);
  const beat = new Int32Array(new SharedArrayBuffer(8));
  const watch = new Worker(WATCH, { eval: true, workerData: { beat: beat.buffer, seed, hangMs: HANG_MS } });
  const all: FuzzFigures[] = [];
  for (const [place, target] of targets.entries()) {
    beat[1] = place + 1;
    const count = Math.ceil((inputs * target.share) / shares);
    const begunMs = performance.now();
    const figures = await fuzzTarget(target, count, seed, (number) => {
      beat[0] = number;
    });
    beat[1] = 0;
    all.push(figures);
    const seconds = ((performance.now() - begunMs) / 1000).toFixed(1);
    progress(
      `${target.name}: ${figures.inputs} inputs in ${seconds} s, ${figures.accepted} accepted, corpus ${figures.corpus}, ${figures.failures.length} failures`,
    );
  }
  await watch.terminate();
  return all;
}
