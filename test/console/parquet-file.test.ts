import { parquetMetadata, parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { expect, test } from 'vitest';
import { ParquetFile } from '../../src/console/query/parquet/parquet-file.ts';

type Row = Record<string, unknown>;

async function fileOf(columns: readonly string[], rows: readonly Row[]): Promise<ArrayBuffer> {
  const file = new ParquetFile(columns);
  for (const row of rows) file.add(row);
  return new Blob(await file.parts()).arrayBuffer();
}

/** Integers as numbers again, and nothing as null. */
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

test('rows come back as they were', async () => {
  const rows = [
    { id: 1, at: -9007199254740991, members: [1, 2, 3], weight: 0.5, note: 'a', flag: true, tags: ['x', null] },
    { id: 2, at: 9007199254740991, members: [], weight: 2, note: '', flag: null, tags: null },
    { id: 3, at: 0, members: [7], weight: null, note: '\u{1f33f} "q"\n', flag: false, tags: [''] },
  ];
  expect(await readBack(Object.keys(rows[0]!), rows)).toEqual(rows);
});

test('columns have the types that COPY would give them', async () => {
  const rows = [
    { integer: 1, real: 1.5, text: 'a', flag: true, list: [1], mixed: 1, row: { id: 1 }, nested: [[1]], none: null },
    { integer: null, real: 2, text: null, flag: false, list: [2.5], mixed: 'x', row: null, nested: null, none: null },
  ];
  const { schema } = parquetMetadata(await fileOf(Object.keys(rows[0]!), rows));
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

test('no rows are a file too', async () => {
  expect(await readBack(['a', 'b'], [])).toEqual([]);
});

test('many rows are cut into groups, and many columns counted', async () => {
  const names = Array.from({ length: 16 }, (_, index) => `c${index}`);
  const rows = Array.from({ length: 50_001 }, (_, index) => ({ c0: index, c1: index % 3 === 0 ? null : `t${index}` }));
  const file = await fileOf(names, rows);
  expect(parquetMetadata(file).row_groups.map((group) => Number(group.num_rows))).toEqual([50_000, 1]);
  const read = await parquetReadObjects({
    file,
    compressors,
    rowStart: 49_999,
    rowEnd: 50_001,
    columns: ['c0', 'c1'],
  });
  expect(read.map((row) => plain(Object.values(row)))).toEqual([
    [49_999, 't49999'],
    [50_000, 't50000'],
  ]);
});
