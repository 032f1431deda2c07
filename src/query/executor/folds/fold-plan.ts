// Decides whether the aggregates of a plan can be folded over the columns of segments without
// making rows, and which fields each condition, key and operand reads.

import { ROW_FIELD, type RowField, WANT } from '../../../core/index.ts';
import type { ColumnType, PropertyValue } from '../../../engine/index.ts';
import { isNumeric, kindOfType } from '../../../model/column-types.ts';
import type { BoundAggregate, BoundExpression, BoundField, BoundPattern } from '../../binder/bound.ts';
import { partsOf } from '../../binder/parts.ts';
import type { MatchPlan, ScanPlan } from '../../planner/plan.ts';

/**
 * A field that is read. For a property column, `type` is its type and `missing` is the value in
 * segments that lack the column.
 */
export interface FoldField extends RowField {
  readonly type: ColumnType | undefined;
  readonly missing: PropertyValue;
}

/**
 * A condition. It is evaluated once per combination of its fields' values in a segment, if these
 * are few.
 */
export interface FoldFilter {
  readonly expression: BoundExpression;
  readonly fields: readonly FoldField[];
  /** The same condition as a test of a number, used if the field has too many values. */
  readonly number: NumberTest | undefined;
}

/**
 * A test that is true if the field contains a number. If `differsFrom` is set, that number must be
 * different from the value of `differsFrom`, which does not depend on the row.
 */
export interface NumberTest {
  readonly field: FoldField;
  readonly differsFrom: BoundExpression | undefined;
}

/**
 * `rows` counts rows. `numbers` uses figures (count, sum, extremes) of a field. With `values`, the
 * operand is evaluated once per combination of its fields' values.
 */
export type FoldAggregate =
  | { readonly kind: 'rows' }
  | { readonly kind: 'numbers'; readonly field: FoldField; readonly wants: number }
  | { readonly kind: 'values'; readonly fields: readonly FoldField[] };

export interface FoldPlan {
  readonly scan: ScanPlan;
  readonly filters: readonly FoldFilter[];
  readonly keyFields: readonly FoldField[];
  /** In the order of the statement. */
  readonly aggregates: readonly FoldAggregate[];
}

/** Returns how to fold the aggregates of a plan, or undefined if rows must be read. */
export function foldPlanOf(plan: MatchPlan, patterns: readonly BoundPattern[]): FoldPlan | undefined {
  const { input, match } = plan;
  if (match.grouping === undefined || input.op !== 'scan' || input.paths.length !== 1) return undefined;
  // Rows that contain a given node, or words, are found one by one.
  if (input.paths[0]!.nodes.length > 0 || input.search !== undefined) return undefined;
  const reader = new FieldReader(patterns[input.pattern]!);
  const filters: FoldFilter[] = [];
  for (const condition of input.filter) {
    const filter = reader.filter(condition);
    if (filter === undefined) return undefined;
    filters.push(filter);
  }
  const keyFields = reader.fields(match.grouping.keys);
  if (keyFields === undefined) return undefined;
  const aggregates: FoldAggregate[] = [];
  for (const aggregate of match.grouping.aggregates) {
    const how = reader.aggregate(aggregate);
    if (how === undefined) return undefined;
    aggregates.push(how);
  }
  return { scan: input, filters, keyFields, aggregates: aggregates.map((how) => wantingAll(how, aggregates)) };
}

/** Requests the figures of all aggregates over the same field at once. */
function wantingAll(how: FoldAggregate, aggregates: readonly FoldAggregate[]): FoldAggregate {
  if (how.kind !== 'numbers') return how;
  let { wants } = how;
  for (const other of aggregates)
    if (other.kind === 'numbers' && fieldKey(other.field) === fieldKey(how.field)) wants |= other.wants;
  return { ...how, wants };
}

/** Returns a key that is equal for two fields if and only if the fields are the same. */
export function fieldKey({ kind, column }: RowField): number {
  return kind * 65536 + column;
}

class FieldReader {
  readonly #pattern: BoundPattern;

  constructor(pattern: BoundPattern) {
    this.#pattern = pattern;
  }

  filter(expression: BoundExpression): FoldFilter | undefined {
    const number = this.#numberTest(expression);
    const fields = this.fields([expression]) ?? (number && [number.field]);
    return fields && { expression, fields, number };
  }

  #numberTest(expression: BoundExpression): NumberTest | undefined {
    if (expression.kind === 'not' && expression.operand.kind === 'isNull') {
      const field = this.#numberField(expression.operand.operand);
      return field && { field, differsFrom: undefined };
    }
    if (expression.kind !== 'compare' || expression.operator !== '<>') return undefined;
    const { left, right } = expression;
    const [operand, other] = this.fields([left])?.length === 0 ? [right, left] : [left, right];
    const field = this.fields([other])?.length === 0 ? this.#numberField(operand) : undefined;
    return field && { field, differsFrom: other };
  }

  aggregate({ function: name, distinct, operand }: BoundAggregate): FoldAggregate | undefined {
    if (operand === undefined) return { kind: 'rows' };
    const field = distinct || name === 'COLLECT' ? undefined : this.#numberField(operand);
    if (field !== undefined) return { kind: 'numbers', field, wants: WANTS[name] };
    const fields = name === 'COLLECT' && !distinct ? undefined : this.fields([operand]);
    return fields && { kind: 'values', fields };
  }

  #numberField(operand: BoundExpression): FoldField | undefined {
    if (operand.kind !== 'field') return undefined;
    const field = this.#fieldOf(operand);
    const isNumber = field?.type === undefined || isNumeric(field.type);
    return isNumber ? field : undefined;
  }

  /**
   * Returns the distinct fields that expressions read. Returns undefined if they read times, ids or
   * reals, which have many values, or something that is not a field, such as members.
   */
  fields(expressions: readonly BoundExpression[]): FoldField[] | undefined {
    const fields = new Map<number, FoldField>();
    return expressions.every((expression) => this.#gather(expression, fields)) ? [...fields.values()] : undefined;
  }

  #gather(expression: BoundExpression, fields: Map<number, FoldField>): boolean {
    const add = (field: FoldField) => fields.set(fieldKey(field), field);
    switch (expression.kind) {
      case 'field': {
        const field = this.#fieldOf(expression);
        // Times, ids and reals are nearly all distinct.
        if (field?.type === undefined || kindOfType(field.type) === 'real') return false;
        add(field);
        return true;
      }
      case 'size':
        if (expression.operand.kind !== 'field' || expression.operand.field.kind === 'role') break;
        add({ kind: ROW_FIELD.size, column: 0, type: undefined, missing: null });
        return true;
      case 'bucket':
        // The buckets in segments have the width of their own table's buckets.
        if (expression.bucketSeconds !== this.#pattern.table.bucketSeconds) return false;
        add({ kind: ROW_FIELD.bucket, column: 0, type: undefined, missing: null });
        return true;
      case 'row':
      case 'hasNode':
      case 'shared':
      case 'overlaps':
      case 'follows':
      case 'search':
      case 'score':
        return false;
      default:
    }
    return partsOf(expression).every((part) => this.#gather(part, fields));
  }

  #fieldOf({ field }: BoundField): FoldField | undefined {
    switch (field.kind) {
      case 'event_ts':
        return { kind: ROW_FIELD.eventTs, column: 0, type: undefined, missing: null };
      case 'id':
        return { kind: ROW_FIELD.id, column: 0, type: undefined, missing: null };
      case 'property': {
        const column = this.#pattern.table.columns.columns.find(({ id }) => id === field.id);
        return column && { kind: ROW_FIELD.column, column: field.id, type: column.type, missing: column.default };
      }
      default:
        return undefined;
    }
  }
}

const WANTS = {
  COUNT: WANT.count,
  SUM: WANT.count | WANT.sum,
  AVG: WANT.count | WANT.sum,
  MIN: WANT.count | WANT.ends,
  MAX: WANT.count | WANT.ends,
  COLLECT: 0,
} as const;
