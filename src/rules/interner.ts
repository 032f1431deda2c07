// Assigns a number to each constant, in the order in which answers list constants. Two constants of
// the same type then compare as their assigned numbers do.

import { compareTexts } from '../model/text-order.ts';
import type { Steps } from '../schedule/steps.ts';
import { orderHolds } from './compare-values.ts';
import type { ConstantSet } from './constant-set.ts';
import type { CompareOp, Constant } from './rule.ts';
import { sorted, sortedNumbers } from './sort-values.ts';

/** Number of constants that one step of building handles. This takes about a millisecond. */
const BUILD_CONSTANTS = 10_000;
/** Matches the UTF-16 units whose order may differ from the order of code points. */
const UNORDERED = /[\ud800-\uffff]/;

export class Interner {
  /**
   * The constants by their assigned numbers: numbers in ascending order, then texts, then false and
   * true.
   */
  readonly values: readonly Constant[];
  readonly #constants: ConstantSet;
  readonly #firstText: number;
  readonly #firstBoolean: number;

  private constructor(values: readonly Constant[], constants: ConstantSet) {
    this.values = values;
    this.#constants = constants;
    this.#firstText = constants.numbers.length;
    this.#firstBoolean = this.#firstText + constants.texts.length;
  }

  /**
   * Assigns a number to each of `constants`, which must contain every constant of the evaluation.
   */
  static *of(constants: ConstantSet): Steps<Interner> {
    const values: Constant[] = yield* sortedNumbers(constants.numbers);
    for (const texts of [yield* sortedTexts(constants.texts), [...constants.booleans].sort()]) {
      for (const value of texts) {
        values.push(value);
        if (values.length % BUILD_CONSTANTS === 0) yield;
      }
    }
    for (let number = 0; number < values.length; number++) {
      constants.setNumber(values[number]!, number);
      if (number % BUILD_CONSTANTS === BUILD_CONSTANTS - 1) yield;
    }
    return new Interner(values, constants);
  }

  get size(): number {
    return this.values.length;
  }

  /** Returns the number assigned to a constant, or -1 if there is no such constant. */
  numberOf(value: Constant): number {
    return this.#constants.numberOf(value);
  }

  /**
   * Does the same as `holds` in compare-values.ts for two constants that are given by their
   * assigned numbers.
   */
  holds(left: number, op: CompareOp, right: number): boolean {
    return this.#typeOf(left) === this.#typeOf(right) && orderHolds(left - right, op);
  }

  #typeOf(number: number): number {
    return number < this.#firstText ? 0 : number < this.#firstBoolean ? 1 : 2;
  }
}

function* sortedTexts(texts: readonly string[]): Steps<readonly string[]> {
  let isPlain = true;
  for (let at = 0; isPlain && at < texts.length; at++) {
    isPlain = !UNORDERED.test(texts[at]!);
    if (at % BUILD_CONSTANTS === BUILD_CONSTANTS - 1) yield;
  }
  return yield* sorted(texts, isPlain ? compareUnits : compareTexts);
}

/** Compares two texts that differ, by UTF-16 units. */
function compareUnits(left: string, right: string): number {
  return left < right ? -1 : 1;
}
