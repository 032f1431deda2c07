// Folds aggregates over the columns of segments in the core, without making rows.
//
// For each segment:
// 1. Fields with few distinct values (texts, booleans, integers close to each other, sizes,
//    buckets) are read as codes. Several fields combine into one code: code(a) * count(b) +
//    code(b).
// 2. A condition is evaluated once per combination; the table of results selects rows in the core.
//    IS NOT NULL and <> on a number with too many values become range tests in the core.
// 3. The codes of the keys divide the selected rows. The core counts the rows of each combination,
//    and each combination that occurs is mapped to its group in the aggregator.
// 4. COUNT(*) adds these counts. SUM, AVG, MIN, MAX and COUNT of a number add figures (count, sum,
//    rounding error, least, greatest) that the core computes per combination. Other operands are
//    evaluated once per combination of keys and operand fields, and added with their number of
//    occurrences.
//
// A segment is folded as a whole or not at all. If fields have too many values or combinations,
// this is detected before anything is added, and the segment is read as rows. Rows in memory are
// always read as rows, and so are segments in which an index finds few rows.
//
// Example: `WHERE e.room <> 'x' RETURN e.room, SUM(e.minutes)` with 3 rooms evaluates the condition
// once per room and adds one sum per room, for a million rows.

import { FIGURE, FIGURES, ROW_FIELD, type RowCodes, type SegmentFold, TextSink, WANT } from '../../../core/index.ts';
import type { Scan, SegmentPart } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { kindOfType } from '../../../model/column-types.ts';
import { finish } from '../../../schedule/steps.ts';
import type { Batches, QueryContext } from '../context.ts';
import { type Batch, batchOf } from '../rows/row-set.ts';
import { boundsOf, columnPlan, readScan } from '../rows/scan-rows.ts';
import { constantValue } from '../values/evaluate.ts';
import { truePlaces } from '../values/vector.ts';
import type { GroupsOf } from './accumulators.ts';
import type { Aggregator } from './aggregate.ts';
import { type FoldAggregate, type FoldField, type FoldFilter, type FoldPlan, fieldKey } from './fold-plan.ts';
import {
  type CodedField,
  codedField,
  combinationRows,
  combinationsOf,
  constantField,
  joinedCodes,
} from './fold-values.ts';

/**
 * Maximum number of combinations of values into which the rows of a segment are divided. With more
 * combinations, reading rows is as fast.
 */
const MOST_COMBINATIONS = 16384;
/** Maximum work on one segment without a pause, in full steps. */
const STEPS_AT_ONCE = 4;

/**
 * Adds all rows of the plan's scan to the aggregator. Yields the number of rows added after each
 * folded segment, and after each batch of rows that are read.
 */
export function* foldRows(
  fold: FoldPlan,
  aggregator: Aggregator,
  context: QueryContext,
): Batches<{ readonly count: number }> {
  const { scan } = fold;
  const pattern = context.patterns[scan.pattern]!;
  const columns = columnPlan(context.columns[scan.pattern]!, scan.needs);
  const segments = context.source.segmentScan(pattern, boundsOf(scan, scan.paths[0]!));
  function* read(blocks: Scan, sink?: TextSink): Batches<{ readonly count: number }> {
    for (const set of readScan(blocks, scan, columns, context, sink)) {
      if (set === null) {
        yield null;
        continue;
      }
      for (const part of context.parts(batchOf(set, scan.pattern))) {
        const batch = context.filter(part, scan.filter);
        if (batch.count > 0) yield* aggregator.add(batch);
        yield batch;
      }
    }
  }
  let sink: TextSink | undefined;
  try {
    for (let part = segments.next(); part !== undefined; part = segments.next()) {
      const folder = new PartFolder(fold, part, aggregator, context);
      while (!folder.isReady()) yield null;
      const count = part.isSparse ? undefined : folder.run();
      if (count !== undefined) {
        yield { count };
        continue;
      }
      sink ??= new TextSink();
      yield* read(segments.blocks(columns, part.segment), sink);
    }
    yield* read(segments.blocks(columns, undefined));
  } finally {
    context.touch(scan, segments.buckets);
    segments.close();
  }
}

/** The rows of a segment divided by the values of some fields. */
interface Division {
  /** The combinations that occur. */
  readonly present: Uint32Array;
  /** For each of these combinations, its number of rows and its group in the aggregator. */
  readonly counts: Uint32Array;
  readonly groups: Uint32Array;
}

/** The rows of a segment divided by the values of the keys. */
interface PartGroups extends Division {
  /** The combination of each row. */
  readonly codes: RowCodes;
  /** Divisions by keys and operand fields. The map's key identifies the operand fields. */
  readonly divided: Map<string, Division>;
}

/** Adds the rows of one segment. */
class PartFolder {
  readonly #plan: FoldPlan;
  readonly #part: SegmentPart;
  readonly #aggregator: Aggregator;
  readonly #context: QueryContext;
  readonly #coded = new Map<number, CodedField | undefined>();
  #opened: SegmentFold | undefined;

  constructor(plan: FoldPlan, part: SegmentPart, aggregator: Aggregator, context: QueryContext) {
    this.#plan = plan;
    this.#part = part;
    this.#aggregator = aggregator;
    this.#context = context;
  }

  /**
   * Returns whether `run` reads no file. If it would, loads the segment for a few milliseconds at
   * most; the caller calls this again in its next step.
   */
  isReady(): boolean {
    const isCached = (how: FoldAggregate) => how.kind !== 'numbers' || this.#part.hasFigures(how.field);
    return (this.#usesKept() && this.#plan.aggregates.every(isCached)) || this.#part.load();
  }

  /**
   * Adds the rows and returns their number. Returns undefined if the segment cannot be folded; no
   * row has then been added, and the rows must be read. The work is bounded by the number of rows
   * in a segment.
   */
  run(): number | undefined {
    try {
      const { filters, keyFields, aggregates } = this.#plan;
      if (this.#usesKept()) return this.#addKept();
      const keys = this.#codedFields(keyFields, 1);
      if (keys === undefined) return undefined;
      const operands: (readonly CodedField[] | undefined)[] = [];
      for (const how of aggregates) {
        if (how.kind !== 'values') operands.push(undefined);
        else {
          const fields = this.#codedFields(how.fields, combinationsOf(keys));
          if (fields === undefined) return undefined;
          operands.push(fields);
        }
      }
      if (!filters.every((filter) => this.#filter(filter))) return undefined;
      return this.#addGroups(keys, operands);
    } finally {
      this.#opened?.free();
    }
  }

  get #fold(): SegmentFold {
    this.#opened ??= this.#part.open();
    return this.#opened;
  }

  get #pattern(): number {
    return this.#plan.scan.pattern;
  }

  // Whole segments without conditions and keys: their figures are kept

  #usesKept(): boolean {
    const { filters, aggregates } = this.#plan;
    return this.#part.isWhole && filters.length === 0 && aggregates.every((how) => this.#isKept(how));
  }

  #isKept(how: FoldAggregate): boolean {
    if (this.#plan.keyFields.length > 0 || this.#aggregator.groups !== 1) return false;
    return how.kind === 'rows' || (how.kind === 'numbers' && this.#sameOfAll(how.field) === undefined);
  }

  #addKept(): number {
    const { facts } = this.#part.segment;
    const groups = Uint32Array.of(0);
    const rows = Float64Array.of(facts.rows, 0, 0, 0, 0);
    for (const [index, how] of this.#plan.aggregates.entries())
      this.#aggregator.addFigures(index, how.kind === 'numbers' ? this.#part.figures(how.field) : rows, groups);
    return facts.rows;
  }

  // Codes

  /**
   * Returns the field if it has the same value in all rows, because the segment is older than the
   * column or contains only nulls in the column. Returns undefined for any other field.
   */
  #sameOfAll(field: FoldField): CodedField | undefined {
    if (field.kind !== ROW_FIELD.column) return undefined;
    const column = this.#part.segment.facts.columns.find(({ id }) => id === field.column);
    if (column === undefined) return constantField(field, field.missing);
    return column.allNull ? constantField(field, null) : undefined;
  }

  #codedField(field: FoldField): CodedField | undefined {
    const key = fieldKey(field);
    if (!this.#coded.has(key)) this.#coded.set(key, this.#sameOfAll(field) ?? this.#code(field));
    return this.#coded.get(key);
  }

  #code(field: FoldField): CodedField | undefined {
    if (field.type !== undefined && kindOfType(field.type) === 'real') return undefined;
    const codes = this.#fold.codes(field, MOST_COMBINATIONS);
    return codes && codedField(field, codes, this.#fold);
  }

  /**
   * Returns the fields with their codes. Returns undefined if a field has too many values, or if
   * the number of combinations of their codes, multiplied by `others`, is too large.
   */
  #codedFields(fields: readonly FoldField[], others: number): CodedField[] | undefined {
    const coded: CodedField[] = [];
    for (const field of fields) {
      const one = this.#codedField(field);
      if (one === undefined) return undefined;
      coded.push(one);
    }
    return combinationsOf(coded) * others > this.#mostCombinations(coded) ? undefined : coded;
  }

  /**
   * Returns the maximum number of combinations. All of them are evaluated in one step, so it is
   * lower with expensive expressions or long texts.
   */
  #mostCombinations(coded: readonly CodedField[]): number {
    const batch = combinationRows(coded, new Uint32Array(0), this.#pattern);
    return Math.min(MOST_COMBINATIONS, STEPS_AT_ONCE * this.#context.rowsAtOnce(batch, 1));
  }

  // Conditions

  #filter({ expression, fields, number }: FoldFilter): boolean {
    const coded = this.#codedFields(fields, 1);
    if (coded !== undefined) {
      const codes = joinedCodes(coded, this.#fold);
      this.#fold.keepCodes(codes, this.#truths(expression, coded, codes));
      return true;
    }
    if (number === undefined) return false;
    const { parameters, lsn } = this.#context.environment;
    const other = number.differsFrom && constantValue(number.differsFrom, parameters, lsn);
    if (other === null) this.#fold.selectWindow(0, 0);
    else {
      const bounds =
        other === undefined ? { low: -Infinity, high: Infinity } : { low: other as number, high: other as number };
      const range = { column: 0, ...bounds, lowOpen: false, highOpen: false, missing: Number.NaN };
      this.#fold.keepRange(number.field, range, other !== undefined);
    }
    return true;
  }

  /** Returns an array with 1 for each combination that satisfies the condition. */
  #truths(expression: FoldFilter['expression'], fields: readonly CodedField[], codes: RowCodes): Uint8Array {
    const truths = new Uint8Array(codes.count);
    const test = (combinations: Uint32Array) => {
      const rows = combinationRows(fields, combinations, this.#pattern);
      const vector = this.#context.transient(expression, rows);
      for (const place of truePlaces(vector, rows.count)) truths[combinations[place]!] = 1;
    };
    try {
      test(Uint32Array.from(truths.keys()));
    } catch (error) {
      if (!(error instanceof HedgerowError)) throw error;
      // The error may be caused by a combination that no row has.
      test(placesAbove0(this.#fold.counts(codes)));
    }
    return truths;
  }

  // Groups

  #addGroups(keys: readonly CodedField[], operands: readonly (readonly CodedField[] | undefined)[]): number {
    const codes = joinedCodes(keys, this.#fold);
    const all = this.#fold.counts(codes);
    const present = placesAbove0(all);
    if (present.length === 0) return 0;
    const counts = present.map((place) => all[place]!);
    const rows = combinationRows(keys, present, this.#pattern);
    const groups = this.#groupsOf(rows) ?? new Uint32Array(1);
    const own: PartGroups = { codes, present, counts, groups, divided: new Map() };
    const figures = new Map<number, Float64Array>();
    for (const [index, how] of this.#plan.aggregates.entries()) {
      if (how.kind === 'rows') this.#aggregator.addRows(index, rows, groups, counts);
      else if (how.kind === 'values') this.#addValues(index, keys, operands[index]!, own);
      else this.#addNumbers(index, how.field, how.wants, own, figures);
    }
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /**
   * Returns the groups of rows in one step. There are few rows here, and the columns of the segment
   * are held only until the end of the step.
   */
  #groupsOf(rows: Batch): GroupsOf {
    return finish(this.#aggregator.groupsOf(rows));
  }

  #addNumbers(
    index: number,
    field: FoldField,
    wants: number,
    { codes, present, counts, groups }: PartGroups,
    known: Map<number, Float64Array>,
  ): void {
    const same = this.#sameOfAll(field);
    if (same !== undefined) {
      const rows = combinationRows([same], new Uint32Array(present.length), this.#pattern);
      this.#aggregator.addRows(index, rows, groups, counts);
      return;
    }
    const key = fieldKey(field);
    let figures = known.get(key);
    if (figures === undefined) {
      const isFull = this.#isFull(field);
      const all = this.#fold.figures(field, codes, isFull ? wants & ~WANT.count : wants);
      figures = new Float64Array(present.length * FIGURES);
      for (const [place, group] of present.entries()) {
        for (let i = 0; i < FIGURES; i++) figures[place * FIGURES + i] = all[group * FIGURES + i]!;
        if (isFull) figures[place * FIGURES + FIGURE.count] = counts[place]!;
      }
      known.set(key, figures);
    }
    this.#aggregator.addFigures(index, figures, groups);
  }

  /** Returns whether the field is null in no row of the segment. */
  #isFull(field: FoldField): boolean {
    if (field.kind !== ROW_FIELD.column) return true;
    return this.#part.segment.facts.columns.some(({ id, hasNulls }) => id === field.column && !hasNulls);
  }

  /** Divides the rows of each group by further fields. */
  #divide(own: PartGroups, keys: readonly CodedField[], fields: readonly CodedField[]): Division {
    const perGroup = combinationsOf(fields);
    if (perGroup === 1) return own;
    const all = this.#fold.counts(joinedCodes([...keys, ...fields], this.#fold));
    const present = placesAbove0(all);
    const groupOf = new Uint32Array(own.codes.count);
    for (const [place, group] of own.present.entries()) groupOf[group] = own.groups[place]!;
    return {
      present,
      counts: present.map((place) => all[place]!),
      groups: present.map((place) => groupOf[Math.floor(place / perGroup)]!),
    };
  }

  /** Evaluates an operand once per combination of its fields' values in each group. */
  #addValues(index: number, keys: readonly CodedField[], operands: readonly CodedField[], own: PartGroups): void {
    const key = operands.map(({ field }) => fieldKey(field)).join();
    const { present, counts, groups } = own.divided.get(key) ?? this.#divide(own, keys, operands);
    own.divided.set(key, { present, counts, groups });
    this.#aggregator.addRows(index, combinationRows(operands, present, this.#pattern), groups, counts);
  }
}

function placesAbove0(counts: Uint32Array): Uint32Array {
  const places = new Uint32Array(counts.length);
  let found = 0;
  for (let place = 0, end = counts.length; place < end; place++) {
    places[found] = place;
    found += counts[place]! > 0 ? 1 : 0;
  }
  return places.subarray(0, found);
}
