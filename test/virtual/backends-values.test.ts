import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeDuckDb, makeFiles, openWorld, rowsOf, type World } from './backend-files.ts';

let world: World;
beforeAll(async () => {
  world = openWorld();
  await makeFiles(
    [
      'CREATE TABLE times (d DATE, t TIME, tz TIMETZ, s TIMESTAMP_S, ms TIMESTAMP_MS, us TIMESTAMP, ns TIMESTAMP_NS, utc TIMESTAMPTZ)',
      `INSERT INTO times VALUES ('2020-02-29', '01:02:03.5', '01:02:03+02', '2020-02-29 12:00:00', '2020-02-29 12:00:00.123',
        '2020-02-29 12:00:00.123456', '2020-02-29 12:00:00.123456789', '2020-02-29 12:00:00+02'),
        ('0001-01-01', '00:00:00', '00:00:00+00', '1969-12-31 23:59:59', '1969-12-31 23:59:59.999', '1969-12-31 23:59:59.999999',
        '1969-12-31 23:59:59.999999999', '1969-12-31 23:59:59.5+00'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        ('infinity', NULL, NULL, NULL, NULL, '-infinity', NULL, 'infinity')`,
      `CREATE TABLE things AS SELECT * FROM test_all_types()`,
    ],
    join(world.root, 'own.duckdb'),
  );
});
afterAll(() => world.close());

const ask = (sql: string) => rowsOf(world.backends.open({ type: 'duckdb', path: 'own.duckdb' }), sql);

describeDuckDb('values from DuckDB', () => {
  it('keep every digit', async () => {
    const sql = `SELECT 9007199254740993::BIGINT, -9007199254740991::BIGINT, 18446744073709551615::UBIGINT,
      '-170141183460469231731687303715884105728'::HUGEINT, 7::HUGEINT, '123456789012345678901234567890'::BIGNUM,
      '12345678901234567890.123456789'::DECIMAL(38, 9), -0.10::DECIMAL(4, 2), 0.1::FLOAT, 'nan'::DOUBLE, '-inf'::DOUBLE, -0.0::DOUBLE,
      200::UTINYINT, true, NULL::INTEGER, NULL`;
    expect(await ask(sql)).toEqual([
      [
        9007199254740993n,
        -9007199254740991,
        18446744073709551615n,
        -170141183460469231731687303715884105728n,
        7,
        123456789012345678901234567890n,
        '12345678901234567890.123456789',
        '-0.10',
        Math.fround(0.1),
        'NaN',
        '-Infinity',
        -0,
        200,
        true,
        null,
        null,
      ],
    ]);
  });

  it('are texts and lists if their types are unusual', async () => {
    const sql = `SELECT 'ff000000-0000-4000-8000-00000000000f'::UUID, '\\x00\\xFFa'::BLOB, INTERVAL '1 month 2 days 3 seconds', [1, NULL, 3],
      ['a', 'b'], [9007199254740993::BIGINT], {'a': 1, 'b': [1.50::DECIMAL(4,2), NULL]}, MAP {'k': DATE '2020-02-29'}, 'glad'::ENUM ('sad', 'glad'),
      [{'x': 1}], [[1, 2], [3]], union_value(num := 2), '1010'::BIT, '{"a":[1]}'::JSON, [DATE '2020-02-29'], array_value(1.5::FLOAT, 'inf'::FLOAT), []`;
    expect(await ask(sql)).toEqual([
      [
        'ff000000-0000-4000-8000-00000000000f',
        '\\x00\\xFFa',
        '1 month 2 days 00:00:03',
        [1, null, 3],
        ['a', 'b'],
        ['9007199254740993'],
        '{"a":1,"b":["1.50",null]}',
        '[{"key":"k","value":"2020-02-29"}]',
        'glad',
        ['{"x":1}'],
        ['[1,2]', '[3]'],
        '{"num":2}',
        '1010',
        '{"a":[1]}',
        ['2020-02-29'],
        [1.5, 'Infinity'],
        [],
      ],
    ]);
  });

  it('are texts in UTC for every time type, and numbers if the SQL converts them', async () => {
    expect(await ask('SELECT * FROM times')).toEqual([
      [
        '2020-02-29',
        '01:02:03.5',
        '01:02:03+02',
        '2020-02-29 12:00:00',
        '2020-02-29 12:00:00.123',
        '2020-02-29 12:00:00.123456',
        '2020-02-29 12:00:00.123456789',
        '2020-02-29 10:00:00+00',
      ],
      [
        '0001-01-01',
        '00:00:00',
        '00:00:00+00',
        '1969-12-31 23:59:59',
        '1969-12-31 23:59:59.999',
        '1969-12-31 23:59:59.999999',
        '1969-12-31 23:59:59.999999999',
        '1969-12-31 23:59:59.5+00',
      ],
      [null, null, null, null, null, null, null, null],
      ['infinity', null, null, null, null, '-infinity', null, 'infinity'],
    ]);
    const sql =
      'SELECT epoch_us(d), epoch_us(s), epoch_us(ms), epoch_us(us), epoch_us(ns), epoch_us(utc) FROM times LIMIT 2';
    expect(await ask(sql)).toEqual([
      [1582934400000000, 1582977600000000, 1582977600123000, 1582977600123456, 1582977600123456, 1582970400000000],
      [-62135596800000000n, -1000000, -1000, -1, 0, -500000], // DuckDB truncates nanoseconds towards zero
    ]);
  });

  it('can be sent and written as JSON for every type that DuckDB has', async () => {
    const rows = await ask('SELECT * FROM things');
    expect(rows.length).toBe(3);
    const text = JSON.stringify(rows, (_, value) => (typeof value === 'bigint' ? String(value) : value));
    expect(JSON.parse(text)).toHaveLength(3);
    for (const value of rows.flat()) {
      const fine =
        value === null || ['number', 'bigint', 'string', 'boolean'].includes(typeof value) || Array.isArray(value);
      expect(fine).toBe(true);
    }
  });

  it('have the kind that their DuckDB type determines', async () => {
    const { tables } = await world.backends.open({ type: 'duckdb', path: 'own.duckdb' }).schema();
    const kinds = Object.fromEntries(
      tables.find(({ name }) => name === 'things')!.columns.map(({ name, kind }) => [name, kind]),
    );
    expect(kinds).toMatchObject({
      bool: 'boolean',
      tinyint: 'integer',
      hugeint: 'integer',
      uhugeint: 'integer',
      float: 'real',
      double: 'real',
    });
    expect(kinds).toMatchObject({
      dec_4_1: 'decimal',
      uuid: 'uuid',
      interval: 'other',
      varchar: 'text',
      blob: 'other',
      bit: 'other',
    });
    expect(kinds).toMatchObject({
      small_enum: 'text',
      int_array: 'other',
      varchar_array: 'other',
      struct: 'other',
      map: 'other',
      union: 'other',
    });
    const times = tables.find(({ name }) => name === 'times')!.columns.map(({ kind }) => kind);
    expect(times).toEqual(['date', 'time', 'time', 'timestamp', 'timestamp', 'timestamp', 'timestamp', 'timestamptz']);
  });
});
