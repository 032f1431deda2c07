// Reads the frames of log files while the log is written. Leased files stay, large frames are
// checked in pieces, and damage is reported with its offset. The log files that a backup makes from
// the frames open as a log.

import { expect, test } from 'vitest';
import { archivedLog } from '../../src/storage/archived-log.ts';
import { FILE_HEADER_BYTES } from '../../src/storage/frame.ts';
import type { Fs } from '../../src/storage/fs.ts';
import { inspectLogFile, readLogFileHeader } from '../../src/storage/inspect-log.ts';
import { listLogFiles, logFilePath } from '../../src/storage/log-file.ts';
import { readLogFiles } from '../../src/storage/log-reader.ts';
import type { LogLease } from '../../src/storage/log-store.ts';
import { writeWhole } from '../../src/storage/whole-file.ts';
import { crc32c } from '../support/crc32c.ts';
import { framesOf, openTestLog, textFrame, textsOf, turn } from '../support/open-test-log.ts';
import { SimFs } from '../support/sim-fs.ts';

const noPause = () => Promise.resolve();

/** Writes the log files of a backup, and returns their names. */
async function writeArchived(fs: Fs, lease: LogLease, dir: string): Promise<string[]> {
  fs.makeDir(dir);
  const names: string[] = [];
  for await (const { name, bytes, chunks } of archivedLog(dir, lease, crc32c, noPause)) {
    const handle = fs.open(name, 'create');
    let at = 0;
    for await (const piece of chunks()) {
      await writeWhole(handle, piece, at);
      at += piece.length;
    }
    expect(at).toBe(bytes);
    handle.close();
    names.push(name);
  }
  return names;
}

test('leased files survive a truncation, and the first truncation after their release removes them', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  for (let i = 1; i <= 40; i++) {
    log.append(1, textFrame(`${i}`.padEnd(400, '.')));
    await log.flush();
  }
  const all = listLogFiles(fs, '/data');
  const lease = log.lease(16);
  const other = log.lease(1);
  await log.truncate(40);
  expect(listLogFiles(fs, '/data')).toEqual(all);
  other.release();
  await log.truncate(40);
  const kept = listLogFiles(fs, '/data');
  expect(kept.length).toBeLessThan(all.length);
  expect(readLogFileHeader(fs, kept[0]!, crc32c).firstLsn).toBeLessThanOrEqual(16);
  lease.release();
  await log.truncate(40);
  expect(listLogFiles(fs, '/data')).toEqual([all.at(-1)]);
  await log.close();
});

test('the log of a backup opens with exactly the requested LSNs, across epochs and files', async () => {
  const fs = new SimFs(2);
  const wanted: string[] = [];
  for (let epoch = 1; epoch <= 3; epoch++) {
    const { log } = await openTestLog(fs);
    for (let i = 0; i < 25; i++) {
      const text = `${epoch}.${i}`.padEnd(i === 20 ? 300_000 + epoch : 300, '.');
      const lsn = log.append(2, textFrame(text));
      wanted.push(`${lsn}+2:${text}`);
      await log.flush();
    }
    if (epoch < 3) {
      await log.close();
      continue;
    }
    for (const afterLsn of [0, 2, 50, 51, 73, 148]) {
      const dir = `/copy-${afterLsn}`;
      const lease = log.lease(afterLsn + 1);
      log.append(1, textFrame('later'));
      await log.flush();
      await writeArchived(fs, lease, dir);
      const copy = await openTestLog(fs, { dir, minimumLsn: afterLsn });
      expect(copy.log.headLsn).toBe(lease.lastLsn);
      expect(await framesOf(copy.log, afterLsn)).toEqual([
        ...wanted.filter((frame) => Number.parseInt(frame, 10) + 1 > afterLsn),
        ...Array.from({ length: lease.lastLsn - 150 }, (_, index) => `${151 + index}+1:later`),
      ]);
      await copy.log.close();
      lease.release();
    }
    await log.close();
  }
  expect(fs.openHandles).toBe(0);
});

test('the log of a backup has several files if it is large, and one without frames if it is empty', async () => {
  const fs = new SimFs(3);
  const { log } = await openTestLog(fs, { fileBytes: 2 ** 20 });
  for (let i = 0; i < 40; i++) log.append(1, [new Uint8Array(1_000_000).fill(i)]);
  await log.flush();
  const lease = log.lease(1);
  const names = await writeArchived(fs, lease, '/large');
  expect(names.map((name) => name.slice(7))).toEqual([
    'log-0000000000000001',
    'log-0000000000000002',
    'log-0000000000000003',
    'mark',
  ]);
  const large = await openTestLog(fs, { dir: '/large' });
  expect((await framesOf(large.log)).length).toBe(40);
  const nothing = log.lease(41);
  expect(await writeArchived(fs, nothing, '/empty')).toEqual(['/empty/log-0000000000000001', '/empty/mark']);
  expect([...inspectLogFile(fs, '/empty/log-0000000000000001', crc32c)]).toMatchObject([
    { firstLsn: 41, operations: 0, durableLsn: 40, ok: true },
  ]);
  const empty = await openTestLog(fs, { dir: '/empty', minimumLsn: 40 });
  expect(empty.log.append(1, textFrame('next'))).toBe(41);
});

test('an aborted backup leaves no file open', async () => {
  const fs = new SimFs(3);
  const { log } = await openTestLog(fs);
  for (let i = 0; i < 2000; i++) log.append(1, [new Uint8Array(1000)]);
  await log.flush();
  for await (const { chunks } of archivedLog('log', log.lease(1), crc32c, noPause)) {
    let pieces = 0;
    for await (const _ of chunks()) if (++pieces === 2) break;
    break;
  }
  for await (const _ of log.read(1)) break;
  await log.close();
  expect(fs.openHandles).toBe(0);
});

test('a frame larger than the window is checked in pieces, with pauses between them', async () => {
  const fs = new SimFs(4);
  const { log } = await openTestLog(fs);
  const big = new Uint8Array(3 * 2 ** 20 + 5).map((_, index) => index % 251);
  log.append(1, textFrame('before'));
  log.append(2, [big]);
  log.append(1, textFrame('after'));
  await log.flush();
  const path = listLogFiles(fs, '/data').find((each) => readLogFileHeader(fs, each, crc32c).firstLsn === 2)!;
  const part = { path, firstLsn: 2, stopLsn: 4 };
  let pauses = 0;
  const read = async () => {
    const found: number[][] = [];
    const pause = async () => {
      pauses++;
    };
    for await (const batch of readLogFiles(fs, [part], 1, crc32c, pause))
      found.push(...batch.map(({ firstLsn, operations, payload }) => [firstLsn, operations, payload.length]));
    return found;
  };
  expect(await read()).toEqual([[2, 2, big.length]]);
  expect(pauses).toBeGreaterThan(10);
  fs.edit(path, (content) => {
    content[content.length - 200_000]! ^= 1;
  });
  await expect(read()).rejects.toMatchObject({ code: 'corrupt', fields: { file: path, offset: FILE_HEADER_BYTES } });
  await log.close();
});

test('a damaged, missing or foreign frame is refused with its offset', async () => {
  const fs = new SimFs(5);
  const { log } = await openTestLog(fs);
  for (let i = 0; i < 5; i++) log.append(1, textFrame('frame'));
  await log.flush();
  const part = { path: logFilePath('/data', 1), firstLsn: 1, stopLsn: 6 };
  const read = async (given: typeof part, fromLsn = 1) => {
    const found: string[] = [];
    for await (const batch of readLogFiles(fs, [given], fromLsn, crc32c, turn)) found.push(...textsOf(batch));
    return found;
  };
  const second = FILE_HEADER_BYTES + 48;
  const flip = () =>
    fs.edit(part.path, (bytes) => {
      bytes[second + 45]! ^= 1;
    });
  flip();
  await expect(read(part, 4)).rejects.toMatchObject({ fields: { file: part.path, offset: second } });
  flip();
  // There is no frame with LSN 6, and the file does not begin at LSN 2.
  await expect(read({ ...part, stopLsn: 9 })).rejects.toMatchObject({ code: 'corrupt' });
  await expect(read({ ...part, firstLsn: 2 })).rejects.toMatchObject({ code: 'corrupt' });
  expect(await read(part, 4)).toEqual(['4+1:frame', '5+1:frame']);
  await log.close();
});
