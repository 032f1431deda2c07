// Stores small durable JSON values of the service, such as API keys, rules and virtual graphs. Each
// value is called a document. It is identified by an id and the name of a store. Documents are kept
// in memory, in the log and in the manifest.
//
// Invariants: reads see only durable values. Each call of `change` is one frame in the log, so all
// of its changes take effect or none. A change and the installation of a manifest never overlap,
// because both hold the DDL mutex; a manifest therefore contains exactly the documents at its LSN.

import { corruption, HedgerowError } from '../../errors.ts';
import type { Attach } from '../../model/kept-answer.ts';
import type { Mutex } from '../../schedule/locks.ts';
import type { Committer } from '../commit/committer.ts';
import { OPERATION, singleRun } from '../commit/operations.ts';

/** `value` is any JSON value except null, which removes the document. */
export interface DocumentChange {
  store: string;
  id: string;
  value: unknown | null;
}

/** The documents of one store, as stored in the manifest. */
export interface StoredDocuments {
  store: string;
  entries: [id: string, value: unknown][];
}

export interface DocumentsOptions {
  committer: Committer;
  /** Held while the catalog or the documents change and while a manifest is installed. */
  mutex: Mutex;
  /** Called after each change. */
  committed: () => void;
}

export class Documents {
  readonly #options: DocumentsOptions;
  readonly #stores = new Map<string, Map<string, unknown>>();
  readonly #watchers = new Map<string, (id: string) => void>();

  constructor(options: DocumentsOptions) {
    this.#options = options;
  }

  /** Returns the newest durable value, which must not be modified. */
  get(store: string, id: string): unknown | undefined {
    return this.#stores.get(store)?.get(id);
  }

  /**
   * Returns all documents of a store in the order of insertion; a new value does not change the
   * place of a document. The values must not be modified.
   */
  entries(store: string): [id: string, value: unknown][] {
    return [...(this.#stores.get(store) ?? [])];
  }

  /**
   * Applies all changes in order, or none. Resolves with the LSN of the last change once all are
   * durable and visible.
   */
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

  /** Loads the documents stored in a manifest. */
  load(stored: readonly StoredDocuments[]): void {
    for (const { store, entries } of stored) for (const [id, value] of entries) this.#apply({ store, id, value });
  }

  /** Applies a DOCUMENT operation from the log. Throws `corrupt` if its bytes are invalid. */
  replay(bytes: Uint8Array, lsn: number): void {
    this.#apply(this.check(bytes, lsn));
  }

  /** Returns the change of a DOCUMENT operation. Throws `corrupt` if its bytes are invalid. */
  check(bytes: Uint8Array, lsn: number): DocumentChange {
    let change: Partial<DocumentChange> | null;
    try {
      change = parse(bytes);
    } catch (error) {
      throw corruption(`log frame at LSN ${lsn}`, 0, `a document is not JSON (${(error as Error).message})`);
    }
    if (typeof change?.store !== 'string' || typeof change.id !== 'string' || change.value === undefined)
      throw corruption(`log frame at LSN ${lsn}`, 0, 'a document lacks its store, id or value');
    return change as DocumentChange;
  }

  /**
   * Applies a durable DOCUMENT operation of a leader's log, and tells those who watch its store.
   */
  follow(bytes: Uint8Array, lsn: number): void {
    this.replay(bytes, lsn);
    const { store, id } = parse(bytes);
    this.#watchers.get(store)?.(id);
  }

  /**
   * Calls `changed` with the id of each document of a store that a leader has changed. Each store
   * is watched by the one who keeps its documents in a form of their own.
   */
  watch(store: string, changed: (id: string) => void): void {
    this.#watchers.set(store, changed);
  }

  stored(): StoredDocuments[] {
    return [...this.#stores].map(([store, documents]) => ({ store, entries: [...documents] }));
  }
}

/**
 * Encodes an operation. The value kept in memory is parsed from these bytes, so a restart does not
 * change it.
 */
function encode({ store, id, value }: DocumentChange): Uint8Array {
  const text = JSON.stringify({ store, id, value });
  if (value === undefined || JSON.parse(text).value === undefined)
    throw new HedgerowError('invalid_input', `The document ${store}/${id} has no JSON value. Give null to remove it.`);
  return Buffer.from(text);
}

function parse(bytes: Uint8Array): DocumentChange {
  return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString()) as DocumentChange;
}
