// Compares decoding and encoding Parquet in a separate thread with the same work in the calling
// thread. Needs dist/ (npm run build).

import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { ParquetEncoder } from '../../src/formats/parquet-encoder.ts';
import { ParquetDecoder } from '../../src/query/copy/parquet-decoder.ts';
import type { ParquetSink, ParquetSource } from '../../src/query/copy/parquet-port.ts';
import { ThreadSink, ThreadSource } from '../../src/query/copy/parquet-remote.ts';
import type { ResultColumn } from '../../src/query/copy/result-columns.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';

const SCRIPT = new URL('../../dist/query/copy/parquet-thread.js', import.meta.url);
const dir = mkdtempSync(join(tmpdir(), 'hedgerow-parquet-'));
afterAll(() => rmSync(dir, { recursive: true }));

const COLUMNS: readonly ResultColumn[] = [
  { name: 'event_ts', type: 'integer' },
  { name: 'members', type: { listOf: 'integer' } },
  { name: 'weight', type: 'real' },
  { name: 'formation', type: 'text' },
  { name: 'seen', type: 'boolean' },
];
const NAMES = COLUMNS.map(({ name }) => name);
const ROWS = 20_000;

/** Returns the rows [from, to), by column. */
function rows(from: number, to: number): (number | string | boolean | number[] | null)[][] {
  const numbers = Array.from({ length: to - from }, (_, index) => from + index);
  return [
    numbers,
    numbers.map((row) => Array.from({ length: row % 4 }, (_, member) => row * 10 + member)),
    numbers.map((row) => (row % 3 === 0 ? null : row / 7)),
    numbers.map((row) => (row % 5 === 0 ? null : `word ${row % 90} é`)),
    numbers.map((row) => row % 2 === 0),
  ];
}

async function written(sink: ParquetSink): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for (let from = 0; from < ROWS; from += 700) pieces.push(await sink.add(rows(from, Math.min(ROWS, from + 700))));
  pieces.push(await sink.end());
  sink.close();
  return Buffer.concat(pieces);
}

async function readAll(source: ParquetSource): Promise<unknown[][]> {
  const columns: unknown[][] = NAMES.map(() => []);
  expect(await source.names()).toEqual(NAMES);
  for (let batch = await source.next(NAMES); batch !== undefined; batch = await source.next(NAMES)) {
    expect(batch.start).toBe(columns[0]!.length);
    for (const [place, values] of batch.columns.entries()) {
      expect(values.length).toBe(batch.count);
      columns[place]!.push(...Array.from(values));
    }
  }
  source.close();
  return columns;
}

describe.skipIf(!existsSync(SCRIPT))('a Parquet thread', () => {
  test('writes and reads the same as the calling thread', async () => {
    const bytes = await written(new ThreadSink(SCRIPT, COLUMNS));
    expect(bytes.equals(await written(new ParquetEncoder(COLUMNS)))).toBe(true);
    const path = join(dir, 'rows.parquet');
    writeFileSync(path, bytes);
    const handle = nodeFs.open(path, 'read');
    const inPlace = await readAll(new ParquetDecoder(handle));
    handle.close();
    expect(await readAll(new ThreadSource(SCRIPT, path))).toEqual(inPlace);
    const numbers = (inPlace[0] as bigint[]).map(Number);
    expect(numbers).toEqual(rows(0, ROWS)[0]);
  });

  test('reports faults of a file and of the disk like the calling thread', async () => {
    const path = join(dir, 'bad.parquet');
    writeFileSync(path, 'PAR1 this is no Parquet at all PAR1');
    const source = new ThreadSource(SCRIPT, path);
    await expect(source.names()).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('not a Parquet file that can be read'),
    });
    source.close();
    const absent = new ThreadSource(SCRIPT, join(dir, 'absent.parquet'));
    await expect(absent.names()).rejects.toMatchObject({ code: 'ENOENT' });
    absent.close();
  });

  test('makes current and later requests fail when it is closed', async () => {
    const source = new ThreadSource(SCRIPT, join(dir, 'rows.parquet'));
    await source.names();
    const next = source.next(NAMES);
    source.close();
    await expect(next).rejects.toThrow('has ended');
    await expect(source.next(NAMES)).rejects.toThrow('has ended');
  });

  test('is not started if nothing is requested', () => {
    new ThreadSink(SCRIPT, COLUMNS).close();
  });
});

test.skipIf(!existsSync(SCRIPT))(
  'a damaged file that the library would read endlessly is refused, and its thread ends',
  async () => {
    const bytes = readFileSync('test/fixtures/parquet/duckdb.parquet');
    // Inverts a bit in the number of children of a column.
    bytes[2565]! ^= 1;
    const path = join(dir, 'endless.parquet');
    writeFileSync(path, bytes);
    const source = new ThreadSource(SCRIPT, path, 500);
    await expect(source.names()).rejects.toMatchObject({
      code: 'invalid_input',
      message: expect.stringContaining('probably damaged'),
    });
    await expect(source.next(NAMES)).rejects.toMatchObject({ code: 'invalid_input' });
    source.close();
  },
);
