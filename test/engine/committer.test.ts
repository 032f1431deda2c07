import { expect, test } from 'vitest';
import { Committer } from '../../src/engine/commit/committer.ts';
import { LsnWaits } from '../../src/engine/commit/lsn-waits.ts';
import { LogMemory } from '../support/memory-log.ts';
import { turn } from '../support/sim-engine.ts';

test('a group that is confirmed again while a large commit is applied does not hold that commit back', async () => {
  const committer = new Committer(new LsnWaits({ nowUs: () => 0, schedule: () => {} }));
  const memory = new LogMemory();
  const ignore = () => {};
  const log = await memory.open({ durability: 'fsync', minimumLsn: 0, onDurable: ignore, onFailed: ignore });
  committer.attach(log, { add: ignore });
  await log.makeRoom(1000);
  log.append(1, []);
  await log.flush();
  committer.onDurable(1);
  let acknowledged = false;
  await committer.alone(async () => {
    await committer.appendInSlices(2, [new Uint8Array(1)], undefined, turn);
    void committer.durable(3).then(() => {
      acknowledged = true;
    });
    await log.flush();
    committer.onDurable(3);
    committer.onDurable(1);
    expect(committer.visibleLsn).toBe(1);
  });
  await turn();
  expect([committer.visibleLsn, acknowledged]).toEqual([3, true]);
});
