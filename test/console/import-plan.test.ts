import { describe, expect, test } from 'vitest';
import type { NodeTable, Table } from '../../src/client/index.ts';
import { lineOf, newColumns, planEdges } from '../../src/console/import/edge-plan.ts';
import { guessMapping, type Mapping } from '../../src/console/import/mapping.ts';
import { guessNodeMapping, looksLikeNodes, planNodes } from '../../src/console/import/node-plan.ts';
import { readSource } from '../../src/console/import/read-file.ts';
import { keysFor, mappingInto, problemWith, targetOf, targetWords } from '../../src/console/import/target.ts';

const NONE = { tables: [] as Table[], nodeTables: [] as NodeTable[] };

/** Plans a CSV file, as the import view does. */
function plan(text: string, change: Partial<Mapping> = {}, known = NONE, name = 'calls', kind = `${name}_node`) {
  const file = readSource(text.startsWith('{') ? 'a.ndjson' : 'a.csv', text);
  const table = known.tables.find((one) => one.name === name);
  const mapping = mappingInto({ ...guessMapping(file), ...change }, table);
  const keys = keysFor(file, mapping, table, kind, known);
  const planned = planEdges(file, mapping, keys.keys);
  const wanted = { name, mapping, plan: planned, columns: newColumns(file, mapping), keys };
  return {
    target: targetOf(wanted, known),
    problem: problemWith(wanted, known),
    lines: planned.edges.map((edge) => JSON.parse(JSON.stringify(lineOf(edge))) as Record<string, unknown>),
    reasons: planned.rejected.map(({ row, reason }) => `${row} ${reason}`),
  };
}

const table = (item: Partial<Table>) =>
  ({
    name: 'calls',
    nodes: 'named',
    member_tables: ['Person'],
    roles: [],
    intervals: false,
    columns: [],
    ...item,
  }) as Table;
const nodeTable = (name: string, type: 'TEXT' | 'INTEGER', columns: NodeTable['columns'] = []) =>
  ({ name, key: { name: type === 'TEXT' ? 'name' : 'id', type }, columns }) as NodeTable;

describe('an import with names', () => {
  test('makes a node table and a named table, without a companion', () => {
    const { target, problem, lines } = plan('time,from,to\n1,Ada,Grace\n2,Grace,12\n');
    expect(problem).toBeUndefined();
    expect(target).toEqual({
      name: 'calls',
      create: { name: 'calls', bucket_seconds: 10, columns: [], member_tables: ['calls_node'] },
      addColumns: [],
      nodeTables: [{ name: 'calls_node', key: { name: 'name', type: 'TEXT' } }],
      members: 'keys',
    });
    expect(lines).toEqual([
      { event_ts: 1, members: ['Ada', 'Grace'] },
      { event_ts: 2, members: ['Grace', '12'] },
    ]);
    expect(targetWords(target)).toContain('nodes go to calls_node, made anew');
  });

  test('keeps hostile names as they are, and leaves rows out whose names cannot be keys', () => {
    const names = ['a/b', '..', '"q"', "it's", '👩‍👩‍👧', '\u202eevil\u202c', 'Ada\u0301', '__proto__', '=1+1'];
    const rows = [...names, 'bell\u0007', 'x'.repeat(513)].map((name) => `1,"${name.replaceAll('"', '""')}",z\n`);
    const { lines, reasons } = plan(`time,from,to\n${rows.join('')}`);
    expect(lines.map(({ members }) => (members as string[])[0])).toEqual(names);
    expect(reasons).toEqual([
      '10 names a member that contains a control character',
      '11 names a member that has more than 512 bytes of UTF-8',
    ]);
  });

  test('gives the members in columns roles, and edges an end', () => {
    const { target, lines, reasons } = plan('time,from,to,left\n1,Ada,Grace;Ada,5\n2,Grace,Linus,\n9,a,b,3\n', {
      roles: new Map([
        ['from', 'sender'],
        ['to', 'recipient'],
      ]),
      memberColumns: ['from', 'to'],
      separator: ';',
      endColumn: 'left',
      propertyColumns: [],
    });
    expect(target.create).toMatchObject({ roles: ['sender', 'recipient'], intervals: true });
    expect(lines).toEqual([
      {
        event_ts: 1,
        end_ts: 5,
        members: [
          { key: 'Ada', role: ['sender', 'recipient'] },
          { key: 'Grace', role: ['recipient'] },
        ],
      },
      {
        event_ts: 2,
        members: [
          { key: 'Grace', role: ['sender'] },
          { key: 'Linus', role: ['recipient'] },
        ],
      },
    ]);
    expect(reasons).toEqual(['3 ends before it begins']);
  });

  test('gives the members in columns kinds, with integers as keys where all of them are', () => {
    const { target, lines } = plan('time,who,room\n1,Ada,12\n2,Grace,7\n', {
      memberColumns: ['who', 'room'],
      hasNames: true,
      kinds: new Map([['room', 'Room']]),
      propertyColumns: [],
    });
    expect(target.nodeTables).toEqual([
      { name: 'calls_node', key: { name: 'name', type: 'TEXT' } },
      { name: 'Room', key: { name: 'id', type: 'INTEGER' } },
    ]);
    expect(lines[0]).toEqual({
      event_ts: 1,
      members: [
        { kind: 'calls_node', key: 'Ada' },
        { kind: 'Room', key: 12 },
      ],
    });
  });

  test('takes the kinds and roles that lines of JSON have', () => {
    const { target, lines, problem } = plan(
      `{"event_ts": 1, "members": {"guest": [{"kind": "Person", "key": "Ada"}], "host": [{"kind": "Room", "key": 3}]}}
{"event_ts": 2, "members": [{"kind": "Person", "key": "Grace", "role": "guest"}, {"kind": "Room", "key": 4}]}\n`,
    );
    expect(problem).toBeUndefined();
    expect(target.create).toMatchObject({ member_tables: ['Person', 'Room'], roles: ['guest', 'host'] });
    expect(lines[1]).toEqual({
      event_ts: 2,
      members: [
        { kind: 'Person', key: 'Grace', role: ['guest'] },
        { kind: 'Room', key: 4 },
      ],
    });
  });

  test('goes into a named table, whose keys and roles it takes', () => {
    const known = {
      tables: [table({ roles: ['From', 'To'], member_tables: ['Room'] })],
      nodeTables: [nodeTable('Room', 'INTEGER')],
    };
    const { target, lines, reasons, problem } = plan('time,from,to\n1,1,2\n2,3,Ada\n', {}, known);
    expect(problem).toBeUndefined();
    expect([target.create, target.nodeTables, target.members]).toEqual([undefined, [], 'keys']);
    expect(lines).toEqual([
      {
        event_ts: 1,
        members: [
          { node: 1, role: ['From'] },
          { node: 2, role: ['To'] },
        ],
      },
    ]);
    expect(reasons).toEqual([
      '2 names a member that must be an integer between -(2^53-1) and 2^53-1, because the keys of Room are integers',
    ]);
  });

  test('goes on in a table with several kinds as it began', () => {
    const text = 'time,who,room\n1,Ada,12\n';
    const change = { memberColumns: ['who', 'room'], kinds: new Map([['room', 'Room']]), propertyColumns: [] };
    const known = {
      tables: [table({ member_tables: ['calls_node', 'Room'] })],
      nodeTables: [nodeTable('calls_node', 'TEXT'), nodeTable('Room', 'INTEGER')],
    };
    const before = plan(text, { ...change, hasNames: true });
    const after = plan(text, change, known);
    expect([after.problem, after.lines]).toEqual([undefined, before.lines]);
    expect(plan(text, { ...change, kinds: new Map() }, known, 'calls', 'none').problem).toContain(
      'choose under Roles and kinds',
    );
  });

  test('uses node tables that exist', () => {
    const known = { tables: [], nodeTables: [nodeTable('Person', 'TEXT')] };
    const { target } = plan('time,from,to\n1,5,6\n', { hasNames: true }, known, 'calls', 'person');
    expect([target.create?.member_tables, target.nodeTables]).toEqual([['Person'], []]);
  });

  test('still numbers names in a table of numbers that has a companion', () => {
    const known = { ...NONE, tables: [table({ nodes: 'numbers' }), table({ name: 'calls_nodes', nodes: 'numbers' })] };
    const { target, problem, lines } = plan('time,from,to\n1,Ada,Grace\n', {}, known);
    expect([problem, target.members, lines[0]!.members]).toEqual([undefined, 'companion', ['Ada', 'Grace']]);
  });

  test.each<[string, Partial<Mapping>, typeof NONE, string | undefined]>([
    ['calls holds numbers', {}, { ...NONE, tables: [table({ nodes: 'numbers' })] }, undefined],
    ['calls has no intervals', { endColumn: 'left' }, { ...NONE, tables: [table({})] }, undefined],
    ['calls has no roles', { roles: new Map([['from', 'x']]) }, { ...NONE, tables: [table({})] }, undefined],
    [
      'calls has no role x; its roles are y',
      { roles: new Map([['from', 'x']]) },
      { ...NONE, tables: [table({ roles: ['y'] })] },
      undefined,
    ],
    ['not of Cat', { kinds: new Map([['from', 'Cat']]) }, { ...NONE, tables: [table({})] }, undefined],
    ['not "no name"', { roles: new Map([['from', 'no name']]) }, NONE, undefined],
    [
      'left is both a role and a column',
      { roles: new Map([['from', 'left']]), propertyColumns: ['left'] },
      NONE,
      undefined,
    ],
    ['other is a table of edges', {}, { ...NONE, tables: [table({ name: 'other' })] }, 'other'],
    ['calls is a table of edges', {}, NONE, 'calls'],
    ['calls is a node table', {}, { ...NONE, nodeTables: [nodeTable('calls', 'TEXT')] }, undefined],
  ])('is refused before it begins: %s', (sentence, change, known, kind) => {
    expect(plan('time,from,to,left\n1,Ada,Grace,5\n', change, known, 'calls', kind).problem).toContain(sentence);
  });
});

describe('an import of nodes', () => {
  const file = readSource(
    'people.csv',
    'Name,born,Home town,weight\nAda,1815,London,\n" .. ",x,,1\nGrace,1906,"New York",2.5\n,1,,\nb\u0001,2,,\n',
  );

  test('is recognised by a key and the lack of a time', () => {
    expect(looksLikeNodes(file)).toBe(true);
    expect(looksLikeNodes(readSource('a.csv', 'time,name,to\n2024-01-01,Ada,Grace\n'))).toBe(false);
    expect(looksLikeNodes(readSource('a.csv', 'from,to\n1,2\n'))).toBe(false);
  });

  test('takes a column as the key and the others as attributes, and leaves bad rows out', () => {
    const { key, columns, nodes, rejected } = planNodes(file, guessNodeMapping(file, undefined), undefined);
    expect(key).toEqual({ name: 'Name', type: 'TEXT' });
    expect(columns).toEqual([
      { name: 'born', type: 'TEXT' },
      { name: 'Home_town', type: 'TEXT' },
      { name: 'weight', type: 'REAL' },
    ]);
    expect(nodes.map((node) => ({ ...node }))).toEqual([
      { Name: 'Ada', born: '1815', Home_town: 'London' },
      { Name: '..', born: 'x', weight: 1 },
      { Name: 'Grace', born: '1906', Home_town: 'New York', weight: 2.5 },
    ]);
    expect(rejected.map(({ row, reason }) => `${row} ${reason}`)).toEqual([
      '4 has no Name, which is the key of the node',
      '5 has a key that contains a control character',
    ]);
  });

  test('takes the key, the names and the types of a table that exists', () => {
    const known = nodeTable('Person', 'TEXT', [{ name: 'BORN', type: 'INTEGER' }] as NodeTable['columns']);
    const { key, columns, nodes, rejected } = planNodes(file, guessNodeMapping(file, known), known);
    expect(key.name).toBe('name');
    expect(columns[0]).toEqual({ name: 'BORN', type: 'INTEGER' });
    expect({ ...nodes[0] }).toEqual({ name: 'Ada', BORN: 1815, Home_town: 'London' });
    expect(rejected[0]!.reason).toBe('says "x" where born wants a number');
  });
});
