// Binds the members of named tables: keys of nodes, `node(Kind, key)`, and aliases of node patterns
// before IN. A key stays an expression, which is translated to the number of its node at every run:
// a node may be created between two runs.

import type { NodeKind, Table } from '../../engine/index.ts';
import { kindIndex } from '../../model/node-refs.ts';
import type { BinaryNode, CallNode, Expression, InNode } from '../parser/ast.ts';
import { shown, shownName } from '../shown.ts';
import type { BoundExpression, BoundField, BoundNode, ValueType } from './bound.ts';
import { bindExpression, described, itemTypeOf } from './expressions.ts';
import type { Scope } from './scope.ts';

/** A named table, or one of numbers, whose members are compared. */
type OfEdges = Pick<Table, 'name' | 'kinds' | 'isOfNodes'>;

export const NODE_FORM = "node(Kind, 'key')";

/** Whether a syntax node is a call of `node`. */
function isNodeCall(node: Expression): node is CallNode {
  return node.kind === 'call' && node.name.name.toUpperCase() === 'NODE';
}

/** Throws: `node(..)` was found where no members are. */
export function misplacedNode(call: CallNode, scope: Scope): never {
  throw scope.error(
    call,
    `${NODE_FORM} stands where members of a named table are: before IN alias.members, in MEMBERS [..], and in lists of members.`,
  );
}

// IN

/**
 * Binds `operand IN alias.members` if the operand is an alias or `node(..)`, or the table is named.
 */
export function bindMember(node: InNode, list: BoundField, scope: Scope): BoundExpression | undefined {
  const { table } = scope.patterns[list.pattern]!;
  const { operand } = node;
  const alias = aliasOf(operand, scope);
  const { kinds } = table;
  if (kinds === undefined) {
    if (alias < 0 && !isNodeCall(operand)) return undefined;
    throw scope.error(operand, numbersProblem(table, operand, scope));
  }
  if (alias >= 0) return patternIn(node, alias, list, kinds, scope);
  const bound = bindItem(operand, table, kinds, scope, 'number');
  const text = scope.textOf(node);
  const pattern = keyOwner(bound, scope);
  if (pattern !== undefined) return membership(pattern, list, text);
  const { field } = list;
  const role = field.kind === 'role' ? { role: field.name, mask: field.mask } : {};
  return { kind: 'hasNode', pattern: list.pattern, ...role, node: bound, type: 'boolean', text };
}

/**
 * Returns the pattern that an operand names, or -1. In UPDATE and DELETE a bare name is a column
 * first.
 */
function aliasOf(operand: Expression, scope: Scope): number {
  if (operand.kind !== 'name') return -1;
  if (scope.bareColumns && scope.findField(0, operand.name) !== undefined) return -1;
  return scope.findPattern(operand.name);
}

function numbersProblem(table: OfEdges, operand: Expression, scope: Scope): string {
  return `${shown(scope.textOf(operand))} is a node, and the members of ${table.name} are plain numbers: its member_tables are no node tables.`;
}

function patternIn(
  node: InNode,
  alias: number,
  list: BoundField,
  kinds: readonly NodeKind[],
  scope: Scope,
): BoundExpression {
  const { table, alias: name } = scope.patterns[alias]!;
  if (!table.isOfNodes)
    throw scope.error(
      node.operand,
      `${shown(name)} is a whole edge of ${table.name}, which is no member; compare edges with shared(a, b) or intersects(a, b).`,
    );
  if (!kinds.some((kind) => kind.table === table)) {
    const edges = scope.patterns[list.pattern]!.table.name;
    throw scope.error(
      node.operand,
      `${shown(name)} is of kind ${table.name}, and the members of ${edges} are of kind ${namesOf(kinds)}: the condition is never true.`,
    );
  }
  return membership(alias, list, scope.textOf(node));
}

/**
 * The same condition as `intersects`: a row of a node table has its own number as its only member.
 */
function membership(nodes: number, { pattern, field }: BoundField, text: string): BoundExpression {
  const role = field.kind === 'role' ? { rightMask: field.mask } : {};
  const shared: BoundExpression = { kind: 'shared', left: nodes, right: pattern, ...role, type: 'integer', text };
  const one: BoundExpression = { kind: 'constant', value: 1, type: 'integer', text: '1' };
  return { kind: 'compare', operator: '>=', left: shared, right: one, type: 'boolean', text };
}

/**
 * Returns the node pattern whose key an expression reads, if it is of the kind that is looked up.
 */
function keyOwner(bound: BoundExpression, { patterns }: Scope): number | undefined {
  if (bound.kind !== 'node' || bound.key.kind !== 'field') return undefined;
  const { field, pattern } = bound.key;
  const { table } = patterns[pattern]!;
  return table === bound.nodes && field.kind === 'property' && field.id === table.definition.key ? pattern : undefined;
}

// Members

/** Binds one member: a bare key, or `node(Kind, key)`. */
function bindItem(
  node: Expression,
  table: OfEdges,
  kinds: readonly NodeKind[],
  scope: Scope,
  as: BoundNode['as'],
): BoundExpression {
  if (isNodeCall(node)) return bindNodeCall(node, table, kinds, scope, as);
  const bound = bindExpression(node, scope);
  if (bound.type === 'null') return bound;
  if (kinds.length > 1)
    throw scope.error(
      node,
      `the members of ${table.name} are of several kinds (${namesOf(kinds)}); write node(${kinds[0]!.name}, ${shown(bound.text)}).`,
    );
  return keyed(bound, kinds[0]!, node, scope, as);
}

function bindNodeCall(
  call: CallNode,
  table: OfEdges,
  kinds: readonly NodeKind[],
  scope: Scope,
  as: BoundNode['as'],
): BoundExpression {
  const [name, key] = call.args;
  if (name?.kind !== 'name' || key === undefined || call.args.length !== 2 || call.distinct || call.star)
    throw scope.error(call, `node is written ${NODE_FORM}, with the name of a node table.`);
  const kind = kinds[kindIndex(name.name, kinds)];
  if (kind === undefined)
    throw scope.error(
      name,
      `the members of ${table.name} are of kind ${namesOf(kinds)}, never of kind ${shownName(name.name)}.`,
    );
  const bound = bindExpression(key, scope);
  return bound.type === 'null' ? bound : keyed(bound, kind, key, scope, as, scope.textOf(call));
}

function keyed(
  key: BoundExpression,
  kind: NodeKind,
  node: Expression,
  scope: Scope,
  as: BoundNode['as'],
  text = key.text,
): BoundNode {
  if (!isKeyType(key.type, kind, as))
    throw scope.error(
      node,
      `the keys of ${kind.name} are ${kind.isInteger ? 'integers' : 'texts'}, and ${shown(key.text)} is ${described(key.type)}.`,
    );
  const { table } = kind;
  return { kind: 'node', as, nodes: table, nodesId: table.id, key, type: as === 'number' ? 'integer' : 'row', text };
}

function isKeyType(type: ValueType, { isInteger }: NodeKind, as: BoundNode['as']): boolean {
  if (!isInteger) return type === 'text';
  // A real number that is no integer is looked up in vain; it cannot be written.
  return type === 'integer' || (type === 'real' && as === 'number');
}

/**
 * Binds the members of a named table as a list: a written list, a parameter, or the members of a
 * row. Throws `invalid_statement` for anything else.
 */
export function bindMemberList(
  node: Expression,
  table: OfEdges,
  kinds: readonly NodeKind[],
  scope: Scope,
  as: BoundNode['as'],
): BoundExpression {
  const text = scope.textOf(node);
  if (node.kind === 'list') {
    const items = node.items.map((item) => bindItem(item, table, kinds, scope, as));
    return { kind: 'list', items, type: 'list', text };
  }
  const bound = bindExpression(node, scope);
  if (bound.type === 'null' || membersOf(bound, scope) !== undefined) return bound;
  const itemType = itemTypeOf(bound);
  if (bound.type !== 'list' || itemType === undefined)
    throw scope.error(node, `members takes a list of keys, for instance ${listForm(kinds)}.`);
  if (itemType === 'null') return bound;
  const [kind] = kinds;
  if (kinds.length > 1)
    throw scope.error(
      node,
      `the members of ${table.name} are of several kinds (${namesOf(kinds)}); write ${listForm(kinds)}.`,
    );
  if (!isKeyType(itemType, kind!, as))
    throw scope.error(
      node,
      `the keys of ${kind!.name} are ${kind!.isInteger ? 'integers' : 'texts'}, and ${shown(text)} holds ${described(itemType)}.`,
    );
  return { kind: 'node', as, nodes: kind!.table, nodesId: kind!.table.id, key: bound, type: 'list', text };
}

/** Returns the table whose members an expression reads, if it does. */
export function membersOf(bound: BoundExpression, { patterns }: Scope): Table | undefined {
  const isList = bound.kind === 'field' && (bound.field.kind === 'members' || bound.field.kind === 'role');
  return isList ? patterns[bound.pattern]!.table : undefined;
}

/**
 * Returns the named table whose members a syntax node is, so that the other side of a comparison
 * can be bound as members of this table.
 */
function namedMembers(node: Expression, scope: Scope): Table | undefined {
  const isBare = node.kind === 'name' && scope.bareColumns;
  if (!isBare && node.kind !== 'column') return undefined;
  const place = node.kind === 'column' ? scope.findPattern(node.alias.name) : 0;
  const table = scope.patterns[place]?.table;
  if (table === undefined || table.kinds === undefined) return undefined;
  const field = scope.findField(place, node.kind === 'column' ? node.column.name : node.name);
  return field?.kind === 'members' || field?.kind === 'role' ? table : undefined;
}

/**
 * Binds `members = list` and `members <> list` if one side is the members of a named table. Returns
 * undefined otherwise.
 */
export function bindMemberComparison(node: BinaryNode, scope: Scope): BoundExpression | undefined {
  const { operator } = node;
  if (operator !== '=' && operator !== '<>') return undefined;
  const left = namedMembers(node.left, scope);
  const right = namedMembers(node.right, scope);
  const table = left ?? right;
  if (table === undefined) return undefined;
  const side = (part: Expression) => bindMemberList(part, table, table.kinds!, scope, 'number');
  const sides = [side(node.left), side(node.right)] as const;
  for (const bound of sides) requireLikeMembers(node, table, membersOf(bound, scope) ?? table, scope);
  return {
    kind: 'compare',
    operator,
    left: sides[0],
    right: sides[1],
    type: sides.some(({ type }) => type === 'null') ? 'null' : 'boolean',
    text: scope.textOf(node),
  };
}

/** Throws if the members of two tables are numbers of different meaning. */
export function requireLikeMembers(node: Expression, a: OfEdges, b: OfEdges, scope: Scope): void {
  if ((a.kinds === undefined) === (b.kinds === undefined)) return;
  const [named, numbers] = a.kinds === undefined ? [b, a] : [a, b];
  throw scope.error(
    node,
    `the members of ${named.name} are nodes and those of ${numbers.name} are plain numbers; they cannot be compared.`,
  );
}

function listForm(kinds: readonly NodeKind[]): string {
  const key = ({ isInteger }: NodeKind, text: string, number: string) => (isInteger ? number : `'${text}'`);
  if (kinds.length === 1) return `[${key(kinds[0]!, 'Ada', '1')}, ${key(kinds[0]!, 'Grace', '2')}]`;
  return `[${kinds
    .slice(0, 2)
    .map((kind) => `node(${kind.name}, ${key(kind, 'key', '1')})`)
    .join(', ')}]`;
}

function namesOf(kinds: readonly NodeKind[]): string {
  return kinds.map(({ name }) => name).join(', ');
}
