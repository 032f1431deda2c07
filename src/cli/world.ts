// What a command sees of the process it runs in, so that tests can run commands without one.

import { messageWithSettings } from '../config.ts';
import { HedgerowError } from '../errors.ts';
import { systemProblem } from './system-error.ts';

export interface Output {
  /** False: what was written waits to be taken, and `drain` follows. */
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
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /**
   * Calls back at the first SIGINT or SIGTERM; the next one ends the process as usual. The answer
   * takes the callback away again.
   */
  onInterrupt(callback: (signal: string) => void): () => void;
  /**
   * Calls back at every SIGHUP, unless a terminal is there, whose end the signal means. The answer
   * takes the callback away again.
   */
  onHangup(callback: () => void): () => void;
}

/** A mistake in how a command was called: exit code 2. */
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
 * `hedgerow inspect ... | head` closes the pipe early: that is no error. What else stops the output
 * ends the command.
 */
function endAtBrokenOutput(error: NodeJS.ErrnoException): void {
  if (error.code === 'EPIPE') process.exit(0);
  process.stderr.write(`hedgerow: ${systemProblem(error) ?? error.message}\n`);
  process.exit(1);
}

/** The exit code of a failed command, said on stderr: 2 for a wrong call, 1 for everything else. */
export function reportFailure(world: World, error: unknown): number {
  world.stderr.write(`hedgerow: ${systemProblem(error) ?? sentenceOf(error)}\n`);
  return error instanceof UsageError ? 2 : 1;
}

function sentenceOf(error: unknown): string {
  if (error instanceof HedgerowError) return messageWithSettings(error);
  return error instanceof Error ? error.message : String(error);
}

/** `value` of a flag as an integer; throws UsageError. */
export function integerFlag(name: string, value: string | undefined, least: number, most: number): number | undefined {
  if (value === undefined) return undefined;
  const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
  if (number >= least && number <= most) return number;
  throw new UsageError(`${name} is ${JSON.stringify(value)}, but it takes an integer from ${least} to ${most}.`);
}
