// The tools of MCP with a named table: members are keys, which need no table of names.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { beginHere, type Session } from './mcp-session.ts';
import { TestWorld } from './support.ts';

const world = new TestWorld();
let session: Session;

beforeAll(async () => {
  world.file('calls.csv', 'ts,from,to\n1,Ada,Grace\n2,Grace,"O\'Neil ""Bob"""\n3,Ada,ada\n');
  world.file('people.csv', 'name,born\nAda,1815\nEve,1900\n');
  const flags = { data: 'db', table: 'calls', create: true, nodes: 'people.csv', nodeTable: 'Person' };
  expect(await importCommand(['calls.csv'], flags, world), world.err).toBe(0);
  session = await beginHere({ data: world.path('db'), allowWrites: true });
});
afterAll(async () => {
  await session?.client.close();
  world.remove();
});

async function call(name: string, given: Record<string, unknown>) {
  const answer = await session.call(name, given);
  expect(answer.isError, answer.text).toBe(false);
  return answer.value;
}

test('descriptions say that members are keys, and of which node tables', async () => {
  const { tables } = await call('list_tables', {});
  const named = tables.find((table: { name: string }) => table.name === 'calls');
  expect(named).toMatchObject({ nodes: 'named', member_tables: ['Person'], names_in: null });
  const described = await call('describe_table', { table: 'calls' });
  expect(described).toMatchObject({ nodes: 'named', member_tables: ['Person'], names: null });
  expect(described.hint).toContain("'key' IN e.members; MATCH (n:Person) RETURN *");
});

test('rows show keys, and node takes them', async () => {
  const { hyperedges } = await call('range', { table: 'calls', start_ts: 0, end_ts: 9 });
  expect(hyperedges.map(({ members }: { members: string[] }) => [...members].sort())).toEqual([
    ['Ada', 'Grace'],
    ['Grace', 'O\'Neil "Bob"'],
    ['Ada', 'ada'],
  ]);
  const times = async (node_id: string) => {
    const found = await call('node', { table: 'calls', node_id });
    return found.hyperedges.map(({ event_ts }: { event_ts: number }) => event_ts);
  };
  expect(await times('Ada')).toEqual([1, 3]);
  expect(await times('ada')).toEqual([3]);
  expect(await times('O\'Neil "Bob"')).toEqual([2]);
  expect(await times('Nobody')).toEqual([]);
});

test('insert takes keys and creates nodes', async () => {
  const edges = [{ event_ts: '1970-01-01T00:00:05Z', members: ['Ada', 'שלום'] }];
  expect((await call('insert', { table: 'calls', edges })).inserted).toBe(1);
  expect((await call('node', { table: 'calls', node_id: 'שלום' })).num_tuples).toBe(1);
});
