// A query over a virtual graph whose hyperedges come batch by batch, from the cache or from the backend; what came whole and small is kept.

import type { CachedResult, CacheKey, ResultCache } from './cache.ts';
import type { HydratedBatch, HydratedEdge, Provenance } from './hydrate.ts';

export interface RunningQuery {
  readonly sql: string;
  /** The hyperedges come from the cache. */
  readonly cached: boolean;
  readonly cacheEnabled: boolean;
  /** Rows and groups so far that are no edge. */
  readonly skipped: number;
  /** Leaving the loop early ends the query. Fails with `timeout`, `backend_failed`, `hydration_failed`. */
  batches(): AsyncIterable<readonly HydratedEdge[]>;
}

/** Edges of a batch from the cache. */
const CACHED_BATCH = 1000;

export function fromCache(sql: string, { edges, skipped }: CachedResult, provenance: Provenance): RunningQuery {
  return {
    sql,
    cached: true,
    cacheEnabled: true,
    skipped,
    async *batches() {
      for (let at = 0; at < edges.length; at += CACHED_BATCH)
        yield edges.slice(at, at + CACHED_BATCH).map((edge) => ({ ...edge, provenance }));
    },
  };
}

/** Where a result goes when it has come whole. */
export interface Keeping {
  readonly cache: ResultCache;
  readonly key: CacheKey;
}

export function fromBackend(
  sql: string,
  source: () => AsyncIterable<HydratedBatch>,
  keeping: Keeping | undefined,
): RunningQuery {
  let skipped = 0;
  return {
    sql,
    cached: false,
    cacheEnabled: keeping !== undefined,
    get skipped() {
      return skipped;
    },
    async *batches() {
      let kept: HydratedEdge[] | undefined = keeping === undefined ? undefined : [];
      let bytes = 0;
      for await (const batch of source()) {
        skipped += batch.skipped;
        if (kept !== undefined) {
          for (const edge of batch.edges) bytes += bytesOf(edge);
          if (bytes > keeping!.cache.mostResultBytes) kept = undefined;
          else for (const edge of batch.edges) kept.push(edge);
        }
        yield batch.edges;
      }
      if (kept !== undefined) keeping!.cache.put(keeping!.key, { edges: kept, skipped }, bytes);
    },
  };
}

/** In memory, about. */
function bytesOf({ members, properties }: HydratedEdge): number {
  let bytes = 120;
  for (const { vertex_local_id } of members) bytes += 80 + 2 * vertex_local_id.length;
  for (const [name, value] of Object.entries(properties))
    bytes += 2 * name.length + (typeof value === 'string' ? 2 * value.length : 8) + 32;
  return bytes;
}
