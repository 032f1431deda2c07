// The nodes of node tables in the order of their keys, for lists of nodes.
//
// The order of a node table is a list of node numbers, 4 bytes a node. It is made when a list is
// first asked for, from the dictionary, and kept; nodes that are created later are merged into a
// new list when the next one is asked for. It holds the nodes of all states that readers may see:
// the key of a number never changes, and a deleted node stays in it at least as long as a snapshot
// may show it. So all pages of a list can use the newest order, and read the rows of their own
// snapshot: a node that the snapshot does not show is passed over. Once a part of an order is
// deleted nodes that no snapshot shows, they are left out of a new one.

import { HedgerowError } from '../../errors.ts';
import type { NodeKey } from '../../model/node-refs.ts';
import { compareTexts } from '../../model/text-order.ts';
import { inSlices, type Pauses, type Steps } from '../../schedule/steps.ts';
import type { NodeDirectory, NodeKind } from './node-directory.ts';
import { type SortMemory, sortedByKey } from './sort-keys.ts';

/** The order of a node table, in use by one reader. */
export interface KeyOrder {
  /** The numbers of its nodes by key; nodes with equal keys by number. Never modified. */
  readonly numbers: Uint32Array;
  /** Gives the order back; once. */
  release(): void;
}

/** Maximum number of new nodes that are merged; if there are more, all nodes are sorted. */
const MOST_NEW = 4096;
const SEARCHES_A_STEP = 64;
const COPIED_A_STEP = 2 ** 20;
const NUMBER_BYTES = 4;
/** Deleted nodes are left out if there are this many, and this share of the order. */
const MOST_DEAD = 1024;
const DEAD_SHARE = 1 / 4;
const CHECKED_A_STEP = 16_384;

interface State {
  order: KeptOrder | undefined;
  /** Nodes created since the order was begun; some may be in it. */
  born: number[];
  /** How many nodes in the order are deleted, about. */
  dead: number;
  /** While deleted nodes are left out: those that must stay. */
  seen: Set<number> | undefined;
  building: Promise<KeptOrder> | undefined;
  /** True once the node table is dropped. */
  isDropped: boolean;
}

/** A list whose memory is charged until it is replaced and nobody uses it. */
class KeptOrder {
  readonly numbers: Uint32Array;
  readonly #charge: (bytes: number) => void;
  #users = 0;
  #isKept = true;

  constructor(numbers: Uint32Array, charge: (bytes: number) => void) {
    this.numbers = numbers;
    this.#charge = charge;
    charge(this.#bytes);
  }

  get #bytes(): number {
    return NUMBER_BYTES * this.numbers.length;
  }

  use(): KeyOrder {
    if (this.#users++ === 0 && !this.#isKept) this.#charge(this.#bytes);
    let isReleased = false;
    return {
      numbers: this.numbers,
      release: () => {
        if (isReleased) return;
        isReleased = true;
        if (--this.#users === 0 && !this.#isKept) this.#charge(-this.#bytes);
      },
    };
  }

  replace(): void {
    this.#isKept = false;
    if (this.#users === 0) this.#charge(-this.#bytes);
  }
}

export interface KeyOrdersOptions {
  readonly directory: Pick<NodeDirectory, 'keys' | 'isDead' | 'deathsSeen' | 'countDeathsSeen'>;
  /** Charges memory to the budget of the database; negative to give it back. */
  readonly charge: (bytes: number) => void;
  /** Maximum memory in bytes that sorting may take. */
  readonly limitBytes: number;
}

export class KeyOrders {
  readonly #options: KeyOrdersOptions;
  /** By slot of the kind. */
  readonly #states = new Map<number, State>();
  #sortBytes = 0;
  /** Bytes charged at present. */
  #bytes = 0;

  constructor(options: KeyOrdersOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  readonly #charge = (bytes: number): void => {
    this.#bytes += bytes;
    this.#options.charge(bytes);
  };

  /**
   * Returns the order of the nodes of a kind, which contains all nodes that are visible now. About
   * two microseconds per node when it is made, in slices. Rejects with `overloaded`.
   */
  async of(kind: NodeKind, pauses: Pauses): Promise<KeyOrder> {
    const state = this.#stateOf(kind);
    // A build that has begun before may lack nodes.
    if (state.building !== undefined) await state.building.catch(() => undefined);
    if (state.order !== undefined && state.born.length === 0 && !this.#isStale(kind, state)) return state.order.use();
    state.building ??= inSlices(this.#renew(kind, state), pauses).finally(() => {
      state.building = undefined;
    });
    return (await state.building).use();
  }

  #stateOf({ slot }: NodeKind): State {
    let state = this.#states.get(slot);
    if (state === undefined) {
      state = { order: undefined, born: [], dead: 0, seen: undefined, building: undefined, isDropped: false };
      this.#states.set(slot, state);
    }
    return state;
  }

  /** Whether created nodes of a kind must be told. */
  isKept({ slot }: Pick<NodeKind, 'slot'>): boolean {
    return this.#states.has(slot);
  }

  /** Notes that a node was created. */
  born({ slot }: Pick<NodeKind, 'slot'>, number: number): void {
    const state = this.#states.get(slot);
    if (state === undefined) return;
    state.born.push(number);
    if (state.building !== undefined || state.born.length <= MOST_NEW) return;
    this.#forget(slot, state);
  }

  /** Notes that a node was deleted. */
  died({ slot }: Pick<NodeKind, 'slot'>, number: number): void {
    const state = this.#states.get(slot);
    if (state === undefined) return;
    state.dead++;
    state.seen?.add(number);
  }

  /** Whether a part of the order is deleted nodes that can be left out. */
  #isStale({ table }: NodeKind, { order, dead }: State): boolean {
    const least = Math.max(MOST_DEAD, DEAD_SHARE * (order?.numbers.length ?? 0));
    if (dead <= least) return false;
    const seen = this.#options.directory.countDeathsSeen(table);
    return seen !== undefined && dead - seen > least;
  }

  /** Forgets the order of a node table that was dropped. */
  forget({ slot }: Pick<NodeKind, 'slot'>): void {
    const state = this.#states.get(slot);
    if (state === undefined) return;
    state.isDropped = true;
    this.#forget(slot, state);
    this.#states.delete(slot);
  }

  #forget(slot: number, state: State): void {
    state.order?.replace();
    state.order = undefined;
    state.born = [];
    state.dead = 0;
    if (state.building === undefined) this.#states.delete(slot);
  }

  *#renew(kind: NodeKind, state: State): Steps<KeptOrder> {
    const { born, order } = state;
    const { keys } = this.#options.directory;
    state.born = [];
    try {
      const isMerged = order !== undefined && born.length <= MOST_NEW;
      const all = isMerged
        ? yield* merged(order.numbers, born, (number) => keys.keyOf(number)!)
        : yield* sortedByKey(keys, kind, this.#memory);
      const numbers = yield* this.#withoutUnseen(all, kind, state, isMerged);
      order?.replace();
      const renewed = new KeptOrder(numbers, this.#charge);
      if (state.isDropped) renewed.replace();
      else state.order = renewed;
      return renewed;
    } catch (error) {
      this.#forget(kind.slot, state);
      throw error;
    }
  }

  /**
   * Leaves deleted nodes out that no snapshot shows: of a merged order, only if they are many. What
   * is deleted meanwhile stays.
   */
  *#withoutUnseen(numbers: Uint32Array, kind: NodeKind, state: State, isMerged: boolean): Steps<Uint32Array> {
    const { directory } = this.#options;
    if (isMerged && !this.#isStale(kind, state)) return numbers;
    const bytes = NUMBER_BYTES * numbers.length;
    this.#memory.take(bytes);
    const seen = directory.deathsSeen(kind.table);
    state.seen = seen;
    state.dead = 0;
    try {
      const kept = new Uint32Array(numbers.length);
      let count = 0;
      let dead = 0;
      for (let from = 0; from < numbers.length; from += CHECKED_A_STEP) {
        for (const number of numbers.subarray(from, from + CHECKED_A_STEP)) {
          const isDead = directory.isDead(number);
          if (isDead && seen !== undefined && !seen.has(number)) continue;
          if (isDead) dead++;
          kept[count++] = number;
        }
        yield undefined;
      }
      state.dead += dead;
      return count === numbers.length ? numbers : kept.slice(0, count);
    } finally {
      state.seen = undefined;
      this.#memory.take(-bytes);
    }
  }

  readonly #memory: SortMemory = {
    take: (bytes) => {
      if (this.#sortBytes + bytes > this.#options.limitBytes)
        throw new HedgerowError(
          'overloaded',
          'Sorting the keys of the nodes takes more than its share of the memory budget. Raise the memory budget, or read the nodes with MATCH and without ORDER BY.',
          { fields: { settings: ['memoryBudgetMb'] } },
        );
      this.#sortBytes += bytes;
      this.#charge(bytes);
    },
  };
}

/** Compares nodes by key and then by number; all keys are of one kind. */
export function compareNodes(keyA: NodeKey, a: number, keyB: NodeKey, b: number): number {
  const order = typeof keyA === 'number' ? keyA - (keyB as number) : compareTexts(keyA, keyB as string);
  return order === 0 ? a - b : order;
}

/** Returns the place of the first number in an order that does not come before a node. */
export function placeIn(
  numbers: Uint32Array,
  key: NodeKey,
  number: number,
  keyOf: (number: number) => NodeKey,
): number {
  let from = 0;
  let to = numbers.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    const other = numbers[middle]!;
    if (compareNodes(keyOf(other), other, key, number) < 0) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Returns the order with more nodes in it, some of which may be in it already. */
function* merged(
  numbers: Uint32Array,
  born: readonly number[],
  keyOf: (number: number) => NodeKey,
): Steps<Uint32Array> {
  const found: { place: number; key: NodeKey; number: number }[] = [];
  for (const [index, number] of born.entries()) {
    const key = keyOf(number);
    const place = placeIn(numbers, key, number, keyOf);
    if (numbers[place] !== number) found.push({ place, key, number });
    if (index % SEARCHES_A_STEP === SEARCHES_A_STEP - 1) yield undefined;
  }
  found.sort((a, b) => a.place - b.place || compareNodes(a.key, a.number, b.key, b.number));
  const distinct = found.filter(({ number }, index) => number !== found[index - 1]?.number);
  const result = new Uint32Array(numbers.length + distinct.length);
  let from = 0;
  let copied = 0;
  for (const [index, { place, number }] of distinct.entries()) {
    for (; from < place; from = Math.min(place, from + COPIED_A_STEP)) {
      const some = numbers.subarray(from, Math.min(place, from + COPIED_A_STEP));
      result.set(some, from + index);
      copied += some.length;
      if (copied < COPIED_A_STEP) continue;
      copied = 0;
      yield undefined;
    }
    result[place + index] = number;
  }
  for (; from < numbers.length; from += COPIED_A_STEP) {
    result.set(numbers.subarray(from, Math.min(numbers.length, from + COPIED_A_STEP)), from + distinct.length);
    yield undefined;
  }
  return result;
}
