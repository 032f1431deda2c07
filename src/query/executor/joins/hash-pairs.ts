// Finds the pairs of an equality join (hash join).
//
// The build side is the right pattern. Each distinct value of a key gets an id 0, 1, 2, ...
// (`ValueIds`). The ids of several keys are combined pairwise into one id. Rows are then sorted by
// id (counting sort), so that the rows with id i are `rows[offsets[i]]` up to `rows[offsets[i +
// 1]]`, ascending. The keys of the probe side are looked up among these ids, some thousand
// combinations at a time. Nulls, and values that no build row has, have no id and match nothing.
//
// Example: right rows with keys a, b, a get ids 0, 1, 0, hence offsets 0, 2, 3 and rows 0, 2, 1. A
// left row with key a has id 0 and pairs with right rows 0 and 2.

import type { BoundExpression, ValueType } from '../../binder/bound.ts';
import type { QueryContext } from '../context.ts';
import { NumberTable } from '../rows/number-table.ts';
import { type Batch, consecutive } from '../rows/row-set.ts';
import { ABSENT, ValueIds } from '../rows/value-ids.ts';
import { type Building, CHUNK_PAIRS, type PairFinder, pairsFor } from './join-pairs.ts';

/** Maximum number of rows whose keys are evaluated at once. */
const KEYS_AT_ONCE = 4096;
/** Number of rows that are counted or placed in one step. */
const ROWS_A_STEP = 2 ** 16;
/**
 * Ids stay below this: tens of bytes are charged for each row, and a statement may hold at most 512
 * MB.
 */
const MOST_IDS = 2 ** 26;
/** Estimated size in bytes of a row of the build side. */
const BYTES_OF_ROW = 40;

export interface KeyLink {
  readonly left: BoundExpression;
  readonly right: BoundExpression;
}

/** The build side by key. Blocks of left rows are looked up in it one after another. */
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

/** Yields pairs with equal keys. Null is not equal to any value, not even to null. */
export function* hashPairs(
  links: readonly KeyLink[],
  left: Batch,
  { keys, rows: table }: HashTable,
  context: QueryContext,
): PairFinder {
  const lefts = links.map((link) => link.left);
  let pairs = pairsFor(0);
  for (const part of keyParts(left, context)) {
    const ids = yield* keys.find(lefts, part.batch);
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

/**
 * The rows with id i are `rows[offsets[i]]` up to `rows[offsets[i + 1]]`, exclusive, in ascending
 * order.
 */
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
  for (const { from, batch } of keyParts(right, context)) {
    ids.set(yield* keys.take(expressions, batch), from);
    yield null;
  }
  const offsets = new Uint32Array(keys.size + 1);
  for (let row = 0; row < ids.length; row++) {
    if (ids[row] !== ABSENT) offsets[ids[row]! + 1]!++;
    if (row % ROWS_A_STEP === 0) yield null;
  }
  for (let id = 0; id < keys.size; id++) {
    offsets[id + 1]! += offsets[id]!;
    if (id % ROWS_A_STEP === 0) yield null;
  }
  const rows = new Uint32Array(offsets[keys.size]!);
  const next = offsets.slice();
  for (let row = 0; row < ids.length; row++) {
    if (ids[row] !== ABSENT) rows[next[ids[row]!]!++] = row;
    if (row % ROWS_A_STEP === 0) yield null;
  }
  return { offsets, rows };
}

/** Yields a batch in parts whose keys are evaluated at once. */
export function* keyParts(batch: Batch, context: QueryContext): Generator<{ from: number; batch: Batch }, void, void> {
  for (let from = 0; from < batch.count; ) {
    const rows = Math.min(KEYS_AT_ONCE, context.rowsAtOnce(batch), batch.count - from);
    yield { from, batch: consecutive(batch, from, rows) };
    from += rows;
  }
}

/** Assigns ids 0, 1, 2, ... to combinations of key values. */
class KeyIds {
  readonly #context: QueryContext;
  readonly #ids: readonly ValueIds[];
  /** For every key but the first: ids of pairs (id of the previous keys, id of this key). */
  readonly #pairs: readonly NumberTable[];

  constructor(links: readonly KeyLink[], context: QueryContext) {
    this.#context = context;
    this.#ids = links.map(({ left, right }) => new ValueIds(commonType(left.type, right.type)));
    this.#pairs = links.slice(1).map(() => new NumberTable());
  }

  get size(): number {
    return this.#pairs[this.#pairs.length - 1]?.size ?? this.#ids[0]!.size;
  }

  /**
   * Returns the ids of build rows, and assigns an id to each new combination. The id is `ABSENT` if
   * a key is null.
   */
  take(expressions: readonly BoundExpression[], batch: Batch): Building<Int32Array> {
    return this.#idsOf(expressions, batch, true);
  }

  /**
   * Returns the ids of probe rows. The id is `ABSENT` if a key is null or no build row has the
   * combination.
   */
  find(expressions: readonly BoundExpression[], batch: Batch): Building<Int32Array> {
    return this.#idsOf(expressions, batch, false);
  }

  /**
   * Each key and each pair of keys is a step of its own, because the tables of several of them may
   * grow in the same batch.
   */
  *#idsOf(expressions: readonly BoundExpression[], batch: Batch, takes: boolean): Building<Int32Array> {
    let ids: Int32Array | undefined;
    for (const [index, expression] of expressions.entries()) {
      if (ids !== undefined) yield null;
      const vector = this.#context.transient(expression, batch);
      const values = this.#ids[index]!;
      const pairs = this.#pairs[index - 1];
      const bytes = values.bytes + (pairs?.bytes ?? 0);
      const own = values.knownIds(vector, batch.count, takes);
      if (ids === undefined) ids = own;
      else {
        yield null;
        join(ids, own, pairs!, takes);
      }
      this.#context.charge(values.bytes + (pairs?.bytes ?? 0) - bytes);
    }
    return ids!;
  }
}

/** Replaces each id in `left` by the id of the pair of this id and the one in `right`. */
function join(left: Int32Array, right: Int32Array, table: NumberTable, takes: boolean): void {
  for (let i = 0; i < left.length; i++) {
    if (left[i] === ABSENT || right[i] === ABSENT) left[i] = ABSENT;
    else {
      const pair = left[i]! * MOST_IDS + right[i]!;
      left[i] = takes ? table.placeOf(pair) : table.find(pair);
    }
  }
}

/** Returns the type in which two keys are compared. Integers and reals are compared as numbers. */
function commonType(left: ValueType, right: ValueType): ValueType {
  return left === 'null' ? right : left === 'integer' && right === 'real' ? right : left;
}
