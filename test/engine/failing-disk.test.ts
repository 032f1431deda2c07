// Tests compactions on a failing disk. After a failure at any step, either nothing has changed or
// writes are refused until a restart.

import { describe, expect, test } from 'vitest';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError } from '../../src/errors.ts';
import { openSim, rowsOf, simDisk, turn } from '../support/sim-engine.ts';
import type { Fault, Operation, SimFs } from '../support/sim-fs.ts';
import { codeOf, fill, range, segmentFiles, times } from '../support/sim-tables.ts';

describe('a failing disk', () => {
  const FAULTS: Fault[] = [{ code: 'EIO' }, { code: 'ENOSPC' }, { shortBytes: 3 }];

  /**
   * Returns a table with segments, new rows within and after the time range of the segments, and
   * deletions.
   */
  async function prepared(): Promise<{ fs: SimFs; database: Database; rows: unknown[] }> {
    const fs = simDisk();
    const database = await openSim(fs, { memoryBudgetBytes: 1, logFileBytes: 4096 + 1500, core: 'release' });
    const table = database.table();
    await fill(table, range(0, 40));
    await database.compact({});
    await fill(table, [3, 4, 21, ...range(40, 55)]);
    await table.delete(21, [0, 121]);
    await table.delete(39, [4, 139]);
    return { fs, database, rows: rowsOf(table) };
  }

  async function operationsOfCompaction(): Promise<Operation[]> {
    const { fs, database } = await prepared();
    const seen: Operation[] = [];
    fs.schedule = (operation) => void seen.push(operation);
    await database.compact({});
    return seen;
  }

  test('changes nothing or stops writes until a restart, at any step, with no wrong answer and no lost row', async () => {
    const operations = await operationsOfCompaction();
    expect(new Set(operations.map(({ kind }) => kind))).toEqual(
      new Set(['open', 'read', 'write', 'sync', 'syncDir', 'rename', 'remove']),
    );
    const outcomes: Record<string, number> = {};
    for (let step = 0; step < operations.length; step++) {
      for (const fault of FAULTS) {
        if (typeof fault === 'object' && 'shortBytes' in fault && operations[step]!.kind !== 'write') continue;
        const outcome = await failAt(step, fault).catch((error: Error) => {
          throw new Error(
            `step ${step}, ${operations[step]!.kind} ${operations[step]!.path}, ${JSON.stringify(fault)}: ${error.message}`,
            { cause: error },
          );
        });
        outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      }
    }
    expect(Object.keys(outcomes).sort()).toEqual([
      'corrupt until the restart',
      'done all the same',
      'nothing changed',
      'refused: disk_full',
      'refused: log_failed',
    ]);
  });

  async function failAt(step: number, fault: Fault): Promise<string> {
    const { fs, database, rows } = await prepared();
    const at = fs.operations + 1 + step;
    fs.schedule = (operation) => (operation.index === at ? fault : undefined);
    const failure = await database.compact({}).then(
      () => undefined,
      (error: Error) => error,
    );
    fs.schedule = () => undefined;
    const table = database.table();
    if (table.corrupt !== null) {
      // If a filter cannot be read back after everything is installed, the compaction is not
      // undone.
      if (failure !== undefined) expect(failure).toMatchObject({ code: 'table_corrupt' });
      expect(await codeOf(table.insert({ event_ts: 1, members: [1] }))).toBe('table_corrupt');
      await reopened(fs, rows, 0);
      return 'corrupt until the restart';
    }
    expect(rowsOf(table)).toEqual(rows);
    const insert = table.insert({ event_ts: 1000, members: [1] });
    if (database.health().log_failed === null) {
      await insert;
      expect(table.version.memtables.length).toBeLessThan(4);
      await database.compact({});
      expect(rowsOf(table).length).toBe(rows.length + 1);
      await reopened(fs, rows, 1);
      return failure === undefined ? 'done all the same' : 'nothing changed';
    }
    expect(failure).toBeInstanceOf(HedgerowError);
    const code = (failure as HedgerowError).code;
    expect(await codeOf(insert)).toBe(code);
    expect(await codeOf(database.compact({}))).toBe(code);
    expect(rowsOf(table)).toEqual(rows);
    await reopened(fs, rows, 0);
    return `refused: ${code}`;
  }

  /**
   * Checks that after a power loss all rows are there, no unknown file is left, and compaction
   * works.
   */
  async function reopened(fs: SimFs, rows: unknown[], more: number): Promise<void> {
    const disk = fs.crash();
    const database = await openSim(disk, { core: 'release' });
    const found = rowsOf(database.table());
    expect(found.slice(0, rows.length)).toEqual(rows);
    expect(found).toHaveLength(rows.length + more);
    expect(segmentFiles(disk)).toHaveLength(database.table().version.segments.length);
    await database.compact({});
    await turn();
    expect(rowsOf(database.table())).toHaveLength(rows.length + more);
    expect(segmentFiles(disk)).toHaveLength(database.table().version.segments.length);
    await database.close();
    expect(disk.openHandles).toBe(0);
  }

  test('leaves no half-written segments when it is full', async () => {
    const { fs, database } = await prepared();
    const before = segmentFiles(fs);
    let writes = 0;
    fs.schedule = (operation) =>
      operation.kind === 'write' && operation.path.includes('/tables/') && ++writes > 2
        ? { code: 'ENOSPC' }
        : undefined;
    expect(await codeOf(database.compact({}))).toBe('disk_full');
    expect(writes).toBe(3);
    expect(segmentFiles(fs)).toEqual(before);
  });

  test('does not make memtables pile up when compactions in the background fail repeatedly', async () => {
    const fs = simDisk();
    const notices: string[] = [];
    const database = await openSim(fs, { notice: (message) => void notices.push(message) });
    await database.setCompactThreshold(4);
    fs.schedule = (operation) =>
      operation.kind === 'write' && operation.path.includes('/tables/') ? { code: 'ENOSPC' } : undefined;
    for (const time of range(0, 200)) {
      await database.table().insert({ event_ts: time, members: [time] });
      await turn();
    }
    expect(notices.length).toBeGreaterThan(2);
    expect(database.table().version.memtables.length).toBeLessThan(12);
    fs.schedule = () => undefined;
    for (const time of range(200, 520)) await database.table().insert({ event_ts: time, members: [time] });
    await database.close();
    const again = await openSim(fs);
    expect(again.table().version.segments.length).toBeGreaterThan(0);
    expect(times(again)).toEqual(range(0, 520));
  });

  test('leaves no trace of a write refused after a failed manifest, also after a restart', async () => {
    const { fs, database, rows } = await prepared();
    const acknowledged = database.table().insert({ event_ts: 1000, members: [1] });
    fs.schedule = (operation) => (operation.kind === 'rename' ? { code: 'EIO' } : undefined);
    expect(await codeOf(database.compact({}))).toBe('log_failed');
    await acknowledged;
    expect(await codeOf(database.table().insert({ event_ts: 1001, members: [1] }))).toBe('log_failed');
    expect(await codeOf(database.table().delete(1000, [1]))).toBe('log_failed');
    const transaction = database.begin();
    transaction.insert(database.table(), { event_ts: 1002, members: [1] });
    expect(await codeOf(transaction.commit())).toBe('log_failed');
    fs.schedule = () => undefined;
    await turn();
    expect(rowsOf(database.table())).toHaveLength(rows.length + 1);
    await database.close();
    expect(rowsOf((await openSim(fs)).table())).toHaveLength(rows.length + 1);
  });
});

test('a disk that is full at the start is reported with what to do', async () => {
  for (const kind of ['open', 'write', 'sync'] as const) {
    const fs = simDisk();
    fs.schedule = (operation) => (operation.kind === kind ? { code: 'ENOSPC' } : undefined);
    await expect(openSim(fs)).rejects.toMatchObject({
      code: 'disk_full',
      message: expect.stringMatching(/\/db.*(Free|free)/),
    });
    fs.schedule = () => undefined;
    await (await openSim(fs)).close();
  }
});
