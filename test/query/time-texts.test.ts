// Tests ISO 8601 times in statements. The same statement with the seconds that Date gives must
// return the same rows, and EXPLAIN must show the same access path.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { HedgerowError } from '../../src/errors.ts';
import type { ParameterValues } from '../../src/query/binder/parameters.ts';
import { EmbeddedStatements } from '../../src/query/embedded.ts';
import { Random } from '../support/random.ts';
import { CopyPlace } from './copy-place.ts';

const DAY = 86_400;
const NOON = Date.parse('2024-05-02T12:00:00Z') / 1000;

let place: CopyPlace;
let statements: EmbeddedStatements;

beforeAll(async () => {
  place = await CopyPlace.open();
  await place.table('t');
  await place.table('u');
  const random = new Random(3);
  const edgeOf = (row: number) => ({
    event_ts: NOON + (row - 300) * 1800 + (row % 7 === 0 ? 0 : random.below(1800)),
    members: [row % 5, 10 + (row % 3)],
    properties: { n: row % 50, place: `p${row % 9}` },
  });
  await place.insert(
    't',
    Array.from({ length: 600 }, (_, row) => edgeOf(row)),
  );
  await place.database.compact({});
  await place.insert(
    't',
    Array.from({ length: 60 }, (_, row) => edgeOf(row * 10)),
  );
  // Rows at midnights, a second before and a second after, and in years that Date does not write
  // with four digits.
  const ends = [-1, 0, 1].flatMap((second) =>
    [-2, -1, 0, 1].map((day) => (Math.floor(NOON / DAY) + day) * DAY + second),
  );
  for (const event_ts of [...ends, -1, 0, 253_402_300_800, -62_167_219_201, Number.MAX_SAFE_INTEGER])
    await place.insert('t', [{ event_ts, members: [1], properties: { n: 1 } }]);
  statements = new EmbeddedStatements({ database: place.database });
});
afterAll(async () => {
  statements.close();
  await place.close();
});

async function rows(text: string, parameters: ParameterValues = {}): Promise<Record<string, unknown>[]> {
  return (await statements.run(text, parameters)).rows as Record<string, unknown>[];
}

async function refusal(text: string, parameters: ParameterValues = {}): Promise<HedgerowError> {
  const error = await statements.run(text, parameters).then(
    () => new Error('it was taken'),
    (reason: unknown) => reason as HedgerowError,
  );
  expect(error).toMatchObject({ status: 400, code: 'invalid_statement' });
  return error as HedgerowError;
}

const TEXTS = [
  '2024-05-02',
  '2024-05-01T23:59:59',
  '2024-05-02T10:00:00Z',
  '2024-05-02T10:00:00+02:00',
  '2024-05-03T12:34',
  '1970-01-01',
  '9999-12-31T23:59:59Z',
  '0000-01-01',
  '2031-01-01',
];

/**
 * Returns the seconds according to Date rather than the service's own parser. A text without a zone
 * is in UTC.
 */
const secondsOf = (text: string) =>
  Date.parse(/\dT/.test(text) && !/(Z|[+-]\d\d:\d\d)$/.test(text) ? `${text}Z` : text) / 1000;

describe('a text that is compared with a time', () => {
  const FORMS = [
    ...['=', '<>', '<', '<=', '>', '>='].flatMap((operator) => [
      `e.event_ts ${operator} @`,
      `@ ${operator} e.event_ts`,
    ]),
    'e.event_ts BETWEEN @ AND @@',
    'NOT e.event_ts BETWEEN @ AND @@',
    'e.event_ts IN [@, @@]',
    'e.event_ts NOT IN [@, @@]',
    'e.event_ts >= @ AND e.event_ts < @@ AND 1 IN e.members',
    'e.event_ts < @ OR e.event_ts > @@ OR e.n = 3',
    'datetime(e.event_ts) >= @',
    'e.event_ts >= datetime(@)',
    'e.event_ts / 2 > datetime(@) / 2',
  ];

  test.each(FORMS)('means the same as its seconds in %s', async (form) => {
    for (const [index, text] of TEXTS.entries()) {
      const other = TEXTS[(index + 2) % TEXTS.length]!;
      const where = (a: unknown, b: unknown) =>
        form.replaceAll('@@', JSON.stringify(b)).replaceAll('@', JSON.stringify(a));
      const [a, b] = [secondsOf(text), secondsOf(other)];
      const match = (condition: string) => `MATCH (e:t) WHERE ${condition} RETURN e.id ORDER BY e.id`;
      const expected = await rows(match(where(a, b)));
      expect(await rows(match(where(text, other)))).toEqual(expected);
      const parameters = match(form.replaceAll('@@', '$b').replaceAll('@', '$a'));
      expect(await rows(parameters, { a: text, b: other })).toEqual(expected);
      expect(await rows(parameters, { a, b })).toEqual(expected);
      // A text and its seconds lead to the same access path.
      const plan = async (condition: string, given: ParameterValues = {}) => {
        const [row] = await rows(`EXPLAIN ${match(condition)}`, given);
        return JSON.stringify(row).replace(/"(filter|condition|conditions|where)":("(\\.|[^"])*"|\[[^\]]*\])/g, '');
      };
      expect(await plan(where(text, other))).toBe(await plan(where(a, b)));
    }
  });

  test('uses the time index', async () => {
    const [row] = await rows(
      'EXPLAIN MATCH (e:t) WHERE e.event_ts >= "2024-05-02" AND e.event_ts < "2024-05-03" RETURN e',
    );
    expect(row).toMatchObject({ strategy: 'TPI_BUCKET_PUSHDOWN', index_type: 'TPI' });
    expect(row!.buckets_scanned as number).toBeLessThan(row!.total_buckets as number);
    expect(JSON.stringify(row!.plan)).toContain(
      `"start_ts":${secondsOf('2024-05-02')},"end_ts":${secondsOf('2024-05-03') - 1}`,
    );
  });

  test('is a time in a list that is a parameter, and in aggregates, groups and ORDER BY', async () => {
    const list = TEXTS.map(secondsOf);
    const query = 'MATCH (e:t) WHERE e.event_ts IN $list RETURN e.id ORDER BY e.id';
    expect(await rows(query, { list: TEXTS })).toEqual(await rows(query, { list }));
    expect(
      await rows('MATCH (e:t) WHERE e.event_ts < "9000-01-01" RETURN MAX(e.event_ts) >= "2024-05-02" AS since'),
    ).toEqual([{ since: true }]);
    expect(await rows('MATCH (e:t) RETURN e.event_ts AS t ORDER BY t >= "2024-05-02", t LIMIT 1')).toEqual(
      await rows(`MATCH (e:t) RETURN e.event_ts AS t ORDER BY t >= ${secondsOf('2024-05-02')}, t LIMIT 1`),
    );
    const joined = (text: unknown) =>
      `MATCH (a:t), (b:t) WHERE follows(b, a, 900) AND shared(a, b) >= 1 AND a.event_ts >= ${JSON.stringify(text)} AND b.event_ts < "2024-05-04" RETURN COUNT(*) AS n`;
    expect(await rows(joined('2024-05-02'))).toEqual(await rows(joined(secondsOf('2024-05-02'))));
  });

  test('may be in a list that is compared with a date; numbers of days may not', async () => {
    const match = (condition: string) => `MATCH (e:t) WHERE ${condition} RETURN e.id ORDER BY e.id`;
    expect(await rows(match('date(e.event_ts) IN [e.place]'))).toEqual(await rows(match('date(e.event_ts) = e.place')));
    const [one, list] = await Promise.all(
      ['date(e.event_ts) = 19845', 'date(e.event_ts) IN [19845]'].map((condition) => refusal(match(condition))),
    );
    expect([one!.code, list!.code]).toEqual(['invalid_statement', 'invalid_statement']);
  });

  test('is not a time if the other column contains texts or numbers', async () => {
    expect(await rows('MATCH (e:t) WHERE e.place = "2024-05-02" RETURN e')).toEqual([]);
    const { message } = await refusal('MATCH (e:t) WHERE e.n = "2024-05-02" RETURN e');
    expect(message).toContain('cannot be compared');
    expect((await refusal('MATCH (e:t) WHERE e.event_ts = e.place RETURN e')).message).toContain(
      'a written text such as',
    );
  });
});

describe('the refusal of texts as times', () => {
  test.each([
    ['yesterday', 'is not a time in ISO 8601 such as 2024-05-02'],
    ['2024-02-30', 'names a day or an hour that does not exist'],
    ['1714608000', 'is a number in quotes'],
    ['', 'is not a time in ISO 8601'],
    ['2016-12-31T23:59:60Z', 'names a day or an hour that does not exist'],
    ['2'.repeat(50_000), 'is a number in quotes'],
    [`2024-05-02T00:00:00.${'x'.repeat(50_000)}`, 'is not a time in ISO 8601'],
  ])('explains what is wrong (%#)', async (text, advice) => {
    const given = JSON.stringify(text);
    for (const where of [
      `e.event_ts = ${given}`,
      `e.n = 5 AND e.event_ts IN [${given}]`,
      `1 = 2 AND e.event_ts < ${given}`,
    ]) {
      const { message, fields } = await refusal(`MATCH (e:t) WHERE ${where} RETURN e`);
      expect(message).toContain(advice);
      expect(message.length).toBeLessThan(400);
      expect(fields).toMatchObject({ line: 1, column: `MATCH (e:t) WHERE ${where}`.indexOf(given) + 1 });
    }
    for (const where of [
      'e.event_ts = $t',
      'e.event_ts IN $list',
      '1 = 2 AND e.event_ts < $t',
      'e.n = -7 AND e.event_ts - 1 = datetime($t)',
    ]) {
      const error = await refusal(`MATCH (e:u) WHERE ${where} RETURN e`, { t: text, list: [text] });
      expect(error.message).toContain(advice);
      expect(error.errors?.[0]?.loc.slice(0, 2)).toEqual(['body', 'parameters']);
    }
    expect((await refusal('UPDATE u SET event_ts = $t WHERE n = -99', { t: text })).message).toContain(advice);
  });

  test('affects lists of very many texts, but not lists of as many numbers', async () => {
    const many = Array.from({ length: 50_001 }, () => '2024-05-02');
    const query = 'MATCH (e:u) WHERE e.event_ts IN $list RETURN e';
    expect((await refusal(query, { list: many })).message).toContain('more than 50000; give these as epoch seconds');
    const two = 'MATCH (e:u) WHERE e.event_ts IN $a OR date(e.event_ts) IN $b RETURN e';
    expect((await refusal(two, { a: many.slice(0, 30_000), b: many.slice(0, 30_000) })).message).toContain('$b');
    expect((await refusal(`MATCH (e:u) WHERE e.event_ts IN ${JSON.stringify(many)} RETURN e`)).message).toContain(
      'at most 50000 texts',
    );
    expect(await rows(query, { list: many.slice(1) })).toEqual([]);
    expect(await rows(query, { list: many.map((_, index) => index + 10) })).toEqual([]);
  });

  test('precedes the conversion if a text has an unpaired surrogate', async () => {
    const error = await statements
      .run('MATCH (e:t) WHERE e.event_ts = $t RETURN e', { t: '2024-05-0\ud800' })
      .catch((e) => e);
    expect(error).toMatchObject({ status: 400 });
  });
});

describe('a text that is assigned to a time', () => {
  test('is converted in INSERT and UPDATE, written out and as a parameter', async () => {
    await statements.run(
      "INSERT INTO u (event_ts, members, n) VALUES ('2024-05-02', [1], 1), ($t, [2], 2), (datetime('2024-05-02T10:00:00+02:00'), [3], 3), (5, [4], 4)",
      { t: '2024-05-03T10:00' },
    );
    await statements.run("UPDATE u SET event_ts = '1999-12-31T23:59:59Z' WHERE event_ts = '2024-05-02'");
    await statements.run('UPDATE u SET event_ts = event_ts + 1 WHERE event_ts = $t', { t: '2024-05-03T10:00' });
    expect(await rows('MATCH (e:u) RETURN e.n, e.event_ts ORDER BY e.n')).toEqual([
      { n: 1, event_ts: secondsOf('1999-12-31T23:59:59Z') },
      { n: 2, event_ts: secondsOf('2024-05-03T10:00') + 1 },
      { n: 3, event_ts: secondsOf('2024-05-02T10:00:00+02:00') },
      { n: 4, event_ts: 5 },
    ]);
    expect((await rows("DELETE FROM u WHERE event_ts <= '2024-05-02T23:59'"))[0]).toMatchObject({ rows_affected: 3 });
    await refusal("INSERT INTO u (event_ts, members) VALUES ('soon', [1])");
    await refusal('INSERT INTO u (event_ts, members) VALUES ($t, [1])', { t: 'soon' });
    await refusal("INSERT INTO u (event_ts, members, n) VALUES (1, [1], '2024-05-02')");
  });
});

describe('the functions datetime and date', () => {
  test('give seconds the type of a time (datetime)', async () => {
    const { rows: got, columnTypes } = await statements.run(
      "MATCH (e:t) RETURN datetime('2024-05-02') AS a, datetime($t) AS b, datetime(e.n) AS c, datetime(e.event_ts) AS d, datetime(null) AS e LIMIT 1",
      { t: '2024-05-02T10:00:00.9' },
    );
    expect(columnTypes).toEqual(['TIME', 'TIME', 'TIME', 'TIME', 'NULL']);
    expect(got[0]).toMatchObject({ a: secondsOf('2024-05-02'), b: secondsOf('2024-05-02T10:00:00Z'), e: null });
  });

  test('group rows by day with the same counts as a count row by row (date)', async () => {
    const days = new Map<string, number>();
    for (const { t } of await rows('MATCH (e:t) WHERE e.event_ts < "9000-01-01" RETURN e.event_ts AS t')) {
      const day = new Date((t as number) * 1000).toISOString().replace(/T.*/, '');
      days.set(day, (days.get(day) ?? 0) + 1);
    }
    const got = await rows('MATCH (e:t) WHERE e.event_ts < "9000-01-01" RETURN date(e.event_ts) AS day, COUNT(*) AS n');
    expect(new Map(got.map(({ day, n }) => [day, n]))).toEqual(days);
  });

  test.each(['=', '<>', '<', '<=', '>', '>='])(
    'use a window of the time index in a comparison: date %s a date',
    async (operator) => {
      for (const day of ['2024-05-02', '2024-04-30', '1970-01-01', '+010000-01-01', '-000001-12-31']) {
        const start = new Date(day).getTime() / 1000;
        const windows: Record<string, string> = {
          '=': `e.event_ts BETWEEN ${start} AND ${start + DAY - 1}`,
          '<>': `NOT e.event_ts BETWEEN ${start} AND ${start + DAY - 1}`,
          '<': `e.event_ts < ${start}`,
          '<=': `e.event_ts < ${start + DAY}`,
          '>': `e.event_ts >= ${start + DAY}`,
          '>=': `e.event_ts >= ${start}`,
        };
        const expected = await rows(`MATCH (e:t) WHERE ${windows[operator]} RETURN e.id ORDER BY e.id`);
        const match = (condition: string) => `MATCH (e:t) WHERE ${condition} RETURN e.id ORDER BY e.id`;
        expect(await rows(match(`date(e.event_ts) ${operator} '${day}'`))).toEqual(expected);
        expect(await rows(match(`date(e.event_ts) ${operator} $day`), { day })).toEqual(expected);
      }
      if (operator === '<>') return;
      const [row] = await rows(`EXPLAIN MATCH (e:t) WHERE date(e.event_ts) ${operator} '2024-05-02' RETURN e`);
      expect(row!.buckets_scanned as number).toBeLessThan(row!.total_buckets as number);
    },
  );

  test('work in lists, joins, aggregates and conditions of groups (date)', async () => {
    const two = "['2024-05-02', '2024-04-30']";
    const expected = await rows(
      "MATCH (e:t) WHERE date(e.event_ts) = '2024-05-02' OR date(e.event_ts) = '2024-04-30' RETURN e.id ORDER BY e.id",
    );
    expect(expected.length).toBeGreaterThan(20);
    expect(await rows(`MATCH (e:t) WHERE date(e.event_ts) IN ${two} RETURN e.id ORDER BY e.id`)).toEqual(expected);
    expect(
      await rows('MATCH (e:t) WHERE date(e.event_ts) IN $d RETURN e.id ORDER BY e.id', {
        d: ['2024-05-02', '2024-04-30'],
      }),
    ).toEqual(expected);
    const near = '(a.event_ts BETWEEN 1714500000 AND 1714600000) AND (b.event_ts BETWEEN 1714500000 AND 1714600000)';
    const times = await rows('MATCH (e:t) WHERE e.event_ts BETWEEN 1714500000 AND 1714600000 RETURN e.event_ts AS t');
    const dayOf = (row: Record<string, unknown>) => new Date((row.t as number) * 1000).toISOString().slice(0, 10);
    const n = times.flatMap((one) => times.filter((other) => dayOf(one) === dayOf(other))).length;
    expect(
      await rows(`MATCH (a:t), (b:t) WHERE date(a.event_ts) = date(b.event_ts) AND ${near} RETURN COUNT(*) AS n`),
    ).toEqual([{ n }]);
    expect(
      await rows(
        'MATCH (e:t) WHERE e.event_ts BETWEEN 0 AND 1714608000 RETURN date(MAX(e.event_ts)) AS last, date(AVG(e.n)) AS x',
      ).catch((e) => e.message),
    ).toContain('date takes a time');
    expect(
      await rows(
        'MATCH (e:t) WHERE e.event_ts BETWEEN 0 AND 1714608000 RETURN date(MAX(e.event_ts)) AS last, date(MIN(e.event_ts)) = "1970-01-01" AS first',
      ),
    ).toEqual([{ last: '2024-05-02', first: true }]);
    const newest = await rows(
      "MATCH (e:t) WHERE e.event_ts < '9000-01-01' RETURN e.event_ts AS t ORDER BY e.event_ts DESC LIMIT 1",
    );
    expect(
      await rows(
        "MATCH (e:t) WHERE e.event_ts < '9000-01-01' RETURN DISTINCT date(e.event_ts) AS day ORDER BY day DESC LIMIT 1",
      ),
    ).toEqual([{ day: dayOf(newest[0]!) }]);
  });

  test('refuse a value that is not a day or not a time', async () => {
    expect((await refusal("MATCH (e:t) WHERE date(e.event_ts) = '2024-05-02T10:00' RETURN e")).message).toContain(
      'where a date such as',
    );
    expect((await refusal("MATCH (e:t) WHERE date(e.event_ts) = 'x' RETURN e")).message).toContain(
      'is not a time in ISO 8601',
    );
    expect((await refusal('MATCH (e:t) RETURN date(e.place)')).message).toContain('date takes a time');
    expect((await refusal("MATCH (e:t) RETURN datetime(e.place + '')")).message).toContain('a computed text');
    expect((await refusal('MATCH (e:t) RETURN datetime(1.5)')).message).toContain('datetime takes a time');
    expect((await refusal('MATCH (e:t) RETURN datetime()')).message).toContain("is written datetime('");
    expect((await refusal('MATCH (e:t) WHERE date(e.event_ts) = 5 RETURN e')).message).toContain('cannot be compared');
  });
});
