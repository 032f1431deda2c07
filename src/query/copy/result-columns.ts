// Derives the column types of a result, for file formats, from its expressions.

import type { Table } from '../../engine/index.ts';
import type { CellType, ColumnType, ResultColumn } from '../../formats/columns.ts';
import type { BoundExpression, BoundMatch, ValueType } from '../binder/bound.ts';
import { itemTypeOf } from '../binder/expressions.ts';

export type { ResultColumn } from '../../formats/columns.ts';

export function resultColumns(match: BoundMatch): ResultColumn[] {
  return match.items.map(({ name, expression }) => ({ name, type: typeOf(expression, match) }));
}

function typeOf(expression: BoundExpression, match: BoundMatch): ColumnType {
  const { type } = expression;
  if (type === 'row') return 'json';
  if (type !== 'list') return cellType(type) ?? 'text';
  const kinds = kindsOf(expression, match);
  if (kinds !== undefined) return kinds.length > 1 ? 'json' : { listOf: kinds[0]!.isInteger ? 'integer' : 'text' };
  const item = cellType(listItems(expression, match));
  return item === undefined ? 'json' : { listOf: item };
}

/** Returns the kinds of the members of a named table, if an expression reads them. */
function kindsOf(expression: BoundExpression, { grouping, patterns }: BoundMatch): Table['kinds'] {
  const read = expression.kind === 'keyValue' ? grouping!.keys[expression.index]! : expression;
  return read.kind === 'field' ? patterns[read.pattern]!.table.kinds : undefined;
}

function listItems(expression: BoundExpression, { grouping }: BoundMatch): ValueType | undefined {
  if (expression.kind === 'keyValue') return itemTypeOf(grouping!.keys[expression.index]!);
  if (expression.kind === 'aggregateValue') return grouping!.aggregates[expression.index]!.operand?.type;
  return itemTypeOf(expression);
}

function cellType(type: ValueType | undefined): CellType | undefined {
  return type === 'integer' || type === 'real' || type === 'text' || type === 'boolean' ? type : undefined;
}
