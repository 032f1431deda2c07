// Stores what was said, replaces it, and reads its history.

import type { Connection } from './connection.ts';
import type { CallOptions } from './options.ts';
import type {
  HistoryInput,
  MemoryHistory,
  NewMemory,
  Recalled,
  RecallInput,
  Remembered,
  Successor,
  Superseded,
} from './types.ts';

export class Memory {
  readonly #connection: Connection;

  constructor(connection: Connection) {
    this.#connection = connection;
  }

  /**
   * Stores a memory and returns its id. Keys that nobody has used make nodes, and the first memory
   * makes the table.
   */
  remember(memory: NewMemory, options?: CallOptions): Promise<Remembered> {
    return this.#connection.json('remember', { body: memory }, options);
  }

  /**
   * Ends a memory and stores what holds instead. Throws a HedgerowApiError with the code
   * `memory_ended` if it has ended or was superseded already, and `edge_not_found` if there is none
   * with this id.
   */
  supersede(successor: Successor, options?: CallOptions): Promise<Superseded> {
    return this.#connection.json('supersede', { body: successor }, options);
  }

  /** Returns the memories that hold now, or `at` another time, and fit a question best. */
  recall(input: RecallInput, options?: CallOptions): Promise<Recalled> {
    return this.#connection.json('recall', { body: input, reads: true }, options);
  }

  /** Returns all versions of memories about some things, or of one memory, oldest first. */
  history(input: HistoryInput, options?: CallOptions): Promise<MemoryHistory> {
    return this.#connection.json('memoryHistory', { body: input, reads: true }, options);
  }
}
