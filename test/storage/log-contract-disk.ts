// The part of the log contract that concerns the disk of a log that stores its frames itself: space
// is reserved before frames need it, and a sync may follow later.

import { expect, test } from 'vitest';
import type { LogStore } from '../../src/storage/log-store.ts';
import { framesOf, textFrame, turn } from '../support/open-test-log.ts';
import { Random } from '../support/random.ts';
import { type LogMedium, opened } from './log-contract.ts';

/** Reserves room, then appends, as the engine does. */
async function writeWithRoom(log: LogStore, bytes: number, urgent = false): Promise<void> {
  while (!log.roomFor(bytes, urgent)) await log.makeRoom(bytes);
  log.append(1, [new Uint8Array(bytes).fill(65)]);
}

export function ownDisk(makeMedium: () => LogMedium): void {
  test("is reported early with durability 'async', and is synced when the timer fires", async () => {
    const timers: (() => void)[] = [];
    const medium = makeMedium();
    const { log, durable } = await opened(medium, { durability: 'async', scheduleSync: (sync) => timers.push(sync) });
    log.append(2, textFrame('a'));
    while (durable.length === 0) await turn();
    expect([durable, log.durableLsn, timers.length]).toEqual([[2], 0, 1]);
    expect(await framesOf(log)).toEqual([]);
    for (const sync of timers.splice(0)) sync();
    while (log.durableLsn === 0) await turn();
    expect(log.durableLsn).toBe(2);
    log.append(1, textFrame('b'));
    await log.flush();
    expect(await framesOf((await opened(medium.crash())).log)).toEqual(['1+2:a', '3+1:b']);
  });

  test('is available after it was promised, however full the medium is, and no frame is lost', async () => {
    const medium = makeMedium();
    const { log, failures } = await opened(medium);
    const random = new Random(3);
    let written = 0;
    medium.setFull(true);
    for (let step = 0; step < 80; step++) {
      const bytes = random.below(random.chance(0.2) ? 5000 : 400);
      if (!log.roomFor(bytes, random.chance(0.3))) {
        medium.setFull(false);
        await log.makeRoom(bytes);
        expect(log.roomFor(bytes, false)).toBe(true);
        medium.setFull(true);
      }
      log.append(1, [new Uint8Array(bytes).fill(65)]);
      written++;
      if (random.chance(0.4)) await log.flush();
    }
    await log.flush();
    expect(failures).toEqual([]);
    expect((await framesOf(log)).length).toBe(written);
  });

  test('is refused when it runs out, but some is kept for urgent frames, and the log stays open', async () => {
    const medium = makeMedium();
    const { log, failures } = await opened(medium);
    await writeWithRoom(log, 100);
    await log.flush();
    for (let time = 0; time < 20; time++) await turn();
    medium.setFull(true);
    let refused: unknown;
    while (refused === undefined) {
      await writeWithRoom(log, 200).catch((error: unknown) => {
        refused = error;
      });
      await log.flush();
      expect(log.headLsn).toBeLessThan(1000);
    }
    expect(refused).toMatchObject({ code: 'disk_full' });
    expect(log.roomFor(200, false)).toBe(false);
    expect(log.roomFor(200, true)).toBe(true);
    await writeWithRoom(log, 200, true);
    await log.flush();
    medium.setFull(false);
    await writeWithRoom(log, 200);
    await log.flush();
    expect([log.failed, failures]).toEqual([null, []]);
    expect((await framesOf(log)).length).toBe(log.headLsn);
  });
}
