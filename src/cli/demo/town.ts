// Builds the demo's town: who lives, works, learns and spends evenings with whom.

import type { Random } from './random.ts';

/** The town. Its people are numbered 1, 2, ...; these numbers are also their node ids. */
export interface Town {
  people: number;
  homes: number[][];
  /** The pupils of each class, about 22. */
  classes: number[][];
  /** Colleagues who work together every day, 5 to 12 in a team. */
  teams: number[][];
  /** The people of each school or company; they may have lunch together. */
  sites: number[][];
  /** Index into `sites` by team. */
  siteOfTeam: number[];
  clubs: { members: number[]; name: string /** 0 = Monday. */; evening: number }[];
  /** Friends by person; index 0 is unused. */
  friends: number[][];
}

/** Sizes of homes to choose from; each size is as frequent as in a mid-sized town. */
const HOME_SIZES = [1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 4, 5];
const ADULTS_OF_A_HOME = 2;
const CLASS_SIZE = 22;
const CLASSES_OF_A_SCHOOL = 12;
const TEAMS_OF_A_COMPANY = 8;
const CLUB_SIZE = 15;
const CLUB_NAMES = ['choir', 'football', 'chess', 'climbing', 'theatre', 'running'];
const SHARE_AT_WORK = 0.85;
const SHARE_IN_A_CLUB = 0.4;

export function buildTown(people: number, random: Random): Town {
  const town: Town = {
    people,
    homes: [],
    classes: [],
    teams: [],
    sites: [],
    siteOfTeam: [],
    clubs: [],
    friends: [[]],
  };
  const adults: number[] = [];
  const children: number[] = [];
  for (let next = 1; next <= people; ) {
    const size = Math.min(random.pick(HOME_SIZES), people - next + 1);
    const home = Array.from({ length: size }, (_, index) => next + index);
    home.forEach((person, index) => {
      (index < ADULTS_OF_A_HOME ? adults : children).push(person);
    });
    town.homes.push(home);
    next += size;
  }
  addSchools(town, random.shuffled(children));
  const workers = random.shuffled(adults).filter(() => random.chance(SHARE_AT_WORK));
  addCompanies(town, workers, random);
  addEvenings(town, random);
  return town;
}

function addSchools(town: Town, children: readonly number[]): void {
  const classes = pieces(children, () => CLASS_SIZE);
  for (const school of pieces(classes, () => CLASSES_OF_A_SCHOOL)) town.sites.push(school.flat());
  town.classes.push(...classes);
}

function addCompanies(town: Town, workers: readonly number[], random: Random): void {
  const teams = pieces(workers, () => random.between(5, 12));
  for (const company of pieces(teams, () => TEAMS_OF_A_COMPANY)) {
    for (const team of company) {
      town.teams.push(team);
      town.siteOfTeam.push(town.sites.length);
    }
    town.sites.push(company.flat());
  }
}

function addEvenings(town: Town, random: Random): void {
  const everyone = Array.from({ length: town.people }, (_, index) => index + 1);
  const joining = random.shuffled(everyone).filter(() => random.chance(SHARE_IN_A_CLUB));
  town.clubs = pieces(joining, () => CLUB_SIZE).map((members) => ({
    members,
    name: random.pick(CLUB_NAMES),
    evening: random.between(0, 4),
  }));
  for (const person of everyone) {
    const circle = Array.from({ length: random.between(3, 8) }, () => random.between(1, town.people));
    town.friends.push([...new Set(circle)].filter((friend) => friend !== person));
  }
}

/**
 * Splits a list into consecutive pieces of the sizes that `size` returns; the last piece may be
 * smaller.
 */
function pieces<T>(items: readonly T[], size: () => number): T[][] {
  const result: T[][] = [];
  for (let at = 0; at < items.length; ) {
    const piece = items.slice(at, at + size());
    result.push(piece);
    at += piece.length;
  }
  return result;
}
