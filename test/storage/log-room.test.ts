// Tests how the log reserves room for frames. A full disk is noticed before anything is appended,
// the log stays open, and writes resume when there is space again.

import { describe, expect, test } from 'vitest';
import { framesOf, openTestLog, textFrame, turn } from '../support/open-test-log.ts';
import { Random } from '../support/random.ts';
import { type Operation, SimFs } from '../support/sim-fs.ts';

const FILE_BYTES = 4096 + 8192;
/** Size in bytes of the part of a small file that is kept for urgent frames. */
const KEPT_BYTES = FILE_BYTES >> 3;

const fullSpare = ({ kind, path }: Operation) =>
  kind === 'write' && path.endsWith('log-spare') ? ({ code: 'ENOSPC' } as const) : undefined;

/** Makes every attempt to create the spare file fail. Existing files can be written. */
const noNewFile = ({ kind, path }: Operation) =>
  kind === 'open' && path.endsWith('log-spare') ? ({ code: 'ENOSPC' } as const) : undefined;

async function settled(): Promise<void> {
  for (let time = 0; time < 20; time++) await turn();
}

/** Reserves room, then appends, as the engine does. */
async function write(
  log: Awaited<ReturnType<typeof openTestLog>>['log'],
  bytes: number,
  urgent = false,
): Promise<void> {
  while (!log.roomFor(bytes, urgent)) await log.makeRoom(bytes);
  log.append(1, [new Uint8Array(bytes).fill(1)]);
}

describe('room for frames', () => {
  test('is absent before the first spare file, and then as large as a file', async () => {
    const { log } = await openTestLog(new SimFs(1), { fileBytes: FILE_BYTES });
    expect(log.roomFor(1, true)).toBe(false);
    await log.makeRoom(1);
    const most = 8192 - 40 - 40;
    expect(log.roomFor(most, true)).toBe(true);
    expect(log.roomFor(most + 1, true)).toBe(false);
    expect(log.roomFor(most - KEPT_BYTES, false)).toBe(true);
    expect(log.roomFor(most - KEPT_BYTES + 8, false)).toBe(false);
    await log.close();
  });

  test('is prepared for a frame that is larger than a file, by writing zeros in advance', async () => {
    const fs = new SimFs(1);
    const { log } = await openTestLog(fs, { fileBytes: FILE_BYTES });
    await settled();
    expect(log.roomFor(50_000, false)).toBe(false);
    await log.makeRoom(50_000);
    const spare = fs.open('/data/log-spare', 'read');
    expect(spare.size()).toBeGreaterThan(50_000);
    spare.close();
    expect(log.roomFor(50_000, false)).toBe(true);
    let lengthened = false;
    fs.schedule = ({ kind, path }) => {
      if (kind === 'write' && path.endsWith('1')) lengthened = fs.open(path, 'read').size() < 50_000;
      return undefined;
    };
    log.append(1, [new Uint8Array(50_000)]);
    await log.flush();
    expect(lengthened).toBe(false);
    await log.close();
  });

  test('is never promised twice, and a frame with promised room is written without any preparation', async () => {
    for (let seed = 1; seed <= 30; seed++) {
      const random = new Random(seed);
      const fs = new SimFs(seed);
      const { log, failures } = await openTestLog(fs, { fileBytes: FILE_BYTES });
      await settled();
      let written = 0;
      // From here on the disk is full while frames are written, but has space while room is
      // prepared.
      fs.schedule = noNewFile;
      for (let step = 0; step < 120; step++) {
        const bytes = random.below(random.chance(0.2) ? 5000 : 400);
        if (!log.roomFor(bytes, random.chance(0.3))) {
          fs.schedule = () => undefined;
          await log.makeRoom(bytes);
          fs.schedule = noNewFile;
          expect(log.roomFor(bytes, false)).toBe(true);
        }
        log.append(1, [new Uint8Array(bytes).fill(1)]);
        written++;
        if (random.chance(0.3)) await log.flush();
        else if (random.chance(0.5)) await turn();
      }
      await log.flush();
      expect(failures, `seed ${seed}`).toEqual([]);
      fs.schedule = () => undefined;
      await log.close();
      expect(await framesOf((await openTestLog(fs)).log)).toHaveLength(written);
    }
  });

  test('is sufficient for all requests that arrive at the same moment', async () => {
    const fs = new SimFs(1);
    const { log } = await openTestLog(fs, { fileBytes: FILE_BYTES });
    await Promise.all(Array.from({ length: 50 }, (_, index) => write(log, 100 + index * 20)));
    await log.flush();
    expect(log.durableLsn).toBe(50);
    await log.close();
  });

  test('is not made in a spare file that is being renamed', async () => {
    const fs = new SimFs(1);
    const { log, failures } = await openTestLog(fs, { fileBytes: FILE_BYTES });
    const asked: Promise<void>[] = [];
    fs.schedule = ({ kind, path }) => {
      if (kind === 'rename' || (kind === 'write' && path.endsWith('spare'))) asked.push(log.makeRoom(5000));
      return undefined;
    };
    for (let count = 0; count < 6; count++) log.append(1, textFrame('.'.repeat(5000)));
    await log.flush();
    fs.schedule = () => undefined;
    await Promise.all(asked);
    expect(asked.length).toBeGreaterThan(5);
    expect(failures).toEqual([]);
    await log.close();
    expect(await framesOf((await openTestLog(fs)).log)).toHaveLength(6);
  });

  test('is made when a frame is written for which none was reserved', async () => {
    const { log } = await openTestLog(new SimFs(1), { fileBytes: FILE_BYTES });
    for (let count = 0; count < 30; count++) log.append(1, textFrame('.'.repeat(700)));
    await log.flush();
    expect(log.durableLsn).toBe(30);
    await write(log, 100);
    await log.close();
    await expect(log.makeRoom(1)).rejects.toMatchObject({ code: 'draining' });
  });
});

describe('a full disk', () => {
  test('refuses requests for room, leaves the rest to urgent frames, and lets the log continue when there is space again', async () => {
    const fs = new SimFs(1);
    const { log, failures } = await openTestLog(fs, { fileBytes: FILE_BYTES });
    await write(log, 100);
    await log.flush();
    await settled();
    fs.schedule = fullSpare;
    let written = 1;
    for (;;) {
      const refused = await write(log, 200).then(
        () => undefined,
        (error: { code: string; message: string }) => error,
      );
      if (refused !== undefined) {
        expect(refused).toMatchObject({ code: 'disk_full' });
        expect(refused.message).toContain('no restart is needed');
        break;
      }
      written++;
      await log.flush();
      await settled();
    }
    expect(written).toBeGreaterThan(20);
    await write(log, 200, true);
    await log.flush();
    expect([log.failed, failures]).toEqual([null, []]);
    // A half-written spare file would take up space that others need.
    expect(fs.exists('/data/log-spare')).toBe(false);
    for (let time = 0; time < 3; time++) await expect(log.makeRoom(200)).rejects.toMatchObject({ code: 'disk_full' });
    fs.schedule = () => undefined;
    for (let count = 0; count < 60; count++) await write(log, 200);
    await log.flush();
    expect(log.failed).toBeNull();
    expect(await framesOf((await openTestLog(fs.crash())).log)).toHaveLength(written + 61);
  });

  test('lets a small file be made if there is no space for a large one', async () => {
    const fs = new SimFs(1);
    let room = 3 * 2 ** 20;
    fs.schedule = ({ kind, path }) => {
      if (kind === 'open' && path.endsWith('spare')) room = 3 * 2 ** 20;
      if (kind !== 'write' || !path.endsWith('spare')) return undefined;
      room -= 2 ** 20;
      return room < 0 ? { code: 'ENOSPC' } : undefined;
    };
    const { log } = await openTestLog(fs, { fileBytes: 2 ** 23 });
    await write(log, 900_000);
    await log.flush();
    await write(log, 900_000);
    await log.flush();
    expect(log.failed).toBeNull();
    await log.close();
  });

  test('is distinguished from other failures of the spare file, which are reported as such', async () => {
    const fs = new SimFs(1);
    fs.schedule = ({ kind, path }) => (kind === 'sync' && path.endsWith('spare') ? { code: 'EIO' } : undefined);
    const { log } = await openTestLog(fs, { fileBytes: FILE_BYTES });
    await expect(log.makeRoom(10)).rejects.toMatchObject({ code: 'disk_failed' });
    fs.schedule = () => undefined;
    await log.makeRoom(10);
    expect(log.roomFor(10, false)).toBe(true);
    await log.close();
    expect(fs.openHandles).toBe(0);
  });

  test('is not reported if the log has already failed for another reason', async () => {
    const fs = new SimFs(1);
    const { log } = await openTestLog(fs, { fileBytes: FILE_BYTES });
    await write(log, 100);
    fs.schedule = ({ kind }) => (kind === 'datasync' ? { code: 'EIO' } : undefined);
    await expect(log.flush()).rejects.toMatchObject({ code: 'log_failed' });
    await expect(log.makeRoom(10)).rejects.toBe(log.failed);
  });
});
