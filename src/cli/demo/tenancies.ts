// Makes the tenancies of the demo: who lives in which home from when to when.
//
// Households arrive and move in order of time, each into a home that is vacant then. So a home has
// one household at a time, and each household lives in one home from its arrival on.

import { DAY_SECONDS, dayOf, FIRST_DAY_TS, HISTORY_TS, HOUR_SECONDS } from './calendar.ts';
import type { Members, Person, Population } from './people.ts';
import type { Random } from './random.ts';

export interface Tenancy {
  readonly fromTs: number;
  /** Null: the tenants still live there. */
  toTs: number | null;
  readonly tenants: Members;
  /** Index of the home, from 0. */
  readonly home: number;
}

/** A household that moves while the demo's people meet. */
export interface Move {
  readonly ts: number;
  readonly household: number;
  readonly from: number;
  readonly to: number;
}

export interface Tenancies {
  /** The tenancies of each household in order of time; the last one has no end. */
  readonly ofHousehold: readonly (readonly Tenancy[])[];
  /** In order of time, at least one. */
  readonly moves: readonly Move[];
  /** Number of homes, some of them vacant. */
  readonly homes: number;
}

/** The number of earlier moves of a household. */
const EARLIER_MOVES: readonly [number, ...number[]] = [0, 0, 0, 1, 1, 2];
const SHARE_VACANT = 0.04;
const LEAST_VACANT = 3;
const LEAST_MOVES = 2;
/** Share of the households that move in a year of the demo. */
const MOVES_A_YEAR = 0.12;
/** How often a household takes the home that was left last. */
const SHARE_TAKING_LAST = 0.5;

export function tenancies(population: Population, days: number, random: Random): Tenancies {
  const { people, households } = population;
  const homes = households.length + Math.max(LEAST_VACANT, Math.round(households.length * SHARE_VACANT));
  const vacant = random.shuffled(Array.from({ length: homes }, (_, home) => home));
  const ofHousehold = households.map((): Tenancy[] => []);
  const moves: Move[] = [];
  for (const { ts, household } of changes(population, days, random)) {
    const tenants = households[household]!.filter((person) => people[person]!.settlesTs <= ts);
    if (tenants.length === 0) continue;
    const before = ofHousehold[household]!.at(-1);
    if (before !== undefined && before.fromTs >= ts) continue;
    const takesLast = ts >= FIRST_DAY_TS && random.chance(SHARE_TAKING_LAST);
    const place = takesLast ? vacant.length - 1 : random.between(0, vacant.length - 1);
    const home = vacant[place]!;
    vacant[place] = vacant.at(-1)!;
    vacant.pop();
    if (before !== undefined) {
      before.toTs = ts;
      vacant.push(before.home);
      if (ts >= FIRST_DAY_TS) moves.push({ ts, household, from: before.home, to: home });
    }
    ofHousehold[household]!.push({ fromTs: ts, toTs: null, tenants, home });
  }
  return { ofHousehold, moves, homes };
}

interface Change {
  readonly ts: number;
  readonly household: number;
}

/** Returns when which household takes a home, in order of time. */
function changes({ people, households }: Population, days: number, random: Random): Change[] {
  const all: Change[] = [];
  households.forEach((members, household) => {
    for (const ts of arrivals(members, people, random)) all.push({ ts, household });
  });
  const count = Math.max(LEAST_MOVES, Math.round((households.length * MOVES_A_YEAR * days) / 365));
  for (let move = 0; move < count; move++) {
    const day = FIRST_DAY_TS + random.between(0, days - 1) * DAY_SECONDS;
    const ts = day + random.between(9, 16) * HOUR_SECONDS;
    all.push({ ts, household: random.between(0, households.length - 1) });
  }
  return all.sort((a, b) => a.ts - b.ts);
}

/** Returns the times, before the demo, at which the household takes a home. */
function arrivals(members: Members, people: readonly Person[], random: Random): number[] {
  const lastTs = FIRST_DAY_TS - DAY_SECONDS;
  const noon = (from: number) => dayOf(random.between(from, lastTs)) + 12 * HOUR_SECONDS;
  const times = Array.from({ length: random.pick(EARLIER_MOVES) + 1 }, () => noon(HISTORY_TS)).sort((a, b) => a - b);
  const settledTs = Math.max(...members.map((person) => people[person]!.settlesTs));
  // The whole household lives in the last of these homes.
  if (times.at(-1)! < settledTs) times[times.length - 1] = noon(settledTs + DAY_SECONDS);
  return times;
}

/** Returns the home of a household at a time after its arrival. */
export function homeAt(stays: readonly Tenancy[], ts: number): number {
  let at = stays.length - 1;
  while (at > 0 && stays[at]!.fromTs > ts) at--;
  return stays[at]!.home;
}
