// Shares reads among the patterns of a join. If patterns read overlapping windows of the same
// table with the same ranges and texts and no other conditions, the rows are read only once, and
// each pattern gets a part of them.

import type { JoinPlan, ScanPlan } from '../../planner/plan.ts';
import type { Batches, QueryContext } from '../context.ts';
import { MemberMemory } from '../joins/member-pairs.ts';
import { type Batch, batchOf, partOf, type RowSet } from './row-set.ts';
import { collectRows } from './scan-rows.ts';

/** A read that several scans share. */
interface SharedRead {
  /** A scan whose window is the union of the windows of the scans that share it. */
  readonly scan: ScanPlan;
  set: RowSet | undefined;
}

export interface SharedReads {
  /** The shared read of each scan. Scans that do not share a read are missing. */
  readonly byScan: ReadonlyMap<ScanPlan, SharedRead>;
  readonly members: MemberMemory;
}

export function sharedReads(plan: JoinPlan, context: QueryContext): SharedReads {
  const groups: ScanPlan[][] = [];
  const members = new MemberMemory(plan.left.op === 'join');
  const scans = scansOf(plan)
    .filter(isPlain)
    .sort((a, b) => startOf(a) - startOf(b));
  for (const scan of scans) {
    const group = groups.find((others) => others.some((other) => goTogether(other, scan, context)));
    if (group === undefined) groups.push([scan]);
    else group.push(scan);
  }
  const byScan = new Map<ScanPlan, SharedRead>();
  for (const group of groups) {
    if (group.length === 1) continue;
    const read: SharedRead = { scan: union(group), set: undefined };
    for (const scan of group) byScan.set(scan, read);
  }
  return { byScan, members };
}

function scansOf(plan: ScanPlan | JoinPlan): ScanPlan[] {
  return plan.op === 'scan' ? [plan] : [...scansOf(plan.left), plan.right];
}

/**
 * Returns whether a scan can share a read: it has one path without nodes, no search or filter. It
 * must also read times, by which the parts are found.
 */
function isPlain({ paths, search, filter, needs }: ScanPlan): boolean {
  if (search !== undefined || filter.length > 0) return false;
  return paths.length === 1 && paths[0]!.nodes.length === 0 && needs.times;
}

function startOf({ paths }: ScanPlan): number {
  return paths[0]!.startTs ?? -Infinity;
}

function endOf({ paths }: ScanPlan): number {
  return paths[0]!.endTs ?? Infinity;
}

function goTogether(a: ScanPlan, b: ScanPlan, { patterns }: QueryContext): boolean {
  if (patterns[a.pattern]!.table !== patterns[b.pattern]!.table) return false;
  if (startOf(a) > endOf(b) || startOf(b) > endOf(a)) return false;
  if (a.paths[0]!.at !== b.paths[0]!.at) return false;
  if (!areSame(a.texts, b.texts)) return false;
  const ranges = a.paths[0]!.ranges;
  const others = b.paths[0]!.ranges;
  return (
    ranges.length === others.length &&
    ranges.every((range, place) => {
      const other = others[place]!;
      return (
        range.column === other.column &&
        range.low === other.low &&
        range.high === other.high &&
        range.lowInclusive === other.lowInclusive &&
        range.highInclusive === other.highInclusive
      );
    })
  );
}

function areSame(texts: ScanPlan['texts'], others: ScanPlan['texts']): boolean {
  return (
    texts.length === others.length &&
    texts.every(({ column, text }, place) => column === others[place]!.column && text === others[place]!.text)
  );
}

/** Returns the first scan of the group, with the window and columns of all scans in it. */
function union(group: readonly ScanPlan[]): ScanPlan {
  const start = Math.min(...group.map(startOf));
  const end = Math.max(...group.map(endOf));
  const path = {
    ...group[0]!.paths[0]!,
    startTs: start === -Infinity ? undefined : start,
    endTs: end === Infinity ? undefined : end,
  };
  const needs = {
    times: true,
    ids: group.some((scan) => scan.needs.ids),
    sizes: group.some((scan) => scan.needs.sizes),
    members: group.some((scan) => scan.needs.members),
    masks: group.some((scan) => scan.needs.masks),
    properties: new Set(group.flatMap((scan) => [...scan.needs.properties])),
  };
  return { ...group[0]!, paths: [path], needs };
}

/** Returns all rows of a scan in one set, like `collectRows`. */
export function* collectShared(
  plan: ScanPlan,
  reads: SharedReads,
  context: QueryContext,
  sorted: boolean,
): Generator<null, RowSet, void> {
  const read = reads.byScan.get(plan);
  if (read === undefined) return yield* collectRows(plan, context, sorted);
  for (const batch of context.observed(plan, readPart(plan, read, context))) {
    if (batch !== null) return batch.sides[plan.pattern]!.set;
    yield null;
  }
  throw new Error('a shared read gave no rows');
}

function* readPart(plan: ScanPlan, read: SharedRead, context: QueryContext): Batches<Batch> {
  if (read.set === undefined) read.set = yield* collectRows({ ...read.scan, pattern: plan.pattern }, context, true);
  else context.touch(plan, plan.paths[0]!.bucketsScanned);
  yield batchOf(partOf(read.set, startOf(plan), endOf(plan)), plan.pattern);
}
