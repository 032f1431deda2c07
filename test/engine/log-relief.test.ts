// Tests tables that could keep the log from being truncated: an idle table with a pending row, and
// a table with a corrupt file. The log must be truncated nevertheless, without losing anything.

import { expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { openSim, rowsOf, simDisk, turn } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { codeOf, fill, range, segmentFiles, times } from '../support/sim-tables.ts';

const LIMIT = 8 * 8192;
const options = { core: 'release', logFileBytes: 8192 } as const;

/** Commits rows of a busy table until they fill several log files. */
async function busy(database: Database, name: string, files: number): Promise<void> {
  const table = database.table(name);
  for (let i = 0; i < files * 8; i++) {
    await table.insert({ event_ts: i, members: range(0, 120).map((each) => each * 1_000_003 + i) });
    await turn();
  }
}

async function longest(database: Database, work: () => Promise<void>): Promise<number> {
  let most = 0;
  const look = setInterval(() => {
    most = Math.max(most, database.wal().size_bytes);
  }, 0);
  await work();
  clearInterval(look);
  return most;
}

test('an idle table with a pending row is compacted so that the log can shrink, and other tables are not', async () => {
  const database = await openSim(simDisk(), { ...options, segmentRows: 64 });
  await database.createTable({ name: 'busy' });
  await database.createTable({ name: 'late' });
  await database.setCompactThreshold(16, 'busy');
  await database.table().insert({ event_ts: 1, members: [1] });
  const most = await longest(database, () => busy(database, 'busy', 40));
  await database.table('late').insert({ event_ts: 5, members: [1] });
  expect(most).toBeLessThan(LIMIT * 2);
  expect(database.table().pending).toBe(0);
  expect(database.table('late').pending).toBe(1);
  expect(times(database)).toEqual([1]);
  await database.close();
});

/**
 * Makes a database whose primary table has segments and pending operations, and reopens it with a
 * damaged segment.
 */
async function damaged(): Promise<{ fs: SimFs; database: Database; expected: number[]; restore: () => void }> {
  const fs = simDisk();
  const first = await openSim(fs, options);
  await first.createTable({ name: 'busy' });
  await fill(first.table(), range(0, 20));
  await first.compact({});
  await fill(first.table(), range(20, 30));
  await first.table().delete(3, [3 % 7, 103]);
  await first.table().delete(25, [25 % 7, 125]);
  const expected = times(first);
  await first.close();
  await turn();
  const path = `/db/tables/1/${segmentFiles(fs)[0]}`;
  const flip = () =>
    fs.edit(path, (bytes) => {
      bytes[20]! ^= 0xff;
    });
  flip();
  const database = await openSim(fs, options);
  expect(database.table().corrupt).not.toBe(null);
  return { fs, database, expected, restore: flip };
}

test.each(['close', 'kill', 'crash'] as const)(
  'a corrupt table does not keep the log from shrinking, and has all its operations when its file is whole again (%s)',
  async (how) => {
    const { fs, database, expected, restore } = await damaged();
    const most = await longest(database, () => busy(database, 'busy', 60));
    expect(most).toBeLessThan(LIMIT * 2);
    expect(await codeOf(database.table().insert({ event_ts: 1, members: [1] }))).toBe('table_corrupt');
    let disk = fs;
    if (how === 'close') await database.close();
    else disk = how === 'kill' ? fs.kill() : fs.crash();
    // The table is still corrupt, so its held operations are not removed.
    let again = await openSim(disk, options);
    expect(again.table().corrupt).not.toBe(null);
    expect(again.table().held.length).toBeGreaterThan(0);
    await busy(again, 'busy', 20);
    await again.close();
    if (how === 'close') restore();
    else
      disk.edit(`/db/tables/1/${segmentFiles(disk)[0]}`, (bytes) => {
        bytes[20]! ^= 0xff;
      });
    again = await openSim(disk, options);
    expect(times(again)).toEqual(expected);
    await fill(again.table(), [1000]);
    await again.compact({});
    await turn();
    expect(again.table().held).toEqual([]);
    expect(disk.list('/db/tables/1').filter((name) => name.startsWith('held-'))).toEqual([]);
    await again.close();
    const last = await openSim(disk, options);
    expect(times(last)).toEqual([...expected, 1000]);
    expect(rowsOf(last.table('busy'))).toHaveLength(80 * 8);
    await last.close();
  },
  60_000,
);

test('a damaged file of held operations is kept, and its table refuses with an error that names the file', async () => {
  const { fs, database, restore } = await damaged();
  await busy(database, 'busy', 30);
  await database.close();
  restore();
  const name = fs.list('/db/tables/1').find((each) => each.startsWith('held-'))!;
  for (const place of [3, 9, 17, 20, 26, 40]) {
    const flip = (bytes: Uint8Array) => {
      bytes[place]! ^= 0x10;
    };
    fs.edit(`/db/tables/1/${name}`, flip);
    const again = await openSim(fs, options);
    expect(again.table().corrupt).toMatchObject({ code: 'corrupt', fields: { file: `/db/tables/1/${name}` } });
    await again.compact({});
    await again.close();
    fs.edit(`/db/tables/1/${name}`, flip);
  }
  const whole = await openSim(fs, options);
  expect(whole.table().corrupt).toBe(null);
  await whole.close();
});
