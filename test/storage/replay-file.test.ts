// Tests files of stored answers: their bytes, refused damage, and the examination of damaged files.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { nodeFs } from '../../src/storage/node-fs.ts';
import {
  appendRecords,
  examineRecords,
  type ReplayRecord,
  readRecords,
  replayFileName,
  replayFileVersion,
} from '../../src/storage/replay-file.ts';
import { crc32c } from '../support/crc32c.ts';
import { Random } from '../support/random.ts';
import { SimFs } from '../support/sim-fs.ts';

const DIR = '/replays';

function records(...lsns: number[]): ReplayRecord[] {
  return lsns.map((lsn) => ({ lsn, payload: Buffer.from(`{"answer":${lsn}}`) }));
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
  test('has the bytes documented in FORMAT.md', async () => {
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

  test('returns the appended records after a power loss, up to the size that the manifest lists', async () => {
    let fs = new SimFs(1);
    const one = await appendRecords(fs, DIR, { number: 7, bytes: 0 }, records(3, 2 ** 40), crc32c);
    const two = await appendRecords(fs, DIR, { number: 7, bytes: one }, records(2 ** 40 + 1), crc32c);
    fs = fs.crash();
    expect(read(fs, 7, one).map(([lsn]) => lsn)).toEqual([3, 2 ** 40]);
    expect(read(fs, 7, two)).toEqual([
      [3, '{"answer":3}'],
      [2 ** 40, `{"answer":${2 ** 40}}`],
      [2 ** 40 + 1, `{"answer":${2 ** 40 + 1}}`],
    ]);
  });

  test('overwrites bytes at its end that no manifest lists', async () => {
    const fs = new SimFs(1);
    const one = await appendRecords(fs, DIR, { number: 1, bytes: 0 }, records(1), crc32c);
    await appendRecords(fs, DIR, { number: 1, bytes: one }, records(2, 3, 4), crc32c);
    const two = await appendRecords(fs, DIR, { number: 1, bytes: one }, records(9), crc32c);
    expect(read(fs, 1, two).map(([lsn]) => lsn)).toEqual([1, 9]);
  });

  test('is refused with its name and the offset if any listed byte is damaged', async () => {
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

  test('returns records or is refused, but causes no other error, if its bytes are changed at random', async () => {
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

describe('an examination of a damaged file', () => {
  const sizeOf = async (fs: SimFs, ...lsns: number[]): Promise<number> =>
    appendRecords(fs, DIR, { number: 1, bytes: 0 }, records(...lsns), crc32c);
  const examine = (fs: SimFs, bytes: number) => {
    const found = [...examineRecords(fs, DIR, { number: 1, bytes }, crc32c)];
    const lsns = found.flatMap((each) => (each.kind === 'record' ? [each.lsn] : []));
    const faults = found.flatMap((each) => (each.kind === 'fault' ? [each.offset] : []));
    return { lsns, faults };
  };

  test('returns every record except the one with a flipped bit, and reports the damage', async () => {
    const fs = new SimFs(1);
    const path = `${DIR}/${replayFileName(1)}`;
    const size = await sizeOf(fs, 1, 2, 3, 4);
    const starts = [...readRecords(fs, DIR, { number: 1, bytes: size }, crc32c)].map(({ offset }) => offset);
    for (let bit = 0; bit < size * 8; bit++) {
      const flip = (bytes: Uint8Array): void => {
        bytes[bit >> 3]! ^= 1 << (bit & 7);
      };
      fs.edit(path, flip);
      const place = starts.findLastIndex((start) => start <= bit >> 3);
      const { lsns, faults } = examine(fs, size);
      expect(lsns, `bit ${bit}`).toEqual([1, 2, 3, 4].filter((lsn) => lsn !== place + 1));
      expect(faults, `bit ${bit}`).toEqual([place < 0 ? bit >> 3 : starts[place]]);
      fs.edit(path, flip);
    }
    expect(examine(fs, size)).toEqual({ lsns: [1, 2, 3, 4], faults: [] });
  });

  test('returns what is left of a cut file, nothing of a missing one, and throws for an unreadable one', async () => {
    for (const kept of [0, 10, 16, 20, 44, 45, 60, 90]) {
      const fs = new SimFs(1);
      const size = await sizeOf(fs, 1, 2, 3, 4);
      const whole = [...readRecords(fs, DIR, { number: 1, bytes: size }, crc32c)];
      const handle = fs.open(`${DIR}/${replayFileName(1)}`, 'write');
      await handle.truncate(kept);
      const { lsns, faults } = examine(fs, size);
      const ends = whole.map(({ offset, payload }) => offset + 16 + payload.length);
      expect(lsns, `cut at ${kept}`).toEqual([1, 2, 3, 4].filter((lsn) => ends[lsn - 1]! <= kept));
      expect(faults, `cut at ${kept}`).toEqual([kept]);
    }
    const fs = new SimFs(1);
    expect(examine(fs, 100)).toEqual({ lsns: [], faults: [0] });
    await sizeOf(fs, 1);
    fs.schedule = ({ kind }) => (kind === 'read' ? { code: 'EIO' } : undefined);
    expect(() => examine(fs, 40)).toThrow(/cannot read .* \(EIO\)/);
  });

  test('returns the records before and after a zeroed stretch', async () => {
    const fs = new SimFs(1);
    const size = await sizeOf(fs, 1, 2, 3, 4, 5);
    fs.edit(`${DIR}/${replayFileName(1)}`, (bytes) => bytes.fill(0, 50, 90));
    expect(examine(fs, size)).toEqual({ lsns: [1, 4, 5], faults: [44] });
  });
});

test('a file of version 1 is read', () => {
  const dir = fileURLToPath(new URL('../fixtures/replays-v1', import.meta.url));
  const found = [...readRecords(nodeFs, dir, { number: 1, bytes: 511 }, crc32c)];
  expect(found.map(({ lsn }) => lsn)).toEqual([3, 6, 9]);
  expect(JSON.parse(Buffer.from(found[1]!.payload).toString())).toEqual({
    id: 'id 2',
    bodyHash: 'hash 2',
    status: 201,
    contentType: 'application/json',
    body: '{"of":2,"text":"é \\"quoted\\""}',
    at: 1_000_000_000_002,
  });
  expect(replayFileVersion(nodeFs, dir, 1)).toBe(1);
});
