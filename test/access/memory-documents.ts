// Documents in memory for tests. Each change becomes visible one turn of the event loop later, or
// fails.

import type { DocumentChange } from '../../src/engine/catalog/documents.ts';

export class MemoryDocuments {
  readonly values = new Map<string, unknown>();
  /** All changes so far. */
  readonly log: (readonly DocumentChange[])[] = [];
  /** The error with which the next change fails. */
  failure: Error | undefined;
  /** Awaited before a change is durable. */
  disk: Promise<void> = Promise.resolve();

  entries(store: string): [string, unknown][] {
    const prefix = `${store} `;
    return [...this.values]
      .filter(([name]) => name.startsWith(prefix))
      .map(([name, value]) => [name.slice(prefix.length), structuredClone(value)]);
  }

  async change(changes: readonly DocumentChange[]): Promise<number> {
    await this.disk;
    const { failure } = this;
    this.failure = undefined;
    if (failure !== undefined) throw failure;
    this.log.push(structuredClone(changes));
    for (const { store, id, value } of changes) {
      if (value === null) this.values.delete(`${store} ${id}`);
      else this.values.set(`${store} ${id}`, structuredClone(value));
    }
    return this.log.length;
  }
}
