// Tests automatic compactions: which tables are checked, and when.

import { expect, test } from 'vitest';
import { CompactionTrigger } from '../../src/engine/compaction/trigger.ts';
import type { Table } from '../../src/engine/index.ts';
import { openSim, simDisk, turn } from '../support/sim-engine.ts';
import { range } from '../support/sim-tables.ts';

test('a table whose oldest memtable begins far below the newest LSN is compacted, and others are not', async () => {
  const database = await openSim(simDisk(), { core: 'release' });
  const old = await database.createTable({ name: 'old' });
  const young = await database.createTable({ name: 'young' });
  await old.insert({ event_ts: 1, members: [1] });
  for (const time of range(0, 100)) await young.insert({ event_ts: time, members: [1] });
  const compacted: string[] = [];
  const trigger = new CompactionTrigger({
    memoryBudgetBytes: 2 ** 40,
    tables: () => database.tables(),
    memtableBytes: () => 0,
    headLsn: () => database.headLsn,
    oldestLsns: 101,
    lsnsALook: 50,
    compact: async (table) => void compacted.push(table.name),
    notice: () => {},
  });
  for (const _commit of range(0, 32)) trigger.committed(young);
  await turn();
  expect(compacted).toEqual(['old']);
  for (const _commit of range(0, 320)) trigger.committed(young);
  await turn();
  expect(compacted).toEqual(['old']);
  await database.close();
});

test('commits inspect tables only when the core instances that hold memtables exceed their limit', async () => {
  const looks = new Map<Table, number>();
  const table = (bytes: number): Table => {
    const made = {
      definition: { compactThreshold: 0 },
      ...{ pending: 1, retryPending: 0, corrupt: null, name: `${bytes}`, version: { memtables: [] } },
      get memtableBytes() {
        looks.set(this as unknown as Table, (looks.get(this as unknown as Table) ?? 0) + 1);
        return bytes;
      },
    };
    return made as unknown as Table;
  };
  const tables = range(0, 1000).map((each) => table(10_000 + each));
  const compacted: string[] = [];
  let bytes = 10_000_000;
  const trigger = new CompactionTrigger({
    memoryBudgetBytes: 2 ** 26,
    tables: () => tables,
    memtableBytes: () => bytes,
    headLsn: () => 5,
    compact: async (each) => void compacted.push(each.name),
    notice: () => {},
  });
  for (const _commit of range(0, 3200)) trigger.committed(tables[7]!);
  expect([...looks.keys()]).toEqual([]);
  const large = table(2 ** 26);
  tables.push(large);
  bytes = 2 ** 26;
  for (const _commit of range(0, 32)) trigger.committed(large);
  await turn();
  expect(compacted).toEqual([large.name]);
});
