// The command, the console and proposals of virtual graphs must interpret the columns of a table in
// the same way.

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { type Answer, commandAnswer, consoleAnswer, proposedAnswer, tableIn } from './same-answers.ts';

const FOLDER = new URL('../cli/messy-csv/', import.meta.url);
const ENCODINGS: Readonly<Record<string, string>> = {
  'koi8-r.csv': 'koi8-r',
  'latin-1.csv': 'windows-1252',
  'windows-1252.csv': 'windows-1252',
  'utf-16-big-mark.csv': 'utf-16be',
  'utf-16-little-mark.csv': 'utf-16le',
  'utf-16-no-mark.csv': 'utf-16le',
};

interface Case {
  readonly time: string;
  readonly members?: readonly string[];
  readonly separator?: string;
  readonly hasNames?: boolean;
  readonly values?: Readonly<Record<string, string>>;
  /**
   * The reason why no graph is proposed for a database that contains the table: specs accept
   * neither lists nor times that are texts or milliseconds.
   */
  readonly noGraph?: string;
  /**
   * Whether the guess is only likely. The command then refuses to import, and names the flag to
   * use.
   */
  readonly isLikely?: boolean;
}

const NOTE = { values: { note: 'TEXT' } };
const TOTAL = { time: 'date iso', values: { total: 'REAL' } };
const PLACE = { time: 'date iso', values: { place: 'TEXT' } };
const NO_SIDES = { members: [], hasNames: false, noGraph: 'no member' };

/** Unless a case states otherwise, the members are the columns `from` and `to`, with names. */
const MESSY: Readonly<Record<string, Case>> = {
  'bars.csv': { time: 'date iso' },
  'blank-lines.csv': { time: 'date iso' },
  'cr.csv': { time: 'date iso', ...NOTE },
  'crlf.csv': { time: 'date iso', ...NOTE },
  'dates-of-a-log.csv': { time: 'time iso' },
  'dates-of-eight-digits.csv': { time: 'date ymd', noGraph: 'numbers that are no seconds' },
  'dates-of-either-order.csv': { time: 'date iso', noGraph: 'times are texts' },
  'dates-with-slashes.csv': { time: 'date iso' },
  'day-first.csv': { time: 'date dmy' },
  'decimal-comma-ambiguous.csv': { time: 'date iso', values: { total: 'TEXT' } },
  'decimal-comma-in-quotes.csv': { time: 'date iso', values: { total: 'TEXT' } },
  'duplicate-headers.csv': { time: 'date iso', values: { note: 'TEXT', note_2: 'TEXT', Note_3: 'TEXT' } },
  'huge-field.csv': { time: 'date iso', ...NOTE },
  'koi8-r.csv': { time: 'дата iso', ...NO_SIDES, values: { p_: 'TEXT', p__2: 'TEXT' } },
  'latin-1.csv': PLACE,
  'milliseconds.csv': { time: 'ts ms', hasNames: false, noGraph: 'numbers that are no seconds' },
  'month-first.csv': { time: 'date mdy' },
  'months-english.csv': { time: 'when iso' },
  'months-french.csv': { time: 'Date et heure iso', ...NO_SIDES, values: { De: 'TEXT', p_: 'TEXT' } },
  'months-german.csv': { time: 'Zeitpunkt iso', ...NO_SIDES, values: { Wer: 'TEXT', Wen: 'TEXT' } },
  'months-others.csv': { time: 'date iso' },
  'months-spanish.csv': { time: 'Fecha iso', ...NO_SIDES, values: { De: 'TEXT', A: 'TEXT' } },
  'mostly-bad.csv': { time: 'date iso', noGraph: 'times are texts' },
  'nul-bytes.csv': { time: 'date iso', ...NOTE },
  'nulls.csv': { time: 'date iso', values: { n: 'INTEGER', word: 'TEXT' }, noGraph: 'times are texts' },
  'one-bad-date.csv': { time: 'date dmy', noGraph: 'times are texts' },
  'one-line-not-utf-8.csv': { time: 'date iso' },
  'quotes-with-newlines.csv': { time: 'date iso', ...NOTE },
  'ragged.csv': { time: 'date iso', ...NOTE },
  'semicolons-decimal-comma.csv': {
    time: 'Datum dmy',
    ...NO_SIDES,
    values: { Von: 'TEXT', An: 'TEXT', Betrag: 'REAL' },
  },
  'sep-line.csv': { time: 'date iso' },
  'strptime.csv': { time: 'at dmy', noGraph: 'times are texts' },
  'tabs.tsv': { time: 'timestamp iso', ...NOTE },
  'thousands-apostrophe.csv': TOTAL,
  'thousands-english.csv': TOTAL,
  'thousands-space.csv': TOTAL,
  'time-column-chinese.csv': { time: '时间 iso' },
  'time-column-dutch.csv': { time: 'Tijdstip iso' },
  'time-column-italian.csv': { time: 'Data e ora iso' },
  'time-column-japanese.csv': { time: '日時 iso' },
  'time-column-polish.csv': { time: 'Czas iso' },
  'time-column-portuguese.csv': { time: 'Data iso' },
  'time-column-russian.csv': { time: 'Время iso' },
  'time-column-spanish.csv': { time: 'fecha_hora iso' },
  'time-column-swedish.csv': { time: 'Tidpunkt iso' },
  'time-column-turkish.csv': { time: 'Tarih iso' },
  'trailing-delimiters.csv': { time: 'date iso' },
  'unclosed-quote-that-meets-another.csv': { time: 'date iso', ...NOTE },
  'unclosed-quote.csv': { time: 'date iso', ...NOTE },
  'utf-16-big-mark.csv': PLACE,
  'utf-16-little-mark.csv': PLACE,
  'utf-16-no-mark.csv': PLACE,
  'utf-8-mark.csv': PLACE,
  'windows-1252.csv': { time: 'date iso', values: { price: 'TEXT' } },
};
/** Files without rows or without a header. */
const NO_TABLES = ['empty.csv', 'no-header.csv', 'only-a-header.csv'];

const LIST = { noGraph: 'a list' };

/** A header and rows that another program could have written. */
const TABLES: readonly (readonly [what: string, lines: readonly string[], expected: Case])[] = [
  [
    'of mails: a sender and a list of recipients',
    ['sent_at,sender,recipients,subject', '2024-01-01,Ada,Bob;Eve,x', '2024-01-02,Bob,Ada;Eve,y'],
    { time: 'sent_at iso', members: ['sender', 'recipients'], separator: ';', values: { subject: 'TEXT' } },
  ],
  [
    'of rides: the ids, if there are several columns for a side',
    [
      'pickup_time,from_station_id,from_station_name,to_station_id,to_station_name,km',
      '2024-01-01 10:00,1,North,2,South,1.5',
    ],
    {
      time: 'pickup_time iso',
      members: ['from_station_id', 'to_station_id'],
      hasNames: false,
      values: { from_station_name: 'TEXT', to_station_name: 'TEXT', km: 'REAL' },
    },
  ],
  [
    'of events: the usual name for members',
    ['event_ts,members,weight,zip,ok', '1700000000,1;2,0.5,00501,true', '1700000060,3,,10001,false'],
    {
      time: 'event_ts s',
      members: ['members'],
      separator: ';',
      hasNames: false,
      values: { zip: 'TEXT', ok: 'BOOLEAN' },
      ...LIST,
    },
  ],
  [
    'of teams: a longer name for members',
    ['day;team_members;n', '14.03.2024;Ada,Bob;1', '15.03.2024;Eve,Bob;2'],
    { time: 'day dmy', members: ['team_members'], separator: ',', values: { n: 'INTEGER' }, isLikely: true, ...LIST },
  ],
  [
    'of meetings: a column of lists',
    ['date,room,attendees,minutes', '2024-05-01,A,Ann; Bob,12', '2024-05-02,B,Cem; Ann; Bob,3'],
    {
      time: 'date iso',
      members: ['attendees'],
      separator: ';',
      values: { room: 'TEXT', minutes: 'INTEGER' },
      isLikely: true,
      ...LIST,
    },
  ],
  [
    'of orders: several things',
    ['order_date,customer,product_id,"Total (EUR)"', '2024-05-01,Ada,7,"1,234.50"', '2024-05-02,Bob,7,3.25'],
    { time: 'order_date iso', members: ['customer', 'product_id'], values: { Total_EUR: 'REAL' }, isLikely: true },
  ],
  [
    'of games: numbered things',
    ['played_at,player1,player2,city,score', '2024-05-01,Ada,Bob,Rome,3'],
    { time: 'played_at iso', members: ['player1', 'player2', 'city'], values: { score: 'INTEGER' }, isLikely: true },
  ],
  [
    'of numbers: two columns that share values',
    ['time,a,b,minutes', '1700000000,7,8,12', '1700000060,8,9,3'],
    { time: 'time s', members: ['a', 'b'], hasNames: false, values: { minutes: 'INTEGER' }, isLikely: true },
  ],
  [
    'of a weather station: no members',
    ['time,temperature,humidity', '1700000000,7,80', '1700000060,8,81'],
    { time: 'time s', ...NO_SIDES, values: { temperature: 'INTEGER', humidity: 'INTEGER' } },
  ],
  [
    'of changes: the time of the event before that of the row',
    ['id,created_at,event_time,updated_at,source,target', '1,2024-05-03,2024-05-01,2024-05-04,a,b'],
    {
      time: 'event_time iso',
      members: ['source', 'target'],
      values: { created_at: 'TEXT', updated_at: 'TEXT' },
    },
  ],
  [
    'of hours: a number that is no time is not taken for one',
    ['hora,fecha,from,to', '9,2024-05-01,a,b', '10,2024-05-02,b,c'],
    { time: 'fecha iso', values: { hora: 'INTEGER' } },
  ],
  [
    'of validity: from and to are times here',
    ['ts,from,to,user,item', '1700000000,2024-01-01,2024-02-01,u1,i1'],
    { time: 'ts s', members: ['user', 'item'], values: { from: 'TEXT', to: 'TEXT' }, isLikely: true },
  ],
];

async function expectSame(text: string, expected: Case): Promise<void> {
  const { time, members = ['from', 'to'], hasNames = true, values = {}, separator, noGraph, isLikely } = expected;
  const answer: Answer = { time, members, separator, hasNames, values };
  const { said, ...command } = await commandAnswer(text);
  expect(command, 'command').toEqual(answer);
  expect(consoleAnswer(text), 'console').toEqual(answer);
  if (isLikely === true) expect(said).toContain(`${members.join(', ')} may hold the nodes`);
  else expect(said === undefined, said).toBe(members.length > 0);
  const graph = { time: time.slice(0, time.lastIndexOf(' ')), members };
  expect(proposedAnswer(await tableIn(text)), noGraph ?? 'proposal').toEqual(
    noGraph === undefined ? graph : { time: undefined, members: [] },
  );
}

describe('the command, the console and a proposal', () => {
  test.each(Object.entries(MESSY))('agree on the columns of messy-csv/%s', async (file, expected) => {
    const decoder = new TextDecoder(ENCODINGS[file] ?? 'utf-8');
    await expectSame(decoder.decode(readFileSync(new URL(file, FOLDER))), expected);
  });

  test('are compared on every messy file', () => {
    const files = readdirSync(FOLDER).filter((name) => /\.[ct]sv$/.test(name));
    expect([...Object.keys(MESSY), ...NO_TABLES].sort()).toEqual(files.sort());
  });

  test.each(TABLES)('agree on the columns of a table %s', async (_what, lines, expected) => {
    await expectSame(`${lines.join('\n')}\n`, expected);
  });

  test('differ when two columns could be the time: the command asks, and the others choose one', async () => {
    const text = 'start,when,from,to\n2024-05-01,2024-05-02,a,b\n';
    await expect(commandAnswer(text)).rejects.toThrow(/Columns when, start could each be the time/);
    expect(consoleAnswer(text).time).toBe('when iso');
    expect(proposedAnswer(await tableIn(text)).time).toBe('when');
  });

  test.each(['no-header.csv', 'empty.csv'])('refuse %s because it is not a table', async (file) => {
    const text = readFileSync(new URL(file, FOLDER), 'utf8');
    await expect(commandAnswer(text)).rejects.toThrow(/has no header/);
    expect(() => consoleAnswer(text)).toThrow(/has no header|holds no rows/);
  });
});
