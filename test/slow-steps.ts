// Counts the steps of long work that took more than 20 ms in all processes of a test run, and
// prints them by kind in one line at its end. No test depends on them: on a busy machine any step
// may be slow, and what a test does right after it has awaited the engine counts as the engine's.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { LONG_STEP_MS } from '../src/schedule/scheduler.ts';

const WATCH = fileURLToPath(new URL('support/watch-slow-steps.mjs', import.meta.url));

/**
 * Makes the test processes and those that they start record their slow steps. Vitest calls this
 * once for each project; the first call is for all of them.
 */
export default function setup(): (() => void) | undefined {
  if (process.env.HEDGEROW_TEST_SLOW_STEPS !== undefined) return undefined;
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-slow-steps-'));
  const file = join(dir, 'steps');
  process.env.HEDGEROW_TEST_SLOW_STEPS = file;
  process.env.NODE_OPTIONS = `${process.env.NODE_OPTIONS ?? ''} --import=${WATCH}`.trim();
  return () => {
    console.log(slowStepsLine(textOf(file)));
    rmSync(dir, { recursive: true, force: true });
  };
}

/** Summarises lines `KIND MILLISECONDS`, with the most frequent kind first. */
export function slowStepsLine(lines: string): string {
  const kinds = new Map<string, { count: number; longestMs: number }>();
  for (const line of lines.split('\n').filter((text) => text !== '')) {
    const [kind, tookMs] = line.split(' ') as [string, string];
    const { count, longestMs } = kinds.get(kind) ?? { count: 0, longestMs: 0 };
    kinds.set(kind, { count: count + 1, longestMs: Math.max(longestMs, Number(tookMs)) });
  }
  const sorted = [...kinds].sort(([a, { count: ofA }], [b, { count: ofB }]) => ofB - ofA || (a < b ? -1 : 1));
  const texts = sorted.map(([kind, { count, longestMs }]) => `${kind} ${count} (${longestMs.toFixed(0)} ms)`);
  return `steps over ${LONG_STEP_MS} ms, with the longest of each kind: ${texts.join(', ') || 'none'}`;
}

/** The file is missing if there was no slow step. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
