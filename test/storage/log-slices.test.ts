// Tests frames that are built in slices. Such a frame has the same bytes as one built in one piece
// and follows the frames queued before it, or it is not in the log at all.

import { expect, test } from 'vitest';
import { framesOf, openTestLog, textFrame, turn } from '../support/open-test-log.ts';
import { SimFs } from '../support/sim-fs.ts';

const LARGE = 3 * 2 ** 20 + 5;

function parts(bytes: number): Uint8Array[] {
  const all = Uint8Array.from({ length: bytes }, (_, index) => (index * 7919) % 251);
  return [all.subarray(0, 10), all.subarray(10, 11), all.subarray(11, bytes - 3), all.subarray(bytes - 3)];
}

test.each([20, 8 * 1024, LARGE])(
  'a frame of %i bytes built in slices is the same as one built in one piece',
  async (bytes) => {
    const files = async (inSlices: boolean) => {
      const fs = new SimFs(1);
      const { log, durable } = await openTestLog(fs);
      log.append(1, textFrame('before'));
      await log.flush();
      let pauses = 0;
      const pause = () => {
        pauses++;
        return turn();
      };
      const lsn = inSlices ? await log.appendInSlices(3, parts(bytes), pause) : log.append(3, parts(bytes));
      expect(lsn).toBe(2);
      log.append(1, textFrame('after'));
      await log.close();
      expect(durable.at(-1)).toBe(5);
      if (inSlices) expect(pauses).toBeGreaterThanOrEqual(Math.floor(bytes / 2 ** 20));
      return await framesOf((await openTestLog(fs)).log);
    };
    expect(await files(true)).toEqual(await files(false));
  },
);

test('queued frames are written before a frame that is built in slices', async () => {
  const fs = new SimFs(1);
  const { log, durable } = await openTestLog(fs);
  log.append(1, textFrame('a'));
  log.append(1, textFrame('b'));
  expect(await log.appendInSlices(1, textFrame('c'), turn)).toBe(3);
  log.append(1, textFrame('d'));
  await log.flush();
  expect(durable.at(-1)).toBe(4);
  await log.close();
  expect(await framesOf((await openTestLog(fs.crash())).log)).toEqual(['1+1:a', '2+1:b', '3+1:c', '4+1:d']);
});

test('nothing is queued if the log fails, closes or gets another frame during the slices', async () => {
  const fs = new SimFs(1);
  const { log } = await openTestLog(fs);
  const meddled = log.appendInSlices(1, parts(LARGE), turn);
  await turn();
  log.append(1, textFrame('x'));
  await expect(meddled).rejects.toThrow('while a frame was made in slices');
  const late = log.appendInSlices(1, parts(LARGE), turn);
  const refused = expect(late).rejects.toMatchObject({ code: 'draining' });
  await turn();
  await log.close();
  await refused;
  const second = await openTestLog(fs);
  expect(await framesOf(second.log)).toEqual(['1+1:x']);
  fs.schedule = ({ kind }) => (kind === 'datasync' ? { code: 'EIO' } : undefined);
  second.log.append(1, textFrame('y'));
  await expect(second.log.appendInSlices(1, parts(LARGE), turn)).rejects.toMatchObject({ code: 'log_failed' });
});

test('a frame above the limit is refused before anything is built', async () => {
  const { log } = await openTestLog(new SimFs(1));
  const huge = new Array<Uint8Array>(1025).fill(new Uint8Array(2 ** 20));
  await expect(log.appendInSlices(1, huge, turn)).rejects.toMatchObject({ code: 'body_too_large' });
  expect(log.headLsn).toBe(0);
  await log.close();
});
