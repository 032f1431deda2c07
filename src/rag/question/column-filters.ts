// Recognises conditions on columns: "weight > 0.5", "formation is escort", "speed between 1 and 2".

import type { ColumnType } from '../../engine/index.ts';
import { isNumeric, kindOfType, ruleOf } from '../../model/column-types.ts';
import { BUILT_IN_COLUMNS } from '../../model/columns.ts';
import type { AskedTable, Filter, FilterOp, FilterValue } from './question.ts';
import { freeWord, isWord, numberAt, type Phrases, phraseAt, phrases, putAside, type Reading, take } from './words.ts';

interface KnownColumn {
  readonly name: string;
  readonly type: ColumnType;
}

/** The operator of a condition, before the column's type is considered. */
interface Said {
  readonly op: FilterOp | 'between';
  /** Index of the first word of the value. */
  readonly at: number;
  readonly negated: boolean;
}

type Read = { readonly filters: Filter[]; readonly end: number } | { readonly reason: string; readonly end: number };

/** Maximum number of words in a column name whose underscores are written as blanks. */
const MOST_NAME_WORDS = 8;
const OTHER_NAMES = { 'mean dist': 'mean_dist_m', mean_dist: 'mean_dist_m', 'mean distance': 'mean_dist_m' };

/**
 * Reads all conditions and marks their words as taken. Conditions that cannot be expressed are put
 * aside with a reason.
 */
export function readFilters(reading: Reading, table: AskedTable): Filter[] {
  const names = columnNames(table);
  const filters: Filter[] = [];
  let lastEnd = -1;
  for (let at = 0; at < reading.words.length; at++) {
    const present = presenceAt(reading, at, names);
    if (present !== undefined) {
      take(reading, at, present.end);
      filters.push(present.filter);
      lastEnd = present.end;
      at = present.end - 1;
      continue;
    }
    const found = columnAt(reading, at, names);
    const read = found === undefined ? strangerAt(reading, at) : conditionOf(reading, found);
    if (read === undefined) continue;
    const isOr = at > 0 && at - 1 === lastEnd && isWord(reading, at - 1, 'or');
    if (isOr) putAside(reading, at - 1, at, 'All conditions must hold; "or" between them is not understood.');
    const isNot = isWord(reading, at - 1, 'not', 'without');
    const begin = isNot ? at - 1 : at;
    const turned = isNot && 'filters' in read ? opposite(read.filters) : undefined;
    if ('reason' in read) putAside(reading, begin, read.end, read.reason);
    else if (isNot && turned === undefined)
      putAside(reading, begin, read.end, 'The opposite of this condition cannot be asked for.');
    else {
      take(reading, begin, read.end);
      filters.push(...(turned ?? read.filters));
    }
    lastEnd = read.end;
    at = read.end - 1;
  }
  return filters;
}

function columnNames({ columns }: AskedTable): Map<string, KnownColumn> {
  const names = new Map<string, KnownColumn>();
  const byName = new Map([...BUILT_IN_COLUMNS, ...columns].map((column) => [column.name.toLowerCase(), column]));
  for (const [other, name] of Object.entries(OTHER_NAMES)) names.set(other, byName.get(name)!);
  for (const [name, column] of byName) if (name.includes('_')) names.set(name.replaceAll('_', ' ').trim(), column);
  for (const [name, column] of byName) names.set(name, column);
  return names;
}

const HAVING = ['have', 'has', 'had', 'having', 'with'];
const LACKING = phrases('without', 'lack', 'lacks', 'lacked', 'lacking', 'missing', 'miss');
const ARTICLES = ['a', 'an', 'any', 'some'];
/** Words after the name of a column that show that no value follows. */
const AFTER_PRESENCE = 'there in at since before after until between from on during last top sorted ordered'.split(' ');

/**
 * Reads a condition that a column has a value or none: "with a port", "do not have any port", "no
 * port", "without port". The name of the column must end the condition.
 */
function presenceAt(
  reading: Reading,
  from: number,
  names: ReadonlyMap<string, KnownColumn>,
): { filter: Filter; end: number } | undefined {
  const negation = freeWord(reading, from);
  if (negation?.kind !== 'word') return undefined;
  const isNot = isNegation(negation.lower);
  const before = isWord(reading, from - 1, ...HAVING) ? from - 2 : from - 1;
  // A double negation, as in "not without a port", is left to be reported.
  if (isNegation(reading.words[before]?.lower ?? '')) return undefined;
  let at = isNot ? from + 1 : from;
  const lacking = isNot ? 0 : phraseAt(reading, at, LACKING);
  const isHaving = isWord(reading, at, ...HAVING);
  at += isHaving ? 1 : lacking;
  const isNo = isWord(reading, at, 'no');
  if ((isNot && !isHaving) || (isNo && (isNot || lacking > 0)) || (!isNo && !isHaving && lacking === 0))
    return undefined;
  if (isNo || isWord(reading, at, ...ARTICLES)) at++;
  const found = columnAt(reading, at, names);
  if (found === undefined || !endsCondition(reading, found.end, names)) return undefined;
  const op = isNot || isNo || lacking > 0 ? '=' : '!=';
  return { filter: { column: found.column.name, op, value: null }, end: found.end };
}

function isNegation(word: string): boolean {
  return word === 'not' || word === 'never' || word.endsWith("n't");
}

function endsCondition(reading: Reading, at: number, names: ReadonlyMap<string, KnownColumn>): boolean {
  const next = reading.words[at];
  if (next === undefined || /^[?.!,;]$/.test(next.text)) return true;
  if (isWord(reading, at, 'are', 'is', 'were', 'was')) return isWord(reading, at + 1, 'there');
  // In "with weight at least 2", a comparison follows.
  if (saidAt(reading, at) !== undefined) return false;
  if (isWord(reading, at, 'and')) return columnAt(reading, at + 1, names) === undefined;
  return isWord(reading, at, ...AFTER_PRESENCE);
}

interface FoundColumn {
  readonly column: KnownColumn;
  readonly end: number;
}

function columnAt(reading: Reading, at: number, names: ReadonlyMap<string, KnownColumn>): FoundColumn | undefined {
  if (freeWord(reading, at)?.kind !== 'word') {
    const quoted = freeWord(reading, at);
    const column = quoted?.kind === 'quoted' ? names.get(quoted.lower) : undefined;
    return column && { column, end: at + 1 };
  }
  let name = '';
  let found: FoundColumn | undefined;
  for (let end = at; end < at + MOST_NAME_WORDS; end++) {
    const word = freeWord(reading, end);
    if (word === undefined || (word.kind !== 'word' && word.kind !== 'number')) break;
    name = end === at ? word.lower : `${name} ${word.lower}`;
    const column = names.get(name);
    if (column !== undefined) found = { column, end: end + 1 };
  }
  return found !== undefined && isQuestionWord(reading, found) ? undefined : found;
}

const INTERROGATIVES = new Set('what who whom whose when where why which how'.split(' '));
const COMPARING = phrases('contains', 'containing', 'equals', 'equal to');

/**
 * Returns whether the name of a column is a word that asks: in a table with a column `what`, "what
 * is coffee" is a question, `what = coffee` a condition.
 */
function isQuestionWord(reading: Reading, { column, end }: FoundColumn): boolean {
  if (!INTERROGATIVES.has(column.name.toLowerCase())) return false;
  const sign = freeWord(reading, end);
  return !(sign?.kind === 'sign' && SIGNS[sign.text] !== undefined) && phraseAt(reading, end, COMPARING) === 0;
}

const SIGNS: Readonly<Record<string, FilterOp>> = {
  '=': '=',
  '==': '=',
  ':': '=',
  '!=': '!=',
  '<>': '!=',
  '<': '<',
  '<=': '<=',
  '>': '>',
  '>=': '>=',
};
const OPPOSITE: Readonly<Partial<Record<FilterOp, FilterOp>>> = {
  '=': '!=',
  '!=': '=',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
};
const MORE = 'more greater higher larger bigger'.split(' ').map((word) => `${word} than`);
const LESS = 'less lower smaller fewer'.split(' ').map((word) => `${word} than`);
const orEqual = (phrases: readonly string[]) =>
  phrases.flatMap((phrase) => [`${phrase} or equal to`, `${phrase} or equal`]);
/**
 * Operators and the phrases that name them. A phrase comes before any phrase with which it begins:
 * `more than or equal` before `more than`.
 */
const PHRASES: readonly [FilterOp | 'between', Phrases][] = [
  ['>=', phrases('at least', 'no less than', 'not less than', 'not below', 'not under', 'minimum', ...orEqual(MORE))],
  [
    '<=',
    phrases('at most', 'no more than', 'not more than', 'not above', 'not over', 'up to', 'maximum', ...orEqual(LESS)),
  ],
  ['>', phrases('above', 'over', 'exceeding', 'exceeds', ...MORE)],
  ['<', phrases('below', 'under', ...LESS)],
  ['between', phrases('between')],
  ['!=', phrases('not equal to', 'not equals', 'not equal', 'other than')],
  ['=', phrases('equal to', 'equals', 'equal', 'exactly')],
  ['contains', phrases('contains', 'containing', 'contain', 'includes', 'including', 'like')],
];
const IS = ['is', 'was', 'are', 'were', 'of', 'has'];
const ISNT = ["isn't", "wasn't", "aren't"];

/** Reads the operator after a column name. Returns undefined if there is no condition. */
function saidAt(reading: Reading, from: number): Said | undefined {
  let at = from;
  const hasIs = isWord(reading, at, ...IS, ...ISNT);
  const isOf = isWord(reading, at, 'of');
  let negated = isWord(reading, at, ...ISNT);
  if (hasIs) at++;
  const sign = freeWord(reading, at);
  if (sign?.kind === 'sign' && SIGNS[sign.text] !== undefined) return { op: SIGNS[sign.text]!, at: at + 1, negated };
  for (const [op, phrases] of PHRASES) {
    const words = phraseAt(reading, at, phrases);
    if (words > 0) return { op, at: at + words, negated };
  }
  if (isWord(reading, at, 'in')) {
    if (hasIs && !isOf) return { op: 'in', at: at + 1, negated };
    return freeWord(reading, at + 1)?.text === '(' ? { op: 'in', at: at + 1, negated } : undefined;
  }
  if (hasIs && isWord(reading, at, 'not')) {
    negated = !negated;
    at++;
  }
  if (!hasIs || (isOf && freeWord(reading, at)?.kind !== 'number')) return undefined;
  return { op: '=', at, negated };
}

function conditionOf(reading: Reading, { column, end }: FoundColumn): Read | undefined {
  const said = saidAt(reading, end);
  if (said === undefined) return undefined;
  const read = valuesOf(reading, column, said);
  if (!said.negated || read === undefined || 'reason' in read) return read;
  const turned = opposite(read.filters);
  return turned === undefined
    ? { reason: 'The opposite of this condition cannot be asked for.', end: read.end }
    : { filters: turned, end: read.end };
}

/**
 * Returns the opposite of a single comparison, or undefined if there are several filters or the
 * operator has no opposite. As in statements, a missing value meets neither a comparison nor its
 * opposite.
 */
function opposite(filters: readonly Filter[]): Filter[] | undefined {
  const op = filters.length === 1 ? OPPOSITE[filters[0]!.op] : undefined;
  return op === undefined ? undefined : [{ ...filters[0]!, op }];
}

function valuesOf(reading: Reading, column: KnownColumn, { op, at }: Said): Read | undefined {
  const isNumber = isNumeric(column.type);
  const shown = freeWord(reading, at) === undefined ? at : at + 1;
  if (op === 'between') return rangeOf(reading, column, at, isNumber);
  if (op === 'contains' && kindOfType(column.type) !== 'text') return undefined;
  if (!isNumber && op !== '=' && op !== '!=' && op !== 'in' && op !== 'contains')
    return {
      reason: `${column.name} is ${column.type}: it can be equal to ${ruleOf(column.type).comparedWith} or not.`,
      end: shown,
    };
  if (
    (op === '=' || op === '!=') &&
    isWord(reading, at, 'null', 'missing', 'unset', 'unknown', 'none') &&
    kindOfType(column.type) !== 'text'
  )
    return { filters: [{ column: column.name, op, value: null }], end: at + 1 };
  if ((op === '=' || op === '!=') && isWord(reading, at, 'null', 'missing'))
    return { filters: [{ column: column.name, op, value: null }], end: at + 1 };
  if (op === 'in' || op === '=') return listOf(reading, column, op, at, shown);
  const one = valueAt(reading, column, at);
  if (one === undefined)
    return { reason: `${column.name} is compared with ${ruleOf(column.type).comparedWith}.`, end: shown };
  return { filters: [{ column: column.name, op, value: one.value }], end: one.end };
}

function rangeOf(reading: Reading, column: KnownColumn, at: number, isNumeric: boolean): Read {
  const low = isNumeric ? numberAt(reading, at) : undefined;
  const high = low && isWord(reading, low.end, 'and', 'to', '-', '&') ? numberAt(reading, low.end + 1) : undefined;
  if (low === undefined || high === undefined) {
    const reason = isNumeric
      ? `A range of ${column.name} is "between" one number "and" another.`
      : `${column.name} is ${column.type}: it has no range.`;
    return { reason, end: freeWord(reading, at) === undefined ? at : at + 1 };
  }
  const [least, most] = low.value <= high.value ? [low.value, high.value] : [high.value, low.value];
  const filters: Filter[] = [
    { column: column.name, op: '>=', value: least },
    { column: column.name, op: '<=', value: most },
  ];
  return { filters, end: high.end };
}

/** Maximum number of values in one condition. */
const MOST_VALUES = 100;

/**
 * Reads one value, or several values joined by `or`. After `in`, commas may join them too, and the
 * list may be in brackets.
 */
function listOf(reading: Reading, column: KnownColumn, op: FilterOp, at: number, shown: number): Read {
  const isBracketed = op === 'in' && isWord(reading, at, '(', '[');
  let next = isBracketed ? at + 1 : at;
  const values: FilterValue[] = [];
  for (;;) {
    const one = valueAt(reading, column, next);
    if (one === undefined) break;
    values.push(one.value);
    next = one.end;
    const link = linkAt(reading, next, isBracketed || op === 'in');
    if (link === 0 || values.length === MOST_VALUES || (!isBracketed && !isValueOfList(reading, next + link))) break;
    next += link;
  }
  if (values.length === 0)
    return { reason: `${column.name} is compared with ${ruleOf(column.type).comparedWith}.`, end: shown };
  if (isBracketed && isWord(reading, next, ')', ']')) next++;
  const value = values.length === 1 ? values[0]! : values;
  return { filters: [{ column: column.name, op: values.length === 1 ? '=' : 'in', value }], end: next };
}

/** Returns the number of words between two values in a list, or 0 if the list ends. */
function linkAt(reading: Reading, at: number, isList: boolean): number {
  if (isWord(reading, at, 'or')) return 1;
  if (!isList || freeWord(reading, at)?.text !== ',') return 0;
  return isWord(reading, at + 1, 'or') ? 2 : 1;
}

/**
 * Returns whether the word at `at` is a further value, rather than the start of another condition
 * or a node.
 */
function isValueOfList(reading: Reading, at: number): boolean {
  const next = freeWord(reading, at + 1);
  if (next?.kind === 'sign' && SIGNS[next.text] !== undefined) return false;
  return !isWord(reading, at, ...NODE_WORDS, ...NO_VALUE) && !isWord(reading, at + 1, ...IS);
}

const NODE_WORDS = ['node', 'nodes', 'member', 'members', 'vertex', 'vertices'];
/** Words that begin another part of the question and so are not values. */
const NO_VALUE =
  'a an and or the in on at of since before after until between from to last past top first latest newest most with where which that and, during by sorted ordered'.split(
    ' ',
  );
const TRUE = ['true', 'yes', 'on', '1'];
const FALSE = ['false', 'no', 'off', '0'];

function valueAt(reading: Reading, column: KnownColumn, at: number): { value: FilterValue; end: number } | undefined {
  const word = freeWord(reading, at);
  if (word === undefined) return undefined;
  if (isNumeric(column.type)) {
    const unquoted = word.kind === 'quoted' && /^[+-]?\d+(\.\d+)?$/.test(word.text) ? Number(word.text) : undefined;
    return unquoted === undefined ? numberAt(reading, at) : { value: unquoted, end: at + 1 };
  }
  if (kindOfType(column.type) === 'boolean') {
    if (TRUE.includes(word.lower)) return { value: true, end: at + 1 };
    return FALSE.includes(word.lower) ? { value: false, end: at + 1 } : undefined;
  }
  if (word.kind === 'quoted') return { value: word.text, end: at + 1 };
  if (word.kind === 'sign' || NO_VALUE.includes(word.lower)) return undefined;
  let end = at + 1;
  while (isPartOfValue(reading, end)) end++;
  const value = end === at + 1 ? word.text : reading.text.slice(word.start, reading.words[end - 1]!.end);
  return { value, end };
}

/** Returns whether a word continues a value without blanks, as in `line-abreast` and `a_1/b`. */
function isPartOfValue(reading: Reading, at: number): boolean {
  const word = freeWord(reading, at);
  if (word === undefined || !word.glued) return false;
  if (word.kind !== 'sign') return word.kind !== 'quoted';
  const next = freeWord(reading, at + 1);
  return /^[-/.@:+#&]$/.test(word.text) && next?.glued === true && next.kind !== 'sign' && next.kind !== 'quoted';
}

/**
 * Names that are not reported, because comparisons with them are read as a time window or as nodes.
 */
const OTHERS = new Set(['event_ts', 'timestamp', 'ts', 'time', 'node', 'nodes', 'vertex', 'vertices', 'node_id']);
const NOT_FILTERED = new Set(['id', 'size', 'table', 'properties', 'member', 'members', 'bucket']);

/** Reads a comparison whose name is not a column, to report it. */
function strangerAt(reading: Reading, at: number): Read | undefined {
  const word = freeWord(reading, at);
  if (word?.kind !== 'word' || OTHERS.has(word.lower)) return undefined;
  const sign = freeWord(reading, at + 1);
  const op = sign?.kind === 'sign' ? SIGNS[sign.text] : undefined;
  const isMember = word.lower === 'member' || word.lower === 'members';
  const words = op === undefined && NOT_FILTERED.has(word.lower) ? numericPhraseAt(reading, at + 1) : 0;
  if (words === 0 && (op === undefined || sign!.text === ':' || (isMember && op === '='))) return undefined;
  const value = at + 1 + (words === 0 ? 1 : words);
  if (freeWord(reading, value) === undefined || freeWord(reading, value)!.kind === 'sign') return undefined;
  const end = numberAt(reading, value)?.end ?? value + 1;
  const reason = NOT_FILTERED.has(word.lower)
    ? `${word.text} is not a column by which edges can be filtered.`
    : `The table has no column ${word.text}.`;
  return { reason, end };
}

function numericPhraseAt(reading: Reading, from: number): number {
  const at = isWord(reading, from, ...IS) ? from + 1 : from;
  for (const [op, phrases] of PHRASES) {
    if (op === 'contains' || op === 'between') continue;
    const words = phraseAt(reading, at, phrases);
    if (words > 0 && freeWord(reading, at + words)?.kind === 'number') return at + words - from;
  }
  return 0;
}
