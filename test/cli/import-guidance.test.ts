import { existsSync, mkdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { importCommand } from '../../src/cli/import/command.ts';
import { edgeLines, lookInto, nodeRowsOf, rowsOf, stream, TestWorld } from './support.ts';

let world: TestWorld;

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => world.remove());

type Flags = Record<string, string | boolean>;

const importInto = (paths: string[], flags: Flags = {}) =>
  importCommand(paths, { data: 'db', table: 't', create: true, ...flags }, world);
const rows = (table = 't') => lookInto(world.path('db'), (database) => rowsOf(database.table(table)));
const tables = () => lookInto(world.path('db'), (database) => database.tables().map(({ name }) => name));
const times = async (table?: string) => (await rows(table)).map(({ event_ts }) => event_ts);
const names = () => lookInto(world.path('db'), (database) => nodeRowsOf(database, 't_node').map(({ name }) => name));

const CALLS = `when,agents,customer,topic
2024-03-04 8:15,Fatma Çelik; Jürgen Groß ;,"Núñez, García y Cía",late
2024-03-04 9:15,Jürgen Groß,"Smith, John",lost
2024-03-04 10:15,Zoë Müller; Fatma Çelik,"Smith, John",late
`;
const BOTH = { memberColumns: 'agents,customer' };

test('a member column named by --property-columns is also stored as a property', async () => {
  world.file('trips.csv', 'sent_at,from,to,kg\n2024-04-01,Hamburg,München,3\n2024-04-02,München,Hamburg,5\n');
  const flags = { memberColumns: 'from,to', propertyColumns: 'from,kg' };
  expect(await importInto(['trips.csv'], flags), world.err).toBe(0);
  expect((await rows()).map(({ from, kg, members }) => [from, kg, members])).toEqual([
    ['Hamburg', 3, [1, 2]],
    ['München', 5, [1, 2]],
  ]);
});

describe('lists in some of several member columns', () => {
  test('are split by --separator in every member column', async () => {
    world.file('calls.csv', CALLS);
    expect(await importInto(['calls.csv'], { ...BOTH, separator: ';' }), world.err).toBe(0);
    expect(await names()).toEqual(['Fatma Çelik', 'Jürgen Groß', 'Núñez, García y Cía', 'Smith, John', 'Zoë Müller']);
    expect((await rows()).map(({ members }) => members)).toEqual([
      [1, 2, 3],
      [2, 4],
      [1, 4, 5],
    ]);
    expect(world.err).not.toMatch(/--separator/);
  });

  test('make a dry run and an import suggest --separator, and the dry run shows names', async () => {
    world.file('calls.csv', CALLS);
    const warning = /2 of 3 cells of agents hold ";" between names.*--separator ';' splits/;
    expect(await importInto(['calls.csv'], { ...BOTH, dryRun: true }), world.err).toBe(0);
    expect(world.out).toMatch(warning);
    expect(world.out).toContain('"members":["Zoë Müller; Fatma Çelik","Smith, John"]');
    expect(await importInto(['calls.csv'], BOTH), world.err).toBe(0);
    expect(world.err).toMatch(warning);
    world.out = '';
    expect(await importInto(['calls.csv'], { ...BOTH, separator: ';', dryRun: true }), world.err).toBe(0);
    expect(world.out).toContain('"members":["Zoë Müller","Fatma Çelik","Smith, John"]');
    expect(world.out).not.toMatch(/warning/);
  });

  test('may be separated by vertical bars, but a single name with a separator is not taken for a list', async () => {
    const many = Array.from({ length: 20 }, (_, at) => `${at},n${at},m\n`).join('');
    world.file('a.csv', `ts,a,b\n1,ann|bob,cid\n2,bob|cid,ann\n`);
    world.file('b.csv', `ts,a,b\n${many}21,ann;bob,m\n`);
    const flags = { memberColumns: 'a,b', dryRun: true };
    expect(await importInto(['a.csv'], flags), world.err).toBe(0);
    expect(world.out).toMatch(/2 of 2 cells of a hold "\|" .*--separator '\|'/);
    world.out = '';
    expect(await importInto(['b.csv'], flags), world.err).toBe(0);
    expect(world.out).not.toMatch(/warning/);
  });

  test('make the error suggest a call that works when both flags for members are given', async () => {
    world.file('calls.csv', CALLS);
    expect(await importInto(['calls.csv'], { memberColumn: 'agents', memberColumns: 'customer' })).toBe(2);
    expect(world.err).toMatch(/exclude each other; --member-columns customer,agents --separator ';' reads/);
  });
});

describe('after a bad line', () => {
  const TEXT = `${edgeLines(3)}bad\n${edgeLines(3, 3)}worse\n${edgeLines(2, 6)}`;

  test('the call suggested by the message completes the import', async () => {
    world.file('x.ndjson', TEXT);
    expect(await importInto(['x.ndjson'])).toBe(1);
    expect(world.err).toMatch(/mend the line.*--resume, or leave bad lines out with --resume --on-error skip\.\n/);
    world.err = '';
    expect(await importInto(['x.ndjson'], { onError: 'skip' })).toBe(1);
    expect(world.err).toMatch(
      /into t was interrupted before line 4.*--resume --on-error skip; or remove .*progress\.json/,
    );
    expect(await importInto(['x.ndjson'], { resume: true, onError: 'skip' }), world.err).toBe(0);
    expect(await times()).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
    expect(world.objects('x.ndjson.rejects.ndjson').map(({ line }) => line)).toEqual([4, 8]);
  });

  test('--resume is not suggested when nothing was inserted or the input cannot be read again', async () => {
    world.file('x.ndjson', `bad\n${edgeLines(2)}`);
    expect(await importInto(['x.ndjson'])).toBe(1);
    expect(world.err).toMatch(/The same call with --on-error skip/);
    expect(world.err).not.toMatch(/--resume/);
    world.err = '';
    world.stdin = stream([Buffer.from(TEXT)]);
    expect(await importInto(['-'])).toBe(1);
    expect(world.err).toMatch(/Give what follows in another call/);
    expect(world.err).not.toMatch(/--resume/);
  });

  test.each([false, true])(
    'an unfinished import into another table is reported before a table is created; resumed: %s',
    async (resume) => {
      world.file('x.ndjson', TEXT);
      expect(await importInto(['x.ndjson'])).toBe(1);
      world.err = '';
      expect(await importInto(['x.ndjson'], { table: 'u', resume })).toBe(1);
      expect(world.err).toMatch(
        /x\.ndjson into t at .*db, which was interrupted before line 4; this one goes elsewhere/,
      );
      expect(await tables()).toEqual(['hyperedges', 't']);
      expect(await importInto(['x.ndjson'], { data: 'other', resume })).toBe(1);
      expect(existsSync(world.path('other'))).toBe(false);
      // Follows the advice of the message: with rejects in another folder, the two imports have
      // separate progress files.
      mkdirSync(world.path('aside'));
      expect(await importInto(['x.ndjson'], { table: 'u', rejects: 'aside/r.ndjson', onError: 'skip' })).toBe(0);
    },
  );
});

describe('a dry run of rows that cannot be read', () => {
  test('reports the same error as an import and fails', async () => {
    const latin = Buffer.from('ts,a,b\n1,Gro\xdf,x\n2,M\xfcller,y\n', 'latin1');
    world.file('x.csv', latin);
    const flags = { memberColumns: 'a,b' };
    expect(await importInto(['x.csv'], { ...flags, dryRun: true })).toBe(1);
    const reason = /line 2 of .*x\.csv: The line is not valid UTF-8; --encoding windows-1252/;
    expect(world.err).toMatch(reason);
    expect(world.out).toMatch(/bad rows: all 2, from line 2 on/);
    expect(world.out).not.toMatch(/first 0 rows|integers/);
    expect(existsSync(world.path('db'))).toBe(false);
    world.err = '';
    expect(await importInto(['x.csv'], flags)).toBe(1);
    expect(world.err).toMatch(reason);
    expect(await importInto(['x.csv'], { ...flags, dryRun: true, onError: 'skip' })).toBe(1);
  });

  test('fails like the import when one row is bad, and passes when bad rows are skipped', async () => {
    world.file('x.csv', 'ts,a,b\n1,1,2\nsoon,1,2\n3,1,2\n');
    const flags = { memberColumns: 'a,b', dryRun: true };
    expect(await importInto(['x.csv'], flags)).toBe(1);
    expect(world.err).toMatch(/line 3 of .*ts is "soon".*An import would stop there; --on-error skip/);
    expect(world.out).toMatch(/bad rows: 1 of the first 3, from line 3 on/);
    world.err = '';
    expect(await importInto(['x.csv'], { ...flags, onError: 'skip' })).toBe(0);
    expect(world.err).toBe('');
  });

  test.each([
    ['x.ndjson', 'bad\nworse\n'],
    ['x.csv', 'ts,members\n4.03.2024,1\n5.03.2024,2\n'],
  ])('reports that none of the rows in %s can be read', async (name, text) => {
    world.file(name, text);
    expect(await importInto([name], { dryRun: true })).toBe(1);
    expect(world.err).toMatch(/line [12] of .* Of the first 2 rows none can be read\.\n$/);
  });
});

describe('dates with day and month first', () => {
  test.each<[string, string, number]>([
    ['dmy', '04.03.2024', 1709510400],
    ['dmy', '04.03.2024 10:15', 1709547300],
    ['dmy', '4-3-2024 8:15:30', 1709540130],
    ['mdy', '3/4/2024 8:15', 1709540100],
    ['mdy', '3/14/2024', 1710374400],
    ['mdy', '3/4/2024 12:05 AM', 1709510700],
    ['mdy', '"3/4/2024, 8:15 pm"', 1709583300],
  ])('are read with --ts-format %s: %s', async (tsFormat, time, event_ts) => {
    world.file('x.csv', `day,a\n${time},1\n`);
    expect(await importInto(['x.csv'], { tsColumn: 'day', memberColumns: 'a', tsFormat }), world.err).toBe(0);
    expect(await times()).toEqual([event_ts]);
  });

  test.each([
    ['dmy', '3/14/2024'],
    ['dmy', '31.02.2024'],
    ['mdy', '14.03.2024'],
    ['mdy', '3/14/24'],
    ['mdy', '3/14/2024 13:00 PM'],
    ['dmy', '04.03-2024'],
  ])('are refused with an example of the format when --ts-format is %s: %s', async (tsFormat, time) => {
    world.file('x.csv', `day,a\n${time},1\n`);
    expect(await importInto(['x.csv'], { tsColumn: 'day', memberColumns: 'a', tsFormat })).toBe(1);
    expect(world.err).toMatch(/but it takes (day|month), (month|day) and year, such as .*--ts-format/);
  });
});

describe('the column with the time', () => {
  test.each<[string, string, number]>([
    ['when', 'when,a\n2024-03-04,1\n', 1709510400],
    ['Start', 'Start,a\n2024-03-04,1\n', 1709510400],
    ['a certain name before a possible one', 'start,ts,a\n2024-03-05,2024-03-04,1\n', 1709510400],
    ['a certain name without times after a possible one', 'date,at,a\nspring,2024-03-04,1\n', 1709510400],
    ['the one that holds times', 'when,at,a\nsoon,2024-03-04,1\n', 1709510400],
    ['event_ts, whatever other columns there are', 'when,ts,event_ts,a\n5,6,7,1\n', 7],
  ])('is found by its name: %s', async (_name, text, event_ts) => {
    world.file('x.csv', text);
    expect(await importInto(['x.csv'], { memberColumns: 'a' }), world.err).toBe(0);
    expect(await times()).toEqual([event_ts]);
  });

  test.each<[string, string, Flags, RegExp]>([
    [
      'two candidates',
      'when,start,a\n1,2,3\n',
      { memberColumns: 'a' },
      /Columns when, start could each be the time.*--ts-column/,
    ],
    [
      'a candidate without times',
      'when,a\nsoon,3\n',
      { memberColumns: 'a' },
      /has a name such as event_ts, timestamp, .*when, .*--ts-column/,
    ],
    [
      'candidates that are members',
      'start,end\n1,2\n',
      { memberColumns: 'start,end' },
      /None of the columns \(start, end\) has a name such as/,
    ],
  ])('must be named by a flag: %s', async (_name, text, flags, message) => {
    world.file('x.csv', text);
    expect(await importInto(['x.csv'], flags)).toBe(2);
    expect(world.err).toMatch(message);
    expect(existsSync(world.path('db'))).toBe(false);
  });
});

describe('members that no flag names', () => {
  const MAILS = 'time,sender,recipients\n2024-05-01,Ada,Bob;Eve\n2024-05-02,Bob,Ada;Eve\n';
  const ORDERS = 'time,customer,tags\n2024-05-01,Ada,new|paid\n2024-05-02,Bob,old|paid\n';

  test('are taken from the columns whose names suggest members, which is reported', async () => {
    world.file('mails.csv', MAILS);
    expect(await importInto(['mails.csv']), world.err).toBe(0);
    expect(world.err).toMatch(/taken from sender, recipients, as the names suggest; --member-columns or/);
    expect(await names()).toEqual(['Ada', 'Bob', 'Eve']);
    expect((await rows()).map(({ members }) => members)).toEqual([
      [1, 2, 3],
      [1, 2, 3],
    ]);
  });

  test('must be named by a flag when they are only likely, and the suggested flag works', async () => {
    world.file('orders.csv', ORDERS);
    expect(await importInto(['orders.csv'])).toBe(2);
    expect(world.err).toMatch(/tags may hold the nodes: --member-columns tags --separator '\|' takes them from there/);
    expect(existsSync(world.path('db'))).toBe(false);
    expect(await importInto(['orders.csv'], { memberColumns: 'tags', separator: '|' }), world.err).toBe(0);
    expect(await names()).toEqual(['new', 'paid', 'old']);
  });

  test('are suggested in the syntax of a shell', async () => {
    world.file('x.csv', "time,our 'customer,product id\n1700000000,Ada,7\n");
    expect(await importInto(['x.csv'])).toBe(2);
    expect(world.err).toContain(String.raw`--member-columns 'our '\''customer,product id' takes them`);
  });

  test('may be a JSON list of names that contain the separator', async () => {
    world.file('x.csv', `ts,members\n1,"[""Ada; Countess"",""Bob""]"\n2,Bob;Eve\n`);
    expect(await importInto(['x.csv']), world.err).toBe(0);
    expect(await names()).toEqual(['Ada; Countess', 'Bob', 'Eve']);
  });
});
