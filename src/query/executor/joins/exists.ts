// Tests EXISTS for batches of outer rows (semi-join; under NOT, anti-join).
//
// The result is a vector of booleans, one per outer row, which the condition around the EXISTS then
// reads like any other value. So EXISTS can occur anywhere in a condition.
//
// An EXISTS is tested in parts (see planner/exists.ts). For a part that depends on the outer rows,
// their batch gets one more side, the marker, which contains the position of each row. Joins carry
// it along, so every combination that they find knows its outer row. When an outer row has a match,
// no more candidates are taken for it (candidates.ts).
//
// The rows of the patterns of an EXISTS and the structures that find them are collected when they
// are first needed, and are kept for the later batches. The results of parts that do not depend on
// outer rows are kept too.

import { HedgerowError } from '../../../errors.ts';
import type { BoundExists, BoundExpression, BoundLogic } from '../../binder/bound.ts';
import { addExists, hasExists } from '../../planner/patterns-of.ts';
import type { ExistsFilterPlan, ExistsPart, ExistsPlan, ExistsPlans, InputPlan, SemiStep } from '../../planner/plan.ts';
import { type Batches, MOST_LOOP_PAIRS, type QueryContext } from '../context.ts';
import { findMatched } from '../rows/matched-rows.ts';
import { type Batch, batchOf, NO_ROWS, type Side, selectFrom } from '../rows/row-set.ts';
import { collectRows, scanRows } from '../rows/scan-rows.ts';
import { evaluate } from '../values/evaluate.ts';
import { allPlaces, truePlaces, type Vector } from '../values/vector.ts';
import { candidates, type IsOpen, type StepSide, stepSide } from './candidates.ts';
import { joinRows } from './join.ts';
import { type Building, combine } from './join-pairs.ts';

type OncePart = Extract<ExistsPart, { readonly op: 'once' }>;
type SemiPart = Extract<ExistsPart, { readonly op: 'semi' }>;

/** Returns the rows of `input` for which the conditions of the plan are true, in the same order. */
export function existsRows(
  plan: ExistsFilterPlan,
  exists: ExistsPlans,
  input: () => Batches<Batch>,
  context: QueryContext,
): Batches<Batch> {
  return new ExistsTests(exists, context).filtered(plan, input);
}

/** The conditions of an OR without EXISTS, and those with it. */
interface Alternatives {
  readonly plain: BoundLogic;
  readonly tested: BoundLogic;
}

const NOT_TESTED: ReadonlyMap<BoundExists, Vector> = new Map();
const ONE_ROW: Batch = { count: 1, sides: [] };

/** The tests of all EXISTS of one run of a statement. */
class ExistsTests {
  readonly #plans: ExistsPlans;
  readonly #context: QueryContext;
  readonly #once = new Map<OncePart, boolean>();
  readonly #sides = new Map<SemiStep, StepSide>();
  readonly #alternatives = new Map<BoundExpression, Alternatives>();
  /** Number of pairs that each nested loop has compared so far. */
  readonly #compared = new Map<SemiStep, number>();

  constructor(plans: ExistsPlans, context: QueryContext) {
    this.#plans = plans;
    this.#context = context;
  }

  filtered(plan: ExistsFilterPlan, input: () => Batches<Batch>): Batches<Batch> {
    return this.#context.observed(plan, this.#filtered(plan, input));
  }

  *#filtered({ conditions }: ExistsFilterPlan, input: () => Batches<Batch>): Batches<Batch> {
    // If a condition that reads no outer row is false, the outer rows need not be read.
    const fixed = conditions.filter((condition) => this.#isFixed(condition));
    if (fixed.length > 0 && (yield* this.#keep(ONE_ROW, fixed)).count === 0) return;
    const varying = conditions.filter((condition) => !fixed.includes(condition));
    for (const batch of input()) {
      if (batch === null) {
        yield null;
        continue;
      }
      const kept = yield* this.#keep(batch, varying);
      yield kept.count > 0 ? kept : null;
    }
  }

  /** Returns whether a condition is [NOT] EXISTS without any connection to the outer rows. */
  #isFixed(condition: BoundExpression): boolean {
    if (condition.kind === 'not') return this.#isFixed(condition.operand);
    if (condition.kind !== 'exists') return false;
    const { filter, parts } = this.#plans.get(condition)!;
    return parts.every(({ op }) => op === 'once') && filter.every((inner) => this.#isFixed(inner));
  }

  /** Returns the rows of a batch for which all conditions are true. */
  *#keep(batch: Batch, conditions: readonly BoundExpression[]): Building<Batch> {
    let kept = batch;
    for (const condition of conditions) {
      if (kept.count === 0) return kept;
      const places = yield* this.#truePlaces(condition, kept);
      if (places.length < kept.count) kept = selectFrom(kept, places);
    }
    return kept;
  }

  /**
   * Returns the positions at which a condition is true. In an OR, EXISTS is tested only for the
   * rows for which no other condition of the OR is true.
   */
  *#truePlaces(condition: BoundExpression, batch: Batch): Building<Uint32Array> {
    const alternatives = this.#alternativesOf(condition);
    if (alternatives === undefined) return yield* this.#testedPlaces(condition, batch);
    const isTrue = new Uint8Array(batch.count);
    for (const place of truePlaces(this.#evaluate(alternatives.plain, batch), batch.count)) isTrue[place] = 1;
    const open = allPlaces(batch.count).filter((place) => isTrue[place] === 0);
    if (open.length > 0) {
      const places = yield* this.#testedPlaces(alternatives.tested, selectFrom(batch, open));
      for (const place of places) isTrue[open[place]!] = 1;
    }
    return allPlaces(batch.count).filter((place) => isTrue[place] === 1);
  }

  /** Divides an OR into the conditions without EXISTS and those with it, if it has both. */
  #alternativesOf(condition: BoundExpression): Alternatives | undefined {
    if (condition.kind !== 'or') return undefined;
    const known = this.#alternatives.get(condition);
    if (known !== undefined) return known;
    const plain = condition.items.filter((item) => !hasExists(item));
    if (plain.length === 0) return undefined;
    const tested = condition.items.filter((item) => !plain.includes(item));
    const divided = { plain: { ...condition, items: plain }, tested: { ...condition, items: tested } };
    this.#alternatives.set(condition, divided);
    return divided;
  }

  *#testedPlaces(condition: BoundExpression, batch: Batch): Building<Uint32Array> {
    const tests: BoundExists[] = [];
    addExists(condition, tests);
    const tested = new Map<BoundExists, Vector>();
    for (const test of tests) tested.set(test, yield* this.#test(this.#plans.get(test)!, batch));
    return truePlaces(this.#evaluate(condition, batch, tested), batch.count);
  }

  #evaluate(condition: BoundExpression, batch: Batch, tested: ReadonlyMap<BoundExists, Vector> = NOT_TESTED): Vector {
    return evaluate(condition, batch, { ...this.#context.environment, tested });
  }

  /** Returns for each row of a batch whether an EXISTS is true. */
  *#test({ filter, parts, marker }: ExistsPlan, batch: Batch): Building<Vector> {
    const places = allPlaces(batch.count);
    let kept = yield* this.#keep(withSide(batch, marker, places), filter);
    for (const part of parts) {
      if (kept.count === 0) break;
      if (part.op === 'semi') kept = yield* this.#matched(part, kept);
      else if (!(yield* this.#isTrue(part))) kept = selectFrom(kept, places.subarray(0, 0));
    }
    const values = new Uint8Array(batch.count);
    const rows = kept.sides[marker]!.rows!;
    for (let i = 0; i < kept.count; i++) values[rows[i]!] = 1;
    return { kind: 'boolean', values, nulls: undefined };
  }

  /** Returns whether a part that reads no outer rows has a match. It is evaluated only once. */
  *#isTrue(part: OncePart): Building<boolean> {
    const known = this.#once.get(part);
    if (known !== undefined) return known;
    let found = false;
    for (const batch of this.#inputRows(part.input)) {
      if (batch !== null) {
        found = true;
        break;
      }
      yield null;
    }
    this.#once.set(part, found);
    return found;
  }

  #inputRows(plan: InputPlan): Batches<Batch> {
    if (plan.op === 'existsFilter') return this.filtered(plan, () => this.#inputRows(plan.input));
    // No row is sent to the client.
    return plan.op === 'join' ? joinRows(plan, this.#context, true) : scanRows(plan, this.#context);
  }

  /** Returns the rows of a batch that have a match. */
  *#matched(part: SemiPart, batch: Batch): Building<Batch> {
    const { marker } = part;
    const isDone = new Uint8Array(batch.count);
    let open = batch.count;
    const marked = withSide(batch, marker, allPlaces(batch.count));
    for (const found of this.#combinations(part, part.steps.length - 1, marked, isDone)) {
      yield null;
      if (found === null) continue;
      const kept = yield* this.#keep(found, part.filter);
      if (kept.count === 0) continue;
      const rows = kept.sides[marker]!.rows!;
      for (let i = 0; i < kept.count; i++) {
        if (isDone[rows[i]!] === 0) open -= 1;
        isDone[rows[i]!] = 1;
      }
      if (open === 0) break;
    }
    if (open === 0) return batch;
    return selectFrom(
      batch,
      allPlaces(batch.count).filter((place) => isDone[place] === 1),
    );
  }

  /** Yields the combinations of outer rows with the rows of the steps up to `index`. */
  *#combinations(part: SemiPart, index: number, outer: Batch, isDone: Uint8Array): Batches<Batch> {
    const step = part.steps[index]!;
    const context = this.#context;
    if (index === 0) {
      yield* context.observed(step, this.#joined(step, outer, part.marker, isDone));
      return;
    }
    for (const left of this.#combinations(part, index - 1, outer, isDone)) {
      if (left === null) yield null;
      else yield* context.observed(step, this.#joined(step, left, part.marker, isDone));
    }
  }

  *#joined(step: SemiStep, left: Batch, marker: number, isDone: Uint8Array): Batches<Batch> {
    const context = this.#context;
    const side = this.#sides.get(step) ?? (yield* this.#collect(step));
    if (side.rows.rows === 0) return;
    const outer = left.sides[marker]!.rows!;
    const isOpen: IsOpen = (place) => isDone[outer[place]!] === 0;
    for (const pairs of candidates(step, left, side, isOpen, context)) {
      if (pairs === null) {
        yield null;
        continue;
      }
      if (step.strategy === 'NESTED_LOOP') this.#countPairs(step, pairs.count);
      const found = combine(left, side.rows, step.right.pattern, pairs);
      yield* findMatched(context, found);
      for (const piece of context.parts(found)) {
        yield* findMatched(context);
        const kept = context.filter(piece, step.filter);
        yield kept.count > 0 ? kept : null;
      }
    }
  }

  *#collect(step: SemiStep): Building<StepSide> {
    const rows = yield* collectRows(step.right, this.#context, step.band !== undefined);
    const side = yield* stepSide(step, rows, batchOf(rows, step.right.pattern), this.#context);
    this.#sides.set(step, side);
    return side;
  }

  /** Throws `query_too_large` if a nested loop has compared too many pairs. */
  #countPairs(step: SemiStep, count: number): void {
    const compared = (this.#compared.get(step) ?? 0) + count;
    this.#compared.set(step, compared);
    if (compared <= MOST_LOOP_PAIRS) return;
    throw new HedgerowError(
      'query_too_large',
      `The condition that ties the patterns of EXISTS to the rows outside fits no index: more than ${MOST_LOOP_PAIRS} pairs of rows had to be compared. Narrow the patterns, or tie them by equality, overlaps, follows, shared or IN alias.members.`,
    );
  }
}

/** Returns a batch with one more side, which has a row number for each row and no values. */
function withSide(batch: Batch, place: number, rows: Uint32Array): Batch {
  const sides: (Side | undefined)[] = [...batch.sides];
  sides[place] = { set: NO_ROWS, rows };
  return { count: batch.count, sides };
}
