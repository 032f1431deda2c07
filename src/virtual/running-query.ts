// Runs a query over a virtual graph. Its hyperedges arrive in batches, from the cache or from the
// backend. A result that was read to its end and is small enough is cached.

import { inSlices, type Pauses, type Steps } from '../schedule/steps.ts';
import type { CachedResult, CacheKey, ResultCache } from './cache.ts';
import type { RowReading } from './compile/compile.ts';
import type { HydratedBatch, HydratedEdge, Provenance } from './hydrate/hydrate.ts';
import { type EdgeForm, type EdgesAsJson, edgeText } from './hydrate/json.ts';

export interface RunningQuery {
  readonly sql: string;
  readonly reading: RowReading;
  /** Whether the hyperedges come from the cache. */
  readonly cached: boolean;
  readonly cacheEnabled: boolean;
  /** Number of rows and groups read so far that did not become edges. */
  readonly skipped: number;
  /**
   * Returns the hyperedges in batches. Leaving the loop early ends the query. Fails with `timeout`,
   * `backend_failed`, `hydration_failed`.
   */
  batches(): AsyncIterable<readonly HydratedEdge[]>;
  /**
   * Returns the hyperedges as JSON for answers, without building edge objects. A piece is valid
   * until the next piece is requested.
   */
  json(form: EdgeForm): AsyncIterable<EdgesAsJson>;
}

/** A batch of edges from the cache ends when its edges and their members are this many. */
const MEMBERS_OF_BATCH = 2000;

/** The part of a query that is known before its rows arrive. */
export type Compiled = Pick<RunningQuery, 'sql' | 'reading'>;

export function fromCache(compiled: Compiled, { edges, skipped }: CachedResult, provenance: Provenance): RunningQuery {
  async function* batches(): AsyncGenerator<readonly HydratedEdge[], void, undefined> {
    for (let at = 0; at < edges.length; ) {
      const batch: HydratedEdge[] = [];
      for (let members = 0; members < MEMBERS_OF_BATCH && at < edges.length; at++) {
        const edge = edges[at]!;
        members += 1 + edge.members.length;
        batch.push({ ...edge, provenance });
      }
      yield batch;
    }
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

/** Where to store a result that was read to its end, and how building its edges is interrupted. */
export interface Keeping {
  readonly cache: ResultCache;
  readonly key: CacheKey;
  readonly pauses: Pauses;
}

export function fromBackend(
  compiled: Compiled,
  source: () => AsyncIterable<HydratedBatch>,
  keeping: Keeping | undefined,
): RunningQuery {
  let skipped = 0;
  async function* taken(): AsyncGenerator<HydratedBatch, void, undefined> {
    // The batches as received. Their edges are built only once the whole result is known to fit.
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
    if (kept === undefined) return;
    const { cache, key, pauses } = keeping!;
    cache.put(key, { edges: await inSlices(edgesOf(kept), pauses), skipped }, bytes);
  }
  return {
    ...compiled,
    cached: false,
    cacheEnabled: keeping !== undefined,
    get skipped() {
      return skipped;
    },
    async *batches() {
      for await (const batch of taken()) yield* batch.parts();
    },
    async *json(form) {
      for await (const batch of taken()) yield* batch.json(form);
    },
  };
}

function* edgesOf(batches: readonly HydratedBatch[]): Steps<HydratedEdge[]> {
  const edges: HydratedEdge[] = [];
  for (const batch of batches) {
    for (const part of batch.parts()) {
      for (const edge of part) edges.push(edge);
      yield undefined;
    }
  }
  return edges;
}
