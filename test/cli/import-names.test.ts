// Imports of edges whose members are names: node tables and named tables, node attributes, keys of
// every form, old tables with a companion, and interrupted imports.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import type { Database } from '../../src/engine/index.ts';
import { keyRowsOf, lookInto, nodeRowsOf, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

type Flags = Record<string, string | boolean>;

const importInto = (paths: string[], flags: Flags = {}) =>
  importCommand(paths, { data: 'db', table: 't', create: true, ...flags }, world);
const look = <T>(run: (database: Database) => T | Promise<T>) => lookInto(world.path('db'), run);
const members = (table = 't') => look((database) => keyRowsOf(database, table).map((row) => row.members));
const nodes = (table = 't_node') => look((database) => nodeRowsOf(database, table));

const CALLS = 'ts,from,to\n1,Ada,Grace\n2,Grace,Linus\n';

describe('members that are names', () => {
  test('make a named table and a node table, and no companion', async () => {
    world.file('calls.csv', CALLS);
    expect(await importInto(['calls.csv']), world.err).toBe(0);
    expect(await members()).toEqual([
      ['Ada', 'Grace'],
      ['Grace', 'Linus'],
    ]);
    expect(await nodes()).toEqual([{ name: 'Ada' }, { name: 'Grace' }, { name: 'Linus' }]);
    const item = await look((database) => database.table('t').item());
    expect(item).toMatchObject({ nodes: 'named', member_tables: ['t_node'] });
    expect(await look((database) => database.tables().map(({ name }) => name))).not.toContain('t_nodes');
  });

  test('go into the node table that --node-table names, which several tables share', async () => {
    world.file('calls.csv', CALLS);
    world.file('mails.ndjson', '{"event_ts":5,"members":["Ada","Zoë"]}\n');
    const flags = { nodeTable: 'Person' };
    expect(await importInto(['calls.csv'], { ...flags, table: 'calls' }), world.err).toBe(0);
    expect(await importInto(['mails.ndjson'], { ...flags, table: 'mails' }), world.err).toBe(0);
    expect((await nodes('Person')).map(({ name }) => name)).toEqual(['Ada', 'Grace', 'Linus', 'Zoë']);
    // A later import finds the table by its name alone.
    expect(await importInto(['mails.ndjson'], { table: 'mails', create: false }), world.err).toBe(0);
    expect(await members('mails')).toEqual([
      ['Ada', 'Zoë'],
      ['Ada', 'Zoë'],
    ]);
    expect(await importInto(['mails.ndjson'], { table: 'mails', nodeTable: 'Dog' })).toBe(1);
    expect(world.err).toMatch(/members of table mails are nodes of Person, not of Dog/);
  });

  test('may be integers, in a table whose keys are integers', async () => {
    world.file('calls.csv', 'ts,from,to\n1,7,8\n2,8,9\n');
    expect(await importInto(['calls.csv'], { nodeTable: 'Line' }), world.err).toBe(0);
    expect(await members()).toEqual([
      [7, 8],
      [8, 9],
    ]);
    expect(await nodes('Line')).toEqual([{ id: 7 }, { id: 8 }, { id: 9 }]);
    world.file('more.ndjson', '{"event_ts":3,"members":[9,-1]}\n{"event_ts":4,"members":["x"]}\n');
    expect(await importInto(['more.ndjson'], { onError: 'skip' }), world.err).toBe(0);
    expect((await members()).at(-1)).toEqual([9, -1]);
    expect(world.objects('more.ndjson.rejects.ndjson').map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/must be an integer .*because the keys of Line are integers/),
    ]);
    // In a table whose keys are texts, numbers in a file are texts.
    world.file('a.csv', CALLS);
    world.file('b.csv', 'ts,from,to\n3,7,8\n');
    for (const file of ['a.csv', 'b.csv']) expect(await importInto([file], { table: 'u' }), world.err).toBe(0);
    expect((await members('u')).at(-1)).toEqual(['7', '8']);
  });

  test('may be of several kinds, in lines and in lists of cells', async () => {
    const ada = { kind: 'Person', key: 'Ada' };
    const room = { kind: 'Room', key: 5 };
    world.file('a.ndjson', `${JSON.stringify({ event_ts: 1, members: [ada, room] })}\n`);
    expect(await importInto(['a.ndjson']), world.err).toBe(0);
    expect(await members()).toEqual([[ada, room]]);
    const cell = JSON.stringify([room, { kind: 'Person', key: 'a;b "c", d' }]).replaceAll('"', '""');
    world.file('b.csv', `event_ts,members\n2,"${cell}"\n`);
    expect(await importInto(['b.csv']), world.err).toBe(0);
    expect((await members()).at(-1)).toEqual([room, { kind: 'Person', key: 'a;b "c", d' }]);
    world.file('c.csv', 'ts,person,room\n3,Eve,6\n');
    expect(await importInto(['c.csv'], { memberColumns: 'person,room' }), world.err).toBe(0);
    expect((await members()).at(-1)).toEqual([
      { kind: 'Person', key: 'Eve' },
      { kind: 'Room', key: 6 },
    ]);
    world.file('d.csv', 'ts,a,b\n4,Eve,Ada\n');
    expect(await importInto(['d.csv'], { memberColumns: 'a,b' })).toBe(1);
    expect(world.err).toMatch(/object with kind and key, because members are of several kinds: Person, Room/);
    const dog = JSON.stringify([{ kind: 'Dog', key: 'Rex' }]).replaceAll('"', '""');
    world.file('e.csv', `event_ts,members\n5,"${dog}"\n6,"${cell}"\n`);
    expect(await importInto(['e.csv'], { onError: 'skip' }), world.err).toBe(0);
    expect(world.objects('e.csv.rejects.ndjson').map(({ reason }) => reason)).toEqual([expect.stringMatching(/Dog/)]);
    expect((await members()).length).toBe(4);
  });

  test('keep every character but control characters, for which a row is bad', async () => {
    const good = [
      'O\'Neil "Bob"',
      'a, b',
      'שלום עולם',
      '👩‍👩‍👧',
      'ada',
      'Ada',
      'é',
      'e\u0301',
      '\u202eabc',
      'NULL',
      '[1]',
      '.',
      '..',
      'a/b',
      "'; DROP",
    ];
    const bad = ['line\nbreak', 'tab\there', 'bell\u0007', 'x'.repeat(513), ''];
    const cell = (names: readonly string[]) => `"${JSON.stringify(names).replaceAll('"', '""')}"`;
    const lines = [
      ...good.map((name, at) => `${at},${cell([name, 'base'])}`),
      ...bad.map((name) => `99,${cell([name])}`),
    ];
    world.file('x.csv', `ts,members\n${lines.join('\n')}\n`);
    expect(await importInto(['x.csv'], { onError: 'skip' }), world.err).toBe(0);
    expect((await nodes()).map(({ name }) => name)).toEqual(good.toSpliced(1, 0, 'base'));
    const reasons = world.objects('x.csv.rejects.ndjson').map(({ reason }) => reason as string);
    expect(reasons.map((reason) => /(control character|bytes of UTF-8|empty text)/.exec(reason)?.[1])).toEqual([
      'control character',
      'control character',
      'control character',
      'bytes of UTF-8',
      'empty text',
    ]);
  });

  test('are refused where the table creates no nodes', async () => {
    await look(async (database) => {
      await database.nodes.createTable({ name: 'Person', key: { name: 'name', type: 'TEXT' } });
      await database.createTable({ name: 't', memberTables: ['Person'], createNodes: false });
    });
    world.file('calls.csv', CALLS);
    expect(await importInto(['calls.csv'])).toBe(1);
    expect(world.err).toMatch(/line 2 of .*Ada/);
    world.file('people.csv', 'name\nAda\nGrace\n');
    expect(await importInto(['calls.csv'], { nodes: 'people.csv', onError: 'skip' }), world.err).toBe(0);
    expect(await members()).toEqual([['Ada', 'Grace']]);
    expect(await nodes('Person')).toEqual([{ name: 'Ada' }, { name: 'Grace' }]);
  });
});

describe('a table of numbers', () => {
  test('whose companion an earlier version made gets the numbers of names from it', async () => {
    await look(async (database) => {
      const table = await database.createTable({ name: 't' });
      const companion = await database.createTable({ name: 't_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
      await companion.insert({ event_ts: 1, members: [41], properties: { vertex: 'Grace' } });
      await table.insert({ event_ts: 1, members: [41] });
    });
    world.file('calls.csv', CALLS);
    expect(await importInto(['calls.csv']), world.err).toBe(0);
    expect(await members()).toEqual([[41], [41, 42], [41, 43]]);
    const names = await look((database) => rowsOf(database.table('t_nodes')).map((row) => [row.members, row.vertex]));
    expect(names).toEqual([
      [[41], 'Grace'],
      [[42], 'Ada'],
      [[43], 'Linus'],
    ]);
    expect(await look((database) => database.nodes.tables().length)).toBe(0);
  });

  test.each([undefined, 't'])('without a companion refuses names, and is not changed (table %s)', async (name) => {
    await look(async (database) => {
      if (name !== undefined) await database.createTable({ name });
    });
    world.file('calls.csv', CALLS);
    world.file('named.csv', 'ts,from,to,topic\n1,Ada,Grace,tea\n');
    for (const file of ['calls.csv', 'named.csv'])
      expect(await importCommand([file], { data: 'db', create: true, table: name }, world)).toBe(1);
    expect(world.err).toContain(
      `The members of table ${name ?? 'hyperedges'} are numbers, but calls.csv has names. Import it into a table whose members have names: --create --table NAME makes one, with a node table for the names.`,
    );
    const tables = await look((database) => database.tables().map((table) => table.item()));
    expect(tables.map((table) => [table.name, table.row_count, table.columns.length])).toEqual(
      name === undefined
        ? [['hyperedges', 0, 0]]
        : [
            ['hyperedges', 0, 0],
            [name, 0, 0],
          ],
    );
  });

  test('has no place for attributes of nodes', async () => {
    world.file('calls.csv', CALLS);
    world.file('people.csv', 'name,age\nAda,36\n');
    const flags = { nodes: 'people.csv' };
    expect(await importCommand(['calls.csv'], { data: 'db', create: true, ...flags }, world)).toBe(1);
    expect(world.err).toMatch(/Table hyperedges holds plain numbers.*--create --table NAME/);
    expect(await look((database) => database.table().rowCount)).toBe(0);
  });
});

const PEOPLE = 'name,age,city,born on\nAda,36,London,1815-12-10\nGrace,85,,1906-12-09\nEve,7,Rome,\n';

describe('--nodes', () => {
  test('loads attributes before the edges, and replaces nodes that exist', async () => {
    world.file('calls.csv', CALLS);
    world.file('people.csv', PEOPLE);
    expect(await importInto(['calls.csv'], { nodes: 'people.csv' }), world.err).toBe(0);
    expect(world.out).toMatch(/^people\.csv -> t_node: nodes inserted 3, replaced 0, rejected 0, .*\n/);
    expect(world.out).toMatch(/\ncalls\.csv -> t: inserted 2, rejected 0, .*\n$/);
    const expected = [
      { name: 'Ada', age: 36, city: 'London', born_on: '1815-12-10' },
      { name: 'Grace', age: 85, city: null, born_on: '1906-12-09' },
      { name: 'Eve', age: 7, city: 'Rome', born_on: null },
      { name: 'Linus', age: null, city: null, born_on: null },
    ];
    expect(await nodes()).toEqual(expected);
    world.file('more.ndjson', '{"name":"Ada","age":37}\n{"name":"Ann","age":1}\n{"name":"Ann","age":2}\n');
    world.out = '';
    expect(await importCommand([], { data: 'db', nodeTable: 't_node', nodes: 'more.ndjson' }, world), world.err).toBe(
      0,
    );
    expect(world.out).toMatch(/^more\.ndjson -> t_node: nodes inserted 1, replaced 2, rejected 0/);
    expect(await nodes()).toEqual([
      { name: 'Ada', age: 37, city: null, born_on: null },
      ...expected.slice(1),
      { name: 'Ann', age: 2, city: null, born_on: null },
    ]);
  });

  test('takes the last of the lines for one key, also where an attribute is called id', async () => {
    world.file(
      'people.ndjson',
      '{"name":"Ada","id":42}\n{"name":"Alan"}\n{"name":"Ada","id":43}\n{"name":"Alan","id":1}\n',
    );
    const flags = { data: 'db', nodes: 'people.ndjson', nodeTable: 'Person', create: true };
    expect(await importCommand([], flags, world), world.err).toBe(0);
    expect(await nodes('Person')).toEqual([
      { name: 'Ada', id: 43 },
      { name: 'Alan', id: 1 },
    ]);
    expect(world.out).toMatch(/2 nodes.*2 replaced|inserted 2.*replaced 2/);
  });

  test('alone makes a node table; --key names the column with the keys', async () => {
    world.file('rooms.csv', 'no;floor;area\n1;0;12,5\n7;2;30,0\n');
    expect(await importCommand([], { data: 'db', nodes: 'rooms.csv', key: 'no', create: true }, world)).toBe(2);
    expect(world.err).toMatch(/--node-table NAME/);
    const flags = { data: 'db', nodes: 'rooms.csv', key: 'no', nodeTable: 'Room' };
    expect(await importCommand([], flags, world)).toBe(1);
    expect(world.err).toMatch(/no node table Room .*--create/);
    expect(await importCommand([], { ...flags, create: true }, world), world.err).toBe(0);
    expect(await nodes('Room')).toEqual([
      { no: 1, floor: 0, area: 12.5 },
      { no: 7, floor: 2, area: 30 },
    ]);
    world.file('more.csv', 'no,colour\n9,red\n');
    expect(await importCommand([], { ...flags, nodes: 'more.csv' }, world)).toBe(1);
    expect(world.err).toMatch(/Table Room has no column colour, which more.csv has. Make it with --create\./);
  });

  test('reports rows that are no nodes', async () => {
    world.file('people.csv', 'name,age\nAda,36\n,1\nBob,old\n"two\nlines",3\nEve,1\n');
    const flags = { data: 'db', nodes: 'people.csv', nodeTable: 'Person', create: true, types: 'age=INTEGER' };
    expect(await importCommand([], { ...flags, onError: 'skip' }, world), world.err).toBe(1);
    expect(world.objects('people.csv.rejects.ndjson').map(({ line, reason }) => [line, reason])).toEqual([
      [3, 'The row has no name, which is the key of the node.'],
      [4, expect.stringMatching(/age.*"old"/)],
      [5, 'name contains a control character.'],
    ]);
    expect(await nodes('Person')).toEqual([
      { name: 'Ada', age: 36 },
      { name: 'Eve', age: 1 },
    ]);
    world.file('bad.ndjson', '{"name":"Zoe"}\n{"age":1}\n{"name":"Ann"}\n');
    expect(await importCommand([], { ...flags, nodes: 'bad.ndjson' }, world)).toBe(1);
    expect(world.err).toMatch(/line 2 of .*bad\.ndjson: name is missing\. Stopped there/);
    expect((await nodes('Person')).map(({ name }) => name)).toEqual(['Ada', 'Eve', 'Zoe']);
    world.file('bad.ndjson', '{"name":"Zoe"}\n{"name":"Mia"}\n{"name":"Ann"}\n');
    expect(await importCommand([], { ...flags, nodes: 'bad.ndjson', resume: true }, world), world.err).toBe(0);
    expect((await nodes('Person')).map(({ name }) => name)).toEqual(['Ada', 'Eve', 'Zoe', 'Mia', 'Ann']);
  });

  test('and edges that stop at a bad line are resumed without loading the nodes again', async () => {
    world.file('people.csv', PEOPLE);
    world.file('calls.csv', 'ts,from,to\n1,Ada,Grace\nsoon,Eve,Ada\n3,Eve,Linus\n');
    const flags = { nodes: 'people.csv', memberColumns: 'from,to', tsFormat: 's' };
    expect(await importInto(['calls.csv'], flags)).toBe(1);
    expect(await members()).toEqual([['Ada', 'Grace']]);
    await look(async (database) => {
      const transaction = database.begin();
      const table = database.nodes.table('t_node');
      const id = database.nodes.find(table, 'Ada');
      const row = { event_ts: id, members: [id], properties: { name: 'Ada', age: 99 } };
      transaction.updateRow(table, { eventTs: id, id }, row);
      await transaction.commit();
    });
    expect(await importInto(['calls.csv'], { ...flags, resume: true, onError: 'skip' }), world.err).toBe(0);
    expect(await members()).toEqual([
      ['Ada', 'Grace'],
      ['Eve', 'Linus'],
    ]);
    expect((await nodes())[0]).toEqual({ name: 'Ada', age: 99, city: null, born_on: null });
  });
});

describe('a dry run', () => {
  test('says which node table will be made, or is there', async () => {
    world.file('calls.csv', CALLS);
    world.file('people.csv', PEOPLE);
    expect(await importInto(['calls.csv'], { nodes: 'people.csv', dryRun: true }), world.err).toBe(0);
    expect(world.out).toContain('\nnode table: t_node, key name TEXT, will be made\n');
    expect(world.out).toContain('\npeople.csv: csv\n  key: name TEXT\n  attribute: age INTEGER\n');
    expect(world.out).toContain('  will be made: column born_on TEXT\n');
    expect(world.out).toContain('first nodes:\n    {"name":"Ada","age":36,"city":"London","born_on":"1815-12-10"}\n');
    expect(world.out).toContain('first edges:\n    {"event_ts":1,"members":["Ada","Grace"]}\n');
    expect(world.out).not.toContain('vertex');
    expect(await importInto(['calls.csv'], { nodes: 'people.csv' }), world.err).toBe(0);
    world.out = '';
    expect(await importInto(['calls.csv'], { dryRun: true }), world.err).toBe(0);
    expect(world.out).toContain('\nnode table: t_node, key name TEXT, 4 nodes\n');
  });

  test('of names for a table of numbers names the companion, or says that there is none', async () => {
    world.file('calls.csv', CALLS);
    expect(await importCommand(['calls.csv'], { data: 'db', create: true, dryRun: true }, world)).toBe(1);
    expect(world.out).toContain('The members of table the primary table are numbers, but calls.csv has names. ');
    await look(async (database) => {
      await database.createTable({ name: 'hyperedges_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
    });
    world.out = '';
    expect(await importCommand(['calls.csv'], { data: 'db', create: true, dryRun: true }, world), world.err).toBe(0);
    expect(world.out).toContain('numbers of names: table hyperedges_nodes, column vertex');
  });
});
