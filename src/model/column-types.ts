// The types of columns. All code that depends on a type uses this file: checks, statements, files,
// the stored form and the API.

import { HALF_PAIR, isTooLong, isWellFormed, MAX_TEXT_BYTES } from './text.ts';

export type PropertyValue = number | string | boolean | null;

/**
 * How statements, files and the core treat the values of a type. Several types may have the same
 * kind.
 */
export type ValueKind = 'integer' | 'real' | 'text' | 'boolean';

export interface ColumnTypeRule {
  /** Other words for the type in statements. */
  readonly synonyms: readonly string[];
  /**
   * Returns what is wrong with a value that is not null, as a phrase that follows the name of its
   * column. Returns undefined if the value is valid.
   */
  readonly problem: (value: unknown) => string | undefined;
  /**
   * Returns the value that a text means, for instance a cell of a CSV file. Returns undefined if
   * the text is not a value of the type.
   */
  readonly fromText: (text: string) => Exclude<PropertyValue, null> | undefined;
  /**
   * Whether every JSON value of the kind is a value of the type, so that the core may read values
   * without calling `problem`. Texts that are too long do not count: the core does not read them.
   */
  readonly isWholeKind: boolean;
  /** What `fromText` accepts, for messages. */
  readonly takes: string;
  /** What a condition may compare a column of the type with, for messages. */
  readonly comparedWith: string;
}

/** The codes of the kinds in the stored form (assembly/FORMAT.md, section 1); 0 is null. */
export const KIND_CODES = { real: 1, integer: 2, text: 3, boolean: 4 } as const satisfies Record<ValueKind, number>;

const INTEGER_RANGE = 'an integer between -(2^53-1) and 2^53-1';
const INTEGER_TEXT = /^[+-]?\d+(\.0*)?$/;
const REAL_TEXT = /^[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?$/;

/**
 * The kind of each type: how its values are compared, computed with and stored. This table is
 * separate from the rules because the first page of the console needs nothing else.
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
    isWholeKind: true,
    takes: INTEGER_RANGE,
    comparedWith: 'a number',
  },
  REAL: {
    synonyms: ['FLOAT', 'DOUBLE'],
    problem: (value) => (Number.isFinite(value) ? undefined : 'must be a finite number or null'),
    fromText: (text) => numberIn(text, REAL_TEXT, Number.isFinite),
    isWholeKind: true,
    takes: 'a finite number',
    comparedWith: 'a number',
  },
  TEXT: {
    synonyms: ['STRING'],
    problem: textProblem,
    fromText: (text) => text,
    isWholeKind: true,
    takes: 'a text',
    comparedWith: 'a text',
  },
  BOOLEAN: {
    synonyms: ['BOOL'],
    problem: (value) => (typeof value === 'boolean' ? undefined : 'must be true, false or null'),
    fromText: (text) => BOOLEAN_WORDS.get(text.trim().toLowerCase()),
    isWholeKind: true,
    takes: 'true or false',
    comparedWith: 'true or false',
  },
};

/** The names of the types, in the order in which lists show them. */
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

/**
 * Returns the types by every word that statements accept for them, in capitals. The types' own
 * names come first.
 */
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
