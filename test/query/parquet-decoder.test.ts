import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { brotliCompressSync, brotliDecompressSync, constants, gzipSync } from 'node:zlib';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import { ByteWriter, type ColumnSource, parquetWriteBuffer, type SchemaElement } from 'hyparquet-writer';
import { writeRleBitPackedHybrid } from 'hyparquet-writer/src/encoding.js';
import { afterAll, describe, expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { ParquetDecoder } from '../../src/query/copy/parquet-decoder.ts';
import { readRuns } from '../../src/query/copy/parquet-runs.ts';
import type { FileHandle } from '../../src/storage/fs.ts';
import { DUCKDB_MISSING, openDuckDb } from '../support/duckdb.ts';
import { type Level, pagedFile } from '../support/parquet-pages.ts';
import { Random } from '../support/random.ts';

const FIXTURES = 'test/fixtures/parquet';
const dir = mkdtempSync(join(tmpdir(), 'hedgerow-decoder-'));
const duckdb = await openDuckDb();
if (duckdb === undefined) process.stderr.write(`Parquet of DuckDB is not read: ${DUCKDB_MISSING}.\n`);
afterAll(() => {
  duckdb?.close();
  rmSync(dir, { recursive: true });
});

/** Returns an in-memory file that counts the bytes read. */
function fileOf(bytes: Uint8Array): FileHandle & { readBytes: number } {
  const file = {
    path: 'memory.parquet',
    readBytes: 0,
    size: () => bytes.length,
    read(target: Uint8Array, position: number) {
      const piece = bytes.subarray(position, position + target.length);
      target.set(piece);
      file.readBytes += piece.length;
      return piece.length;
    },
    close() {},
  };
  return file as unknown as FileHandle & { readBytes: number };
}

/** Returns the rows, which are read a few at a time. */
async function rowsOf(bytes: Uint8Array): Promise<Record<string, unknown>[]> {
  const source = new ParquetDecoder(fileOf(bytes));
  const names = await source.names();
  const rows: Record<string, unknown>[] = [];
  for (let batch = await source.next(names); batch !== undefined; batch = await source.next(names)) {
    const { columns } = batch;
    expect(batch.start).toBe(rows.length);
    expect(columns.map(({ length }) => length)).toEqual(columns.map(() => batch!.count));
    for (let row = 0; row < batch.count; row++)
      rows.push(Object.fromEntries(names.map((name, at) => [name, columns[at]![row]])));
  }
  return rows;
}

/** Returns the rows as the library reads them, whole columns at once. */
function rowsAtOnce(bytes: Uint8Array): Promise<Record<string, unknown>[]> {
  const whole = new Uint8Array(bytes);
  const file = {
    byteLength: whole.length,
    slice: (from: number, to?: number) => whole.buffer.slice(from, to),
  };
  return parquetReadObjects({
    file,
    compressors: { ...compressors, BROTLI: (packed) => brotliDecompressSync(packed) },
  });
}

function expectSame(found: readonly unknown[], model: readonly unknown[], of: string): void {
  expect(found.length, of).toBe(model.length);
  const at = found.findIndex((row, place) => !isDeepStrictEqual(row, model[place]));
  if (at >= 0) expect(found[at], `row ${at} of ${of}`).toStrictEqual(model[at]);
}

async function expectReadAsAtOnce(bytes: Uint8Array, of: string, count: number): Promise<void> {
  const model = await rowsAtOnce(bytes);
  expect(model.length, of).toBe(count);
  expectSame(await rowsOf(bytes), model, of);
}

describe('reading a Parquet file a few rows at a time', () => {
  test.each(readdirSync(FIXTURES).filter((name) => name.endsWith('.parquet')))(
    'gives all rows of %s, which another program wrote',
    (name) => expectReadAsAtOnce(readFileSync(join(FIXTURES, name)), name, 400),
  );

  test('gives all rows of tables with every type, encoding, compression and page size', {
    timeout: 60_000,
  }, async () => {
    for (let seed = 0; seed < 30; seed++) {
      const random = new Random(seed);
      const count = 1 + random.below(random.chance(0.3) ? 4000 : 300);
      const { bytes, of } = writtenTable(random, count);
      await expectReadAsAtOnce(bytes, `seed ${seed}, ${of}`, count);
    }
  });

  test('gives all rows, even those that continue on the next page', async () => {
    for (const [of, levels] of Object.entries(NESTED)) {
      for (let seed = 0; seed < 12; seed++) {
        const random = new Random(seed);
        const rows = Array.from({ length: random.below(80) + 1 }, () => nested(random, levels));
        // In a file with one page no row crosses a page boundary. In that form the library reads
        // all these rows.
        const model = await rowsAtOnce(pagedFile(levels, rows, (left) => left));
        const cut = pagedFile(levels, rows, (left) => Math.min(left, 1 + random.below(9)));
        expectSame(await rowsOf(cut), model, `${of}, seed ${seed}`);
      }
    }
  });

  test('gives all rows longer than a batch, and all rows of pages longer than a usual row group', async () => {
    const levels = NESTED['a list']!;
    const rows = [[1n], Array.from({ length: 5000 }, (_, i) => BigInt(i)), [], null, [null], [7n]];
    for (const size of [1e6, 700, 2048])
      expectSame(
        await rowsOf(pagedFile(levels, rows, (left) => Math.min(left, size))),
        await rowsAtOnce(pagedFile(levels, rows, (left) => left)),
        `pages of ${size}`,
      );
  });

  const versions = ['V1', 'V2'];
  const codecs = ['uncompressed', 'snappy', 'gzip', 'zstd', 'brotli', 'lz4_raw'];
  test.skipIf(duckdb === undefined).each(versions.flatMap((version) => codecs.map((codec) => [version, codec])))(
    'gives all rows of files that DuckDB writes as %s with %s',
    { timeout: 60_000 },
    async (version, codec) => {
      // Snappy, which DuckDB compresses fast, gets several row groups.
      const count = codec === 'snappy' ? 5000 : 1500;
      const path = join(dir, `${version}-${codec}.parquet`);
      await duckdb!.run(
        `COPY (${duckRows(count)}) TO '${path}' (FORMAT parquet, ROW_GROUP_SIZE 2048, COMPRESSION ${codec}, PARQUET_VERSION ${version})`,
      );
      await expectReadAsAtOnce(readFileSync(path), `${version} ${codec}`, count);
    },
  );
});

/**
 * Returns SQL for rows of all column types. Some columns have few distinct values and get a
 * dictionary, others do not.
 */
function duckRows(count: number): string {
  const some = (value: string, every: number) => `CASE WHEN i % ${every} = 0 THEN NULL ELSE ${value} END`;
  return `SELECT i::BIGINT AS event_ts, [i % 50, i % 7, i]::BIGINT[] AS members, ${some('[i % 3, NULL]::INTEGER[]', 4)} AS few,
    (CASE WHEN i % 5 = 0 THEN [] WHEN i % 7 = 0 THEN NULL ELSE [[i], [], NULL, [i % 9, NULL]] END)::BIGINT[][] AS deep,
    range(i % 40) AS long, ${some("'text ' || i", 3)} AS own, ${some("'text ' || (i % 11)", 5)} AS shared,
    ${some('(i % 4 = 0)', 6)} AS flag, i % 2 = 0 AS whole_flag, (i % 100)::TINYINT AS tiny, (i % 60000)::USMALLINT AS usmall,
    (4294967295 - i)::UINTEGER AS uint, (18446744073709551615 - i::UBIGINT)::UBIGINT AS ubig, ${some('(i * 0.37)::FLOAT', 9)} AS f,
    (i * 0.1)::DOUBLE AS d, (i * 1.25)::DECIMAL(9, 2) AS dec, (i * 1.25)::DECIMAL(30, 5) AS wide_dec,
    DATE '2020-01-01' + (i % 500)::INTEGER AS day, TIMESTAMP '2020-01-01 00:00:00.123456' + INTERVAL (i) SECOND AS us,
    make_timestamp_ns(i * 1000003) AS ns, epoch_ms(i * 77)::TIMESTAMP_MS AS ms,
    ${some('md5(i::VARCHAR)', 4)}::UUID AS id,
    ${some("('x' || i)::BLOB", 8)} AS raw, {'a': i, 'b': ${some("'s' || (i % 3)", 3)}} AS struct, MAP {'k' || (i % 5): i, 'z': NULL} AS map,
    ${some("[{'n': i, 'tags': ['a', NULL]}]", 6)} AS structs, NULL::BIGINT AS nothing, 7 AS same
    FROM range(${count}) t(i)`;
}

const NESTED: Readonly<Record<string, readonly Level[]>> = {
  'a list': [
    { name: 'v', repetition: 'OPTIONAL', list: true },
    { name: 'list', repetition: 'REPEATED' },
    { name: 'element', repetition: 'OPTIONAL' },
  ],
  'a list without nulls': [
    { name: 'v', repetition: 'REQUIRED', list: true },
    { name: 'list', repetition: 'REPEATED' },
    { name: 'element', repetition: 'REQUIRED' },
  ],
  'a list of lists': [
    { name: 'v', repetition: 'OPTIONAL', list: true },
    { name: 'list', repetition: 'REPEATED' },
    { name: 'element', repetition: 'OPTIONAL', list: true },
    { name: 'list', repetition: 'REPEATED' },
    { name: 'element', repetition: 'OPTIONAL' },
  ],
  'a list of two levels': [
    { name: 'v', repetition: 'OPTIONAL', list: true },
    { name: 'array', repetition: 'REPEATED' },
  ],
  'repeated values': [{ name: 'v', repetition: 'REPEATED' }],
  'a struct': [
    { name: 'v', repetition: 'OPTIONAL' },
    { name: 'a', repetition: 'OPTIONAL' },
  ],
  'a struct with a list': [
    { name: 'v', repetition: 'OPTIONAL' },
    { name: 'a', repetition: 'REQUIRED', list: true },
    { name: 'list', repetition: 'REPEATED' },
    { name: 'element', repetition: 'OPTIONAL' },
  ],
  values: [{ name: 'v', repetition: 'OPTIONAL' }],
  'values without nulls': [{ name: 'v', repetition: 'REQUIRED' }],
};

function nested(random: Random, levels: readonly Level[]): unknown {
  const [level, ...rest] = levels;
  if (level === undefined) return BigInt(random.below(1000));
  if (level.repetition === 'OPTIONAL' && random.chance(0.2)) return null;
  if (level.repetition !== 'REPEATED') return nested(random, rest);
  return Array.from({ length: random.below(random.chance(0.1) ? 30 : 5) }, () => nested(random, rest));
}

type Kind = readonly [
  element: Omit<SchemaElement, 'name' | 'repetition_type'>,
  value: (random: Random, few: boolean) => unknown,
  encodings: readonly ColumnSource['encoding'][],
];

const upTo = (random: Random, few: boolean) => random.below(few ? 9 : 2 ** 31);
const word = (random: Random, few: boolean) => `wörd-${upTo(random, few).toString(36)}`;
const KINDS: Readonly<Record<string, Kind>> = {
  boolean: [{ type: 'BOOLEAN' }, (random) => random.chance(0.5), [undefined, 'PLAIN', 'RLE']],
  int32: [
    { type: 'INT32' },
    (random, few) => upTo(random, few) - 2 ** 30,
    [undefined, 'PLAIN', 'DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT', 'RLE_DICTIONARY'],
  ],
  int64: [
    { type: 'INT64' },
    (random, few) => BigInt(upTo(random, few)) * 4_000_000_007n - 2n ** 61n,
    [undefined, 'PLAIN', 'DELTA_BINARY_PACKED', 'BYTE_STREAM_SPLIT', 'RLE_DICTIONARY'],
  ],
  float: [{ type: 'FLOAT' }, (random, few) => upTo(random, few) / 7, [undefined, 'PLAIN', 'BYTE_STREAM_SPLIT']],
  double: [
    { type: 'DOUBLE' },
    (random, few) => (random.chance(0.02) ? Number.NaN : upTo(random, few) / 7),
    [undefined, 'PLAIN', 'BYTE_STREAM_SPLIT', 'RLE_DICTIONARY'],
  ],
  text: [
    { type: 'BYTE_ARRAY', converted_type: 'UTF8' },
    word,
    [undefined, 'PLAIN', 'DELTA_LENGTH_BYTE_ARRAY', 'DELTA_BYTE_ARRAY', 'RLE_DICTIONARY'],
  ],
  json: [{ type: 'BYTE_ARRAY', converted_type: 'JSON' }, (random, few) => ({ a: word(random, few) }), [undefined]],
  bytes: [
    { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 5 },
    (random, few) => Uint8Array.from({ length: 5 }, () => random.below(few ? 2 : 256)),
    [undefined, 'PLAIN', 'BYTE_STREAM_SPLIT'],
  ],
  uuid: [
    { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 16, logical_type: { type: 'UUID' } },
    (random) =>
      `00000000-0000-4000-8000-${random
        .below(2 ** 31)
        .toString(16)
        .padStart(12, '0')}`,
    [undefined, 'BYTE_STREAM_SPLIT'],
  ],
  half: [
    { type: 'FIXED_LEN_BYTE_ARRAY', type_length: 2, logical_type: { type: 'FLOAT16' } },
    (random) => random.below(2000) / 8,
    [undefined, 'PLAIN'],
  ],
  time: [
    { type: 'INT64', converted_type: 'TIMESTAMP_MILLIS' },
    (random, few) => new Date(upTo(random, few)),
    [undefined],
  ],
  micros: [
    { type: 'INT64', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MICROS' } },
    (random, few) => new Date(upTo(random, few)),
    [undefined, 'DELTA_BINARY_PACKED'],
  ],
  day: [
    { type: 'INT32', converted_type: 'DATE' },
    (random) => new Date(random.below(20_000) * 86_400_000),
    [undefined],
  ],
  decimal: [
    { type: 'INT64', converted_type: 'DECIMAL', scale: 2, precision: 18 },
    (random, few) => upTo(random, few) / 100,
    [undefined, 'PLAIN'],
  ],
};

/**
 * Returns a table of some columns, of which some are lists. `of` describes the contents, to help
 * find a fault.
 */
function writtenTable(random: Random, count: number): { bytes: Uint8Array; of: string } {
  const codec = (['SNAPPY', 'UNCOMPRESSED', 'GZIP', 'BROTLI'] as const)[random.below(4)]!;
  const schema: SchemaElement[] = [{ name: 'root', num_children: 0 }];
  const columnData: ColumnSource[] = [];
  const parts: string[] = [codec];
  for (let place = 0; place < 5; place++) {
    const kind = Object.keys(KINDS)[random.below(Object.keys(KINDS).length)]!;
    const [element, value, encodings] = KINDS[kind]!;
    const [isList, nullable, few] = [random.chance(0.4), random.chance(0.7), random.chance(0.5)];
    const encoding = encodings[random.below(encodings.length)];
    const name = `c${place}`;
    const repetition_type = nullable ? ('OPTIONAL' as const) : ('REQUIRED' as const);
    const cell = () => (nullable && random.chance(0.2) ? null : value(random, few));
    const list = () => (nullable && random.chance(0.1) ? null : Array.from({ length: random.below(6) }, cell));
    if (isList)
      schema.push(
        { name, repetition_type, num_children: 1, converted_type: 'LIST' },
        { name: 'list', repetition_type: 'REPEATED', num_children: 1 },
      );
    schema.push({ ...element, name: isList ? 'element' : name, repetition_type });
    schema[0]!.num_children!++;
    const data = Array.from({ length: count }, isList ? list : cell);
    columnData.push({ name, data, ...(encoding && { encoding }), offsetIndex: random.chance(0.3) });
    parts.push(`${kind}${isList ? '[]' : ''}${nullable ? '?' : ''} ${encoding}`);
  }
  const options = { codec, pageSize: 50 + random.below(3000), rowGroupSize: 1 + random.below(count + 500) };
  const packers = {
    GZIP: (bytes: Uint8Array) => gzipSync(bytes),
    BROTLI: (bytes: Uint8Array) => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } }),
  };
  const bytes = new Uint8Array(parquetWriteBuffer({ schema, columnData, compressors: packers, ...options }));
  return { bytes, of: `${parts.join(', ')}, ${JSON.stringify(options)}` };
}

test('the first rows can be read without the whole row group', async () => {
  const count = 200_000;
  const data = Array.from({ length: count }, (_, i) => BigInt(i) * 7919n);
  const options = { codec: 'UNCOMPRESSED' as const, pageSize: 8192, rowGroupSize: count, statistics: false };
  const columns: ColumnSource[] = [{ name: 'a', data, type: 'INT64', encoding: 'PLAIN', offsetIndex: false }];
  const bytes = new Uint8Array(parquetWriteBuffer({ columnData: columns, ...options }));
  expect(bytes.length).toBeGreaterThan(1_600_000);
  const file = fileOf(bytes);
  const source = new ParquetDecoder(file);
  await source.names();
  const before = file.readBytes;
  expect((await source.next(['a']))?.columns[0]?.[1023]).toBe(1023n * 7919n);
  source.close();
  expect(file.readBytes - before).toBeLessThan(200_000);
});

test('runs of integers of every width are read unchanged', () => {
  const random = new Random(3);
  for (let width = 0; width <= 32; width++) {
    for (let round = 0; round < 10; round++) {
      const values: number[] = [];
      while (values.length < 1 + round * 9) {
        const value = width === 0 ? 0 : random.below(2 ** width);
        for (let times = random.chance(0.2) ? random.below(30) : 1; times > 0; times--) values.push(value);
      }
      expect(Array.from(readRuns(packed(values, width), 0, width, values.length))).toEqual(values);
    }
  }
});

test('a run longer than the requested count is read up to that count, and a truncated run is refused', () => {
  const endless = Uint8Array.from([...varInt(2 ** 31 - 2), 1]);
  expect(Array.from(readRuns(endless, 0, 1, 5))).toEqual([1, 1, 1, 1, 1]);
  for (const bytes of [[], [3], [3, 1], [128, 128, 128, 128, 128, 128], [0]])
    expect(() => readRuns(Uint8Array.from(bytes), 0, 9, 5), `${bytes}`).toThrow(/^a (page ends|run has no)/);
});

/**
 * Returns runs of the values. The library writes them for widths from 1 to 24. For other widths one
 * bit-packed run is written bit by bit.
 */
function packed(values: readonly number[], width: number): Uint8Array {
  if (width > 0 && width <= 24) {
    const writer = new ByteWriter();
    writeRleBitPackedHybrid(writer, [...values], width);
    return writer.getBytes();
  }
  const groups = Math.ceil(values.length / 8);
  const bytes = new Uint8Array(groups * width);
  values.forEach((value, place) => {
    for (let bit = 0; bit < width; bit++) {
      const at = place * width + bit;
      if (Math.floor(value / 2 ** bit) % 2 === 1) bytes[at >> 3]! |= 1 << (at & 7);
    }
  });
  return Uint8Array.from([...varInt(groups * 2 + 1), ...bytes]);
}

function varInt(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varInt(value >>> 7)];
}

describe('a damaged Parquet file', () => {
  test('is either read or refused with a message', { timeout: 120_000 }, async () => {
    const random = new Random(5);
    const files = readdirSync(FIXTURES)
      .filter((name) => name.endsWith('.parquet'))
      .map((name) => new Uint8Array(readFileSync(join(FIXTURES, name))));
    for (let seed = 0; seed < 10; seed++) files.push(Uint8Array.from(writtenTable(new Random(seed), 200).bytes));
    let refused = 0;
    for (let round = 0; round < 500; round++) {
      const bytes = files[round % files.length]!.slice();
      const cut = random.chance(0.1) ? random.below(bytes.length) : 0;
      for (let times = 1 + random.below(3); times > 0; times--) bytes[random.below(bytes.length)] = random.below(256);
      const damaged = cut === 0 ? bytes : Uint8Array.from([...bytes.subarray(0, cut), ...bytes.subarray(cut + 1)]);
      try {
        await rowsOf(damaged);
      } catch (error) {
        refused++;
        expect(error, `round ${round}`).toBeInstanceOf(HedgerowError);
        expect(error).toMatchObject({
          code: 'invalid_input',
          message: expect.stringMatching(/^The file is not a Parquet file/),
        });
      }
    }
    expect(refused).toBeGreaterThan(100);
    expect(refused).toBeLessThan(490);
  });
});
