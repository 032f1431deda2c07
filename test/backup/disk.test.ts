// Backups on a simulated disk: power loss or a kill at every operation, a full disk, existing files
// with the same name, and corrupt sources. A file with the final name of a backup is complete or
// absent.

import { expect, test } from 'vitest';
import { checkArchive } from '../../src/engine/backup/check-archive.ts';
import type { Database, Table } from '../../src/engine/index.ts';
import type { HedgerowError } from '../../src/errors.ts';
import { Random } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { Fault, Operation, SimFs } from '../support/sim-fs.ts';
import { fill, range } from '../support/sim-tables.ts';

const DIR = '/db/backups';

/** Opens a database with segments and with operations in the log. */
async function filled(fs: SimFs): Promise<Database> {
  // The log files are so large that no compaction truncates the log.
  const database = await openSim(fs, { segmentRows: 200, logFileBytes: 65_536 });
  await addNoise(database.table(), 600);
  await database.compact({});
  await addNoise(database.table(), 300);
  await database.table().insert({ event_ts: 5000, members: [3, 103] });
  await database.table().delete(5000, [3, 103]);
  return database;
}

/** Adds rows that gzip can hardly compress, so that the archive takes several writes. */
async function addNoise(table: Table, count: number): Promise<void> {
  const random = new Random(5);
  const bulk = table.bulk();
  for (let i = 0; i < count; i++) {
    const noise = Array.from({ length: 40 }, () => String.fromCharCode(0x4e00 + random.below(20_000))).join('');
    bulk.add({ event_ts: i, members: [i % 7, i + 100], properties: { formation: noise } });
  }
  await bulk.commit();
}

function backup(database: Database) {
  return database.backup({ dir: DIR, compactFirst: false });
}

function archives(fs: SimFs): string[] {
  return fs.exists(DIR) ? fs.list(DIR).filter((name) => name.endsWith('.tar.gz')) : [];
}

/** Passes only the operations on the backup directory to `decide`. */
function onBackups(fs: SimFs, decide: (count: number, operation: Operation) => Fault | undefined): void {
  let count = 0;
  fs.schedule = (operation) => (operation.path.startsWith(DIR) ? decide(count++, operation) : undefined);
}

async function refusal(work: Promise<unknown>): Promise<HedgerowError> {
  return work.then(
    () => {
      throw new Error('it was not refused');
    },
    (error: HedgerowError) => error,
  );
}

/** Returns the number of operations that one backup makes on the backup directory. */
async function operationsOfBackup(): Promise<number> {
  const fs = simDisk();
  const database = await filled(fs);
  let operations = 0;
  onBackups(fs, () => {
    operations++;
    return undefined;
  });
  await backup(database);
  await database.close();
  return operations;
}

test.each(['crash', 'kill'] as const)(
  'a %s at any operation leaves a complete backup or none under the final name',
  async (how) => {
    const operations = await operationsOfBackup();
    expect(operations).toBeGreaterThan(10);
    let whole = 0;
    for (let at = 0; at < operations; at++) {
      for (let seed = 4; seed <= 6; seed++) {
        const fs = simDisk(seed);
        const database = await filled(fs);
        onBackups(fs, (count) => (count === at ? 'crash' : undefined));
        void backup(database).catch(() => undefined);
        await fs.whenStopped;
        const after = how === 'crash' ? fs.crash() : fs.kill();
        for (const name of archives(after)) {
          await checkArchive({ fs: after, path: `${DIR}/${name}`, progress: () => undefined });
          whole++;
        }
        // The next backup removes what this backup left behind.
        const again = await openSim(after, { now: () => 1_000_000_001_000 });
        expect(rowsOf(again.table()).length).toBe(900);
        const { path } = await backup(again);
        await checkArchive({ fs: after, path, progress: () => undefined });
        expect(after.list(DIR).filter((name) => !name.endsWith('.tar.gz'))).toEqual([]);
        await again.close();
      }
    }
    expect(whole).toBeGreaterThan(0);
  },
);

test('a backup on a full disk fails with disk_full and leaves no file, and the database keeps working', async () => {
  const fs = simDisk();
  const database = await filled(fs);
  for (let at = 0; ; at++) {
    let hit = false;
    onBackups(fs, (count, { kind }) => {
      if (count !== at || !['open', 'write', 'sync', 'rename', 'syncDir'].includes(kind)) return undefined;
      hit = true;
      return { code: 'ENOSPC' };
    });
    const outcome = await backup(database).then(
      () => undefined,
      (error: HedgerowError) => error,
    );
    fs.schedule = () => undefined;
    if (outcome === undefined && !hit) break;
    expect(outcome?.code).toBe('disk_full');
    expect(outcome?.status).toBe(507);
    expect(fs.list(DIR)).toEqual([]);
    await database.table().insert({ event_ts: at, members: [at] });
  }
  expect(archives(fs).length).toBe(1);
  await database.close();
});

test('a failing disk or a short write leaves no file', async () => {
  const fs = simDisk();
  const database = await filled(fs);
  for (const fault of [{ code: 'EIO' }, { shortBytes: 3 }] as const) {
    onBackups(fs, (_count, { kind }) => (kind === 'write' ? fault : undefined));
    expect(await refusal(backup(database))).toMatchObject({ code: 'disk_failed' });
    fs.schedule = () => undefined;
    expect(fs.list(DIR)).toEqual([]);
  }
  await database.close();
});

test('an existing file is not overwritten, and the answer is 409', async () => {
  const fs = simDisk();
  const database = await filled(fs);
  const { path } = await backup(database);
  const names = fs.list(DIR);
  const error = await refusal(backup(database));
  expect(error).toMatchObject({ code: 'backup_exists', status: 409 });
  expect(error.message).toContain(path);
  expect(fs.list(DIR)).toEqual(names);
  await checkArchive({ fs, path, progress: () => undefined });
  await database.close();
});

test('a file that is created under the final name during the backup is not overwritten', async () => {
  const fs = simDisk();
  const database = await filled(fs);
  const { path } = await backup(database);
  await fs.remove(path);
  onBackups(fs, (_count, { kind }) => {
    if (kind === 'sync' && !fs.exists(path)) fs.open(path, 'create').close();
    return undefined;
  });
  expect(await refusal(backup(database))).toMatchObject({ code: 'backup_exists' });
  expect(fs.list(DIR)).toEqual([path.slice(DIR.length + 1)]);
  const handle = fs.open(path, 'read');
  expect(handle.size()).toBe(0);
  handle.close();
  await database.close();
});

test('a backup with durability async contains every acknowledged write, even if it was not synced', async () => {
  const fs = simDisk();
  const database = await openSim(fs, { durability: 'async' });
  const { lsn } = await database.table().insert({ event_ts: 1, members: [1] });
  const made = await backup(database);
  expect(made.lsn).toBe(lsn);
  await checkArchive({ fs, path: made.path, progress: () => undefined });
  await database.close();
});

test('backups run one at a time, and each has its own file', async () => {
  const fs = simDisk();
  let ms = 1_000_000_000_000;
  const database = await openSim(fs, { now: () => (ms += 1000) });
  const made = await Promise.all([backup(database), backup(database), backup(database)]);
  expect(new Set(made.map(({ path }) => path)).size).toBe(3);
  expect(fs.list(DIR).length).toBe(3);
  await database.close();
});

test('a corrupt segment or log makes the backup fail with file and offset, and leaves no file', async () => {
  for (const [dir, offset] of [
    ['/db/tables/1', 400],
    ['/db/log', 4096 + 60],
  ] as const) {
    const fs = simDisk();
    const database = await filled(fs);
    // The newest file is damaged, because older log files are no longer needed after a compaction.
    const file = `${dir}/${fs.list(dir).findLast((name) => name !== 'log-spare' && name !== 'mark')}`;
    fs.edit(file, (bytes) => {
      bytes[offset]! ^= 1;
    });
    const error = await refusal(backup(database));
    expect(error).toMatchObject({ code: 'corrupt', fields: { file } });
    expect(fs.list(DIR)).toEqual([]);
    await database.close();
  }
});

test('a corrupt table makes the backup fail', async () => {
  const fs = simDisk();
  const first = await filled(fs);
  await first.close();
  const [name] = fs.list('/db/tables/1');
  await fs.remove(`/db/tables/1/${name}`);
  const database = await openSim(fs);
  expect(await refusal(backup(database))).toMatchObject({ code: 'table_corrupt' });
  expect(archives(fs)).toEqual([]);
  await database.close();
});

test('the directories of the engine are refused as targets', async () => {
  const fs = simDisk();
  const database = await filled(fs);
  for (const dir of ['/db/log', '/db/tables', '/db/tables/1'])
    expect(await refusal(database.backup({ dir, compactFirst: false }))).toMatchObject({ code: 'invalid_input' });
  await database.close();
});

test('closing the database ends a running backup and releases its handles, log files and segments', async () => {
  const fs = simDisk();
  const database = await filled(fs);
  let closing: Promise<void> | undefined;
  onBackups(fs, (_count, { kind }) => {
    if (kind === 'write') closing ??= database.close();
    return undefined;
  });
  const error = await refusal(backup(database));
  expect(error).toMatchObject({ code: 'draining' });
  await closing;
  expect(fs.list(DIR)).toEqual([]);
  expect(fs.openHandles).toBe(0);
  const again = await openSim(fs);
  expect(rowsOf(again.table()).length).toBe(900);
  await again.close();
});

test('concurrent compactions, drops and truncations remove no file that a running backup needs', async () => {
  const fs = simDisk();
  const database = await filled(fs);
  const other = await database.createTable({ name: 'other' });
  await fill(other, range(0, 30));
  await database.compact({});
  await fill(database.table(), range(100, 130));
  const before = database.lastLsn;
  let changes: Promise<unknown> | undefined;
  onBackups(fs, (_count, { kind }) => {
    if (kind === 'open')
      changes ??= database
        .compact({})
        .then(() => database.dropTable('other'))
        .then(() => fill(database.table(), range(200, 260)))
        .then(() => database.compact({}));
    return undefined;
  });
  const made = await backup(database);
  expect(made).toMatchObject({ lsn: before, tables: ['hyperedges', 'other'] });
  await changes;
  await checkArchive({ fs, path: made.path, progress: () => undefined });
  // The files that only the backup needed are removed at the next checkpoint.
  await fill(database.table(), range(300, 310));
  await database.compact({});
  expect(fs.exists('/db/tables/2') ? fs.list('/db/tables/2') : []).toEqual([]);
  expect(fs.list('/db/tables/1').length).toBe(database.health().segments);
  expect(fs.list('/db/log').filter((name) => name.startsWith('log-0')).length).toBeLessThan(3);
  await database.close();
});
