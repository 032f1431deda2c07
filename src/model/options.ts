// The options of a table. All code that creates, stores, checks, shows or copies a table reads this
// list. A new option therefore needs only an entry here and the code for its effect.

import { type FieldError, HedgerowError } from '../errors.ts';
import { IDENTIFIER } from './columns.ts';

interface OptionRule {
  /** The option's name in requests and answers. */
  readonly field: string;
  readonly default: number;
  readonly least: number;
  readonly most: number;
  /**
   * What is wrong with a value that is not from `least` to `most`, as a phrase that follows the
   * option's field.
   */
  readonly problem: string;
  /** The descriptions in the API: `about` for answers, `aboutDefault` for requests. */
  readonly about: string;
  readonly aboutDefault: string;
  /**
   * True if the option determines how rows are stored. Such an option never changes, and a table
   * with another value cannot take the rows of a dump.
   */
  readonly isFixed: boolean;
  /**
   * A phrase that describes the value, such as `buckets of 10 s`. It is shown after the table's
   * name.
   */
  readonly said: (value: number) => string;
}

const MAX_BUCKET_SECONDS = 2 ** 40;

/**
 * The words for the options in statements, in the order in which options are shown. They are
 * separate from the rules because the first page of the console needs nothing else.
 */
export const OPTION_WORDS = {
  bucketSeconds: 'BUCKET_SECONDS',
  compactThreshold: 'COMPACT_THRESHOLD',
} as const satisfies Record<string, string>;

export type TableOption = keyof typeof OPTION_WORDS;

/**
 * The options, by field, that every description of a table for people or language models contains,
 * with their wording. They are separate from the rules for the same reason as OPTION_WORDS.
 */
const DESCRIBED = { bucket_seconds: (seconds: number) => `buckets of ${seconds} s` } as const;

/** The rules for each option. All options are integers. */
export const TABLE_OPTIONS = {
  bucketSeconds: {
    field: 'bucket_seconds',
    default: 10,
    least: 1,
    most: MAX_BUCKET_SECONDS,
    problem: `must be an integer from 1 to ${MAX_BUCKET_SECONDS}`,
    about: 'Width of a time bucket.',
    aboutDefault: 'Default 10.',
    isFixed: true,
    said: DESCRIBED.bucket_seconds,
  },
  compactThreshold: {
    field: 'compact_threshold',
    default: 0,
    least: 0,
    most: Number.MAX_SAFE_INTEGER,
    problem: 'must be an integer of 0 or more (0 disables)',
    about: 'Number of log entries that starts an automatic compaction; 0: never.',
    aboutDefault: 'Default 0: no automatic compaction.',
    isFixed: false,
    said: (operations) => (operations === 0 ? 'compacted on request' : `compacted after ${operations} operations`),
  },
} as const satisfies Record<TableOption, OptionRule>;

/** The options that can be changed in an existing table. */
export type AlterableOption = {
  [name in TableOption]: (typeof TABLE_OPTIONS)[name]['isFixed'] extends true ? never : name;
}[TableOption];

/** Options under the names that programs use. */
export type TableOptions = Record<TableOption, number>;
/** Options under the names that requests and answers use. */
export type OptionFields = Record<(typeof TABLE_OPTIONS)[TableOption]['field'], number>;

export const OPTION_NAMES = Object.keys(OPTION_WORDS) as readonly TableOption[];
export const OPTION_FIELDS: readonly string[] = /* @__PURE__ */ OPTION_NAMES.map((name) => TABLE_OPTIONS[name].field);
export const DESCRIBED_FIELDS = Object.keys(DESCRIBED) as readonly (keyof typeof DESCRIBED)[];
export const ALTERABLE_OPTIONS = /* @__PURE__ */ OPTION_NAMES.filter(isAlterable);

/** Returns all options, with defaults for those that are left out. Throws `invalid_input`. */
export function completeOptions(given: { readonly [name in TableOption]?: number | undefined }): TableOptions {
  return mapped((name) => checkOption(name, given[name] ?? TABLE_OPTIONS[name].default));
}

/** Returns the value if it is valid. Otherwise throws `invalid_input` about `field`. */
export function checkOption(name: TableOption, value: number, field: string = TABLE_OPTIONS[name].field): number {
  if (isOption(name, value)) return value;
  throw wrong(field, TABLE_OPTIONS[name].problem);
}

export function isOption(name: TableOption, value: unknown): value is number {
  const { least, most } = TABLE_OPTIONS[name];
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** Returns the options among the properties of a table in a statement. */
export function optionsOf(given: Partial<TableOptions>): Partial<TableOptions> {
  const entries = OPTION_NAMES.map((name) => [name, given[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<TableOptions>;
}

/** Returns the options under the names of requests and answers. */
export function optionFields(options: TableOptions): OptionFields {
  const entries = OPTION_NAMES.map((name) => [TABLE_OPTIONS[name].field, options[name]]);
  return Object.fromEntries(entries) as OptionFields;
}

/** Returns the options among the fields of a request or answer, without those that are missing. */
export function optionsIn(
  fields: { readonly [field in keyof OptionFields]?: number | undefined },
): Partial<TableOptions> {
  const entries = OPTION_NAMES.map((name) => [name, fields[TABLE_OPTIONS[name].field]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<TableOptions>;
}

/** Writes the options in the form that they have in CREATE TABLE. */
export function optionWords(fields: Readonly<Record<string, unknown>>): string {
  return OPTION_NAMES.map((name) => `${OPTION_WORDS[name]} ${fields[TABLE_OPTIONS[name].field]}`).join(' ');
}

function mapped(optionOf: (name: TableOption) => number): TableOptions {
  return Object.fromEntries(OPTION_NAMES.map((name) => [name, optionOf(name)])) as TableOptions;
}

/** Returns the part of a table's description that follows the words "table NAME with". */
export function describedOptions(fields: OptionFields): string {
  return DESCRIBED_FIELDS.map((field) => DESCRIBED[field](fields[field])).join(', ');
}

function isAlterable(name: TableOption): name is AlterableOption {
  return !TABLE_OPTIONS[name].isFixed;
}

/** Checks the names of the node kinds that may be members. Throws `invalid_input`. */
export function checkMemberTables(names: readonly string[]): string[] {
  const index = names.findIndex((name) => typeof name !== 'string' || !IDENTIFIER.test(name));
  if (index >= 0) throw wrong(`member_tables[${index}]`, 'must be an identifier');
  return [...names];
}

function wrong(field: string, msg: string): HedgerowError {
  const errors: FieldError[] = [{ loc: [field], msg }];
  return new HedgerowError('invalid_input', `${field} ${msg}.`, { errors });
}
