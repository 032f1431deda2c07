// Tests a log that is a copy of another one: it syncs no group, and after a crash it has the first
// frames of what it had, or says that it is damaged.

import { expect, test } from 'vitest';
import { HedgerowError } from '../../src/errors.ts';
import { framesOf, openTestLog, textFrame } from '../support/open-test-log.ts';
import { Random } from '../support/random.ts';
import { SimFs } from '../support/sim-fs.ts';

test('a group of a copy is durable for its readers once it is written, without a sync', async () => {
  const fs = new SimFs(1);
  const { log, durable } = await openTestLog(fs, { fileBytes: 2 ** 16, isCopy: true });
  log.append(1, textFrame('first'));
  await log.flush();
  const before = { ...fs.counts };
  for (const few of [1, 5, 40]) {
    for (let count = 0; count < few; count++) log.append(1, textFrame(`${few}`));
    await log.flush();
  }
  expect(fs.counts.write - before.write).toBe(3);
  expect(fs.counts.datasync - before.datasync).toBe(0);
  expect(durable).toEqual([1, 2, 7, 47]);
  expect(log.durableLsn).toBe(47);
  expect(await framesOf(log)).toHaveLength(47);
  await log.close();
});

test('after a kill a copy has all frames, and after a crash the first ones, or it is corrupt', async () => {
  const seen = { whole: 0, less: 0, corrupt: 0 };
  for (let seed = 0; seed < 300; seed++) {
    const random = new Random(seed);
    const fs = new SimFs(seed);
    const { log } = await openTestLog(fs, { isCopy: true });
    const frames: string[] = [];
    for (let group = random.below(12); group >= 0; group--) {
      for (let count = random.below(20); count >= 0; count--) {
        const text = 'x'.repeat(random.below(300));
        frames.push(`${log.append(1, textFrame(text))}+1:${text}`);
      }
      await log.flush();
    }
    const killed = await openTestLog(fs.kill(), { isCopy: true });
    expect(await framesOf(killed.log)).toEqual(frames);
    await killed.log.close();
    let found: string[];
    try {
      const { log: crashed } = await openTestLog(fs.crash(), { isCopy: true });
      found = await framesOf(crashed);
      await crashed.close();
    } catch (error) {
      expect(error).toBeInstanceOf(HedgerowError);
      expect(error).toMatchObject({ code: 'corrupt' });
      seen.corrupt++;
      continue;
    }
    expect(found).toEqual(frames.slice(0, found.length));
    if (found.length === frames.length) seen.whole++;
    else seen.less++;
  }
  for (const times of Object.values(seen)) expect(times).toBeGreaterThan(5);
});
