// Tests questions, rules, proofs and the firewall on named tables, whose nodes have keys.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Database, Table } from '../../src/engine/index.ts';
import type { MemberInput } from '../../src/model/edge.ts';
import type { Answered, Reasoning } from '../../src/rag/index.ts';
import { checkProof, knownOfEdges } from '../../src/rules/index.ts';
import type { EdgeSaying } from '../../src/rules/known-of-edges.ts';
import { finish } from '../../src/schedule/steps.ts';
import { Random } from '../support/random.ts';
import { reasoningOf } from '../support/rooms.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

const KEYS = [
  'Ada',
  'ada',
  'Ada Lovelace',
  'Grace Hopper',
  'Will',
  'the',
  'R2-D2',
  "O'Brien",
  '42',
  'שלום',
  '\u{1f33f} oak',
  '\u{1f98a}',
  'STRASSE',
  'Ὀδυσσεύς',
  'Cafe\u0301',
  'Acme, Inc.',
  'Person number 9',
  'C++',
  '__proto__',
] as const;

let database: Database;
let reasoning: Reasoning;
let meetings: Table;
let mixed: Table;
let rooms: Table;
beforeAll(async () => {
  database = await openSim(simDisk(), { core: 'release', segmentRows: 65_536, memoryBudgetBytes: 2 ** 26 });
  await database.nodes.createTable({
    name: 'Person',
    key: { name: 'name', type: 'TEXT' },
    columns: [
      { name: 'born', type: 'INTEGER' },
      { name: 'city', type: 'TEXT' },
      { name: 'active', type: 'BOOLEAN' },
    ],
  });
  await database.nodes.createTable({
    name: 'Room',
    key: { name: 'number', type: 'INTEGER' },
    columns: [{ name: 'floor', type: 'INTEGER' }],
  });
  const note = [{ name: 'note', type: 'TEXT' as const }];
  meetings = await database.createTable({ name: 'meetings', memberTables: ['Person'], columns: note });
  rooms = await database.createTable({ name: 'visits', memberTables: ['Room'] });
  mixed = await database.createTable({ name: 'mixed', memberTables: ['Person', 'Room'] });
  // Each key is in one meeting with the key after it.
  for (const [at, key] of KEYS.entries())
    await put(meetings, 1_700_000_000 + 3600 * at, [key, KEYS[(at + 1) % KEYS.length]!]);
  await put(rooms, 10, [7, 12]);
  await put(rooms, 20, [12, -3]);
  await put(mixed, 1_700_000_000, [person('Ada'), room(7)]);
  await put(mixed, 1_700_003_600, [person('Grace Hopper'), room(7)]);
  await put(mixed, 1_700_007_200, [person('Ada'), person('42'), room(42)]);
  const people = database.nodes.table('Person');
  await setAttributes(people, 'Ada', { born: 1815, city: 'London', active: false });
  await setAttributes(people, 'Grace Hopper', { born: 1906, city: null, active: true });
  await setAttributes(database.nodes.table('Room'), 7, { floor: 2 });
  reasoning = reasoningOf(database);
});
afterAll(() => database.close());

const person = (key: string) => ({ kind: 'Person', key });
const room = (key: number) => ({ kind: 'Room', key });
const put = (table: Table, event_ts: number, members: MemberInput[]) => table.insert({ event_ts, members });

async function setAttributes(table: Table, key: string | number, properties: Record<string, unknown>): Promise<void> {
  const number = database.nodes.find(table, key);
  const transaction = database.begin();
  const edge = {
    event_ts: number,
    members: [number],
    properties: { [database.nodes.keyName(table)]: key, ...properties },
  };
  await transaction.updateRow(table, { eventTs: number, id: number }, edge as never);
  await transaction.commit();
}

async function nodesIn(query: string, table = 'meetings'): Promise<unknown[]> {
  return [...(await reasoning.parse(query, table)).nodes];
}

async function ignoredIn(query: string, table = 'meetings'): Promise<string[]> {
  return (await reasoning.parse(query, table)).ignored.map(({ text }) => text);
}

describe('keys in questions', () => {
  test.each<[string, unknown[]]>([
    ['What did Grace Hopper do?', ['Grace Hopper']],
    ['what did GRACE   hopper do', ['Grace Hopper']],
    ['grace-hopper', []],
    ['Meetings of Ada Lovelace', ['Ada Lovelace']],
    ['Meetings of Ada', ['Ada', 'ada']],
    ["Ada's meetings", ['Ada', 'ada']],
    ['ADA and Ada Lovelace', ['Ada', 'ada', 'Ada Lovelace']],
    ['Adam', []],
    ['Who met (R2-D2)?', ['R2-D2']],
    ['who met r2\u2013d2', ['R2-D2']],
    ["O\u2019Brien's meetings", ["O'Brien"]],
    ['meetings with \u{1f33f} OAK', ['\u{1f33f} oak']],
    ['meetings with \u{1f98a}!', ['\u{1f98a}']],
    ['מה אמר שלום?', ['שלום']],
    ['straße', []],
    ['strasse', ['STRASSE']],
    ['ΟΔΥΣΣΕΎΣ', []],
    ['ὈΔΥΣΣΕΎΣ', ['Ὀδυσσεύς']],
    ['Caf\u00e9', ['Cafe\u0301']],
    ['Did ACME, INC. meet anyone?', ['Acme, Inc.']],
    ['who met c++ and __PROTO__', ['C++', '__proto__']],
    ['when did Will meet', ['Will']],
    ['when will they meet', []],
    ['the meetings', []],
    ['top 42 meetings', []],
    ['"42"', ['42']],
    ['person 42', ['42']],
    ['node 42', ['42']],
    ['"the"', ['the']],
    ['person number 9', ['Person number 9']],
    ['person number 42', ['42']],
  ])('%s', async (query, expected) => {
    expect(await nodesIn(query)).toEqual(expected);
  });

  test('are shown with their kind if there are several, and integers are digits after a word for nodes', async () => {
    expect(await nodesIn('ada in room 7', 'mixed')).toEqual([person('Ada'), person('ada'), room(7)]);
    expect(await nodesIn('node 42', 'mixed')).toEqual([person('42'), room(42)]);
    expect(await nodesIn('rooms 7, 12 and -3', 'visits')).toEqual([7, 12, -3]);
    expect(await nodesIn('node 99', 'visits')).toEqual([99]);
    expect(await ignoredIn('node 99', 'visits')).toEqual(['node 99']);
    expect(await ignoredIn('node 99 and Ada', 'mixed')).toContain('node 99');
  });

  test('are neither keywords nor ignored, and a window and filters are read beside them', async () => {
    const parsed = await reasoning.parse('What did Grace Hopper and Will discuss since 2023-11-14?', 'meetings');
    expect(parsed.nodes).toEqual(['Grace Hopper', 'Will']);
    expect(parsed.keywords).toEqual(['discuss']);
    expect(parsed.ignored.map(({ text }) => text)).toEqual(['discuss']);
    expect(parsed.window?.start_ts).toBe(1_699_920_000);
    expect(await ignoredIn('meetings without Ada')).toEqual(['without Ada']);
  });

  test('are found after nodes were created and deleted', async () => {
    expect(await nodesIn('meetings of Zoe Newton')).toEqual([]);
    await put(meetings, 5, ['Zoe Newton']);
    expect(await nodesIn('meetings of zoe newton')).toEqual(['Zoe Newton']);
    const people = database.nodes.table('Person');
    const number = database.nodes.find(people, 'Zoe Newton');
    await meetings.delete(5, ['Zoe Newton']);
    const transaction = database.begin();
    await transaction.deleteRow(people, { eventTs: number, id: number });
    await transaction.commit();
    expect(await nodesIn('meetings of zoe newton')).toEqual([]);
    await put(meetings, 5, ['Zoe Newton']);
    expect(await nodesIn('meetings of zoe newton')).toEqual(['Zoe Newton']);
    await meetings.delete(5, ['Zoe Newton']);
  });
});

describe('keys in random texts', () => {
  const WORDS = ['Oak', 'oak', 'Elm', 'Red', 'red', 'Pine', 'St', 'Öl', 'x9'];
  const SIGNS = [' ', ' ', ' ', '-', ', ', '. ', "'s ", '  ', '_', '/'];

  /** Returns the keys that a search through all keys finds, the longest first. */
  function naiveKeys(text: string, keys: readonly string[]): Set<string> {
    const isLetter = (one: string | undefined) => one !== undefined && /[\p{L}\p{M}\p{N}_]/u.test(one);
    const lower = text.replace(/\s+/g, ' ').trim().toLowerCase();
    const places: { key: string; start: number; end: number }[] = [];
    for (const key of keys) {
      const form = key.toLowerCase();
      for (let start = lower.indexOf(form); start >= 0; start = lower.indexOf(form, start + 1)) {
        const end = start + form.length;
        if (!isLetter(lower[start - 1]) && !isLetter(lower[end])) places.push({ key, start, end });
      }
    }
    places.sort((a, b) => b.end - b.start - (a.end - a.start) || a.start - b.start);
    const taken = new Map<number, string>();
    const found = new Set<string>();
    for (const { key, start, end } of places) {
      const form = `${start} ${end}`;
      const places = Array.from({ length: end - start }, (_, at) => start + at);
      if (places.some((at) => taken.has(at) && taken.get(at) !== form)) continue;
      for (const at of places) taken.set(at, form);
      found.add(key);
    }
    return found;
  }

  test('are those that a search through all keys finds', async () => {
    const random = new Random(11);
    const one = (list: readonly string[]) => list[random.below(list.length)]!;
    const keys = new Set<string>();
    while (keys.size < 60) {
      let key = one(WORDS);
      for (let more = random.below(3); more > 0; more--) key += `${one([' ', '-', ', '])}${one(WORDS)}`;
      keys.add(key);
    }
    const trees = await database.createTable({ name: 'trees', memberTables: ['Person'] });
    for (const key of keys) await put(trees, 1, [key]);
    for (let round = 0; round < 150; round++) {
      let text = 'zz';
      for (let more = 1 + random.below(9); more > 0; more--) text += `${one(SIGNS)}${one(WORDS)}`;
      expect(new Set(await nodesIn(text, 'trees')), JSON.stringify(text)).toEqual(naiveKeys(text, [...keys]));
    }
  });
});

const MET = {
  id: 'rule:met',
  if: [{ pred: 'member', args: ['?E', '?A'] }, { pred: 'member', args: ['?E', '?B'] }, { compare: ['?A', '<', '?B'] }],
  then: { pred: 'met', args: ['?A', '?B'] },
};

async function reason(query: string, table: string, rules: readonly unknown[]) {
  return reasoning.reason({ query, table, topK: 100, requireProof: false, rules });
}

function factsOf({ derived }: Answered<object>): string[] {
  return Array.from({ length: derived?.count ?? 0 }, (_, at) => finish(derived!.step(at + 1)).fact).sort();
}

function expectValidProofs({ derived, result }: Answered<{ all_edges: readonly unknown[] }>, rules: unknown[]): void {
  const edges = JSON.parse(JSON.stringify(result.all_edges)) as EdgeSaying[];
  expect(derived!.count).toBeGreaterThan(0);
  for (let number = 1; number <= derived!.count; number++) {
    const proof = JSON.parse(JSON.stringify(finish(derived!.proof(number))));
    expect(checkProof(proof, { rules, known: knownOfEdges(edges) })).toEqual([]);
  }
}

describe('rules', () => {
  test('have keys as constants, and proofs of them are valid', async () => {
    const answered = await reason('Ada Lovelace', 'meetings', [MET]);
    expect(factsOf(answered)).toEqual(['met("Ada Lovelace", "Grace Hopper")', 'met("Ada Lovelace", "ada")']);
    expectValidProofs(answered, [MET]);
    const byRoom = { ...MET, id: 'rule:in', if: [MET.if[0], MET.if[1], { compare: ['?B', '==', 'Room:7'] }] };
    const inRooms = await reason('room 7', 'mixed', [byRoom]);
    expect(factsOf(inRooms)).toEqual([
      'met("Person:Ada", "Room:7")',
      'met("Person:Grace Hopper", "Room:7")',
      'met("Room:7", "Room:7")',
    ]);
    expect(inRooms.result.all_edges.map(({ members }) => members)).toContainEqual([person('Ada'), room(7)]);
    expectValidProofs(inRooms, [byRoom]);
    const integers = await reason('', 'visits', [{ ...MET, if: [...MET.if, { compare: ['?A', '==', -3] }] }]);
    expect(factsOf(integers)).toEqual(['met(-3, 12)']);
  });

  test('know kinds and attributes of members, and of nodes that they name', async () => {
    const rule = {
      id: 'rule:born',
      if: [
        { pred: 'member', args: ['?E', '?P'] },
        { pred: 'node', args: ['?P', 'Person'] },
        { pred: 'attribute', args: ['?P', '?C', '?V'] },
      ],
      then: { pred: 'known', args: ['?P', '?C', '?V'] },
    };
    const answered = await reason('', 'mixed', [rule]);
    expect(factsOf(answered)).toEqual(
      [
        'known("Person:Ada", "active", false)',
        'known("Person:Ada", "born", 1815)',
        'known("Person:Ada", "city", "London")',
        'known("Person:Grace Hopper", "active", true)',
        'known("Person:Grace Hopper", "born", 1906)',
      ].sort(),
    );
    expectValidProofs(answered, [rule]);
    const named = {
      id: 'rule:named',
      if: [
        { pred: 'hyperedge', args: ['?E'] },
        { pred: 'attribute', args: ['Grace Hopper', 'born', '?Y'] },
        { pred: 'node', args: ['Grace Hopper', '?K'] },
      ],
      then: { pred: 'year', args: ['?K', '?Y'] },
    };
    expect(factsOf(await reason('C++', 'meetings', [named]))).toEqual(['year("Person", 1906)']);
    const proof = finish((await reason('C++', 'meetings', [named])).derived!.proof(1));
    const evidence = proof.nodes.filter(({ kind }) => kind === 'evidence');
    expect(
      evidence.filter((node) => 'hedge_tag' in node).map((node) => (node as { predicate: string }).predicate),
    ).toEqual(['hyperedge']);
  });

  test('may still use the names of the predicates about nodes with other numbers of arguments', async () => {
    const rules = [
      { id: 'rule:node', if: [{ pred: 'member', args: ['?E', '?A'] }], then: { pred: 'node', args: ['?A'] } },
      { id: 'rule:two', if: [{ pred: 'node', args: ['?A'] }], then: { pred: 'seen', args: ['?A'] } },
    ];
    expect(factsOf(await reason('', 'visits', rules)).filter((fact) => fact.startsWith('seen'))).toHaveLength(3);
    const head = { id: 'rule:head', if: rules[0]!.if, then: { pred: 'node', args: ['?A', 'Room'] } };
    await expect(reason('', 'visits', [head])).rejects.toMatchObject({ code: 'invalid_rule' });
  });
});

test('roles of a named table have keys in facts, answers and checks', async () => {
  const mails = await database.createTable({ name: 'mails', memberTables: ['Person'], roles: ['sender', 'recipient'] });
  await put(mails, 10, [
    { key: 'Ada', role: 'sender' },
    { key: 'Grace Hopper', role: 'recipient' },
  ] as never);
  const rule = {
    id: 'rule:sent',
    if: [{ pred: 'role', args: ['?E', '?A', 'sender'] }],
    then: { pred: 'sent', args: ['?E', '?A'] },
  };
  const answered = await reason('Grace Hopper', 'mails', [rule]);
  const [edge] = answered.result.all_edges;
  expect(edge).toMatchObject({
    members: ['Ada', 'Grace Hopper'],
    roles: { sender: ['Ada'], recipient: ['Grace Hopper'] },
  });
  expectValidProofs(await reason('', 'mails', [rule]), [rule]);
  const claims = ['sender: Ada', 'sender: Grace', `role(${edge!.edge_id}, "Ada", "sender") holds.`];
  const { results } = await reasoning.check({ table: 'mails', edgeIds: [edge!.edge_id], claims });
  expect(results.map(({ supported }) => supported)).toEqual([true, false, true]);
});

describe('the firewall', () => {
  const check = async (claims: string[], table: string, edgeIds: number[]) =>
    (await reasoning.check({ table, edgeIds, claims })).results.map(({ supported }) => supported);
  const idOf = async (query: string, table: string) => (await reason(query, table, [])).result.all_edges[0]!.edge_id;

  test.each<[string, boolean]>([
    ['Ada Lovelace and Grace Hopper met.', true],
    ['ada lovelace and GRACE HOPPER met.', true],
    ['"Ada Lovelace" met "Grace Hopper".', true],
    ['Ada Lovelace met Will.', false],
    ['Ada Lovelace met will.', true],
    ['Ada Lovelace met R2-D2.', false],
    ['Ada Lovelace met r2-d2.', false],
    ['Ada Lovelace met \u{1f98a}.', false],
    ['Ada Lovelace met שלום.', false],
    ['Ada Lovelace met Charles.', false],
    ['Ada Lovelace did not meet Grace Hopper.', false],
    ['Nodes 3 and 4 met.', false],
    ['Two nodes met: Ada Lovelace and Grace Hopper.', true],
  ])('%s', async (claim, expected) => {
    const [edge] = (await reason('Ada Lovelace with Grace Hopper', 'meetings', [])).result.all_edges.filter(
      ({ members }) => members.includes('Ada Lovelace') && members.includes('Grace Hopper'),
    );
    expect(await check([claim], 'meetings', [edge!.edge_id])).toEqual([expected]);
  });

  test('takes keys with their kind and integer keys as members', async () => {
    const id = await idOf('Grace Hopper', 'mixed');
    expect(
      await check(
        [
          'Grace Hopper was in room 7.',
          'Grace Hopper was in room 42.',
          'Ada was in room 7.',
          `member(${id}, "Room:7") holds.`,
        ],
        'mixed',
        [id],
      ),
    ).toEqual([true, false, false, true]);
    const visit = await idOf('room 7', 'visits');
    expect(await check(['Rooms 7 and 12 met.', 'Nodes 7 and -3 met.'], 'visits', [visit])).toEqual([true, false]);
  });

  test('does not mix members of several edges', async () => {
    const { all_edges: edges } = (await reason('', 'meetings', [])).result;
    const one = edges.find(({ members }) => members.includes('Will') && members.includes('the'))!;
    const other = edges.find(({ members }) => members.includes('R2-D2') && members.includes("O'Brien"))!;
    const tags = `[${one.hedge_tag}] [${other.hedge_tag}]`;
    const text = `Will met R2-D2 ${tags}. R2-D2 and O'Brien met ${tags}.`;
    const { results } = await reasoning.check({ table: 'meetings', edgeIds: [one.edge_id, other.edge_id], text });
    expect(results.map(({ supported }) => supported)).toEqual([false, true]);
  });

  test('keeps the answers that are written without a model, and the facts in them', async () => {
    for (const table of ['meetings', 'mixed', 'visits']) {
      for (const rules of [[], [MET]]) {
        const { result } = await reasoning.ask({
          query: table === 'visits' ? 'room 12' : 'What did Ada do?',
          table,
          topK: 20,
          requireProof: false,
          rules,
          mode: 'symbolic',
          mock: true,
          model: undefined,
          baseUrl: undefined,
          apiKey: undefined,
          tokenBudget: 2000,
          timeStart: undefined,
          timeEnd: undefined,
        });
        expect(result.firewall.stripped).toEqual([]);
        expect(result.abstained).toBe(false);
        expect(result.answer).toContain(table === 'visits' ? '12' : 'Ada');
      }
    }
  });
});
