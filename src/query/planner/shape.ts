// Computes the shape of a MATCH: the part of its plan that does not depend on values. It is
// computed once for all runs of a bound statement.

import { buildRowPlan, type PlanColumn, type RowPlan } from '../../core/index.ts';
import { markedPlanOf, type Table } from '../../engine/index.ts';
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
  /**
   * Of a named table: the same plan with marks in place of the numbers of members, which
   * `Nodes.translate` replaces.
   */
  readonly marked: RowPlan | undefined;
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
    return {
      rowPlan: table.rowPlan,
      before: `{${JSON.stringify(first!.name)}:`,
      marked: table.kinds === undefined ? undefined : markedPlanOf(table.columns, table.definition),
    };
  return table.isOfNodes ? writtenNodes(items, table) : writtenEdges(items, table);
}

/** Returns how rows of a node table are written, if all items are columns. */
function writtenNodes(items: readonly BoundItem[], table: Table): WrittenRows | undefined {
  const columns = planColumns(items, 0, table);
  if (columns === undefined) return undefined;
  return { rowPlan: buildRowPlan(columns, { head: 'node' }), before: undefined, marked: undefined };
}

const HEAD = ['id', 'event_ts', 'members'] as const;

/**
 * Returns how the rows are written if the first three items are `id`, `event_ts` and `members`
 * under these names, and property columns follow in any order under any names. Otherwise returns
 * undefined.
 */
function writtenEdges(items: readonly BoundItem[], table: Table): WrittenRows | undefined {
  if (items.length < HEAD.length) return undefined;
  for (const [place, head] of HEAD.entries()) {
    const { name, expression } = items[place]!;
    if (expression.kind !== 'field' || expression.field.kind !== head || name !== head) return undefined;
  }
  const properties = planColumns(items, HEAD.length, table);
  if (properties === undefined) return undefined;
  const { columns } = table.columns;
  // The table's own plan also writes the field `roles`, if the table has roles.
  const isWhole =
    table.roles.isEmpty &&
    properties.length === columns.length &&
    properties.every(({ id, name }, place) => columns[place]!.id === id && columns[place]!.name === name);
  const isNamed = table.kinds !== undefined;
  // The core already has the table's own plan.
  if (isWhole)
    return {
      rowPlan: table.rowPlan,
      before: undefined,
      marked: isNamed ? markedPlanOf(table.columns, table.definition) : undefined,
    };
  const marked = isNamed ? buildRowPlan(properties, { named: true }) : undefined;
  return { rowPlan: buildRowPlan(properties), before: undefined, marked };
}

/** Returns the items from place `from` on as columns of a row plan, if all are property columns. */
function planColumns(items: readonly BoundItem[], from: number, { columns }: Table): PlanColumn[] | undefined {
  const properties: PlanColumn[] = [];
  for (let place = from; place < items.length; place++) {
    const { name, expression } = items[place]!;
    if (expression.kind !== 'field' || expression.field.kind !== 'property') return undefined;
    const { id } = expression.field;
    const column = columns.columns.find((each) => each.id === id)!;
    properties.push({ id, name, missing: JSON.stringify(column.default) });
  }
  return properties;
}
