import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { beginHere, type Session } from './mcp-session.ts';
import { lookInto, TestWorld } from './support.ts';

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form.
type Value = any;

const CSV = `event_ts,a,b,topic
2024-01-01T10:00:00Z,Ada,Grace,lunch
2024-01-01T12:00:00Z,Ada,Alan,office
2024-01-02T10:00:00Z,Grace,Alan,lunch
2024-01-03T10:00:00Z,Ada,12,lunch
`;
const MET = {
  id: 'rule:met',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'met', args: ['?A', '?B'] },
};

const world = new TestWorld();
const dir = mkdtempSync(join(tmpdir(), 'hedgerow-mcp-names-'));
let session: Session;
let call: Session['call'];

beforeAll(async () => {
  world.file('meetings.csv', CSV);
  // Earlier versions made a companion with the names of a table of numbers.
  await lookInto(dir, async (database) => {
    await database.createTable({ name: 'meetings' });
    await database.createTable({ name: 'meetings_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
  });
  const flags = { data: dir, table: 'meetings', create: true, memberColumns: 'a,b', memberIds: 'name' };
  expect(await importCommand(['meetings.csv'], flags, world), world.err).toBe(0);
  session = await beginHere({ data: dir, allowWrites: true });
  call = async (name, given) => {
    const answer = await session.call(name, given);
    expect(answer.isError, answer.text).toBe(false);
    expect(JSON.parse(answer.text)).toEqual(answer.value);
    return answer;
  };
});

afterAll(async () => {
  await session?.client.close();
  rmSync(dir, { recursive: true, force: true });
  world.remove();
});

async function refused(name: string, given: Record<string, unknown>): Promise<string> {
  const { text, isError, value } = await session.call(name, given);
  expect(isError, text).toBe(true);
  expect(value.code).toMatch(/^[a-z_]+$/);
  return text;
}

describe('the table that stores the names of nodes', () => {
  test('is reported for each table', async () => {
    const { tables } = (await call('list_tables', {})).value;
    expect(tables.map((table: Value) => [table.name, table.names_in])).toEqual([
      ['hyperedges', null],
      ['meetings', 'meetings_nodes'],
      ['meetings_nodes', null],
    ]);
    const described = (await call('describe_table', { table: 'meetings' })).value;
    expect(described.names).toEqual({ table: 'meetings_nodes', column: 'vertex', count: 4 });
    expect(described.hint).toContain("n.vertex = 'name'");
    expect(described.sample[0].names.sort()).toEqual(['Ada', 'Grace']);
    expect((await call('describe_table', { table: 'hyperedges' })).value.names).toBeNull();
  });

  test('is named in the error about an unknown name or a table without names', async () => {
    expect(await refused('node', { node_id: 'Zoe', table: 'meetings' })).toMatch(
      /^No node of meetings is called "Zoe"\. The names are in meetings_nodes, column vertex/,
    );
    expect(await refused('node', { node_id: 'Ada' })).toMatch(
      /^"Ada" is not a number, and no names of the nodes of hyperedges are stored \(they would be in hyperedges_nodes/,
    );
    expect(await refused('node', { node_id: 'Ada', table: 'nope' })).toMatch(/no names of the nodes of nope|no table/);
    expect(await refused('node', { node_id: 1.5, table: 'meetings' })).toMatch(/node_id/);
    expect(await refused('node', { node_id: true, table: 'meetings' })).toMatch(/the number or the name of a node/);
  });
});

describe('names of nodes', () => {
  test('are accepted by the tool node, which returns names and times next to numbers and seconds', async () => {
    const { value } = await call('node', { node_id: 'Ada', table: 'meetings' });
    expect(value.name).toBe('Ada');
    const byNumber = (await call('node', { node_id: value.node_id, table: 'MEETINGS' })).value;
    expect(byNumber).toEqual(value);
    expect(value.hyperedges.map((row: Value) => [row.time, [...row.names].sort(), row.topic])).toEqual([
      ['2024-01-01T10:00:00Z', ['Ada', 'Grace'], 'lunch'],
      ['2024-01-01T12:00:00Z', ['Ada', 'Alan'], 'office'],
      ['2024-01-03T10:00:00Z', ['12', 'Ada'], 'lunch'],
    ]);
    expect(value.hyperedges[0].event_ts).toBe(1_704_103_200);
    expect(value).not.toHaveProperty('query_plan');
  });

  test('take precedence over a number with the same digits', async () => {
    const named = (await call('node', { node_id: '12', table: 'meetings' })).value;
    expect([named.name, named.num_tuples]).toEqual(['12', 1]);
    const number = (await call('node', { node_id: '1', table: 'meetings' })).value;
    expect(number.node_id).toBe(1);
  });

  test('are accepted by the tool run_measure, whose rows contain names', async () => {
    const given = { table: 'meetings', measure: 'node_degree' };
    const { rows } = (await call('run_measure', given)).value;
    expect(rows[0]).toMatchObject({ name: 'Ada', value: 3 });
    const params = { node_id: 'Grace', start_ts: '2024-01-01', end_ts: '2024-01-01' };
    const one = (await call('run_measure', { ...given, params })).value;
    expect(one.rows).toEqual([{ id: expect.any(Number), name: 'Grace', value: 1 }]);
    const parts = (await call('run_measure', { table: 'meetings', measure: 's_connected_components' })).value;
    expect([...parts.rows[0].names].sort()).toEqual(['12', 'Ada', 'Alan', 'Grace']);
    const edges = (await call('run_measure', { table: 'meetings', measure: 's_distance', params: { on: 'edges' } }))
      .value;
    expect(edges.rows[0]).not.toHaveProperty('a_name');
  });

  test('are accepted by the tools reason and ask, and returned next to the text', async () => {
    const given = { query: '', nodes: ['Ada', 'Grace'], table: 'meetings', rules: [MET] };
    const reasoned = (await call('reason', given)).value;
    expect(reasoned.understood.nodes).toHaveLength(2);
    expect(reasoned.facts_total).toBeGreaterThan(0);
    const named = reasoned.derived_facts.map((fact: Value) =>
      fact.args.map((one: number) => reasoned.names[one]).sort(),
    );
    expect(named).toContainEqual(['Ada', 'Grace']);
    const asked = (await call('ask', { query: 'What happened?', nodes: ['Alan'], table: 'meetings' })).value;
    expect(asked.cited_edges.every((edge: Value) => edge.names.includes('Alan'))).toBe(true);
    expect(asked.cited_edges[0].time).toMatch(/^2024-01-0\dT1\d:00:00Z$/);
    for (const field of ['interaction_id', 'model', 'mode', 'reasoning_ms']) expect(asked).not.toHaveProperty(field);
    for (const field of ['query', 'reasoning_ms']) expect(reasoned).not.toHaveProperty(field);
  });

  test('are accepted by the tool insert, with times in ISO 8601', async () => {
    const edges = [{ event_ts: '2024-02-01T09:00:00Z', members: ['Grace', 'Alan'], topic: 'call' }];
    expect(
      await refused('insert', { table: 'meetings', edges: [...edges, { ...edges[0], members: ['Zoe'] }] }),
    ).toMatch(/No node of meetings is called "Zoe"/);
    expect((await call('insert', { table: 'meetings', edges })).value.inserted).toBe(1);
    const window = { table: 'meetings', start_ts: '2024-02-01', end_ts: '2024-02-01' };
    const { hyperedges } = (await call('range', window)).value;
    expect(hyperedges.map((row: Value) => [row.time, [...row.names].sort(), row.topic])).toEqual([
      ['2024-02-01T09:00:00Z', ['Alan', 'Grace'], 'call'],
    ]);
    expect(await refused('insert', { table: 'meetings', edges: [{ ...edges[0], event_ts: 'soon' }] })).toMatch(
      /event_ts/,
    );
  });
});

describe('rows of statements', () => {
  const rowsOf = async (statement: string) => (await call('query', { statement })).value;

  test('contain times as text next to seconds, under any column name', async () => {
    const { rows } = await rowsOf('MATCH (e:meetings) RETURN MIN(e.event_ts) AS first, MAX(e.event_ts), COUNT(*) AS n');
    expect(rows).toEqual([
      expect.objectContaining({ first: 1_704_103_200, first_time: '2024-01-01T10:00:00Z', n: expect.any(Number) }),
    ]);
    const pairs = await rowsOf(
      'MATCH (a:meetings), (b:meetings) WHERE follows(b, a, 7200) AND shared(a, b) >= 1 RETURN a.event_ts, b.event_ts',
    );
    expect(pairs.rows[0]).toMatchObject({ 'a.time': '2024-01-01T10:00:00Z', 'b.time': '2024-01-01T12:00:00Z' });
    const all = await rowsOf('MATCH (e:meetings) RETURN * LIMIT 1');
    expect(all.rows[0].time).toMatch(/Z$/);
  });

  test('contain the names of the members that they return, and no others', async () => {
    const found = await rowsOf("MATCH (e:meetings) WHERE e.topic = 'office' RETURN e.members");
    expect(found.rows[0].members.map((node: number) => found.names[node]).sort()).toEqual(['Ada', 'Alan']);
    expect(Object.keys(found.names)).toHaveLength(2);
    const whole = await rowsOf("MATCH (e:meetings) WHERE e.topic = 'office' RETURN e");
    expect(Object.values(whole.names).sort()).toEqual(['Ada', 'Alan']);
    expect(whole.rows[0].e.time).toBe('2024-01-01T12:00:00Z');
    expect(await rowsOf('MATCH (e:meetings) RETURN COUNT(*) AS n')).not.toHaveProperty('names');
  });
});

test('a time beyond the range of Date is null, and a table without names returns no names', async () => {
  const edges = [{ event_ts: 9_007_199_254_740_991, members: [7] }];
  expect((await call('insert', { table: 'hyperedges', edges })).value.inserted).toBe(1);
  const { hyperedges } = (await call('node', { node_id: 7 })).value;
  expect(hyperedges[0].time).toBeNull();
  expect(hyperedges[0]).not.toHaveProperty('names');
});
