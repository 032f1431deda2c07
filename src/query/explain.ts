// Converts a plan to the row of EXPLAIN or, with measured figures, to the row of ANALYZE.

import type { BoundExists, BoundExpression, BoundPattern, Value } from './binder/bound.ts';
import type { OperatorFigures } from './executor/context.ts';
import { addExists } from './planner/patterns-of.ts';
import {
  type AccessPath,
  type ExistsPart,
  type ExistsPlans,
  type InputPlan,
  indexTypeOf,
  type JoinPlan,
  type MatchPlan,
  type ScanPlan,
  type SemiStep,
  type Strategy,
  strategyOfJoin,
} from './planner/plan.ts';

/** One operator of a plan, readable by people and programs. */
export interface PlanNode {
  readonly operator: string;
  readonly [detail: string]: Value | readonly PlanNode[] | undefined;
}

/**
 * Returns the row of EXPLAIN. With `figures`, the row also contains what each operator really did.
 */
export function explainRow(
  plan: MatchPlan,
  figures?: ReadonlyMap<object, OperatorFigures>,
  lookedUp?: ReadonlySet<object>,
): Record<string, unknown> {
  const strategy = strategyOfRun(plan, lookedUp);
  const { scanned: read, total } = bucketsOf(plan);
  // A shortcut answers from the segment directories and reads no bucket.
  const scanned = plan.shortcut === undefined ? read : 0;
  const row: Record<string, unknown> = {
    strategy,
    index_type: indexTypeOf(strategy),
    buckets_scanned: scanned,
    total_buckets: total,
    speedup_factor: total / Math.max(1, scanned),
    estimated_rows: estimatedRows(plan),
    plan: outputNode(plan, figures, lookedUp),
  };
  const own = figures?.get(plan);
  if (figures !== undefined) {
    row.actual_rows = own?.rows ?? 0;
    row.elapsed_us = Math.round(own?.elapsedUs ?? 0);
  }
  return row;
}

/** Returns the strategy of the rows that a MATCH reads, as it was planned or run. */
export function strategyOfRun({ input, strategy }: MatchPlan, lookedUp?: ReadonlySet<object>): Strategy {
  const rows = input.op === 'existsFilter' ? input.input : input;
  return rows.op === 'join' ? strategyOfJoin(rows, lookedUp) : strategy;
}

function estimatedRows(plan: MatchPlan): number {
  const { grouping } = plan.match;
  const rows = grouping !== undefined && grouping.keys.length === 0 ? 1 : plan.input.estimatedRows;
  const left = Math.max(0, rows - plan.skip);
  return plan.limit === undefined ? left : Math.min(plan.limit, left);
}

/** The operators that find rows, and the plans of every EXISTS among their conditions. */
export interface RowsPlan {
  readonly input: InputPlan;
  readonly exists: ExistsPlans;
}

/**
 * Returns the estimated number of buckets that the scans read and the number of buckets that exist,
 * over all patterns.
 */
export function bucketsOf({ input, exists }: RowsPlan): { scanned: number; total: number } {
  let scanned = 0;
  let total = 0;
  for (const scan of scansOf(input, exists)) {
    const sum = scan.paths.reduce((buckets, path) => buckets + path.bucketsScanned, 0);
    scanned += Math.min(sum, scan.totalBuckets);
    total += scan.totalBuckets;
  }
  return { scanned, total };
}

function* scansOf(input: InputPlan, exists: ExistsPlans): Generator<ScanPlan, void, void> {
  if (input.op === 'scan') yield input;
  else if (input.op === 'join') {
    yield* scansOf(input.left, exists);
    yield input.right;
  } else yield* scansOf(input.input, exists);
  if (input.op !== 'existsFilter') return;
  for (const condition of input.conditions) yield* scansOfTests(condition, exists);
}

function* scansOfTests(condition: BoundExpression, exists: ExistsPlans): Generator<ScanPlan, void, void> {
  for (const test of testsOf(condition)) {
    const { filter, parts } = exists.get(test)!;
    for (const inner of filter) yield* scansOfTests(inner, exists);
    for (const part of parts) {
      if (part.op === 'once') yield* scansOf(part.input, exists);
      else {
        for (const { right } of part.steps) yield right;
        for (const inner of part.filter) yield* scansOfTests(inner, exists);
      }
    }
  }
}

function testsOf(condition: BoundExpression): BoundExists[] {
  const tests: BoundExists[] = [];
  addExists(condition, tests);
  return tests;
}

type Figures = ReadonlyMap<object, OperatorFigures> | undefined;

function actual(node: object, figures: Figures): Record<string, number> {
  if (figures === undefined) return {};
  const own = figures.get(node);
  return { actual_rows: own?.rows ?? 0, elapsed_us: Math.round(own?.elapsedUs ?? 0) };
}

/**
 * Returns the outermost operator. The other operators, down to the scans, are nested in its
 * `children`.
 */
function outputNode(plan: MatchPlan, figures: Figures, lookedUp: ReadonlySet<object> | undefined): PlanNode {
  const { match, shortcut } = plan;
  const steps: PlanNode[] = [];
  if (plan.skip > 0 || plan.limit !== undefined)
    steps.push({ operator: 'Window', skip: plan.skip, limit: plan.limit ?? null });
  if (match.orderBy.length > 0) {
    const by = match.orderBy.map(({ expression, descending }) => `${expression.text}${descending ? ' DESC' : ''}`);
    const order = { index: 'index', reversed: 'index, newest first', sort: 'sort', none: 'none' }[plan.order];
    steps.push({ operator: plan.order === 'sort' ? 'Sort' : 'IndexOrder', by, order });
  }
  if (match.distinct) steps.push({ operator: 'Distinct' });
  steps.push({ operator: 'Return', columns: match.items.map((item) => item.name) });
  if (match.grouping !== undefined) {
    const { keys, aggregates } = match.grouping;
    const operator =
      shortcut !== undefined
        ? shortcut.op === 'count'
          ? 'CountFromDirectory'
          : 'BoundsFromDirectory'
        : plan.nodeCounts === undefined
          ? 'Group'
          : 'GroupByEdgesPerNode';
    steps.push({ operator, keys: keys.map((key) => key.text), aggregates: aggregates.map(({ text }) => text) });
  }
  const patterns = match.inner.length === 0 ? match.patterns : [...match.patterns, ...match.inner];
  let node = new RowNodes(patterns, plan.exists, figures, lookedUp).of(plan.input);
  for (const step of steps.reverse()) node = { ...step, children: [node] };
  return { ...node, ...actual(plan, figures) };
}

/** Makes the plan nodes of the operators that find rows. */
export class RowNodes {
  readonly #patterns: readonly BoundPattern[];
  readonly #exists: ExistsPlans;
  readonly #figures: Figures;
  readonly #lookedUp: ReadonlySet<object> | undefined;

  /** `patterns` are all patterns of the statement, by number. */
  constructor(
    patterns: readonly BoundPattern[],
    exists: ExistsPlans,
    figures: Figures,
    lookedUp?: ReadonlySet<object>,
  ) {
    this.#patterns = patterns;
    this.#exists = exists;
    this.#figures = figures;
    this.#lookedUp = lookedUp;
  }

  of(input: InputPlan): PlanNode {
    if (input.op === 'scan') return this.#scan(input);
    if (input.op === 'existsFilter') {
      const { estimatedRows, conditions } = input;
      const own = { estimated_rows: estimatedRows, ...actual(input, this.#figures) };
      return this.#tested(this.of(input.input), conditions, own);
    }
    return this.#joined(input, this.of(input.left));
  }

  #scan(scan: ScanPlan): PlanNode {
    return scanNode(scan, this.#patterns[scan.pattern]!, this.#figures);
  }

  #joined(join: JoinPlan | SemiStep, left: PlanNode): PlanNode {
    const { estimatedRows, band, members, equal, filter, right } = join;
    return {
      operator: 'op' in join ? strategyOfJoin(join, this.#lookedUp) : join.strategy,
      estimated_rows: estimatedRows,
      ...actual(join, this.#figures),
      ...(band === undefined ? {} : { band: [finite(band.low), finite(band.high)] }),
      ...(members === undefined ? {} : { shared_members: members.least }),
      ...('node' in join && join.node !== undefined ? { node: join.node.text } : {}),
      ...(equal.length === 0 ? {} : { equal: equal.map((link) => `${link.left.text} = ${link.right.text}`) }),
      ...(filter.length === 0 ? {} : { filter: filter.map((condition) => condition.text) }),
      children: [left, this.#scan(right)],
    };
  }

  /**
   * Returns the operators that check conditions with EXISTS on the rows of `input`, one for each
   * condition. `own` is what is known of the rows that remain in the end.
   */
  #tested(input: PlanNode, conditions: readonly BoundExpression[], own: Record<string, number> = {}): PlanNode {
    let node = input;
    for (const [place, condition] of conditions.entries()) {
      const tests = testsOf(condition).map((test) => this.#test(test));
      node = {
        operator: testOperator(condition),
        condition: condition.text,
        ...(place === conditions.length - 1 ? own : {}),
        children: [node, ...tests],
      };
    }
    return node;
  }

  #test(test: BoundExists): PlanNode {
    const { filter, parts } = this.#exists.get(test)!;
    const aliases = test.patterns.map(({ alias }) => alias);
    const children = parts.map((part) => this.#part(part));
    const outer = filter.length === 0 ? [] : [this.#tested({ operator: 'OuterRows' }, filter)];
    return { operator: 'Exists', aliases, children: [...outer, ...children] };
  }

  #part(part: ExistsPart): PlanNode {
    if (part.op === 'once') return { operator: 'Once', children: [this.of(part.input)] };
    let node: PlanNode = { operator: 'OuterRows' };
    for (const step of part.steps) node = this.#joined(step, node);
    return this.#tested(node, part.filter);
  }
}

/**
 * Returns the name of the operator for a condition with EXISTS. A mark join computes whether each
 * EXISTS is true, for a condition in which this does not decide alone.
 */
function testOperator(condition: BoundExpression): string {
  if (condition.kind === 'exists') return 'SEMI_JOIN';
  if (condition.kind === 'not' && condition.operand.kind === 'exists') return 'ANTI_JOIN';
  return testsOf(condition).length === 0 ? 'Filter' : 'MARK_JOIN';
}

/** Returns the plan node of one pattern's scan. */
function scanNode(scan: ScanPlan, pattern: BoundPattern, figures: Figures): PlanNode {
  const filter = [...scan.texts.map(({ expression }) => expression), ...scan.filter];
  const own = {
    alias: pattern.alias,
    table: pattern.table.name,
    estimated_rows: scan.estimatedRows,
    ...actual(scan, figures),
    ...(filter.length === 0 ? {} : { filter: filter.map((condition) => condition.text) }),
  };
  const search = scan.search && { search: scan.search.expression.text };
  const paths = scan.paths.map((path) => ({ ...pathNode(path, pattern), ...search }));
  if (paths.length === 0) return { operator: 'NoRows', ...own };
  if (paths.length === 1) return { ...paths[0]!, ...own };
  return { operator: 'Union', ...own, children: paths };
}

function pathNode(path: AccessPath, { table }: BoundPattern): PlanNode {
  const { startTs, endTs, at, nodes, ranges, inRoles } = path;
  return {
    operator: path.strategy,
    estimated_rows: path.estimatedRows,
    buckets_scanned: path.bucketsScanned,
    ...(table.isOfNodes || startTs === undefined ? {} : { start_ts: startTs }),
    ...(table.isOfNodes || endTs === undefined ? {} : { end_ts: endTs }),
    ...(at === undefined ? {} : { at }),
    ...(nodes.length === 0 ? {} : { nodes: [...nodes] }),
    ...(inRoles.length === 0 ? {} : { roles: inRoles.map(({ node, role }) => `${node} IN ${role}`) }),
    ...(ranges.length === 0 ? {} : { ranges: ranges.map(rangeText) }),
  };
}

function rangeText({ column, low, high, lowInclusive, highInclusive }: AccessPath['ranges'][number]): string {
  const parts: string[] = [];
  if (low !== undefined) parts.push(`${column} ${lowInclusive === false ? '>' : '>='} ${low}`);
  if (high !== undefined) parts.push(`${column} ${highInclusive === false ? '<' : '<='} ${high}`);
  return parts.join(' AND ');
}

function finite(value: number): number | null {
  return Number.isFinite(value) ? value : null;
}
