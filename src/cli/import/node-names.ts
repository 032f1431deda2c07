// Assigns numbers to named nodes in the order in which they occur. The first number is 1, or
// follows the greatest number in the table of nodes.

import { HedgerowError } from '../../errors.ts';
import { isTooLong, MAX_TEXT_BYTES } from '../../model/text.ts';
import type { NamedNode } from './line-batches.ts';

/** All names are held in memory, at about 100 bytes each. */
const MOST_NAMES = 20_000_000;

export class NodeNames {
  readonly #numbers: Map<string, number>;
  #next = 1;
  #added: NamedNode[] = [];

  /** `numbers`: the names that are known already; the map is extended. */
  constructor(numbers: Map<string, number> = new Map()) {
    this.#numbers = numbers;
    for (const number of numbers.values()) if (number >= this.#next) this.#next = number + 1;
  }

  /** Returns the number of a name, and assigns one to a new name. Throws `invalid_input`. */
  numberOf(name: string, event_ts: number): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    if (isTooLong(name))
      throw new HedgerowError('invalid_input', `The name of a node is longer than ${MAX_TEXT_BYTES} bytes.`);
    if (this.#numbers.size >= MOST_NAMES)
      throw new Error(`The input names more than ${MOST_NAMES} nodes. Give them numbers before the import.`);
    const id = this.#next++;
    // A copy, because a slice of a larger text would keep that whole text in memory.
    const own = Buffer.from(name).toString();
    this.#numbers.set(own, id);
    this.#added.push({ id, name: own, event_ts });
    return id;
  }

  /** Number of names that are new since the last `take`. */
  get waiting(): number {
    return this.#added.length;
  }

  /**
   * Keeps only the first `count` new names, because the row that contained the others is invalid.
   */
  forget(count: number): void {
    for (const { name } of this.#added.splice(count)) {
      this.#numbers.delete(name);
      this.#next--;
    }
  }

  /** Returns the names that are new since the last call. */
  take(): readonly NamedNode[] {
    const added = this.#added;
    this.#added = [];
    return added;
  }
}
