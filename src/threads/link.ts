// The owner's link to one worker thread: typed calls, messages both ways while a call runs, and one end for each call, also when the thread dies.

import { errorOf } from './errors.ts';
import type { Calls, FromThread, InputOf, OutputOf, ToThread } from './messages.ts';

/** What is used of a Worker of node:worker_threads. */
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
  /** What calls reject with when the thread has died. `alone`: no other call can have been the cause. */
  died: (reason: Error & { code?: unknown }, alone: boolean) => Error;
}

export interface CallOptions {
  transfer?: readonly ArrayBuffer[];
  /** Messages of the thread while the call runs. */
  receive?: (message: never) => void;
}

/** A call that runs. */
export interface OpenCall<Output> {
  /** The thread has not said its last word. */
  readonly isOpen: boolean;
  readonly output: Promise<Output>;
  send(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Asks the thread to give it up; the call still ends by the thread's last word. */
  cancel(): void;
}

interface Waiting {
  readonly receive: ((message: never) => void) | undefined;
  readonly resolve: (output: never) => void;
  readonly reject: (error: unknown) => void;
}

export class ThreadLink<C extends Calls> {
  readonly #options: LinkOptions;
  /** Until the thread has said its last word, also when nobody waits for it any more. */
  readonly #calls = new Map<number, Waiting>();
  #last = 0;
  #death: Error | undefined;

  constructor(options: LinkOptions) {
    this.#options = options;
    const { worker } = options;
    // It keeps the process alive only while it has calls.
    worker.unref();
    worker.on('message', (message) => this.#receive(message));
    worker.on('error', (error) => this.#die(error as Error));
    worker.on('messageerror', (error) => {
      // The call it belongs to is not known.
      this.#die(error as Error);
      void worker.terminate();
    });
    worker.on('exit', () => this.#die(new Error('it has ended')));
  }

  get isAlive(): boolean {
    return this.#death === undefined;
  }

  /** Calls that are not over. */
  get calls(): number {
    return this.#calls.size;
  }

  /** Rejects with the thread's error, which keeps its code, or with what `died` makes of the thread's death. */
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

  /** Ends the thread; its calls, and later ones, reject with `reason`. */
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
