// Computes the member ids of a group: its distinct values, sorted, as texts.
//
// A group may contain some hundred thousand values. Such a list is sorted in steps before the edge
// is written, so that other work can run in between. The list is cut into parts, each part is
// sorted, and then neighbouring parts are merged until one part is left.

import { compareTexts } from '../../model/text-order.ts';
import { finish, inSlices, type Pauses, type Steps } from '../../schedule/steps.ts';
import type { ColumnKind, SqlValue } from '../backend.ts';
import { idText, integerOf, plainDecimal, strange } from './values.ts';

type Item = string | number | bigint;

/** Number of values that are sorted, merged or written in one step. */
const VALUES_A_STEP = 4096;

/** The ids of lists that were too long for one step. */
const PREPARED = new WeakMap<object, readonly string[]>();

/**
 * Returns the distinct member ids of a group in ascending order. Numbers and times are ordered by
 * value, texts by code point. Throws `hydration_failed`.
 */
export function listIds(value: SqlValue, kind: ColumnKind, name: string): readonly string[] {
  if (value === null) return [];
  return (typeof value === 'object' ? PREPARED.get(value) : undefined) ?? finish(sortedIds(value, kind, name));
}

export function isLongList(value: SqlValue): value is Extract<SqlValue, readonly unknown[]> {
  return Array.isArray(value) && value.length > VALUES_A_STEP;
}

/**
 * Computes the ids of a long list in steps, so that `listIds` need not compute them. Rejects like
 * `listIds`.
 */
export async function prepareIds(
  value: Extract<SqlValue, readonly unknown[]>,
  kind: ColumnKind,
  name: string,
  pauses: Pauses,
): Promise<void> {
  PREPARED.set(value, await inSlices(sortedIds(value, kind, name), pauses));
}

function* sortedIds(value: SqlValue, kind: ColumnKind, name: string): Steps<string[]> {
  if (!Array.isArray(value)) throw strange(name, 'something that is not a list');
  const isInteger = kind === 'integer' || kind === 'timestamp' || kind === 'timestamptz' || kind === 'date';
  const items: Item[] = [];
  for (let index = 0; index < value.length; index++) {
    const item = value[index] as string | number | null;
    if (item !== null) items.push(isInteger ? exactInteger(item, name) : item);
    if (index % VALUES_A_STEP === VALUES_A_STEP - 1) yield undefined;
  }
  const sorted = yield* sortInSteps(items, orderOf(kind, isInteger));
  const ids: string[] = [];
  // Reals and decimals that compare as equal may have different texts, which may alternate. Other
  // equal ids follow each other.
  const seen = kind === 'real' || kind === 'decimal' ? new Set<string>() : undefined;
  let last: string | undefined;
  for (let index = 0; index < sorted.length; index++) {
    const id = idText(sorted[index] as SqlValue, kind, name)!;
    if (id !== last && seen?.has(id) !== true) {
      ids.push(id);
      seen?.add(id);
    }
    last = id;
    if (index % VALUES_A_STEP === VALUES_A_STEP - 1) yield undefined;
  }
  return ids;
}

const INTEGER = /^-?\d+$/;

/** Returns a bigint only if a number would not be exact, because bigints sort more slowly. */
function exactInteger(item: string | number, name: string): number | bigint {
  if (Number.isSafeInteger(item)) return item as number;
  return integerOf(INTEGER.test(String(item)) ? BigInt(item) : item, name);
}

type Order = (a: Item, b: Item) => number;

function orderOf(kind: ColumnKind, isInteger: boolean): Order {
  if (isInteger) return (a, b) => (a < b ? -1 : a > b ? 1 : 0);
  if (kind === 'real') return (a, b) => compareReals(Number(a), Number(b));
  if (kind !== 'decimal') return (a, b) => compareTexts(String(a), String(b));
  return (a, b) => compareReals(Number(a), Number(b)) || (plainDecimal(String(a)) < plainDecimal(String(b)) ? -1 : 1);
}

/** Orders real numbers. NaN is the greatest, as in the databases. */
function compareReals(a: number, b: number): number {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
  return a < b ? -1 : a > b ? 1 : 0;
}

/** Sorts by merging, so that equal items keep their order. */
function* sortInSteps(items: readonly Item[], order: Order): Steps<readonly Item[]> {
  let from: Item[] = [];
  for (let start = 0; start < items.length; start += VALUES_A_STEP) {
    for (const item of items.slice(start, start + VALUES_A_STEP).sort(order)) from.push(item);
    yield undefined;
  }
  for (let width = VALUES_A_STEP; width < from.length; width *= 2) {
    const into: Item[] = [];
    for (let start = 0; start < from.length; start += 2 * width)
      yield* merge(from, { start, middle: start + width, end: start + 2 * width }, into, order);
    from = into;
  }
  return from;
}

/** Merges two neighbouring sorted parts and appends the result to `into`. */
function* merge(
  from: readonly Item[],
  { start, middle, end }: { start: number; middle: number; end: number },
  into: Item[],
  order: Order,
): Steps<void> {
  const [leftEnd, rightEnd] = [Math.min(middle, from.length), Math.min(end, from.length)];
  let left = start;
  let right = leftEnd;
  while (left < leftEnd || right < rightEnd) {
    const isLeft = right >= rightEnd || (left < leftEnd && order(from[left]!, from[right]!) <= 0);
    into.push(from[isLeft ? left++ : right++]!);
    if (into.length % VALUES_A_STEP === 0) yield undefined;
  }
}
