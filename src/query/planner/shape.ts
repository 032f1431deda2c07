// Computes the shape of a MATCH: the part of its plan that does not depend on values. It is
// computed once for all runs of a bound statement.

import { buildRowPlan, type RowPlan } from '../../core/index.ts';
import type { Table } from '../../engine/index.ts';
import type { BoundExpression, BoundItem, BoundMatch } from '../binder/bound.ts';
import { type ResultForm, resultForms } from '../binder/column-types.ts';
import { expressionsOf, partsOf } from '../binder/parts.ts';
import type { ResultType } from '../result-types.ts';
import { addNeedsOfExists, type ExistsShape, existsShapes } from './exists.ts';
import { addNeeds, hasExists, noNeeds, patternsOf } from './patterns-of.ts';
import type { ColumnNeeds } from './plan.ts';

export interface MatchShape {
  readonly match: BoundMatch;
  /** Names of the result columns. */
  readonly columns: readonly string[];
  /** Types of the columns, in the same order. */
  readonly columnTypes: readonly ResultType[];
  /** The same as `columnTypes`, with the item types of lists. */
  readonly forms: readonly ResultForm[];
  /**
   * For each pattern, the conditions that read only this pattern. Conditions that read no pattern
   * belong to the first one.
   */
  readonly own: readonly (readonly BoundExpression[])[];
  /** Conditions on several patterns. */
  readonly joint: readonly BoundExpression[];
  /** Conditions that contain EXISTS. They are in neither `own` nor `joint`. */
  readonly tested: readonly BoundExpression[];
  /** The shape of every EXISTS. */
  readonly exists: readonly ExistsShape[];
  /**
   * For each pattern (those of EXISTS included), the columns that are read, except by the pattern's
   * own conditions. Plans that add columns make a copy.
   */
  readonly needs: readonly ColumnNeeds[];
  /** Set if the core can write the rows of the result itself. */
  readonly written: WrittenRows | undefined;
  /**
   * True if a late row may still fail: a value that is computed for each row may overflow, or an
   * EXISTS may have to compare too many rows.
   */
  readonly computes: boolean;
  /** The expressions of the MATCH that contain an IN. */
  readonly memberships: readonly BoundExpression[];
}

/** Rows as the core writes them: `id`, `event_ts` and `members`, then the columns of the plan. */
export interface WrittenRows {
  readonly rowPlan: RowPlan;
  /**
   * If set, this text is written before each row and a brace after it: the row is then the only
   * value in the result row. Undefined: the row itself is the result row.
   */
  readonly before: string | undefined;
}

export function shapeOf(match: BoundMatch): MatchShape {
  const own: BoundExpression[][] = match.patterns.map(() => []);
  const joint: BoundExpression[] = [];
  const tested: BoundExpression[] = [];
  for (const condition of match.where) {
    if (match.inner.length > 0 && hasExists(condition)) {
      tested.push(condition);
      continue;
    }
    const bits = patternsOf(condition);
    const isOwn = (bits & (bits - 1)) === 0;
    if (isOwn) own[bits === 0 ? 0 : 31 - Math.clz32(bits)]!.push(condition);
    else joint.push(condition);
  }
  const forms = resultForms(match);
  const exists = existsShapes(tested);
  return {
    match,
    columns: match.items.map((item) => item.name),
    columnTypes: forms.map(({ type }) => type),
    forms,
    own,
    joint,
    tested,
    exists,
    needs: needsOf(match, [...joint, ...tested], exists),
    written: writtenRows(match),
    computes:
      exists.length > 0 || match.where.some(computes) || match.items.some(({ expression }) => computes(expression)),
    memberships: [...expressionsOf(match)].filter(hasMembership),
  };
}

function hasMembership(expression: BoundExpression): boolean {
  return expression.kind === 'in' || partsOf(expression).some(hasMembership);
}

function computes(expression: BoundExpression): boolean {
  return expression.kind === 'arithmetic' || expression.kind === 'negate' || partsOf(expression).some(computes);
}

function needsOf(
  { patterns: outer, inner, grouping, items, orderBy }: BoundMatch,
  joint: readonly BoundExpression[],
  exists: readonly ExistsShape[],
): ColumnNeeds[] {
  const patterns = inner.length === 0 ? outer : [...outer, ...inner];
  const needs = patterns.map(noNeeds);
  const add = (expression: BoundExpression) => addNeeds(expression, needs, patterns);
  joint.forEach(add);
  grouping?.keys.forEach(add);
  for (const { operand } of grouping?.aggregates ?? []) if (operand !== undefined) add(operand);
  for (const { expression } of items) add(expression);
  for (const { expression } of orderBy) add(expression);
  addNeedsOfExists(exists, needs, patterns);
  return needs;
}

function writtenRows({ patterns, grouping, distinct, items }: BoundMatch): WrittenRows | undefined {
  if (patterns.length !== 1 || grouping !== undefined || distinct) return undefined;
  const { table } = patterns[0]!;
  const [first] = items;
  if (items.length === 1 && first!.expression.kind === 'row')
    return { rowPlan: table.rowPlan, before: `{${JSON.stringify(first!.name)}:` };
  const rowPlan = rowPlanOf(items, table);
  return rowPlan && { rowPlan, before: undefined };
}

const HEAD = ['id', 'event_ts', 'members'] as const;

/**
 * Returns the row plan if the first three items are `id`, `event_ts` and `members` under these
 * names, and property columns follow in any order under any names. Otherwise returns undefined.
 */
function rowPlanOf(items: readonly BoundItem[], { columns, roles, rowPlan }: Table): RowPlan | undefined {
  if (items.length < HEAD.length) return undefined;
  const properties: { id: number; name: string; missing: string }[] = [];
  // The table's own plan also writes the field `roles`, if the table has roles.
  let isWhole = roles.isEmpty && items.length === HEAD.length + columns.columns.length;
  for (const [place, { name, expression }] of items.entries()) {
    if (expression.kind !== 'field') return undefined;
    const { field } = expression;
    if (place < HEAD.length) {
      if (field.kind !== HEAD[place] || name !== HEAD[place]) return undefined;
      continue;
    }
    if (field.kind !== 'property') return undefined;
    const next = columns.columns[place - HEAD.length];
    isWhole &&= next !== undefined && next.id === field.id && next.name === name;
    const column = columns.columns.find(({ id }) => id === field.id)!;
    properties.push({ id: field.id, name, missing: JSON.stringify(column.default) });
  }
  // The core already has the table's own plan.
  return isWhole ? rowPlan : buildRowPlan(properties);
}
