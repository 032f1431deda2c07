// Draws the progress line on a terminal: how far an import or other long work has come, how fast it
// is, and how long it will take. This is the only file that uses cli-progress.

import { SingleBar } from 'cli-progress';
import type { Output } from './world.ts';

export interface Progress {
  /**
   * `doneBytes`: number of bytes read from the input on disk, before decompression. May be called
   * very often: the line is redrawn only a few times a second.
   */
  update(doneBytes: number, rows: number): void;
  /** Removes the line. */
  stop(): void;
}

const REDRAWS_PER_SECOND = 5;
const SHOWN_AFTER_MS = 1000;

const SILENT: Progress & WorkProgress = { update() {}, stop() {} };

/**
 * Shows the progress of an import; shows nothing when the output is not a terminal. Without
 * `totalBytes` the line has neither a percentage nor the time left.
 */
export function startProgress(options: {
  output: Output;
  label: string;
  totalBytes: number | undefined;
  now: () => number;
}): Progress {
  const { output, label, totalBytes, now } = options;
  if (output.isTTY !== true) return SILENT;
  const figures = '{rows} rows | {rate} rows/s';
  const bar = barOn(
    output,
    totalBytes === undefined ? `{label} ${figures}` : `{label} {bar} {percentage}% | ${figures} | {left} left`,
  );
  const startedMs = now();
  bar.start(Math.max(1, totalBytes ?? 1), 0, { label, rows: '0', rate: '0', left: '?' });
  return {
    update(doneBytes, rows) {
      const seconds = Math.max(0.001, (now() - startedMs) / 1000);
      const left =
        totalBytes === undefined || doneBytes === 0 ? undefined : (seconds * (totalBytes - doneBytes)) / doneBytes;
      bar.update(totalBytes === undefined ? 0 : Math.min(doneBytes, totalBytes), {
        label,
        rows: rows.toLocaleString('en'),
        rate: Math.round(rows / seconds).toLocaleString('en'),
        left: left === undefined ? '?' : durationText(left),
      });
    },
    stop: () => bar.stop(),
  };
}

export interface WorkProgress {
  /**
   * `done`: from 0 to 1. May be called very often: the line is redrawn only a few times a second.
   */
  update(done: number): void;
  /** Removes the line. */
  stop(): void;
}

/**
 * Shows the progress of work that does not count rows. The line appears after one second, and only
 * on a terminal.
 */
export function startWorkProgress(options: { output: Output; label: string; now: () => number }): WorkProgress {
  const { output, label, now } = options;
  if (output.isTTY !== true) return SILENT;
  const startedMs = now();
  let bar: SingleBar | undefined;
  return {
    update(done) {
      const elapsedMs = now() - startedMs;
      if (elapsedMs < SHOWN_AFTER_MS) return;
      if (bar === undefined) {
        bar = barOn(output, '{label} {bar} {percentage}% | {left} left');
        bar.start(1, 0, { label, left: '?' });
      }
      const left = done > 0 ? durationText(((elapsedMs / 1000) * (1 - done)) / done) : '?';
      bar.update(done, { label, left });
    },
    stop: () => bar?.stop(),
  };
}

function barOn(output: Output, format: string): SingleBar {
  return new SingleBar({
    format,
    stream: output as NodeJS.WritableStream,
    fps: REDRAWS_PER_SECOND,
    barsize: 24,
    hideCursor: true,
    clearOnComplete: true,
    etaBuffer: 50,
  });
}

/** Formats a duration: 75 becomes `1 min 15 s`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
