// The messages between a thread and its owner. The final message of every call, even a cancelled
// one, is `ended` or `failed`.

import type { PlainError } from './errors.ts';

/** The calls of a thread by name, as functions from input to output. */
export type Calls = Record<string, (input: never) => unknown>;
export type InputOf<C extends Calls, K extends keyof C> = Parameters<C[K]>[0];
export type OutputOf<C extends Calls, K extends keyof C> = Awaited<ReturnType<C[K]>>;

export type ToThread = { call: number } & (
  | { kind: 'call'; name: string; input: unknown }
  /** A message from the owner while a call runs. */
  | { kind: 'message'; message: unknown }
  | { kind: 'cancel' }
);

export type FromThread = { call: number } & (
  | { kind: 'message'; message: unknown }
  | { kind: 'ended'; output: unknown }
  | { kind: 'failed'; error: PlainError }
);
