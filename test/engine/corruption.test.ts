// Tests damaged files: a table refuses, naming file and offset, while others answer, and a database
// with a damaged log or manifest is not opened. No answer is ever wrong.

import { beforeEach, describe, expect, test } from 'vitest';
import { loadCore, readSegmentFacts } from '../../src/core/index.ts';
import type { Database } from '../../src/engine/index.ts';
import type { HedgerowError } from '../../src/errors.ts';
import { drain, openSim, PausingRunner, rowsOf, simDisk, turn } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

const HEADER_BYTES = 128;
const ENTRY_BYTES = 24;
const SECTION_NAMES: Record<number, string> = {
  1: 'blocks',
  2: 'times',
  3: 'ids',
  4: 'sizes',
  5: 'members',
  6: 'nodes',
  7: 'posting offsets',
  8: 'postings',
  9: 'filter',
  16: 'column',
  17: 'psi',
};

interface Section {
  name: string;
  offset: number;
  bytes: number;
}

function sectionsOf(file: Uint8Array): Section[] {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  const sections: Section[] = [];
  for (let index = 0; index < view.getUint32(20, true); index++) {
    const at = HEADER_BYTES + index * ENTRY_BYTES;
    sections.push({
      name: SECTION_NAMES[view.getUint16(at, true)]!,
      offset: view.getUint32(at + 8, true),
      bytes: view.getUint32(at + 12, true),
    });
  }
  return sections;
}

/** Makes two tables with several segments and every type of column, and closes cleanly. */
async function prepared(): Promise<SimFs> {
  const fs = simDisk();
  const database = await openSim(fs, { segmentRows: 24, maxMembers: 64 });
  const columns = [
    { name: 'n', type: 'INTEGER' },
    { name: 't', type: 'TEXT' },
    { name: 'b', type: 'BOOLEAN' },
  ] as const;
  const typed = await database.createTable({ name: 'typed', columns: [...columns] });
  for (const table of [typed, database.table()]) {
    const bulk = table.bulk();
    for (let row = 0; row < 72; row++) {
      const properties =
        table === typed ? { n: row % 5 === 0 ? null : row * 1000, t: `text ${row % 9}`, b: row % 2 === 0 } : {};
      bulk.add({
        event_ts: 100 + Math.floor(row / 3),
        members: [row % 6, 10 + row, (row * 7) % 50],
        properties: { ...properties, weight: row / 3, formation: row % 4 ? 'line' : null },
      });
    }
    await bulk.commit();
  }
  await database.compact({});
  await database.close();
  return fs;
}

const TYPED = '/db/tables/2';

async function caught(run: () => unknown): Promise<unknown> {
  try {
    await run();
  } catch (error) {
    return error;
  }
  return undefined;
}

function flip(fs: SimFs, path: string, offset: number, bit = 1): void {
  fs.edit(path, (bytes) => {
    bytes[offset]! ^= bit;
  });
}

let expectedTyped: string;
let expectedOther: string;

/** Checks lookups of four nodes against a scan of the table, and returns the text of the scan. */
function readAll(database: Database, name: string): string {
  const table = database.table(name);
  const text = drain(table.scan({ format: 'ndjson' }));
  const rows = text.split('\n').filter((line) => line !== '');
  for (const node of [0, 3, 17, 70]) {
    const found = drain(table.scan({ format: 'ndjson', nodes: [node] }));
    const wanted = rows
      .filter((line) => (JSON.parse(line).members as number[]).includes(node))
      .map((line) => `${line}\n`);
    expect(found).toBe(wanted.join(''));
  }
  return text;
}

/**
 * Checks that the damaged table refuses and names the file, while the other table answers, accepts
 * writes and is compacted.
 */
async function refuses(fs: SimFs, path: string, offset?: number): Promise<HedgerowError> {
  const database = await openSim(fs, { segmentRows: 24 });
  const error = await caught(() => readAll(database, 'typed'));
  expect(error).toMatchObject({ code: 'table_corrupt', fields: { file: path } });
  const refusal = error as HedgerowError;
  if (offset !== undefined) expect(refusal.fields!.offset).toBe(offset);
  expect(refusal.message).toContain(path);
  if (!refusal.message.includes('format version'))
    expect(refusal.message).toContain(`offset ${refusal.fields!.offset}`);
  const table = database.table('typed');
  expect(await caught(() => table.scan({ format: 'json' }))).toMatchObject({ code: 'table_corrupt' });
  expect(await caught(() => table.insert({ event_ts: 1, members: [1] }))).toMatchObject({ code: 'table_corrupt' });
  expect(await caught(() => table.delete(1, [1]))).toMatchObject({ code: 'table_corrupt' });
  expect(await caught(() => database.begin().insert(table, { event_ts: 1, members: [1] }))).toMatchObject({
    code: 'table_corrupt',
  });
  expect(await caught(() => database.compact({ table: 'typed' }))).toMatchObject({ code: 'table_corrupt' });
  expect(Object.keys(database.health().corrupt_tables)).toEqual(['typed']);
  expect(readAll(database, 'hyperedges')).toBe(expectedOther);
  await database.table().insert({ event_ts: 5, members: [5] });
  await database.table().delete(5, [5]);
  expect((await database.compact({})).tables).toEqual(['hyperedges']);
  expect(readAll(database, 'hyperedges')).toBe(expectedOther);
  await database.close();
  return refusal;
}

async function isWhole(fs: SimFs): Promise<void> {
  const database = await openSim(fs, { segmentRows: 24 });
  expect(readAll(database, 'typed')).toBe(expectedTyped);
  expect(readAll(database, 'hyperedges')).toBe(expectedOther);
  await database.close();
}

let fs: SimFs;
let path: string;
let sections: Section[];

beforeEach(async () => {
  fs = await prepared();
  const names = fs.list(TYPED);
  expect(names).toHaveLength(3);
  path = `${TYPED}/${names[1]}`;
  fs.edit(path, (bytes) => {
    sections = sectionsOf(bytes);
    expect(readSegmentFacts(loadCore('debug').instantiate(), bytes, bytes.length, path).rows).toBe(24);
  });
  const database = await openSim(fs, { segmentRows: 24 });
  expectedTyped = readAll(database, 'typed');
  expectedOther = readAll(database, 'hyperedges');
  await database.close();
});

describe('a segment file', () => {
  test('has every kind of section in this test except an index order', () => {
    expect(new Set(sections.map(({ name }) => name))).toEqual(
      new Set(Object.values(SECTION_NAMES).filter((name) => name !== 'psi')),
    );
  });

  test('is refused at the damaged section if a bit of the section is flipped', async () => {
    for (const { name, offset, bytes } of sections) {
      if (bytes === 0) continue;
      for (const at of new Set([0, Math.floor(bytes / 2), bytes - 1])) {
        flip(fs, path, offset + at, 0x10);
        await refuses(fs, path, offset).catch((error: Error) => {
          throw new Error(`${name}, byte ${at} of ${bytes}: ${error.message}`, { cause: error });
        });
        flip(fs, path, offset + at, 0x10);
      }
    }
    await isWhole(fs);
  });

  test('is refused if a bit of its header or directory is flipped', async () => {
    const end = HEADER_BYTES + sections.length * ENTRY_BYTES;
    for (let at = 0; at < end; at += 5) {
      flip(fs, path, at, 1 << (at % 8));
      await refuses(fs, path).catch((error: Error) => {
        throw new Error(`byte ${at}: ${error.message}`, { cause: error });
      });
      flip(fs, path, at, 1 << (at % 8));
    }
    await isWhole(fs);
  });

  test('gives the right rows or is refused if any bit is flipped', async () => {
    let size = 0;
    fs.edit(path, (bytes) => {
      size = bytes.length;
    });
    for (let at = 0; at < size; at += 13) {
      flip(fs, path, at, 0x80);
      const database = await openSim(fs, { segmentRows: 24 });
      const error = await caught(() => expect(readAll(database, 'typed')).toBe(expectedTyped));
      if (error !== undefined)
        expect(error, `byte ${at}`).toMatchObject({ code: 'table_corrupt', fields: { file: path } });
      await database.close();
      flip(fs, path, at, 0x80);
    }
  });

  test.each([0, 1, 100, HEADER_BYTES + 30, -1])('is refused after it was cut to %i bytes', async (size) => {
    const handle = fs.open(path, 'write');
    const bytes = new Uint8Array(handle.size());
    handle.read(bytes, 0);
    const kept = size < 0 ? bytes.length + size : size;
    await handle.truncate(kept);
    handle.close();
    await refuses(fs, path, kept);
    const again = fs.open(path, 'write');
    await again.write(bytes, 0);
    again.close();
    await isWhole(fs);
  });

  test('is refused if there are bytes after its end', async () => {
    const handle = fs.open(path, 'write');
    const size = handle.size();
    await handle.write(new Uint8Array(8), size);
    await refuses(fs, path);
    await handle.truncate(size);
    handle.close();
    await isWhole(fs);
  });

  test('is refused if it is missing', async () => {
    await fs.rename(path, `${TYPED}/aside`);
    await refuses(fs, path, 0);
    await fs.rename(`${TYPED}/aside`, path);
    await isWhole(fs);
  });

  test('is refused with the reason if its format version is from the future', async () => {
    fs.edit(path, (bytes) => {
      bytes[8] = 4;
    });
    const error = await refuses(fs, path, 8);
    expect(error.message).toContain('format version');
    fs.edit(path, (bytes) => {
      bytes[8] = 1;
    });
    await isWhole(fs);
  });

  // A filter is read without its segment. A wrong filter would hide rows from lookups that never
  // load the segment.
  test('hides no row from a lookup if its node filter is damaged', async () => {
    const { offset, bytes: length } = sections.find(({ name }) => name === 'filter')!;
    fs.edit(path, (bytes) => bytes.fill(0, offset, offset + length));
    const database = await openSim(fs, { segmentRows: 24 });
    const error = await caught(() => drain(database.table('typed').scan({ format: 'json', nodes: [40] })));
    expect(error).toMatchObject({ code: 'table_corrupt', fields: { file: path, offset } });
    await database.close();
  });

  test('is refused in place of another segment file', async () => {
    const other = `${TYPED}/${fs.list(TYPED)[0]}`;
    await swap(path, other);
    const database = await openSim(fs, { segmentRows: 24 });
    expect(await caught(() => readAll(database, 'typed'))).toMatchObject({ code: 'table_corrupt' });
    await database.close();
    await swap(path, other);
    const foreign = `/db/tables/1/${fs.list('/db/tables/1')[1]}`;
    await swap(path, foreign);
    const again = await openSim(fs, { segmentRows: 24 });
    expect(await caught(() => readAll(again, 'typed'))).toMatchObject({ code: 'table_corrupt' });
    expect(await caught(() => readAll(again, 'hyperedges'))).toMatchObject({ code: 'table_corrupt' });
    await again.close();
    await swap(path, foreign);
    await isWhole(fs);
  });

  function contentOf(disk: SimFs, path: string): Uint8Array {
    const handle = disk.open(path, 'read');
    const bytes = new Uint8Array(handle.size());
    handle.read(bytes, 0);
    handle.close();
    return bytes;
  }

  async function swap(a: string, b: string): Promise<void> {
    const [left, right] = [contentOf(fs, a), contentOf(fs, b)];
    for (const [to, bytes] of [
      [a, right],
      [b, left],
    ] as const) {
      const handle = fs.open(to, 'write');
      await handle.truncate(bytes.length);
      await handle.write(bytes, 0);
      handle.close();
    }
  }

  test('is refused at its next load by a scan, delete, commit or compaction if it was damaged meanwhile', async () => {
    for (const use of ['scan', 'delete', 'commit', 'compact'] as const) {
      const database = await openSim(fs, { segmentRows: 24, memoryBudgetBytes: 1 });
      const table = database.table('typed');
      expect(readAll(database, 'typed')).toBe(expectedTyped);
      await table.insert({ event_ts: 110, members: [1] });
      await table.delete(110, [1]);
      const lsn = database.lastLsn;
      const { offset } = sections.find(({ name }) => name === 'members')!;
      const row = JSON.parse(expectedTyped.split('\n')[30]!);
      await table.delete(1, [1]);
      flip(fs, path, offset);
      rowsOf(database.table());
      const error = await caught(async () => {
        if (use === 'scan') drain(table.scan({ format: 'json' }));
        else if (use === 'delete') await table.delete(row.event_ts, row.members);
        else if (use === 'compact') {
          table.version.segments[1]!.dead.add(0, 1);
          await database.compact({ table: 'typed' });
        } else {
          const transaction = database.begin();
          transaction.insert(database.table(), { event_ts: 7, members: [7] });
          transaction.delete(table, row.event_ts, row.members);
          await transaction.commit();
        }
      });
      expect(error, use).toMatchObject({ code: 'table_corrupt', fields: { file: path, offset } });
      // No part of the refused commit may be in the log or in the other table.
      expect(database.wal().last_lsn).toBe(lsn + 1);
      expect(readAll(database, 'hyperedges')).toBe(expectedOther);
      flip(fs, path, offset);
      await database.close();
      await isWhole(fs);
    }
  });

  test('keeps later operations in the log while it is damaged, and the table has them after a repair', async () => {
    const disk = await prepared();
    let database = await openSim(disk, { segmentRows: 24, logFileBytes: 4096 + 400 });
    await database.table('typed').insert({ event_ts: 500, members: [500] });
    await database.table('typed').delete(100, [0, 10]);
    const before = rowsOf(database.table('typed'));
    await database.close();
    flip(disk, path, 30);
    database = await openSim(disk, { segmentRows: 24, logFileBytes: 4096 + 400 });
    expect(Object.keys(database.health().corrupt_tables)).toEqual(['typed']);
    for (let round = 0; round < 6; round++) {
      await database.table().insert({ event_ts: round, members: [round] });
      await database.compact({});
    }
    await database.close();
    flip(disk, path, 30);
    database = await openSim(disk, { segmentRows: 24 });
    expect(rowsOf(database.table('typed'))).toEqual(before);
    await database.compact({});
    expect(rowsOf(database.table('typed'))).toEqual(before);
    await database.close();
  });

  test('is left out of a compaction of all tables if it is damaged, and its table is named', async () => {
    const disk = await prepared();
    let database = await openSim(disk);
    expect(await database.compact()).not.toHaveProperty('corrupt_tables');
    await database.close();
    flip(disk, path, 30);
    database = await openSim(disk);
    const result = await database.compact();
    expect(result.tables).toEqual(['hyperedges']);
    expect(Object.keys(result.corrupt_tables!)).toEqual(['typed']);
    expect(result.corrupt_tables!.typed).toContain(path);
    expect(await database.compact({ table: 'hyperedges' })).not.toHaveProperty('corrupt_tables');
    await database.close();
  });

  test('is removed when its table is dropped, even if it is damaged', async () => {
    const disk = await prepared();
    flip(disk, path, 30);
    let database = await openSim(disk);
    await database.dropTable('typed');
    await database.close();
    database = await openSim(disk);
    await turn();
    expect(disk.list(TYPED)).toEqual([]);
    expect(database.health().corrupt_tables).toEqual({});
    await database.close();
  });

  test('is noticed before the manifest is written if a compaction wrote it incorrectly', async () => {
    const disk = simDisk();
    let damage = false;
    const runner = new PausingRunner(disk, async (step) => {
      if (step !== 'close' || !damage) return;
      const name = disk.list('/db/tables/1')[0]!;
      flip(disk, `/db/tables/1/${name}`, 50);
    });
    const database = await openSim(disk, { runner });
    for (let time = 0; time < 20; time++) await database.table().insert({ event_ts: time, members: [time] });
    damage = true;
    expect(await caught(() => database.compact({}))).toMatchObject({ code: 'corrupt' });
    expect(database.table().corrupt).toBeNull();
    expect(rowsOf(database.table())).toHaveLength(20);
    damage = false;
    await database.compact({});
    expect(rowsOf(database.table())).toHaveLength(20);
    await database.close();
  });
});

/** Returns the offsets of the frames in a log file. */
function framesOf(disk: SimFs, file: string): number[] {
  const offsets: number[] = [];
  disk.edit(file, (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    let at = 4096;
    while (at + 40 <= bytes.length && view.getUint32(at, true) === 0x52464748) {
      offsets.push(at);
      at += 40 + Math.ceil(view.getUint32(at + 8, true) / 8) * 8;
    }
  });
  return offsets;
}

describe('a damaged log', () => {
  /** Makes a log file with ten commits, then closes the database cleanly or kills it. */
  async function logged(end: 'close' | 'kill'): Promise<{ disk: SimFs; file: string }> {
    const disk = simDisk();
    const database = await openSim(disk);
    for (let time = 0; time < 10; time++)
      await database.table().insert({ event_ts: time, members: [time, 1000 + time] });
    if (end === 'close') await database.close();
    const next = end === 'close' ? disk : disk.kill();
    return { disk: next, file: `/db/log/${next.list('/db/log').find((name) => name.startsWith('log-0'))}` };
  }

  test('is refused with file and offset if a bit in any acknowledged frame is flipped', async () => {
    const { disk, file } = await logged('close');
    // The last frame is the seal. Without it, the frame before it counts as unfinished.
    const used = framesOf(disk, file).at(-1)!;
    for (let at = 4096; at < used; at += 3) {
      flip(disk, file, at, 4);
      const error = await caught(() => openSim(disk));
      expect(error, `byte ${at}`).toMatchObject({ code: 'corrupt', fields: { file } });
      expect((error as HedgerowError).fields!.offset).toBeGreaterThanOrEqual(4096);
      expect((error as HedgerowError).fields!.offset).toBeLessThanOrEqual(at);
      flip(disk, file, at, 4);
    }
    const database = await openSim(disk);
    expect(rowsOf(database.table())).toHaveLength(10);
    await database.close();
  });

  test('is refused after a kill, but ends at a damaged last group if a power loss destroyed the mark', async () => {
    const { disk, file } = await logged('kill');
    const offsets = framesOf(disk, file);
    expect(offsets).toHaveLength(11);
    for (const [index, offset] of offsets.entries()) {
      flip(disk, file, offset + 50);
      expect(await caught(() => openSim(disk)), `frame ${index}`).toMatchObject({
        code: 'corrupt',
        fields: { file, offset },
      });
      flip(disk, file, offset + 50);
    }
    // A power loss may destroy the watermark. Then nothing proves that the last group was durable.
    disk.edit('/db/log/mark', (bytes) => bytes.fill(0, 8192));
    flip(disk, file, offsets[10]! + 50);
    const database = await openSim(disk);
    expect(rowsOf(database.table())).toHaveLength(9);
    await database.close();
  });

  test('is refused if it is missing while the manifest requires it for a table', async () => {
    const disk = await prepared();
    const database = await openSim(disk);
    await database.table('typed').insert({ event_ts: 1, members: [1] });
    await database.table().insert({ event_ts: 1, members: [1] });
    await database.compact({ table: 'hyperedges' });
    await database.close();
    for (const name of disk.list('/db/log')) await disk.remove(`/db/log/${name}`);
    expect(await caught(() => openSim(disk))).toMatchObject({ code: 'corrupt', fields: { file: '/db/log' } });
  });

  test('is refused if a bit in a file header is flipped', async () => {
    const { disk, file } = await logged('close');
    for (const at of [0, 7, 8, 12, 16, 24, 40, 4092, 4095]) {
      flip(disk, file, at);
      expect(await caught(() => openSim(disk)), `byte ${at}`).toMatchObject({ code: 'corrupt', fields: { file } });
      flip(disk, file, at);
    }
  });
});

describe('a damaged manifest', () => {
  test('is refused if any bit is flipped', async () => {
    const disk = await prepared();
    const manifest = '/db/manifest';
    let size = 0;
    disk.edit(manifest, (bytes) => {
      size = bytes.length;
    });
    for (let at = 0; at < size; at++) {
      flip(disk, manifest, at, 1 << (at % 7));
      expect(await caught(() => openSim(disk)), `byte ${at}`).toMatchObject({
        code: 'corrupt',
        fields: { file: manifest },
      });
      flip(disk, manifest, at, 1 << (at % 7));
    }
    expect(disk.openHandles).toBe(0);
    const database = await openSim(disk);
    expect(database.tables()).toHaveLength(2);
    await database.close();
  });

  test('is refused if it is missing, rather than making the database look empty', async () => {
    const disk = await prepared();
    const database = await openSim(disk, { logFileBytes: 4096 + 400 });
    for (let round = 0; round < 4; round++) {
      await database.table().insert({ event_ts: round, members: [round] });
      await database.table('typed').insert({ event_ts: round, members: [round] });
      await database.compact({});
    }
    await database.close();
    await disk.remove('/db/manifest');
    expect(await caught(() => openSim(disk))).toMatchObject({ code: 'corrupt' });
  });
});
