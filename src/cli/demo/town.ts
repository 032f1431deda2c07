// Builds the demo's town: who lives, works, learns and spends evenings with whom, and where.

import { DISTRICTS, homeName, siteName, TRADES } from './names.ts';
import { type Members, type Person, populate, RETIRED_AGE } from './people.ts';
import type { Random } from './random.ts';
import { type Tenancies, tenancies } from './tenancies.ts';

export interface Place {
  readonly name: string;
  readonly kind: 'home' | 'school' | 'company' | 'hall';
  readonly district: string;
  /** Of homes. */
  readonly rooms: number | null;
}

/** A school or a company; its people may have lunch together. */
export interface Site {
  readonly place: Place;
  readonly people: Members;
  /** Of the people, those who work there. */
  readonly staff: Members;
}

export interface Team {
  /** Colleagues who work together every day, 5 to 12 in a company. */
  readonly people: Members;
  readonly site: Site;
}

export interface SchoolClass {
  /** About 22. */
  readonly pupils: Members;
  readonly teachers: Members;
  readonly school: Place;
}

export interface Club {
  readonly members: Members;
  readonly name: string;
  /** 0 = Monday. */
  readonly evening: number;
  readonly hall: Place;
}

/** People are indexes into `people`, homes are the first of `places`. */
export interface Town {
  readonly people: readonly Person[];
  readonly households: readonly Members[];
  readonly householdOf: Uint32Array;
  readonly places: readonly Place[];
  readonly tenancies: Tenancies;
  readonly classes: SchoolClass[];
  readonly teams: Team[];
  readonly sites: Site[];
  readonly clubs: Club[];
  /** Friends by person. */
  readonly friends: readonly Members[];
}

const CLASS_SIZE = 22;
const CLASSES_OF_A_SCHOOL = 12;
const TEACHERS_OF_A_CLASS = 3;
/** Number of teachers of a school for each of its classes; most teach several. */
const TEACHERS_PER_CLASS = 1.5;
const TEAMS_OF_A_COMPANY = 8;
const CLUB_SIZE = 15;
const CLUB_NAMES: readonly [string, ...string[]] = ['choir', 'football', 'chess', 'climbing', 'theatre', 'running'];
const SHARE_AT_WORK = 0.95;
const SHARE_IN_A_CLUB = 0.4;

/** `days`: for how many days the people are observed; some move then. */
export function buildTown(count: number, days: number, random: Random): Town {
  const { people, households } = populate(count, random);
  const stays = tenancies({ people, households }, days, random);
  const householdOf = new Uint32Array(count);
  households.forEach((members, household) => {
    for (const person of members) householdOf[person] = household;
  });
  const everyone = people.map((_, person) => person);
  const halls = DISTRICTS.map((district): Place => ({ name: `${district} Hall`, kind: 'hall', district, rooms: null }));
  const workers = random
    .shuffled(everyone.filter((person) => people[person]!.isAdult && people[person]!.age < RETIRED_AGE))
    .filter(() => random.chance(SHARE_AT_WORK));
  const pupils = everyone.filter((person) => !people[person]!.isAdult);
  const schools = buildSchools(people, random.shuffled(pupils), workers, random);
  const companies = buildCompanies(people, workers, random);
  const sites = [...schools.sites, ...companies.sites];
  return {
    people,
    households,
    householdOf,
    places: [...homes(stays.homes, random), ...sites.map(({ place }) => place), ...halls],
    tenancies: stays,
    classes: schools.classes,
    teams: [...schools.teams, ...companies.teams],
    sites,
    clubs: buildClubs(everyone, halls, random),
    friends: everyone.map((person) => circle(person, count, random)),
  };
}

function homes(count: number, random: Random): Place[] {
  return Array.from({ length: count }, (_, index) => {
    const { name, street } = homeName(index + 1);
    return { name, kind: 'home', district: DISTRICTS[street % DISTRICTS.length]!, rooms: random.between(1, 6) };
  });
}

interface Workplaces {
  readonly sites: Site[];
  readonly teams: Team[];
}

/** Takes the teachers from `workers`. */
function buildSchools(
  people: readonly Person[],
  children: readonly number[],
  workers: number[],
  random: Random,
): Workplaces & { classes: SchoolClass[] } {
  const byAge = [...children].sort((a, b) => people[a]!.age - people[b]!.age);
  const built = { sites: [] as Site[], teams: [] as Team[], classes: [] as SchoolClass[] };
  for (const classes of pieces(
    pieces(byAge, () => CLASS_SIZE),
    () => CLASSES_OF_A_SCHOOL,
  )) {
    const school = newPlace('school', built.sites.length, 'School', random);
    const wanted = Math.ceil(classes.length * TEACHERS_PER_CLASS);
    const teachers = workers.splice(0, Math.min(wanted, Math.ceil(workers.length / 2)));
    for (const person of classes.flat()) Object.assign(people[person]!, { job: 'pupil', work: school.name });
    for (const person of teachers) Object.assign(people[person]!, { job: 'teacher', work: school.name });
    const site = { place: school, people: [...classes.flat(), ...teachers], staff: teachers };
    built.sites.push(site);
    if (teachers.length > 0) built.teams.push({ people: teachers, site });
    for (const pupils of classes)
      built.classes.push({ pupils, teachers: random.sample(teachers, TEACHERS_OF_A_CLASS), school });
  }
  return built;
}

function buildCompanies(people: readonly Person[], workers: readonly number[], random: Random): Workplaces {
  const built: Workplaces = { sites: [], teams: [] };
  for (const company of pieces(
    pieces(workers, () => random.between(5, 12)),
    () => TEAMS_OF_A_COMPANY,
  )) {
    const { name, jobs } = random.pick(TRADES);
    const staff = company.flat();
    const site = { place: newPlace('company', built.sites.length, name, random), people: staff, staff };
    for (const person of staff) Object.assign(people[person]!, { job: random.pick(jobs), work: site.place.name });
    built.sites.push(site);
    for (const team of company) built.teams.push({ people: team, site });
  }
  return built;
}

function newPlace(kind: 'school' | 'company', index: number, ending: string, random: Random): Place {
  return { name: siteName(index, ending), kind, district: random.pick(DISTRICTS), rooms: null };
}

function buildClubs(everyone: readonly number[], halls: readonly Place[], random: Random): Club[] {
  const joining = random.shuffled(everyone).filter(() => random.chance(SHARE_IN_A_CLUB));
  return pieces(joining, () => CLUB_SIZE).map((members) => ({
    members,
    name: random.pick(CLUB_NAMES),
    evening: random.between(0, 4),
    hall: random.pick(halls),
  }));
}

function circle(person: number, count: number, random: Random): number[] {
  const drawn = Array.from({ length: random.between(3, 8) }, () => random.between(0, count - 1));
  return [...new Set(drawn)].filter((friend) => friend !== person);
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
