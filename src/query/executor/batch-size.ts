// How many rows are worked on at once: fewer where a statement has very many expressions, or long texts, so that a step stays a few ms.
//
// Work is counted in values of some 10 ns. An operator comes to one for each row. A text that is joined, compared or written comes to one for each eight of its
// letters: how many those are is known when the rows are there, so a weight has a fixed part and the columns whose texts it reads.

import { kindOfType } from '../../model/column-types.ts';
import type { BoundExpression, BoundMatch, Value } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { partsOf } from '../binder/parts.ts';
import { longestText } from './memory.ts';
import { type Batch, selectFrom } from './rows/row-set.ts';

/** Values that expressions may come to in one step. */
const VALUES_A_STEP = 500_000;
/** Letters of a text, and a value: what they take is about the same. */
const LETTERS_A_VALUE = 8;
/** Items of lists are put into sets to be compared. */
const VALUES_A_ITEM = 8;
/** Whole rows and lists of members are made as objects. */
const VALUES_AN_OBJECT = 16;

/** Values that expressions come to for one row. */
export interface Weight {
  /** Whatever the row holds. */
  fixed: number;
  /** Texts of columns that are read, by pattern and column, and how often. */
  readonly columns: Map<string, ColumnTexts>;
  /** Whole rows that are made, by pattern, and how often: all their texts are written, as JSON where they are told apart. */
  readonly rows: Map<number, number>;
  /** As those, of values that groups have: keys and aggregates. */
  readonly grouped: Map<string, GroupedValue>;
}

interface ColumnTexts {
  readonly pattern: number;
  readonly column: number;
  times: number;
}

export interface GroupedValue {
  readonly kind: 'keyValue' | 'aggregateValue';
  readonly index: number;
  times: number;
}

/** What expressions come to together. `items`: what values of returned items in ORDER BY stand for. */
export function weightOf(
  expressions: Iterable<BoundExpression>,
  parameters: ParameterValues = {},
  items: readonly BoundExpression[] = [],
): Weight {
  const weigher = new Weigher(parameters, items);
  for (const expression of expressions) weigher.add(expression);
  return weigher.weight;
}

class Weigher {
  readonly weight: Weight = { fixed: 1, columns: new Map(), rows: new Map(), grouped: new Map() };
  readonly #parameters: ParameterValues;
  readonly #items: readonly BoundExpression[];

  constructor(parameters: ParameterValues, items: readonly BoundExpression[]) {
    this.#parameters = parameters;
    this.#items = items;
  }

  /** `each`: how often it is worked out. */
  add(expression: BoundExpression, each = 1): void {
    const { weight } = this;
    switch (expression.kind) {
      case 'constant':
        weight.fixed += each * lettersOf(expression.value);
        return;
      case 'parameter':
        weight.fixed += each * lettersOf(this.#parameters[expression.name] as Value);
        return;
      case 'field':
        this.#addField(expression, each);
        return;
      case 'row':
        weight.fixed += each * VALUES_AN_OBJECT;
        weight.rows.set(expression.pattern, (weight.rows.get(expression.pattern) ?? 0) + each);
        return;
      case 'keyValue':
      case 'aggregateValue':
        this.#addGrouped(expression.kind, expression.index, each);
        return;
      case 'itemValue': {
        const item = this.#items[expression.index];
        weight.fixed += each;
        if (item !== undefined && item.kind !== 'itemValue') this.add(item, each);
        return;
      }
      case 'in':
        this.#addIn(expression, each);
        return;
      case 'compare': {
        const isOfLists = expression.left.type === 'list' && expression.right.type === 'list';
        weight.fixed += each * (isOfLists ? VALUES_AN_OBJECT : 1);
        // A list that is the same for all rows becomes a set once.
        for (const side of [expression.left, expression.right])
          if (!isOfLists || !isPlain(side)) this.add(side, isOfLists ? each * VALUES_A_ITEM : each);
        return;
      }
      case 'list':
        weight.fixed += each * (expression.items.every(isPlain) ? 0 : expression.items.length);
        break;
      default:
        weight.fixed += each;
    }
    for (const part of partsOf(expression)) this.add(part, each);
  }

  #addField(expression: Extract<BoundExpression, { kind: 'field' }>, each: number): void {
    const { field, pattern } = expression;
    const { weight } = this;
    weight.fixed += each * (field.kind === 'members' ? VALUES_AN_OBJECT : 1);
    if (field.kind !== 'property' || kindOfType(field.type) !== 'text') return;
    const key = `${pattern} ${field.id}`;
    const known = weight.columns.get(key);
    if (known === undefined) weight.columns.set(key, { pattern, column: field.id, times: each });
    else known.times += each;
  }

  #addGrouped(kind: GroupedValue['kind'], index: number, each: number): void {
    const { weight } = this;
    weight.fixed += each;
    const key = `${kind} ${index}`;
    const known = weight.grouped.get(key);
    if (known === undefined) weight.grouped.set(key, { kind, index, times: each });
    else known.times += each;
  }

  /** Plain values are looked up all at once; when one is computed, all are compared, for each row. */
  #addIn({ operand, items }: Extract<BoundExpression, { kind: 'in' }>, each: number): void {
    this.weight.fixed += each;
    this.add(operand, each);
    if ('kind' in items || items.every(isPlain)) return;
    this.weight.fixed += each * items.length;
    this.add(operand, each * items.filter(({ type }) => type === 'text').length);
    for (const item of items) this.add(item, each);
  }
}

/** A constant or parameter. */
export function isPlain({ kind }: BoundExpression): boolean {
  return kind === 'constant' || kind === 'parameter';
}

/** Of a list: as many as its items come to, which are written where lists are told apart. */
function lettersOf(value: Value): number {
  if (typeof value === 'string') return value.length / LETTERS_A_VALUE;
  if (!Array.isArray(value)) return 0;
  let values = value.length;
  for (const item of value) if (typeof item === 'string') values += item.length / LETTERS_A_VALUE;
  return values;
}

/** Values that one row of a batch comes to, at most. */
export function rowValues(weight: Weight, { sides }: Batch): number {
  let values = weight.fixed;
  for (const { pattern, column, times } of weight.columns.values()) {
    const texts = sides[pattern]?.set.columns.get(column);
    if (texts?.kind === 'text') values += times * lettersToValues(longestText(texts.texts));
  }
  for (const [pattern, times] of weight.rows) {
    for (const column of sides[pattern]?.set.columns.values() ?? [])
      if (column.kind === 'text') values += times * lettersToValues(longestText(column.texts));
  }
  return values;
}

/** The letters, or what counts as such, of the longest text or list among some values of groups. */
export function longestValue(values: readonly Value[]): number {
  let longest = 0;
  for (const value of values) {
    if (typeof value === 'string') longest = Math.max(longest, value.length);
    else if (Array.isArray(value)) longest = Math.max(longest, value.length * LETTERS_A_VALUE);
  }
  return longest;
}

export function lettersToValues(letters: number): number {
  return letters / LETTERS_A_VALUE;
}

/** Rows that may be worked on at once, where one comes to so many values. */
export function rowsFor(values: number): number {
  return Math.max(1, Math.floor(VALUES_A_STEP / values));
}

/** Rows of a batch, at most, whatever its columns hold. */
export function rowsAtOnce(expressions: Iterable<BoundExpression>): number {
  return rowsFor(weightOf(expressions).fixed);
}

/** All that a MATCH works out. */
export function* expressionsOf({
  where,
  items,
  orderBy,
  grouping,
}: BoundMatch): Generator<BoundExpression, void, void> {
  yield* where;
  for (const { expression } of items) yield expression;
  for (const { expression } of orderBy) yield expression;
  if (grouping === undefined) return;
  yield* grouping.keys;
  for (const { operand } of grouping.aggregates) if (operand !== undefined) yield operand;
}

/** The combinations of a batch, some at a time. */
export function* inParts(batch: Batch, rows: number): Generator<Batch, void, void> {
  if (batch.count <= rows) {
    yield batch;
    return;
  }
  for (let from = 0; from < batch.count; from += rows) {
    const count = Math.min(rows, batch.count - from);
    yield selectFrom(
      batch,
      Uint32Array.from({ length: count }, (_, place) => from + place),
    );
  }
}
