// What crosses between a thread and its owner. The last message of every call, also of a cancelled one, is `ended` or `failed`.

import type { PlainError } from './errors.ts';

/** The calls of a thread by name: input to output. */
export type Calls = Record<string, (input: never) => unknown>;
export type InputOf<C extends Calls, K extends keyof C> = Parameters<C[K]>[0];
export type OutputOf<C extends Calls, K extends keyof C> = Awaited<ReturnType<C[K]>>;

export type ToThread = { call: number } & (
  | { kind: 'call'; name: string; input: unknown }
  /** Of the owner during a call. */
  | { kind: 'message'; message: unknown }
  | { kind: 'cancel' }
);

export type FromThread = { call: number } & (
  | { kind: 'message'; message: unknown }
  | { kind: 'ended'; output: unknown }
  | { kind: 'failed'; error: PlainError }
);
