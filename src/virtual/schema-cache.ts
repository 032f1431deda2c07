// Caches the schemas of backends: for files as long as their fingerprint is unchanged, for database
// servers for some seconds.

import type { BackendSchema, BackendSession, QueryOptions } from './backend.ts';
import type { BackendSpec } from './spec/spec.ts';

/** Tables of a database server may change without our knowledge. */
const DATABASE_MS = 5000;
const MOST_SCHEMAS = 100;

interface Entry {
  readonly fingerprint: string;
  readonly at: number;
  readonly schema: BackendSchema;
}

export interface KnownSchema {
  readonly schema: BackendSchema;
  /** False: read from a database server some seconds ago. */
  readonly isCertain: boolean;
}

export class SchemaCache {
  /** Milliseconds of a monotonic clock. */
  readonly #now: () => number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * `fingerprint`: just taken from the session. `anew` bypasses the cache; `counted` includes row
   * counts, which queries do not need.
   */
  async get(
    backend: BackendSpec,
    session: BackendSession,
    fingerprint: string,
    options: QueryOptions,
    { anew = false, counted = false } = {},
  ): Promise<KnownSchema> {
    const key = JSON.stringify(backend);
    const known = this.#entries.get(key);
    if (!anew && known !== undefined && this.#isFresh(known, fingerprint))
      return { schema: known.schema, isCertain: fingerprint !== '' };
    const schema = await session.schema({ ...options, counts: counted });
    this.#entries.delete(key);
    this.#entries.set(key, { fingerprint, at: this.#now(), schema });
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= MOST_SCHEMAS) break;
      this.#entries.delete(oldest);
    }
    return { schema, isCertain: true };
  }

  #isFresh({ fingerprint, at }: Entry, now: string): boolean {
    return now === '' ? this.#now() - at < DATABASE_MS : fingerprint === now;
  }
}
