import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Databases, openDatabases } from '../../src/virtual/backends/duckdb-databases.ts';
import { loadLibrary } from '../../src/virtual/backends/duckdb-library.ts';
import type { DuckDbSource } from '../../src/virtual/backends/duckdb-messages.ts';
import { findFiles } from '../../src/virtual/backends/files.ts';
import { holdFiles } from '../../src/virtual/backends/held-files.ts';
import type { FileBackend } from '../../src/virtual/spec/spec.ts';
import { describeDuckDb, makeFiles } from './backend-files.ts';

let folder: string;
let root: string;
let outside: string;
let spill: string;
let databases: Databases;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'hedgerow-held-'));
  [root, outside, spill] = ['root', 'outside', 'spill'].map((name) => join(folder, name)) as [string, string, string];
  for (const dir of [root, outside, spill, join(root, 'in'), join(outside, 'in')]) mkdirSync(dir);
  for (const name of ['a.csv', 'in/a.csv']) {
    writeFileSync(join(root, name), 'a\nopen\n');
    writeFileSync(join(outside, name), 'a\nsecret\n');
  }
  writeFileSync(join(root, 'a.json'), '{"a":"open"}\n');
  writeFileSync(join(outside, 'a.json'), '{"a":"secret"}\n');
  for (const [dir, value] of [
    [root, 'open'],
    [outside, 'secret'],
  ] as const) {
    await makeFiles([`COPY (SELECT '${value}' AS a) TO '${dir}/a.parquet'`]);
    await makeFiles([`CREATE TABLE a AS SELECT '${value}' AS a`], join(dir, 'a.duckdb'));
  }
  databases = openDatabases(await loadLibrary(), limits());
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const limits = () => ({ memoryMb: 512, threads: 1, spillFolder: spill, spillMb: 64, keepOpenMs: 50 });

/** Returns a source in the form in which a session creates it. */
async function sourceOf(backend: FileBackend): Promise<DuckDbSource> {
  const { files, log, table, bytes, fingerprint } = await findFiles(root, backend);
  if (backend.type === 'duckdb') return { key: fingerprint, files, opened: { kind: 'database', log } };
  return { key: fingerprint, files, opened: { kind: 'files', format: backend.type, table, bytes } };
}

function read(source: DuckDbSource, sql = 'SELECT * FROM a ORDER BY ALL'): Promise<unknown[][]> {
  return databases.use(source, async (connection) => (await connection.runAndReadAll(sql)).getRowsJS());
}

/** Returns the rows of the source as JSON, or the reason why they cannot be read. */
async function outcome(source: DuckDbSource): Promise<string> {
  try {
    return JSON.stringify(await read(source));
  } catch (error) {
    return (error as Error).message;
  }
}

/** Replaces a file by a link to the file of the same name outside the root. */
function swap(name: string): void {
  renameSync(join(root, name), join(root, `${name}.old`));
  symlinkSync(join(outside, name), join(root, name));
}

const BACKENDS: FileBackend[] = [
  { type: 'csv', path: 'a.csv' },
  { type: 'json', path: 'a.json' },
  { type: 'parquet', path: 'a.parquet' },
  { type: 'duckdb', path: 'a.duckdb' },
];

describeDuckDb('files that were found', () => {
  it.each(BACKENDS)('are read ($type)', async (backend) => {
    expect(await read(await sourceOf(backend))).toEqual([['open']]);
  });

  it.each(BACKENDS)('are not read if a link replaced them before they were opened ($type)', async (backend) => {
    const source = await sourceOf(backend);
    swap(backend.path);
    expect(await outcome(source)).toMatch(/replaced while it was being opened: ask again/);
  });

  it.each(BACKENDS)(
    'are still read, or cause an error, if a link replaces them after they were opened ($type)',
    async (backend) => {
      const source = await sourceOf(backend);
      await databases.use(source, async () => {
        swap(backend.path);
        expect(await outcome(source)).not.toContain('secret');
      });
    },
  );

  it('are not read if a link replaced a folder above them', async () => {
    const source = await sourceOf({ type: 'csv', path: 'in/*.csv' });
    swap('in');
    expect(await outcome(source)).toMatch(/replaced while it was being opened/);
  });

  it('are not read if they were deleted or another file replaced them', async () => {
    const source = await sourceOf({ type: 'csv', path: 'a.csv' });
    writeFileSync(join(root, 'other'), 'a\nother\n');
    rmSync(join(root, 'a.csv'));
    expect(await outcome(source)).toMatch(/replaced/);
    renameSync(join(root, 'other'), join(root, 'a.csv'));
    expect(await outcome(source)).toMatch(/replaced/);
    // A new session reads the new file.
    expect(await read(await sourceOf({ type: 'csv', path: 'a.csv' }))).toEqual([['other']]);
  });

  it('keep names that have a meaning for DuckDB, such as a.csv.gz and year=2024', async () => {
    for (const year of [2023, 2024]) {
      mkdirSync(join(root, `year=${year}`));
      writeFileSync(join(root, `year=${year}`, 'a.csv.gz'), gzipSync(`a\n${year + 1}\n`));
    }
    const source = await sourceOf({ type: 'csv', path: 'year=*/a.csv.gz' });
    expect(await read(source, 'SELECT a::INTEGER, year::INTEGER FROM a ORDER BY ALL')).toEqual([
      [2024, 2023],
      [2025, 2024],
    ]);
  });

  it('include the log next to a database, but not a log that was put there later', async () => {
    const unfinished = (value: string) => [
      "SET checkpoint_threshold = '1TB'",
      'PRAGMA disable_checkpoint_on_shutdown',
      `INSERT INTO a VALUES ('${value}')`,
    ];
    await makeFiles(unfinished('late'), join(root, 'a.duckdb'));
    expect(existsSync(join(root, 'a.duckdb.wal'))).toBe(true);
    const source = await sourceOf({ type: 'duckdb', path: 'a.duckdb' });
    expect(await read(source)).toEqual([['late'], ['open']]);
    await makeFiles(unfinished('secret of the log'), join(outside, 'a.duckdb'));
    const again = { ...source, key: 'again' };
    swap('a.duckdb.wal');
    expect(await outcome(again)).toMatch(/replaced while it was being opened/);
    // If no log was found at first, none is read later.
    const { opened: _opened, ...rest } = source;
    const without: DuckDbSource = { ...rest, key: 'without', opened: { kind: 'database', log: undefined } };
    expect(await outcome(without)).toBe('[["open"]]');
  });

  it('are released when the database is closed or cannot be opened', async () => {
    for (const backend of BACKENDS) await read(await sourceOf(backend));
    writeFileSync(join(root, 'broken.duckdb'), 'this is no database');
    const broken = await sourceOf({ type: 'duckdb', path: 'broken.duckdb' });
    expect(await outcome(broken)).toContain(join(root, 'broken.duckdb'));
    await expect.poll(() => readdirSync(spill), { timeout: 10_000 }).toEqual([]);
  });

  it('are copied if they are on another file system, unless they are too large', async () => {
    const source = await sourceOf({ type: 'duckdb', path: 'a.duckdb' });
    // A folder in memory if possible, because it cannot have hard links to files on disk.
    const elsewhere = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : spill, 'hedgerow-held-'));
    try {
      const held = await holdFiles(source, elsewhere, 64 * 2 ** 20);
      swap('a.duckdb');
      const copy: DuckDbSource = {
        ...source,
        files: (await findFiles(elsewhere, { type: 'duckdb', path: held.paths[0]!.slice(elsewhere.length + 1) })).files,
      };
      expect(await read(copy)).toEqual([['open']]);
      expect(held.shown(`cannot read ${held.paths[0]}`)).toBe(`cannot read ${source.files[0]!.path}`);
      await held.close();
      expect(readdirSync(elsewhere)).toEqual([]);
      if (statSync(elsewhere).dev === statSync(root).dev) return;
      renameSync(join(root, 'a.duckdb.old'), join(root, 'b.duckdb'));
      const large = await sourceOf({ type: 'duckdb', path: 'b.duckdb' });
      await expect(holdFiles(large, elsewhere, 1000)).rejects.toThrow(/another file system.*TMPDIR/);
      expect(readdirSync(elsewhere)).toEqual([]);
    } finally {
      rmSync(elsewhere, { recursive: true });
    }
  });
});
