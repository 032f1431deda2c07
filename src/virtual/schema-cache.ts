// Caches the schemas of backends. The schema of files is valid until their fingerprint changes. The
// schema of a database server is valid for some seconds.

import type { BackendSchema, BackendSession, QueryOptions } from './backend.ts';
import type { BackendSpec } from './spec/spec.ts';

/** Milliseconds for which a schema of a database server, which may change unnoticed, is reused. */
const DATABASE_MS = 5000;
const MOST_SCHEMAS = 100;

interface Entry {
  readonly fingerprint: string;
  readonly at: number;
  readonly schema: BackendSchema;
}

export interface KnownSchema {
  readonly schema: BackendSchema;
  /**
   * False if the schema is that of a database server and comes from the cache: it may be outdated.
   */
  readonly isCertain: boolean;
}

export class SchemaCache {
  /** Returns the milliseconds of a monotonic clock. */
  readonly #now: () => number;
  /** Oldest first. */
  readonly #entries = new Map<string, Entry>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /**
   * Returns a schema from the cache or reads it. `fingerprint` must just have been taken from the
   * session. `anew` bypasses the cache. `counted` includes row counts, which queries do not need.
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
