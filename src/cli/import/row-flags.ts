// The flags of `hedgerow import` that say how rows become edges, checked.

import type { ColumnType } from '../../engine/types.ts';
import { TIME_FORMATS, type TimeFormat } from '../../formats/times.ts';
import { UsageError } from '../world.ts';
import type { ImportFlags } from './options.ts';
import type { RowFlags } from './row-plan.ts';

const TYPES: readonly ColumnType[] = ['INTEGER', 'REAL', 'TEXT', 'BOOLEAN'];

/** Throws UsageError. */
export function rowFlags(flags: ImportFlags): RowFlags {
  const { tsColumn, memberColumn, separator } = flags;
  if (memberColumn !== undefined && flags.memberColumns !== undefined)
    throw new UsageError(
      `--member-column and --member-columns exclude each other; --member-columns ${flags.memberColumns},${memberColumn} --separator '${separator ?? ';'}' reads lists in all of them.`,
    );
  if (separator === '') throw new UsageError('--separator is empty, but it takes what stands between two nodes.');
  return {
    tsColumn,
    tsFormat: timeFormat(flags.tsFormat),
    memberColumn,
    memberColumns: list('--member-columns', flags.memberColumns, 1),
    separator,
    propertyColumns: list('--property-columns', flags.propertyColumns, 0),
    memberIds: memberIds(flags.memberIds),
    types: typesOf(flags.types),
  };
}

/** One character, or \t. Throws UsageError. */
export function delimiterOf({ delimiter }: ImportFlags): string | undefined {
  const character = delimiter === '\\t' ? '\t' : delimiter;
  if (character === undefined || (character.length === 1 && character !== '"' && character !== '\n')) return character;
  throw new UsageError(`--delimiter is ${JSON.stringify(delimiter)}, but it takes one character, such as ; or \\t.`);
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

function timeFormat(given: string | undefined): TimeFormat | undefined {
  if (given === undefined || given === 'auto') return undefined;
  const format = TIME_FORMATS.find((name) => name === given);
  if (format !== undefined) return format;
  throw new UsageError(
    `--ts-format is ${JSON.stringify(given)}, but it takes one of auto, ${TIME_FORMATS.join(', ')}.`,
  );
}

function memberIds(given: string | undefined): RowFlags['memberIds'] {
  if (given === undefined || given === 'auto') return undefined;
  if (given === 'number' || given === 'name') return given;
  throw new UsageError(`--member-ids is ${JSON.stringify(given)}, but it takes auto, number or name.`);
}

/** `price=REAL,code=TEXT`. */
function typesOf(given: string | undefined): Map<string, ColumnType> {
  const types = new Map<string, ColumnType>();
  for (const part of list('--types', given, 1) ?? []) {
    const at = part.lastIndexOf('=');
    const type = TYPES.find((name) => name === part.slice(at + 1).toUpperCase());
    if (at < 1 || type === undefined)
      throw new UsageError(
        `--types holds ${JSON.stringify(part)}, but it takes column=TYPE, with one of ${TYPES.join(', ')}.`,
      );
    types.set(part.slice(0, at), type);
  }
  return types;
}
