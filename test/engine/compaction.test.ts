// Tests compaction on a simulated disk: what it rewrites, what is written while it runs, and when
// files are removed.

import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { openSim, PausingRunner, rowsOf, simDisk, simOptions, turn } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { codeOf, fill, range, segmentFiles, times } from '../support/sim-tables.ts';

const DIR = '/db/tables/1';

/** Returns a promise and the function with which a test resolves it. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

describe('the files of a table', () => {
  test('are kept by a compaction when no new row and no deleted row falls within their segments', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    await fill(database.table(), range(0, 64));
    await database.compact({});
    const before = segmentFiles(fs);
    expect(before).toHaveLength(8);
    await database.table().insert({ event_ts: 20, members: [1] });
    await database.table().delete(44, [44 % 7, 144]);
    await database.compact({});
    await turn();
    const after = segmentFiles(fs);
    expect(before.filter((name) => !after.includes(name))).toEqual([before[2], before[5]]);
    expect(times(database)).toEqual(
      [...range(0, 21), ...range(20, 64)].sort((a, b) => a - b).filter((each) => each !== 44),
    );
    await database.close();
  });

  test('are added for rows at the newest end, and at most the last file is rewritten', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    await fill(database.table(), range(0, 60));
    await database.compact({});
    const before = segmentFiles(fs);
    await fill(database.table(), range(60, 75));
    await database.compact({});
    await turn();
    expect(segmentFiles(fs).slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    expect(times(database)).toEqual(range(0, 75));
    await database.close();
  });

  test('hold fewer rows if the rows are wide: as many as fit into 4 MB, but at least 4,096', async () => {
    const database = await openSim(simDisk(), { segmentRows: 65_536 });
    const rowsOfSegments = async (name: string, length: number) => {
      const table = await database.createTable({ name, columns: [{ name: 'note', type: 'TEXT' }] });
      const bulk = table.bulk();
      for (const time of range(0, 9000))
        bulk.add({ event_ts: time, members: [time % 5], properties: { note: `${time} `.padEnd(length, 'x') } });
      await bulk.commit();
      await database.compact({ table: name });
      expect(rowsOf(table).map((row) => String(row.note).length)).toEqual(new Array(9000).fill(length));
      return table.version.segments.map(({ facts }) => facts.rows);
    };
    expect(await rowsOfSegments('narrow', 10)).toEqual([9000]);
    const [first, second] = await rowsOfSegments('wide', 600);
    expect(first! * 630).toBeGreaterThan(3.8 * 2 ** 20);
    expect(first! * 630).toBeLessThan(4.2 * 2 ** 20);
    expect(first! + second!).toBe(9000);
    expect(await rowsOfSegments('widest', 2000)).toEqual([4096, 4096, 808]);
    await database.close();
  });

  test('are not written when a compaction has nothing to do', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    await fill(database.table(), range(0, 20));
    await database.compact({});
    const before = segmentFiles(fs);
    const result = await database.compact({});
    expect(result).toMatchObject({ wal_pending_before: 0, wal_pending_after: 0, tombstones_reconciled: 0 });
    expect(segmentFiles(fs)).toEqual(before);
    await database.close();
  });

  test('stay while a pinned snapshot reads them', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    await fill(database.table(), range(0, 16));
    await database.compact({});
    const before = segmentFiles(fs);
    const snapshot = database.snapshot(database.table());
    const scan = database.table().scan({ format: 'ndjson' });
    for (const time of range(0, 16)) await database.table().delete(time, [time % 7, time + 100]);
    await database.compact({});
    await turn();
    expect(segmentFiles(fs)).toEqual(before);
    expect(rowsOf(database.table(), {}, snapshot)).toHaveLength(16);
    snapshot.release();
    await turn();
    expect(segmentFiles(fs)).toEqual(before);
    scan.close();
    await turn();
    expect(segmentFiles(fs)).toEqual([]);
    await database.close();
  });

  test('are removed after a drop, when the last reader is done', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    const table = await database.createTable({ name: 'other' });
    await fill(table, range(0, 20));
    await database.compact({});
    const snapshot = database.snapshot(table);
    expect(segmentFiles(fs, '/db/tables/2').length).toBeGreaterThan(0);
    await database.dropTable('OTHER');
    await turn();
    expect(segmentFiles(fs, '/db/tables/2').length).toBeGreaterThan(0);
    snapshot.release();
    await turn();
    expect(segmentFiles(fs, '/db/tables/2')).toEqual([]);
    expect(await codeOf(table.insert({ event_ts: 1, members: [1] }))).toBe('table_not_found');
    await database.close();
  });

  test.each(['drop in the manifest', 'drop in the log only'])(
    'are removed at the next open if a crash kept them after a drop (%s)',
    async (where) => {
      let fs = simDisk();
      let database = await openSim(fs);
      const table = await database.createTable({ name: 'other' });
      await fill(table, range(0, 20));
      await database.compact({});
      const snapshot = database.snapshot(table);
      fs.schedule = (operation) =>
        where === 'drop in the log only' && operation.path.endsWith('manifest.tmp') ? 'crash' : undefined;
      await Promise.race([database.dropTable('other'), fs.whenStopped]);
      expect(snapshot.lsn).toBeGreaterThan(0);
      fs = fs.kill();
      expect(segmentFiles(fs, '/db/tables/2').length).toBeGreaterThan(0);
      database = await openSim(fs);
      expect(segmentFiles(fs, '/db/tables/2')).toEqual([]);
      expect(database.tables().map((each) => each.name)).toEqual(['hyperedges']);
      await database.compact({});
      fs = fs.crash();
      database = await openSim(fs);
      expect(segmentFiles(fs, '/db/tables/2')).toEqual([]);
      expect(database.tables().map((each) => each.name)).toEqual(['hyperedges']);
      expect(database.health().corrupt_tables).toEqual({});
    },
  );

  test('are removed at the next open if a crash interrupted their compaction, and their numbers are reused', async () => {
    let fs = simDisk();
    let database = await openSim(fs);
    await fill(database.table(), range(0, 20));
    fs.schedule = (operation) => (operation.path.endsWith('manifest.tmp') ? 'crash' : undefined);
    database.compact({}).catch(() => undefined);
    await fs.whenStopped;
    fs = fs.kill();
    expect(segmentFiles(fs).length).toBeGreaterThan(0);
    database = await openSim(fs);
    expect(segmentFiles(fs)).toEqual([]);
    await database.compact({});
    expect(times(database)).toEqual(range(0, 20));
    await database.close();
  });

  // Found by the histories test: the process was killed between the rename and the sync of the
  // manifest, the database was opened, and then the power failed.
  test('are kept while a manifest on the disk may list them, until the next manifest is durable', async () => {
    for (let seed = 1; seed < 40; seed++) {
      let fs = simDisk(seed);
      const database = await openSim(fs, { core: 'release' });
      await fill(database.table(), range(0, 20));
      await database.compact({});
      await fill(database.table(), range(0, 20));
      let renamed = false;
      fs.schedule = (operation) => {
        if (operation.kind === 'rename' && operation.path.endsWith('manifest.tmp')) renamed = true;
        return renamed && operation.kind === 'syncDir' ? 'crash' : undefined;
      };
      database.compact({}).catch(() => undefined);
      await fs.whenStopped;
      fs = fs.kill();
      expect(rowsOf((await openSim(fs, { core: 'release' })).table()), `seed ${seed}`).toHaveLength(40);
      const again = await openSim(fs.crash(), { core: 'release' });
      expect(again.health().corrupt_tables, `seed ${seed}`).toEqual({});
      expect(rowsOf(again.table()), `seed ${seed}`).toHaveLength(40);
    }
  });

  test('are told apart from foreign files in the directory, which are not touched', async () => {
    const fs = simDisk();
    let database = await openSim(fs);
    await fill(database.table(), range(0, 20));
    await database.compact({});
    await database.close();
    fs.open(`${DIR}/notes.txt`, 'create').close();
    fs.open(`${DIR}/seg-00000000ffff.hgs`, 'create').close();
    database = await openSim(fs);
    expect(fs.list(DIR)).toContain('notes.txt');
    expect(fs.list(DIR)).not.toContain('seg-00000000ffff.hgs');
    await database.close();
  });
});

describe('the log and the manifest', () => {
  // Found by the histories test: an idle table released the part of the log that the next manifest
  // needed.
  test('let a table open again that was idle when the log was truncated', async () => {
    const fs = simDisk();
    let database = await openSim(fs, { logFileBytes: 4096 + 400 });
    const idle = await database.createTable({ name: 'idle' });
    await idle.insert({ event_ts: 1, members: [1] });
    await database.compact({ table: 'idle' });
    for (let round = 0; round < 3; round++) {
      await fill(database.table(), range(0, 20));
      await database.compact({ table: 'hyperedges' });
    }
    await idle.insert({ event_ts: 2, members: [2] });
    await database.compact({ table: 'hyperedges' });
    await database.close();
    database = await openSim(fs);
    expect(rowsOf(database.table('idle'))).toHaveLength(2);
    expect(rowsOf(database.table())).toHaveLength(60);
    await database.close();
  });

  // Found by the histories test: the manifest contained a table whose creation the async log then
  // lost.
  test('agree: a table whose creation a crash can remove from the log is in no manifest', async () => {
    for (let seed = 1; seed < 30; seed++) {
      const fs = simDisk(seed);
      const database = await openSim(fs, { durability: 'async', core: 'release' });
      await database.createTable({ name: 'early' });
      await database.createTable({ name: 'late' });
      await database.dropTable('early');
      const again = await openSim(fs.crash(), { core: 'release' });
      if (again.tables().some((table) => table.name === 'late'))
        expect(again.lastLsn, `seed ${seed}`).toBeGreaterThanOrEqual(3);
    }
  });

  test('keep no log files that every table has been compacted past', async () => {
    const fs = simDisk();
    const database = await openSim(fs, { logFileBytes: 4096 + 400 });
    for (let round = 0; round < 10; round++) await fill(database.table(), range(0, 10));
    const before = fs.list('/db/log').length;
    await database.compact({});
    expect(before).toBeGreaterThan(6);
    expect(fs.list('/db/log').length).toBeLessThan(5);
    await database.close();
  });
});

describe('columns in a compaction', () => {
  // Found by the histories test: the defaults of several columns overwrote each other before the
  // builder read them.
  test('keep their own defaults', async () => {
    const fs = simDisk();
    const database = await openSim(fs);
    const columns = [
      { name: 'a', type: 'INTEGER', default: 7 },
      { name: 'b', type: 'TEXT', default: 'seven' },
      { name: 'c', type: 'REAL', default: 0.7 },
      { name: 'd', type: 'BOOLEAN', default: true },
    ] as const;
    const table = await database.createTable({ name: 'typed', columns: [...columns] });
    await table.insert({ event_ts: 1, members: [1] });
    await table.insert({ event_ts: 2, members: [1], properties: { A: null, b: null, c: null, d: null } });
    const before = rowsOf(table);
    expect(before[0]).toMatchObject({ a: 7, b: 'seven', c: 0.7, d: true });
    await database.compact({});
    expect(rowsOf(table)).toEqual(before);
    await database.close();
  });
});

describe('a TTL', () => {
  const NOW = 1_000_000_000;

  /** Drops everything before `time`, which must be the start of a bucket. */
  async function dropBefore(database: Database, time: number): Promise<[edges: number, buckets: number]> {
    const { edges_dropped, buckets_dropped } = await database.compact({ ttlSeconds: NOW - time });
    return [edges_dropped, buckets_dropped];
  }

  test('counts each dropped bucket once, wherever its rows are', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    // Buckets cover 10 s and segments have 8 rows, so bucket 0 is in two segments and in the log.
    await fill(table, range(0, 32));
    await database.compact({});
    expect(table.version.segments).toHaveLength(4);
    await fill(table, [5, 6, 7, 33, 34, 41]);
    expect(await dropBefore(database, 40)).toEqual([37, 4]);
    expect(times(database)).toEqual([41]);
    await database.close();
  });

  test('does not count a bucket without live rows', async () => {
    const database = await openSim(simDisk());
    const table = database.table();
    await fill(table, [1, 2, 11, 21, 22, 31, 32, 33, 34, 50]);
    await database.compact({});
    await table.delete(11, [4, 111]);
    await table.delete(21, [0, 121]);
    await fill(table, [12, 23]);
    await table.delete(23, [2, 123]);
    await table.delete(12, [5, 112]);
    expect(await dropBefore(database, 40)).toEqual([7, 3]);
    expect(times(database)).toEqual([50]);
    await database.close();
  });
});

describe('writes during a compaction', () => {
  /**
   * Starts a compaction of 40 rows in segments and 8 rows in the log, paused before its first part.
   */
  async function compacting(): Promise<{ fs: SimFs; database: Database; go: () => Promise<void> }> {
    const fs = simDisk();
    const { opened, open } = gate();
    let paused = false;
    const runner = new PausingRunner(fs, async (step) => {
      if (paused && step === 'part') await opened;
    });
    const database = await openSim(fs, { runner });
    await fill(database.table(), range(0, 40));
    await database.compact({});
    await fill(database.table(), range(4, 12));
    paused = true;
    const compaction = database.compact({});
    while (database.table().compacting === undefined) await turn();
    await turn();
    return {
      fs,
      database,
      go: async () => {
        open();
        await compaction;
      },
    };
  }

  test('are kept, also after a crash: deletes, inserts and repeated inserts', async () => {
    const { fs, database, go } = await compacting();
    const table = database.table();
    expect((await table.delete(5, [5, 105])).matched).toBe(2);
    expect((await table.delete(30, [2, 130])).matched).toBe(1);
    await table.insert({ event_ts: 5, members: [5, 105] });
    await table.insert({ event_ts: 30, members: [2, 130], properties: { weight: 2 } });
    expect((await table.delete(30, [2, 130])).matched).toBe(1);
    await table.insert({ event_ts: 100, members: [1] });
    const during = rowsOf(table);
    await go();
    expect(rowsOf(table)).toEqual(during);
    expect(database.wal().pending).toBe(6);
    expect(table.rowCount).toBe(during.length);
    await database.compact({});
    expect(rowsOf(table)).toEqual(during);
    expect(rowsOf((await openSim(fs.crash())).table())).toEqual(during);
  });

  test('are kept if they are deletes, also after a crash right after the compaction', async () => {
    const { fs, database, go } = await compacting();
    await database.table().delete(5, [5, 105]);
    await database.table().delete(11, [4, 111]);
    const during = rowsOf(database.table());
    await go();
    const again = await openSim(fs.crash());
    expect(rowsOf(again.table())).toEqual(during);
    await again.compact({});
    expect(rowsOf(again.table())).toEqual(during);
  });

  test('do not change what open readers and snapshots see', async () => {
    const { database, go } = await compacting();
    const table = database.table();
    const snapshot = database.snapshot(table);
    const before = rowsOf(table);
    const scan = table.scan({ format: 'ndjson' });
    await table.delete(5, [5, 105]);
    const after = rowsOf(table);
    await go();
    expect(rowsOf(table, {}, snapshot)).toEqual(before);
    expect(rowsOf(table)).toEqual(after);
    let lines = 0;
    for (let slice = scan.next(); slice !== null; slice = scan.next())
      lines += Buffer.from(slice).toString().split('\n').length - 1;
    expect(lines).toBe(before.length);
    snapshot.release();
    await database.close();
  });

  // Found by the histories test: after close, a compaction of all tables continued with the next
  // table.
  test('are refused after close, and a compaction of all tables does not continue with another table', async () => {
    const { fs, database, go } = await compacting();
    await database.createTable({ name: 'other' });
    await database.table('other').insert({ event_ts: 1, members: [1] });
    const all = codeOf(database.compact({}));
    const closed = database.close();
    await go();
    await closed;
    expect(fs.openHandles).toBe(0);
    const { operations } = fs;
    expect(await all).toBe('draining');
    for (let turns = 0; turns < 5; turns++) await turn();
    expect(fs.operations).toBe(operations);
    expect(await codeOf(database.compact({}))).toBe('draining');
    expect(await codeOf(database.table().insert({ event_ts: 1, members: [1] }))).toBe('draining');
  });

  test('are kept by a close, which waits for the running compaction', async () => {
    const { fs, database, go } = await compacting();
    const closed = database.close();
    await go();
    await closed;
    expect(fs.openHandles).toBe(0);
    expect(times(await openSim(fs))).toHaveLength(48);
  });
});

describe('opening a database', () => {
  test('leaves no file open and no lock when it fails', async () => {
    const fs = simDisk();
    const database = await openSim(fs, { logFileBytes: 4096 + 400 });
    for (let round = 0; round < 6; round++) await fill(database.table(), range(0, 10));
    await database.close();
    const oldest = fs.list('/db/log')[0]!;
    fs.edit(`/db/log/${oldest}`, (bytes) => {
      bytes[4096 + 60]! ^= 1;
    });
    expect(await codeOf(openSim(fs))).toBe('corrupt');
    expect(fs.openHandles).toBe(0);
    fs.edit(`/db/log/${oldest}`, (bytes) => {
      bytes[4096 + 60]! ^= 1;
    });
    expect(times(await openSim(fs))).toHaveLength(60);
  });

  test('is refused while the database is already open', async () => {
    const fs = simDisk();
    await openSim(fs);
    expect(await codeOf(openSim(fs))).toBe('conflict');
  });

  test('is refused with a primary table name that is not an identifier', async () => {
    expect(await codeOf(openSim(simDisk(), { primaryTable: 'no way' }))).toBe('invalid_input');
    expect(simOptions(simDisk()).primaryTable).toBe('hyperedges');
  });
});
