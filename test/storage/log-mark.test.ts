// Tests the mark of a log: its bytes as in FORMAT.md, which slot is valid, what the mark proves
// about the files, and how it keeps two processes apart.

import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import {
  decodeMark,
  encodeSlot,
  MARK_BYTES,
  type MarkSlot,
  putWatermark,
  readMark,
  slotOffset,
  startWatermark,
} from '../../src/storage/log-mark.ts';
import { crc32c } from '../support/crc32c.ts';
import { framesOf, openTestLog, textFrame, turn } from '../support/open-test-log.ts';
import { type Fault, SimFs } from '../support/sim-fs.ts';

const EXAMPLE: MarkSlot = { epoch: 3, counter: 6, owner: 5, sequence: 7, firstLsn: 42, reachedLsn: 43, closed: true };

/** Returns the mark of the worked example in FORMAT.md. */
function exampleMark(): Uint8Array {
  const text = readFileSync(new URL('../../src/storage/FORMAT.md', import.meta.url), 'utf8');
  const bytes = new Uint8Array(MARK_BYTES);
  for (const line of /```mark\n([\s\S]*?)```/.exec(text)![1]!.trim().split('\n')) {
    const [, offset, hex] = /^([0-9a-f]{4}): ((?:[0-9a-f]{2} ){7}[0-9a-f]{2})/.exec(line)!;
    bytes.set(
      hex!.split(' ').map((byte) => Number.parseInt(byte, 16)),
      Number.parseInt(offset!, 16),
    );
  }
  return bytes;
}

function markOf(slots: MarkSlot[], watermarkLsn?: number): Uint8Array {
  const bytes = new Uint8Array(MARK_BYTES);
  for (const slot of slots) bytes.set(encodeSlot(slot, crc32c), slotOffset(slot.counter));
  if (watermarkLsn !== undefined) {
    const watermark = startWatermark(3);
    putWatermark(watermark, watermarkLsn, crc32c);
    bytes.set(watermark.bytes, 8192);
  }
  return bytes;
}

function foundMark(fs: SimFs): MarkSlot {
  return readMark(fs, '/data', crc32c)!.slot;
}

describe('the bytes of the mark', () => {
  test('are those of the worked example', () => {
    expect(Buffer.from(markOf([EXAMPLE], 43)).equals(exampleMark())).toBe(true);
    expect(decodeMark('mark', exampleMark(), crc32c)).toEqual({ slot: EXAMPLE, watermarkLsn: 43 });
  });

  test('are read from the slot with the greater counter, at either position, or from the other slot if that one is damaged', () => {
    for (const counter of [6, 7]) {
      const older = { ...EXAMPLE, counter };
      const newer = { ...EXAMPLE, counter: counter + 1, reachedLsn: 50 };
      const bytes = markOf([older, newer]);
      expect(decodeMark('mark', bytes, crc32c).slot).toEqual(newer);
      for (let bit = 0; bit < 64 * 8; bit++) {
        const at = slotOffset(newer.counter) + (bit >> 3);
        bytes[at]! ^= 1 << (bit & 7);
        expect(decodeMark('mark', bytes, crc32c).slot, `bit ${bit}`).toEqual(older);
        bytes[at]! ^= 1 << (bit & 7);
      }
    }
  });

  test('are corrupt without a valid slot or with another size, but a bad watermark is ignored', () => {
    const bytes = markOf([EXAMPLE], 43);
    for (let bit = 0; bit < 32 * 8; bit++) {
      bytes[8192 + (bit >> 3)]! ^= 1 << (bit & 7);
      const { watermarkLsn } = decodeMark('mark', bytes, crc32c);
      // The checksum also covers the reserved word.
      expect(watermarkLsn, `bit ${bit}`).toBe(0);
      bytes[8192 + (bit >> 3)]! ^= 1 << (bit & 7);
    }
    bytes[10]! ^= 1;
    expect(() => decodeMark('mark', bytes, crc32c)).toThrow(/neither of its two slots/);
    for (const size of [0, 1, 4096, MARK_BYTES - 1, MARK_BYTES + 1])
      expect(() => decodeMark('mark', new Uint8Array(size), crc32c)).toThrow(/12288 bytes/);
    // A slot is not valid at the position of the other slot, because it must have been copied
    // there.
    const moved = new Uint8Array(MARK_BYTES);
    moved.set(encodeSlot(EXAMPLE, crc32c), 4096);
    expect(() => decodeMark('mark', moved, crc32c)).toThrow(/neither/);
  });
});

describe('the contents of the mark', () => {
  test('record an open, a rotation, a group and a close', async () => {
    const fs = new SimFs(1);
    const { log } = await openTestLog(fs, { owner: 77 });
    expect(foundMark(fs)).toMatchObject({ epoch: 1, owner: 77, sequence: 0, reachedLsn: 0, closed: false });
    for (let count = 1; count <= 20; count++) {
      log.append(1, textFrame('.'.repeat(500)));
      await log.flush();
      expect(readMark(fs, '/data', crc32c)!.watermarkLsn).toBe(count);
    }
    const newest = fs.list('/data').filter((name) => /^log-0/.test(name)).length;
    const { sequence, firstLsn, reachedLsn } = foundMark(fs);
    expect([sequence, reachedLsn]).toEqual([newest, firstLsn - 1]);
    expect(newest).toBeGreaterThan(2);
    await log.close();
    expect(foundMark(fs)).toMatchObject({ epoch: 1, sequence: newest, reachedLsn: 20, closed: true });
    const again = await openTestLog(fs, { owner: 78 });
    expect(foundMark(fs)).toMatchObject({ epoch: 2, owner: 78, sequence: newest, reachedLsn: 20, closed: false });
    await again.log.close();
    expect(fs.openHandles).toBe(0);
  });

  test('cost one more write of 32 bytes for each group, and no additional sync', async () => {
    const fs = new SimFs(1);
    const { log } = await openTestLog(fs, { fileBytes: 2 ** 20 });
    log.append(1, textFrame('a'));
    await log.flush();
    const before = { ...fs.counts };
    log.append(1, textFrame('b'));
    await log.flush();
    const { write, writeNow, datasync, sync, read, open } = fs.counts;
    expect([write - before.write, writeNow - before.writeNow, datasync - before.datasync]).toEqual([1, 1, 1]);
    expect([sync - before.sync, read - before.read, open - before.open]).toEqual([0, 0, 0]);
    await log.close();
  });

  for (const fault of [{ code: 'EIO' }, { shortBytes: 7 }] satisfies Fault[]) {
    test(`are written before a group is acknowledged: without the watermark, the log fails (${JSON.stringify(fault)})`, async () => {
      const fs = new SimFs(1);
      const { log, durable } = await openTestLog(fs);
      fs.schedule = ({ kind }) => (kind === 'writeNow' ? fault : undefined);
      log.append(1, textFrame('a'));
      await expect(log.flush()).rejects.toMatchObject({ code: 'log_failed' });
      expect(durable).toEqual([]);
      fs.schedule = () => undefined;
      expect(await framesOf((await openTestLog(fs.kill())).log)).toHaveLength(1);
    });
  }
});

describe('the proof in the mark', () => {
  async function made(end: 'close' | 'kill'): Promise<SimFs> {
    const fs = new SimFs(3);
    const { log } = await openTestLog(fs);
    for (let count = 1; count <= 12; count++) {
      log.append(1, textFrame(`${count}`.padEnd(500, '.')));
      await log.flush();
    }
    if (end === 'kill') return fs.kill();
    await log.close();
    return fs;
  }

  async function refusal(fs: SimFs): Promise<{ file: string; message: string }> {
    const error = await openTestLog(fs).then(
      () => undefined,
      (reason: { code: string; message: string; fields: { file: string } }) => reason,
    );
    expect(error).toMatchObject({ code: 'corrupt' });
    return { file: error!.fields.file, message: error!.message };
  }

  for (const end of ['close', 'kill'] as const) {
    test(`shows after a ${end} that files are missing, cut or zeroed, or that the mark itself is missing`, async () => {
      const fs = await made(end);
      const files = fs.list('/data').filter((name) => /^log-0/.test(name));
      const newest = `/data/${files.at(-1)}`;
      let bytes = new Uint8Array(0);
      fs.edit(newest, (content) => {
        bytes = content.slice();
      });
      await fs.remove(newest);
      expect(await refusal(fs)).toMatchObject({ file: newest, message: expect.stringContaining('missing') });
      const write = async (content: Uint8Array) => {
        if (fs.exists(newest)) await fs.remove(newest);
        const handle = fs.open(newest, 'create');
        await handle.write(content, 0);
        handle.close();
      };
      await write(bytes.subarray(0, bytes.length - 1));
      expect(await refusal(fs)).toMatchObject({ file: newest, message: expect.stringContaining('it was cut') });
      const zeroed = bytes.slice();
      zeroed.fill(0, 4096);
      await write(zeroed);
      expect(await refusal(fs)).toMatchObject({ file: newest, message: expect.stringContaining('the log ends at') });
      await write(bytes);
      await fs.rename('/data/mark', '/data/aside');
      expect((await refusal(fs)).file).toBe('/data/mark');
      await fs.rename('/data/aside', '/data/mark');
      expect(await framesOf((await openTestLog(fs)).log)).toHaveLength(12);
    });
  }

  test('shows that an older file is in the place of the newest one', async () => {
    const fs = await made('kill');
    const files = fs.list('/data').filter((name) => /^log-0/.test(name));
    await fs.remove(`/data/${files.at(-1)}`);
    const { log } = await openTestLog(await made('kill'));
    expect(log.headLsn).toBe(12);
    expect((await refusal(fs)).message).toContain('missing');
  });

  test('does not rely on a log file whose name may not be durable after a kill in a rotation: the older file is kept', async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const fs = new SimFs(seed);
      const { log } = await openTestLog(fs);
      log.append(1, textFrame('.'.repeat(3500)));
      await log.flush();
      await turn();
      fs.schedule = ({ kind }) => (kind === 'syncDir' ? 'crash' : undefined);
      log.append(1, textFrame('.'.repeat(3500)));
      await fs.whenStopped;
      const killed = fs.kill();
      const second = await openTestLog(killed, { minimumLsn: 1 });
      await second.log.truncate(1);
      const third = await openTestLog(killed.crash(), { minimumLsn: 1 });
      expect(third.log.headLsn, `seed ${seed}`).toBe(1);
    }
  });

  test('lets unacknowledged bytes be dropped, with one notice that contains file, offset and size', async () => {
    const fs = new SimFs(3);
    const dropped: unknown[] = [];
    const { log } = await openTestLog(fs, { fileBytes: 2 ** 15 });
    log.append(1, textFrame('kept'));
    await log.flush();
    const killed = fs.kill();
    const path = '/data/log-0000000000000001';
    killed.edit(path, (bytes) => {
      bytes.fill(7, 4096 + 48, 4096 + 48 + 30);
    });
    const options = { onDropped: (bytes: unknown) => void dropped.push(bytes) };
    const second = await openTestLog(killed, options);
    expect(await framesOf(second.log)).toEqual(['1+1:kept']);
    expect(dropped).toEqual([{ file: path, offset: 4096 + 48, bytes: 30 }]);
    second.log.append(1, textFrame('next'));
    await second.log.close();
    await (await openTestLog(killed, options)).log.close();
    expect(dropped).toHaveLength(1);
  });
});

describe('the ownership in the mark', () => {
  test('makes a process that lost the log refuse at its next rotation, and change nothing', async () => {
    const fs = new SimFs(4);
    const first = await openTestLog(fs, { owner: 1 });
    first.log.append(1, textFrame('mine'));
    await first.log.flush();
    await turn();
    const second = await openTestLog(fs, { owner: 2 });
    expect(() => first.log.assertOwner()).toThrow(/took over/);
    expect(first.failures).toHaveLength(1);
    expect(first.failures[0]!.code).toBe('conflict');
    expect(() => first.log.append(1, textFrame('lost'))).toThrow(/took over/);
    await expect(first.log.flush()).rejects.toMatchObject({ code: 'conflict' });
    second.log.assertOwner();
    second.log.append(1, textFrame('theirs'));
    await second.log.flush();
    await first.log.close();
    second.log.append(1, textFrame('.'.repeat(5000)));
    await second.log.close();
    expect((await framesOf((await openTestLog(fs)).log)).slice(0, 2)).toEqual(['1+1:mine', '2+1:theirs']);
  });

  test('is checked at a rotation before a frame is written', async () => {
    const fs = new SimFs(4);
    const first = await openTestLog(fs, { owner: 1 });
    first.log.append(1, textFrame('mine'));
    await first.log.flush();
    await turn();
    await openTestLog(fs, { owner: 2 });
    const before = fs.list('/data');
    first.log.append(1, textFrame('.'.repeat(6000)));
    await expect(first.log.flush()).rejects.toMatchObject({ code: 'conflict' });
    expect(fs.list('/data')).toEqual(before);
    expect(first.durable).toEqual([1]);
  });

  test('goes to one of two processes that opened at the same moment and wrote nothing yet', async () => {
    const fs = new SimFs(4);
    const first = await openTestLog(fs, { owner: 1 });
    const second = await openTestLog(fs, { owner: 2 });
    first.log.append(1, textFrame('a'));
    second.log.append(1, textFrame('b'));
    const outcomes = await Promise.allSettled([first.log.flush(), second.log.flush()]);
    expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
    await second.log.close();
    expect(await framesOf((await openTestLog(fs)).log)).toEqual(['1+1:b']);
  });

  test('is confirmed by a check while the process itself writes a slot', async () => {
    const fs = new SimFs(4);
    const { log, failures } = await openTestLog(fs, { owner: 1 });
    let checks = 0;
    fs.schedule = ({ kind, path }) => {
      if (!path.endsWith('mark') || (kind !== 'write' && kind !== 'datasync')) return undefined;
      checks++;
      log.assertOwner();
      return undefined;
    };
    for (let count = 0; count < 5; count++) log.append(1, textFrame('.'.repeat(3000)));
    await log.flush();
    await log.close();
    expect(checks).toBeGreaterThan(6);
    expect(failures).toEqual([]);
  });

  test('prevents a rotation from replacing a log file that already has the next number', async () => {
    const fs = new SimFs(4);
    const { log } = await openTestLog(fs);
    await turn();
    const handle = fs.open('/data/log-0000000000000001', 'create');
    await handle.write(new Uint8Array([1, 2, 3]), 0);
    log.append(1, textFrame('a'));
    await expect(log.flush()).rejects.toMatchObject({ code: 'conflict' });
    expect(handle.size()).toBe(3);
  });
});
