// Binds function calls. Calls of aggregates are passed on to the scope; calls of all other
// functions are bound here.

import { didYouMean } from '../../model/suggestions.ts';
import type { CallNode, Expression } from '../parser/ast.ts';
import { shown, shownName } from '../shown.ts';
import { AGGREGATES, isAggregate } from './aggregates.ts';
import type { BoundExpression } from './bound.ts';
import { bindExpression, requireNumber } from './expressions.ts';
import { bindDuring, bindHolds } from './intervals.ts';
import { misplacedNode, NODE_FORM, requireLikeMembers } from './nodes.ts';
import type { Scope } from './scope.ts';
import { bindScore, bindSearch } from './searches.ts';
import { asTime, dateOf } from './times.ts';

type FunctionBinder = (call: CallNode, scope: Scope) => BoundExpression;

const FUNCTIONS: Readonly<Record<string, { arity: number; form: string; bind: FunctionBinder }>> = {
  SIZE: { arity: 1, form: 'size(alias.members)', bind: bindSize },
  BUCKET: { arity: 1, form: 'bucket(alias)', bind: bindBucket },
  DATETIME: { arity: 1, form: "datetime('2024-05-02T10:00:00Z')", bind: bindDatetime },
  DATE: { arity: 1, form: 'date(alias.event_ts)', bind: bindDate },
  SHARED: { arity: 2, form: 'shared(a, b)', bind: bindShared },
  INTERSECTS: { arity: 2, form: 'intersects(a, b)', bind: bindIntersects },
  OVERLAPS: { arity: 3, form: 'overlaps(a, b, seconds)', bind: bindOverlaps },
  HOLDS: { arity: 2, form: 'holds(alias, time)', bind: bindHolds },
  DURING: { arity: 2, form: 'during(inner, outer)', bind: bindDuring },
  FOLLOWS: { arity: 3, form: 'follows(later, earlier, seconds)', bind: bindFollows },
  NODE: { arity: 2, form: NODE_FORM, bind: misplacedNode },
  SEARCH: { arity: 2, form: "search(alias, 'words')", bind: bindSearch },
  SCORE: { arity: 1, form: 'score(alias)', bind: bindScore },
};

export function bindCall(call: CallNode, scope: Scope): BoundExpression {
  const name = call.name.name.toUpperCase();
  if (isAggregate(name)) {
    if (scope.aggregates === undefined) throw scope.error(call, `${scope.noAggregates}.`);
    return scope.aggregates(call, scope);
  }
  const known = Object.hasOwn(FUNCTIONS, name) ? FUNCTIONS[name] : undefined;
  if (known === undefined) {
    const names = [...Object.keys(FUNCTIONS), ...Object.keys(AGGREGATES)].map((one) => one.toLowerCase());
    throw scope.error(
      call,
      `there is no function ${shownName(call.name.name)}; there are ${names.join(', ')}.${didYouMean(call.name.name, names)}`,
    );
  }
  if (call.distinct || call.star || call.args.length !== known.arity)
    throw scope.error(call, `${call.name.name} is written ${known.form}.`);
  return known.bind(call, scope);
}

function bindSize(call: CallNode, scope: Scope): BoundExpression {
  const operand = bindExpression(call.args[0]!, scope);
  if (operand.type !== 'list' && operand.type !== 'null')
    throw scope.error(call.args[0]!, `size counts members or a list, not ${operand.type}.`);
  return { kind: 'size', operand, type: 'integer', text: scope.textOf(call) };
}

function bindBucket(call: CallNode, scope: Scope): BoundExpression {
  const pattern = edgeAlias(call.args[0]!, scope, 'bucket(alias)');
  const { bucketSeconds } = scope.patterns[pattern]!.table;
  return { kind: 'bucket', pattern, bucketSeconds, type: 'integer', text: scope.textOf(call) };
}

/** Marks a text or a number of seconds as a time. */
function bindDatetime(call: CallNode, scope: Scope): BoundExpression {
  const operand = timeOperand(call, scope);
  const text = scope.textOf(call);
  return { kind: 'time', operand, type: operand.type, isTime: operand.type !== 'null', text };
}

function bindDate(call: CallNode, scope: Scope): BoundExpression {
  const operand = timeOperand(call, scope);
  const text = scope.textOf(call);
  return operand.type === 'null' ? { ...operand, text } : dateOf(operand, text);
}

function timeOperand(call: CallNode, scope: Scope): BoundExpression {
  const argument = call.args[0]!;
  const bound = asTime(bindExpression(argument, scope), argument, scope, 'time');
  if (bound.type === 'integer' || bound.type === 'null' || (bound.type === 'real' && bound.isTime === true))
    return bound;
  const is = bound.type === 'text' ? 'a computed text' : `of type ${bound.type}`;
  throw scope.error(
    argument,
    `${call.name.name} takes a time: a written text such as '2024-05-02', a parameter, or epoch seconds; ${shown(bound.text)} is ${is}.`,
  );
}

function bindShared(call: CallNode, scope: Scope): BoundExpression {
  const left = memberSide(call.args[0]!, scope);
  const right = memberSide(call.args[1]!, scope);
  requireLikeMembers(call, scope.patterns[left.pattern]!.table, scope.patterns[right.pattern]!.table, scope);
  return {
    kind: 'shared',
    left: left.pattern,
    right: right.pattern,
    ...(left.mask === undefined ? {} : { leftMask: left.mask }),
    ...(right.mask === undefined ? {} : { rightMask: right.mask }),
    type: 'integer',
    text: scope.textOf(call),
  };
}

/** Binds a side of shared(): an alias, `alias.members` or `alias.role`. */
function memberSide(argument: Expression, scope: Scope): { pattern: number; mask?: number } {
  if (argument.kind !== 'column') return { pattern: edgeAlias(argument, scope, 'shared(a, b)') };
  const bound = bindExpression(argument, scope);
  if (bound.kind === 'field' && bound.field.kind === 'members') return { pattern: bound.pattern };
  if (bound.kind === 'field' && bound.field.kind === 'role') return { pattern: bound.pattern, mask: bound.field.mask };
  throw scope.error(argument, 'shared takes aliases, their members or their roles: shared(a, b), shared(a.sender, b).');
}

/** Names of functions as statements write them, for completion. */
export const FUNCTION_NAMES: readonly string[] = [...Object.keys(FUNCTIONS), ...Object.keys(AGGREGATES)].map((name) =>
  name.toLowerCase(),
);

/** Binds intersects(a, b) as shared(a, b) >= 1. */
function bindIntersects(call: CallNode, scope: Scope): BoundExpression {
  const text = scope.textOf(call);
  const one: BoundExpression = { kind: 'constant', value: 1, type: 'integer', text: '1' };
  return { kind: 'compare', operator: '>=', left: bindShared(call, scope), right: one, type: 'boolean', text };
}

function bindOverlaps(call: CallNode, scope: Scope): BoundExpression {
  const form = 'overlaps(a, b, seconds)';
  const left = edgeAlias(call.args[0]!, scope, form);
  const right = edgeAlias(call.args[1]!, scope, form);
  return {
    kind: 'overlaps',
    left,
    right,
    width: width(call.args[2]!, scope, form),
    type: 'boolean',
    text: scope.textOf(call),
  };
}

function bindFollows(call: CallNode, scope: Scope): BoundExpression {
  const form = 'follows(later, earlier, seconds)';
  const later = edgeAlias(call.args[0]!, scope, form);
  const earlier = edgeAlias(call.args[1]!, scope, form);
  return {
    kind: 'follows',
    later,
    earlier,
    width: width(call.args[2]!, scope, form),
    type: 'boolean',
    text: scope.textOf(call),
  };
}

function alias(argument: Expression, scope: Scope, form: string): number {
  if (argument.kind !== 'name') throw scope.error(argument, `an alias is missing here: ${form}.`);
  return scope.pattern(argument);
}

/** Does the same as `alias`. Throws if the alias is of a node table: a node has no time. */
function edgeAlias(argument: Expression, scope: Scope, form: string): number {
  const pattern = alias(argument, scope, form);
  const { alias: name, table } = scope.patterns[pattern]!;
  if (table.isOfNodes)
    throw scope.error(
      argument,
      `${form} takes edges, and ${shown(name)} is a node of ${table.name}; a node is tied to an edge by ${shown(name)} IN alias.members.`,
    );
  return pattern;
}

function width(argument: Expression, scope: Scope, form: string): BoundExpression {
  const bound = bindExpression(argument, scope);
  requireNumber(bound, argument, scope, `the width of ${form}`);
  return bound;
}
