// Names the tables of the demo, and writes its people, places, tenancies and meetings as lines of
// NDJSON.

import type { NewNodeTable, TableColumn, TargetTable } from '../import/targets/target.ts';
import { HOUR_SECONDS } from './calendar.ts';
import { MEETING_ROLES, type Meeting } from './meetings.ts';
import type { Person } from './people.ts';
import type { Tenancy } from './tenancies.ts';
import type { Place, Town } from './town.ts';

export interface DemoTables {
  readonly meetings: string;
  readonly tenancies: string;
  readonly people: string;
  readonly places: string;
}

export const DEFAULT_TABLES: DemoTables = {
  meetings: 'meetings',
  tenancies: 'tenancies',
  people: 'Person',
  places: 'Place',
};

/** `meetings`: the name that the user chose for the meetings; the others then begin with it. */
export function demoTables(meetings: string | undefined): DemoTables {
  if (meetings === undefined || meetings.toLowerCase() === DEFAULT_TABLES.meetings) return DEFAULT_TABLES;
  return {
    meetings,
    tenancies: `${meetings}_tenancies`,
    people: `${meetings}_person`,
    places: `${meetings}_place`,
  };
}

const KEY = { name: 'name', type: 'TEXT' } as const;
export const TENANT = 'tenant';
export const HOME = 'home';

export interface WantedNodes {
  readonly table: NewNodeTable;
  readonly columns: readonly TableColumn[];
}

export interface WantedEdges {
  readonly table: TargetTable & { readonly name: string; readonly nodes: readonly NewNodeTable[] };
  readonly columns: readonly TableColumn[];
}

export function peopleTable({ people }: DemoTables): WantedNodes {
  return {
    table: { name: people, key: KEY },
    columns: [
      { name: 'age', type: 'INTEGER' },
      { name: 'district', type: 'TEXT' },
      { name: 'job', type: 'TEXT' },
      { name: 'work', type: 'TEXT' },
    ],
  };
}

export function placesTable({ places }: DemoTables): WantedNodes {
  return {
    table: { name: places, key: KEY },
    columns: [
      { name: 'kind', type: 'TEXT' },
      { name: 'district', type: 'TEXT' },
      { name: 'rooms', type: 'INTEGER' },
    ],
  };
}

export function tenanciesTable(tables: DemoTables): WantedEdges {
  const nodes = [peopleTable(tables).table, placesTable(tables).table];
  const roles = [TENANT, HOME];
  return {
    // Half a year: tenancies begin over ten years.
    table: { name: tables.tenancies, create: true, bucketSeconds: 4380 * HOUR_SECONDS, nodes, roles, intervals: true },
    columns: [],
  };
}

export function meetingsTable(tables: DemoTables): WantedEdges {
  const nodes = [peopleTable(tables).table];
  const roles = [...MEETING_ROLES];
  return {
    // The meetings of a day fall into about twenty buckets.
    table: { name: tables.meetings, create: true, bucketSeconds: HOUR_SECONDS, nodes, roles, intervals: false },
    columns: [{ name: 'place', type: 'TEXT' }],
  };
}

/** The attributes are those at the end of the demo. */
export function* personLines({ people, householdOf, tenancies, places }: Town): Generator<string> {
  for (const [index, { name, age, job, work }] of people.entries()) {
    const { home } = tenancies.ofHousehold[householdOf[index]!]!.at(-1)!;
    yield lineOf({ name, age, district: places[home]!.district, job, work } satisfies Line<Person>);
  }
}

export function* placeLines({ places }: Town): Generator<string> {
  for (const { name, kind, district, rooms } of places) yield lineOf({ name, kind, district, rooms } satisfies Place);
}

/** In order of their beginning. */
export function* tenancyLines(town: Town, tables: DemoTables): Generator<string> {
  const all = town.tenancies.ofHousehold.flat().sort((a, b) => a.fromTs - b.fromTs);
  for (const tenancy of all) yield lineOf(tenancyOf(tenancy, town, tables));
}

function tenancyOf({ fromTs, toTs, tenants, home }: Tenancy, { people, places }: Town, tables: DemoTables) {
  const members = {
    [TENANT]: tenants.map((person) => ({ kind: tables.people, key: people[person]!.name })),
    [HOME]: [{ kind: tables.places, key: places[home]!.name }],
  };
  return { event_ts: fromTs, end_ts: toTs, members };
}

export function meetingLine({ event_ts, parts, ...meeting }: Meeting, { people }: Town): string {
  const namesOf = (members: readonly number[]) => members.map((person) => people[person]!.name);
  const members =
    parts[0]!.role === null
      ? namesOf(parts[0]!.people)
      : Object.fromEntries(parts.map((part) => [part.role, namesOf(part.people)]));
  return lineOf({ event_ts, members, ...meeting });
}

type Line<T> = { readonly district: string } & Partial<T>;

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`;
}
