// Entry point of the memory of agents: what was said, by whom and about what, when it holds, and
// what has replaced it. Nothing here uses a language model.

import type { Attach, Database, InsertOutcome } from '../engine/index.ts';
import type { Steps } from '../schedule/steps.ts';
import { type History, type HistoryRequest, historyOf } from './history.ts';
import { type MemoryRequest, recall } from './recall.ts';
import { type NewMemory, type Remembered, remember } from './remember.ts';
import { type Drive, type Successor, type Superseded, supersede } from './supersede.ts';

export type { History, HistoryRequest, Version } from './history.ts';
export type { ShownMemory } from './memory-rows.ts';
export type { MemoryRequest, RecalledMemory } from './recall.ts';
export type { NewMemory, Remembered } from './remember.ts';
export type { Drive, Successor, Superseded } from './supersede.ts';

/** A time in epoch seconds that is the present by default. */
type Dated<T, Name extends keyof T> = Omit<T, Name> & { readonly [name in Name]?: number | undefined };

export interface MemoryOptions {
  readonly database: Database;
  /** Returns the time in epoch milliseconds. */
  readonly now: () => number;
}

export class Memory {
  readonly #options: MemoryOptions;

  constructor(options: MemoryOptions) {
    this.#options = options;
  }

  /** Stores a memory that begins now, unless it says when. Rejects like `remember`. */
  remember(memory: Dated<NewMemory, 'when'>, attach?: Attach<InsertOutcome>): Promise<Remembered> {
    const { database } = this.#options;
    return remember(database, { ...memory, when: memory.when ?? this.#seconds() }, attach);
  }

  /** Replaces a memory now, unless the successor says when. Rejects like `supersede`. */
  supersede(
    successor: Dated<Successor, 'at'>,
    drive: Drive,
    attach?: Attach<Superseded>,
  ): ReturnType<typeof supersede> {
    const now = this.#seconds();
    return supersede(this.#options.database, { ...successor, at: successor.at ?? now, now }, drive, attach);
  }

  /** Returns versions of memories. Throws like `historyOf`. */
  history(request: HistoryRequest): Steps<History> {
    return historyOf(this.#options.database, request);
  }

  /** Returns the memories that hold now, or at another time, best first. Throws like `recall`. */
  recall(request: Dated<MemoryRequest, 'at'>): ReturnType<typeof recall> {
    return recall(this.#options.database, { ...request, at: request.at ?? this.#seconds() });
  }

  #seconds(): number {
    return Math.floor(this.#options.now() / 1000);
  }
}
