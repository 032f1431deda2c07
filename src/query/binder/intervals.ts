// Binds conditions on intervals as comparisons of their beginnings and ends, so that joins, filters
// and evaluation need not know them. A null end is infinite. In a table without intervals, an edge
// ends where it begins.

import { NO_INTERVALS } from '../../engine/index.ts';
import type { CallNode, Expression } from '../parser/ast.ts';
import type { BoundComparison, BoundExpression, BoundField } from './bound.ts';
import { bindExpression } from './expressions.ts';
import { partsOf } from './parts.ts';
import type { Scope } from './scope.ts';
import { asTime } from './times.ts';

/**
 * Binds holds(c, t) as `c.event_ts <= t AND (c.end_ts IS NULL OR c.end_ts > t)`. If `t` refers to
 * no pattern, the conjunction says what it means, so that the planner can use the index of
 * intervals.
 */
export function bindHolds(call: CallNode, scope: Scope): BoundExpression {
  const place = aliasOf(call.args[0]!, scope, 'holds(alias, time)');
  const { begin, end } = intervalOf(place, scope);
  if (end === undefined) throw scope.error(call.args[0]!, `${scope.patterns[place]!.table.name}: ${NO_INTERVALS}`);
  const argument = call.args[1]!;
  const time = asTime(bindExpression(argument, scope), argument, scope, 'time');
  if (time.type !== 'integer' && time.type !== 'real' && time.type !== 'null')
    throw scope.error(
      argument,
      `holds takes a time: a written text such as '2024-05-02', a parameter, or epoch seconds, not a value of type ${time.type}.`,
    );
  const text = scope.textOf(call);
  if (time.type === 'null') return { ...time, type: 'null', text };
  const items = [
    compared('<=', begin, time, text),
    { kind: 'or', items: [isNull(end, text), compared('>', end, time, text)], type: 'boolean', text } as const,
  ];
  const holds = readsRow(time) ? undefined : { pattern: place, time };
  return { kind: 'and', items, type: 'boolean', text, ...(holds && { holds }) };
}

/** Binds during(a, b): b has begun when a begins, and a has ended when b ends. */
export function bindDuring(call: CallNode, scope: Scope): BoundExpression {
  const form = 'during(inner, outer)';
  const inner = intervalOf(aliasOf(call.args[0]!, scope, form), scope);
  const outer = intervalOf(aliasOf(call.args[1]!, scope, form), scope);
  const text = scope.textOf(call);
  const begins = compared('<=', outer.begin, inner.begin, text);
  let ends: BoundExpression = compared('<=', inner.end ?? inner.begin, outer.end ?? outer.begin, text);
  if (inner.end !== undefined) {
    const hasEnd: BoundExpression = { kind: 'not', operand: isNull(inner.end, text), type: 'boolean', text };
    ends = { kind: 'and', items: [hasEnd, ends], type: 'boolean', text };
  }
  if (outer.end !== undefined) ends = { kind: 'or', items: [isNull(outer.end, text), ends], type: 'boolean', text };
  return { kind: 'and', items: [begins, ends], type: 'boolean', text };
}

/** Returns the fields of a pattern between which its edges hold; no end if it has no intervals. */
function intervalOf(place: number, scope: Scope): { begin: BoundField; end: BoundField | undefined } {
  const { alias, table } = scope.patterns[place]!;
  const fieldOf = (name: string): BoundField => ({
    ...scope.field(place, { name, start: 0, end: 0 }, { start: 0, end: 0 }),
    text: `${alias}.${name}`,
  });
  const { end } = table.columns;
  return { begin: fieldOf('event_ts'), end: end && fieldOf(end.name) };
}

function compared(
  operator: BoundComparison['operator'],
  left: BoundExpression,
  right: BoundExpression,
  text: string,
): BoundComparison {
  return { kind: 'compare', operator, left, right, type: 'boolean', text };
}

function isNull(operand: BoundExpression, text: string): BoundExpression {
  return { kind: 'isNull', operand, type: 'boolean', text };
}

function aliasOf(argument: Expression, scope: Scope, form: string): number {
  if (argument.kind !== 'name') throw scope.error(argument, `an alias is missing here: ${form}.`);
  return scope.pattern(argument);
}

const ROW_KINDS: ReadonlySet<BoundExpression['kind']> = new Set([
  'field',
  'row',
  'bucket',
  'hasNode',
  'shared',
  'overlaps',
  'follows',
  'search',
  'score',
]);

function readsRow(node: BoundExpression): boolean {
  return ROW_KINDS.has(node.kind) || partsOf(node).some(readsRow);
}
