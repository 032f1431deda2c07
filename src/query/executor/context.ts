// What the operators of one running statement share: rows, parameters, and limits on memory and work.

import type { ColumnPlan } from '../../core/index.ts';
import type { Scan, ScanBounds, SegmentScan } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { BoundExpression, BoundPattern } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import type { ScanPlan } from '../planner/plan.ts';
import { lettersToValues, longestValue, rowsFor, rowValues, type Weight, weightOf } from './batch-size.ts';
import { HeldBytes, heapLimits, longestText, MemoryPool, valueBytes } from './memory.ts';
import { type Batch, type RowSet, rowSetBytes, selectFrom } from './rows/row-set.ts';
import { type Environment, evaluate, prepareLists } from './values/evaluate.ts';
import { Scratch, truePlaces, type Vector } from './values/vector.ts';

/** Rows of tables as one statement sees them: a snapshot, or a transaction. */
export interface RowSource {
  scan(pattern: BoundPattern, request: ScanBounds, plan: ColumnPlan): Scan;
  /** As `scan`, as two scans over rows that interleave: of segments, and of memory. Undefined: they hardly do. */
  scanApart(pattern: BoundPattern, request: ScanBounds, plan: ColumnPlan): readonly [Scan, Scan] | undefined;
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
export type Batches<T> = Generator<T | null, void, void>;

const TOO_LARGE =
  'The statement needs too much memory for sorting, grouping or joining; narrow its window or add a LIMIT';
/** Values that one row may come to: to work it out takes some ten milliseconds, and cannot be divided. */
const MOST_ROW_VALUES = 4_000_000;
/** Bytes of a tree, syntax and bound, for each letter of its text. */
const BYTES_OF_LETTER = 40;
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
  readonly #memory: MemoryPool;
  readonly #memoryBytes: number;
  readonly #tooLarge: string;
  readonly #expressions: (() => Iterable<BoundExpression>) | undefined;
  readonly #items: readonly BoundExpression[];
  /** What has been counted, so that nothing is counted twice. */
  readonly held = new HeldBytes();
  #weight: Weight | undefined;
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
    /** What it shares with the other statements that run. */
    memory?: MemoryPool | undefined;
    /** Instead of what the pool allows to one. */
    memoryBytes?: number | undefined;
    /** What to say when it takes more than that. */
    tooLarge?: string;
    /** All that the statement works out for a row; asked for once, when there are rows. */
    expressions?: () => Iterable<BoundExpression>;
    /** Returned items, where ORDER BY refers to them. */
    items?: readonly BoundExpression[];
  }) {
    this.source = options.source;
    this.patterns = options.patterns;
    this.environment = { parameters: options.parameters, patterns: options.patterns.map(({ table }) => table.columns) };
    this.#transient = { ...this.environment, scratch: this.#scratch };
    this.figures = options.measured === true ? new Map() : undefined;
    this.#nowUs = options.nowUs;
    this.#memory = options.memory ?? new MemoryPool(heapLimits());
    this.#memoryBytes = options.memoryBytes ?? this.#memory.limits.statementBytes;
    this.#tooLarge = options.tooLarge ?? TOO_LARGE;
    this.#expressions = options.expressions;
    this.#items = options.items ?? [];
  }

  get #weights(): Weight {
    this.#weight ??= weightOf(this.#expressions?.() ?? [], this.environment.parameters, this.#items);
    return this.#weight;
  }

  /** Rows of a batch that may be worked on at once. Throws `query_too_large` where one is too much. */
  rowsAtOnce(batch: Batch): number {
    return this.#rowsOf(rowValues(this.#weights, batch));
  }

  /** As `rowsAtOnce`, of groups with these keys and aggregates. */
  groupsAtOnce(keys: readonly Vector[], aggregates: readonly Vector[]): number {
    const { fixed, grouped } = this.#weights;
    let values = fixed;
    for (const { kind, index, times } of grouped.values()) {
      const vector = (kind === 'keyValue' ? keys : aggregates)[index];
      if (vector?.kind === 'text') values += times * lettersToValues(longestText(vector.texts));
      else if (vector?.kind === 'value') values += times * lettersToValues(longestValue(vector.values));
    }
    return this.#rowsOf(values);
  }

  #rowsOf(values: number): number {
    if (values > MOST_ROW_VALUES)
      throw new HedgerowError(
        'query_too_large',
        'One row of this statement is too much work: its expressions come to too many values, or to texts and lists that are too long. Return fewer columns, or shorter ones.',
      );
    return rowsFor(values);
  }

  /** The same steps, with their rows and time (that of the operators below included) counted under `node` when figures are wanted. */
  *observed<T extends { readonly count: number }>(node: object, steps: Batches<T>): Batches<T> {
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

  /** Counts bytes that the statement holds; negative: that it does not hold any more. Throws `query_too_large`, and `overloaded` when all statements together hold too much. */
  charge(bytes: number): void {
    if (this.#used + bytes > this.#memoryBytes)
      throw new HedgerowError(
        'query_too_large',
        `${this.#tooLarge} (more than ${Math.max(1, Math.round(this.#memoryBytes / 2 ** 20))} MB).`,
      );
    if (!this.#memory.take(bytes))
      throw new HedgerowError(
        'overloaded',
        'The statements that run now take all the memory there is for them. Try again shortly, or ask for less.',
      );
    this.#used += bytes;
  }

  /** Counts what a statement is while it runs: its tree and its parameters. */
  chargeStatement(text: string): void {
    let bytes = text.length * BYTES_OF_LETTER;
    for (const name in this.environment.parameters) bytes += valueBytes(this.environment.parameters[name]);
    this.charge(bytes);
  }

  /** Prepares, in steps, the lists of IN. */
  *prepareLists(): Generator<null, void, void> {
    for (const expression of this.#expressions?.() ?? [])
      this.charge(yield* prepareLists(expression, this.environment.parameters));
  }

  /** Counts the rows of a set that stays. */
  chargeSet(set: RowSet): void {
    this.charge(rowSetBytes(set, this.held));
  }

  /** Gives back all that was counted. */
  end(): void {
    this.#memory.take(-this.#used);
    this.#used = 0;
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
