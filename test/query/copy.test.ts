import { copyFileSync, readdirSync } from 'node:fs';
import { gunzipSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { EdgeInput, PropertyValue } from '../../src/engine/index.ts';
import { Random } from '../support/random.ts';
import { CopyPlace } from './copy-place.ts';

const FILES = ['.csv', '.csv.gz', '.ndjson', '.ndjson.gz', '.jsonl', '.jsonl.gz', '.parquet'];

let place: CopyPlace;
let tables = 0;
beforeAll(async () => {
  place = await CopyPlace.open();
});
afterAll(() => place.close());

/** Creates an empty table with columns of every type, and returns its name. */
async function emptyTable(): Promise<string> {
  const name = `t${++tables}`;
  await place.table(name);
  return name;
}

/** Loads the file into a new table, and returns the name of the table. */
async function loaded(file: string): Promise<string> {
  const name = await emptyTable();
  await place.run(`COPY ${name} FROM '${file}'`);
  return name;
}

/**
 * Returns the rows after a round trip through JSON, which like text files does not distinguish -0
 * from 0.
 */
function plain(rows: Record<string, unknown>[]): unknown {
  return JSON.parse(JSON.stringify(rows));
}

const TEXTS = [
  '',
  ' ',
  ' x ',
  '"',
  '""',
  'a"b',
  ',',
  ';',
  '1;2',
  'line\nbreak',
  'line\r\nbreak',
  '\r',
  '\n',
  '\t',
  'null',
  'NULL',
  'true',
  '0',
  '1e5',
  '-',
  '=1+1',
  "it's",
  '\\',
  '\\n',
  '#',
  '\ufeff',
  '\u0000',
  '\u2028',
  'é\u0301',
  '日本語',
  '👩‍👩‍👧',
  '[1,2]',
  '{"a":1}',
  'x'.repeat(65_536),
];
const NUMBERS = [
  0,
  -0,
  1,
  -1,
  0.1,
  1 / 3,
  1e300,
  -1e-300,
  5e-324,
  123_456_789.123_456_79,
  2 ** 53,
  1e21,
  Number.MAX_VALUE,
];
const INTEGERS = [0, 1, -1, 2 ** 31, -(2 ** 40), 2 ** 53 - 1, -(2 ** 53 - 1)];

function pick<T>(random: Random, values: readonly T[]): T {
  return values[random.below(values.length)]!;
}

function hostileEdges(seed: number, count: number): EdgeInput[] {
  const random = new Random(seed);
  const maybe = (value: PropertyValue): PropertyValue => (random.below(4) === 0 ? null : value);
  return Array.from({ length: count }, (_, i) => ({
    event_ts: i < INTEGERS.length ? INTEGERS[i]! : i,
    members: Array.from({ length: 1 + random.below(5) }, () => pick(random, [...INTEGERS, random.below(1000)])),
    properties: {
      weight: maybe(pick(random, NUMBERS)),
      formation: maybe(pick(random, TEXTS)),
      n: maybe(pick(random, INTEGERS)),
      score: maybe(pick(random, NUMBERS)),
      place: i < TEXTS.length ? TEXTS[i]! : maybe(pick(random, TEXTS).slice(0, 9000) + pick(random, TEXTS).slice(0, 9)),
      ok: maybe(random.below(2) === 0),
      kind: maybe('some'),
    },
  }));
}

describe('a table that is written and then read again', () => {
  let source: string;
  beforeAll(async () => {
    source = await emptyTable();
    await place.insert(source, hostileEdges(1, 400));
  });

  test.each(FILES)('is the same after a round trip through %s, value for value', async (ending) => {
    const { rows } = await place.run(`COPY ${source} TO 'all${ending}'`);
    expect(rows).toEqual([{ operation: 'COPY', rows_affected: 400, path: `${place.root}/all${ending}` }]);
    const copy = await loaded(`all${ending}`);
    expect(plain(await place.rowsOf(copy))).toEqual(plain(await place.rowsOf(source)));
  });

  test('has the same bytes in a .gz file as in one that is not compressed', async () => {
    for (const name of ['all.csv', 'all.ndjson'])
      expect(gunzipSync(place.read(`${name}.gz`)).equals(place.read(name))).toBe(true);
  });
});

test('more rows than fit in one step or one row group are copied both ways, and other work runs in between', {
  timeout: 60_000,
}, async () => {
  const source = await emptyTable();
  const edges = Array.from({ length: 17_000 }, (_, i) => ({
    event_ts: i,
    members: [i % 50, 1000 + i],
    properties: { n: i },
  }));
  await place.insert(source, edges);
  for (const ending of ['.csv', '.ndjson', '.parquet']) {
    const before = place.steps;
    await place.run(`COPY ${source} TO 'many${ending}'`);
    expect(place.steps - before).toBeGreaterThan(10);
    const copy = await loaded(`many${ending}`);
    expect(place.steps - before).toBeGreaterThan(40);
    expect(JSON.stringify(await place.rowsOf(copy)) === JSON.stringify(await place.rowsOf(source))).toBe(true);
  }
});

test('a CSV file is written in the expected form', async () => {
  const source = await emptyTable();
  await place.insert(source, [
    {
      event_ts: 1,
      members: [3, 1, 2],
      properties: { weight: 0.5, formation: 'a "b"\nc', n: 7, score: -1e21, place: '', ok: true },
    },
    { event_ts: 2, members: [9], properties: { ok: false, kind: null } },
  ]);
  await place.run(`COPY ${source} TO 'shown.csv'`);
  expect(place.read('shown.csv').toString()).toBe(
    '"id","event_ts","members","weight","mean_dist_m","formation","n","score","place","ok","kind"\n' +
      '1,1,1;2;3,0.5,,"a ""b""\nc",7,-1e+21,"",true,"plain"\n' +
      '2,2,9,,,,,,,false,\n',
  );
});

test('rows of a MATCH are written as the MATCH returns them: order, names, aggregates, lists, row objects', async () => {
  const source = await emptyTable();
  const edge = (event_ts: number, place: string | null) => ({ event_ts, members: [event_ts], properties: { place } });
  await place.insert(source, [edge(1, 'b'), edge(2, 'a'), edge(3, 'b'), edge(4, null)]);
  await place.run(
    `COPY (MATCH (t:${source}) WHERE t.event_ts < $most RETURN t.place AS p, COUNT(*), COLLECT(t.place) AS all, COLLECT(t.event_ts) AS times ORDER BY p DESC) TO $file`,
    { most: 9, file: 'groups.csv' },
  );
  expect(place.read('groups.csv').toString()).toBe(
    '"p","COUNT(*)","all","times"\n,1,[],4\n"b",2,"[""b"",""b""]",1;3\n"a",1,"[""a""]",2\n',
  );
  await place.run(
    `COPY MATCH (a:${source}), (b:${source}) WHERE a.event_ts = 1 AND b.event_ts = 2 RETURN a.event_ts, b.members, a TO 'joined.ndjson'`,
  );
  const [row] = place.read('joined.ndjson').toString().split('\n');
  expect(JSON.parse(row!)).toMatchObject({ 'a.event_ts': 1, 'b.members': [2], a: { id: 1, place: 'b' } });
});

test('an empty result is a file that has only its columns, and is read as no rows', async () => {
  const source = await emptyTable();
  for (const ending of FILES) {
    await place.run(`COPY ${source} TO 'empty${ending}'`);
    const copy = await emptyTable();
    const { rows } = await place.run(`COPY ${copy} FROM 'empty${ending}'`);
    expect(rows).toMatchObject([{ rows_affected: 0 }]);
  }
  expect(place.read('empty.csv').toString()).toMatch(/^"id","event_ts",.*\n$/);
  expect(place.read('empty.ndjson').length).toBe(0);
});

describe('the columns of a copied file', () => {
  test('are found by name in any order, ignoring case; a missing column gets its default, an empty cell null', async () => {
    place.file('names.csv', '\ufeffN, Kind ,MEMBERS,Event_TS,ID\r\n1,,"[3, 1]",10,77\r\n\r\n,"x, y",5;4;5,11,78\r\n');
    const name = await loaded('names.csv');
    expect(await place.rowsOf(name)).toMatchObject([
      { event_ts: 10, members: [1, 3], n: 1, kind: null, place: null },
      { event_ts: 11, members: [4, 5], n: null, kind: 'x, y' },
    ]);
    place.file('few.ndjson', '{"event_ts":1,"members":[2]}\n\n  \n{"EVENT_TS":2,"members":[3],"kind":null,"Ok":true}');
    const other = await loaded('few.ndjson');
    expect(await place.rowsOf(other)).toMatchObject([
      { event_ts: 1, kind: 'plain', ok: null },
      { event_ts: 2, kind: null, ok: true },
    ]);
    const { rows } = await place.run(`MATCH (t:${other}) RETURN t.id ORDER BY t.id`);
    expect(rows).toEqual([{ id: 1 }, { id: 2 }]);
  });

  test('may have numbers and booleans in the forms that people write in CSV', async () => {
    place.file(
      'loose.csv',
      'event_ts,members,n,score,ok,place\n +7 ,[5],3.0,.5,TRUE,NULL\n8,"6",-4,1E3,false,\n9,6,"","","",""\n',
    );
    const name = await loaded('loose.csv');
    expect(await place.rowsOf(name)).toMatchObject([
      { event_ts: 7, members: [5], n: 3, score: 0.5, ok: true, place: 'NULL' },
      { event_ts: 8, members: [6], n: -4, score: 1000, ok: false, place: null },
      { event_ts: 9, n: null, score: null, ok: null, place: '' },
    ]);
  });

  test('may have names that are special in JavaScript', async () => {
    const name = `t${++tables}`;
    await place.database.createTable({
      name,
      columns: [
        { name: '__proto__', type: 'INTEGER' },
        { name: 'constructor', type: 'TEXT' },
      ],
    });
    place.file('odd.csv', 'event_ts,members,__proto__,constructor\n1,2,3,x\n');
    place.file('odd.ndjson', '{"event_ts":1,"members":[2],"__proto__":3,"constructor":"x"}\n');
    for (const file of ['odd.csv', 'odd.ndjson']) await place.run(`COPY ${name} FROM '${file}'`);
    const answer = `MATCH (t:${name}) RETURN t.constructor AS c, t.__proto__ AS p`;
    expect((await place.run(answer)).rows).toEqual([
      { c: 'x', p: 3 },
      { c: 'x', p: 3 },
    ]);
    await place.run(`COPY ${name} TO 'odd.parquet'`);
    await place.run(`COPY ${name} FROM 'odd.parquet'`);
    expect((await place.run(answer)).rows.length).toBe(4);
  });
});

describe('Parquet files of other programs', () => {
  const made = readdirSync('test/fixtures/parquet').filter((name) => name.endsWith('.parquet'));

  test.each(made)('are read completely: %s', async (file) => {
    copyFileSync(`test/fixtures/parquet/${file}`, `${place.root}/${file}`);
    const name = await loaded(file);
    const rows = await place.rowsOf(name);
    expect(rows.length).toBe(400);
    for (const [i, row] of rows.entries()) {
      expect(row).toMatchObject({
        event_ts: 1000 + i,
        members: [i % 7, 100 + i],
        weight: i % 5 === 0 ? null : i / 8,
        n: i % 11 === 0 ? null : i - 50,
        place: i % 3 === 0 ? null : i % 3 === 1 ? '' : `Zürich\n${i % 13}`,
        ok: i % 4 === 0 ? null : i % 2 === 0,
        kind: 'plain',
      });
    }
  });
});

test('inserted rows are one commit, and the stored answer is in the frame of that commit', async () => {
  place.file('once.ndjson', '{"event_ts":1,"members":[1]}\n{"event_ts":2,"members":[2]}\n');
  const name = await emptyTable();
  const seen: unknown[] = [];
  const before = place.database.lastLsn;
  const attach = (written: unknown) => {
    seen.push(written);
    return { id: 'k', bodyHash: 'h', status: 200, contentType: 'application/json', body: '{}', at: Date.now() };
  };
  await place.run(`COPY ${name} FROM 'once.ndjson'`, {}, { attach });
  expect(seen).toEqual([{ operation: 'COPY', rows_affected: 2, path: `${place.root}/once.ndjson` }]);
  expect(place.database.lastLsn - before).toBe(3);
  expect(place.database.replays.find('k')).toMatchObject({ status: 200 });
});

test('a compressed text file is read as text', async () => {
  place.file('packed.csv.gz', gzipSync('event_ts,members\n1,2\n'));
  expect(await place.rowsOf(await loaded('packed.csv.gz'))).toMatchObject([{ event_ts: 1, members: [2] }]);
});
