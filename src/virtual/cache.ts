// Caches the results of queries over virtual graphs. When the cache exceeds its size in bytes,
// drops the least recently used results.
//
// Invariants: #bytes is the sum of the entries' sizes and never exceeds the limit. An entry is in
// both #entries and #byGraph, or in neither.

import type { SqlStatement } from './backend.ts';
import type { HydratedEdge } from './hydrate/hydrate.ts';

/** Everything that a result depends on. Equal keys mean equal results. */
export interface CacheKey {
  readonly graph: string;
  readonly specVersion: number;
  readonly statement: SqlStatement;
  /** Fingerprint of the backend's files; empty for a database server. */
  readonly fingerprint: string;
}

export interface CachedResult {
  /**
   * The edges have the provenance of the call that produced them. A later call substitutes its own
   * provenance.
   */
  readonly edges: readonly HydratedEdge[];
  readonly skipped: number;
}

interface Entry {
  readonly graph: string;
  readonly result: CachedResult;
  readonly bytes: number;
}

/** Approximate size of an entry in bytes without its edges. */
const ENTRY_BYTES = 500;

export class ResultCache {
  readonly #mostBytes: number;
  /** Ordered by last use, the most recently used entry last. */
  readonly #entries = new Map<string, Entry>();
  readonly #byGraph = new Map<string, Set<string>>();
  #bytes = 0;

  /** `mostBytes` 0 disables the cache. */
  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Maximum size of one cached result in bytes. Larger results are not cached. */
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

  /**
   * Stores a result, unless it is larger than a quarter of the cache. `bytes` is the approximate
   * memory that its edges take.
   */
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

  /** Removes the results of a graph and returns their number. */
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

/** Returns the key as JSON, which separates the parts and distinguishes the number 1 from "1". */
function textOf({ graph, specVersion, statement: { sql, parameters }, fingerprint }: CacheKey): string {
  return JSON.stringify([graph, specVersion, fingerprint, sql, parameters]);
}
