// Defines what a command uses of the process in which it runs, so that tests can pass something
// else.

import { messageWithSettings } from '../config.ts';
import { HedgerowError } from '../errors.ts';
import { systemProblem } from './system-error.ts';

export interface Output {
  /**
   * Returns false when the text is buffered; the event `drain` follows when the text has been
   * written.
   */
  write(text: string): unknown;
  once?(event: 'drain', callback: () => void): unknown;
  readonly isTTY?: boolean | undefined;
}

export interface World {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stdin: AsyncIterable<Uint8Array> & { readonly isTTY?: boolean | undefined };
  readonly stdout: Output;
  readonly stderr: Output;
  /** Returns monotonic milliseconds. */
  readonly now: () => number;
  /**
   * Calls back at the first SIGINT or SIGTERM; the next one ends the process as usual. Returns a
   * function that removes the callback.
   */
  onInterrupt(callback: (signal: string) => void): () => void;
  /**
   * Calls back at every SIGHUP. Does nothing on a terminal, where SIGHUP means that the terminal
   * was closed. Returns a function that removes the callback.
   */
  onHangup(callback: () => void): () => void;
}

/** A wrong call of a command; the exit code is 2. */
export class UsageError extends Error {}

export function nodeWorld(): World {
  if (!process.stdout.listeners('error').includes(endAtBrokenOutput)) process.stdout.on('error', endAtBrokenOutput);
  return {
    environment: process.env,
    cwd: process.cwd(),
    stdin: process.stdin,
    stdout: process.stdout,
    stderr: process.stderr,
    now: () => performance.now(),
    onInterrupt(callback) {
      const signals = ['SIGINT', 'SIGTERM'] as const;
      const remove = () => {
        for (const signal of signals) process.off(signal, heard);
      };
      const heard = (signal: string) => {
        remove();
        callback(signal);
      };
      for (const signal of signals) process.on(signal, heard);
      return remove;
    },
    onHangup(callback) {
      if (process.stderr.isTTY) return () => {};
      process.on('SIGHUP', callback);
      return () => process.off('SIGHUP', callback);
    },
  };
}

/**
 * Handles errors of stdout. `hedgerow inspect ... | head` closes the pipe early, which is not an
 * error; every other error ends the command.
 */
function endAtBrokenOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`hedgerow: ${systemProblem(error) ?? error.message}\n`);
  process.exit(1);
}

/**
 * Reports the error on stderr and returns the exit code: 2 for a wrong call, 1 for any other error.
 */
export function reportFailure(world: World, error: unknown): number {
  world.stderr.write(`hedgerow: ${systemProblem(error) ?? sentenceOf(error)}\n`);
  return error instanceof UsageError ? 2 : 1;
}

function sentenceOf(error: unknown): string {
  if (error instanceof HedgerowError) return messageWithSettings(error);
  return error instanceof Error ? error.message : String(error);
}

/** Parses the value of a flag as an integer. Throws UsageError. */
export function integerFlag(name: string, value: string | undefined, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${name} is ${JSON.stringify(value)}, but it takes an integer from ${least} to ${most}.`);
}
