// Converts the texts in the fields of parameters to values. The kind of a value is the one that the
// user has chosen; if none is chosen, it is guessed from the statement.

import type { Table } from '../../client/index.ts';
import { kindOfType, type ValueKind } from '../../model/column-types.ts';
import { builtInType } from '../../model/columns.ts';
import { secondsIn } from '../../tabular/times.ts';
import { bare, parametersOf, patternsOf } from '../statement-words.ts';
import type { ParameterField, ParameterKind } from './parameter-state.ts';
import type { Parameters } from './run-statement.ts';

/** Names of the kinds on the page, in the order in which they are offered. */
export const KINDS: readonly (readonly [ParameterKind, string])[] = [
  ['any', 'any'],
  ['number', 'number'],
  ['text', 'text'],
  ['boolean', 'true or false'],
  ['time', 'time'],
  ['list', 'list'],
  ['null', 'null'],
];

/**
 * Returns the values for the statement to run. Throws an Error with a sentence for a field that is
 * empty or does not fit its kind.
 */
export function valuesFor(
  statement: string,
  tables: readonly Table[],
  fieldOf: (name: string) => ParameterField,
): Parameters {
  return Object.fromEntries(
    parametersOf(statement).map((name) => {
      const field = fieldOf(name);
      return [name, valueIn(name, field, field.kind ?? kindIn(statement, name, tables))];
    }),
  );
}

export function valueIn(name: string, { text: written, kind: chosen }: ParameterField, kind: ParameterKind): unknown {
  const text = written.trim();
  if (kind === 'null') return null;
  // An empty field counts as an empty text only when the user has chosen the kind text.
  if (text === '' && chosen !== 'text') throw new Error(`Give $${name} a value in its field below the statement.`);
  switch (kind) {
    case 'text':
      return written;
    case 'number':
      return numberIn(name, text);
    case 'boolean':
      if (text !== 'true' && text !== 'false') throw new Error(`$${name} is true or false, not ${text}.`);
      return text === 'true';
    case 'time':
      return timeIn(name, text);
    case 'list':
      return listIn(name, text);
    default:
      return anyIn(text);
  }
}

function numberIn(name: string, text: string): number {
  const value = Number(text);
  if (!Number.isFinite(value))
    throw new Error(`$${name} is a number, not ${text}. Choose another kind beside its field.`);
  return value;
}

function timeIn(name: string, text: string): number {
  const seconds = /^[+-]?\d+$/.test(text) ? Number(text) : secondsIn(text, 'iso');
  if (!Number.isSafeInteger(seconds))
    throw new Error(
      `$${name} is a time, such as 2024-05-13, 2024-05-13T10:00:00 (UTC) or seconds since 1970; not ${text}.`,
    );
  return seconds;
}

/** Parses a JSON list, or values separated by commas. */
function listIn(name: string, text: string): unknown[] {
  if (!text.startsWith('[')) return text.split(',').map((part) => anyIn(part.trim()));
  try {
    return JSON.parse(text) as unknown[];
  } catch {
    throw new Error(`$${name} is a list, such as 1, 2, 3 or ["a", "b"]; not ${text}.`);
  }
}

/** Parses numbers, quoted texts, true, false, null and lists as JSON. Anything else is a text. */
function anyIn(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? text : value;
  } catch {
    return text;
  }
}

const OPERATOR = '(?:=|<>|!=|<=|>=|<|>)';

/**
 * Guesses the kind from the keyword, operator or column beside the parameter in the statement.
 * Returns `any` if these do not determine it.
 */
export function kindIn(statement: string, name: string, tables: readonly Table[]): ParameterKind {
  const text = bare(statement);
  const parameter = `\\$${name}\\b`;
  const has = (pattern: string) => new RegExp(pattern, 'i').exec(text);
  if (
    has(
      `\\b(?:LIMIT|SKIP|OFFSET)\\s+${parameter}|${parameter}\\s+IN\\b|\\bsize\\s*\\([^()]*\\)\\s*${OPERATOR}\\s*${parameter}`,
    )
  )
    return 'number';
  if (has(`\\bIN\\s+${parameter}`)) return 'list';
  if (has(`\\b(?:CONTAINS|WITH)\\s+${parameter}`)) return 'text';
  const column = `\\b(?:(\\w+)\\s*\\.\\s*)?(\\w+)`;
  const value = '(?:\\$\\w+|-?[\\d.]+)';
  const found =
    has(`${column}\\s*${OPERATOR}\\s*${parameter}`) ??
    has(`${column}\\s+BETWEEN\\s+(?:${value}\\s+AND\\s+)?${parameter}`) ??
    has(`${parameter}\\s*${OPERATOR}\\s*${column}`);
  if (found === null) return 'any';
  const [, alias, named] = found;
  if (Object.hasOwn(OF_KEYS, named!)) return OF_KEYS[named!]!;
  const wanted = patternsOf(statement)
    .find((pattern) => pattern.alias === alias)
    ?.table.toLowerCase();
  const columns = tables.find((table) => table.name.toLowerCase() === wanted)?.columns;
  const type = builtInType(named!) ?? columns?.find((item) => item.name === named)?.type;
  return type === undefined ? 'any' : OF_KINDS[kindOfType(type)];
}

const OF_KEYS: Readonly<Record<string, ParameterKind>> = { id: 'number', event_ts: 'time', members: 'list' };
const OF_KINDS: Readonly<Record<ValueKind, ParameterKind>> = {
  integer: 'number',
  real: 'number',
  text: 'text',
  boolean: 'boolean',
};
