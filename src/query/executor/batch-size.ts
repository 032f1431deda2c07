// Determines how many rows are processed at once. If a statement has very many expressions or long
// texts, fewer rows are processed at once, so that a step takes only a few ms.
//
// Work is counted in values of about 10 ns each. An operator costs one value per row. A text that
// is joined, compared or written costs one value per eight characters. Its length is known only
// when the rows have been read, so a weight has a fixed part and a list of the columns whose texts
// are read.

import { kindOfType } from '../../model/column-types.ts';
import type { BoundExpression, BoundScore, BoundSearch, Value } from '../binder/bound.ts';
import type { ParameterValues } from '../binder/parameters.ts';
import { partsOf } from '../binder/parts.ts';
import { longestText } from './memory.ts';
import type { Batch } from './rows/row-set.ts';
import type { RunSearches } from './values/searches.ts';

/** Maximum cost of the expressions in one step, in values. */
const VALUES_A_STEP = 250_000;
/** Characters of a text that take about as long as one value. */
const LETTERS_A_VALUE = 8;
/**
 * Cost, in values, of a value that is put into a table: an item of a compared list, a key of a
 * group, a value of DISTINCT. A value that COLLECT puts into a list costs as much.
 */
const VALUES_A_ITEM = 8;
/** Cost, in values, of a whole row or a list of members. Both become JavaScript objects. */
const VALUES_AN_OBJECT = 16;

/** Cost, in values, of a letter of a text whose words are found and folded. */
const VALUES_A_FOLDED_LETTER = 12;
/** Cost, in values, of comparing the words of a text with those of a search, per letter. */
const LEAST_VALUES_A_SEARCHED_LETTER = 2;
const MOST_VALUES_A_SEARCHED_LETTER = 16;

/** The cost of expressions for one row, in values. */
export interface Weight {
  /** Cost that does not depend on the row's contents. */
  fixed: number;
  /** The text columns that are read, and how often, by pattern and column. */
  readonly columns: Map<string, ColumnTexts>;
  /**
   * How often whole rows are made, by pattern. All texts in such a row are written to the answer
   * or, if rows are compared, to JSON.
   */
  readonly rows: Map<number, number>;
  /** Values of groups (keys and aggregates) that are read, and how often. */
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

/** A search that a scan answers, so that it is not evaluated. */
export interface AnsweredSearch {
  readonly search: BoundSearch;
  /** Whether the scores of its rows are known too. */
  readonly areScored: boolean;
}

/**
 * Returns the cost of all these expressions together. `items` are the returned items to which ORDER
 * BY refers. `kept` is the number of values of each row that are put into tables or lists.
 */
export function weightOf(
  expressions: Iterable<BoundExpression>,
  parameters: ParameterValues = {},
  items: readonly BoundExpression[] = [],
  kept = 0,
  answered?: AnsweredSearch,
  searches?: RunSearches,
): Weight {
  const weigher = new Weigher(parameters, items, answered, searches);
  weigher.weight.fixed += kept * VALUES_A_ITEM;
  for (const expression of expressions) weigher.add(expression);
  return weigher.weight;
}

class Weigher {
  readonly weight: Weight = { fixed: 1, columns: new Map(), rows: new Map(), grouped: new Map() };
  readonly #parameters: ParameterValues;
  readonly #items: readonly BoundExpression[];
  readonly #answered: AnsweredSearch | undefined;
  readonly #searches: RunSearches | undefined;
  /** Patterns with a search, and those with a score, which is computed once for each row. */
  readonly #searched = new Set<number>();
  readonly #scored = new Set<number>();

  constructor(
    parameters: ParameterValues,
    items: readonly BoundExpression[],
    answered: AnsweredSearch | undefined,
    searches: RunSearches | undefined,
  ) {
    this.#parameters = parameters;
    this.#items = items;
    this.#answered = answered;
    this.#searches = searches;
    if (answered?.areScored === true) this.#scored.add(answered.search.pattern);
  }

  /** Adds the cost of an expression. `each` is the number of times that it is evaluated per row. */
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
        // A list that is the same for all rows is made into a set once.
        for (const side of [expression.left, expression.right])
          if (!isOfLists || !isPlain(side)) this.add(side, isOfLists ? each * VALUES_A_ITEM : each);
        return;
      }
      case 'search':
        if (expression !== this.#answered?.search && this.#searches?.isMatched(expression, this.#parameters) !== true)
          this.#addSearch(expression, each);
        return;
      case 'score':
        weight.fixed += each;
        if (!this.#scored.has(expression.pattern)) this.#addSearch(expression, 1);
        this.#scored.add(expression.pattern);
        return;
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

  /**
   * Adds the cost of finding the words of texts, which several searches of a long text do once, and
   * of comparing them with those of the query.
   */
  #addSearch({ pattern, fields, query }: BoundSearch | BoundScore, each: number): void {
    const words = query.kind === 'constant' ? query.value : this.#parameters[query.name];
    const compared = LEAST_VALUES_A_SEARCHED_LETTER + (typeof words === 'string' ? lettersOf(words) : 0);
    const folded = this.#searched.has(pattern) ? 0 : VALUES_A_FOLDED_LETTER;
    this.#searched.add(pattern);
    const values = folded + Math.min(MOST_VALUES_A_SEARCHED_LETTER, compared);
    for (const field of fields) this.add(field, each * LETTERS_A_VALUE * values);
  }

  #addGrouped(kind: GroupedValue['kind'], index: number, each: number): void {
    const { weight } = this;
    weight.fixed += each;
    const key = `${kind} ${index}`;
    const known = weight.grouped.get(key);
    if (known === undefined) weight.grouped.set(key, { kind, index, times: each });
    else known.times += each;
  }

  /**
   * Adds the cost of IN. If no item is computed, the operand is looked up in a table of the items.
   * If an item is computed, the operand is compared with every item for each row.
   */
  #addIn({ operand, items }: Extract<BoundExpression, { kind: 'in' }>, each: number): void {
    this.weight.fixed += each;
    this.add(operand, each);
    if ('kind' in items || items.every(isPlain)) return;
    this.weight.fixed += each * items.length;
    this.add(operand, each * items.filter(({ type }) => type === 'text').length);
    for (const item of items) this.add(item, each);
  }
}

/** Returns whether the expression is a constant or a parameter. */
export function isPlain({ kind }: BoundExpression): boolean {
  return kind === 'constant' || kind === 'parameter';
}

/**
 * Returns the cost of a constant. For a list, this is the cost of its items, which are written when
 * lists are compared.
 */
function lettersOf(value: Value): number {
  if (typeof value === 'string') return value.length / LETTERS_A_VALUE;
  if (!Array.isArray(value)) return 0;
  let values = value.length;
  for (const item of value) if (typeof item === 'string') values += item.length / LETTERS_A_VALUE;
  return values;
}

/**
 * Returns an upper bound for the cost of one row in a batch, in values. Values of groups are not
 * counted.
 */
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

/**
 * Returns the length of the longest of some values of groups, in characters. A list counts as
 * `LETTERS_A_VALUE` characters per item.
 */
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

/**
 * Returns how many rows may be processed at once if each costs `values`. `share` is the share of a
 * full step that they may take.
 */
export function rowsFor(values: number, share: number): number {
  return Math.max(1, Math.floor((share * VALUES_A_STEP) / values));
}
