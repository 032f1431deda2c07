// Tests the town that the demo generates: its people, homes, tenancies and meetings.

import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { DAY_SECONDS, FIRST_DAY_TS } from '../../src/cli/demo/calendar.ts';
import { DemoFacts } from '../../src/cli/demo/facts.ts';
import { type DemoSize, DemoTown } from '../../src/cli/demo/source.ts';
import { DEFAULT_TABLES, personLines, placeLines, tenancyLines } from '../../src/cli/demo/tables.ts';

/** Everything that the demo of this size stores, as lines. */
function demoText(size: DemoSize): string {
  const demo = new DemoTown(size);
  const { town } = demo;
  const nodes = [...personLines(town), ...placeLines(town)];
  const edges = [...tenancyLines(town, DEFAULT_TABLES), ...demo.meetingLines(new DemoFacts(size.people))];
  return [...nodes, ...edges].join('');
}

test('the same seed always makes the same town, and another seed makes another', () => {
  const size = { people: 300, days: 7, seed: 1 };
  const text = demoText(size);
  expect(demoText(size)).toBe(text);
  expect(demoText({ ...size, seed: 2 })).not.toBe(text);
  expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toMatchInlineSnapshot(`"3d901303b4ef1a8a"`);
});

interface MeetingLine {
  event_ts: number;
  members: string[] | Record<string, string[]>;
  weight: number;
  formation: string;
  place: string | null;
}

const membersOf = ({ members }: MeetingLine): string[] =>
  Array.isArray(members) ? members : Object.values(members).flat();
const rolesOf = ({ members }: MeetingLine): string => (Array.isArray(members) ? '' : Object.keys(members).join());

test('the default demo has about 50,000 plausible meetings', () => {
  const demo = new DemoTown({ people: 3000, days: 28, seed: 1 });
  const all = Array.from(demo.meetingLines(new DemoFacts(3000)), (line) => JSON.parse(line) as MeetingLine);
  expect(all.length).toBeGreaterThan(45_000);
  expect(all.length).toBeLessThan(55_000);
  const met = new Set(all.flatMap(membersOf));
  const byHour = new Array<number>(24).fill(0);
  const isOdd = (meeting: MeetingLine, index: number): boolean => {
    const members = membersOf(meeting);
    return (
      meeting.event_ts < (all[index - 1]?.event_ts ?? FIRST_DAY_TS) ||
      members.length < 2 ||
      members.length > 12 ||
      new Set(members).size < members.length ||
      Object.values(meeting.members).includes([]) ||
      meeting.weight <= 0
    );
  };
  expect(all.filter(isOdd)).toEqual([]);
  for (const { event_ts } of all) byHour[Math.floor((event_ts % DAY_SECONDS) / 3600)]!++;
  expect(met.size).toBeGreaterThan(2700);
  expect(byHour[12]!).toBeGreaterThan(byHour[15]!);
  expect(byHour[3]).toBe(0);
  const labels = new Set(all.map((meeting) => meeting.formation));
  expect(labels.size).toBeGreaterThan(8);
  expect(new Set(all.map(rolesOf))).toEqual(new Set(['', 'host,guest', 'teacher,pupil']));
  const office = all.filter((meeting) => meeting.formation === 'office');
  expect(office.every(({ event_ts }) => Math.floor((event_ts - FIRST_DAY_TS) / DAY_SECONDS) % 7 < 5)).toBe(true);
  const places = new Set(demo.town.places.map(({ name }) => name));
  expect(all.filter(({ place }) => place !== null && !places.has(place))).toEqual([]);
});

test('people and places have names of their own, which need no escape in shells and statements', () => {
  const { people, places } = new DemoTown({ people: 40_000, days: 1, seed: 3 }).town;
  for (const all of [people, places]) {
    const names = all.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[A-Za-z][A-Za-z0-9. ]*$/.test(name))).toEqual([]);
  }
  expect(people.some(({ name }) => / [A-Z]\. /.test(name))).toBe(true);
  const ages = people.map(({ age }) => age);
  expect([Math.min(...ages), Math.max(...ages)]).toEqual([4, 88]);
  expect(people.filter(({ isAdult, age }) => isAdult !== age >= 18)).toEqual([]);
});

test.each([
  [3000, 28, 1],
  [20, 1, 2],
  [60, 900, 3],
])('homes have one tenancy at a time, and people one home (%i people, %i days)', (people, days, seed) => {
  const { town } = new DemoTown({ people, days, seed });
  const byHome = new Map<number, [number, number][]>();
  for (const [household, stays] of town.tenancies.ofHousehold.entries()) {
    expect(stays.length).toBeGreaterThan(0);
    for (const [index, { fromTs, toTs, tenants, home }] of stays.entries()) {
      const next = stays[index + 1];
      expect(toTs).toBe(next === undefined ? null : next.fromTs);
      expect(next?.home).not.toBe(home);
      expect(tenants.every((person) => town.people[person]!.settlesTs <= fromTs)).toBe(true);
      byHome.set(home, [...(byHome.get(home) ?? []), [fromTs, toTs ?? Infinity]]);
    }
    expect(stays.at(-1)!.tenants).toEqual(town.households[household]);
    expect(stays[0]!.fromTs).toBeLessThan(FIRST_DAY_TS);
  }
  for (const stays of byHome.values()) {
    const inTime = stays.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
    for (const [index, [fromTs]] of inTime.entries())
      if (index > 0) expect(fromTs).toBeGreaterThanOrEqual(inTime[index - 1]![1]);
  }
  const { moves } = town.tenancies;
  expect(moves.length).toBeGreaterThan(0);
  expect(moves.every(({ ts }) => ts >= FIRST_DAY_TS && ts < FIRST_DAY_TS + days * DAY_SECONDS)).toBe(true);
});

test('a household has its breakfast in the home in which it lives at that time', () => {
  const { town, lines } = (() => {
    const demo = new DemoTown({ people: 200, days: 28, seed: 4 });
    const lines = Array.from(demo.meetingLines(new DemoFacts(200)), (line) => JSON.parse(line) as MeetingLine);
    return { town: demo.town, lines };
  })();
  const tenancies = Array.from(tenancyLines(town, DEFAULT_TABLES), (line) => JSON.parse(line));
  const breakfasts = lines.filter(({ formation }) => formation === 'breakfast');
  expect(breakfasts.length).toBeGreaterThan(100);
  for (const { event_ts, members, place } of breakfasts) {
    const held = tenancies.filter(
      (one) => one.event_ts <= event_ts && event_ts < (one.end_ts ?? Infinity) && one.members.home[0].key === place,
    );
    const tenants = held.flatMap((one) => one.members.tenant.map(({ key }: { key: string }) => key));
    expect(tenants).toEqual(expect.arrayContaining(members as string[]));
  }
});
