// Makes the people of the demo's town, household by household.

import { FIRST_DAY_TS, YEAR_SECONDS } from './calendar.ts';
import { PeopleNames } from './names.ts';
import type { Random } from './random.ts';

export interface Person {
  readonly name: string;
  /** In years, on the first day of the demo. */
  readonly age: number;
  /** From this time on the person may live in a home of the town: a child since its birth. */
  readonly settlesTs: number;
  readonly isAdult: boolean;
  /** What the person does; null for an adult without an occupation. */
  job: string | null;
  /** The name of the company or school. */
  work: string | null;
}

/** Those who live together, as indexes into the people of the town; adults first. */
export type Members = readonly number[];

/** Sizes of homes to choose from; each size is as frequent as in a mid-sized town. */
const HOME_SIZES: readonly [number, ...number[]] = [1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 4, 5];
const ADULTS_OF_A_HOME = 2;
const ADULT_AGE = 18;
export const RETIRED_AGE = 67;
const SHARE_WITH_ONE_NAME = 0.7;

export interface Population {
  readonly people: Person[];
  readonly households: Members[];
}

/** `count`: how many people. */
export function populate(count: number, random: Random): Population {
  const names = new PeopleNames(random);
  const people: Person[] = [];
  const households: Members[] = [];
  while (people.length < count) {
    const size = Math.min(random.pick(HOME_SIZES), count - people.length);
    households.push(Array.from({ length: size }, (_, index) => people.length + index));
    people.push(...household(size, names, random));
  }
  return { people, households };
}

function household(size: number, names: PeopleNames, random: Random): Person[] {
  const family = names.family();
  const hasChildren = size > ADULTS_OF_A_HOME;
  const first = hasChildren ? random.between(26, 56) : random.between(20, 88);
  const second = Math.min(88, Math.max(hasChildren ? 26 : 20, first + random.between(-6, 6)));
  const oldestChild = Math.min(17, Math.min(first, second) - 20);
  return Array.from({ length: size }, (_, index) => {
    const isAdult = index < ADULTS_OF_A_HOME;
    const age = isAdult ? [first, second][index]! : random.between(4, oldestChild);
    const isNamed = index !== 1 || random.chance(SHARE_WITH_ONE_NAME);
    const bornTs = FIRST_DAY_TS - Math.floor((age + random.next()) * YEAR_SECONDS);
    return {
      name: names.next(isNamed ? family : names.family()),
      age,
      settlesTs: isAdult ? bornTs + Math.ceil(ADULT_AGE * YEAR_SECONDS) : bornTs,
      isAdult,
      job: age >= RETIRED_AGE ? 'retired' : null,
      work: null,
    };
  });
}
