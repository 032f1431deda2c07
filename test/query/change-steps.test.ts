// Tests that UPDATE and DELETE run for some time in each of their turns, as reads do: their own
// steps may be so short that they would fall behind the reads beside them.

import { expect, it } from 'vitest';
import { Statements } from '../../src/query/statements.ts';
import type { RunSteps } from '../../src/schedule/scheduler.ts';
import { nodeFs } from '../../src/storage/node-fs.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { runDoor } from './door.ts';

it.each([
  ['UPDATE', 'UPDATE t SET n = n + 1'],
  ['DELETE', 'DELETE FROM t WHERE n >= 0'],
])('%s has fewer turns the faster its steps are', async (_, statement) => {
  const turns: number[] = [];
  for (const tickUs of [1, 3000]) {
    let us = 0;
    const database = await openSim(simDisk(), { core: 'release' });
    await database.createTable({ name: 't', columns: [{ name: 'n', type: 'INTEGER' }] });
    const bulk = database.table('t').bulk();
    for (let row = 0; row < 20_000; row++) bulk.add({ event_ts: row, members: [1], properties: { n: row } });
    await bulk.commit();
    const statements = new Statements({
      database,
      now: () => 0,
      nowUs: () => (us += tickUs),
      newId: () => 'id',
      transactionIdleSeconds: 30,
      copyRoot: undefined,
      fs: nodeFs,
    });
    let count = 0;
    const counting: RunSteps = async (step) => {
      do {
        count++;
        await null;
      } while (step());
    };
    const { rows } = await runDoor(statements, statement, {}, 'test', counting);
    expect(rows[0].rows_affected).toBe(20_000);
    turns.push(count);
    await database.close();
  }
  expect(turns[0]).toBeLessThan(5);
  expect(turns[1]).toBeGreaterThan(20);
});
