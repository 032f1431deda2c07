// Writes SQL that compares columns, times and sizes with the literals in a query. Each literal is
// bound as a parameter, and each comparison is exact for the column's type.

import type { HedgerowError } from '../../errors.ts';
import { isoSeconds, timeProblem } from '../../iso-time.ts';
import type { BackendColumn } from '../backend.ts';
import { shown } from '../identifiers.ts';
import type { Comparison, Literal } from '../language/ast.ts';
import { MAX_WIDE_INTEGER } from '../language/limits.ts';
import { errorAt } from '../language/token.ts';
import { FIRST_SECOND, instantOf, isoDate, isoTimestamp, LAST_SECOND } from '../times.ts';
import { type BoundType, daysSql, type SqlDialect } from './dialect.ts';

/** The left side of a comparison. */
export interface Operand {
  /** Returns the SQL of a condition. Throws `invalid_statement` for a literal of the wrong type. */
  compare(operator: Comparison, literal: Literal): string;
  among(literals: readonly Literal[]): string;
}

/** The state of compiling one statement. */
export interface OperandContext {
  readonly dialect: SqlDialect;
  /** Collects the values of $1 to $n. */
  readonly parameters: (number | string | boolean)[];
  /** The query, for error messages. */
  readonly text: string;
}

/** Returns the operand for a column. `shownAs` is how the query writes the column. */
export function columnOperand(column: BackendColumn, shownAs: string, context: OperandContext): Operand {
  const raw = context.dialect.base(column);
  const about = `${shownAs} is of the type ${column.type}`;
  switch (column.kind) {
    case 'integer':
      return integerOperand(raw, about, context);
    case 'real':
      return simpleOperand(raw, 'real', (literal) => Number(numberOf(literal, about, context)), context);
    case 'decimal':
      return decimalOperand(column, raw, about, context);
    case 'boolean':
      return simpleOperand(raw, 'boolean', (literal) => booleanOf(literal, about, context), context);
    case 'timestamp':
    case 'timestamptz':
      return simpleOperand(raw, column.kind, (literal) => timestampOf(literal, column.kind, about, context), context);
    case 'date':
      return simpleOperand(raw, 'date', (literal) => dateOf(literal, about, context), context);
    case 'uuid':
      return simpleOperand(raw, 'uuid', (literal) => uuidOf(literal, about, context), context);
    case 'text':
      return textOperand(raw, about, context);
    case 'time':
    case 'other':
      return textOperand(context.dialect.asText(raw), about, context);
  }
}

/** Binds a value and returns the SQL of its placeholder. */
function bound(value: number | string | boolean, type: BoundType, { dialect, parameters }: OperandContext): string {
  parameters.push(value);
  return `CAST($${parameters.length} AS ${dialect.types[type]})`;
}

function boundInteger(value: number | bigint, context: OperandContext): string {
  if (typeof value === 'number') return bound(value, 'integer', context);
  return bound(String(value), 'wide', context);
}

function simpleOperand(
  sql: string,
  type: BoundType,
  read: (literal: Literal) => number | string | boolean,
  context: OperandContext,
): Operand {
  return {
    compare: (operator, literal) => `${sql} ${operator} ${bound(read(literal), type, context)}`,
    among: (literals) =>
      oneOf(
        sql,
        literals.map((literal) => bound(read(literal), type, context)),
      ),
  };
}

function oneOf(sql: string, values: readonly string[]): string {
  return values.length === 0 ? 'FALSE' : `${sql} IN (${values.join(', ')})`;
}

function textOperand(sql: string, about: string, context: OperandContext): Operand {
  const equality = simpleOperand(sql, 'text', (literal) => textOf(literal, about, context), context);
  const order = simpleOperand(
    context.dialect.byBytes(sql),
    'text',
    (literal) => textOf(literal, about, context),
    context,
  );
  return {
    compare: (operator, literal) =>
      (operator === '=' || operator === '<>' ? equality : order).compare(operator, literal),
    among: equality.among,
  };
}

/**
 * Returns an operand with integer values. A literal with a fraction equals none of them, and is
 * ordered between the two nearest integers.
 */
export function integerOperand(sql: string, about: string, context: OperandContext): Operand {
  return {
    compare: (operator, literal) => {
      const value = integralOf(numberOf(literal, about, context));
      if (value !== undefined) return `${sql} ${operator} ${boundInteger(value, context)}`;
      if (operator === '=') return 'FALSE';
      if (operator === '<>') return `${sql} IS NOT NULL`;
      const number = Number(literal.value);
      if (operator[0] === '<') return `${sql} <= ${boundInteger(integralOf(Math.floor(number))!, context)}`;
      return `${sql} >= ${boundInteger(integralOf(Math.ceil(number))!, context)}`;
    },
    among: (literals) => {
      const values = literals.map((literal) => integralOf(numberOf(literal, about, context)));
      const some = values.filter((value) => value !== undefined);
      return oneOf(
        sql,
        some.map((value) => boundInteger(value, context)),
      );
    },
  };
}

/**
 * Returns the exact integer, or undefined for a number with a fraction. A value beyond 128 bits
 * becomes 2^127 - 1 or its negative.
 */
function integralOf(value: number | bigint): number | bigint | undefined {
  if (typeof value === 'bigint') return value;
  if (!Number.isInteger(value)) return undefined;
  if (Number.isSafeInteger(value)) return value;
  const wide = BigInt(value);
  return wide > MAX_WIDE_INTEGER ? MAX_WIDE_INTEGER : wide < -MAX_WIDE_INTEGER ? -MAX_WIDE_INTEGER : wide;
}

/**
 * Returns an operand that compares exactly where possible. In PostgreSQL, the literal, as written,
 * is cast to `numeric`. In DuckDB, a column with scale 0 is compared as an integer. For other
 * columns, the literal is converted, as written, to the type of the column, or compared as a double
 * if that type cannot represent it.
 */
function decimalOperand(column: BackendColumn, raw: string, about: string, context: OperandContext): Operand {
  const { dialect } = context;
  if (dialect.name === 'postgres')
    return simpleOperand(raw, 'wide', (literal) => numberText(literal, about, context), context);
  if (/,\s*0\s*\)$/.test(column.type)) return integerOperand(`CAST(${raw} AS ${dialect.types.wide})`, about, context);
  const real = `CAST(${raw} AS ${dialect.types.real})`;
  const asReal = simpleOperand(real, 'real', (literal) => Number(numberOf(literal, about, context)), context);
  const exact = (literal: Literal) => decimalIn(column.type, numberText(literal, about, context), context);
  return {
    compare: (operator, literal) => {
      const value = exact(literal);
      return value === undefined ? asReal.compare(operator, literal) : `${raw} ${operator} ${value}`;
    },
    among: (literals) => `(${literals.map(exactOr).join(' OR ')})`,
  };

  function exactOr(literal: Literal): string {
    const value = exact(literal);
    return value === undefined ? asReal.compare('=', literal) : `${raw} = ${value}`;
  }
}

/** Binds a number as DuckDB's DECIMAL(p, s). Returns undefined if it has too many digits. */
function decimalIn(type: string, text: string, { parameters }: OperandContext): string | undefined {
  const [, precision, scale] = /^DECIMAL\((\d+),\s*(\d+)\)$/i.exec(type) ?? [];
  const [, whole, fraction = ''] = /^-?0*(\d*)(?:\.(\d*?)0*)?$/.exec(text) ?? [];
  if (precision === undefined || whole === undefined) return undefined;
  if (whole.length > Number(precision) - Number(scale) || fraction.length > Number(scale)) return undefined;
  parameters.push(text);
  return `CAST($${parameters.length} AS DECIMAL(${precision}, ${scale}))`;
}

/** Returns the number as written in the query, because a double may lose some of its digits. */
function numberText(literal: Literal, about: string, context: OperandContext): string {
  const value = numberOf(literal, about, context);
  const written = /^-?\s*(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?/i.exec(
    context.text.slice(literal.start, literal.start + 400),
  );
  return written === null ? String(value) : written[0].replaceAll(/\s/g, '');
}

/**
 * Returns an operand for the time of an edge in whole seconds. A literal is a number of seconds or
 * an ISO 8601 text, whose fraction of a second is cut off. Where possible, the column itself is
 * compared with a time, so that the backend can use its indexes and min/max statistics. `sql` is
 * the column, or the least time of a group.
 */
export function timeOperand(column: BackendColumn, sql: string, context: OperandContext): Operand {
  const about = 'event_ts is in whole seconds since 1970';
  const seconds = secondsSql(column, sql, context.dialect);
  const plain = integerOperand(seconds, about, context);
  const isTime = column.kind !== 'integer';
  const compare = (operator: Comparison, written: Literal) => {
    const literal = inSeconds(written, about, context);
    const value = numberOf(literal, about, context);
    const isNear = typeof value === 'number' && Number.isInteger(value) && value >= FIRST_SECOND && value < LAST_SECOND;
    if (!isTime || !isNear) return plain.compare(operator, literal);
    return column.kind === 'date'
      ? compareDays(sql, operator, value, context)
      : compareInstants(sql, column.kind === 'timestamptz', operator, value, context);
  };
  return { compare, among: (literals) => plain.among(literals.map((one) => inSeconds(one, about, context))) };
}

/** Converts a text to the seconds it denotes. Returns other literals unchanged. */
function inSeconds(literal: Literal, about: string, context: OperandContext): Literal {
  if (typeof literal.value !== 'string') return literal;
  const value = isoSeconds(literal.value);
  if (value !== undefined) return { ...literal, kind: 'integer', value };
  throw mismatch(literal, about, `${shown(literal.value)} ${timeProblem(literal.value)}`, context);
}

const DAY_SECONDS = 86_400;

/** Returns the SQL of an edge's time in seconds. `sql` is the same as in `timeOperand`. */
export function secondsSql({ kind }: BackendColumn, sql: string, dialect: SqlDialect): string {
  if (kind === 'integer') return sql;
  return kind === 'date' ? `${daysSqlWide(sql, dialect)} * ${DAY_SECONDS}` : dialect.seconds(sql);
}

/** Returns the SQL of a group's least finite time, in the type of the column. */
export function leastTimeSql(column: BackendColumn, dialect: SqlDialect): string {
  const sql = dialect.base(column);
  return column.kind === 'integer' ? `min(${sql})` : `min(${sql}) FILTER (WHERE isfinite(${sql}))`;
}

function daysSqlWide(sql: string, { types }: SqlDialect): string {
  return `CAST(${daysSql(sql)} AS ${types.integer})`;
}

function compareInstants(
  sql: string,
  hasZone: boolean,
  operator: Comparison,
  second: number,
  context: OperandContext,
): string {
  const at = (value: number) => bound(isoTimestamp(value, hasZone), hasZone ? 'timestamptz' : 'timestamp', context);
  switch (operator) {
    case '=':
      return `(${sql} >= ${at(second)} AND ${sql} < ${at(second + 1)})`;
    case '<>':
      return `(${sql} < ${at(second)} OR ${sql} >= ${at(second + 1)})`;
    case '<':
    case '>=':
      return `${sql} ${operator} ${at(second)}`;
    case '>':
      return `${sql} >= ${at(second + 1)}`;
    case '<=':
      return `${sql} < ${at(second + 1)}`;
  }
}

function compareDays(sql: string, operator: Comparison, second: number, context: OperandContext): string {
  const day = Math.floor(second / DAY_SECONDS);
  const isMidnight = day * DAY_SECONDS === second;
  const at = (value: number) => bound(isoDate(value), 'date', context);
  if (isMidnight) return `${sql} ${operator} ${at(day)}`;
  if (operator === '=') return 'FALSE';
  if (operator === '<>') return `${sql} IS NOT NULL`;
  return operator[0] === '<' ? `${sql} <= ${at(day)}` : `${sql} > ${at(day)}`;
}

// The functions below, except `mismatch`, return the value of a literal and throw
// `invalid_statement` if its type is wrong.

function mismatch(literal: Literal, about: string, advice: string, { text }: OperandContext): HedgerowError {
  return errorAt(text, literal.start, `${about}; ${advice}.`, undefined, 'invalid_statement');
}

function numberOf(literal: Literal, about: string, context: OperandContext): number | bigint {
  if (typeof literal.value === 'number' || typeof literal.value === 'bigint') return literal.value;
  throw mismatch(literal, about, 'compare it with a number, without quotes', context);
}

function booleanOf(literal: Literal, about: string, context: OperandContext): boolean {
  if (typeof literal.value === 'boolean') return literal.value;
  throw mismatch(literal, about, 'compare it with TRUE or FALSE', context);
}

function textOf(literal: Literal, about: string, context: OperandContext): string {
  if (typeof literal.value !== 'string') throw mismatch(literal, about, "compare it with a text in '..'", context);
  if (context.dialect.name === 'postgres' && literal.value.includes('\0'))
    throw mismatch(literal, 'the database holds no text with the character NUL', 'leave it out', context);
  return literal.value;
}

function timestampOf(literal: Literal, kind: BackendColumn['kind'], about: string, context: OperandContext): string {
  const found = typeof literal.value === 'string' ? instantOf(literal.value) : undefined;
  if (found === undefined)
    throw mismatch(literal, about, "compare it with a time such as '2024-05-31' or '2024-05-31T14:00:00Z'", context);
  return isoTimestamp(found.second, kind === 'timestamptz', found.micros);
}

function dateOf(literal: Literal, about: string, context: OperandContext): string {
  const isDate = typeof literal.value === 'string' && /^\d{4}-\d\d-\d\d$/.test(literal.value);
  if (isDate && instantOf(literal.value as string) !== undefined) return literal.value as string;
  throw mismatch(literal, about, "compare it with a date such as '2024-05-31'", context);
}

function uuidOf(literal: Literal, about: string, context: OperandContext): string {
  if (typeof literal.value === 'string' && UUID.test(literal.value)) return literal.value.toLowerCase();
  throw mismatch(literal, about, "compare it with a text such as '7d444840-9dc0-11d1-b245-5ffdce74fad2'", context);
}

const UUID = /^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$/i;
