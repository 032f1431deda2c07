// What the operators of one running statement share: rows, parameters, and limits on memory and work.

import type { ColumnPlan } from '../../core/index.ts';
import type { Scan } from '../../engine/index.ts';
import type { SegmentScan } from '../../engine/scan-segments.ts';
import type { ScanBounds } from '../../engine/types.ts';
import { HedgerowError } from '../../errors.ts';
import type { BoundExpression, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import type { ScanPlan } from '../planner/plan.ts';
import { rowsAtOnce } from './batch-size.ts';
import { type Environment, evaluate } from './evaluate.ts';
import { type Batch, selectFrom } from './row-set.ts';
import { Scratch, truePlaces, type Vector } from './vector.ts';

/** Rows of tables as one statement sees them: a snapshot, or a transaction. */
export interface RowSource {
  scan(pattern: BoundPattern, request: ScanBounds, plan: ColumnPlan): Scan;
  /** The rows of a request without nodes and limit, segment by segment. */
  segmentScan(pattern: BoundPattern, request: ScanBounds): SegmentScan;
  /** Live rows in a window; undefined bounds do not bound. */
  count(pattern: BoundPattern, startTs: number | undefined, endTs: number | undefined): number;
  /** Least and greatest time of live rows in a window; undefined: there is none. */
  timeBounds(
    pattern: BoundPattern,
    startTs: number | undefined,
    endTs: number | undefined,
  ): { least: number; greatest: number } | undefined;
}

/** Operators give batches, and null now and then so that others get a turn: a step between two is a few ms at most. */
export type Steps<T> = Generator<T | null, void, void>;

/** Bytes that sorts, groups and join tables of one statement may hold together. */
export const QUERY_MEMORY_BYTES = 512 * 2 ** 20;
const TOO_LARGE =
  'The statement needs too much memory for sorting, grouping or joining; narrow its window or add a LIMIT';
/** Pairs of a product that no condition ties together. */
export const MOST_PRODUCT_ROWS = 1_000_000;
/** Pairs that a nested loop looks at. */
export const MOST_LOOP_PAIRS = 1_000_000_000;

/** Actual figures of one operator, for ANALYZE. */
export interface OperatorFigures {
  rows: number;
  elapsedUs: number;
}

export class QueryContext {
  readonly source: RowSource;
  readonly patterns: readonly BoundPattern[];
  readonly environment: Environment;
  readonly #scratch = new Scratch();
  readonly #transient: Environment;
  /** By plan node, when figures are wanted (ANALYZE). */
  readonly figures: Map<object, OperatorFigures> | undefined;
  readonly #nowUs: () => number;
  readonly #memoryBytes: number;
  readonly #tooLarge: string;
  readonly #expressions: (() => Iterable<BoundExpression>) | undefined;
  #rowsAtOnce: number | undefined;
  /** By pattern. */
  readonly #buckets = new Map<number, number>();
  #used = 0;

  constructor(options: {
    source: RowSource;
    patterns: readonly BoundPattern[];
    parameters: ParameterValues;
    /** Monotonic microseconds. */
    nowUs: () => number;
    measured?: boolean;
    memoryBytes?: number;
    /** What to say when it takes more than that. */
    tooLarge?: string;
    /** All that the statement works out for a row; asked for once, when there are rows. */
    expressions?: () => Iterable<BoundExpression>;
  }) {
    this.source = options.source;
    this.patterns = options.patterns;
    this.environment = { parameters: options.parameters, patterns: options.patterns.map(({ table }) => table.columns) };
    this.#transient = { ...this.environment, scratch: this.#scratch };
    this.figures = options.measured === true ? new Map() : undefined;
    this.#nowUs = options.nowUs;
    this.#memoryBytes = options.memoryBytes ?? QUERY_MEMORY_BYTES;
    this.#tooLarge = options.tooLarge ?? TOO_LARGE;
    this.#expressions = options.expressions;
  }

  /** Rows of a batch, at most. */
  get rowsAtOnce(): number {
    this.#rowsAtOnce ??= rowsAtOnce(this.#expressions?.() ?? []);
    return this.#rowsAtOnce;
  }

  /** The same steps, with their rows and time (that of the operators below included) counted under `node` when figures are wanted. */
  *observed<T extends { readonly count: number }>(node: object, steps: Steps<T>): Steps<T> {
    if (this.figures === undefined) {
      yield* steps;
      return;
    }
    const figures = this.figures.get(node) ?? { rows: 0, elapsedUs: 0 };
    this.figures.set(node, figures);
    try {
      while (true) {
        const startUs = this.#nowUs();
        const step = steps.next();
        figures.elapsedUs += this.#nowUs() - startUs;
        if (step.done === true) return;
        if (step.value !== null) figures.rows += step.value.count;
        yield step.value;
      }
    } finally {
      // Ended early: the scans below are let go of too.
      steps.return();
    }
  }

  /** Buckets touched by scans so far. */
  get bucketsScanned(): number {
    let sum = 0;
    for (const buckets of this.#buckets.values()) sum += buckets;
    return sum;
  }

  /** Counts buckets that a scan of a pattern touched; ways in that touch one bucket twice do not make more of them than there are. */
  touch({ pattern, totalBuckets }: ScanPlan, buckets: number): void {
    this.#buckets.set(pattern, Math.min((this.#buckets.get(pattern) ?? 0) + buckets, totalBuckets));
  }

  /** Counts bytes that stay until the statement ends. Throws `query_too_large`. */
  charge(bytes: number): void {
    this.#used += bytes;
    if (this.#used > this.#memoryBytes)
      throw new HedgerowError(
        'query_too_large',
        `${this.#tooLarge} (more than ${Math.round(this.#memoryBytes / 2 ** 20)} MB).`,
      );
  }

  /** The values of an expression, which are used up before the next call. */
  transient(expression: BoundExpression, batch: Batch): Vector {
    this.#scratch.reset();
    return evaluate(expression, batch, this.#transient);
  }

  /** The combinations for which all conditions are true. Later conditions only see what the earlier ones left. */
  filter(batch: Batch, conditions: readonly BoundExpression[]): Batch {
    let kept = batch;
    for (const condition of conditions) {
      if (kept.count === 0) return kept;
      const places = truePlaces(this.transient(condition, kept), kept.count);
      if (places.length < kept.count) kept = selectFrom(kept, places);
    }
    return kept;
  }
}
