// Generates the meetings in the demo's town over some days, in order of time.

import { DAY_SECONDS, FIRST_DAY_TS, HOUR_SECONDS } from './calendar.ts';
import type { Random } from './random.ts';
import { homeAt } from './tenancies.ts';
import type { Town } from './town.ts';

/** The roles of meetings. Those who breakfast or have lunch together have none. */
export const MEETING_ROLES = ['host', 'guest', 'teacher', 'pupil'] as const;
type Role = (typeof MEETING_ROLES)[number];

/** Some of the members of a meeting, as indexes into the people of the town. */
export interface Part {
  readonly role: Role | null;
  readonly people: readonly number[];
}

export interface Meeting {
  /** Start of the meeting, in epoch seconds. */
  readonly event_ts: number;
  /** 2 to 12 people in total, each once; each part has somebody. */
  readonly parts: readonly Part[];
  /** Duration in minutes. */
  readonly weight: number;
  readonly mean_dist_m: number;
  readonly formation: string;
  /** Name of the place; null if it is none of the town's places. */
  readonly place: string | null;
}

const MOST_MEMBERS = 12;
const FRIDAY = 4;
const SATURDAY = 5;
/** How often friends are invited to a dinner. */
const SHARE_OF_INVITATIONS = 0.08;
const MOST_INVITED = 8;

/** Yields all meetings; only those of one day are in memory at a time. */
export function* meetings(town: Town, days: number, random: Random): Generator<Meeting> {
  let nextMove = 0;
  const { moves } = town.tenancies;
  for (let day = 0; day < days; day++) {
    const midnightTs = FIRST_DAY_TS + day * DAY_SECONDS;
    const diary = new Diary(town, midnightTs, random);
    const weekday = day % 7;
    if (weekday < SATURDAY) workday(diary, weekday);
    else weekend(diary);
    for (; nextMove < moves.length && moves[nextMove]!.ts < midnightTs + DAY_SECONDS; nextMove++)
      diary.housewarming(moves[nextMove]!.household);
    yield* diary.inOrder();
  }
}

/** Where a meeting is: a place, the home of a household at that time, or none of them. */
type Where = { readonly place: string } | { readonly household: number } | undefined;

interface When {
  /** The meeting begins at a random time between these hours. */
  readonly hours: readonly [number, number];
  readonly minutes: readonly [number, number];
}

/** Collects the meetings of one day. */
class Diary {
  readonly town: Town;
  readonly random: Random;
  readonly #midnightTs: number;
  readonly #meetings: Meeting[] = [];

  constructor(town: Town, midnightTs: number, random: Random) {
    this.town = town;
    this.#midnightTs = midnightTs;
    this.random = random;
  }

  /** Adds a meeting of people without roles. */
  add(formation: string, people: readonly number[], where: Where, when: When): void {
    this.addParts(formation, [{ role: null, people }], where, when);
  }

  /**
   * Adds a meeting. Who is in several parts is kept in the first of them only. Does nothing for
   * fewer than two people, or if a part has nobody.
   */
  addParts(formation: string, given: readonly Part[], where: Where, { hours, minutes }: When): void {
    const seen = new Set<number>();
    const parts = given.map(({ role, people }) => ({ role, people: people.filter((person) => isNew(person, seen)) }));
    if (seen.size < 2 || parts.some(({ people }) => people.length === 0)) return;
    const { random } = this;
    const start = random.between(hours[0] * HOUR_SECONDS, hours[1] * HOUR_SECONDS - 1);
    const event_ts = this.#midnightTs + start;
    this.#meetings.push({
      event_ts,
      parts,
      weight: random.between(...minutes),
      // The more people meet, the further apart they are.
      mean_dist_m: Math.round((0.5 + 0.15 * seen.size + random.next()) * 100) / 100,
      formation,
      place: this.#placeOf(where, event_ts),
    });
  }

  /** The evening of the day of a move: the household invites friends to its new home. */
  housewarming(household: number): void {
    const { town, random } = this;
    const hosts = town.households[household]!;
    const friends = [...new Set(hosts.flatMap((person) => town.friends[person]!))];
    const others = friends.filter((person) => !hosts.includes(person));
    // Who has no friends invites the next person of the town.
    const guests = others.length === 0 ? [(hosts.at(-1)! + 1) % town.people.length] : others;
    const parts: Part[] = [
      { role: 'host', people: hosts },
      { role: 'guest', people: random.sample(guests, random.between(3, MOST_INVITED)) },
    ];
    this.addParts('housewarming', parts, { household }, { hours: [18, 21], minutes: [90, 240] });
  }

  #placeOf(where: Where, ts: number): string | null {
    if (where === undefined) return null;
    if ('place' in where) return where.place;
    const { tenancies, places } = this.town;
    return places[homeAt(tenancies.ofHousehold[where.household]!, ts)]!.name;
  }

  /**
   * Returns the meetings by time; those at the same time stay in the order in which they were
   * added.
   */
  inOrder(): Meeting[] {
    return this.#meetings.sort((a, b) => a.event_ts - b.event_ts);
  }
}

/** Returns whether the person is to be added; adds it to `seen`. */
function isNew(person: number, seen: Set<number>): boolean {
  if (seen.has(person) || seen.size === MOST_MEMBERS) return false;
  seen.add(person);
  return true;
}

function workday(diary: Diary, weekday: number): void {
  const { town, random } = diary;
  atHome(diary, 'breakfast', [0.28, 0.85], { hours: [6, 8], minutes: [10, 30] });
  atHome(diary, 'dinner', [0.55, 0.9], { hours: [18, 20], minutes: [25, 70] });
  lessons(diary);
  for (const team of town.teams) {
    for (let count = random.between(1, 3); count > 0; count--) {
      const hours: [number, number] = random.chance(0.5) ? [9, 12] : [13, 17];
      const colleagues = random.sample(team.people, random.between(2, team.people.length));
      const visitor = random.chance(0.15) ? random.pick(team.site.staff) : undefined;
      const where = { place: team.site.place.name };
      if (visitor === undefined || colleagues.includes(visitor))
        diary.add('office', colleagues, where, { hours, minutes: [10, 60] });
      else diary.addParts('office', visit(colleagues, visitor), where, { hours, minutes: [10, 60] });
    }
  }
  for (const { place, people } of town.sites) lunches(people, place.name, diary);
  for (const { members, name, evening, hall } of town.clubs) {
    const when: When = { hours: [18, 21], minutes: [60, 150] };
    if (evening === weekday) groupsOf(present(members, 0.8, random), diary, name, hall.name, when);
  }
  outWithFriends(diary, weekday === FRIDAY ? 0.06 : 0.02, [18, 23]);
}

function weekend(diary: Diary): void {
  const { town, random } = diary;
  atHome(diary, 'breakfast', [0.5, 0.95], { hours: [8, 11], minutes: [20, 60] });
  town.households.forEach((members) => {
    if (random.chance(0.35))
      diary.add('outing', present(members, 0.9, random), undefined, { hours: [11, 17], minutes: [60, 240] });
  });
  atHome(diary, 'dinner', [0.6, 0.9], { hours: [18, 21], minutes: [40, 120] });
  for (const { members, name, hall } of town.clubs) {
    const when: When = { hours: [10, 18], minutes: [60, 150] };
    if (random.chance(0.2)) groupsOf(present(members, 0.7, random), diary, name, hall.name, when);
  }
  outWithFriends(diary, 0.1, [13, 24]);
}

/** `chances`: that a household meets, and that each of it is there. */
function atHome(diary: Diary, formation: string, [meets, isThere]: readonly [number, number], when: When): void {
  const { town, random } = diary;
  town.households.forEach((members, household) => {
    if (!random.chance(meets)) return;
    const people = present(members, isThere, random);
    const guests =
      formation === 'dinner' && people.length > 0 && random.chance(SHARE_OF_INVITATIONS)
        ? invited(town.friends[people[0]!]!, members, random)
        : [];
    if (guests.length > 0) diary.addParts(formation, invitation(people, guests), { household }, when);
    else diary.add(formation, people, { household }, when);
  });
}

function invited(friends: readonly number[], household: readonly number[], random: Random): number[] {
  const others = friends.filter((person) => !household.includes(person));
  return random.sample(others, random.between(1, 3));
}

function invitation(hosts: readonly number[], guests: readonly number[]): Part[] {
  return [
    { role: 'host', people: hosts },
    { role: 'guest', people: guests },
  ];
}

function visit(colleagues: readonly number[], visitor: number): Part[] {
  // One place is kept for the visitor.
  return invitation(colleagues.slice(0, MOST_MEMBERS - 1), [visitor]);
}

function lessons(diary: Diary): void {
  const { town, random } = diary;
  for (const { pupils, teachers, school } of town.classes) {
    for (let lesson = 0; lesson < 6; lesson++) {
      const when: When = { hours: [8 + lesson, 9 + lesson], minutes: [20, 45] };
      const learning: Part = { role: 'pupil', people: random.sample(pupils, random.between(3, 8)) };
      const teaching = teachers.length === 0 ? [] : [{ role: 'teacher' as const, people: [random.pick(teachers)] }];
      diary.addParts('class', [...teaching, learning], { place: school.name }, when);
    }
  }
}

function lunches(people: readonly number[], place: string, diary: Diary): void {
  const { random } = diary;
  const eating = random.shuffled(people).filter(() => random.chance(0.58));
  for (let at = 0; at < eating.length; ) {
    const size = random.between(2, 6);
    diary.add('lunch', eating.slice(at, at + size), { place }, { hours: [12, 13.5], minutes: [15, 50] });
    at += size;
  }
}

function groupsOf(people: readonly number[], diary: Diary, formation: string, place: string, when: When): void {
  for (let at = 0; at < people.length; ) {
    const size = diary.random.between(3, MOST_MEMBERS);
    diary.add(formation, people.slice(at, at + size), { place }, when);
    at += size;
  }
}

function outWithFriends(diary: Diary, probability: number, hours: [number, number]): void {
  const { town, random } = diary;
  for (let person = 0; person < town.people.length; person++) {
    if (!random.chance(probability)) continue;
    const guests = random.sample(town.friends[person]!, random.between(1, 5));
    const where = { household: town.householdOf[person]! };
    diary.addParts('friends', invitation([person], guests), where, { hours, minutes: [45, 180] });
  }
}

function present(people: readonly number[], probability: number, random: Random): number[] {
  return people.filter(() => random.chance(probability));
}
