// Splits conditions on columns: the engine evaluates ranges of numbers, and all other conditions
// are tested here on each row.

import type { ColumnType, RangeCondition } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';
import type { ColumnSet } from '../../model/columns.ts';
import type { PropertyColumn } from '../../query/index.ts';
import { containsText } from '../../text-search.ts';
import type { Filter, FilterValue, QuestionWindow } from '../question/question.ts';
import type { EdgeRows } from './edge-rows.ts';

export interface FilterColumn {
  readonly id: number;
  readonly name: string;
  readonly type: ColumnType;
}

export interface SplitFilters {
  /** Ranges that the engine evaluates. */
  readonly where: readonly RangeCondition[];
  /** Conditions that are tested on each row here. */
  readonly looked: readonly { readonly filter: Filter; readonly column: FilterColumn }[];
  /**
   * In a table with intervals: only edges that begin at this time or later, or end after it, or
   * have no end.
   */
  readonly heldSince?: { readonly startTs: number; readonly endColumn: number } | undefined;
  /** A further test of rows. */
  readonly also?: ((rows: EdgeRows) => RowTest) | undefined;
}

/** Returns whether the engine evaluates all conditions. */
export function needsNoTest({ looked, heldSince, also }: SplitFilters): boolean {
  return looked.length === 0 && heldSince === undefined && also === undefined;
}

/** Returns the condition that edges hold in a window of a question, if the table has intervals. */
export function heldSince(window: QuestionWindow | null, { end }: ColumnSet): SplitFilters['heldSince'] {
  return end === undefined || window?.start_ts == null ? undefined : { startTs: window.start_ts, endColumn: end.id };
}

export function splitFilters(filters: readonly Filter[], columns: readonly FilterColumn[]): SplitFilters {
  const where: RangeCondition[] = [];
  const looked: { filter: Filter; column: FilterColumn }[] = [];
  for (const filter of filters) {
    const range = rangeOf(filter);
    if (range !== undefined) where.push(range);
    else looked.push({ filter, column: columns.find(({ name }) => name === filter.column)! });
  }
  return { where, looked };
}

function rangeOf({ column, op, value }: Filter): RangeCondition | undefined {
  if (typeof value !== 'number') return undefined;
  switch (op) {
    case '=':
      return { column, low: value, high: value };
    case '<':
      return { column, high: value, highInclusive: false };
    case '<=':
      return { column, high: value };
    case '>':
      return { column, low: value, lowInclusive: false };
    case '>=':
      return { column, low: value };
    default:
      return undefined;
  }
}

/** Returns whether a row meets the conditions. Each distinct text is tested only once. */
export type RowTest = (row: number) => boolean;

export function rowTest({ looked, heldSince: held, also }: SplitFilters, rows: EdgeRows): RowTest {
  const tests = looked.map(({ filter, column }) => columnTest(filter, column, rows.columns.get(column.id)!));
  if (held !== undefined) tests.push(heldTest(held, rows));
  if (also !== undefined) tests.push(also(rows));
  if (tests.length === 0) return () => true;
  if (tests.length === 1) return tests[0]!;
  return (row) => tests.every((test) => test(row));
}

function heldTest({ startTs, endColumn }: NonNullable<SplitFilters['heldSince']>, rows: EdgeRows): RowTest {
  const column = rows.columns.get(endColumn)!;
  const { nulls } = column;
  const values = column.kind === 'number' ? column.values : undefined;
  return (row) => rows.times[row]! >= startTs || nulls[row] === 1 || values![row]! > startTs;
}

/** Returns the test of one column. As in statements, a missing value only passes a null test. */
function columnTest({ op, value }: Filter, { type }: FilterColumn, column: PropertyColumn): RowTest {
  const { nulls } = column;
  if (value === null) {
    const wanted = op === '=' ? 1 : 0;
    return (row) => nulls[row] === wanted;
  }
  const holds = valueTest(op, value);
  if (column.kind === 'text') {
    const passes = column.texts.map((text) => holds(text.toLowerCase()));
    return (row) => nulls[row] === 0 && passes[column.codes[row]!]!;
  }
  const { values } = column;
  return kindOfType(type) === 'boolean'
    ? (row) => nulls[row] === 0 && holds(values[row] === 1)
    : (row) => nulls[row] === 0 && holds(values[row]!);
}

function valueTest(op: Filter['op'], value: FilterValue | readonly FilterValue[]): (found: FilterValue) => boolean {
  if (Array.isArray(value)) {
    const wanted = new Set((value as readonly FilterValue[]).map(lowered));
    return (found) => wanted.has(found);
  }
  const wanted = lowered(value as FilterValue);
  if (op === '!=') return (found) => found !== wanted;
  if (op === 'contains') return (found) => typeof found === 'string' && containsText(found, String(wanted));
  return (found) => found === wanted;
}

function lowered(value: FilterValue): FilterValue {
  return typeof value === 'string' ? value.toLowerCase() : value;
}
