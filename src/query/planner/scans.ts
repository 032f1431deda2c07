// Plans the scan of one pattern: its access paths, with their estimates.

import {
  type RangeCondition,
  type RoleCondition,
  type SearchCondition,
  strategyOf as scanStrategy,
} from '../../engine/index.ts';
import type { BoundPattern } from '../binder/bound.ts';
import type { Access, Bounds } from './access.ts';
import type { AccessPath, ColumnNeeds, ScanPlan, Strategy } from './plan.ts';

/** An estimate that indexes and segment directories give without reading rows. */
export interface Estimate {
  readonly rows: number;
  readonly strategy: Strategy;
  readonly bucketsScanned: number;
  readonly totalBuckets: number;
}

export interface EstimateRequest {
  readonly startTs: number | undefined;
  readonly endTs: number | undefined;
  readonly at: number | undefined;
  readonly nodes: readonly number[];
  readonly ranges: readonly RangeCondition[];
  readonly inRoles: readonly RoleCondition[];
  readonly search?: SearchCondition | undefined;
}

export interface Estimator {
  (pattern: BoundPattern, request: EstimateRequest): Estimate;
  /** LSN of the state that is read; the newest state if it is left out. */
  lsn?: number;
}

/**
 * Keeps several ways only if an index answers each of them, and if together they read fewer buckets
 * than the single way that covers them.
 */
export function cheaper(access: Access, pattern: BoundPattern, estimate: Estimator): Access {
  const { instead } = access;
  if (instead === undefined) return access;
  const paths = access.ways.map((way) => planPath(pattern, way, estimate));
  const whole = planPath(pattern, instead.ways[0]!, estimate);
  const touched = paths.reduce((sum, path) => sum + path.bucketsScanned, 0);
  const isIndexed = paths.every(({ strategy, ranges }) => strategy !== 'FULL_SCAN' || ranges.some(isOfIds));
  return isIndexed && touched < whole.bucketsScanned ? access : instead;
}

/** Segments without such ids are left out. */
function isOfIds({ column }: RangeCondition): boolean {
  return column === 'id';
}

/** Plans the scan of one pattern. `totalBuckets` is the same as for `planShape`. */
export function planScan(
  pattern: BoundPattern,
  place: number,
  access: Access,
  needs: ColumnNeeds,
  estimate: Estimator,
  totalBuckets?: (pattern: BoundPattern) => number,
): ScanPlan {
  const ways = access.ways.filter((way) => way.startTs <= way.endTs);
  const { texts, search, filter } = access;
  if (totalBuckets !== undefined && ways.length <= 1) {
    const paths = searching(
      search,
      ways.map((way) => planOnlyPath(pattern, way, estimate)),
    );
    const total = totalBuckets(pattern);
    const estimatedRows = Number.NaN;
    return { op: 'scan', pattern: place, paths, texts, search, filter, needs, estimatedRows, totalBuckets: total };
  }
  const paths = searching(
    search,
    ways.map((way) => planPath(pattern, way, estimate, search)),
  );
  // Rows that several ways find are recognized by their keys, so the keys are read.
  if (paths.length > 1) {
    needs.times = true;
    needs.ids = true;
  }
  const total = estimate(pattern, EVERYTHING);
  const sum = paths.reduce((rows, path) => rows + path.estimatedRows, 0);
  const estimatedRows = Math.min(total.rows, sum);
  const buckets = total.totalBuckets;
  return { op: 'scan', pattern: place, paths, texts, search, filter, needs, estimatedRows, totalBuckets: buckets };
}

/** A search narrows every way, so it names the strategy. */
function searching(search: Access['search'], paths: AccessPath[]): AccessPath[] {
  return search === undefined ? paths : paths.map((path) => ({ ...path, strategy: 'TEXT_SEARCH' as const }));
}

const EVERYTHING: EstimateRequest = {
  startTs: undefined,
  endTs: undefined,
  at: undefined,
  nodes: [],
  ranges: [],
  inRoles: [],
};

function planPath(pattern: BoundPattern, way: Bounds, estimate: Estimator, search?: SearchCondition): AccessPath {
  const request = requestOf(way);
  const { rows, strategy, bucketsScanned } = estimate(pattern, search === undefined ? request : { ...request, search });
  return pathOf(request, isOneNode(pattern, way) ? 'NODE_LOOKUP' : strategy, rows, bucketsScanned);
}

/** Is called for every statement. In Node 20 a spread of the request takes 2 us. */
function pathOf(
  { startTs, endTs, at, nodes, ranges, inRoles }: EstimateRequest,
  strategy: Strategy,
  estimatedRows: number,
  bucketsScanned: number,
): AccessPath {
  return { startTs, endTs, at, nodes, ranges, inRoles, strategy, estimatedRows, bucketsScanned };
}

/**
 * Plans an access that has only one way. It needs no estimates, because there is nothing to choose
 * and the strategy is known. The exception is a range on a column without given nodes: the range
 * may drive the scan.
 */
function planOnlyPath(pattern: BoundPattern, way: Bounds, estimate: Estimator): AccessPath {
  if (way.ranges.length > 0 && way.nodes.size === 0) return planPath(pattern, way, estimate);
  const request = requestOf(way);
  const strategy = isOneNode(pattern, way) ? 'NODE_LOOKUP' : scanStrategy(request, request.nodes.length, false);
  return pathOf(request, strategy, Number.NaN, Number.NaN);
}

/** Returns whether a way finds one node, by its key. */
function isOneNode({ table }: BoundPattern, { startTs, endTs }: Bounds): boolean {
  return table.isOfNodes && startTs === endTs;
}

function requestOf(way: Bounds): EstimateRequest {
  return {
    startTs: way.startTs > -Number.MAX_SAFE_INTEGER ? way.startTs : undefined,
    endTs: way.endTs < Number.MAX_SAFE_INTEGER ? way.endTs : undefined,
    at: way.at,
    nodes: [...way.nodes],
    ranges: way.ranges,
    inRoles: way.inRoles,
  };
}
