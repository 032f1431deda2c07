// Generates the meetings in the demo's town over some days, in order of time.

import type { Random } from './random.ts';
import type { Town } from './town.ts';

export interface Meeting {
  /** Start of the meeting, in epoch seconds. */
  event_ts: number;
  /** 2 to 12 people, ascending. */
  members: number[];
  /** Duration in minutes. */
  weight: number;
  mean_dist_m: number;
  formation: string;
}

/** Monday 2024-01-01, 00:00 UTC. */
export const FIRST_DAY_TS = 1_704_067_200;
export const DAY_SECONDS = 86_400;
const HOUR_SECONDS = 3600;
const MOST_MEMBERS = 12;
const FRIDAY = 4;
const SATURDAY = 5;

/** Yields all meetings; only those of one day are in memory at a time. */
export function* meetings(town: Town, days: number, random: Random): Generator<Meeting> {
  for (let day = 0; day < days; day++) {
    const diary = new Diary(FIRST_DAY_TS + day * DAY_SECONDS, random);
    const weekday = day % 7;
    if (weekday < SATURDAY) workday(town, weekday, diary, random);
    else weekend(town, diary, random);
    yield* diary.inOrder();
  }
}

/** Collects the meetings of one day. */
class Diary {
  readonly #midnightTs: number;
  readonly #random: Random;
  readonly #meetings: Meeting[] = [];

  constructor(midnightTs: number, random: Random) {
    this.#midnightTs = midnightTs;
    this.#random = random;
  }

  /**
   * Adds a meeting that begins at a random time between `hours[0]` and `hours[1]` o'clock. Does
   * nothing for fewer than two people.
   */
  add(formation: string, people: readonly number[], hours: [number, number], minutes: [number, number]): void {
    const members = [...new Set(people)].slice(0, MOST_MEMBERS).sort((a, b) => a - b);
    if (members.length < 2) return;
    const random = this.#random;
    const start = random.between(hours[0] * HOUR_SECONDS, hours[1] * HOUR_SECONDS - 1);
    this.#meetings.push({
      event_ts: this.#midnightTs + start,
      members,
      weight: random.between(...minutes),
      // The more people meet, the further apart they are.
      mean_dist_m: Math.round((0.5 + 0.15 * members.length + random.next()) * 100) / 100,
      formation,
    });
  }

  /**
   * Returns the meetings by time; those at the same time stay in the order in which they were
   * added.
   */
  inOrder(): Meeting[] {
    return this.#meetings.sort((a, b) => a.event_ts - b.event_ts);
  }
}

function workday(town: Town, weekday: number, diary: Diary, random: Random): void {
  for (const home of town.homes) {
    if (random.chance(0.28)) diary.add('breakfast', present(home, 0.85, random), [6, 8], [10, 30]);
    if (random.chance(0.55)) diary.add('dinner', present(home, 0.9, random), [18, 20], [25, 70]);
  }
  for (const pupils of town.classes) {
    for (let lesson = 0; lesson < 6; lesson++) {
      diary.add('class', random.sample(pupils, random.between(3, 8)), [8 + lesson, 9 + lesson], [20, 45]);
    }
  }
  town.teams.forEach((team, index) => {
    for (let count = random.between(1, 3); count > 0; count--) {
      const guests = random.chance(0.15) ? [random.pick(town.sites[town.siteOfTeam[index]!]!)] : [];
      const hours: [number, number] = random.chance(0.5) ? [9, 12] : [13, 17];
      diary.add('office', [...random.sample(team, random.between(2, team.length)), ...guests], hours, [10, 60]);
    }
  });
  for (const site of town.sites) lunches(site, diary, random);
  for (const { members, name, evening } of town.clubs) {
    if (evening === weekday) groupsOf(present(members, 0.8, random), diary, name, [18, 21], random);
  }
  outWithFriends(town, weekday === FRIDAY ? 0.06 : 0.02, [18, 23], diary, random);
}

function weekend(town: Town, diary: Diary, random: Random): void {
  for (const home of town.homes) {
    if (random.chance(0.5)) diary.add('breakfast', present(home, 0.95, random), [8, 11], [20, 60]);
    if (random.chance(0.35)) diary.add('outing', present(home, 0.9, random), [11, 17], [60, 240]);
    if (random.chance(0.6)) diary.add('dinner', present(home, 0.9, random), [18, 21], [40, 120]);
  }
  for (const { members, name } of town.clubs) {
    if (random.chance(0.2)) groupsOf(present(members, 0.7, random), diary, name, [10, 18], random);
  }
  outWithFriends(town, 0.1, [13, 24], diary, random);
}

function lunches(site: readonly number[], diary: Diary, random: Random): void {
  const eating = random.shuffled(site).filter(() => random.chance(0.58));
  for (let at = 0; at < eating.length; ) {
    const size = random.between(2, 6);
    diary.add('lunch', eating.slice(at, at + size), [12, 13.5], [15, 50]);
    at += size;
  }
}

function groupsOf(
  people: readonly number[],
  diary: Diary,
  formation: string,
  hours: [number, number],
  random: Random,
): void {
  for (let at = 0; at < people.length; ) {
    const size = random.between(3, MOST_MEMBERS);
    diary.add(formation, people.slice(at, at + size), hours, [60, 150]);
    at += size;
  }
}

function outWithFriends(town: Town, probability: number, hours: [number, number], diary: Diary, random: Random): void {
  for (let person = 1; person <= town.people; person++) {
    if (!random.chance(probability)) continue;
    diary.add('friends', [person, ...random.sample(town.friends[person]!, random.between(1, 5))], hours, [45, 180]);
  }
}

function present(people: readonly number[], probability: number, random: Random): number[] {
  return people.filter(() => random.chance(probability));
}
