// Tests the log without faults: round trips, group commit, rotation, large frames, epochs,
// truncation, and both kinds of durability.

import { expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { inspectLogFile, readLogFileHeader } from '../../src/storage/inspect-log.ts';
import type { LogGroupFigures } from '../../src/storage/log-store.ts';
import { crc32c } from '../support/crc32c.ts';
import { framesOf, openTestLog, textFrame, turn } from '../support/open-test-log.ts';
import { SimFs } from '../support/sim-fs.ts';

/** Files so large that no spare is prepared while syncs are counted. */
const LARGE_FILES = { fileBytes: 2 ** 20 };

test('frames are read in order with their LSNs, after a close and after a crash', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  expect(log.append(1, textFrame('a'))).toBe(1);
  expect(log.append(3, [...textFrame('b'), ...textFrame('cd')])).toBe(2);
  expect(log.append(1, [])).toBe(5);
  expect([log.headLsn, log.durableLsn]).toEqual([5, 0]);
  await log.flush();
  expect(log.durableLsn).toBe(5);
  const crashed = fs.crash();
  const second = await openTestLog(crashed);
  expect(await framesOf(second.log)).toEqual(['1+1:a', '2+3:bcd', '5+1:']);
  expect([second.log.headLsn, second.log.durableLsn]).toEqual([5, 5]);
  expect(second.log.append(1, textFrame('e'))).toBe(6);
  await second.log.close();
  expect(crashed.openHandles).toBe(0);
  const third = await openTestLog(crashed);
  expect(await framesOf(third.log)).toEqual(['1+1:a', '2+3:bcd', '5+1:', '6+1:e']);
  expect(await framesOf(third.log, 3)).toEqual(['2+3:bcd', '5+1:', '6+1:e']);
  expect(await framesOf(third.log, 4)).toEqual(['5+1:', '6+1:e']);
  expect(await framesOf(third.log, 6)).toEqual([]);
  await third.log.close();
});

test('parts are copied, so that the caller may overwrite them at once', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  const part = new Uint8Array([65]);
  log.append(1, [part]);
  part[0] = 66;
  await log.close();
  expect(await framesOf((await openTestLog(fs)).log)).toEqual(['1+1:A']);
});

test('all appends in one turn share one write and one sync', async () => {
  const fs = new SimFs(1);
  const groups: LogGroupFigures[] = [];
  let clock = 0;
  const { log, durable } = await openTestLog(fs, {
    ...LARGE_FILES,
    now: () => (clock += 10),
    observe: (group) => groups.push(group),
  });
  log.append(1, textFrame('first'));
  await log.flush();
  const before = { ...fs.counts };
  for (let count = 0; count < 20; count++) log.append(2, textFrame(`${count}`));
  await Promise.resolve();
  for (let count = 0; count < 20; count++) log.append(1, textFrame(`${count}`));
  await log.flush();
  expect(fs.counts.write - before.write).toBe(1);
  expect(fs.counts.datasync - before.datasync).toBe(1);
  expect(durable).toEqual([1, 61]);
  expect(groups).toEqual([
    { frames: 1, operations: 1, bytes: 48, elapsedUs: 10 },
    { frames: 40, operations: 60, bytes: 40 * 48, elapsedUs: 10 },
  ]);
  await log.close();
});

test('frames appended during a sync form the next group', async () => {
  const fs = new SimFs(1);
  const { log, durable } = await openTestLog(fs, LARGE_FILES);
  log.append(1, textFrame('a'));
  await log.flush();
  const before = fs.counts.datasync;
  log.append(1, textFrame('b'));
  fs.schedule = ({ kind }) => {
    if (kind === 'datasync' && fs.counts.datasync === before + 1)
      for (let count = 0; count < 10; count++) log.append(1, textFrame('c'));
    return undefined;
  };
  await log.flush();
  await log.flush();
  expect(fs.counts.datasync - before).toBe(2);
  expect(durable).toEqual([1, 2, 12]);
  await log.close();
});

test('appends of callers that one sync has woken share the next sync', async () => {
  const fs = new SimFs(1);
  const waiting: (() => void)[] = [];
  const { log } = await openTestLog(fs, {
    ...LARGE_FILES,
    onDurable: () => waiting.splice(0).forEach((wake) => void wake()),
  });
  const insert = async (times: number): Promise<void> => {
    for (let time = 0; time < times; time++) {
      log.append(1, textFrame('x'));
      await new Promise<void>((resolve) => void waiting.push(resolve));
    }
  };
  await insert(1);
  const before = fs.counts.datasync;
  await Promise.all(Array.from({ length: 16 }, () => insert(3)));
  expect(fs.counts.datasync - before).toBe(3);
  await log.close();
});

test('the log continues in a new file when a frame does not fit, and the log reports its total size', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  const wanted: string[] = [];
  for (let count = 1; count <= 100; count++) {
    const text = `${count}`.padEnd(300, '.');
    log.append(1, textFrame(text));
    wanted.push(`${count}+1:${text}`);
    if (count % 7 === 0) await log.flush();
  }
  await log.flush();
  const files = fs.list('/data').filter((name) => name !== 'log-spare' && name !== 'mark');
  expect(files.length).toBeGreaterThan(5);
  expect(log.sizeBytes).toBe(files.length * 4096 + 100 * (40 + 304));
  await log.close();
  const second = await openTestLog(fs);
  expect(await framesOf(second.log)).toEqual(wanted);
  expect(await framesOf(second.log, 93)).toEqual(wanted.slice(93));
  await second.log.close();
});

test('the first file after an opening is small, and later ones have the configured size', async () => {
  const fs = new SimFs(1);
  const frame = [new Uint8Array(700_000).fill(1)];
  const sizes = () => {
    const names = fs.list('/data').filter((name) => name !== 'log-spare' && name !== 'mark');
    return names.map((name) => readLogFileHeader(fs, `/data/${name}`, crc32c).fileBytes);
  };
  const { log } = await openTestLog(fs, { fileBytes: 2 ** 21 });
  for (let count = 0; count < 2; count++) {
    log.append(1, frame);
    await log.flush();
  }
  expect(sizes()).toEqual([2 ** 20, 2 ** 21]);
  await log.close();
  const second = await openTestLog(fs, { fileBytes: 2 ** 21 });
  expect((await framesOf(second.log)).length).toBe(2);
  second.log.append(1, frame);
  await second.log.flush();
  expect(sizes().at(-1)).toBe(2 ** 20);
  await second.log.close();
});

test('a group that spans several files is durable as a whole', async () => {
  const fs = new SimFs(1);
  const { log, durable } = await openTestLog(fs);
  for (let count = 0; count < 40; count++) log.append(1, textFrame('.'.repeat(500)));
  await log.flush();
  expect(durable).toEqual([40]);
  const second = await openTestLog(fs.crash());
  expect((await framesOf(second.log)).length).toBe(40);
});

test('a frame larger than a file gets a file that is large enough', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  const large = 'L'.repeat(50_000);
  log.append(1, textFrame('before'));
  log.append(2, textFrame(large));
  log.append(1, textFrame('behind'));
  await log.close();
  const second = await openTestLog(fs.crash());
  expect(await framesOf(second.log)).toEqual(['1+1:before', `2+2:${large}`, '4+1:behind']);
});

test('every open that writes has a new file and a new epoch, and an open without writes leaves nothing', async () => {
  const fs = new SimFs(1);
  for (let open = 1; open <= 3; open++) {
    const { log } = await openTestLog(fs);
    log.append(1, textFrame('x'));
    await log.close();
    const idle = await openTestLog(fs);
    await idle.log.close();
  }
  const names = fs.list('/data').filter((name) => name !== 'mark');
  expect(names).toEqual(['log-0000000000000001', 'log-0000000000000002', 'log-0000000000000003']);
  const headers = names.map((name) => readLogFileHeader(fs, `/data/${name}`, crc32c));
  expect(headers.map((header) => [header.epoch, header.firstLsn])).toEqual([
    [1, 1],
    [3, 2],
    [5, 3],
  ]);
  // The file contains the frame and the seal. The rest is zeros.
  expect([...inspectLogFile(fs, `/data/${names[0]}`, crc32c)].map((frame) => frame.operations)).toEqual([1, 0]);
});

test('truncation removes whole files below the LSN, but never the newest', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  for (let count = 1; count <= 60; count++) {
    log.append(1, textFrame('.'.repeat(300)));
    await log.flush();
  }
  const before = fs.list('/data').length;
  const size = log.sizeBytes;
  await log.truncate(30);
  expect(fs.list('/data').length).toBeLessThan(before);
  expect(log.sizeBytes).toBeLessThan(size);
  const middle = await openTestLog(fs.kill(), { minimumLsn: 30 });
  expect((await framesOf(middle.log, 30)).map((frame) => Number.parseInt(frame, 10))).toEqual(
    Array.from({ length: 30 }, (_, index) => 31 + index),
  );
});

test('truncation does not sync the directory, because a failed sync could lose the name of a new file', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  for (let count = 1; count <= 60; count++) log.append(1, textFrame('.'.repeat(300)));
  await log.flush();
  const before = fs.counts.syncDir;
  await log.truncate(30);
  expect(fs.counts.syncDir).toBe(before);
  // The crash undoes all removals. The files that reappear are not needed.
  const second = await openTestLog(fs.crash(), { minimumLsn: 30 });
  expect((await framesOf(second.log, 30)).length).toBe(30);
});

test('truncating everything keeps the newest LSN, the number of the file and the epoch', async () => {
  const fs = new SimFs(1);
  const first = await openTestLog(fs);
  for (let count = 1; count <= 60; count++) first.log.append(1, textFrame('.'.repeat(300)));
  await first.log.flush();
  await first.log.truncate(60);
  await first.log.close();
  expect(fs.list('/data').filter((name) => name !== 'mark').length).toBe(1);
  const second = await openTestLog(fs, { minimumLsn: 60 });
  expect(await framesOf(second.log, 60)).toEqual([]);
  expect(second.log.append(1, textFrame('x'))).toBe(61);
  await second.log.close();
  const last = fs.list('/data').findLast((name) => name !== 'mark')!;
  expect(readLogFileHeader(fs, `/data/${last}`, crc32c).epoch).toBe(2);
});

test('a manifest that is ahead of the log is refused', async () => {
  const fs = new SimFs(1);
  const first = await openTestLog(fs);
  first.log.append(1, textFrame('x'));
  await first.log.close();
  await expect(openTestLog(fs, { minimumLsn: 10 })).rejects.toMatchObject({ code: 'corrupt' });
  expect(await framesOf((await openTestLog(fs, { minimumLsn: 0, reachedLsn: 1 })).log)).toEqual(['1+1:x']);
});

test("durability 'async' answers after the write, and syncs when the timer fires", async () => {
  const fs = new SimFs(1);
  const timers: (() => void)[] = [];
  const { log, durable } = await openTestLog(fs, { durability: 'async', scheduleSync: (sync) => timers.push(sync) });
  log.append(1, textFrame('a'));
  log.append(1, textFrame('b'));
  while (durable.length === 0) await turn();
  expect([durable, log.durableLsn]).toEqual([[2], 0]);
  log.append(1, textFrame('c'));
  while (durable.length === 1) await turn();
  expect(timers.length).toBe(1);
  timers.splice(0).forEach((sync) => void sync());
  while (log.durableLsn === 0) await turn();
  expect(log.durableLsn).toBe(3);
  log.append(1, textFrame('d'));
  await log.flush();
  expect(log.durableLsn).toBe(4);
  expect((await framesOf((await openTestLog(fs.crash())).log)).length).toBe(4);
});

test('a closed log refuses writes, and closing twice has no effect', async () => {
  const { log } = await openTestLog(new SimFs(1));
  log.append(1, textFrame('a'));
  await log.close();
  await log.close();
  expect(() => log.append(1, textFrame('b'))).toThrow(HedgerowError);
  expect(log.durableLsn).toBe(1);
});
