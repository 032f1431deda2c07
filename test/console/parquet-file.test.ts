import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { expect, test } from 'vitest';
import { ParquetFile } from '../../src/console/query/parquet-file.ts';
import { ParquetEncoder } from '../../src/formats/parquet-encoder.ts';
import { openTestDuckDb } from '../virtual/duckdb-rows.ts';

type Row = Record<string, unknown>;

async function fileOf(columns: readonly string[], rows: readonly Row[]): Promise<ArrayBuffer> {
  const file = new ParquetFile(columns);
  for (const row of rows) file.add(row);
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for await (const part of file.parts()) parts.push(part);
  return new Blob(parts).arrayBuffer();
}

/** Converts integers back to numbers, and absent values to null. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') return Number(value);
  if (Array.isArray(value)) return value.map(plain);
  return value ?? null;
}

async function readBack(columns: readonly string[], rows: readonly Row[]): Promise<Row[]> {
  const file = await fileOf(columns, rows);
  const read = (await parquetReadObjects({ file, compressors })) as Row[];
  return read.map((row) => Object.fromEntries(Object.entries(row).map(([name, value]) => [name, plain(value)])));
}

const ROWS = [
  { id: 1, at: -9007199254740991, members: [1, 2, 3], weight: 0.5, note: 'a', flag: true, tags: ['x', null] },
  { id: 2, at: 9007199254740991, members: [], weight: 2, note: '', flag: null, tags: null },
  { id: 3, at: 0, members: [7], weight: null, note: '\u{1f33f} "q"\n', flag: false, tags: [''] },
];

test('rows are the same after writing and reading', async () => {
  expect(await readBack(Object.keys(ROWS[0]!), ROWS)).toEqual(ROWS);
});

const duckDb = await openTestDuckDb();
if (duckDb === undefined) console.log('Parquet files of the console are not read with DuckDB, which is not installed');

test.skipIf(duckDb === undefined)('DuckDB reads the same rows with the right types', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-console-'));
  try {
    const path = join(folder, 'rows.parquet');
    writeFileSync(path, new Uint8Array(await fileOf(Object.keys(ROWS[0]!), ROWS)));
    await duckDb!.run(`CREATE TABLE downloaded AS FROM '${path}'`);
    const { tables } = await duckDb!.schema();
    expect(tables[0]!.columns.map(({ name, type }) => `${name} ${type}`)).toEqual([
      'id BIGINT',
      'at BIGINT',
      'members BIGINT[]',
      'weight DOUBLE',
      'note VARCHAR',
      'flag BOOLEAN',
      'tags VARCHAR[]',
    ]);
    const sql = 'SELECT id, "at", to_json(members) m, weight, note, flag, to_json(tags) t FROM downloaded ORDER BY id';
    expect((await duckDb!.rows({ sql, parameters: [] })).map(plain)).toEqual(
      ROWS.map((row) => [
        row.id,
        row.at,
        JSON.stringify(row.members),
        row.weight,
        row.note,
        row.flag,
        row.tags === null ? null : JSON.stringify(row.tags),
      ]),
    );
  } finally {
    rmSync(folder, { recursive: true });
    duckDb!.close();
  }
});

test('a cancelled download yields no more data', async () => {
  const file = new ParquetFile(['a']);
  for (let row = 0; row < 20_000; row++) file.add({ a: row });
  const leaving = new AbortController();
  const parts = file.parts(leaving.signal);
  await parts.next();
  leaving.abort(new Error('left'));
  await expect(parts.next()).rejects.toThrow('left');
});

test('columns have the types that COPY gives them', async () => {
  const rows = [
    { integer: 1, real: 1.5, text: 'a', flag: true, list: [1], mixed: 1, row: { id: 1 }, nested: [[1]], none: null },
    { integer: null, real: 2, text: null, flag: false, list: [2.5], mixed: 'x', row: null, nested: null, none: null },
  ];
  const { schema, created_by: by, row_groups: groups } = parquetMetadata(await fileOf(Object.keys(rows[0]!), rows));
  expect([by, groups[0]!.columns[0]!.meta_data!.codec]).toEqual(['Hedgerow', 'SNAPPY']);
  expect(schema.slice(1).map(({ name, type, converted_type: converted }) => [name, type, converted])).toEqual([
    ['integer', 'INT64', undefined],
    ['real', 'DOUBLE', undefined],
    ['text', 'BYTE_ARRAY', 'UTF8'],
    ['flag', 'BOOLEAN', undefined],
    ['list', undefined, 'LIST'],
    ['list', undefined, undefined],
    ['element', 'DOUBLE', undefined],
    ['mixed', 'BYTE_ARRAY', 'UTF8'],
    ['row', 'BYTE_ARRAY', 'UTF8'],
    ['nested', 'BYTE_ARRAY', 'UTF8'],
    ['none', 'BYTE_ARRAY', 'UTF8'],
  ]);
  const back = await readBack(Object.keys(rows[0]!), rows);
  expect(back.map(({ mixed, row, nested }) => [mixed, row, nested])).toEqual([
    ['1', '{"id":1}', '[[1]]'],
    ['"x"', null, null],
  ]);
});

test('a file without rows is valid', async () => {
  expect(await readBack(['a', 'b'], [])).toEqual([]);
});

test('many rows are split into several row groups, also in a file with many columns', async () => {
  const names = Array.from({ length: 16 }, (_, index) => `c${index}`);
  const rows = Array.from({ length: 20_001 }, (_, index) => ({ c0: index, c1: index % 3 === 0 ? null : `t${index}` }));
  const file = await fileOf(names, rows);
  const { row_groups: groups, num_rows: count } = parquetMetadata(file);
  expect([groups.length > 2, Number(count)]).toEqual([true, 20_001]);
  const read = await parquetReadObjects({
    file,
    compressors,
    rowStart: 19_999,
    rowEnd: 20_001,
    columns: ['c0', 'c1'],
  });
  expect(read.map((row) => plain(Object.values(row)))).toEqual([
    [19_999, 't19999'],
    [20_000, 't20000'],
  ]);
});

test('lists of long texts are written in row groups whose texts are not too long together', async () => {
  const encoder = new ParquetEncoder([{ name: 'members', type: { listOf: 'text' } }]);
  const rows = Array.from({ length: 90 }, (_, row) => ({
    members: Array.from({ length: 255 }, (_, at) => `${'x'.repeat(500)}${row}-${at}`),
  }));
  const parts: Uint8Array<ArrayBuffer>[] = [];
  for (const { members } of rows) parts.push(await encoder.add([[members]]));
  const file = await new Blob([...parts, await encoder.end()]).arrayBuffer();
  // Some 33 rows have 2^22 characters.
  expect(parquetMetadata(file).row_groups.map((group) => Number(group.num_rows))).toEqual([33, 33, 24]);
  expect(await parquetReadObjects({ file, compressors })).toEqual(rows);
});
