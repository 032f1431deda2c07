// Reads the rows of a pattern backwards from the newest one, for ORDER BY event_ts DESC with a
// LIMIT. It reads one time window after another; each is earlier and wider than the one before.

import type { AccessPath, ScanPlan } from '../../planner/plan.ts';
import type { Batches, QueryContext } from '../context.ts';
import { type Batch, batchOf, selectFrom } from '../rows/row-set.ts';
import { compacted, scanPaths } from '../rows/scan-rows.ts';

/**
 * Width of the first window in buckets, and the factor by which each window is wider than the one
 * before.
 */
const FIRST_BUCKETS = 16;
const GROWTH = 4;

/** Yields batches in descending (event_ts, id) order until at least `wanted` rows were yielded. */
export function newestFirst(plan: ScanPlan, context: QueryContext, wanted: number): Batches<Batch> {
  return context.observed(plan, windows(plan, context, wanted));
}

function* windows(plan: ScanPlan, context: QueryContext, wanted: number): Batches<Batch> {
  const path = plan.paths[0];
  if (path === undefined) return;
  const pattern = context.patterns[plan.pattern]!;
  while (!context.source.loadEnds(pattern, path.startTs, path.endTs)) yield null;
  const bounds = context.source.timeBounds(pattern, path.startTs, path.endTs);
  if (bounds === undefined) return;
  let end = bounds.greatest;
  let width = FIRST_BUCKETS * pattern.table.bucketSeconds;
  let given = 0;
  while (given < wanted && end >= bounds.least) {
    const start = Math.max(bounds.least, end - width + 1);
    const batches: Batch[] = [];
    for (const batch of scanPaths(windowOf(plan, path, start, end), context)) {
      if (batch !== null) {
        const set = compacted(batch, plan.pattern);
        context.chargeSet(set);
        batches.push(batchOf(set, plan.pattern));
      }
      yield null;
    }
    for (const batch of batches.reverse()) {
      yield reversed(batch);
      given += batch.count;
      if (given >= wanted) return;
    }
    end = start - 1;
    width *= GROWTH;
  }
}

function windowOf(plan: ScanPlan, path: AccessPath, startTs: number, endTs: number): ScanPlan {
  return { ...plan, paths: [{ ...path, startTs, endTs }] };
}

function reversed(batch: Batch): Batch {
  const places = new Uint32Array(batch.count);
  for (let i = 0; i < batch.count; i++) places[i] = batch.count - 1 - i;
  return selectFrom(batch, places);
}
