// Assigns numbers to named nodes in the order in which they occur. The first number is 1, or
// follows the greatest number in the table of nodes.

export interface NewNode {
  readonly id: number;
  readonly name: string;
  readonly event_ts: number;
}

export class NodeNumbers {
  readonly #numbers: Map<string, number>;
  #next = 1;
  #added: NewNode[] = [];

  /** `numbers`: the names that already have a number. */
  constructor(numbers: ReadonlyMap<string, number>) {
    this.#numbers = new Map(numbers);
    for (const number of numbers.values()) if (number >= this.#next) this.#next = number + 1;
  }

  numberOf(name: string, event_ts: number): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    const id = this.#next++;
    this.#numbers.set(name, id);
    this.#added.push({ id, name, event_ts });
    return id;
  }

  /** Returns the names that are new since the last call. */
  take(): readonly NewNode[] {
    const added = this.#added;
    this.#added = [];
    return added;
  }
}
