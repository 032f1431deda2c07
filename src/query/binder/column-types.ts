// Determines the displayed type of each result column from the bound statement, before any rows are
// read.

import type { Table } from '../../engine/index.ts';
import type { ResultType } from '../result-types.ts';
import { AGGREGATES } from './aggregates.ts';
import type { BoundAggregate, BoundExpression, BoundMatch } from './bound.ts';
import { isTimeField } from './scope.ts';

export interface ResultForm {
  readonly type: ResultType;
  /** For a LIST, the form of its items, if known. */
  readonly items?: ResultForm | undefined;
  /** For NODES and EDGE of a named table: the table, whose kinds say how members are shown. */
  readonly named?: Table | undefined;
  /** For an EDGE of a table with intervals, the column of the ends. */
  readonly ends?: string | undefined;
}

/** Returns one form per returned item. */
export function resultForms(match: Forms): ResultForm[] {
  return match.items.map(({ expression }) => formOf(expression, match));
}

type Forms = Pick<BoundMatch, 'items' | 'grouping' | 'patterns'>;

/**
 * Returns the form of an expression. If the MATCH is grouped, its `grouping` contains the keys
 * and aggregates to which the expression refers.
 */
function formOf(expression: BoundExpression, match: Forms): ResultForm {
  const { grouping } = match;
  switch (expression.kind) {
    case 'field':
      if (isTimeField(expression.field)) return { type: 'TIME' };
      if (expression.field.kind === 'members' || expression.field.kind === 'role')
        return ofTable('NODES', match.patterns[expression.pattern]!.table);
      break;
    case 'row': {
      const { table } = match.patterns[expression.pattern]!;
      return table.isOfNodes ? { type: 'NODE' } : { ...ofTable('EDGE', table), ends: expression.ends };
    }
    case 'time':
      return { type: expression.type === 'null' ? 'NULL' : 'TIME' };
    case 'keyValue':
      return formOf(grouping!.keys[expression.index]!, match);
    case 'constant':
      if (expression.itemType === undefined) break;
      return { type: 'LIST', items: { type: TYPES[expression.itemType] } };
    case 'aggregateValue':
      return formOfAggregate(grouping!.aggregates[expression.index]!, match);
    case 'list': {
      const [first, ...others] = expression.items.map((item) => formOf(item, match));
      return { type: 'LIST', items: others.every(({ type }) => type === first?.type) ? first : undefined };
    }
    default:
  }
  return { type: TYPES[expression.type] };
}

function ofTable(type: 'NODES' | 'EDGE', table: Table): ResultForm {
  return table.kinds === undefined ? { type } : { type, named: table };
}

/** Returns the form of an aggregate. */
function formOfAggregate({ function: name, operand, type }: BoundAggregate, match: Forms): ResultForm {
  const of = operand && formOf(operand, match);
  if (name === 'COLLECT') return { type: 'LIST', items: of };
  if (of?.type === 'TIME' && AGGREGATES[name].keepsTime) return of;
  return { type: TYPES[type] };
}

const TYPES = {
  integer: 'INTEGER',
  real: 'REAL',
  text: 'TEXT',
  boolean: 'BOOLEAN',
  null: 'NULL',
  list: 'LIST',
  row: 'EDGE',
} as const satisfies Record<BoundExpression['type'], ResultType>;
