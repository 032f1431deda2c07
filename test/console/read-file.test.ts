import { describe, expect, test } from 'vitest';
import { csvRows } from '../../src/console/import/csv.ts';
import { decodeFile, NotUtf8 } from '../../src/console/import/decode-file.ts';
import { newColumns, planEdges } from '../../src/console/import/edge-plan.ts';
import { EXAMPLE } from '../../src/console/import/example.ts';
import { guessMapping, guessSeparator } from '../../src/console/import/mapping.ts';
import { NodeNumbers } from '../../src/console/import/node-numbers.ts';
import { readSource } from '../../src/console/import/read-file.ts';
import { secondsOf } from '../../src/console/import/times.ts';
import { csvLine } from '../../src/console/query/csv-line.ts';
import { guessTimeFormat, type TimeFormat } from '../../src/tabular/times.ts';

describe('a file of JSON lines', () => {
  test('is converted to edges with the other fields of each row as properties', () => {
    const file = readSource(
      'a.ndjson',
      '{"event_ts":5,"members":[3,1],"weight":0.5,"kind":"x"}\n\n{"event_ts":6,"members":[2]}\n',
    );
    const mapping = guessMapping(file);
    expect(mapping).toEqual({
      timeColumn: 'event_ts',
      timeFormat: 's',
      memberColumns: ['members'],
      separator: ';',
      hasNames: false,
      endColumn: '',
      roles: new Map(),
      kinds: new Map(),
      propertyColumns: ['weight', 'kind'],
    });
    expect(newColumns(file, mapping)).toEqual([{ name: 'kind', type: 'TEXT' }]);
    expect(planEdges(file, mapping)).toEqual({
      edges: [
        { event_ts: 5, members: [3, 1], properties: { weight: 0.5, kind: 'x' } },
        { event_ts: 6, members: [2], properties: {} },
      ],
      properties: ['weight', 'kind'],
      roles: [],
      rejected: [],
    });
  });

  test.each([
    ['not json\nnor this', 'Row 1 is not JSON'],
    ['[1]', 'Row 1 is not an object'],
    ['', 'holds no rows'],
  ])('is refused with a readable message: %j', (text, message) => {
    expect(() => readSource('a.ndjson', text)).toThrow(message);
  });

  test('is read even when some lines are invalid, and those are listed with their numbers', () => {
    const file = readSource('a.ndjson', '{"event_ts":1,"members":[1]}\nnot json\n[1]\n{"event_ts":2,"members":[2]}');
    const { edges, rejected } = planEdges(file, guessMapping(file));
    expect(edges.length).toBe(2);
    expect(rejected.map(({ row, source }) => [row, source])).toEqual([
      [2, 'not json'],
      [3, '[1]'],
    ]);
  });
});

describe('a CSV table', () => {
  const text =
    'when;from;to;speed;ok;note\n2001-05-01;1;2;0.5;true;"a;b"\n2001-05-01 10:00:00;3;x;7;false;\n;5;6;8;true;z\n1;1;1;1;1;1;1\n';

  test('becomes edges with the integers of its columns as members, and bad rows are listed', () => {
    const file = readSource('a.csv', text);
    const mapping = { ...guessMapping(file), hasNames: false };
    expect([mapping.timeColumn, mapping.memberColumns]).toEqual(['when', ['from', 'to']]);
    expect(newColumns(file, mapping)).toEqual([
      { name: 'speed', type: 'REAL' },
      { name: 'ok', type: 'BOOLEAN' },
      { name: 'note', type: 'TEXT' },
    ]);
    const { edges, rejected } = planEdges(file, mapping);
    expect(edges).toEqual([
      { event_ts: 988_675_200, members: [1, 2], properties: { speed: 0.5, ok: true, note: 'a;b' } },
    ]);
    expect(rejected.map(({ row, reason }) => `${row} ${reason}`)).toEqual([
      '2 names the member x, but nodes are integers here; check Nodes have names',
      '3 has no time',
      '4 has 7 cells, but the header names 6 columns',
    ]);
  });

  test('may list the members in one column', () => {
    for (const list of ['4,5,6,7', '4|5|6|7', '4 5 6 7', '[4, 5, 6, 7]']) {
      const file = readSource('a.csv', `ts,members\n1,"${list}"\n`);
      const mapping = guessMapping(file);
      expect(mapping.hasNames).toBe(false);
      expect(planEdges(file, mapping).edges).toEqual([{ event_ts: 1, members: [4, 5, 6, 7], properties: {} }]);
    }
    // Spaces and separators that are mixed are part of names, such as telephone numbers.
    expect(guessMapping(readSource('a.csv', 'ts,members\n1,44 123|45\n')).hasNames).toBe(true);
  });

  test('may have decimal commas and thousands separators, as in the import command', () => {
    const text =
      'id;sent_at;from;to;weight_kg;pieces\n1;2024-04-01;A;B;1.240,50;3\n2;2024-04-02;B;C;980,00;1.000\n3;2024-04-03;A;C; ;2\n';
    const file = readSource('ship.csv', text);
    const mapping = guessMapping(file);
    expect(newColumns(file, mapping)).toEqual([
      { name: 'weight_kg', type: 'REAL' },
      { name: 'pieces', type: 'INTEGER' },
    ]);
    expect(planEdges(file, mapping).edges.map(({ properties }) => ({ ...properties }))).toEqual([
      { weight_kg: 1240.5, pieces: 3 },
      { weight_kg: 980, pieces: 1000 },
      { pieces: 2 },
    ]);
    // In a comma-separated file, quoted cells such as "3,4" stay text, because they could be
    // numbers or lists.
    const lists = readSource('tags.csv', 'ts,members,tags\n1,1;2,"3,4"\n2,2;3,"5,6"\n');
    expect(newColumns(lists, guessMapping(lists))).toEqual([{ name: 'tags', type: 'TEXT' }]);
  });

  test('may contain names of nodes, with spaces in the names', () => {
    const file = readSource(
      'a.csv',
      'date,people,place\n2024-01-01,Ada Lovelace;Grace, Boston\n2024-01-02,Grace,Delft\n',
    );
    const mapping = guessMapping(file);
    expect(mapping).toMatchObject({
      memberColumns: ['people'],
      separator: ';',
      hasNames: true,
      propertyColumns: ['place'],
    });
    expect(planEdges(file, mapping).edges.map(({ members }) => members)).toEqual([
      ['Ada Lovelace', 'Grace'],
      ['Grace'],
    ]);
  });

  test('may name one node in each of two columns, with separators in the names', () => {
    const file = readSource('a.csv', 'time,sender,recipient\n1,"Lovelace; Ada",Grace\n');
    const mapping = guessMapping(file);
    expect(mapping).toMatchObject({ memberColumns: ['sender', 'recipient'], hasNames: true });
    expect(planEdges(file, mapping).edges[0]!.members).toEqual(['Lovelace; Ada', 'Grace']);
  });

  test.each([
    ['when,caller,callee,minutes,topic\n2024-05-01,Ada,Grace,12,x\n2024-05-02,Ada,Bob,3,y\n', ['caller', 'callee']],
    ['date,room,attendees,minutes\n2024-05-01,A,Ann; Bob,12\n2024-05-02,B,Cem; Ann; Bob,3\n', ['attendees']],
    ['date,room,minutes\n2024-05-01,A,12\n2024-05-02,B,3\n', []],
    ['time,a,b,minutes\n1,7,8,12\n2,8,9,3\n', ['a', 'b']],
  ])('has members in the columns that look like members, not in columns of amounts: %j', (text, members) => {
    expect(guessMapping(readSource('a.csv', text)).memberColumns).toEqual(members);
  });

  test('gives properties valid column names, and ignores ids and columns without a name', () => {
    const file = readSource('a.csv', 'id,event_ts,members,table,a b (m),kind,\n1,2,3;4,x,y,z,u\n');
    const mapping = guessMapping(file);
    expect(mapping.propertyColumns).toEqual(['table', 'a b (m)', 'kind']);
    const { edges, properties } = planEdges(file, mapping);
    expect(properties).toEqual(['table_2', 'a_b_m', 'kind']);
    expect({ ...edges[0]!.properties }).toEqual({ table_2: 'x', a_b_m: 'y', kind: 'z' });
    const lines = readSource('a.ndjson', '{"event_ts":2,"members":[3],"table":"x","a b":1,"kind":"z"}\n');
    expect(guessMapping(lines).propertyColumns).toEqual(['kind']);
  });

  test('gets a warning and a new column name when its header repeats a name', () => {
    const file = readSource('a.csv', 'ts,members,a,A\n1,2,x,y\n');
    expect([file.columns, file.warnings]).toEqual([
      ['ts', 'members', 'a', 'A_2'],
      ['Column 4 is called A like one before it, and is read as A_2.'],
    ]);
  });

  test('is refused without a header', () => {
    expect(() => readSource('a.csv', '2024-01-01,1,2\n2024-01-02,2,3\n')).toThrow(
      'its first line (2024-01-01, 1, 2) looks like a row',
    );
    expect(() => readSource('a.csv', ',\n1,2\n')).toThrow('has no header');
  });

  test('treats quoted cells as text, and words such as NULL as missing values', () => {
    const file = readSource('a.csv', 'ts,members,code,zip,n\n1,2,"5",007,NULL\n2,3,"6",008,4\n');
    const mapping = guessMapping(file);
    expect(newColumns(file, mapping)).toEqual([
      { name: 'code', type: 'TEXT' },
      { name: 'zip', type: 'TEXT' },
      { name: 'n', type: 'INTEGER' },
    ]);
    expect(planEdges(file, mapping).edges.map(({ properties }) => ({ ...properties }))).toEqual([
      { code: '5', zip: '007' },
      { code: '6', zip: '008', n: 4 },
    ]);
  });

  test('may name its separator in the first line', () => {
    const file = readSource('a.csv', '\ufeffsep=;\n\nts;members;note\n1;2,3;a,b\n2;3;"open\n');
    expect(file.columns).toEqual(['ts', 'members', 'note']);
    expect(planEdges(file, guessMapping(file)).edges[0]!.members).toEqual([2, 3]);
    expect(file.rejected[0]!.reason).toContain('opens a quote in line 5');
  });
});

test('the example file is complete', () => {
  const file = readSource('example.csv', EXAMPLE);
  const { edges, rejected } = planEdges(file, guessMapping(file));
  expect([edges.length, rejected.length]).toEqual([10, 0]);
  expect(edges[0]!.members).toEqual(['Ada', 'Grace', 'Edsger']);
});

test('new names get the numbers after the known ones, and each is returned once', () => {
  const numbers = new NodeNumbers(new Map([['Ada', 4]]));
  expect(['Ada', 'Bob', 'Bob', 'Eve'].map((name) => numbers.numberOf(name, 9))).toEqual([4, 5, 5, 6]);
  expect(numbers.take()).toEqual([
    { id: 5, name: 'Bob', event_ts: 9 },
    { id: 6, name: 'Eve', event_ts: 9 },
  ]);
  expect(numbers.take()).toEqual([]);
});

describe('CSV', () => {
  const cellsOf = (text: string) => csvRows(text, ',').map(({ cells }) => cells);

  test('is unchanged after writing and reading', () => {
    const rows = [
      ['a', 'b,c', 'd"e'],
      ['', 'two\nlines', 'x'],
      ['1\r\n2', '', ''],
    ];
    expect(cellsOf(rows.map(csvLine).join(''))).toEqual(rows);
  });

  test.each([
    ['CRLF and LF in one file', 'a,b\r\n1,2\n'],
    ['CR alone', 'a,b\r1,2\r'],
    ['CRLF, also of empty lines', '\r\na,b\r\n\r\n"1",2\r\n\r\n'],
  ])('has the same cells with other line ends: %s', (_name, text) => {
    expect(cellsOf(text)).toEqual([
      ['a', 'b'],
      ['1', '2'],
    ]);
  });

  test.each([
    ['a,b\n1,2\n3,"open\n5,6\n', '2 opens a quote in line 3 of the file that is never closed'],
    ['a,b\r\n"1\r\n1",2\r\n3,"x"y\r\n5,6', '2 has a quote inside a quoted cell in line 4 of the file; write each'],
  ])('loses only the line with a fault in its quotes, which is reported: %j', (text, fault) => {
    const { rows, numbers, rejected } = readSource('a.csv', text);
    expect(rejected.map(({ row, reason }) => `${row} ${reason}`)).toEqual([expect.stringContaining(fault)]);
    expect([numbers, rows.at(-1)]).toEqual([[1, 3], { a: '5', b: '6' }]);
  });

  test('is refused when there is a fault in its header or in many lines', () => {
    expect(() => readSource('a.csv', '"a"b,c\n1,2\n')).toThrow('The header has a quote inside');
    expect(() => readSource('a.csv', `a,b\n${'1,"x" y\n'.repeat(500)}`)).toThrow(/More than 20 rows .* line 22 /);
  });
});

test('CSV output contains no formula', () => {
  expect(csvLine(['=1+1', '@x', -5, null, true, [1, 2], { a: 1 }])).toBe(`'=1+1,'@x,-5,,true,1 2,"{""a"":1}"\r\n`);
});

test.each([
  ['5', 5],
  ['-5.5', -6],
  ['1970-01-02', 86_400],
  ['1970-01-01 00:01', 60],
  ['1970-01-01T01:00:00+01:00', 0],
  ['1700000000123', 1_700_000_000],
])('the time %s is second %i', (text, seconds) => {
  expect(secondsOf(text, guessTimeFormat([text]))).toBe(seconds);
});

describe('dates with an ambiguous order of day and month', () => {
  const planOf = (dates: string[], format?: TimeFormat) => {
    const file = readSource('a.csv', `when,members\n${dates.map((date) => `${date},1\n`).join('')}`);
    const guessed = guessMapping(file);
    const plan = planEdges(file, { ...guessed, timeFormat: format ?? guessed.timeFormat });
    const times = plan.edges.map(({ event_ts }) => new Date(event_ts * 1000).toISOString().slice(0, 16));
    return { format: guessed.timeFormat, times, reasons: plan.rejected.map(({ row, reason }) => `${row} ${reason}`) };
  };

  test('are refused until their order is chosen', () => {
    const dates = ['3.4.2024', '12/11/2024 9:05 PM'];
    expect(planOf(dates)).toEqual({
      format: 'iso',
      times: [],
      reasons: [
        '1 says "3.4.2024", whose day and month can be read in two ways; choose their order beside the time',
        '2 says "12/11/2024 9:05 PM", whose day and month can be read in two ways; choose their order beside the time',
      ],
    });
    expect(planOf(dates, 'dmy').times).toEqual(['2024-04-03T00:00', '2024-11-12T21:05']);
    expect(planOf(dates, 'mdy').times).toEqual(['2024-03-04T00:00', '2024-12-11T21:05']);
  });

  test('have the order that follows from a day above 12 among them', () => {
    expect(planOf(['04.03.2024 10:15', '14.03.2024']).times).toEqual(['2024-03-04T10:15', '2024-03-14T00:00']);
    expect(planOf(['3/4/2024', '3/14/2024', '2024-05-01']).times).toEqual([
      '2024-03-04T00:00',
      '2024-03-14T00:00',
      '2024-05-01T00:00',
    ]);
    expect(guessTimeFormat(['3/14/2024', '14/3/2024', '2024-01-01'])).toBe('iso');
    // A single value in another order among several is a bad row.
    expect(guessTimeFormat(['3/14/2024', '3/15/2024', '14/3/2024', '3/16/2024', '3/17/2024'])).toBe('mdy');
  });

  test('are refused when the calendar has no such day', () => {
    expect(planOf(['31.02.2024', '04.13.2024', '04.03.24', '01.01.2024 25:00', '01.01.2024'], 'dmy').reasons).toEqual(
      ['31.02.2024', '04.13.2024', '04.03.24', '01.01.2024 25:00'].map(
        (date, at) => `${at + 1} says "${date}", which is not a date with the day first`,
      ),
    );
  });
});

test.each(['Marsh 4, 2024', '2024-02-30', '2024', '10:15'])('the time %s is refused', (text) => {
  expect(() => secondsOf(text, 'dmy')).toThrow('ISO 8601');
});

test('a text among times that are numbers is refused', () => {
  expect(() => secondsOf('never', 'ms')).toThrow('but the other times are milliseconds since 1970');
});

test('all numbers of one column have the same unit', () => {
  const units = [['5'], ['1e11', 2e12], ['1700000000123'], ['1700000000123456'], [1.7e18], ['x', 'y', '1'], []];
  expect(units.map((cells) => guessTimeFormat(cells))).toEqual(['s', 's', 'ms', 'us', 'ns', 'iso', 's']);
  expect(guessTimeFormat(['1700000000123'], 'Event_ts')).toBe('s');
});

describe('columns of members', () => {
  const rows = ['Fatma; Jürgen', 'Zoë', 'Ada;Zoë', 'Ada']
    .map((agents, at) => `${at + 1},${agents},"Núñez, García y Cía"\n`)
    .join('');
  const file = readSource('a.csv', `time,agents,customer\n${rows}`);

  test('may all contain lists, or only some of them', () => {
    const memberColumns = ['agents', 'customer'];
    const separator = guessSeparator(file, memberColumns);
    expect(separator).toBe(';');
    const mapping = { ...guessMapping(file), memberColumns, separator, hasNames: true };
    expect(planEdges(file, mapping).edges.map(({ members }) => members)).toEqual([
      ['Fatma', 'Jürgen', 'Núñez, García y Cía'],
      ['Zoë', 'Núñez, García y Cía'],
      ['Ada', 'Zoë', 'Núñez, García y Cía'],
      ['Ada', 'Núñez, García y Cía'],
    ]);
    expect(planEdges(file, { ...mapping, separator: '' }).edges[0]!.members).toHaveLength(2);
  });

  test('contain one node per cell if no separator is found', () => {
    expect(guessSeparator(file, ['customer', 'time'])).toBe('');
  });
});

describe('the bytes of a file', () => {
  const bytes = (...codes: number[]) => Uint8Array.from(codes);

  test('are UTF-8, with or without a byte order mark', () => {
    expect(decodeFile(new TextEncoder().encode('\ufeffGroß'))).toBe('Groß');
  });

  test('are refused when they are not UTF-8, unless the user chooses Windows-1252', () => {
    const old = bytes(0x47, 0x72, 0x6f, 0xdf);
    expect(() => decodeFile(old)).toThrow(NotUtf8);
    expect(decodeFile(old, 'windows-1252')).toBe('Groß');
  });

  test('are UTF-16 when they begin with its byte order mark', () => {
    expect(decodeFile(bytes(0xff, 0xfe, 0xdf, 0))).toBe('ß');
    expect(decodeFile(bytes(0xfe, 0xff, 0, 0xdf))).toBe('ß');
  });

  test('are refused when they contain a zero byte', () => {
    expect(() => decodeFile(bytes(0x50, 0x4b, 3, 4, 0, 0))).toThrow('not text');
  });
});
