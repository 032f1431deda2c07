// Results of queries over virtual graphs, kept up to a number of bytes: the least recently used go first.
//
// Invariants: #bytes is the sum of the entries' sizes and never passes the limit; an entry is in #entries and in #byGraph, or in neither.

import type { SqlStatement } from './backend.ts';
import type { HydratedEdge } from './hydrate/hydrate.ts';

/** What a result is made of: two that agree in all of it are the same result. */
export interface CacheKey {
  readonly graph: string;
  readonly specVersion: number;
  readonly statement: SqlStatement;
  /** Of the backend's files; empty for a database. */
  readonly fingerprint: string;
}

export interface CachedResult {
  /** Their provenance is of the call that made them; whoever gives them again gives his own. */
  readonly edges: readonly HydratedEdge[];
  readonly skipped: number;
}

interface Entry {
  readonly graph: string;
  readonly result: CachedResult;
  readonly bytes: number;
}

/** Bytes that an entry takes besides its edges, about. */
const ENTRY_BYTES = 500;

export class ResultCache {
  readonly #mostBytes: number;
  /** In the order of use, the latest last. */
  readonly #entries = new Map<string, Entry>();
  readonly #byGraph = new Map<string, Set<string>>();
  #bytes = 0;

  /** `mostBytes` 0: nothing is kept. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Most bytes of one result that is worth collecting. */
  get mostResultBytes(): number {
    return this.#mostBytes / 4;
  }

  get(key: CacheKey): CachedResult | undefined {
    const text = textOf(key);
    const entry = this.#entries.get(text);
    if (entry === undefined) return undefined;
    this.#entries.delete(text);
    this.#entries.set(text, entry);
    return entry.result;
  }

  /** `bytes`: of the edges as JSON, about. A result larger than a quarter of the cache is not kept. */
  put(key: CacheKey, result: CachedResult, bytes: number): void {
    const text = textOf(key);
    this.#remove(text);
    const size = bytes + 2 * text.length + ENTRY_BYTES;
    if (size > this.mostResultBytes) return;
    this.#entries.set(text, { graph: key.graph, result, bytes: size });
    const texts = this.#byGraph.get(key.graph) ?? new Set();
    this.#byGraph.set(key.graph, texts.add(text));
    this.#bytes += size;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#mostBytes) return;
      this.#remove(oldest);
    }
  }

  /** Forgets the results of a graph; how many they were. */
  clear(graph: string): number {
    const texts = [...(this.#byGraph.get(graph) ?? [])];
    for (const text of texts) this.#remove(text);
    return texts.length;
  }

  #remove(text: string): void {
    const entry = this.#entries.get(text);
    if (entry === undefined) return;
    this.#entries.delete(text);
    this.#bytes -= entry.bytes;
    const texts = this.#byGraph.get(entry.graph);
    texts?.delete(text);
    if (texts?.size === 0) this.#byGraph.delete(entry.graph);
  }
}

/** JSON keeps the parts apart, and a number apart from its text. */
function textOf({ graph, specVersion, statement: { sql, parameters }, fingerprint }: CacheKey): string {
  return JSON.stringify([graph, specVersion, fingerprint, sql, parameters]);
}
