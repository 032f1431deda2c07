// Finds the pairs of an equality join: rows on the right by the value of their keys, looked up for every combination on the left, some thousand at a time.

import type { BoundExpression, ValueType } from '../../binder/bound.ts';
import type { QueryContext } from '../context.ts';
import { NumberTable } from '../rows/number-table.ts';
import { type Batch, selectFrom } from '../rows/row-set.ts';
import { ABSENT, ValueIds } from '../rows/value-ids.ts';
import { type Building, CHUNK_PAIRS, type PairFinder, pairsFor } from './join-pairs.ts';

/** Keys of so many rows are worked out at once. */
const KEYS_AT_ONCE = 8192;
/** Ids stay below it: each row has been paid for with tens of bytes. */
const MOST_IDS = 2 ** 26;
/** What a row on the right takes here, about. */
const BYTES_OF_ROW = 40;

export interface KeyLink {
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

/** Rows on the right by their keys; blocks of the left are looked up one after the other. */
export interface HashTable {
  readonly keys: KeyIds;
  readonly rows: RowsById;
}

export function* hashTable(links: readonly KeyLink[], right: Batch, context: QueryContext): Building<HashTable> {
  context.charge(right.count * BYTES_OF_ROW);
  const keys = new KeyIds(links, context);
  const rights = links.map((link) => link.right);
  return { keys, rows: yield* rowsById(keys, rights, right, context) };
}

/** Null keys equal nothing. */
export function* hashPairs(
  links: readonly KeyLink[],
  left: Batch,
  { keys, rows: table }: HashTable,
  context: QueryContext,
): PairFinder {
  const lefts = links.map((link) => link.left);
  let pairs = pairsFor(0);
  for (const part of parts(left, context)) {
    const ids = keys.find(lefts, part.batch);
    for (let i = 0; i < ids.length; i++) {
      if (ids[i] === ABSENT) continue;
      const end = table.offsets[ids[i]! + 1]!;
      for (let at = table.offsets[ids[i]!]!; at < end; at++) {
        if (pairs.count === pairs.left.length) pairs = pairsFor(pairs.count + 1, pairs);
        pairs.left[pairs.count] = part.from + i;
        pairs.right[pairs.count++] = table.rows[at]!;
        if (pairs.count < CHUNK_PAIRS) continue;
        yield pairs;
        pairs = pairsFor(0);
      }
    }
    yield null;
  }
  if (pairs.count > 0) yield pairs;
}

/** Rows of id i: `rows[offsets[i]]` up to `rows[offsets[i + 1]]`, ascending. */
interface RowsById {
  readonly offsets: Uint32Array;
  readonly rows: Uint32Array;
}

function* rowsById(
  keys: KeyIds,
  expressions: readonly BoundExpression[],
  right: Batch,
  context: QueryContext,
): Building<RowsById> {
  const ids = new Int32Array(right.count);
  for (const { from, batch } of parts(right, context)) {
    ids.set(keys.take(expressions, batch), from);
    yield null;
  }
  const offsets = new Uint32Array(keys.size + 1);
  for (let row = 0; row < ids.length; row++) if (ids[row] !== ABSENT) offsets[ids[row]! + 1]!++;
  yield null;
  for (let id = 0; id < keys.size; id++) offsets[id + 1]! += offsets[id]!;
  yield null;
  const rows = new Uint32Array(offsets[keys.size]!);
  const next = offsets.slice();
  for (let row = 0; row < ids.length; row++) {
    if (ids[row] !== ABSENT) rows[next[ids[row]!]!++] = row;
    if (row % (16 * KEYS_AT_ONCE) === 0) yield null;
  }
  return { offsets, rows };
}

function* parts(batch: Batch, context: QueryContext): Generator<{ from: number; batch: Batch }, void, void> {
  const rows = Math.min(KEYS_AT_ONCE, context.rowsAtOnce(batch));
  for (let from = 0; from < batch.count; from += rows) {
    const places = Uint32Array.from({ length: Math.min(rows, batch.count - from) }, (_, place) => from + place);
    yield { from, batch: selectFrom(batch, places) };
  }
}

/** Numbers 0, 1, 2, ... for the values of some keys together. */
class KeyIds {
  readonly #context: QueryContext;
  readonly #ids: readonly ValueIds[];
  /** Of every key but the first: pairs of what the keys before come to and an id. */
  readonly #pairs: readonly NumberTable[];

  constructor(links: readonly KeyLink[], context: QueryContext) {
    this.#context = context;
    this.#ids = links.map(({ left, right }) => new ValueIds(commonType(left.type, right.type)));
    this.#pairs = links.slice(1).map(() => new NumberTable());
  }

  get size(): number {
    return this.#pairs[this.#pairs.length - 1]?.size ?? this.#ids[0]!.size;
  }

  /** Of rows that are put into the table; ABSENT where a key is null. */
  take(expressions: readonly BoundExpression[], batch: Batch): Int32Array {
    return this.#idsOf(expressions, batch, true);
  }

  /** Of rows that are looked up; ABSENT where a key is null, or none of the table has it. */
  find(expressions: readonly BoundExpression[], batch: Batch): Int32Array {
    return this.#idsOf(expressions, batch, false);
  }

  #idsOf(expressions: readonly BoundExpression[], batch: Batch, takes: boolean): Int32Array {
    let ids: Int32Array | undefined;
    for (const [index, expression] of expressions.entries()) {
      const vector = this.#context.transient(expression, batch);
      const values = this.#ids[index]!;
      const pairs = this.#pairs[index - 1];
      const bytes = values.bytes + (pairs?.bytes ?? 0);
      const own = values.knownIds(vector, batch.count, takes);
      if (ids === undefined) ids = own;
      else join(ids, own, pairs!, takes);
      this.#context.charge(values.bytes + (pairs?.bytes ?? 0) - bytes);
    }
    return ids!;
  }
}

/** What both come to, in `left`. */
function join(left: Int32Array, right: Int32Array, table: NumberTable, takes: boolean): void {
  for (let i = 0; i < left.length; i++) {
    if (left[i] === ABSENT || right[i] === ABSENT) left[i] = ABSENT;
    else {
      const pair = left[i]! * MOST_IDS + right[i]!;
      left[i] = takes ? table.placeOf(pair) : table.find(pair);
    }
  }
}

/** Integers and reals are compared as numbers. */
function commonType(left: ValueType, right: ValueType): ValueType {
  return left === 'null' ? right : left === 'integer' && right === 'real' ? right : left;
}
