// Binds expressions: resolves names and checks types. Integers and reals can be mixed in
// comparisons and arithmetic; any other mixture of types is an error. Null fits every type.

import { MAX_CHAIN } from '../limits.ts';
import type { BetweenNode, BinaryNode, Expression, InNode, LogicNode } from '../parser/ast.ts';
import { shown } from '../shown.ts';
import type { BoundArithmetic, BoundComparison, BoundExpression, ValueType } from './bound.ts';
import { bindExists } from './exists.ts';
import { bindCall } from './functions.ts';
import { bindMember, bindMemberComparison } from './nodes.ts';
import { commonType } from './parameters.ts';
import type { Scope } from './scope.ts';
import { comparedSides, sidesOfIn } from './times.ts';

/** Binds an expression over rows. Throws `invalid_statement`, `unknown_column`. */
export function bindExpression(node: Expression, scope: Scope): BoundExpression {
  const text = scope.textOf(node);
  switch (node.kind) {
    case 'literal':
      return { kind: 'constant', value: node.value, type: node.type, text };
    case 'parameter':
      return scope.parameter(node);
    case 'values':
      return { kind: 'constant', value: node.values, type: 'list', itemType: node.type, text };
    case 'list':
      return bindList(node.items, scope, text);
    case 'name':
      return bindBare(node, scope);
    case 'column':
      return scope.field(scope.pattern(node.alias), node.column, node);
    case 'call':
      return bindCall(node, scope);
    case 'and':
    case 'or':
      return bindLogic(node, scope);
    case 'not':
      return { kind: 'not', operand: bindCondition(node.operand, scope, 'NOT'), type: 'boolean', text };
    case 'negate': {
      const operand = bindExpression(node.operand, scope);
      requireNumber(operand, node.operand, scope, 'a minus');
      return { kind: 'negate', operand, type: operand.type, text };
    }
    case 'binary':
      return bindBinary(node, scope);
    case 'in':
      return bindIn(node, scope);
    case 'between':
      return bindBetween(node, scope);
    case 'isNull':
      return { kind: 'isNull', operand: bindExpression(node.operand, scope), type: 'boolean', text };
    case 'exists':
      return bindExists(node, scope);
  }
}

/** Binds an expression that must be a condition: boolean or null. */
export function bindCondition(node: Expression, scope: Scope, where: string): BoundExpression {
  const bound = bindExpression(node, scope);
  if (bound.type !== 'boolean' && bound.type !== 'null')
    throw scope.error(node, `${where} takes a condition, but ${shown(bound.text)} is ${described(bound.type)}.`);
  return bound;
}

/** Number of conditions of a chain that are bound in one step. */
const CONDITIONS_A_STEP = 250;

/** Does the same as `bindCondition`. Yields null between steps if the condition is a long chain. */
export function* bindingCondition(
  node: Expression,
  scope: Scope,
  where: string,
): Generator<null, BoundExpression, void> {
  if ((node.kind !== 'and' && node.kind !== 'or') || node.items.length <= CONDITIONS_A_STEP)
    return bindCondition(node, scope, where);
  const items: BoundExpression[] = [];
  for (let from = 0; from < node.items.length; from += CONDITIONS_A_STEP) {
    addConditions(node, from, Math.min(node.items.length, from + CONDITIONS_A_STEP), scope, items);
    yield null;
  }
  return { kind: node.kind, items, type: 'boolean', text: scope.textOf(node) };
}

export function requireNumber(bound: BoundExpression, node: Expression, scope: Scope, what: string): void {
  if (!isNumeric(bound.type)) throw scope.error(node, `${what} takes a number, not ${described(bound.type)}.`);
}

function isNumeric(type: ValueType): boolean {
  return type === 'integer' || type === 'real' || type === 'null';
}

function bindBare(node: Extract<Expression, { kind: 'name' }>, scope: Scope): BoundExpression {
  const item = scope.itemNamed?.(node.name);
  if (item !== undefined) return item;
  // In an EXISTS of UPDATE or DELETE, an alias of the EXISTS hides a column of the changed table.
  const isAlias = scope.bareColumns && scope.first > 0 && scope.findPattern(node.name) > 0;
  if (scope.bareColumns && !isAlias) {
    if (scope.findField(0, node.name) !== undefined) return scope.field(0, node, node);
    throw scope.unknownColumn(0, node);
  }
  const home = scope.patterns[scope.first];
  if (scope.findPattern(node.name) < 0 && home !== undefined && scope.findField(scope.first, node.name) !== undefined) {
    const { alias } = home;
    throw scope.error(node, `a column is written after its alias: ${shown(alias)}.${shown(node.name)}.`);
  }
  const pattern = scope.pattern(node);
  const ends = scope.patterns[pattern]!.table.columns.end?.name;
  return { kind: 'row', pattern, ends, type: 'row', text: scope.textOf(node) };
}

function bindList(items: readonly Expression[], scope: Scope, text: string): BoundExpression {
  const bound = items.map((item) => bindExpression(item, scope));
  checkComputed(bound, items, scope);
  let itemType: ValueType = 'null';
  for (const [index, item] of bound.entries()) {
    const common: ValueType | undefined =
      item.type === 'list' || item.type === 'row' ? undefined : commonType(itemType, item.type);
    if (common === undefined)
      throw scope.error(
        items[index]!,
        `a list holds single values of one type; ${shown(item.text)} is ${described(item.type)}.`,
      );
    itemType = common;
  }
  return { kind: 'list', items: bound, type: 'list', text };
}

/**
 * Limits the number of computed items in a list, because each of them is evaluated for every row.
 * The limit is the same as for chained conditions.
 */
function checkComputed(bound: readonly BoundExpression[], items: readonly Expression[], scope: Scope): void {
  let computed = 0;
  for (const [index, { kind }] of bound.entries())
    if (kind !== 'constant' && kind !== 'parameter' && ++computed > MAX_CHAIN)
      throw scope.error(items[index]!, `a list has at most ${MAX_CHAIN} items that are not plain values.`);
}

/**
 * Returns the common item type of a list expression, or undefined if the expression is not a list.
 */
export function itemTypeOf(bound: BoundExpression): ValueType | undefined {
  if (bound.kind === 'parameter' || bound.kind === 'constant') return bound.itemType;
  if (bound.kind === 'field') return bound.type === 'list' ? 'integer' : undefined;
  if (bound.kind !== 'list') return undefined;
  return bound.items.reduce<ValueType>((type, item) => commonType(type, item.type) ?? type, 'null');
}

function bindLogic(node: LogicNode, scope: Scope): BoundExpression {
  const items: BoundExpression[] = [];
  addConditions(node, 0, node.items.length, scope, items);
  return { kind: node.kind, items, type: 'boolean', text: scope.textOf(node) };
}

/** Binds the conditions [from, to) of a chain. */
function addConditions(node: LogicNode, from: number, to: number, scope: Scope, into: BoundExpression[]): void {
  const where = node.kind === 'and' ? 'AND' : 'OR';
  for (let index = from; index < to; index++) {
    const bound = bindCondition(node.items[index]!, scope, where);
    if (bound.kind === node.kind) for (const one of bound.items) into.push(one);
    else into.push(bound);
  }
}

function bindBinary(node: BinaryNode, scope: Scope): BoundExpression {
  const ofMembers = bindMemberComparison(node, scope);
  if (ofMembers !== undefined) return ofMembers;
  const left = bindExpression(node.left, scope);
  const right = bindExpression(node.right, scope);
  switch (node.operator) {
    case '+':
    case '-':
    case '*':
    case '/':
    case '%':
      return arithmetic(node, node.operator, left, right, scope);
    case 'CONTAINS':
    case 'STARTS WITH':
    case 'ENDS WITH': {
      requireText(left, node.left, scope, node.operator);
      requireText(right, node.right, scope, node.operator);
      return { kind: 'textMatch', operator: node.operator, left, right, type: 'boolean', text: scope.textOf(node) };
    }
    default:
      return comparison(node, node.operator, left, right, scope, node);
  }
}

function requireText(bound: BoundExpression, node: Expression, scope: Scope, operator: string): void {
  if (bound.type === 'text' || bound.type === 'null') return;
  const hint = bound.type === 'list' ? ' To look for a node write: node IN alias.members.' : '';
  throw scope.error(node, `${operator} compares texts; ${shown(bound.text)} is ${described(bound.type)}.${hint}`);
}

function arithmetic(
  node: Expression,
  operator: BoundArithmetic['operator'],
  left: BoundExpression,
  right: BoundExpression,
  scope: Scope,
): BoundExpression {
  const text = scope.textOf(node);
  const isText = (bound: BoundExpression) => bound.type === 'text' || bound.type === 'null';
  if (operator === '+' && (left.type === 'text' || right.type === 'text') && isText(left) && isText(right))
    return { kind: 'arithmetic', operator, left, right, type: 'text', text };
  if (!isNumeric(left.type) || !isNumeric(right.type)) {
    const pair = `${described(left.type)} ${operator} ${described(right.type)}`;
    throw scope.error(
      node,
      `${pair} cannot be computed; ${operator === '+' ? 'both must be numbers, or both texts' : 'both must be numbers'}.`,
    );
  }
  return { kind: 'arithmetic', operator, left, right, type: arithmeticType(left.type, right.type), text };
}

function arithmeticType(left: ValueType, right: ValueType): BoundArithmetic['type'] {
  if (left === 'null' || right === 'null')
    return left === right ? 'null' : ((left === 'null' ? right : left) as 'integer' | 'real');
  return left === 'integer' && right === 'integer' ? 'integer' : 'real';
}

/**
 * Binds a comparison. Both sides must have the same type or be numbers. Lists can be compared only
 * for equality, rows not at all.
 */
function comparison(
  node: Expression,
  operator: BoundComparison['operator'],
  given: BoundExpression,
  other: BoundExpression,
  scope: Scope,
  places: { readonly left: Expression; readonly right: Expression },
): BoundExpression {
  const { left, right } = comparedSides({ left: given, right: other }, places, scope);
  const text = scope.textOf(node);
  const bound: BoundExpression = { kind: 'compare', operator, left, right, type: 'boolean', text };
  requireComparable(node, left, right, scope);
  if ((left.type === 'list' || right.type === 'list') && operator !== '=' && operator !== '<>')
    throw scope.error(node, 'lists are compared with = and <> only.');
  requireOneWidth(node, left, right, scope);
  return bound;
}

function requireOneWidth(node: Expression, left: BoundExpression, right: BoundExpression, scope: Scope): void {
  if (left.kind !== 'bucket' || right.kind !== 'bucket' || left.bucketSeconds === right.bucketSeconds) return;
  throw scope.error(
    node,
    `these buckets are of different widths, ${left.bucketSeconds} and ${right.bucketSeconds} seconds; compare times with overlaps(a, b, seconds).`,
  );
}

function requireComparable(node: Expression, left: BoundExpression, right: BoundExpression, scope: Scope): void {
  if (left.type === 'row' || right.type === 'row')
    throw scope.error(node, 'whole rows cannot be compared; compare their columns, for instance a.id = b.id.');
  if (commonType(left.type, right.type) === undefined)
    throw scope.error(
      node,
      `${shown(left.text)} is ${described(left.type)} and ${shown(right.text)} is ${described(right.type)}; they cannot be compared.${timeAdvice(left, right)}`,
    );
  const items = [itemTypeOf(left), itemTypeOf(right)] as const;
  if (items[0] !== undefined && items[1] !== undefined && commonType(items[0], items[1]) === undefined)
    throw scope.error(
      node,
      `a list whose items are each ${described(items[0])} and one whose items are each ${described(items[1])} cannot be compared.`,
    );
}

/** Returns the hint for a time compared with a computed text, which is never read as a time. */
function timeAdvice(left: BoundExpression, right: BoundExpression): string {
  const isMixed = (time: BoundExpression, text: BoundExpression) => time.isTime === true && text.type === 'text';
  return isMixed(left, right) || isMixed(right, left)
    ? ' A time is compared with epoch seconds, a written text such as "2024-05-02", or a parameter.'
    : '';
}

/** Binds x BETWEEN low AND high as x >= low AND x <= high. */
function bindBetween(node: BetweenNode, scope: Scope): BoundExpression {
  const operand = bindExpression(node.operand, scope);
  const bound = (operator: '>=' | '<=', end: Expression) =>
    comparison(node, operator, operand, bindExpression(end, scope), scope, { left: node.operand, right: end });
  const low = bound('>=', node.low);
  const high = bound('<=', node.high);
  return { kind: 'and', items: [low, high], type: 'boolean', text: scope.textOf(node) };
}

/**
 * Returns the hint for a text that is looked up among members. The text is most likely the name of
 * an imported node.
 */
function namesAdvice(operand: BoundExpression, list: BoundExpression): string {
  if (list.kind !== 'field' || operand.type !== 'text') return '';
  return " Members are numbers; imports keep the names of nodes in a second table: MATCH (e:T), (n:T_nodes) WHERE n.vertex = 'name' AND shared(e, n) >= 1.";
}

function bindIn(node: InNode, scope: Scope): BoundExpression {
  const text = scope.textOf(node);
  const listed = bindExpression(node.list, scope);
  const member = listed.kind === 'field' && listed.type === 'list' ? bindMember(node, listed, scope) : undefined;
  if (member !== undefined) return member;
  const given = { left: bindExpression(node.operand, scope), right: listed };
  const { left: operand, right: list } = sidesOfIn(given, { left: node.operand, right: node.list }, scope);
  if (list.type === 'null') return { kind: 'constant', value: null, type: 'null', text };
  if (list.type !== 'list') throw scope.error(node.list, `IN takes a list or members, not ${described(list.type)}.`);
  const itemType = itemTypeOf(list) ?? 'null';
  if (operand.type === 'list' || operand.type === 'row' || commonType(operand.type, itemType) === undefined)
    throw scope.error(
      node,
      `${shown(operand.text)} is ${described(operand.type)}, but the list holds ${described(itemType)}.${namesAdvice(operand, list)}`,
    );
  if (list.kind === 'field') {
    const { field, pattern } = list;
    const role = field.kind === 'role' ? { role: field.name, mask: field.mask } : {};
    return { kind: 'hasNode', pattern, ...role, node: operand, type: 'boolean', text };
  }
  if (list.kind === 'parameter' || list.kind === 'constant')
    return { kind: 'in', operand, items: list, type: 'boolean', text };
  if (list.kind === 'list') {
    for (const item of list.items) requireOneWidth(node, operand, item, scope);
    return { kind: 'in', operand, items: list.items, type: 'boolean', text };
  }
  throw scope.error(node.list, 'IN takes a written list, a parameter or the members of a row.');
}

export function described(type: ValueType): string {
  switch (type) {
    case 'integer':
      return 'an integer';
    case 'real':
      return 'a real number';
    case 'text':
      return 'a text';
    case 'boolean':
      return 'a boolean';
    case 'list':
      return 'a list';
    case 'row':
      return 'a whole row';
    case 'null':
      return 'null';
  }
}
