// Binds the grouping of a MATCH: collects the aggregates in the returned items and turns items
// without aggregates into group keys.

import type { CallNode, MatchNode } from '../parser/ast.ts';
import { shown } from '../shown.ts';
import { AGGREGATES, type AggregateFunction } from './aggregates.ts';
import type { BoundAggregate, BoundExpression, BoundItem, ValueType } from './bound.ts';
import { bindExpression } from './expressions.ts';
import type { Identities } from './identities.ts';
import { partsOf, withParts } from './parts.ts';
import type { Scope } from './scope.ts';

export class Grouping {
  readonly aggregates: BoundAggregate[] = [];
  /** The items without aggregates. Rows are grouped by their values. */
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
   * Rewrites items so that they read keys and aggregates instead of rows. Items without aggregates
   * become keys. The other items may read rows only through keys and aggregates.
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
      throw scope.error(
        call,
        `${name} takes a single value, not a whole row; for instance ${shown(operand.text)}.${exampleColumn(operand, scope)}.`,
      );
  }
  const type = aggregateType(name, operand, call, scope);
  const isTime = operand.isTime === true && AGGREGATES[name].keepsTime;
  return { function: name, distinct: call.distinct, operand, type, text, isTime };
}

/** Returns a column of a row: its id or, for a node, its first column. */
function exampleColumn(operand: BoundExpression, { patterns }: Scope): string {
  const table = operand.kind === 'row' ? patterns[operand.pattern]!.table : undefined;
  return table?.isOfNodes === true ? table.columns.columns[0]!.name : 'id';
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
    case 'MIN':
    case 'MAX':
      if (type === 'list' || type === 'row')
        throw scope.error(call, `${name} takes single values, and ${shown(operand.text)} is a ${type}.`);
      return type;
  }
}

export function hasAggregate(bound: BoundExpression): boolean {
  return bound.kind === 'aggregateValue' || partsOf(bound).some(hasAggregate);
}

/** Whether an expression itself, apart from its parts, reads a row. */
const READS_ROW: Readonly<Record<BoundExpression['kind'], boolean>> = {
  field: true,
  row: true,
  bucket: true,
  shared: true,
  hasNode: true,
  node: false,
  overlaps: true,
  follows: true,
  exists: true,
  search: true,
  score: true,
  constant: false,
  parameter: false,
  compare: false,
  arithmetic: false,
  negate: false,
  textMatch: false,
  and: false,
  or: false,
  not: false,
  isNull: false,
  in: false,
  size: false,
  time: false,
  day: false,
  date: false,
  list: false,
  aggregateValue: false,
  keyValue: false,
  itemValue: false,
};

/**
 * Replaces the largest subexpressions for which `replace` returns a value. Calls `refuse` with the
 * first remaining part that reads a row, a key or an aggregate.
 */
export function replaceLeaves(
  bound: BoundExpression,
  replace: (part: BoundExpression) => BoundExpression | undefined,
  refuse: (part: BoundExpression) => never,
): BoundExpression {
  const known = replace(bound);
  if (known !== undefined) return known;
  if (READS_ROW[bound.kind] || bound.kind === 'aggregateValue' || bound.kind === 'keyValue') return refuse(bound);
  return withParts(bound, (part) => replaceLeaves(part, replace, refuse));
}
