// The owner's link to one worker thread: typed calls, messages in both directions while a call
// runs, and exactly one outcome per call, even if the thread dies.

import { errorOf } from './errors.ts';
import type { Calls, FromThread, InputOf, OutputOf, ToThread } from './messages.ts';

/** The part of Worker (node:worker_threads) that is used. */
export interface ThreadWorker {
  postMessage(message: ToThread, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message', heard: (message: FromThread) => void): unknown;
  on(event: 'error' | 'exit' | 'messageerror', heard: (reason: unknown) => void): unknown;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

export interface LinkOptions {
  worker: ThreadWorker;
  /**
   * Returns the error with which an open call rejects when the thread has died. `alone` is false if
   * several calls were open, any of which may have caused the death.
   */
  died: (reason: Error & { code?: unknown }, alone: boolean) => Error;
}

export interface CallOptions {
  transfer?: readonly ArrayBuffer[];
  /** Receives the thread's messages while the call runs. */
  receive?: (message: never) => void;
}

/** A call in progress. */
export interface OpenCall<Output> {
  /** True until the thread has sent the final message of the call, or has died. */
  readonly isOpen: boolean;
  readonly output: Promise<Output>;
  send(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Asks the thread to abandon the call, which still ends only with the thread's final message. */
  cancel(): void;
}

interface Waiting {
  readonly receive: ((message: never) => void) | undefined;
  readonly resolve: (output: never) => void;
  readonly reject: (error: unknown) => void;
}

export class ThreadLink<C extends Calls> {
  readonly #options: LinkOptions;
  /**
   * Open calls by number. A call is kept until the thread's final message, even if nobody awaits
   * its output any more.
   */
  readonly #calls = new Map<number, Waiting>();
  #last = 0;
  #death: Error | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { worker } = options;
    // The thread keeps the process alive only while it has calls.
    worker.unref();
    worker.on('message', (message) => this.#receive(message));
    worker.on('error', (error) => this.#die(error as Error));
    worker.on('messageerror', (error) => {
      // It is unknown which call the message belonged to.
      this.#die(error as Error);
      void worker.terminate();
    });
    worker.on('exit', () => this.#die(new Error('it has ended')));
  }

  get isAlive(): boolean {
    return this.#death === undefined;
  }

  /** Number of open calls. */
  get calls(): number {
    return this.#calls.size;
  }

  /**
   * Starts a call and resolves with its output. Rejects with the thread's error, which keeps its
   * code, or with the error that `died` returns if the thread dies.
   */
  call<K extends keyof C & string>(name: K, input: InputOf<C, K>, options: CallOptions = {}): Promise<OutputOf<C, K>> {
    return this.open(name, input, options).output;
  }

  open<K extends keyof C & string>(
    name: K,
    input: InputOf<C, K>,
    { transfer, receive }: CallOptions = {},
  ): OpenCall<OutputOf<C, K>> {
    const call = ++this.#last;
    const output = new Promise<OutputOf<C, K>>((resolve, reject) => {
      if (this.#death !== undefined) throw this.#death;
      this.#options.worker.postMessage({ kind: 'call', call, name, input }, transfer ?? []);
      if (this.#calls.size === 0) this.#options.worker.ref();
      this.#calls.set(call, { receive, resolve, reject });
    });
    const post = (message: ToThread, moved: readonly ArrayBuffer[] = []) => {
      if (this.#calls.has(call)) this.#options.worker.postMessage(message, moved);
    };
    const calls = this.#calls;
    return {
      get isOpen() {
        return calls.has(call);
      },
      output,
      send: (message, moved) => post({ kind: 'message', call, message }, moved),
      cancel: () => post({ kind: 'cancel', call }),
    };
  }

  /** Terminates the thread. Its open calls and all later ones reject with `reason`. */
  async stop(reason: Error): Promise<void> {
    if (this.#death !== undefined) return;
    this.#endAll(reason, () => reason);
    await this.#options.worker.terminate();
  }

  #receive(message: FromThread): void {
    const waiting = this.#calls.get(message.call);
    if (waiting === undefined) return;
    if (message.kind === 'message') {
      waiting.receive?.(message.message as never);
      return;
    }
    this.#calls.delete(message.call);
    if (this.#calls.size === 0) this.#options.worker.unref();
    if (message.kind === 'ended') waiting.resolve(message.output as never);
    else waiting.reject(errorOf(message.error));
  }

  #die(reason: Error): void {
    if (this.#death !== undefined) return;
    const { died } = this.#options;
    this.#endAll(died(reason, true), (alone) => died(reason, alone));
  }

  #endAll(death: Error, errorFor: (alone: boolean) => Error): void {
    this.#death = death;
    const calls = [...this.#calls.values()];
    this.#calls.clear();
    for (const { reject } of calls) reject(errorFor(calls.length === 1));
  }
}
