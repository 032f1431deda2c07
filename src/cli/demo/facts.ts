// Collects counts of the meetings while they are generated; the demo needs the counts later.

import type { Meeting } from './meetings.ts';

export class DemoFacts {
  meetings = 0;
  /** Number of meetings by person. */
  readonly #counts: Uint32Array;
  /** Number of breakfasts by person; a person without a breakfast is taken to live alone. */
  readonly #breakfasts: Uint32Array;

  constructor(people: number) {
    this.#counts = new Uint32Array(people + 1);
    this.#breakfasts = new Uint32Array(people + 1);
  }

  see({ members, formation }: Meeting): void {
    this.meetings++;
    for (const person of members) {
      this.#counts[person]!++;
      if (formation === 'breakfast') this.#breakfasts[person]!++;
    }
  }

  /**
   * Returns the person with the most meetings among those who live with others. Among equals,
   * returns the one with the lowest number.
   */
  get busiest(): number {
    let best = 1;
    for (let person = 2; person < this.#counts.length; person++) {
      if (this.#rank(person) > this.#rank(best)) best = person;
    }
    return best;
  }

  #rank(person: number): number {
    return this.#breakfasts[person] === 0 ? 0 : this.#counts[person]!;
  }
}
