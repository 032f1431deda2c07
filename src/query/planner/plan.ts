// The plan of a MATCH: how its rows are found, joined and made into results. It consists of plain
// values, and EXPLAIN prints it.

import type { RangeCondition, RoleCondition, SearchCondition, TextCondition } from '../../engine/index.ts';
import type {
  BoundAggregate,
  BoundComparison,
  BoundExists,
  BoundExpression,
  BoundMatch,
  BoundSearch,
} from '../binder/bound.ts';

/** The ways to find rows and pairs, as EXPLAIN and answers name them. */
export type Strategy =
  | 'TPI_BUCKET_PUSHDOWN'
  | 'FMI_LOOKUP'
  | 'FMI_INTERSECT'
  | 'PSI_RANGE'
  | 'INTERVAL_STAB'
  | 'TEXT_SEARCH'
  | 'FULL_SCAN'
  | 'NODE_LOOKUP'
  | 'TEMPORAL_JOIN'
  | 'MEMBER_JOIN'
  | 'HASH_JOIN'
  | 'NESTED_LOOP';

/**
 * One access to a table. All its conditions must hold. Bounds are inclusive. The estimates are NaN
 * if a run did not need them.
 */
export interface AccessPath {
  readonly startTs: number | undefined;
  readonly endTs: number | undefined;
  /** A time at which the edges hold. */
  readonly at: number | undefined;
  /** Nodes that every row contains. */
  readonly nodes: readonly number[];
  readonly ranges: readonly RangeCondition[];
  /** Roles that some of the nodes have in every row. */
  readonly inRoles: readonly RoleCondition[];
  readonly strategy: Strategy;
  readonly estimatedRows: number;
  readonly bucketsScanned: number;
}

/** The columns of a table that a statement reads. */
export interface ColumnNeeds {
  times: boolean;
  ids: boolean;
  sizes: boolean;
  members: boolean;
  /** Role masks, parallel to the members. */
  masks: boolean;
  /** Property columns by id. */
  readonly properties: Set<number>;
}

/** A condition that a TEXT column is a given text. The core checks it, without an index. */
export interface TextEquality extends TextCondition {
  /** The condition itself. */
  readonly expression: BoundComparison;
}

/** A search that the text index of a table answers. */
export interface PlannedSearch extends SearchCondition {
  /** The condition itself. */
  readonly expression: BoundSearch;
}

export interface ScanPlan {
  readonly op: 'scan';
  readonly pattern: number;
  /**
   * Without a path, no row can match. With several paths, a row that more than one of them finds is
   * returned once.
   */
  readonly paths: readonly AccessPath[];
  /** Conditions on this pattern alone that the core checks on the rows of each path. */
  readonly texts: readonly TextEquality[];
  /** See `Access`. */
  readonly search: PlannedSearch | undefined;
  /** Further conditions on this pattern alone that no index answers. */
  readonly filter: readonly BoundExpression[];
  readonly needs: ColumnNeeds;
  /** NaN if a run did not need the estimate. */
  readonly estimatedRows: number;
  readonly totalBuckets: number;
}

/**
 * Pairs whose times are close to each other: `low <= right.event_ts - left.event_ts <= high`.
 * `left` is the pattern on the left side whose times are compared.
 */
export interface Band {
  readonly left: number;
  readonly low: number;
  readonly high: number;
}

/** Pairs with common members. */
export interface MemberLink {
  readonly left: number;
  /** Minimum number of common members, 1 or more. */
  readonly least: number;
  /**
   * Whether the right side is expected to be looked up node by node
   * (executor/joins/node-lookups.ts). Whether it is, is decided when the left side has been read.
   */
  readonly looksUp?: boolean;
}

/** An expression over the left side and one over the right pattern, whose values must be equal. */
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
  /** Conditions over both sides that the join strategy does not check. */
  readonly filter: readonly BoundExpression[];
  readonly estimatedRows: number;
  /** True if no condition connects or filters the pairs, so the join yields every pair. */
  readonly cartesian: boolean;
}

/** The rows of `input` for which conditions that contain EXISTS are true. */
export interface ExistsFilterPlan {
  readonly op: 'existsFilter';
  readonly input: ScanPlan | JoinPlan;
  readonly conditions: readonly BoundExpression[];
  readonly estimatedRows: number;
}

export type InputPlan = ScanPlan | JoinPlan | ExistsFilterPlan;

/** A node id on one side that must be among the members of a row on the other side. */
export type NodeLink =
  /** A value over the left side; the members are those of the right pattern. */
  | { readonly value: 'left'; readonly node: BoundExpression; readonly text: string }
  /** A value over the right pattern; the members are those of the pattern `members` on the left. */
  | { readonly value: 'right'; readonly node: BoundExpression; readonly members: number; readonly text: string };

/** A pattern of an EXISTS, joined to the outer rows and the patterns of the steps before it. */
export interface SemiStep {
  readonly strategy: JoinPlan['strategy'];
  readonly right: ScanPlan;
  /** Not set if the strategy is NESTED_LOOP. */
  readonly band: Band | undefined;
  readonly members: MemberLink | undefined;
  readonly node: NodeLink | undefined;
  /** Set only if the strategy is HASH_JOIN. */
  readonly equal: readonly EqualLink[];
  /** Conditions over both sides that the strategy does not check. */
  readonly filter: readonly BoundExpression[];
  readonly estimatedRows: number;
}

/**
 * Patterns of an EXISTS that are connected to each other. `once`: no condition connects them to the
 * outer rows, so it is enough to know whether there is a row. `semi`: for each outer row, a
 * combination of rows that satisfies all conditions is searched.
 */
export type ExistsPart =
  | { readonly op: 'once'; readonly input: InputPlan }
  | {
      readonly op: 'semi';
      readonly steps: readonly SemiStep[];
      /** Conditions with an EXISTS inside this one. */
      readonly filter: readonly BoundExpression[];
      /** Number of the side that carries the positions of the outer rows; no pattern has it. */
      readonly marker: number;
    };

/** An EXISTS is true for an outer row if the filter is true and every part has a match. */
export interface ExistsPlan {
  /** Conditions that read no pattern of the EXISTS itself. */
  readonly filter: readonly BoundExpression[];
  readonly parts: readonly ExistsPart[];
  /** Number of the side that carries the positions of the tested rows; no pattern has it. */
  readonly marker: number;
}

/** The plan of every EXISTS of a statement. */
export type ExistsPlans = ReadonlyMap<BoundExists, ExistsPlan>;

/** Aggregates of a MATCH that the segment directories answer without reading rows. */
export interface ShortcutPlan {
  readonly op: 'count' | 'bounds';
  readonly scan: ScanPlan;
  /** For each aggregate of the statement, the figure that answers it. */
  readonly values: readonly ('count' | 'least' | 'greatest')[];
}

/**
 * Aggregates over the pairs of nodes and the edges they are in, which need only the number of edges
 * of each node.
 */
export interface NodeCountPlan {
  /** The join whose pairs are not made. */
  readonly join: JoinPlan;
  readonly nodes: ScanPlan;
  readonly edges: ScanPlan;
  /** Roles of which a member must have one. Undefined: all members count. */
  readonly mask: number | undefined;
  /** Whether every node is a group of its own: its key is one of the keys of groups. */
  readonly areOwnGroups: boolean;
  /** The aggregates of the statement, which read the nodes only. */
  readonly aggregates: readonly BoundAggregate[];
}

/** Set if only the rows with the best scores of the scan's search are needed. */
export interface BestPlan {
  readonly k: number;
  /** What is read of these rows if the scores are known. */
  readonly needs: ColumnNeeds;
}

export interface MatchPlan {
  readonly match: BoundMatch;
  readonly input: InputPlan;
  readonly exists: ExistsPlans;
  readonly shortcut: ShortcutPlan | undefined;
  readonly nodeCounts: NodeCountPlan | undefined;
  /**
   * `none`: no order was requested. `index`: the scan yields rows in the requested order.
   * `reversed`: the scan begins with the newest row. `sort`: rows must be sorted.
   */
  readonly order: 'none' | 'index' | 'reversed' | 'sort';
  readonly best: BestPlan | undefined;
  readonly skip: number;
  /** Undefined: all rows. */
  readonly limit: number | undefined;
  /** Strategy of the driving access path or join. */
  readonly strategy: Strategy;
}

/** Returns the strategy of a join. `lookedUp` contains the joins of a run that looked nodes up. */
export function strategyOfJoin(join: JoinPlan, lookedUp?: ReadonlySet<object>): Strategy {
  const looks = lookedUp === undefined ? join.members?.looksUp === true : lookedUp.has(join);
  return looks ? 'NODE_LOOKUP' : join.strategy;
}

/** Returns the index that a strategy uses. */
export function indexTypeOf(strategy: Strategy): 'TPI' | 'FMI' | 'PSI' | 'INTERVAL' | 'TEXT' | 'NONE' {
  switch (strategy) {
    case 'TPI_BUCKET_PUSHDOWN':
    case 'TEMPORAL_JOIN':
      return 'TPI';
    case 'FMI_LOOKUP':
    case 'FMI_INTERSECT':
    case 'MEMBER_JOIN':
    case 'NODE_LOOKUP':
      return 'FMI';
    case 'PSI_RANGE':
      return 'PSI';
    case 'INTERVAL_STAB':
      return 'INTERVAL';
    case 'TEXT_SEARCH':
      return 'TEXT';
    default:
      return 'NONE';
  }
}
