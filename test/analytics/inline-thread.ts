// A stand-in for a worker thread that computes measures. Its calls run in the test's own thread,
// and its messages can be held back and counted.

import { EventEmitter } from 'node:events';
import { ThreadCalls } from '../../src/analytics/thread-calls.ts';
import { loadCore } from '../../src/core/index.ts';
import type { Fs } from '../../src/storage/fs.ts';
import type { ThreadWorker } from '../../src/threads/link.ts';
import type { FromThread, ToThread } from '../../src/threads/messages.ts';

/**
 * Returns the kind of a message: the name of a call, a message during a call, or the way in which
 * the call ended.
 */
function kindOf(message: ToThread | FromThread): string {
  if (message.kind === 'call') return message.name;
  return message.kind === 'message' ? (message.message as { kind: string }).kind : message.kind;
}

export class InlineThread extends EventEmitter implements ThreadWorker {
  /** Kinds of all messages: `>` marks messages to the thread, `<` messages from it. */
  readonly log: string[] = [];
  /** Whether messages from the thread are held back. */
  isHeld = false;
  #said: FromThread[] = [];
  readonly #calls: ThreadCalls;

  constructor(fs: Fs, cacheBytes: number) {
    super();
    const now = () => performance.now();
    this.#calls = new ThreadCalls({ post: (message) => this.#say(message), fs, module: loadCore(), cacheBytes, now });
  }

  postMessage(message: ToThread, transfer: readonly ArrayBuffer[] = []): void {
    this.log.push(`>${kindOf(message)}`);
    const copy = structuredClone(message, { transfer: [...transfer] });
    setImmediate(() => this.#calls.receive(copy));
  }

  #say(message: FromThread): void {
    this.log.push(`<${kindOf(message)}`);
    this.#said.push(structuredClone(message));
    if (!this.isHeld) setImmediate(() => this.#deliver());
  }

  #deliver(): void {
    for (const message of this.#said.splice(0)) this.emit('message', message);
  }

  release(): void {
    this.isHeld = false;
    this.#deliver();
  }

  /** Number of times edges were read. */
  get reads(): number {
    return this.log.filter((line) => line === '<read').length;
  }

  ref(): void {}
  unref(): void {}
  async terminate(): Promise<void> {}
}

/** Resolves when the condition holds. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
