// The state that the operators of a running statement share: rows, parameters, and limits on memory
// and work.

import type { ColumnPlan } from '../../core/index.ts';
import type {
  Scan,
  ScanBounds,
  SearchCandidates,
  SearchCondition,
  SearchStatistics,
  SegmentScan,
  Table,
} from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { BoundExpression, BoundPattern, BoundScore, BoundSearch } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import type { BestPlan, ColumnNeeds, ScanPlan } from '../planner/plan.ts';
import {
  type AnsweredSearch,
  lettersToValues,
  longestValue,
  rowsFor,
  rowValues,
  type Weight,
  weightOf,
} from './batch-size.ts';
import { HeldBytes, heapLimits, longestText, MemoryPool, valueBytes } from './memory.ts';
import { Pace } from './pace.ts';
import { type Batch, consecutive, type RowSet, rowSetBytes, selectFrom } from './rows/row-set.ts';
import { type Environment, evaluate, prepareLists } from './values/evaluate.ts';
import { prepareScores, RunSearches, searchesIn } from './values/searches.ts';
import { Scratch, truePlaces, type Vector } from './values/vector.ts';

/** The rows of tables as one statement sees them: from a snapshot, or from a transaction. */
export interface RowSource {
  scan(pattern: BoundPattern, request: ScanBounds, plan: ColumnPlan): Scan;
  /**
   * Does the same as `scan` but returns two scans: one of the segments and one of the rows in
   * memory. Returns undefined if there are no segments, or few rows in memory.
   */
  scanApart(pattern: BoundPattern, request: ScanBounds, plan: ColumnPlan): readonly [Scan, Scan] | undefined;
  /**
   * Returns a scan that reads one segment after another. The request must not have nodes or a
   * limit.
   */
  segmentScan(pattern: BoundPattern, request: ScanBounds): SegmentScan;
  /**
   * Loads what `count` and `timeBounds` read in a window, for a few ms at most. Returns true when
   * it is in memory, so that the next call of these functions takes no longer than that.
   */
  loadEnds(pattern: BoundPattern, startTs: number | undefined, endTs: number | undefined): boolean;
  /**
   * Returns the statistics of the words of a search over all live rows, from which scores are
   * computed.
   */
  textStatistics(pattern: BoundPattern, search: SearchCondition): Generator<null, SearchStatistics, void>;
  /** Returns rows that may be among the k best of a search; undefined: all must be read. */
  bestRows(
    pattern: BoundPattern,
    request: ScanBounds & { readonly search: SearchCondition },
    statistics: SearchStatistics,
    k: number,
  ): Generator<null, SearchCandidates | undefined, void>;
  /** Size in bytes of the records in memory that no text block of a pattern's table covers. */
  bytesWithoutBlock(pattern: BoundPattern): number;
  /** Returns the number of live rows in a window. Undefined bounds are open. */
  count(pattern: BoundPattern, startTs: number | undefined, endTs: number | undefined): number;
  /**
   * Returns the least and the greatest time of live rows in a window, or undefined if it is empty.
   */
  timeBounds(
    pattern: BoundPattern,
    startTs: number | undefined,
    endTs: number | undefined,
  ): { least: number; greatest: number } | undefined;
}

/**
 * Operators yield batches of rows, and null to let other work run. A step between two yields takes
 * a few ms at most.
 */
export type Batches<T> = Generator<T | null, void, void>;

const TOO_LARGE =
  'The statement needs too much memory for sorting, grouping or joining; narrow its window or add a LIMIT';
/**
 * Maximum cost of one row, in values. Evaluating such a row takes some tens of milliseconds and
 * cannot be divided.
 */
const MOST_ROW_VALUES = 4_000_000;
/** Texts of this many UTF-16 units are read in some 20 ms: about as long as a search takes. */
const READ_LETTERS = 2 ** 17;
/** Estimated size in bytes of the syntax tree and bound form, per character of the text. */
const BYTES_OF_LETTER = 40;
/** Maximum number of pairs of rows if no condition connects the patterns. */
export const MOST_PRODUCT_ROWS = 1_000_000;
/** Maximum number of pairs of rows that a nested loop compares. */
export const MOST_LOOP_PAIRS = 1_000_000_000;

/** Measured figures of one operator, for ANALYZE. */
export interface OperatorFigures {
  rows: number;
  elapsedUs: number;
}

export class QueryContext {
  readonly source: RowSource;
  readonly patterns: readonly BoundPattern[];
  /**
   * The property columns of each pattern's table when the statement began. A column may be dropped
   * before the rows of the pattern are read; its values are still in the snapshot.
   */
  readonly columns: readonly Table['columns'][];
  readonly environment: Environment;
  readonly #scratch = new Scratch();
  readonly #transient: Environment;
  /** The joins whose right side was looked up node by node instead of being read in order. */
  readonly lookedUp = new Set<object>();
  /** Figures by plan node; undefined unless they are measured (ANALYZE). */
  readonly figures: Map<object, OperatorFigures> | undefined;
  readonly #nowUs: () => number;
  readonly #memory: MemoryPool;
  readonly #memoryBytes: number;
  readonly #tooLarge: string;
  readonly #expressions: (() => Iterable<BoundExpression>) | undefined;
  readonly #memberships: readonly BoundExpression[] | undefined;
  readonly #items: readonly BoundExpression[];
  readonly #keptValues: number;
  /** The values that have been charged, so that nothing is counted twice. */
  readonly held = new HeldBytes();
  #weight: Weight | undefined;
  readonly #pace = new Pace();
  /** The rows to which the search of the statement's scan is restricted. */
  candidates: SearchCandidates | undefined;
  #answered: AnsweredSearch | undefined;
  /** What is read of the rows of this search if their scores are known. */
  #scoredNeeds: ColumnNeeds | undefined;
  /**
   * Length of texts, in UTF-16 units, that are read for a search within OR or NOT before its rows
   * are found by the text index.
   */
  readonly readLetters: number;
  /** Buckets scanned, by pattern. */
  readonly #buckets = new Map<number, number>();
  #used = 0;

  constructor(options: {
    source: RowSource;
    patterns: readonly BoundPattern[];
    parameters: ParameterValues;
    /** LSN of the state that `source` shows; the newest state if it is left out. */
    lsn?: number | undefined;
    /** Monotonic microseconds. */
    nowUs: () => number;
    measured?: boolean;
    /** The pool shared with other running statements. */
    memory?: MemoryPool | undefined;
    /** Bytes that the statement may hold; overrides the pool's limit. */
    memoryBytes?: number | undefined;
    /** Error message when the statement exceeds its memory. */
    tooLarge?: string;
    /** Returns all expressions that the statement evaluates per row. */
    expressions?: () => Iterable<BoundExpression>;
    /** Those of them that contain an IN; by default all are searched. */
    memberships?: readonly BoundExpression[];
    /** Returned items, if ORDER BY refers to them. */
    items?: readonly BoundExpression[];
    /** Number of values of each row that are put into tables or lists; default 0. */
    keptValues?: number;
    /** The search that the only scan of the statement answers. */
    answered?: BoundSearch | undefined;
    /** See `readLetters`; default READ_LETTERS. */
    readLetters?: number | undefined;
  }) {
    this.readLetters = options.readLetters ?? READ_LETTERS;
    this.source = options.source;
    this.patterns = options.patterns;
    this.columns = options.patterns.map(({ table }) => table.columns);
    this.environment = {
      parameters: options.parameters,
      lsn: options.lsn,
      patterns: options.patterns.map(environmentOf),
      ...(options.patterns.some(({ table }) => table.isOfNodes || table.kinds !== undefined)
        ? { areNodes: options.patterns.map(({ table }) => table.isOfNodes), nodes: new Map() }
        : {}),
      ...(options.patterns.some(({ table }) => table.definition.text !== undefined)
        ? { searches: new RunSearches() }
        : {}),
    };
    this.#transient = { ...this.environment, scratch: this.#scratch };
    this.figures = options.measured === true ? new Map() : undefined;
    this.#nowUs = options.nowUs;
    this.#memory = options.memory ?? new MemoryPool(heapLimits());
    this.#memoryBytes = options.memoryBytes ?? this.#memory.limits.statementBytes;
    this.#tooLarge = options.tooLarge ?? TOO_LARGE;
    this.#expressions = options.expressions;
    this.#memberships = options.memberships;
    this.#items = options.items ?? [];
    this.#keptValues = options.keptValues ?? 0;
    this.#answered = options.answered && { search: options.answered, areScored: false };
  }

  get #weights(): Weight {
    this.#weight ??= weightOf(
      this.#expressions?.() ?? [],
      this.environment.parameters,
      this.#items,
      this.#keptValues,
      this.#answered,
      this.environment.searches,
    );
    return this.#weight;
  }

  /** The searches that the statement evaluates on rows. */
  get searches(): BoundSearch[] {
    const all = [...(this.#expressions?.() ?? [])].flatMap((expression) => [...searchesIn(expression)]);
    return all.filter((search) => search !== this.#answered?.search);
  }

  /** Returns whether `rowsAtOnce` throws. */
  isTooMuch(batch: Batch): boolean {
    return rowValues(this.#weights, batch) > MOST_ROW_VALUES;
  }

  /** Must be called when rows that match a search were found: rows cost less from then on. */
  searchesChanged(): void {
    this.#weight = undefined;
  }

  /**
   * Returns how many rows of a batch may be processed at once. `share` is the share of a full step,
   * by default the one that the statement's pace allows. Throws `query_too_large` if a single row
   * costs too much.
   */
  rowsAtOnce(batch: Batch, share = this.#pace.take()): number {
    return this.#rowsOf(rowValues(this.#weights, batch), share);
  }

  /**
   * Splits a batch into parts, each of which is processed in one step. Throws the same error as
   * `rowsAtOnce`.
   */
  parts(batch: Batch): Iterable<Batch> {
    if (batch.count === 0) return [];
    const rows = this.rowsAtOnce(batch);
    return rows >= batch.count ? [batch] : this.#manyParts(batch, rows);
  }

  *#manyParts(batch: Batch, first: number): Generator<Batch, void, void> {
    let rows = first;
    for (let from = 0; ; rows = Math.min(this.rowsAtOnce(batch), batch.count - from)) {
      yield consecutive(batch, from, rows);
      from += rows;
      if (from === batch.count) return;
    }
  }

  /** Does the same as `rowsAtOnce` for groups with these keys and aggregates. */
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

  #rowsOf(values: number, share = this.#pace.take()): number {
    if (values > MOST_ROW_VALUES)
      throw new HedgerowError(
        'query_too_large',
        'One row of this statement is too much work: its expressions come to too many values, or to texts and lists that are too long. Return fewer columns, or shorter ones. If it searches, search for fewer words, or divide texts of more than 150 KB in one row.',
      );
    return rowsFor(values, share);
  }

  /**
   * Returns `steps` unchanged. If figures are measured, records the number of rows and the elapsed
   * time (including the time of the operators below) under `node`.
   */
  observed<T extends { readonly count: number }>(node: object, steps: Batches<T>): Batches<T> {
    if (this.figures === undefined) return steps;
    const figures = this.figures.get(node) ?? { rows: 0, elapsedUs: 0 };
    this.figures.set(node, figures);
    return this.#measured(figures, steps);
  }

  *#measured<T extends { readonly count: number }>(figures: OperatorFigures, steps: Batches<T>): Batches<T> {
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
      // If the loop ends early, this also releases the scans below.
      steps.return();
    }
  }

  /** Yields `steps` unchanged. Their durations determine the size of later steps. */
  *paced<T>(steps: Batches<T>): Batches<T> {
    try {
      while (true) {
        const startUs = this.#nowUs();
        const step = steps.next();
        this.#pace.ended(this.#nowUs() - startUs);
        if (step.done === true) return;
        yield step.value;
      }
    } finally {
      // If the loop ends early, this also releases the scans below.
      steps.return();
    }
  }

  /** The number of buckets that scans have read so far. */
  get bucketsScanned(): number {
    let sum = 0;
    for (const buckets of this.#buckets.values()) sum += buckets;
    return sum;
  }

  /**
   * Counts buckets that a scan of a pattern read. The sum is limited to the total number of
   * buckets, because several access paths may read the same bucket.
   */
  touch({ pattern, totalBuckets }: ScanPlan, buckets: number): void {
    this.#buckets.set(pattern, Math.min((this.#buckets.get(pattern) ?? 0) + buckets, totalBuckets));
  }

  /**
   * Charges bytes that the statement holds, or releases them if `bytes` is negative. Throws
   * `query_too_large`, or `overloaded` if all statements together hold too much.
   */
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

  /** Charges the memory for the statement's own tree and parameters. */
  chargeStatement(text: string): void {
    let bytes = text.length * BYTES_OF_LETTER;
    for (const name in this.environment.parameters) bytes += valueBytes(this.environment.parameters[name]);
    this.charge(bytes);
  }

  /** Prepares the lists of IN expressions, in steps. */
  *prepareLists(): Generator<null, void, void> {
    for (const expression of this.#memberships ?? this.#expressions?.() ?? [])
      this.charge(yield* prepareLists(expression, this.environment.parameters));
  }

  /** Computes the statistics of scores, in steps. */
  prepareScores(): Generator<null, void, void> {
    return prepareScores(this.#expressions?.() ?? [], this.environment, ({ pattern, condition }) =>
      this.source.textStatistics(this.patterns[pattern]!, condition),
    );
  }

  /** Finds the rows that may be among the k best of the search of a scan, in steps. */
  *prepareBest(scan: ScanPlan, score: BoundScore, request: ScanBounds, best: BestPlan): Generator<null, void, void> {
    const search = this.environment.searches!.of(score, this.environment.parameters);
    const pattern = this.patterns[scan.pattern]!;
    const wanted = { ...request, search: scan.search! };
    this.candidates = yield* this.source.bestRows(pattern, wanted, search.statistics!, best.k);
    search.known = this.candidates?.scores;
    if (search.known === undefined) return;
    this.#scoredNeeds = best.needs;
    this.#answered = { search: scan.search!.expression, areScored: true };
    this.#weight = undefined;
  }

  /** Returns what is read of the rows of a scan. */
  needsOf({ search, needs }: ScanPlan): ColumnNeeds {
    return search === undefined ? needs : (this.#scoredNeeds ?? needs);
  }

  /** Charges the memory for the rows of a set that is kept. */
  chargeSet(set: RowSet): void {
    this.charge(rowSetBytes(set, this.held));
  }

  /** Releases all charged bytes. */
  end(): void {
    this.#memory.take(-this.#used);
    this.#used = 0;
  }

  /** Returns the values of an expression. They are valid until the next call of this method. */
  transient(expression: BoundExpression, batch: Batch): Vector {
    this.#scratch.reset();
    return evaluate(expression, batch, this.#transient);
  }

  /**
   * Returns the rows of a batch (with several patterns, the combinations of rows) for which all
   * conditions are true. Later conditions are evaluated only for rows that satisfy the earlier
   * ones.
   */
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

/** Returns the columns and roles that a pattern's table has now. */
function environmentOf({ table }: BoundPattern): Environment['patterns'][number] {
  return { columns: table.columns.columns, roles: table.roles };
}
