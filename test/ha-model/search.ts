// Searches all states of a finite system breadth first, so that the first violation found has a
// shortest trace.
//
// A state is a fixed number of bytes. Visited states are kept whole, one after another in one
// array; a hash table holds their positions. Nothing is dropped on a collision of hashes, so the
// search is exhaustive and not merely probable. Each state knows the state it was first reached
// from, which gives the trace.
//
// Symmetric states (equal up to the names of processes and requests) are merged: only the normal
// form of a state is kept. The trace is made by taking the steps again from the initial state
// without renaming, and choosing at each point the step whose normal form is the next one.

import { assert } from '../../src/assert.ts';

/** Receives a step: the state after it, and a text in which {p} and {k} stand for names. */
export type Emit = (next: Uint8Array, text: string, process?: number, key?: number) => void;

export interface System {
  /** Size of a state, a multiple of 4. */
  readonly stateBytes: number;
  readonly initial: Uint8Array;
  /** Emits all steps from `state`. Each emitted state is a new array. */
  steps(state: Uint8Array, emit: Emit): void;
  /** Returns the representative of all states symmetric to `state`. Valid until the next call. */
  normalForm(state: Uint8Array): Uint8Array;
  /** Returns what is wrong with the state, or undefined. Called once per state. */
  violation(state: Uint8Array): string | undefined;
}

export interface Trace {
  steps: string[];
  states: Uint8Array[];
}

export interface SearchResult {
  /** Number of different states, with symmetric ones merged. */
  states: number;
  /** Number of steps taken, including those to known states. */
  transitions: number;
  /** Number of steps from the initial state to the last new state. */
  depth: number;
  /** Whether all states were visited: no violation, and no limit reached. */
  complete: boolean;
  violation?: { what: string; trace: Trace };
}

export interface SearchLimits {
  /** Default: no limit. */
  states?: number;
}

/** Visits all states, or those up to the first violation. `visited` receives the states. */
export function search(system: System, limits: SearchLimits = {}, visited = new VisitedStates(system)): SearchResult {
  const most = limits.states ?? Infinity;
  let transitions = 0;
  let depth = 0;
  visited.add(system.normalForm(system.initial), -1);
  let wrong = system.violation(visited.at(0));
  let checked = 1;
  let levelEnd = 1;
  for (let index = 0; wrong === undefined && index < visited.count && visited.count <= most; index++) {
    if (index === levelEnd) {
      levelEnd = visited.count;
      depth++;
    }
    system.steps(visited.at(index).slice(), (next) => {
      transitions++;
      visited.add(system.normalForm(next), index);
    });
    for (; wrong === undefined && checked < visited.count; checked++) wrong = system.violation(visited.at(checked));
  }
  const result = { states: visited.count, transitions, depth, complete: wrong === undefined && visited.count <= most };
  if (wrong === undefined) return result;
  return { ...result, violation: { what: wrong, trace: traceTo(system, visited, checked - 1) } };
}

/** States in the order in which they were found. */
export class VisitedStates {
  count = 0;
  readonly #words: number;
  #states: Int32Array;
  #parents: Int32Array;
  #hashes: Int32Array;
  /** Positions plus one; 0 where there is none. Its length is a power of two. */
  #table = new Int32Array(2 ** 12);

  constructor({ stateBytes }: Pick<System, 'stateBytes'>) {
    assert(stateBytes > 0 && stateBytes % 4 === 0, 'a state is a whole number of words');
    this.#words = stateBytes / 4;
    this.#states = new Int32Array(2 ** 10 * this.#words);
    this.#parents = new Int32Array(2 ** 10);
    this.#hashes = new Int32Array(2 ** 10);
  }

  /** Returns the state at `index`. Valid until the next `add`. */
  at(index: number): Uint8Array {
    assert(index < this.count, 'the state was visited');
    return new Uint8Array(this.#states.buffer, index * this.#words * 4, this.#words * 4);
  }

  parent(index: number): number {
    return this.#parents[index]!;
  }

  /** Returns the position of a state, or -1. */
  find(state: Uint8Array): number {
    const words = wordsOf(state);
    return this.#table[this.#slot(words, hashOf(words))]! - 1;
  }

  /** Adds a state unless it is known. */
  add(state: Uint8Array, parent: number): void {
    const words = wordsOf(state);
    const hash = hashOf(words);
    const slot = this.#slot(words, hash);
    if (this.#table[slot] !== 0) return;
    if (this.count === this.#parents.length) this.#grow();
    this.#states.set(words, this.count * this.#words);
    this.#parents[this.count] = parent;
    this.#hashes[this.count] = hash;
    this.#table[slot] = ++this.count;
    if (this.count * 2 > this.#table.length) this.#rehash();
  }

  /** Returns the slot of the state, or the free slot where it belongs. */
  #slot(words: Int32Array, hash: number): number {
    const mask = this.#table.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const index = this.#table[slot]! - 1;
      if (index < 0 || (this.#hashes[index] === hash && this.#equals(index, words))) return slot;
    }
  }

  #equals(index: number, words: Int32Array): boolean {
    const from = index * this.#words;
    for (let word = 0; word < this.#words; word++) if (this.#states[from + word] !== words[word]) return false;
    return true;
  }

  #grow(): void {
    const larger = (old: Int32Array) => {
      const grown = new Int32Array(old.length * 2);
      grown.set(old);
      return grown;
    };
    this.#states = larger(this.#states);
    this.#parents = larger(this.#parents);
    this.#hashes = larger(this.#hashes);
  }

  #rehash(): void {
    this.#table = new Int32Array(this.#table.length * 2);
    const mask = this.#table.length - 1;
    for (let index = 0; index < this.count; index++) {
      let slot = this.#hashes[index]! & mask;
      while (this.#table[slot] !== 0) slot = (slot + 1) & mask;
      this.#table[slot] = index + 1;
    }
  }
}

function wordsOf(state: Uint8Array): Int32Array {
  return new Int32Array(state.buffer, state.byteOffset, state.length / 4);
}

/** Hashes the words as MurmurHash3 does (32 bits). */
function hashOf(words: Int32Array): number {
  let hash = 0;
  for (let index = 0; index < words.length; index++) {
    const word = Math.imul(words[index]!, 0xcc9e2d51);
    hash ^= Math.imul((word << 15) | (word >>> 17), 0x1b873593);
    hash = (Math.imul((hash << 13) | (hash >>> 19), 5) + 0xe6546b64) | 0;
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}

/** Takes the steps to a visited state again, with the names that processes and requests have. */
function traceTo(system: System, visited: VisitedStates, last: number): Trace {
  const path: number[] = [];
  for (let index = last; index > 0; index = visited.parent(index)) path.unshift(index);
  const trace: Trace = { steps: [], states: [system.initial] };
  for (const index of path) {
    let taken: { text: string; next: Uint8Array } | undefined;
    system.steps(trace.states.at(-1)!.slice(), (next, text, process, key) => {
      if (taken === undefined && visited.find(system.normalForm(next)) === index)
        taken = { text: named(text, process, key), next };
    });
    assert(taken !== undefined, 'symmetric states have symmetric steps');
    trace.steps.push(taken.text);
    trace.states.push(taken.next);
  }
  return trace;
}

function named(text: string, process = 0, key = 0): string {
  return text.replaceAll('{p}', 'AB'[process]!).replaceAll('{q}', 'BA'[process]!).replaceAll('{k}', `request ${key}`);
}
