// Binds the grouping of a MATCH: collects the aggregates in its items and turns the other items
// into group keys.

import type { CallNode, MatchNode } from '../parser/ast.ts';
import { shown } from '../shown.ts';
import type { AggregateFunction, BoundAggregate, BoundExpression, BoundItem, ValueType } from './bound.ts';
import { bindExpression } from './expressions.ts';
import type { Identities } from './identities.ts';
import { partsOf } from './parts.ts';
import type { Scope } from './scope.ts';

export class Grouping {
  readonly aggregates: BoundAggregate[] = [];
  /** The plain items, by which rows are grouped. */
  readonly keys: BoundExpression[] = [];
  readonly #identities: Identities;
  readonly #aggregatePlaces = new Map<string, number>();
  readonly #keyPlaces = new Map<number, number>();

  constructor(identities: Identities) {
    this.#identities = identities;
  }

  /** Binds one aggregate call; equal calls share one entry. */
  readonly bind = (call: CallNode, scope: Scope): BoundExpression => {
    const aggregate = bindAggregate(call, scope);
    const { function: name, distinct, operand, type, isTime } = aggregate;
    const key = `${name} ${distinct} ${operand === undefined ? '*' : this.#identities.of(operand)}`;
    let index = this.#aggregatePlaces.get(key);
    if (index === undefined) {
      index = this.aggregates.push(aggregate) - 1;
      this.#aggregatePlaces.set(key, index);
    }
    return { kind: 'aggregateValue', index, type, isTime, text: scope.textOf(call) };
  };

  /**
   * Rewrites items so that they read keys and aggregates instead of rows. Plain items become keys.
   * The other items may contain only keys, aggregates and constants.
   */
  split(items: readonly BoundItem[], node: MatchNode, scope: Scope): BoundItem[] {
    for (const { expression } of items) {
      const identity = this.#identities.of(expression);
      if (hasAggregate(expression) || this.#keyPlaces.has(identity)) continue;
      this.#keyPlaces.set(identity, this.keys.push(expression) - 1);
    }
    return items.map((item, index) => ({
      name: item.name,
      expression: replaceLeaves(
        item.expression,
        (part) => this.#keyValue(part),
        (part) => {
          const place = node.items?.[index]?.expression ?? node;
          throw scope.error(
            place,
            `${shown(part.text)} is next to an aggregate; return it as an item of its own too, so that rows are grouped by it.`,
          );
        },
      ),
    }));
  }

  #keyValue(part: BoundExpression): BoundExpression | undefined {
    if (part.kind === 'aggregateValue') return part;
    const index = this.#keyPlaces.get(this.#identities.of(part));
    return index === undefined
      ? undefined
      : { kind: 'keyValue', index, type: part.type, isTime: part.isTime, text: part.text };
  }
}

function bindAggregate(call: CallNode, scope: Scope): BoundAggregate {
  const name = call.name.name.toUpperCase() as AggregateFunction;
  const text = scope.textOf(call);
  if (call.star) {
    if (name !== 'COUNT') throw scope.error(call, `${name} takes a value; only COUNT takes *.`);
    return { function: name, distinct: false, operand: undefined, type: 'integer', text };
  }
  if (call.args.length !== 1) throw scope.error(call, `${name} takes one value.`);
  const operand = bindExpression(call.args[0]!, scope.with(undefined, 'an aggregate cannot be inside another'));
  if (operand.type === 'row') {
    // A row is never null, so COUNT(alias) counts rows.
    if (name === 'COUNT' && !call.distinct)
      return { function: name, distinct: false, operand: undefined, type: 'integer', text };
    // An id identifies a row within a table.
    if (name === 'COUNT' && operand.kind === 'row') {
      const id: BoundExpression = {
        kind: 'field',
        pattern: operand.pattern,
        field: { kind: 'id' },
        type: 'integer',
        text,
      };
      return { function: name, distinct: true, operand: id, type: 'integer', text };
    }
    if (name !== 'COLLECT')
      throw scope.error(call, `${name} takes a single value, not a whole row; for instance ${shown(operand.text)}.id.`);
  }
  const type = aggregateType(name, operand, call, scope);
  const isTime = operand.isTime === true && (name === 'MIN' || name === 'MAX' || name === 'AVG');
  return { function: name, distinct: call.distinct, operand, type, text, isTime };
}

function aggregateType(name: AggregateFunction, operand: BoundExpression, call: CallNode, scope: Scope): ValueType {
  const { type } = operand;
  switch (name) {
    case 'COUNT':
      return 'integer';
    case 'COLLECT':
      return 'list';
    case 'SUM':
    case 'AVG':
      if (type !== 'integer' && type !== 'real' && type !== 'null')
        throw scope.error(call, `${name} takes numbers, and ${shown(operand.text)} is of type ${type}.`);
      return name === 'AVG' && type !== 'null' ? 'real' : type;
    default:
      if (type === 'list' || type === 'row')
        throw scope.error(call, `${name} takes single values, and ${shown(operand.text)} is a ${type}.`);
      return type;
  }
}

export function hasAggregate(bound: BoundExpression): boolean {
  return bound.kind === 'aggregateValue' || partsOf(bound).some(hasAggregate);
}

/** Returns whether the expression itself, apart from its parts, reads a row. */
function readsRow(bound: BoundExpression): boolean {
  switch (bound.kind) {
    case 'field':
    case 'row':
    case 'bucket':
    case 'shared':
    case 'hasNode':
    case 'overlaps':
    case 'follows':
      return true;
    default:
      return false;
  }
}

/**
 * Replaces the largest subexpressions for which `replace` returns a value. Calls `refuse` with the
 * first remaining part that reads a row.
 */
export function replaceLeaves(
  bound: BoundExpression,
  replace: (part: BoundExpression) => BoundExpression | undefined,
  refuse: (part: BoundExpression) => never,
): BoundExpression {
  const known = replace(bound);
  if (known !== undefined) return known;
  if (readsRow(bound) || bound.kind === 'aggregateValue' || bound.kind === 'keyValue') return refuse(bound);
  const inner = (part: BoundExpression) => replaceLeaves(part, replace, refuse);
  switch (bound.kind) {
    case 'compare':
    case 'arithmetic':
    case 'textMatch':
      return { ...bound, left: inner(bound.left), right: inner(bound.right) };
    case 'negate':
    case 'not':
    case 'isNull':
    case 'size':
    case 'time':
    case 'day':
    case 'date':
      return { ...bound, operand: inner(bound.operand) };
    case 'and':
    case 'or':
    case 'list':
      return { ...bound, items: bound.items.map(inner) };
    case 'in':
      return 'kind' in bound.items
        ? { ...bound, operand: inner(bound.operand) }
        : { ...bound, operand: inner(bound.operand), items: bound.items.map(inner) };
    default:
      return bound;
  }
}
