// Options of a table. Whatever makes, stores, checks, shows or copies a table reads this list, so a
// new option is an entry here, and what it does.

import { type FieldError, HedgerowError } from '../errors.ts';
import { IDENTIFIER } from './columns.ts';

interface OptionRule {
  /** In requests and answers. */
  readonly field: string;
  readonly default: number;
  readonly least: number;
  readonly most: number;
  /** What is wrong with a value outside of these bounds, after the option's field. */
  readonly problem: string;
  /** For the description of answers, and of requests. */
  readonly about: string;
  readonly aboutDefault: string;
  /**
   * It decides how rows are stored: no table changes it, and one with another value cannot take the
   * rows of a dump.
   */
  readonly isFixed: boolean;
  /** Of a table, after its name: it has `buckets of 10 s`. */
  readonly said: (value: number) => string;
}

const MAX_BUCKET_SECONDS = 2 ** 40;

/**
 * In statements; in the order in which options are shown. Apart from the rules: the console's first
 * page needs no more.
 */
export const OPTION_WORDS = {
  bucketSeconds: 'BUCKET_SECONDS',
  compactThreshold: 'COMPACT_THRESHOLD',
} as const satisfies Record<string, string>;

export type TableOption = keyof typeof OPTION_WORDS;

/**
 * The options, by their fields, that whatever describes a table to people or models says, and how.
 * Apart from the rules as well.
 */
const DESCRIBED = { bucket_seconds: (seconds: number) => `buckets of ${seconds} s` } as const;

/** Integers. */
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
    about: 'Log entries that start a compaction by themselves; 0: none do.',
    aboutDefault: 'Default 0: no compaction by itself.',
    isFixed: false,
    said: (operations) => (operations === 0 ? 'compacted on request' : `compacted after ${operations} operations`),
  },
} as const satisfies Record<TableOption, OptionRule>;

/** Those that a table can change. */
export type AlterableOption = {
  [name in TableOption]: (typeof TABLE_OPTIONS)[name]['isFixed'] extends true ? never : name;
}[TableOption];

/** As programs write them. */
export type TableOptions = Record<TableOption, number>;
/** As requests and answers write them. */
export type OptionFields = Record<(typeof TABLE_OPTIONS)[TableOption]['field'], number>;

export const OPTION_NAMES = Object.keys(OPTION_WORDS) as readonly TableOption[];
export const OPTION_FIELDS: readonly string[] = /* @__PURE__ */ OPTION_NAMES.map((name) => TABLE_OPTIONS[name].field);
export const DESCRIBED_FIELDS = Object.keys(DESCRIBED) as readonly (keyof typeof DESCRIBED)[];
export const ALTERABLE_OPTIONS = /* @__PURE__ */ OPTION_NAMES.filter(isAlterable);

/** All options, defaults for those that are left out. Throws `invalid_input`. */
export function completeOptions(given: { readonly [name in TableOption]?: number | undefined }): TableOptions {
  return mapped((name) => checkOption(name, given[name] ?? TABLE_OPTIONS[name].default));
}

/** Throws `invalid_input`, about `field` where it is given another name. */
export function checkOption(name: TableOption, value: number, field: string = TABLE_OPTIONS[name].field): number {
  if (isOption(name, value)) return value;
  throw wrong(field, TABLE_OPTIONS[name].problem);
}

export function isOption(name: TableOption, value: unknown): value is number {
  const { least, most } = TABLE_OPTIONS[name];
  return Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
}

/** The options among what a statement says of a table. */
export function optionsOf(given: Partial<TableOptions>): Partial<TableOptions> {
  const entries = OPTION_NAMES.map((name) => [name, given[name]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<TableOptions>;
}

/** Under the names of requests and answers. */
export function optionFields(options: TableOptions): OptionFields {
  const entries = OPTION_NAMES.map((name) => [TABLE_OPTIONS[name].field, options[name]]);
  return Object.fromEntries(entries) as OptionFields;
}

/** The options among the fields of a request or answer, without those that it leaves out. */
export function optionsIn(
  fields: { readonly [field in keyof OptionFields]?: number | undefined },
): Partial<TableOptions> {
  const entries = OPTION_NAMES.map((name) => [name, fields[TABLE_OPTIONS[name].field]] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined)) as Partial<TableOptions>;
}

/** As a statement that makes the table says them. */
export function optionWords(fields: Readonly<Record<string, unknown>>): string {
  return OPTION_NAMES.map((name) => `${OPTION_WORDS[name]} ${fields[TABLE_OPTIONS[name].field]}`).join(' ');
}

function mapped(optionOf: (name: TableOption) => number): TableOptions {
  return Object.fromEntries(OPTION_NAMES.map((name) => [name, optionOf(name)])) as TableOptions;
}

/** What a description of a table says of its options, after its name and "with". */
export function describedOptions(fields: OptionFields): string {
  return DESCRIBED_FIELDS.map((field) => DESCRIBED[field](fields[field])).join(', ');
}

function isAlterable(name: TableOption): name is AlterableOption {
  return !TABLE_OPTIONS[name].isFixed;
}

/** The names of the node kinds that may be members. Throws `invalid_input`. */
export function checkMemberTables(names: readonly string[]): string[] {
  const index = names.findIndex((name) => typeof name !== 'string' || !IDENTIFIER.test(name));
  if (index >= 0) throw wrong(`member_tables[${index}]`, 'must be an identifier');
  return [...names];
}

function wrong(field: string, msg: string): HedgerowError {
  const errors: FieldError[] = [{ loc: [field], msg }];
  return new HedgerowError('invalid_input', `${field} ${msg}.`, { errors });
}
