// A stretch of the log that is held while the log goes on: nothing of it is truncated, and its frames are found, checked, and copied into a log that opens.

import { expect, test } from 'vitest';
import { encodeFileHeader, FILE_HEADER_BYTES } from '../../src/storage/frame.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { type HeldLogFile, measureHeldFile, sealBytes } from '../../src/storage/held-frames.ts';
import type { HeldLog } from '../../src/storage/log.ts';
import { logFilePath } from '../../src/storage/log-file.ts';
import { encodeMark, markPath } from '../../src/storage/log-mark.ts';
import { readWhole, writeWhole } from '../../src/storage/whole-file.ts';
import { crc32c } from '../support/crc32c.ts';
import { framesOf, openTestLog, textFrame } from '../support/open-test-log.ts';
import { SimFs } from '../support/sim-fs.ts';

let pauses = 0;
const pause = async () => {
  pauses++;
};

function measure(fs: Fs, file: HeldLogFile, afterLsn: number) {
  return measureHeldFile(fs, file, afterLsn, crc32c, pause);
}

/** Copies what is held into a log directory of its own. */
async function copyHeld(fs: Fs, held: HeldLog, to: string): Promise<void> {
  fs.makeDir(to);
  for (const [index, file] of held.files.entries()) {
    const { epoch, firstLsn, offset, endOffset } = await measure(fs, file, held.afterLsn);
    const handle = fs.open(logFilePath(to, file.sequence), 'create');
    const bytes = readWhole(fs, file.path).subarray(offset, endOffset);
    const seal = index === held.files.length - 1 ? sealBytes(epoch, held.lastLsn, crc32c) : new Uint8Array(0);
    const fileBytes = FILE_HEADER_BYTES + bytes.length + seal.length;
    await writeWhole(handle, encodeFileHeader({ epoch, sequence: file.sequence, firstLsn, fileBytes }, crc32c), 0);
    await writeWhole(handle, bytes, FILE_HEADER_BYTES);
    await writeWhole(handle, seal, FILE_HEADER_BYTES + bytes.length);
    handle.close();
    const slot = { epoch, counter: 1, owner: 0, sequence: file.sequence, firstLsn, reachedLsn: 0, closed: false };
    const mark = fs.open(markPath(to), fs.exists(markPath(to)) ? 'write' : 'create');
    await writeWhole(mark, encodeMark(slot, crc32c), 0);
    mark.close();
  }
}

test('held frames outlive a truncation, and go with the next one after the release', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  for (let i = 1; i <= 40; i++) {
    log.append(1, textFrame(`${i}`.padEnd(400, '.')));
    await log.flush();
  }
  const held = log.hold(15);
  expect(held).toMatchObject({ afterLsn: 15, lastLsn: 40 });
  const other = log.hold(0);
  await log.truncate(40);
  for (const { path } of held.files) expect(fs.exists(path)).toBe(true);
  expect(fs.exists(logFilePath('/data', 1))).toBe(true);
  other.release();
  await log.truncate(40);
  expect(fs.exists(logFilePath('/data', 1))).toBe(false);
  for (const { path } of held.files) expect(fs.exists(path)).toBe(true);
  held.release();
  held.release();
  await log.truncate(40);
  expect(held.files.filter(({ path }) => fs.exists(path)).length).toBe(1);
  await log.close();
});

test('what is held is a log of its own, exactly from one LSN to another, over epochs and files', async () => {
  const fs = new SimFs(2);
  const wanted: string[] = [];
  for (let epoch = 1; epoch <= 3; epoch++) {
    const { log } = await openTestLog(fs);
    for (let i = 0; i < 25; i++) {
      const text = `${epoch}.${i}`.padEnd(300, '.');
      const lsn = log.append(2, textFrame(text));
      wanted.push(`${lsn}+2:${text}`);
      await log.flush();
    }
    if (epoch < 3) {
      await log.close();
      continue;
    }
    for (const afterLsn of [0, 2, 50, 51, 73, 148]) {
      const held = log.hold(afterLsn);
      await copyHeld(fs, held, `/copy-${afterLsn}`);
      log.append(1, textFrame('later'));
      await log.flush();
      const copy = await openTestLog(fs, { dir: `/copy-${afterLsn}`, minimumLsn: afterLsn });
      expect(copy.log.headLsn).toBe(held.lastLsn);
      const frames = framesOf(copy.log, afterLsn);
      expect(frames).toEqual([
        ...wanted.filter((frame) => Number.parseInt(frame, 10) + 1 > afterLsn),
        ...Array.from({ length: held.lastLsn - 150 }, (_, index) => `${151 + index}+1:later`),
      ]);
      await copy.log.close();
      held.release();
    }
    await log.close();
  }
});

test('nothing above the LSN: no files', async () => {
  const { log } = await openTestLog(new SimFs(3));
  log.append(3, textFrame('x'));
  await log.flush();
  expect(log.hold(3).files).toEqual([]);
  expect(log.hold(2).files.length).toBe(1);
  await log.close();
});

test('a frame larger than the window is checked in pieces', async () => {
  const fs = new SimFs(4);
  const { log } = await openTestLog(fs);
  const big = new Uint8Array(3 * 2 ** 20 + 5).map((_, index) => index % 251);
  log.append(1, textFrame('before'));
  log.append(1, [big]);
  log.append(1, textFrame('after'));
  await log.flush();
  const held = log.hold(0);
  pauses = 0;
  const bytes = await Promise.all(held.files.map((file) => measure(fs, file, 0)));
  expect(bytes.reduce((sum, { offset, endOffset }) => sum + endOffset - offset, 0)).toBeGreaterThan(big.length);
  expect(pauses).toBeGreaterThan(10);
  const file = held.files.find(({ firstLsn, stopLsn }) => firstLsn <= 2 && stopLsn > 2)!;
  fs.edit(file.path, (content) => {
    content[content.length - 200_000]! ^= 1;
  });
  await expect(measure(fs, file, 0)).rejects.toMatchObject({ code: 'corrupt', fields: { file: file.path } });
  await log.close();
});

test('a damaged, missing or foreign frame is refused with its offset', async () => {
  const fs = new SimFs(5);
  const { log } = await openTestLog(fs);
  for (let i = 0; i < 5; i++) log.append(1, textFrame('frame'));
  await log.flush();
  const [file] = log.hold(0).files as [HeldLogFile];
  const second = FILE_HEADER_BYTES + 48;
  fs.edit(file.path, (bytes) => {
    bytes[second + 45]! ^= 1;
  });
  await expect(measure(fs, file, 0)).rejects.toMatchObject({ fields: { file: file.path, offset: second } });
  fs.edit(file.path, (bytes) => {
    bytes[second + 45]! ^= 1;
  });
  await expect(measure(fs, { ...file, stopLsn: 9 }, 0)).rejects.toMatchObject({ code: 'corrupt' });
  expect((await measure(fs, file, 3)).firstLsn).toBe(4);
  await log.close();
});
