// Plans how UPDATE and DELETE find their rows.

import type { BoundExpression, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { accessOf } from './access.ts';
import { addNeedsOfExists, existsShapes, planExists, withExists } from './exists.ts';
import { addNeeds, hasExists, noNeeds } from './patterns-of.ts';
import type { ColumnNeeds, ExistsFilterPlan, ExistsPlans, ScanPlan } from './plan.ts';
import { type Estimator, planScan } from './scans.ts';

export interface SearchPlan {
  readonly scan: ScanPlan;
  /** The scan, with the conditions that contain EXISTS. */
  readonly input: ScanPlan | ExistsFilterPlan;
  readonly exists: ExistsPlans;
  /** The conditions that are checked on rows. */
  readonly filter: readonly BoundExpression[];
}

export interface Search {
  /** The changed table. */
  readonly pattern: BoundPattern;
  /** The patterns of every EXISTS. */
  readonly inner: readonly BoundPattern[];
  readonly where: readonly BoundExpression[];
}

/** Plans a search. `addOthers` marks the columns of the changed table that are also read. */
export function planSearch(
  { pattern, inner, where }: Search,
  parameters: ParameterValues,
  estimate: Estimator,
  addOthers: (needs: readonly ColumnNeeds[], patterns: readonly BoundPattern[]) => void = () => {},
): SearchPlan {
  const tested = inner.length === 0 ? [] : where.filter(hasExists);
  const plain = tested.length === 0 ? where : where.filter((condition) => !tested.includes(condition));
  const shapes = existsShapes(tested);
  const patterns = [pattern, ...inner];
  const needs = patterns.map(noNeeds);
  const access = accessOf(pattern, plain, parameters, estimate.lsn);
  for (const condition of [...access.filter, ...tested]) addNeeds(condition, needs, patterns);
  addNeedsOfExists(shapes, needs, patterns);
  addOthers(needs, patterns);
  const scan = planScan(pattern, 0, access, needs[0]!, estimate);
  const windows = [access.ways.length === 1 ? access.ways[0] : undefined];
  const planning = { patterns, needs, parameters, estimate, totalBuckets: undefined };
  const exists = planExists(shapes, windows, scan.estimatedRows, planning);
  const input = withExists(scan, tested) as ScanPlan | ExistsFilterPlan;
  return { scan, input, exists, filter: [...access.filter, ...tested] };
}
