// Collects counts of the meetings while they are generated, and chooses the person and the homes
// that the demo's first questions are about.

import type { Meeting } from './meetings.ts';
import type { Move } from './tenancies.ts';
import type { Town } from './town.ts';

/** What the first questions are about, mostly somebody who moved to another home. */
export interface Subject {
  readonly person: string;
  /** Who has the most meetings. */
  readonly busiest: string;
  readonly movedTs: number;
  /** Names of homes. */
  readonly oldHome: string;
  readonly newHome: string;
}

export class DemoFacts {
  meetings = 0;
  /** Number of meetings by person. */
  readonly #counts: Uint32Array;
  /** Number of breakfasts by person; a person without a breakfast is taken to live alone. */
  readonly #breakfasts: Uint32Array;

  constructor(people: number) {
    this.#counts = new Uint32Array(people);
    this.#breakfasts = new Uint32Array(people);
  }

  see({ parts, formation }: Meeting): void {
    this.meetings++;
    for (const { people } of parts) {
      for (const person of people) {
        this.#counts[person]!++;
        if (formation === 'breakfast') this.#breakfasts[person]!++;
      }
    }
  }

  /**
   * Returns, of the adults who moved once, one whose old home has new tenants, who is no teacher
   * (in a class all day) and does not live alone, if there is one; of several, the one with the
   * most meetings.
   */
  subject({ people, households, places, tenancies: { moves } }: Town): Subject {
    const movesOf = new Map<number, number>();
    const letUntil = new Map<number, number>();
    for (const { household, to, ts } of moves) {
      movesOf.set(household, (movesOf.get(household) ?? 0) + 1);
      letUntil.set(to, ts);
    }
    let best: { move: Move; person: number; rank: number } | undefined;
    for (const move of moves) {
      const wishes = [movesOf.get(move.household) === 1, (letUntil.get(move.from) ?? -Infinity) >= move.ts];
      for (const person of households[move.household]!) {
        if (!people[person]!.isAdult) continue;
        const rank = this.#rank(person, [...wishes, people[person]!.job !== 'teacher']);
        if (best === undefined || rank > best.rank) best = { move, person, rank };
      }
    }
    const { move, person } = best!;
    return {
      person: people[person]!.name,
      busiest: people[this.#busiest()]!.name,
      movedTs: move.ts,
      oldHome: places[move.from]!.name,
      newHome: places[move.to]!.name,
    };
  }

  /** Among equals, returns the first. */
  #busiest(): number {
    return this.#counts.reduce((best, count, person) => (count > this.#counts[best]! ? person : best), 0);
  }

  /** Each wish weighs more than all later ones and the number of meetings. */
  #rank(person: number, wishes: readonly boolean[]): number {
    const met = [...wishes, this.#breakfasts[person]! > 0].reduce((rank, isMet) => rank * 2 + (isMet ? 1 : 0), 0);
    return met * 2 ** 32 + this.#counts[person]!;
  }
}
