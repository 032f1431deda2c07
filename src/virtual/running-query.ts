// A query over a virtual graph whose hyperedges come batch by batch, from the cache or from the backend; what came whole and small is kept.

import type { CachedResult, CacheKey, ResultCache } from './cache.ts';
import type { RowReading } from './compile/compile.ts';
import type { HydratedBatch, HydratedEdge, Provenance } from './hydrate/hydrate.ts';
import { type EdgeForm, edgeText } from './hydrate/json.ts';

export interface RunningQuery {
  readonly sql: string;
  readonly reading: RowReading;
  /** The hyperedges come from the cache. */
  readonly cached: boolean;
  readonly cacheEnabled: boolean;
  /** Rows and groups so far that are no edge. */
  readonly skipped: number;
  /** Leaving the loop early ends the query. Fails with `timeout`, `backend_failed`, `hydration_failed`. */
  batches(): AsyncIterable<readonly HydratedEdge[]>;
  /** The same as JSON, for answers: no edge is made. A batch is good until the next one is asked for. */
  json(form: EdgeForm): AsyncIterable<EdgesAsJson>;
}

export interface EdgesAsJson {
  readonly count: number;
  readonly bytes: Uint8Array;
}

/** Edges of a batch from the cache. */
const CACHED_BATCH = 1000;

/** What is known of a query before its rows come. */
export type Compiled = Pick<RunningQuery, 'sql' | 'reading'>;

export function fromCache(compiled: Compiled, { edges, skipped }: CachedResult, provenance: Provenance): RunningQuery {
  async function* batches(): AsyncGenerator<readonly HydratedEdge[], void, undefined> {
    for (let at = 0; at < edges.length; at += CACHED_BATCH)
      yield edges.slice(at, at + CACHED_BATCH).map((edge) => ({ ...edge, provenance }));
  }
  return {
    ...compiled,
    cached: true,
    cacheEnabled: true,
    skipped,
    batches,
    async *json({ before, after, isoTimes }) {
      for await (const batch of batches()) {
        const text = batch.map((edge) => before + edgeText(edge, isoTimes) + after).join('');
        yield { count: batch.length, bytes: Buffer.from(text) };
      }
    },
  };
}

/** Where a result goes when it has come whole. */
export interface Keeping {
  readonly cache: ResultCache;
  readonly key: CacheKey;
}

export function fromBackend(
  compiled: Compiled,
  source: () => AsyncIterable<HydratedBatch>,
  keeping: Keeping | undefined,
): RunningQuery {
  let skipped = 0;
  async function* taken(): AsyncGenerator<HydratedBatch, void, undefined> {
    // As they came: edges are made when all of them fit.
    let kept: HydratedBatch[] | undefined = keeping === undefined ? undefined : [];
    let bytes = 0;
    for await (const batch of source()) {
      skipped += batch.skipped;
      if (kept !== undefined) {
        bytes += batch.bytes;
        if (bytes > keeping!.cache.mostResultBytes) kept = undefined;
        else kept.push(batch);
      }
      yield batch;
    }
    if (kept !== undefined)
      keeping!.cache.put(keeping!.key, { edges: kept.flatMap(({ edges }) => edges), skipped }, bytes);
  }
  return {
    ...compiled,
    cached: false,
    cacheEnabled: keeping !== undefined,
    get skipped() {
      return skipped;
    },
    async *batches() {
      for await (const { edges } of taken()) yield edges;
    },
    async *json(form) {
      for await (const batch of taken()) yield { count: batch.count, bytes: batch.json(form) };
    },
  };
}
