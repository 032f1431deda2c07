// The plan of a MATCH: how its rows are found, joined and made into results; a plain value that EXPLAIN prints.

import type { RangeCondition } from '../../engine/index.ts';
import type { BoundExpression, BoundMatch } from '../binder/bound.ts';

/** Strategies of contract section 4. */
export type Strategy =
  | 'TPI_BUCKET_PUSHDOWN'
  | 'FMI_LOOKUP'
  | 'FMI_INTERSECT'
  | 'PSI_RANGE'
  | 'FULL_SCAN'
  | 'TEMPORAL_JOIN'
  | 'MEMBER_JOIN'
  | 'HASH_JOIN'
  | 'NESTED_LOOP';

/** One way into a table: what its indexes are asked for, all of it at once. Bounds are inclusive. Estimates are NaN where a run did not need them. */
export interface AccessPath {
  readonly startTs: number | undefined;
  readonly endTs: number | undefined;
  /** Nodes that every row holds. */
  readonly nodes: readonly number[];
  readonly ranges: readonly RangeCondition[];
  readonly strategy: Strategy;
  readonly estimatedRows: number;
  readonly bucketsScanned: number;
}

/** Which columns of a table a statement reads. */
export interface ColumnNeeds {
  times: boolean;
  ids: boolean;
  sizes: boolean;
  members: boolean;
  /** Property columns by id. */
  readonly properties: Set<number>;
}

export interface ScanPlan {
  readonly op: 'scan';
  readonly pattern: number;
  /** No path: no row can match. Several: a row found by more than one comes once. */
  readonly paths: readonly AccessPath[];
  /** Conditions on this pattern alone that no index answers. */
  readonly filter: readonly BoundExpression[];
  readonly needs: ColumnNeeds;
  /** NaN where a run did not need it. */
  readonly estimatedRows: number;
  readonly totalBuckets: number;
}

/** Pairs whose times lie close: `low <= right.event_ts - left.event_ts <= high`. `left` is the pattern the band is tied to. */
export interface Band {
  readonly left: number;
  readonly low: number;
  readonly high: number;
}

/** Pairs with common members. */
export interface MemberLink {
  readonly left: number;
  /** At least so many common members, 1 or more. */
  readonly least: number;
}

/** Equal values of an expression over the left side and one over the right pattern. */
export interface EqualLink {
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

export interface JoinPlan {
  readonly op: 'join';
  readonly strategy: 'TEMPORAL_JOIN' | 'MEMBER_JOIN' | 'HASH_JOIN' | 'NESTED_LOOP';
  readonly left: ScanPlan | JoinPlan;
  readonly right: ScanPlan;
  readonly band: Band | undefined;
  readonly members: MemberLink | undefined;
  readonly equal: readonly EqualLink[];
  /** Conditions over both sides that the join itself does not answer. */
  readonly filter: readonly BoundExpression[];
  readonly estimatedRows: number;
  /** No condition ties the sides together: every pair comes, up to a guard. */
  readonly cartesian: boolean;
}

/** What a MATCH gives that the indexes know without reading rows. */
export interface ShortcutPlan {
  readonly op: 'count' | 'bounds';
  readonly scan: ScanPlan;
  /** Per aggregate of the statement: what of the rows it is. */
  readonly values: readonly ('count' | 'least' | 'greatest')[];
}

export interface MatchPlan {
  readonly match: BoundMatch;
  readonly input: ScanPlan | JoinPlan;
  readonly shortcut: ShortcutPlan | undefined;
  /** Rows come in the order asked for: nothing is sorted. `reversed`: the scan runs from the newest row. */
  readonly order: 'none' | 'index' | 'reversed' | 'sort';
  readonly skip: number;
  /** Undefined: all. */
  readonly limit: number | undefined;
  /** Strategy of the driving access path or join. */
  readonly strategy: Strategy;
}

/** The index behind a strategy (contract section 4). */
export function indexTypeOf(strategy: Strategy): 'TPI' | 'FMI' | 'PSI' | 'NONE' {
  switch (strategy) {
    case 'TPI_BUCKET_PUSHDOWN':
    case 'TEMPORAL_JOIN':
      return 'TPI';
    case 'FMI_LOOKUP':
    case 'FMI_INTERSECT':
    case 'MEMBER_JOIN':
      return 'FMI';
    case 'PSI_RANGE':
      return 'PSI';
    default:
      return 'NONE';
  }
}
