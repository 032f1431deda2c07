// Small durable values of the service (keys, rules, virtual graphs): JSON by store and id, in the log and in the manifest.
//
// Invariants: what is read is durable; a change() is one frame, all of it or nothing; a change and an install of the manifest never overlap (the
// DDL mutex), so that a manifest holds exactly the documents of its LSN.

import { corruption, HedgerowError } from '../../errors.ts';
import type { Mutex } from '../../schedule/locks.ts';
import type { Committer } from '../commit/committer.ts';
import { OPERATION, singleRun } from '../commit/operations.ts';
import type { Attach } from '../idempotency/kept-answer.ts';

/** `value` is anything JSON can hold but null, which removes. */
export interface DocumentChange {
  store: string;
  id: string;
  value: unknown | null;
}

/** The documents of one store as the manifest holds them. */
export interface StoredDocuments {
  store: string;
  entries: [id: string, value: unknown][];
}

export interface DocumentsOptions {
  committer: Committer;
  /** Held by whoever changes the catalog or the documents, or installs a manifest. */
  mutex: Mutex;
  /** Told after every change. */
  committed: () => void;
}

export class Documents {
  readonly #options: DocumentsOptions;
  readonly #stores = new Map<string, Map<string, unknown>>();

  constructor(options: DocumentsOptions) {
    this.#options = options;
  }

  /** The newest durable value; not to be changed. */
  get(store: string, id: string): unknown | undefined {
    return this.#stores.get(store)?.get(id);
  }

  /** All of a store, in the order they were first put there; not to be changed. */
  entries(store: string): [id: string, value: unknown][] {
    return [...(this.#stores.get(store) ?? [])];
  }

  /** Makes all changes, in order, or none; resolves with the LSN of the last one when they are durable, which is when they are seen. */
  async change(changes: readonly DocumentChange[], attach?: Attach<void>): Promise<number> {
    const { committer, mutex, committed } = this.#options;
    const operations = changes.map(encode);
    return mutex.run(async () => {
      if (operations.length === 0) return committer.visibleLsn;
      const runs = operations.flatMap((bytes) => singleRun(OPERATION.document, bytes));
      const visible = () => {
        for (const bytes of operations) this.#apply(parse(bytes));
      };
      const write = () => committer.commit(operations.length, runs, { visible, entry: attach?.() });
      const { firstLsn, durable } = await committer.write(write);
      await durable;
      committed();
      return firstLsn + operations.length - 1;
    });
  }

  #apply({ store, id, value }: DocumentChange): void {
    let documents = this.#stores.get(store);
    if (value === null) {
      documents?.delete(id);
      if (documents?.size === 0) this.#stores.delete(store);
      return;
    }
    if (documents === undefined) {
      documents = new Map();
      this.#stores.set(store, documents);
    }
    documents.set(id, value);
  }

  // Recovery and the manifest

  /** Takes over what a manifest holds. */
  load(stored: readonly StoredDocuments[]): void {
    for (const { store, entries } of stored) for (const [id, value] of entries) this.#apply({ store, id, value });
  }

  /** Applies an operation of the log. Throws `corrupt`. */
  replay(bytes: Uint8Array, lsn: number): void {
    let change: Partial<DocumentChange> | null;
    try {
      change = parse(bytes);
    } catch (error) {
      throw corruption(`log frame at LSN ${lsn}`, 0, `a document is not JSON (${(error as Error).message})`);
    }
    if (typeof change?.store !== 'string' || typeof change.id !== 'string' || change.value === undefined)
      throw corruption(`log frame at LSN ${lsn}`, 0, 'a document lacks its store, id or value');
    this.#apply(change as DocumentChange);
  }

  stored(): StoredDocuments[] {
    return [...this.#stores].map(([store, documents]) => ({ store, entries: [...documents] }));
  }
}

/** Bytes of an operation. What is kept comes back from them, so it is the same before and after a restart. */
function encode({ store, id, value }: DocumentChange): Uint8Array {
  const text = JSON.stringify({ store, id, value });
  if (value === undefined || JSON.parse(text).value === undefined)
    throw new HedgerowError('invalid_input', `The document ${store}/${id} has no JSON value. Give null to remove it.`);
  return Buffer.from(text);
}

function parse(bytes: Uint8Array): DocumentChange {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as DocumentChange;
}
