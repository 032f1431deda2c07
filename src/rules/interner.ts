// Constants as small integers in the order of answers: comparing two numbers of a type is comparing two constants.

import { compareConstants, orderHolds } from './compare-values.ts';
import type { CompareOp, Constant } from './rule.ts';

/** Constants that one step of building takes: about a millisecond. */
const BUILD_CONSTANTS = 10_000;

export class Interner {
  /** By number: numbers ascending, then texts, then false and true. */
  readonly values: readonly Constant[];
  readonly #numbers: ReadonlyMap<Constant, number>;
  readonly #firstText: number;
  readonly #firstBoolean: number;

  private constructor(values: readonly Constant[], numbers: ReadonlyMap<Constant, number>) {
    this.values = values;
    this.#numbers = numbers;
    this.#firstText = countUntil(values, (value) => typeof value !== 'number');
    this.#firstBoolean = countUntil(values, (value) => typeof value === 'boolean');
  }

  /** `constants`: all there will ever be. */
  static *of(constants: ReadonlySet<Constant>): Generator<void, Interner, void> {
    const numbers: number[] = [];
    const others: Constant[] = [];
    for (const value of constants) {
      if (typeof value === 'number') numbers.push(value);
      else others.push(value);
    }
    yield;
    // Numbers of a typed array are sorted natively.
    const values: Constant[] = Array.from(Float64Array.from(numbers).sort());
    yield;
    for (const value of others.sort(compareConstants)) values.push(value);
    const numberOf = new Map<Constant, number>();
    for (let number = 0; number < values.length; number++) {
      numberOf.set(values[number]!, number);
      if (number % BUILD_CONSTANTS === BUILD_CONSTANTS - 1) yield;
    }
    return new Interner(values, numberOf);
  }

  get size(): number {
    return this.values.length;
  }

  /** -1: there is no such constant. */
  numberOf(value: Constant): number {
    return this.#numbers.get(value) ?? -1;
  }

  /** `compare-values.ts`, by numbers. */
  holds(left: number, op: CompareOp, right: number): boolean {
    return this.#typeOf(left) === this.#typeOf(right) && orderHolds(left - right, op);
  }

  #typeOf(number: number): number {
    return number < this.#firstText ? 0 : number < this.#firstBoolean ? 1 : 2;
  }
}

/** Values before the first one that fits; they are all before it. */
function countUntil(values: readonly Constant[], fits: (value: Constant) => boolean): number {
  const at = values.findIndex(fits);
  return at < 0 ? values.length : at;
}
