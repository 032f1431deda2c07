// Damages the log: cuts it, zeroes parts of it, flips bits, or removes files. Then either every
// acknowledged row is there, or the database does not open and `verify` reports why.
// HEDGEROW_LOG_DAMAGE=1 tries every byte, sector and bit, which takes hours; a prime number n tries
// every nth byte or bit. Without the variable, the steps are large.

import { describe, expect, test } from 'vitest';
import { loadCore } from '../../src/core/index.ts';
import { verifyDirectory } from '../../src/engine/verify/verify-directory.ts';
import { HedgerowError } from '../../src/errors.ts';
import { crc32c } from '../support/crc32c.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';

const STEP = process.env.HEDGEROW_LOG_DAMAGE === undefined ? undefined : Number(process.env.HEDGEROW_LOG_DAMAGE);
const ROWS = 600;
const SECTOR_BYTES = 512;
const LOG = '/db/log';
const core = loadCore('release');

type Disk = SimFs;

/**
 * Makes a database with `rows` rows, each inserted by its own commit. It is optionally compacted in
 * the middle, and then closed cleanly or killed.
 */
async function made(rows: number, end: 'close' | 'kill', logFileBytes: number, compacted: boolean): Promise<Disk> {
  const fs = simDisk(7);
  const database = await openSim(fs, { core: 'release', logFileBytes });
  for (let row = 0; row < rows; row++) {
    const properties = { formation: `${row}`.padEnd(40, '.') };
    await database.table().insert({ event_ts: row, members: [row % 9, 100 + row], properties });
    if (compacted && row === Math.floor(rows / 2)) await database.compact({});
  }
  if (end === 'close') await database.close();
  return fs.kill();
}

function newestLog(fs: Disk): string {
  return `${LOG}/${fs.list(LOG).findLast((name) => name.startsWith('log-0'))}`;
}

function segments(fs: Disk): string[] {
  return fs.exists('/db/tables/1') ? fs.list('/db/tables/1') : [];
}

function bytesOf(fs: Disk, path: string): Uint8Array {
  let bytes = new Uint8Array(0);
  fs.edit(path, (content) => {
    bytes = content.slice();
  });
  return bytes;
}

async function cut(fs: Disk, path: string, size: number): Promise<void> {
  const handle = fs.open(path, 'write');
  await handle.truncate(size);
  await handle.sync();
  handle.close();
}

/**
 * Opens a damaged copy of the disk. Returns 'whole' if it opens with all rows, or 'refused', in
 * which case verify must report a problem.
 */
async function outcome(fs: Disk, rows: number, what: string): Promise<'whole' | 'refused'> {
  const report = await verifyDirectory({ fs, crc32c, core }, '/db', () => Promise.resolve());
  let database: Awaited<ReturnType<typeof openSim>>;
  try {
    database = await openSim(fs, { core: 'release' });
  } catch (error) {
    expect(error, what).toBeInstanceOf(HedgerowError);
    expect((error as HedgerowError).code, what).toBe('corrupt');
    expect(report.problems.length, `${what}: verify names what opening refuses`).toBeGreaterThan(0);
    return 'refused';
  }
  const found = rowsOf(database.table()).length;
  if (found !== rows) throw new Error(`${what}: ${found} of ${rows} rows, and nobody said so`);
  await database.close();
  return 'whole';
}

describe.each(['close', 'kill'] as const)('a database after a %s', (end) => {
  describe.each([
    ['without', false],
    ['with', true],
  ] as const)('%s a compaction', (_name, compacted) => {
    test('is refused if its newest log file is cut at any byte', async () => {
      const base = await made(ROWS, end, 2 ** 17, compacted);
      const path = newestLog(base);
      const size = bytesOf(base, path).length;
      expect(size).toBeGreaterThan(90_000);
      for (let at = 0; at < size; at += STEP ?? 2003) {
        const disk = base.kill();
        await cut(disk, path, at);
        expect(await outcome(disk, ROWS, `cut at ${at}`)).toBe('refused');
      }
      expect(await outcome(base.kill(), ROWS, 'untouched')).toBe('whole');
    });

    test('has all rows or is refused if sectors of the log are zeroed, singly or up to the end', async () => {
      const base = await made(ROWS, end, 2 ** 17, compacted);
      const path = newestLog(base);
      const size = bytesOf(base, path).length;
      const used = bytesOf(base, path).findLastIndex((byte) => byte !== 0);
      for (let at = 0; at < size; at += STEP === undefined ? SECTOR_BYTES * 13 : SECTOR_BYTES) {
        for (const to of [at + SECTOR_BYTES, size]) {
          const disk = base.kill();
          disk.edit(path, (bytes) => bytes.fill(0, at, to));
          const seen = await outcome(disk, ROWS, `zeros from ${at} to ${to}`);
          // After a clean close the seal is no longer needed, because the mark records what the log
          // contains.
          if (at < used - SECTOR_BYTES && (at === 0 || at >= 4096))
            expect(seen, `zeros from ${at} to ${to}`).toBe('refused');
        }
      }
    });

    test.each([
      'the newest file',
      'every file',
      'the mark',
      'all in the directory',
      'the manifest',
      'the log directory',
    ])('is refused without %s', async (what) => {
      const disk = await made(60, end, 2 ** 12, compacted);
      const names = disk.list(LOG);
      expect(names.filter((name) => name.startsWith('log-0')).length).toBeGreaterThan(compacted ? 0 : 1);
      const wanted: Record<string, string[]> = {
        'the newest file': [newestLog(disk)],
        'every file': names.filter((name) => name.startsWith('log-0')).map((name) => `${LOG}/${name}`),
        'the mark': [`${LOG}/mark`],
        'the manifest': ['/db/manifest'],
      };
      for (const path of wanted[what] ?? names.map((name) => `${LOG}/${name}`)) await disk.remove(path);
      if (what === 'the log directory') await disk.removeDir(LOG);
      const before = segments(disk);
      for (let time = 0; time < 3; time++) expect(await outcome(disk.kill(), 60, what)).toBe('refused');
      expect(segments(disk)).toEqual(before);
    });
  });

  test('has all rows or is refused if any bit of the log, the mark or the manifest is flipped', async () => {
    const base = await made(25, end, 2 ** 13, true);
    const paths = [
      '/db/manifest',
      `${LOG}/mark`,
      ...base
        .list(LOG)
        .filter((name) => name.startsWith('log-0'))
        .map((name) => `${LOG}/${name}`),
    ];
    const seen = { whole: 0, refused: 0 };
    for (const path of paths) {
      const bits = bytesOf(base, path).length * 8;
      for (let bit = 0; bit < bits; bit += STEP ?? 1013) {
        const disk = base.kill();
        disk.edit(path, (bytes) => {
          bytes[bit >> 3]! ^= 1 << (bit & 7);
        });
        seen[await outcome(disk, 25, `${path} bit ${bit}`)]++;
      }
    }
    expect(seen.whole).toBeGreaterThan(0);
    expect(seen.refused).toBeGreaterThan(0);
  });
});

describe('a damaged directory', () => {
  async function compacted(): Promise<Disk> {
    const fs = simDisk();
    const database = await openSim(fs);
    for (let time = 0; time < 20; time++) await database.table().insert({ event_ts: time, members: [time] });
    await database.compact({});
    await database.close();
    return fs;
  }

  test('is refused at every open if manifest and log are lost, and nothing in it is removed', async () => {
    for (const keepDir of [true, false]) {
      const disk = await compacted();
      const before = segments(disk);
      expect(before.length).toBeGreaterThan(0);
      await disk.remove('/db/manifest');
      for (const name of disk.list(LOG)) await disk.remove(`${LOG}/${name}`);
      if (!keepDir) await disk.removeDir(LOG);
      for (let time = 0; time < 3; time++) {
        const error = await openSim(disk).catch((reason: unknown) => reason);
        expect(error).toMatchObject({ code: 'corrupt', fields: { file: '/db/manifest' } });
        expect((error as Error).message).toContain('/db/tables/1/seg-');
        const { problems } = await verifyDirectory({ fs: disk, crc32c, core }, '/db', () => Promise.resolve());
        expect(problems.map(({ file }) => file)).toContain('/db/manifest');
      }
      expect(segments(disk)).toEqual(before);
      expect(disk.openHandles).toBe(0);
    }
  });

  test("is refused if the log ends before the manifest's LSN, even if all tables are compacted", async () => {
    const disk = await compacted();
    const older = disk.kill();
    const database = await openSim(disk.kill(), {});
    await database.close();
    // The log of an older state is next to the newer manifest.
    const now = older.kill();
    const path = newestLog(now);
    now.edit(path, (bytes) => bytes.fill(0, 4096 + 400));
    now.edit(`${LOG}/mark`, (bytes) => bytes.fill(0, 8192));
    const error = await openSim(now).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'corrupt', fields: { file: path } });
  });

  test('opens with segments of an unknown table number, which are set aside instead of removed', async () => {
    const disk = await compacted();
    disk.makeDir('/db/tables/9');
    const handle = disk.open('/db/tables/9/seg-000000000001.hgs', 'create');
    await handle.write(new Uint8Array([1, 2, 3]), 0);
    handle.close();
    const notices: Record<string, unknown>[] = [];
    const database = await openSim(disk, { notice: (_message, fields) => void notices.push(fields) });
    expect(disk.list('/db/tables/9')).toEqual(['seg-000000000001.hgs.aside']);
    expect(notices).toMatchObject([{ file: '/db/tables/9/seg-000000000001.hgs' }]);
    await database.close();
  });
});

describe('a newly created database', () => {
  test('has a manifest before its first write, and opens after a crash at any operation of its creation', async () => {
    let stopped = 0;
    for (let at = 1; ; at++) {
      const fs = simDisk(at);
      fs.schedule = ({ index }) => (index === at ? 'crash' : undefined);
      const opening = openSim(fs).catch(() => undefined);
      await Promise.race([opening, fs.whenStopped]);
      if (!fs.stopped) {
        expect(fs.exists('/db/manifest')).toBe(true);
        break;
      }
      stopped++;
      const disk = at % 2 === 0 ? fs.crash() : fs.kill();
      const database = await openSim(disk);
      await database.table().insert({ event_ts: 1, members: [1] });
      const again = await openSim(disk.crash());
      expect(rowsOf(again.table()), `operation ${at}`).toHaveLength(1);
    }
    expect(stopped).toBeGreaterThan(15);
  });

  test('writes no manifest and runs no compaction once its process has lost the directory', async () => {
    const fs = simDisk();
    const first = await openSim(fs, { owner: 1 });
    for (let time = 0; time < 20; time++) await first.table().insert({ event_ts: time, members: [time] });
    // The lock does not work here, as with two containers on one volume.
    const second = await openSim(unlocked(fs), { owner: 2 });
    const before = segments(fs);
    await expect(first.compact({})).rejects.toMatchObject({ code: 'conflict' });
    await expect(first.table().insert({ event_ts: 99, members: [1] })).rejects.toMatchObject({ code: 'conflict' });
    expect(segments(fs)).toEqual(before);
    await second.table().insert({ event_ts: 50, members: [1] });
    await second.compact({});
    await first.close();
    await second.close();
    const again = await openSim(fs.crash());
    expect(rowsOf(again.table())).toHaveLength(21);
  });
});

/** Returns the same disk with locks that exclude nobody. */
function unlocked(fs: Disk): Disk {
  return new Proxy(fs, {
    get(target, name) {
      if (name === 'lock') return () => ({ release: () => undefined });
      const value = Reflect.get(target, name, target) as unknown;
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
