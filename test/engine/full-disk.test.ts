// Tests a full disk. If an operation fails before the manifest is replaced, only this operation
// fails, and writes continue. Operations that free space can use the reserve.

import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { openSim, simDisk, turn } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { codeOf, fill, range, segmentFiles, times } from '../support/sim-tables.ts';

const RESERVE = '/db/reserve';

async function prepared(more: object = {}): Promise<{ fs: SimFs; database: Database; notices: string[] }> {
  const fs = simDisk();
  const notices: string[] = [];
  const database = await openSim(fs, {
    core: 'release',
    now: () => 60_000,
    notice: (message) => void notices.push(message),
    ...more,
  });
  await database.createTable({ name: 'other' });
  await fill(database.table(), range(0, 20));
  await fill(database.table('other'), range(0, 20));
  await database.compact({});
  await turn();
  return { fs, database, notices };
}

/**
 * Makes every write outside the log, such as that of a segment or manifest, fail for lack of space
 * while `unless` returns false.
 */
function full(fs: SimFs, unless: () => boolean = () => false): void {
  fs.schedule = ({ kind, path }) =>
    kind === 'write' && !path.includes('/log/') && !unless() ? { code: 'ENOSPC' } : undefined;
}

describe('a manifest for which there is no room', () => {
  test('makes only its compaction fail; writes continue, no file is left, and the next compaction does all the work', async () => {
    const { fs, database } = await prepared();
    await fill(database.table(), range(20, 40));
    const before = segmentFiles(fs);
    fs.schedule = ({ kind, path }) => (kind === 'write' && path.includes('manifest') ? { code: 'ENOSPC' } : undefined);
    expect(await codeOf(database.compact({}))).toBe('disk_full');
    expect(segmentFiles(fs)).toEqual(before);
    expect(fs.exists('/db/manifest.tmp')).toBe(false);
    await fill(database.table(), [50]);
    expect(await codeOf(database.compact({}))).toBe('disk_full');
    fs.schedule = () => undefined;
    await fill(database.table(), [51]);
    await database.compact({});
    const expected = [...range(0, 40), 50, 51];
    expect(times(database)).toEqual(expected);
    expect(times(await openSim(fs.crash()))).toEqual(expected);
  });

  test('changes nothing if its sync or its open fails', async () => {
    for (const kind of ['sync', 'open'] as const) {
      const { fs, database } = await prepared();
      await fill(database.table(), [30]);
      fs.schedule = (operation) =>
        operation.kind === kind && operation.path.includes('manifest') ? { code: 'EIO' } : undefined;
      expect(await codeOf(database.compact({}))).toBe('disk_failed');
      fs.schedule = () => undefined;
      await fill(database.table(), [31]);
      expect(fs.exists('/db/manifest.tmp')).toBe(false);
      expect(times(await openSim(fs.crash()))).toEqual([...range(0, 20), 30, 31]);
    }
  });

  test('does not make a DROP fail: the table is gone, and its files are removed with the next manifest or open', async () => {
    for (const next of ['manifest', 'crash', 'kill'] as const) {
      const { fs, database, notices } = await prepared();
      full(fs);
      await database.dropTable('other');
      expect(notices).toContain(
        'a table was dropped, but no manifest can be written now; its files are removed with the next one',
      );
      expect(() => database.table('other')).toThrow(/no table/);
      await turn();
      expect(segmentFiles(fs, '/db/tables/2').length).toBeGreaterThan(0);
      await fill(database.table(), [99]);
      fs.schedule = () => undefined;
      if (next === 'manifest') {
        await database.compact({});
        await turn();
        expect(segmentFiles(fs, '/db/tables/2')).toEqual([]);
        await database.close();
        continue;
      }
      const disk = next === 'crash' ? fs.crash() : fs.kill();
      const again = await openSim(disk);
      expect(() => again.table('other')).toThrow(/no table/);
      expect(times(again)).toEqual([...range(0, 20), 99]);
      await again.compact({});
      await turn();
      expect(segmentFiles(disk, '/db/tables/2')).toEqual([]);
    }
  });
});

describe('the reserve on a full disk', () => {
  const options = { reserveBytes: 5000 };

  test('is made after a compaction, released by a DROP, and made again when there is room', async () => {
    const { fs, database } = await prepared(options);
    await turn();
    expect(fs.exists(RESERVE)).toBe(true);
    full(fs, () => !fs.exists(RESERVE));
    await fill(database.table(), [60]);
    expect(await codeOf(database.compact({}))).toBe('disk_full');
    expect(fs.exists(RESERVE)).toBe(true);
    await database.dropTable('other');
    await turn();
    expect(segmentFiles(fs, '/db/tables/2')).toEqual([]);
    expect(fs.exists(RESERVE)).toBe(false);
    fs.schedule = () => undefined;
    await database.compact({});
    for (let turns = 0; turns < 20; turns++) await turn();
    expect(fs.exists(RESERVE)).toBe(true);
    expect(times(database)).toEqual([...range(0, 20), 60]);
    await database.close();
    expect(fs.openHandles).toBe(0);
  });

  test('lets a compaction with a TTL run, which drops old rows', async () => {
    const { fs, database } = await prepared({ ...options, now: () => 10_000_000 });
    await turn();
    await fill(database.table(), range(9990, 9999));
    full(fs, () => !fs.exists(RESERVE));
    expect(await codeOf(database.compact({ table: 'hyperedges' }))).toBe('disk_full');
    const result = await database.compact({ table: 'hyperedges', ttlSeconds: 3600 });
    expect(result.edges_dropped).toBe(20);
    expect(times(database)).toEqual(range(9990, 9999));
    await database.close();
  });

  test('causes no refusal when the disk fails while the reserve is created or released', async () => {
    for (const kind of ['open', 'write', 'datasync', 'remove', 'syncDir'] as const) {
      const { fs, database } = await prepared(options);
      fs.schedule = (operation) =>
        operation.kind === kind && operation.path.includes('reserve') ? { code: 'EIO' } : undefined;
      await fill(database.table(), [70]);
      await database.compact({});
      await database.dropTable('other');
      await fill(database.table(), [71]);
      await database.close();
      fs.schedule = () => undefined;
      expect(times(await openSim(fs.crash(), options))).toEqual([...range(0, 20), 70, 71]);
    }
  });
});

describe('an insert that a full log refuses', () => {
  test('releases the memory that it reserved', async () => {
    const { fs, database } = await prepared();
    fs.schedule = ({ kind, path }) => (kind === 'write' && path.includes('/log/') ? { code: 'ENOSPC' } : undefined);
    const wide = Array.from({ length: 200 }, (_, number) => number);
    let refused = 0;
    for (let time = 100; time < 20_000 && refused < 20; time++) {
      const code = await codeOf(database.table().insert({ event_ts: time, members: wide }));
      expect(['none', 'disk_full']).toContain(code);
      if (code === 'disk_full') refused++;
    }
    expect(refused).toBe(20);
    const { memtables } = database.table().version;
    expect(memtables.length).toBeGreaterThan(0);
    for (const { memtable } of memtables) {
      expect(memtable.takenRows).toBe(memtable.rows);
      expect(memtable.takenBytes).toBe(memtable.recordBytes);
    }
  });
});
