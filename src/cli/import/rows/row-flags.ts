// Checks the flags of `hedgerow import` that determine how rows become edges.

import type { ColumnType } from '../../../engine/index.ts';
import { COLUMN_TYPE_NAMES } from '../../../model/column-types.ts';
import { IDENTIFIER } from '../../../model/columns.ts';
import type { Decimal } from '../../../tabular/number-style.ts';
import { strptime } from '../../../tabular/strptime.ts';
import { guessTimeFormat, secondsIn, TIME_FORMATS, type TimeFormat, type TimePattern } from '../../../tabular/times.ts';
import { UsageError } from '../../world.ts';
import type { CsvFlags } from '../csv/csv-head.ts';
import type { NodeFlags } from '../nodes/node-rows.ts';
import type { ImportFlags } from '../options.ts';
import type { RowFlags } from './row-plan.ts';

/** Throws UsageError. */
export function rowFlags(flags: ImportFlags): RowFlags {
  const { tsColumn, memberColumn, separator } = flags;
  if (memberColumn !== undefined && flags.memberColumns !== undefined)
    throw new UsageError(
      `--member-column and --member-columns exclude each other; --member-columns ${flags.memberColumns},${memberColumn} --separator '${separator ?? ';'}' reads lists in all of them.`,
    );
  if (separator === '') throw new UsageError('--separator is empty, but it takes the text between two nodes.');
  return {
    tsColumn,
    tsFormat: timeFormat(flags.tsFormat),
    endColumn: flags.endColumn,
    ts: timeOfAll(flags),
    decimal: decimalFlag(flags.decimal),
    memberColumn,
    roles: rolesOf(flags.role),
    memberColumns: list('--member-columns', flags.memberColumns, 1),
    separator,
    propertyColumns: list('--property-columns', flags.propertyColumns, 0),
    memberIds: memberIds(flags.memberIds),
    types: typesOf(flags.types),
  };
}

/** Throws UsageError. */
export function nodeFlags(flags: ImportFlags): NodeFlags {
  return { key: flags.key, types: typesOf(flags.types), decimal: decimalFlag(flags.decimal) };
}

/** Throws UsageError. */
export function csvFlags(flags: ImportFlags): CsvFlags {
  return {
    delimiter: delimiterOf(flags),
    isHeadless: flags.header === false || flags.columns !== undefined,
    columns: list('--columns', flags.columns, 1),
  };
}

/** Accepts one character other than `"` or a newline, or `\t` for the tab. Throws UsageError. */
function delimiterOf({ delimiter }: ImportFlags): string | undefined {
  const character = delimiter === '\\t' ? '\t' : delimiter;
  if (character === undefined || (character.length === 1 && character !== '"' && character !== '\n')) return character;
  throw new UsageError(`--delimiter is ${JSON.stringify(delimiter)}, but it takes one character, such as ; or \\t.`);
}

/** Returns the name that TextDecoder uses for the encoding. Throws UsageError. */
export function encodingOf({ encoding }: ImportFlags): string | undefined {
  if (encoding === undefined || encoding === 'auto') return undefined;
  try {
    return new TextDecoder(encoding).encoding;
  } catch {
    throw new UsageError(
      `--encoding is ${JSON.stringify(encoding)}, but it takes a name of the WHATWG standard, such as windows-1252, iso-8859-2, utf-16le, koi8-r, shift_jis, gb18030.`,
    );
  }
}

function decimalFlag(given: string | undefined): Decimal | undefined {
  if (given === undefined || given === ',' || given === '.') return given;
  throw new UsageError(`--decimal is ${JSON.stringify(given)}, but it takes a comma or a point.`);
}

/** Returns the time of `--ts` in seconds since 1970. */
function timeOfAll({ ts, tsFormat }: ImportFlags): number | undefined {
  if (ts === undefined) return undefined;
  for (const format of [timeFormat(tsFormat), guessTimeFormat([ts])]) {
    const seconds = format === undefined ? Number.NaN : secondsIn(ts, format);
    if (!Number.isNaN(seconds)) return seconds;
  }
  throw new UsageError(
    `--ts is ${JSON.stringify(ts)}, but it takes a time: seconds since 1970, or ISO 8601 such as 2024-05-01T12:30:00Z.`,
  );
}

function list(flag: string, given: string | undefined, least: number): string[] | undefined {
  if (given === undefined) return undefined;
  const names = given
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length >= least) return names;
  throw new UsageError(`${flag} takes names of columns, separated by commas.`);
}

function timeFormat(given: string | undefined): TimeFormat | TimePattern | undefined {
  if (given === undefined || given === 'auto') return undefined;
  const format = TIME_FORMATS.find((name) => name === given);
  if (format !== undefined) return format;
  if (given.includes('%')) {
    try {
      return strptime(given);
    } catch (error) {
      throw new UsageError(`--ts-format ${JSON.stringify(given)} cannot be read: ${(error as Error).message}.`);
    }
  }
  throw new UsageError(
    `--ts-format is ${JSON.stringify(given)}, but it takes one of auto, ${TIME_FORMATS.join(', ')}, or a pattern of strptime such as '%d.%m.%y %H:%M'.`,
  );
}

function memberIds(given: string | undefined): RowFlags['memberIds'] {
  if (given === undefined || given === 'auto') return undefined;
  if (given === 'number' || given === 'name') return given;
  throw new UsageError(`--member-ids is ${JSON.stringify(given)}, but it takes auto, number or name.`);
}

/** Parses `--role sender=from`, which may be given several times. */
function rolesOf(given: readonly string[] | undefined): Map<string, string> | undefined {
  if (given === undefined || given.length === 0) return undefined;
  const roles = new Map<string, string>();
  for (const part of given) {
    const at = part.indexOf('=');
    const role = at < 0 ? part : part.slice(0, at);
    const column = at < 0 ? part : part.slice(at + 1);
    if (!IDENTIFIER.test(role) || column === '')
      throw new UsageError(`--role is ${JSON.stringify(part)}, but it takes ROLE=COLUMN, such as sender=from.`);
    roles.set(role, column);
  }
  return roles;
}

/** Parses a list such as `price=REAL,code=TEXT`. */
function typesOf(given: string | undefined): Map<string, ColumnType> {
  const types = new Map<string, ColumnType>();
  for (const part of list('--types', given, 1) ?? []) {
    const at = part.lastIndexOf('=');
    const type = COLUMN_TYPE_NAMES.find((name) => name === part.slice(at + 1).toUpperCase());
    if (at < 1 || type === undefined)
      throw new UsageError(
        `--types holds ${JSON.stringify(part)}, but it takes column=TYPE, with one of ${COLUMN_TYPE_NAMES.join(', ')}.`,
      );
    types.set(part.slice(0, at), type);
  }
  return types;
}
