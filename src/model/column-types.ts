// The types of columns. Whatever depends on a type reads this table: checks, statements, files, the
// stored form and the API.

import { HALF_PAIR, isTooLong, isWellFormed, MAX_TEXT_BYTES } from './text.ts';

export type PropertyValue = number | string | boolean | null;

/**
 * What values of a type are to statements, files and the core. Several types may be of one kind.
 */
export type ValueKind = 'integer' | 'real' | 'text' | 'boolean';

export interface ColumnTypeRule {
  /** Other words for the type in statements (contract section 4). */
  readonly synonyms: readonly string[];
  /**
   * What is wrong with a value that is not null, after the name of its column; undefined: nothing.
   */
  readonly problem: (value: unknown) => string | undefined;
  /**
   * The value that is written as this text, for instance in a cell of a CSV file; undefined: it is
   * none of the type.
   */
  readonly fromText: (text: string) => Exclude<PropertyValue, null> | undefined;
  /** What `fromText` takes, for a message. */
  readonly takes: string;
  /** What a question compares such a column with. */
  readonly comparedWith: string;
}

/** The codes of the stored form (assembly/FORMAT.md section 1); 0 is null. */
export const KIND_CODES = { real: 1, integer: 2, text: 3, boolean: 4 } as const satisfies Record<ValueKind, number>;

const INTEGER_RANGE = 'an integer between -(2^53-1) and 2^53-1';
const INTEGER_TEXT = /^[+-]?\d+(\.0*)?$/;
const REAL_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/**
 * How values of each type are compared, computed with and stored. Apart from the rules: the
 * console's first page needs no more.
 */
const KINDS = {
  INTEGER: 'integer',
  REAL: 'real',
  TEXT: 'text',
  BOOLEAN: 'boolean',
} as const satisfies Record<string, ValueKind>;

export type ColumnType = keyof typeof KINDS;

const COLUMN_TYPES: Record<ColumnType, ColumnTypeRule> = {
  INTEGER: {
    synonyms: ['INT'],
    problem: (value) => (Number.isSafeInteger(value) ? undefined : `must be ${INTEGER_RANGE} or null`),
    fromText: (text) => numberIn(text, INTEGER_TEXT, Number.isSafeInteger),
    takes: INTEGER_RANGE,
    comparedWith: 'a number',
  },
  REAL: {
    synonyms: ['FLOAT', 'DOUBLE'],
    problem: (value) => (Number.isFinite(value) ? undefined : 'must be a finite number or null'),
    fromText: (text) => numberIn(text, REAL_TEXT, Number.isFinite),
    takes: 'a finite number',
    comparedWith: 'a number',
  },
  TEXT: {
    synonyms: ['STRING'],
    problem: textProblem,
    fromText: (text) => text,
    takes: 'a text',
    comparedWith: 'a text',
  },
  BOOLEAN: {
    synonyms: ['BOOL'],
    problem: (value) => (typeof value === 'boolean' ? undefined : 'must be true, false or null'),
    fromText: (text) => BOOLEAN_WORDS.get(text.trim().toLowerCase()),
    takes: 'true or false',
    comparedWith: 'true or false',
  },
};

/** In the order in which they are listed. */
export const COLUMN_TYPE_NAMES = Object.keys(KINDS) as [ColumnType, ...ColumnType[]];

const BOOLEAN_WORDS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

export function ruleOf(type: ColumnType): ColumnTypeRule {
  return COLUMN_TYPES[type];
}

export function kindOfType<T extends ColumnType>(type: T): (typeof KINDS)[T] {
  return KINDS[type];
}

export function isNumeric(type: ColumnType): boolean {
  const kind: ValueKind = KINDS[type];
  return kind === 'integer' || kind === 'real';
}

/** The types by every word that statements know for them, in capitals; their own names first. */
export function typesByWord(): ReadonlyMap<string, ColumnType> {
  return new Map([
    ...COLUMN_TYPE_NAMES.map((type) => [type, type] as const),
    ...COLUMN_TYPE_NAMES.flatMap((type) => COLUMN_TYPES[type].synonyms.map((word) => [word, type] as const)),
  ]);
}

function textProblem(value: unknown): string | undefined {
  if (typeof value !== 'string') return 'must be a text or null';
  if (!isWellFormed(value)) return HALF_PAIR;
  return isTooLong(value) ? `must be at most ${MAX_TEXT_BYTES} bytes of UTF-8` : undefined;
}

function numberIn(text: string, form: RegExp, isValid: (number: number) => boolean): number | undefined {
  const trimmed = text.trim();
  const number = Number(trimmed);
  return form.test(trimmed) && isValid(number) ? number : undefined;
}
