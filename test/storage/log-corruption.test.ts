// Tests damage that no crash causes. Acknowledged bytes that have changed are refused with file and
// offset, wherever they are.

import { expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { crc32c } from '../support/crc32c.ts';
import { framesOf, openTestLog, textFrame } from '../support/open-test-log.ts';
import { SimFs } from '../support/sim-fs.ts';

const FRAME = 40 + 104;
const FIRST = '/data/log-0000000000000001';

/**
 * Makes a log of `frames` frames with 144 bytes each. Each is synced separately. Then the log is
 * closed, or a crash ends it.
 */
async function makeLog(frames: number, end: 'close' | 'crash', more: { fileBytes?: number } = {}): Promise<SimFs> {
  const fs = new SimFs(5);
  const { log } = await openTestLog(fs, { fileBytes: 2 ** 15, ...more });
  for (let count = 0; count < frames; count++) {
    log.append(1, textFrame(`${count}`.padEnd(100, '.')));
    await log.flush();
  }
  if (end === 'crash') return fs.crash();
  await log.close();
  return fs;
}

async function openAndReplay(fs: SimFs, more: { minimumLsn?: number; reachedLsn?: number } = {}): Promise<string[]> {
  const { log } = await openTestLog(fs, more);
  try {
    return await framesOf(log);
  } finally {
    await log.close();
  }
}

async function refusal(
  fs: SimFs,
  more: { minimumLsn?: number; reachedLsn?: number } = {},
): Promise<{ file: string; offset: number }> {
  const error = await openAndReplay(fs, more).then(
    (frames) => new Error(`${frames.length} frames were accepted`),
    (reason: unknown) => reason,
  );
  if (!(error instanceof HedgerowError) || error.code !== 'corrupt') throw error;
  expect(error.message).toContain(`${error.fields!.file} is corrupt at offset ${error.fields!.offset}`);
  return error.fields as { file: string; offset: number };
}

/** Offsets in every field of a frame, in its payload and in its padding. */
const FRAME_PLACES = [0, 3, 4, 7, 8, 10, 12, 15, 16, 19, 20, 23, 24, 28, 32, 33, 36, 39, 40, 80, 139, 140, 143];

test('a changed byte in any field of an acknowledged frame is refused at the offset of that frame', async () => {
  for (const place of FRAME_PLACES) {
    const fs = await makeLog(6, 'crash');
    const offset = 4096 + 2 * FRAME;
    fs.edit(FIRST, (bytes) => {
      bytes[offset + place]! ^= 0x40;
    });
    expect(await refusal(fs), `byte ${place} of the frame`).toEqual({ file: FIRST, offset });
  }
});

test('a damaged last frame is refused after an orderly close', async () => {
  for (const place of FRAME_PLACES) {
    const fs = await makeLog(3, 'close');
    const offset = 4096 + 2 * FRAME;
    fs.edit(FIRST, (bytes) => {
      bytes[offset + place]! ^= 0x01;
    });
    expect(await refusal(fs), `byte ${place} of the frame`).toEqual({ file: FIRST, offset });
  }
});

test('a zeroed page in the middle does not count as the end of the log', async () => {
  const fs = await makeLog(60, 'crash');
  fs.edit(FIRST, (bytes) => bytes.fill(0, 4096, 8192));
  expect(await refusal(fs)).toEqual({ file: FIRST, offset: 4096 });
});

test('any damaged byte of a file header is refused', async () => {
  for (const place of [0, 7, 8, 12, 16, 24, 31, 32, 2000, 4091, 4092, 4095]) {
    const fs = await makeLog(3, 'crash');
    fs.edit(FIRST, (bytes) => {
      bytes[place]! ^= 0x80;
    });
    expect((await refusal(fs)).file, `byte ${place}`).toBe(FIRST);
  }
});

test('a torn frame ends the log if nothing proves that it was durable, and the next epoch continues', async () => {
  const fs = await makeLog(3, 'crash');
  fs.edit(FIRST, (bytes) => {
    bytes[4096 + 2 * FRAME + 60]! ^= 0x40;
  });
  // The watermark would prove that the frame was durable, but a power loss may destroy the
  // watermark.
  const watermark = dropWatermark(fs);
  expect(await openAndReplay(fs)).toHaveLength(2);
  expect(watermark.some((byte) => byte !== 0)).toBe(true);
  const { log } = await openTestLog(fs);
  expect(log.append(1, textFrame('again'))).toBe(3);
  await log.close();
  // The file now has a successor, so its torn end is not read.
  expect((await openAndReplay(fs)).at(-1)).toBe('3+1:again');
});

test('the watermark proves the last acknowledged frame after a kill', async () => {
  const fs = new SimFs(5);
  const { log } = await openTestLog(fs, { fileBytes: 2 ** 15 });
  for (let count = 0; count < 3; count++) {
    log.append(1, textFrame(`${count}`.padEnd(100, '.')));
    await log.flush();
  }
  const killed = fs.kill();
  for (const place of FRAME_PLACES) {
    const offset = 4096 + 2 * FRAME;
    const flip = () =>
      killed.edit(FIRST, (bytes) => {
        bytes[offset + place]! ^= 0x40;
      });
    flip();
    expect(await refusal(killed), `byte ${place} of the frame`).toEqual({ file: FIRST, offset });
    flip();
  }
  expect(await openAndReplay(killed)).toHaveLength(3);
});

test('damage in an older file is refused, also in its last frame', async () => {
  const fs = await makeLog(80, 'crash', { fileBytes: 4096 + 10 * FRAME + 40 });
  const offset = 4096 + 9 * FRAME;
  fs.edit(FIRST, (bytes) => {
    bytes[offset + 50]! ^= 0x40;
  });
  expect(await refusal(fs)).toEqual({ file: FIRST, offset });
});

test('a missing file in the middle or at the beginning is refused', async () => {
  for (const missing of [1, 3]) {
    const fs = await makeLog(80, 'crash', { fileBytes: 4096 + 10 * FRAME + 40 });
    await fs.remove(`/data/log-${`${missing}`.padStart(16, '0')}`);
    const { file, offset } = await refusal(fs);
    expect([file, offset]).toEqual(
      missing === 1 ? ['/data/log-0000000000000002', 24] : ['/data/log-0000000000000002', 4096 + 10 * FRAME],
    );
  }
});

test("a file below the manifest's LSN is not needed, whatever its contents are", async () => {
  const fs = await makeLog(80, 'crash', { fileBytes: 4096 + 10 * FRAME + 40 });
  fs.edit(FIRST, (bytes) => bytes.fill(255));
  expect(await openAndReplay(fs, { minimumLsn: 10 })).toHaveLength(70);
  expect(await refusal(fs, { minimumLsn: 9 })).toEqual({ file: FIRST, offset: 0 });
});

test('a log that ends below the LSN that the manifest records is refused', async () => {
  const fs = await makeLog(3, 'close');
  expect(await openAndReplay(fs, { reachedLsn: 3 })).toHaveLength(3);
  expect((await refusal(fs, { reachedLsn: 4 })).file).toBe(FIRST);
  expect((await refusal(new SimFs(1), { reachedLsn: 4 })).file).toBe('/data');
});

test('a renamed file is refused', async () => {
  const fs = await makeLog(3, 'close');
  await fs.rename(FIRST, '/data/log-0000000000000002');
  expect(await refusal(fs)).toEqual({ file: '/data/log-0000000000000002', offset: 16 });
});

test('a refused open changes nothing', async () => {
  const fs = await makeLog(6, 'crash');
  fs.edit(FIRST, (bytes) => {
    bytes[4096 + 2 * FRAME + 50]! ^= 0x40;
  });
  const before = crc32c(fileBytes(fs), 0);
  await refusal(fs);
  expect(fs.counts.write).toBe(0);
  expect(crc32c(fileBytes(fs), 0)).toBe(before);
});

/** Changes the mark as a power loss may: removes the watermark. Returns the old watermark. */
function dropWatermark(fs: SimFs): Uint8Array {
  let before = new Uint8Array(0);
  fs.edit('/data/mark', (bytes) => {
    before = bytes.slice(8192);
    bytes.fill(0, 8192);
  });
  return before;
}

function fileBytes(fs: SimFs): Uint8Array {
  let copy = new Uint8Array(0);
  fs.edit(FIRST, (bytes) => {
    copy = bytes.slice();
  });
  return copy;
}
