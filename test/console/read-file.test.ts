import { describe, expect, test } from 'vitest';
import { csvRows } from '../../src/console/import/csv.ts';
import { guessMapping, newColumns, plannedEdges, readSource, secondsOf } from '../../src/console/import/read-file.ts';
import { csvLine } from '../../src/console/query/download.ts';

describe('a file of lines', () => {
  test('becomes edges, with what each row has besides', () => {
    const file = readSource(
      'a.ndjson',
      '{"event_ts":5,"members":[3,1],"weight":0.5,"kind":"x"}\n\n{"event_ts":6,"members":[2]}\n',
    );
    const mapping = guessMapping(file);
    expect(mapping).toEqual({
      timeColumn: 'event_ts',
      memberColumns: ['members'],
      propertyColumns: ['weight', 'kind'],
    });
    expect(newColumns(file, mapping)).toEqual([{ name: 'kind', type: 'TEXT' }]);
    expect(plannedEdges(file, mapping)).toEqual({
      edges: [
        { event_ts: 5, members: [3, 1], weight: 0.5, kind: 'x' },
        { event_ts: 6, members: [2] },
      ],
      rejected: [],
    });
  });

  test.each([
    ['{"event_ts":1}\nnot json', 'Line 2 is no JSON'],
    ['{"a":1}\n[1]', 'Line 2 is no object'],
    ['', 'holds no rows'],
  ])('%j is refused in words', (text, message) => {
    expect(() => readSource('a.ndjson', text)).toThrow(message);
  });
});

describe('a table', () => {
  const text =
    'when;from;to;speed;ok;note\n2001-05-01;1;2;0.5;true;"a;b"\n2001-05-01 10:00:00;3;x;7;false;\n;5;6;8;true;z\n';

  test('becomes edges of its columns of integers; what is none is named with its row', () => {
    const file = readSource('a.csv', text);
    const mapping = { timeColumn: 'when', memberColumns: ['from', 'to'], propertyColumns: ['speed', 'ok', 'note'] };
    expect(newColumns(file, mapping)).toEqual([
      { name: 'speed', type: 'REAL' },
      { name: 'ok', type: 'BOOLEAN' },
      { name: 'note', type: 'TEXT' },
    ]);
    const { edges, rejected } = plannedEdges(file, mapping);
    expect(edges).toEqual([{ event_ts: 988_675_200, members: [1, 2], speed: 0.5, ok: true, note: 'a;b' }]);
    expect(rejected).toEqual([
      { row: 2, reason: 'member x is no integer; nodes are integers' },
      { row: 3, reason: 'an empty time is no time' },
    ]);
  });

  test('may list its members in one column', () => {
    const file = readSource('a.csv', 'ts,members\n1,"4,5 6|7"\n');
    expect(plannedEdges(file, guessMapping(file)).edges).toEqual([{ event_ts: 1, members: [4, 5, 6, 7] }]);
  });
});

test('CSV is read as it is written', () => {
  const rows = [
    ['a', 'b,c', 'd"e'],
    ['', 'two\nlines', 'x'],
  ];
  expect(csvRows(rows.map(csvLine).join(''), ',')).toEqual(rows);
  expect(csvRows('a,b\n1,\n"open', ',')).toEqual([['a', 'b'], ['1', ''], ['open']]);
});

test('CSV holds no formula', () => {
  expect(csvLine(['=1+1', '@x', -5, null, true, [1, 2], { a: 1 }])).toBe(`'=1+1,'@x,-5,,true,1 2,"{""a"":1}"\r\n`);
});

test.each([
  ['5', 5],
  ['-5.5', -6],
  ['1970-01-02', 86_400],
  ['1970-01-01 00:01', 60],
  ['1970-01-01T01:00:00+01:00', 0],
])('time %s is second %i', (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds);
});
