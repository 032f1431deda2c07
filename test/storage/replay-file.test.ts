import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { appendRecords, type ReplayRecord, readRecords, replayFileName } from '../../src/storage/replay-file.ts';
import { crc32c } from '../support/crc32c.ts';
import { Random } from '../support/random.ts';
import { SimFs } from '../support/sim-fs.ts';

const DIR = '/replays';

function records(...lsns: number[]): ReplayRecord[] {
  return lsns.map((lsn) => ({ lsn, payload: Buffer.from(`answer ${lsn}`) }));
}

function read(fs: SimFs, number: number, bytes: number): [number, string][] {
  return [...readRecords(fs, DIR, { number, bytes }, crc32c)].map(({ lsn, payload }) => [
    lsn,
    Buffer.from(payload).toString(),
  ]);
}

function failure(run: () => unknown): { code?: string; fields?: { file?: string; offset?: number } } {
  try {
    run();
  } catch (error) {
    return error as { code?: string };
  }
  return {};
}

describe('a file of stored answers', () => {
  test('has the bytes of FORMAT.md', async () => {
    const text = readFileSync(new URL('../../src/storage/FORMAT.md', import.meta.url), 'utf8').split(
      '## Files of stored',
    )[1]!;
    const block = /```hex\n([\s\S]*?)```/.exec(text)![1]!.trim().split('\n');
    const hex = block.map((line) => /^[0-9a-f]{4}: ((?:[0-9a-f]{2} ?)+)/.exec(line)![1]!.replaceAll(' ', '')).join('');
    const fs = new SimFs(1);
    const size = await appendRecords(
      fs,
      DIR,
      { number: 1, bytes: 0 },
      [{ lsn: 5, payload: Buffer.from('{}') }],
      crc32c,
    );
    let found = '';
    fs.edit(`${DIR}/${replayFileName(1)}`, (bytes) => {
      found = Buffer.from(bytes).toString('hex');
    });
    expect(found).toBe(hex);
    expect(size).toBe(hex.length / 2);
  });

  test('gives back what was appended, up to the listed bytes, after a power loss', async () => {
    let fs = new SimFs(1);
    const one = await appendRecords(fs, DIR, { number: 7, bytes: 0 }, records(3, 2 ** 40), crc32c);
    const two = await appendRecords(fs, DIR, { number: 7, bytes: one }, records(2 ** 40 + 1), crc32c);
    fs = fs.crash();
    expect(read(fs, 7, one).map(([lsn]) => lsn)).toEqual([3, 2 ** 40]);
    expect(read(fs, 7, two)).toEqual([
      [3, 'answer 3'],
      [2 ** 40, `answer ${2 ** 40}`],
      [2 ** 40 + 1, `answer ${2 ** 40 + 1}`],
    ]);
  });

  test('takes a new append over a tail that no manifest lists', async () => {
    const fs = new SimFs(1);
    const one = await appendRecords(fs, DIR, { number: 1, bytes: 0 }, records(1), crc32c);
    await appendRecords(fs, DIR, { number: 1, bytes: one }, records(2, 3, 4), crc32c);
    const two = await appendRecords(fs, DIR, { number: 1, bytes: one }, records(9), crc32c);
    expect(read(fs, 1, two).map(([lsn]) => lsn)).toEqual([1, 9]);
  });

  test('that is damaged anywhere in the listed bytes refuses, naming itself and the offset', async () => {
    const fs = new SimFs(1);
    const path = `${DIR}/${replayFileName(1)}`;
    const size = await appendRecords(fs, DIR, { number: 1, bytes: 0 }, records(1, 2, 3), crc32c);
    const starts = [...readRecords(fs, DIR, { number: 1, bytes: size }, crc32c)].map(({ offset }) => offset);
    for (let at = 0; at < size; at++) {
      const flip = (bytes: Uint8Array): void => {
        bytes[at]! ^= 1 << (at % 8);
      };
      fs.edit(path, flip);
      const error = failure(() => read(fs, 1, size));
      expect(error.code, `byte ${at}`).toBe('corrupt');
      expect(error.fields).toEqual({ file: path, offset: at < 16 ? at : starts.findLast((start) => start <= at) });
      fs.edit(path, flip);
    }
    expect(failure(() => read(fs, 1, size + 1)).fields).toEqual({ file: path, offset: size });
    expect(failure(() => read(fs, 1, size - 1)).code).toBe('corrupt');
    expect(failure(() => read(fs, 2, size)).fields).toEqual({ file: `${DIR}/${replayFileName(2)}`, offset: 0 });
    expect(read(fs, 1, size)).toHaveLength(3);
  });

  test('of arbitrary bytes gives records or a refusal, never anything else', async () => {
    const random = new Random(5);
    const fs = new SimFs(1);
    const path = `${DIR}/${replayFileName(1)}`;
    const size = await appendRecords(fs, DIR, { number: 1, bytes: 0 }, records(1, 2, 3, 4, 5), crc32c);
    for (let round = 0; round < 500; round++) {
      const changes = 1 + random.below(8);
      let before: Uint8Array = new Uint8Array(0);
      fs.edit(path, (bytes) => {
        before = bytes.slice();
        for (let i = 0; i < changes; i++) bytes[16 + random.below(size - 16)] = random.below(256);
      });
      const error = failure(() => read(fs, 1, size));
      if (error.code !== undefined) expect(error.code).toBe('corrupt');
      fs.edit(path, (bytes) => bytes.set(before));
    }
  });
});
