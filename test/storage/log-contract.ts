// The contract that every implementation of LogStore must fulfil, wherever its frames are stored.

import { describe, expect, test } from 'vitest';
import type { ErrorCode, HedgerowError } from '../../src/errors.ts';
import type { LogOpening, LogStore, OpenLog } from '../../src/storage/log-store.ts';
import { framesOf, textFrame, textsOf, turn } from '../support/open-test-log.ts';
import { Random } from '../support/random.ts';
import { ownDisk } from './log-contract-disk.ts';

/** The storage for a log's frames, as a test controls it. */
export interface LogMedium {
  readonly open: OpenLog;
  /**
   * Returns the state after a power loss (`crash`) or after the end of the process (`kill`). The
   * logs of the old medium are not used afterwards.
   */
  crash(): LogMedium;
  kill(): LogMedium;
  /** Makes the next write or sync of a group fail; the one after it succeeds. */
  failOnce(code: 'EIO' | 'ENOSPC'): void | Promise<void>;
  /**
   * Sets whether the medium is full, so that only space that is already prepared can be written.
   */
  setFull(isFull: boolean): void;
  /** Damages the frame that contains `lsn`. */
  damage(lsn: number): void | Promise<void>;
}

/** What distinguishes an implementation, because of where it stores the frames. */
export interface LogTraits {
  /** Whether it prepares space on a disk of its own, and can sync later (durability `async`). */
  ownsDisk: boolean;
  /** Error code of a log that another process has taken over. */
  takenOver: ErrorCode;
}

const OF_FILES: LogTraits = { ownsDisk: true, takenOver: 'conflict' };

export interface Opened {
  log: LogStore;
  /** The arguments of all calls of onDurable. */
  durable: number[];
  failures: HedgerowError[];
}

export async function opened(medium: LogMedium, more: Partial<LogOpening> = {}): Promise<Opened> {
  const durable: number[] = [];
  const failures: HedgerowError[] = [];
  const log = await medium.open({
    durability: 'fsync',
    minimumLsn: 0,
    onDurable: (lsn) => durable.push(lsn),
    onFailed: (error) => failures.push(error),
    ...more,
  });
  return { log, durable, failures };
}

/** Appends a frame for each text and waits for all of them. Returns what `framesOf` must return. */
export async function write(log: LogStore, texts: readonly string[], operations = 1): Promise<string[]> {
  const wanted = texts.map((text) => `${log.append(operations, textFrame(text))}+${operations}:${text}`);
  await log.flush();
  return wanted;
}

function numbered(count: number, bytes: number): string[] {
  return Array.from({ length: count }, (_, index) => `${index}`.padEnd(bytes, '.'));
}

/** Resolves with the error of a log that another process has taken over. */
async function noticed(log: LogStore): Promise<unknown> {
  for (;;) {
    try {
      log.assertOwner();
    } catch (error) {
      return error;
    }
    await turn();
  }
}

export function expectLogContract(
  name: string,
  makeMedium: () => LogMedium,
  { ownsDisk, takenOver }: LogTraits = OF_FILES,
): void {
  describe(name, () => {
    describe('appending', () => appending(makeMedium));
    describe('an unusual append', () => appendingOtherwise(makeMedium));
    describe('reading', () => reading(makeMedium));
    describe('reading while the log changes', () => readingMeanwhile(makeMedium));
    describe('following', () => following(makeMedium));
    describe('truncation', () => truncation(makeMedium));
    if (ownsDisk) describe('a disk of its own', () => ownDisk(makeMedium));
    describe('opening and closing', () => openingAndClosing(makeMedium));
    if (ownsDisk) describe('the manifest', () => provingManifest(makeMedium));
    describe('a change of the owner', () => takingOver(makeMedium, takenOver));
    describe('a failure of the medium', () => failing(makeMedium));
  });
}

function appending(makeMedium: () => LogMedium): void {
  test('gives LSNs without gaps, and flushed frames are read in order after a crash', async () => {
    const medium = makeMedium();
    const { log, durable } = await opened(medium);
    expect(log.append(1, textFrame('a'))).toBe(1);
    expect(log.append(3, [...textFrame('b'), ...textFrame('cd')])).toBe(2);
    expect(log.append(1, [])).toBe(5);
    expect([log.headLsn, log.durableLsn]).toEqual([5, 0]);
    await log.flush();
    expect(log.durableLsn).toBe(5);
    expect(durable.at(-1)).toBe(5);
    const second = await opened(medium.crash());
    expect(await framesOf(second.log)).toEqual(['1+1:a', '2+3:bcd', '5+1:']);
    expect([second.log.headLsn, second.log.durableLsn]).toEqual([5, 5]);
    expect(second.log.append(1, textFrame('e'))).toBe(6);
  });

  test('copies the parts, so that the caller may overwrite them at once', async () => {
    const { log } = await opened(makeMedium());
    const part = new Uint8Array([65]);
    log.append(1, [part]);
    part[0] = 66;
    await log.flush();
    expect(await framesOf(log)).toEqual(['1+1:A']);
  });

  test('reports LSNs as durable only when they are, in ascending order', async () => {
    const reported: number[] = [];
    const { log } = await opened(makeMedium(), {
      onDurable: (lsn) => {
        expect(lsn).toBeGreaterThan(reported.at(-1) ?? 0);
        expect(log.durableLsn).toBeGreaterThanOrEqual(lsn);
        expect(log.headLsn).toBeGreaterThanOrEqual(log.durableLsn);
        reported.push(lsn);
      },
    });
    for (let count = 0; count < 60; count++) {
      log.append(1 + (count % 3), textFrame('x'.repeat(count * 20)));
      if (count % 7 === 0) await turn();
    }
    await log.flush();
    expect(reported.at(-1)).toBe(log.headLsn);
  });

  test('leaves, after a crash at any moment, a prefix of the frames with all that were reported as durable', async () => {
    for (let turns = 0; turns < 12; turns++) {
      const medium = makeMedium();
      const { log, durable } = await opened(medium);
      const wanted = await write(log, ['kept']);
      for (let count = 0; count < 5; count++) wanted.push(`${log.append(4, textFrame('later'))}+4:later`);
      for (let done = 0; done < turns; done++) await (turns % 2 === 0 ? null : turn());
      const promised = durable.at(-1)!;
      const found = await framesOf((await opened(turns % 3 === 0 ? medium.kill() : medium.crash())).log);
      expect(found).toEqual(wanted.slice(0, found.length));
      expect(1 + (found.length - 1) * 4).toBeGreaterThanOrEqual(promised);
    }
  });
}

function appendingOtherwise(makeMedium: () => LogMedium): void {
  test('builds the same frame in slices, after the frames that were already queued', async () => {
    const medium = makeMedium();
    const { log } = await opened(medium);
    log.append(1, textFrame('before'));
    const large = 'L'.repeat(3 * 2 ** 20 + 5);
    let pauses = 0;
    const pause = () => {
      pauses++;
      return turn();
    };
    expect(await log.appendInSlices(3, textFrame(large), pause)).toBe(2);
    log.append(1, textFrame('after'));
    await log.flush();
    expect(pauses).toBeGreaterThan(0);
    expect(await framesOf((await opened(medium.crash())).log)).toEqual(['1+1:before', `2+3:${large}`, '5+1:after']);
  });

  test('is refused if it exceeds the size of a frame, and nothing is queued', async () => {
    const { log } = await opened(makeMedium());
    const huge = new Array<Uint8Array>(1025).fill(new Uint8Array(2 ** 20));
    expect(() => log.append(1, huge)).toThrow(expect.objectContaining({ code: 'body_too_large' }));
    await expect(log.appendInSlices(1, huge, turn)).rejects.toMatchObject({ code: 'body_too_large' });
    expect(() => log.append(0, textFrame('x'))).toThrow();
    expect(log.headLsn).toBe(0);
  });
}

function reading(makeMedium: () => LogMedium): void {
  test('returns the frame that contains the requested LSN and all later frames, before and after a reopening', async () => {
    const random = new Random(7);
    const medium = makeMedium();
    const wanted: { text: string; last: number }[] = [];
    for (let open = 0; open < 3; open++) {
      const { log } = await opened(medium);
      for (let count = 0; count < 15; count++) {
        const operations = 1 + random.below(4);
        const text = 'x'.repeat(random.below(random.chance(0.1) ? 600_000 : 900));
        const lsn = log.append(operations, textFrame(text));
        wanted.push({ text: `${lsn}+${operations}:${text}`, last: lsn + operations - 1 });
        if (random.chance(0.3)) await log.flush();
      }
      await log.flush();
      for (let lsn = 1; lsn <= log.headLsn + 1; lsn++) {
        const found = await framesOf(log, lsn - 1);
        expect(found).toEqual(wanted.filter(({ last }) => last >= lsn).map(({ text }) => text));
      }
      await log.close();
    }
  });

  test('refuses a damaged frame, and returns the frames before it unchanged', async () => {
    const medium = makeMedium();
    const { log } = await opened(medium);
    await write(log, numbered(30, 700));
    await medium.damage(15);
    const found: string[] = [];
    const read = async () => {
      for await (const batch of log.read(1)) found.push(...textsOf(batch));
    };
    await expect(read()).rejects.toMatchObject({ code: 'corrupt' });
    expect(found.map((text) => Number.parseInt(text, 10))).toEqual(found.map((_, index) => index + 1));
    expect(found.length).toBeLessThan(15);
  });
}

function following(makeMedium: () => LogMedium): void {
  test('returns every frame once and in order, while frames are written, up to the given LSN', async () => {
    const random = new Random(9);
    const { log } = await opened(makeMedium(), { seconds: () => 77 });
    const wanted: string[] = [];
    const found: string[] = [];
    const follower = log.follow(1);
    for (let round = 0; round < 40; round++) {
      for (let count = random.below(4); count > 0; count--) {
        const text = 'x'.repeat(random.below(random.chance(0.1) ? 600_000 : 900));
        const operations = 1 + random.below(3);
        wanted.push(`${log.append(operations, textFrame(text))}+${operations}:${text}`);
        if (random.chance(0.5)) await log.flush();
      }
      await log.flush();
      for (let more = random.chance(0.7); more; ) {
        const frames = await follower.next(log.durableLsn);
        expect(frames.every(({ seconds }) => seconds === 77)).toBe(true);
        found.push(...textsOf(frames));
        more = frames.length > 0;
      }
    }
    for (let more = true; more; ) {
      const frames = await follower.next(log.durableLsn);
      found.push(...textsOf(frames));
      more = frames.length > 0;
    }
    expect(found).toEqual(wanted);
    const half = log.follow(3);
    const first = textsOf(await half.next(log.durableLsn));
    expect(wanted.join('\n')).toContain(first.join('\n'));
    expect(Number.parseInt(first[0]!, 10)).toBeLessThanOrEqual(3);
    follower.close();
    half.close();
  });

  test('ends with invalid_lsn once its next frame was removed', async () => {
    const { log } = await opened(makeMedium());
    const follower = log.follow(1);
    await write(log, numbered(40, 500));
    expect(textsOf(await follower.next(1))).toHaveLength(1);
    await log.truncate(30);
    expect(log.oldestLsn).toBeGreaterThan(2);
    await expect(follower.next(log.durableLsn)).rejects.toMatchObject({ code: 'invalid_lsn' });
    follower.close();
  });
}

function readingMeanwhile(makeMedium: () => LogMedium): void {
  test('ends at the last frame that was durable when it began, even if the log is written meanwhile', async () => {
    const { log } = await opened(makeMedium());
    const wanted = await write(log, numbered(30, 700));
    log.append(1, textFrame('not durable'));
    const found: string[] = [];
    for await (const batch of log.read(1)) {
      found.push(...textsOf(batch));
      await write(log, numbered(3, 700));
    }
    expect(found).toEqual(wanted);
    expect((await framesOf(log)).slice(30, 32)).toEqual(['31+1:not durable', `32+1:${numbered(1, 700)[0]}`]);
  });

  test('returns the same frames to several concurrent readers', async () => {
    const { log } = await opened(makeMedium());
    const wanted = await write(log, numbered(40, 900));
    const found = await Promise.all([framesOf(log), framesOf(log, 20), framesOf(log)]);
    expect(found).toEqual([wanted, wanted.slice(20), wanted]);
  });

  test('keeps the frames still to be read, and releases them when the reader ends or stops early', async () => {
    const { log } = await opened(makeMedium());
    const wanted = await write(log, numbered(60, 700));
    const found: string[] = [];
    for await (const batch of log.read(1)) {
      found.push(...textsOf(batch));
      await log.truncate(60);
      expect(log.oldestLsn).toBe(1);
    }
    expect(found).toEqual(wanted);
    for await (const _ of log.read(1)) break;
    await log.truncate(60);
    expect(log.oldestLsn).toBeGreaterThan(30);
  });
}

function truncation(makeMedium: () => LogMedium): void {
  test('removes old frames but no later ones, and removed ones cannot be read', async () => {
    const medium = makeMedium();
    const { log } = await opened(medium);
    const wanted = await write(log, numbered(60, 700));
    const before = log.sizeBytes;
    await log.truncate(30);
    expect(log.sizeBytes).toBeLessThan(before);
    expect(log.oldestLsn).toBeGreaterThan(1);
    expect(log.oldestLsn).toBeLessThanOrEqual(31);
    expect(await framesOf(log, 30)).toEqual(wanted.slice(30));
    expect(() => log.lease(log.oldestLsn - 1)).toThrow(expect.objectContaining({ code: 'invalid_lsn' }));
    await expect(framesOf(log, 0)).rejects.toMatchObject({ code: 'invalid_lsn' });
    const second = await opened(medium.kill(), { minimumLsn: 30, reachedLsn: 60 });
    expect(await framesOf(second.log, 30)).toEqual(wanted.slice(30));
  });

  test('keeps the newest LSN even if everything is truncated', async () => {
    const medium = makeMedium();
    const { log } = await opened(medium);
    await write(log, numbered(60, 700));
    await log.truncate(60);
    await log.close();
    const second = await opened(medium, { minimumLsn: 60 });
    expect(second.log.headLsn).toBe(60);
    expect(await framesOf(second.log, 60)).toEqual([]);
    expect(await write(second.log, ['next'])).toEqual(['61+1:next']);
  });

  test('keeps leased frames; the lease can be read repeatedly, and contains no later frames', async () => {
    const { log } = await opened(makeMedium());
    const wanted = await write(log, numbered(60, 700), 2);
    const lease = log.lease(20);
    const other = log.lease(1);
    expect([lease.fromLsn, lease.lastLsn]).toEqual([20, 120]);
    await write(log, numbered(20, 700));
    await log.truncate(log.headLsn);
    expect(log.oldestLsn).toBe(1);
    other.release();
    await log.truncate(log.headLsn);
    expect(log.oldestLsn).toBeGreaterThan(1);
    expect(log.oldestLsn).toBeLessThanOrEqual(20);
    for (let time = 0; time < 2; time++) {
      const found: string[] = [];
      for await (const batch of lease.frames()) found.push(...textsOf(batch));
      expect(found).toEqual(wanted.slice(9));
    }
    lease.release();
    lease.release();
    for await (const batch of log.lease(log.headLsn + 1).frames()) expect(batch).toBe('nothing');
    await log.truncate(log.headLsn);
    expect(log.oldestLsn).toBeGreaterThan(120);
  });
}

function openingAndClosing(makeMedium: () => LogMedium): void {
  test('a close makes everything durable, a closed log refuses writes, and a second close has no effect', async () => {
    const medium = makeMedium();
    const { log } = await opened(medium);
    log.append(1, textFrame('a'));
    await log.close();
    await log.close();
    expect(log.durableLsn).toBe(1);
    expect(() => log.append(1, textFrame('b'))).toThrow(expect.objectContaining({ code: 'draining' }));
    await expect(log.makeRoom(1)).rejects.toMatchObject({ code: 'draining' });
    const crashed = medium.crash();
    for (let open = 0; open < 3; open++) {
      const { log: again } = await opened(crashed);
      expect(await framesOf(again)).toEqual(['1+1:a']);
      await again.close();
    }
  });

  test('a log that begins or ends elsewhere than the manifest states is refused as corrupt', async () => {
    const medium = makeMedium();
    const { log } = await opened(medium);
    await write(log, numbered(60, 700));
    await log.truncate(30);
    await log.close();
    for (const more of [{ minimumLsn: 61 }, { minimumLsn: 40, reachedLsn: 61 }, { minimumLsn: 0 }])
      await expect(opened(medium, more)).rejects.toMatchObject({ code: 'corrupt' });
    expect((await opened(medium, { minimumLsn: 30, reachedLsn: 60 })).log.headLsn).toBe(60);
  });
}

function provingManifest(makeMedium: () => LogMedium): void {
  test('a lost manifest is detected if the log has ever had a frame', async () => {
    const medium = makeMedium();
    const first = await opened(medium, { manifest: 'missing' });
    expect(first.log.provesManifest).toBe(false);
    await write(first.log, ['a']);
    expect(first.log.provesManifest).toBe(true);
    await first.log.close();
    await expect(opened(medium, { manifest: 'missing' })).rejects.toMatchObject({ code: 'corrupt' });
    expect((await opened(medium, { manifest: 'present' })).log.provesManifest).toBe(true);
  });
}

function takingOver(makeMedium: () => LogMedium, code: ErrorCode): void {
  test('an open takes the log over: the previous owner notices, and does not write any more', async () => {
    const medium = makeMedium();
    const first = await opened(medium, { owner: 1 });
    await write(first.log, ['a']);
    first.log.assertOwner();
    const second = await opened(medium, { owner: 2 });
    expect(await noticed(first.log)).toMatchObject({ code });
    expect(first.log.failed).toMatchObject({ code });
    expect(first.failures).toEqual([first.log.failed]);
    expect(() => first.log.append(1, textFrame('x'))).toThrow(first.log.failed!);
    await expect(first.log.flush()).rejects.toBe(first.log.failed);
    second.log.assertOwner();
    await write(second.log, ['b']);
    expect(await framesOf(second.log)).toEqual(['1+1:a', '2+1:b']);
    await first.log.close();
    await second.log.close();
  });
}

function failing(makeMedium: () => LogMedium): void {
  test.each([
    ['EIO', 'log_failed'],
    ['ENOSPC', 'disk_full'],
  ] as const)('ends writing (%s): nothing is acknowledged any more, and reads continue', async (fault, code) => {
    const medium = makeMedium();
    const { log, durable, failures } = await opened(medium);
    const wanted = await write(log, numbered(5, 50));
    await medium.failOnce(fault);
    log.append(1, textFrame('lost'));
    await expect(log.flush()).rejects.toMatchObject({ code });
    const error = log.failed!;
    expect([failures, durable.at(-1), log.durableLsn]).toEqual([[error], 5, 5]);
    expect(() => log.append(1, textFrame('refused'))).toThrow(error);
    await expect(log.flush()).rejects.toBe(error);
    await expect(log.makeRoom(1)).rejects.toBe(error);
    expect(() => log.assertOwner()).toThrow(error);
    await expect(log.appendInSlices(1, textFrame('refused'), turn)).rejects.toBe(error);
    for (let time = 0; time < 5; time++) await turn();
    expect([failures.length, durable.at(-1), log.durableLsn]).toEqual([1, 5, 5]);
    expect(await framesOf(log)).toEqual(wanted);
    await log.close();
    // The frame 'lost' may or may not be there. What was acknowledged must be there.
    const second = await opened(medium.kill());
    expect((await framesOf(second.log)).slice(0, 5)).toEqual(wanted);
    expect(second.log.failed).toBe(null);
    await write(second.log, ['next']);
  });
}
