// Tests the history of the log: frames that are kept for readers of changes although nothing needs
// them for recovery.

import { expect, test } from 'vitest';
import type { LogStore } from '../../src/storage/log-store.ts';

import { framesOf, openTestLog, textFrame } from '../support/open-test-log.ts';
import { SimFs } from '../support/sim-fs.ts';

const FRAME = 'f'.repeat(1000);

/** A log with files of a few frames, and a clock that the test sets. */
async function opened(fs: SimFs, history: { seconds: number; bytes: number }, clock: { now: number }, minimumLsn = 0) {
  return (await openTestLog(fs, { history, seconds: () => clock.now, minimumLsn })).log;
}

async function write(log: LogStore, frames: number): Promise<void> {
  for (let count = 0; count < frames; count++) {
    log.append(1, textFrame(FRAME));
    await log.flush();
  }
}

test('keeps truncated frames for the given time, also over a restart', async () => {
  const fs = new SimFs(1);
  const clock = { now: 1000 };
  const history = { seconds: 60, bytes: 1e9 };
  let log = await opened(fs, history, clock);
  await write(log, 12);
  clock.now = 1030;
  await write(log, 12);
  await log.truncate(24);
  expect(log.oldestLsn).toBe(1);
  expect(log.historyBytes).toBeGreaterThan(15_000);
  await log.close();
  clock.now = 1050;
  log = await opened(fs, history, clock, 24);
  expect(log.oldestLsn).toBe(1);
  await write(log, 1);
  expect(await framesOf(log)).toHaveLength(25);
  clock.now = 1075;
  await log.truncate(25);
  expect(log.oldestLsn).toBeGreaterThan(6);
  expect(log.oldestLsn).toBeLessThan(20);
  expect(await framesOf(log)).toHaveLength(26 - log.oldestLsn);
  clock.now = 2000;
  await write(log, 12);
  await log.truncate(37);
  expect(log.oldestLsn).toBeGreaterThan(20);
  await log.close();
});

test('never keeps more than the given size', async () => {
  const clock = { now: 1000 };
  const log = await opened(new SimFs(1), { seconds: 1e6, bytes: 20_000 }, clock);
  await write(log, 60);
  await log.truncate(60);
  expect(log.historyBytes).toBeLessThanOrEqual(20_000);
  expect(log.oldestLsn).toBeGreaterThan(30);
  await log.close();
});

test('without history, removes at a restart what an earlier process has kept', async () => {
  const fs = new SimFs(1);
  let log = await opened(fs, { seconds: 60, bytes: 1e9 }, { now: 1000 });
  await write(log, 20);
  await log.truncate(20);
  await log.close();
  log = (await openTestLog(fs, { minimumLsn: 20 })).log;
  await write(log, 1);
  await log.truncate(21);
  expect(fs.list('/data').filter((name) => name.startsWith('log-0')).length).toBeLessThan(4);
  await log.close();
});

test('leaves out older files if one between them and the log is missing or damaged', async () => {
  for (const damage of ['missing', 'damaged'] as const) {
    const fs = new SimFs(1);
    const clock = { now: 1000 };
    let log = await opened(fs, { seconds: 60, bytes: 1e9 }, clock);
    await write(log, 20);
    await log.truncate(20);
    await log.close();
    const names = fs.list('/data').filter((name) => /^log-[0-9a-f]{16}$/.test(name));
    const victim = `/data/${names[2]}`;
    if (damage === 'missing') await fs.remove(victim);
    else {
      const handle = fs.open(victim, 'write');
      await handle.write(new Uint8Array(64).fill(7), 0);
      handle.close();
    }
    log = await opened(fs, { seconds: 60, bytes: 1e9 }, clock, 20);
    expect(log.oldestLsn).toBeGreaterThan(3);
    expect(await framesOf(log)).toHaveLength(21 - log.oldestLsn);
    await log.close();
  }
});
