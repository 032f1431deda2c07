// Checks that an assertion stops at each impossible state of a table and names it.

import { expect, test } from 'vitest';
import type { TableChange } from '../../src/engine/table/table-state.ts';
import { Version } from '../../src/engine/table/version.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

test('an assertion stops segments of a version that are in the wrong order, repeated or overlapping', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  for (const from of [0, 1000]) {
    for (let row = 0; row < 50; row++) await table.insert({ event_ts: from + row, members: [row + 1] });
    await database.compact({});
  }
  // If the table has several segments, two are exchanged; a single one is repeated instead.
  const { segments } = table.version;
  const [first, last] = [segments[0]!, segments[segments.length - 1]!];
  const wrong = segments.length > 1 ? [last, first] : [first, first];
  expect(() => new Version(wrong, [], table.bucketSeconds)).toThrow(
    'assertion: segments of a version are not in order',
  );
  expect(() => new Version([first, first], [], table.bucketSeconds)).toThrow('or overlap');
  await database.close();
});

test.each<[what: string, change: (head: number) => TableChange, text: string]>([
  ['an applied LSN that is too high', (head) => ({ appliedLsn: head + 1 }), 'never given out'],
  ['an applied LSN that decreases', () => ({ appliedLsn: 0 }), 'appliedLsn of a table decreases'],
  ['a segment number that is used again', () => ({ nextSegment: 0 }), 'nextSegment of a table decreases'],
  ['more deletes than pending operations', () => ({ pending: 0, pendingTombstones: 1 }), 'pending operations'],
  ['a negative number of pending operations', () => ({ pending: -1 }), 'pending operations'],
])('an assertion stops %s', async (_, change, text) => {
  const database = await openSim(simDisk());
  const table = database.table();
  await table.insert({ event_ts: 1, members: [1] });
  await database.compact({});
  expect(() => table.change(change(database.lastLsn))).toThrow(text);
  await database.close();
});

test('an assertion stops a count of snapshots that falls below 0', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  const snapshot = table.snapshot();
  snapshot.release();
  // A second release does nothing. If the count fell below 0 nevertheless, an assertion would stop.
  snapshot.release();
  expect(() => table.countSnapshot(-1)).toThrow('released twice');
});

test('an assertion stops a second compaction of a table at the same time, and the return of a dropped table', async () => {
  const database = await openSim(simDisk());
  const table = database.table();
  const compacting = { segments: new Set<never>(), memtables: new Set<never>(), late: [] };
  table.change({ compacting });
  expect(() => table.change({ compacting })).toThrow('compacted twice at once');
  table.change({ compacting: undefined, dropped: true });
  expect(() => table.change({ dropped: false })).toThrow('comes back');
  await database.close();
});

test('an LSN below the visible one makes writes fail, and the row whose frame is in the log is there after a restart', async () => {
  const disk = simDisk();
  const database = await openSim(disk);
  const table = database.table();
  await table.insert({ event_ts: 1, members: [1] });
  const { log } = table.context.committer;
  const append = log.append.bind(log);
  log.append = (...frame) => {
    append(...frame);
    return 1;
  };
  await expect(table.insert({ event_ts: 2, members: [2] })).rejects.toMatchObject({ code: 'log_failed' });
  log.append = append;
  await expect(table.insert({ event_ts: 3, members: [3] })).rejects.toMatchObject({ code: 'log_failed' });
  await database.close().catch(() => undefined);
  const again = await openSim(disk);
  expect(again.table().rowCount).toBe(2);
  await again.close();
});
