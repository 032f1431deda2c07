// Tests a manifest that a killed process renamed but did not sync. The next open uses this
// manifest, so a later power loss must not undo the rename.

import { expect, test } from 'vitest';
import { openSim, simDisk, turn } from '../support/sim-engine.ts';
import { fill, range, times } from '../support/sim-tables.ts';

const now = () => 10_000_000;

test('a manifest that an open found renamed but not synced survives a power loss', async () => {
  let renamed = 0;
  for (let seed = 1; seed <= 20; seed++) {
    const fs = simDisk(seed);
    const database = await openSim(fs, { core: 'release', now });
    await fill(database.table(), range(0, 5));
    fs.schedule = ({ kind, path }) => {
      if (kind === 'syncDir' && path === '/db') fs.stop();
      return undefined;
    };
    void database.compact({ table: 'hyperedges', ttlSeconds: 3600 }).catch(() => undefined);
    await fs.whenStopped;
    const afterKill = fs.kill();
    const served = times(await openSim(afterKill, { now }));
    if (served.length === 0) renamed++;
    await turn();
    const afterPowerLoss = afterKill.crash();
    expect(times(await openSim(afterPowerLoss, { now }))).toEqual(served);
  }
  expect(renamed).toBe(20);
});
