// What the demo learns of its own meetings while it makes them.

import type { Meeting } from './meetings.ts';

export class DemoFacts {
  meetings = 0;
  /** Meetings by person. */
  readonly #counts: Uint32Array;
  /** Breakfasts by person: who has none lives alone. */
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

  /** Who met most often, of those who live with others; the least number among equals. */
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
