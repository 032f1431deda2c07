import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DemoSize, demoChunks, demoCommand } from '../../src/cli/demo/command.ts';
import { DemoFacts } from '../../src/cli/demo/facts.ts';
import { DAY_SECONDS, FIRST_DAY_TS, type Meeting } from '../../src/cli/demo/meetings.ts';
import { startServer } from '../http/support.ts';
import { lookInto, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

async function demoText(size: DemoSize): Promise<string> {
  let text = '';
  for await (const chunk of demoChunks(size, new DemoFacts(size.people))) text += chunk.toString();
  return text;
}

test('a seed always makes the same meetings, another seed makes others', async () => {
  const size = { people: 300, days: 7, seed: 1 };
  const text = await demoText(size);
  expect(await demoText(size)).toBe(text);
  expect(await demoText({ ...size, seed: 2 })).not.toBe(text);
  expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toMatchInlineSnapshot(`"9a434ebbc4d54445"`);
});

test('the default demo is about 50,000 believable meetings', async () => {
  const lines = (await demoText({ people: 3000, days: 28, seed: 1 })).trimEnd().split('\n');
  const all = lines.map((line) => JSON.parse(line) as Meeting);
  expect(all.length).toBeGreaterThan(45_000);
  expect(all.length).toBeLessThan(55_000);
  const met = new Set<number>();
  const byHour = new Array<number>(24).fill(0);
  const isOdd = ({ event_ts, members, weight }: Meeting, index: number): boolean =>
    event_ts < (all[index - 1]?.event_ts ?? FIRST_DAY_TS) ||
    members.length < 2 ||
    members.length > 12 ||
    members.some((person, at) => at > 0 && person <= members[at - 1]!) ||
    weight <= 0;
  expect(all.filter(isOdd)).toEqual([]);
  for (const { event_ts, members } of all) {
    for (const person of members) met.add(person);
    byHour[Math.floor((event_ts % DAY_SECONDS) / 3600)]!++;
  }
  expect(met.size).toBeGreaterThan(2700);
  expect(byHour[12]!).toBeGreaterThan(byHour[15]!);
  expect(byHour[3]).toBe(0);
  const labels = new Set(all.map((meeting) => meeting.formation));
  expect(labels.size).toBeGreaterThan(8);
  const office = all.filter((meeting) => meeting.formation === 'office');
  expect(office.every(({ event_ts }) => Math.floor((event_ts - FIRST_DAY_TS) / DAY_SECONDS) % 7 < 5)).toBe(true);
});

test('into a directory: the table is filled once, and the requests it names find rows', async () => {
  const flags = { data: 'db', people: '200', days: '3', seed: '5' };
  expect(await demoCommand(flags, world), world.err).toBe(0);
  expect(world.out).toMatch(/hedgerow serve --data db/);
  const node = Number(/node\/(\d+)\?table=meetings/.exec(world.out)![1]);
  const [start, end] = /start_ts=(\d+)&end_ts=(\d+)/.exec(world.out)!.slice(1).map(Number) as [number, number];
  await lookInto(world.path('db'), (database) => {
    const rows = rowsOf(database.table('meetings'));
    expect(rows.filter((row) => row.members.includes(node)).length).toBeGreaterThan(3);
    expect(rows.some((row) => row.event_ts >= start && row.event_ts <= end)).toBe(true);
    expect(rows[0]!.formation).not.toBeNull();
  });
  expect(await demoCommand(flags, world)).toBe(1);
  expect(world.err).toMatch(/holds rows already/);
});

test('into a server: every printed curl is answered well', async () => {
  const server = await startServer();
  expect(await demoCommand({ url: server.url, people: '200', days: '3', table: 'town' }, world), world.err).toBe(0);
  const before = server.database.table('town').rowCount;
  const curls = world.out.split('\n').filter((line) => line.startsWith('  curl'));
  expect(curls.length).toBe(4);
  for (const curl of curls) {
    const url = /'(http[^']+)'/.exec(curl)![1]!;
    const body = /-d '([^']+)'/.exec(curl)?.[1];
    const headers = { 'content-type': 'application/json' };
    const response = await fetch(url, body === undefined ? {} : { method: 'POST', headers, body });
    expect(response.ok, curl).toBe(true);
    await response.json();
  }
  expect(server.database.table('town').rowCount).toBe(before + 1);
  await server.close();
});

test.each([[{ people: '5' }], [{ days: '0' }], [{ seed: 'x' }]])('a wrong call answers 2: %j', async (flags) => {
  expect(await demoCommand({ data: 'db', ...flags }, world)).toBe(2);
});
