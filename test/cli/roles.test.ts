// Tests that imports, exports, dumps and loads keep the roles of members.

import { readFileSync, writeFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { dumpCommand } from '../../src/cli/dump/command.ts';
import { exportCommand } from '../../src/cli/export/command.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { loadCommand } from '../../src/cli/load/command.ts';
import { runProgram } from '../../src/cli/program.ts';
import { startServer } from '../http/support.ts';
import { HIF_SCHEMA } from './hif-schema.ts';
import { beginHere } from './mcp-session.ts';
import { lookInto, rowsOf, TestWorld } from './support.ts';

const isHif = new Ajv({ strict: false, allErrors: true }).compile(HIF_SCHEMA);
const MAIL = 'event_ts,from,to,subject\n1,1,2;3,a\n2,3,3;4,b\n3,,1,c\n';
const ROLE = ['sender=from', 'recipient=to'];
const STORED = [
  { event_ts: 1, members: [1, 2, 3], roles: { sender: [1], recipient: [2, 3] }, subject: 'a' },
  { event_ts: 2, members: [3, 4], roles: { sender: [3], recipient: [3, 4] }, subject: 'b' },
  { event_ts: 3, members: [1], roles: { sender: [], recipient: [1] }, subject: 'c' },
];

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

/** Returns the stored rows in the order of time, without ids and nulls. */
async function stored(directory: string, table: string): Promise<object[]> {
  return lookInto(world.path(directory), (database) =>
    rowsOf(database.table(table))
      .map(({ id: _id, ...row }) => Object.fromEntries(Object.entries(row).filter(([, value]) => value !== null)))
      .sort((a, b) => Number(a.event_ts) - Number(b.event_ts)),
  );
}

async function importMail(): Promise<void> {
  world.file('mail.csv', MAIL);
  const flags = { data: 'db', table: 'mail', create: true, role: ROLE };
  expect(await importCommand(['mail.csv'], flags, world), world.err).toBe(0);
}

test('--role names the columns with the members of each role', async () => {
  await importMail();
  expect(await stored('db', 'mail')).toEqual(STORED);
  world.file('more.csv', 'sender,recipient,event_ts,subject\n7,8,4,d\n');
  const more = { data: 'db', table: 'mail', role: ['sender=sender'] };
  expect(await importCommand(['more.csv'], more, world), world.err).toBe(0);
  expect(await stored('db', 'mail')).toEqual([
    ...STORED,
    { event_ts: 4, members: [7, 8], roles: { sender: [7], recipient: [8] }, subject: 'd' },
  ]);
});

test('the program takes the flag more than once', async () => {
  world.file('mail.csv', MAIL);
  const line = 'import mail.csv --data db --table mail --create --role sender=from --role recipient=to';
  expect(await runProgram(line.split(' '), '0', world), world.err).toBe(0);
  expect(await stored('db', 'mail')).toEqual(STORED);
});

test('names of nodes become numbers in roles too', async () => {
  world.file('named.csv', 'event_ts,from,to\n1,Ada,Bob;Cyd\n2,Bob,Ada\n');
  const flags = { data: 'db', table: 'named', create: true, role: ROLE };
  expect(await importCommand(['named.csv'], flags, world), world.err).toBe(0);
  const rows = (await stored('db', 'named')) as { roles: Record<string, number[]>; members: number[] }[];
  expect(rows[0]!.members).toHaveLength(3);
  expect(rows[0]!.roles.sender).toEqual(rows[1]!.roles.recipient);
  expect(rows[0]!.roles.recipient).toContain(rows[1]!.roles.sender![0]);
});

test.each(['csv', 'ndjson', 'parquet'])('an exported table of %s is imported with its roles', async (format) => {
  await importMail();
  const out = `out.${format}`;
  expect(await exportCommand({ data: 'db', table: 'mail', out }, world), world.err).toBe(0);
  const flags = { data: 'db', table: 'again', create: true, role: ['sender=sender', 'recipient=recipient'] };
  expect(await importCommand([out], flags, world), world.err).toBe(0);
  expect(await stored('db', 'again')).toEqual(STORED);
});

test('NDJSON takes both forms of members and fields for roles', async () => {
  await importMail();
  const lines = [
    { event_ts: 11, members: { sender: [1], recipient: [2, 3] } },
    { event_ts: 12, members: [{ node: 1, role: ['sender', 'recipient'] }, { node: 5 }, 6] },
    { event_ts: 13, members: [1, 2, 9], sender: [1], recipient: [2] },
  ];
  world.file('x.ndjson', lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  expect(await importCommand(['x.ndjson'], { data: 'db', table: 'mail' }, world), world.err).toBe(0);
  expect((await stored('db', 'mail')).slice(3)).toEqual([
    { event_ts: 11, members: [1, 2, 3], roles: { sender: [1], recipient: [2, 3] } },
    { event_ts: 12, members: [1, 5, 6], roles: { sender: [1], recipient: [1] } },
    { event_ts: 13, members: [1, 2, 9], roles: { sender: [1], recipient: [2] } },
  ]);
});

test.each(['statements', 'ndjson', 'parquet'])('a dump of %s keeps roles', async (format) => {
  await importMail();
  expect(await dumpCommand('dump', { data: 'db', format }, world), world.err).toBe(0);
  expect(await loadCommand('dump', { data: 'loaded' }, world), world.err).toBe(0);
  expect(await stored('loaded', 'mail')).toEqual(STORED);
});

test('HIF knows head and tail as directions, and other roles as an attribute', async () => {
  const incidences = [
    { edge: 0, node: 1, direction: 'tail' },
    { edge: 0, node: 2, direction: 'head' },
    { edge: 0, node: 2, direction: 'tail' },
    { edge: 0, node: 3, attrs: { role: 'witness' } },
    { edge: 0, node: 4 },
  ];
  const edges = [{ edge: 0, attrs: { event_ts: 5 } }];
  world.file('x.json', JSON.stringify({ 'network-type': 'directed', incidences, edges }));
  expect(await importCommand(['x.json'], { data: 'db', table: 't', create: true }, world), world.err).toBe(0);
  const rows = (await stored('db', 't')) as { members: number[]; roles: object }[];
  expect(rows.map(({ members, roles }) => ({ members, roles }))).toEqual([
    { members: [1, 2, 3, 4], roles: { head: [2], tail: [1, 2], witness: [3] } },
  ]);
  expect(await exportCommand({ data: 'db', table: 't', out: 'y.hif' }, world), world.err).toBe(0);
  const written = JSON.parse(readFileSync(world.path('y.hif'), 'utf8'));
  expect(isHif(written), JSON.stringify(isHif.errors)).toBe(true);
  expect(written['network-type']).toBe('directed');
  expect(await importCommand(['y.hif'], { data: 'db', table: 'u', create: true }, world), world.err).toBe(0);
  const again = (await stored('db', 'u')) as { members: number[]; roles: object }[];
  expect(again[0]!.roles).toEqual(rows[0]!.roles);
  expect(again[0]!.members).toEqual(rows[0]!.members);
});

test('a server imports, exports, dumps and loads roles', async () => {
  const server = await startServer();
  const other = await startServer();
  try {
    world.file('mail.csv', MAIL);
    const flags = { url: server.url, table: 'mail', create: true, role: ROLE };
    expect(await importCommand(['mail.csv'], flags, world), world.err).toBe(0);
    expect(await exportCommand({ url: server.url, table: 'mail', out: 'out.csv' }, world), world.err).toBe(0);
    expect(readFileSync(world.path('out.csv'), 'utf8')).toMatch(/"members","sender","recipient"/);
    expect(await dumpCommand('dump', { url: server.url }, world), world.err).toBe(0);
    expect(await loadCommand('dump', { url: other.url }, world), world.err).toBe(0);
    const answer = (await (await fetch(`${other.url}/v1/hyperedges?table=mail&start_ts=0&end_ts=9`)).json()) as {
      hyperedges: { roles: object }[];
    };
    expect(answer.hyperedges.map(({ roles }) => roles)).toEqual(STORED.map(({ roles }) => roles));
  } finally {
    await server.close();
    await other.close();
  }
});

test('wrong roles are refused before anything is stored', async () => {
  writeFileSync(world.path('mail.csv'), MAIL);
  const run = (flags: object) => importCommand(['mail.csv'], { data: 'db', table: 'mail', ...flags }, world);
  expect(await run({ create: true, role: ['sender'] })).toBe(2);
  expect(world.err).toMatch(/--role/);
  expect(await run({ create: true, role: ['sender=nowhere'] })).toBe(2);
  expect(world.err).toMatch(/nowhere/);
  await importMail();
  world.err = '';
  expect(await run({ role: ['seller=from'] })).toBe(1);
  expect(world.err).toMatch(/no role seller; its roles are sender, recipient/);
  world.file('plain.csv', 'event_ts,members\n1,1;2\n');
  expect(await importCommand(['plain.csv'], { data: 'db', table: 'p', create: true }, world), world.err).toBe(0);
  expect(await importCommand(['mail.csv'], { data: 'db', table: 'p', role: ROLE }, world)).toBe(1);
  expect(world.err).toMatch(/Table p has no roles/);
  expect(await stored('db', 'mail')).toEqual(STORED);
});

test('the tools of MCP show and take roles', async () => {
  world.file('named.csv', 'event_ts,from,to\n1,Ada,Bob;Cyd\n2,Bob,Ada\n');
  const flags = { data: 'db', table: 'mail', create: true, role: ROLE };
  expect(await importCommand(['named.csv'], flags, world), world.err).toBe(0);
  const session = await beginHere({ data: world.path('db'), allowWrites: true });
  try {
    const call = async (name: string, given: object) => {
      const answer = await session.call(name, { table: 'mail', ...given });
      expect(answer.isError, answer.text).toBe(false);
      return answer.value;
    };
    expect((await call('describe_table', {})).roles).toEqual(['sender', 'recipient']);
    const forms = [
      { event_ts: 3, members: { sender: ['Ada'], recipient: ['Cyd'] } },
      { event_ts: 4, members: [{ node: 'Ada', role: 'recipient' }, 'Bob'] },
    ];
    expect((await call('insert', { edges: forms })).inserted).toBe(2);
    const range = await call('range', { start_ts: 0, end_ts: 9 });
    const [, , third, fourth] = range.hyperedges;
    expect(third.roles).toEqual({ sender: ['Ada'], recipient: ['Cyd'] });
    expect(third.members).toEqual(['Ada', 'Cyd']);
    expect(fourth.roles.sender).toEqual([]);
    const sent = await call('node', { node_id: 'Ada', role: 'sender' });
    expect(sent.hyperedges.map((edge: { event_ts: number }) => edge.event_ts)).toEqual([1, 3]);
  } finally {
    await session.client.close();
  }
});
