// Implements the documented operations on values, one value at a time: comparison, arithmetic and
// tests. Null means unknown.

export type Scalar = number | string | boolean | null;
export type NaiveValue = Scalar | readonly NaiveValue[] | { readonly [column: string]: NaiveValue };

/** Thrown for a statement that must be refused, with the code of the refusal. */
export class Refusal extends Error {
  readonly code: 'invalid_statement' | 'unknown_column' | 'table_not_found' | 'query_too_large';
  /**
   * Whether a row's value is refused rather than the statement itself. Whether such a value is
   * reached depends on the order of evaluation.
   */
  readonly byValue: boolean;

  constructor(code: Refusal['code'], message: string, byValue = false) {
    super(message);
    this.code = code;
    this.byValue = byValue;
  }
}

export function refuse(message: string): never {
  throw new Refusal('invalid_statement', message);
}

const MOST = BigInt(Number.MAX_SAFE_INTEGER);

function integer(value: bigint): number {
  if (value > MOST || value < -MOST) throw new Refusal('invalid_statement', `${value} is beyond 2^53-1`, true);
  return Number(value);
}

/** Computes with big integers, so that no result is rounded. */
export function computeIntegers(operator: string, a: number, b: number): number | null {
  const [x, y] = [BigInt(a), BigInt(b)];
  switch (operator) {
    case '+':
      return integer(x + y);
    case '-':
      return integer(x - y);
    case '*':
      return integer(x * y);
    case '/':
      return y === 0n ? null : integer(x / y);
    default:
      return y === 0n ? null : integer(x % y);
  }
}

export function computeReals(operator: string, a: number, b: number): number | null {
  if ((operator === '/' || operator === '%') && b === 0) return null;
  const result = { '+': a + b, '-': a - b, '*': a * b, '/': a / b, '%': a % b }[operator]!;
  if (!Number.isFinite(result)) throw new Refusal('invalid_statement', `${a} ${operator} ${b} is too large`, true);
  return result;
}

/**
 * Returns a negative number, 0 or a positive number, for two values that are not null. Texts
 * compare by code point; false is less than true.
 */
export function orderOf(a: NaiveValue, b: NaiveValue): number {
  if (typeof a === 'string' && typeof b === 'string') return orderOfTexts(a, b);
  if (typeof a === 'object' || typeof b === 'object') throw new Error('lists and rows have no order');
  const [x, y] = [Number(a), Number(b)];
  return x < y ? -1 : x > y ? 1 : 0;
}

function orderOfTexts(a: string, b: string): number {
  const [left, right] = [[...a], [...b]];
  for (let i = 0; i < Math.min(left.length, right.length); i++) {
    const difference = left[i]!.codePointAt(0)! - right[i]!.codePointAt(0)!;
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

export function compare(operator: string, a: NaiveValue, b: NaiveValue): boolean | null {
  if (a === null || b === null) return null;
  if (Array.isArray(a) && Array.isArray(b)) return sameSet(a, b) === (operator === '=');
  const order = orderOf(a, b);
  switch (operator) {
    case '=':
      return order === 0;
    case '<>':
      return order !== 0;
    case '<':
      return order < 0;
    case '<=':
      return order <= 0;
    case '>':
      return order > 0;
    default:
      return order >= 0;
  }
}

/** Compares members as sets: order and duplicates do not matter. */
function sameSet(a: readonly NaiveValue[], b: readonly NaiveValue[]): boolean {
  return a.every((item) => b.includes(item)) && b.every((item) => a.includes(item));
}

export function isIn(value: NaiveValue, items: readonly NaiveValue[]): boolean | null {
  if (items.length === 0) return false;
  return or(items.map((item) => compare('=', value, item)));
}

export function and(values: readonly NaiveValue[]): boolean | null {
  if (values.includes(false)) return false;
  return values.includes(null) ? null : true;
}

export function or(values: readonly NaiveValue[]): boolean | null {
  if (values.includes(true)) return true;
  return values.includes(null) ? null : false;
}

export function not(value: NaiveValue): boolean | null {
  return value === null ? null : !value;
}

export function textTest(operator: string, text: NaiveValue, part: NaiveValue): boolean | null {
  if (text === null || part === null) return null;
  const [whole, piece] = [text as string, part as string];
  if (operator === 'CONTAINS') return whole.indexOf(piece) >= 0;
  if (operator === 'STARTS WITH') return whole.slice(0, piece.length) === piece;
  return piece.length <= whole.length && whole.slice(whole.length - piece.length) === piece;
}

/** Returns a string that is equal for equal values. Null equals null, as in DISTINCT and groups. */
export function identity(value: NaiveValue): string {
  return JSON.stringify(value);
}

export function aggregate(name: string, isInteger: boolean, given: readonly NaiveValue[]): NaiveValue {
  const values = given.filter((value) => value !== null);
  switch (name) {
    case 'COUNT':
      return values.length;
    case 'COLLECT':
      return values;
    case 'SUM':
      return sum(values as number[], isInteger);
    case 'AVG':
      return values.length === 0 ? null : sum(values as number[], false)! / values.length;
    default: {
      const sign = name === 'MIN' ? -1 : 1;
      return values.reduce<NaiveValue>(
        (best, value) => (best === null || orderOf(value, best) * sign > 0 ? value : best),
        null,
      );
    }
  }
}

function sum(values: readonly number[], isInteger: boolean): number | null {
  if (values.length === 0) return null;
  if (isInteger) return integer(values.reduce((total, value) => total + BigInt(value), 0n));
  const total = values.reduce((sofar, value) => sofar + value, 0);
  if (!Number.isFinite(total)) throw new Refusal('invalid_statement', 'a sum is too large', true);
  return total;
}
