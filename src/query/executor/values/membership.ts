// Evaluates IN: whether a value is in a list. If an item is null and the value is not found, the
// result is unknown.

import { WideMap } from '../../../engine/index.ts';
import { finish } from '../../../schedule/steps.ts';
import type { Value } from '../../binder/bound.ts';
import { NumberTable } from '../rows/number-table.ts';
import { compareValues, mapTexts } from './compare.ts';
import { constant, NULL_VECTOR, type Vector, valueAt } from './vector.ts';

/** Evaluates `IN [..]` with items that are computed for each row. */
export function isInVectors(operand: Vector, items: readonly Vector[], count: number): Vector {
  // `IN []` is false, even for null.
  if (items.length === 0) return constant(false);
  if (operand.kind === 'constant' && operand.value === null) return NULL_VECTOR;
  const values = new Uint8Array(count);
  const nulls = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const found = among(
      valueAt(operand, i),
      items.map((item) => valueAt(item, i)),
    );
    if (found === null) nulls[i] = 1;
    else values[i] = found ? 1 : 0;
  }
  return { kind: 'boolean', values, nulls };
}

function among(value: Value, items: readonly Value[]): boolean | null {
  if (value === null) return null;
  let unknown = false;
  for (const item of items) {
    if (item === null) unknown = true;
    else if (compareValues(value, item) === 0) return true;
  }
  return unknown ? null : false;
}

/**
 * Evaluates `IN` with a list of values. The lookup table of the list is cached for later batches.
 */
export function isInValues(operand: Vector, items: readonly Value[], count: number): Vector {
  if (items.length === 0) return constant(false);
  if (operand.kind === 'constant' && operand.value === null) return NULL_VECTOR;
  const { known, missIsUnknown } = factsOf(items);
  if (operand.kind === 'constant') {
    if (known.has(zeroed(operand.value))) return constant(true);
    return missIsUnknown ? NULL_VECTOR : constant(false);
  }
  const found = foundIn(operand, known, count);
  if (!missIsUnknown) return found;
  const nulls = new Uint8Array(count);
  for (let i = 0; i < count; i++) nulls[i] = (found.values[i]! ^ 1) | (found.nulls?.[i] ?? 0);
  return { ...found, nulls };
}

interface Known {
  has(value: Value): boolean;
}

interface ListFacts {
  readonly known: Known;
  /** True if one of the items is null. */
  readonly missIsUnknown: boolean;
}

const FACTS = new WeakMap<readonly Value[], ListFacts>();

function factsOf(items: readonly Value[]): ListFacts {
  return finish(gatherFacts(items));
}

/** The work of one step (some ms), in values. Eight characters of text count as one value. */
const WORK_A_STEP = 2_500;
const LETTERS_A_VALUE = 8;
/** Bytes of an item in the lookup table, in addition to the item itself. */
const BYTES_OF_ITEM = 56;

/**
 * Builds the lookup table of a list in steps, before `isInValues` needs it. Returns the number of
 * bytes that this adds to those held.
 */
export function* prepareList(items: readonly Value[]): Generator<null, number, void> {
  if (FACTS.has(items)) return 0;
  yield* gatherFacts(items);
  return items.length * BYTES_OF_ITEM;
}

/**
 * Builds the lookup table of a list. Numbers are not put into a Map: its hash function is public,
 * so a client could choose some hundred thousand numbers that collide, which would take minutes.
 */
function* gatherFacts(items: readonly Value[]): Generator<null, ListFacts, void> {
  let facts = FACTS.get(items);
  if (facts !== undefined) return facts;
  const first = items.find((item) => item !== null);
  const table = typeof first === 'number' ? new NumberTable() : undefined;
  const texts = new WideMap<Value, true>();
  let missIsUnknown = false;
  let work = 0;
  for (const item of items) {
    if (item === null) missIsUnknown = true;
    else if (table !== undefined) table.placeOf(item as number);
    else texts.set(zeroed(item), true);
    work += typeof item === 'string' ? 1 + item.length / LETTERS_A_VALUE : 1;
    if (work < WORK_A_STEP) continue;
    yield null;
    work = 0;
  }
  facts = { known: table === undefined ? texts : { has: (value) => table.find(value as number) >= 0 }, missIsUnknown };
  FACTS.set(items, facts);
  return facts;
}

/** Returns 0 for -0, so that both are the same key. */
function zeroed(value: Value): Value {
  return value === 0 ? 0 : value;
}

function foundIn(operand: Exclude<Vector, { kind: 'constant' }>, known: Known, count: number) {
  if (operand.kind === 'text') return mapTexts(operand, count, (text) => known.has(text));
  const values = new Uint8Array(count);
  if (operand.kind === 'number') {
    for (let i = 0; i < count; i++) values[i] = known.has(operand.values[i]!) ? 1 : 0;
    return { kind: 'boolean' as const, values, nulls: operand.nulls };
  }
  for (let i = 0; i < count; i++) values[i] = known.has(valueAt(operand, i)) ? 1 : 0;
  return { kind: 'boolean' as const, values, nulls: operand.kind === 'boolean' ? operand.nulls : undefined };
}
