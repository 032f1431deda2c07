// Tests that the first failed write or sync ends writing to the log. Nothing later is acknowledged,
// no sync is retried, and a restart finds everything that was promised.

import { expect, test } from 'vitest';
import type { HedgerowError } from '../../src/errors.ts';
import { framesOf, openTestLog, textFrame, turn } from '../support/open-test-log.ts';
import { type Fault, type OperationKind, SimFs } from '../support/sim-fs.ts';

const CASES: { name: string; kind: OperationKind; fault: Fault; code: string }[] = [
  { name: 'a failed write', kind: 'write', fault: { code: 'EIO' }, code: 'log_failed' },
  { name: 'a short write', kind: 'write', fault: { shortBytes: 17 }, code: 'log_failed' },
  { name: 'a failed sync', kind: 'datasync', fault: { code: 'EIO' }, code: 'log_failed' },
  { name: 'a full disk at a write', kind: 'write', fault: { code: 'ENOSPC' }, code: 'disk_full' },
  { name: 'a full disk at a sync', kind: 'datasync', fault: { code: 'ENOSPC' }, code: 'disk_full' },
];

for (const { name, kind, fault, code } of CASES) {
  test(`${name} ends writing to the log`, async () => {
    const fs = new SimFs(3);
    const { log, durable, failures } = await openTestLog(fs, { fileBytes: 2 ** 15 });
    log.append(1, textFrame('kept'));
    await log.flush();
    let faults = 0;
    fs.schedule = (operation) => {
      if (operation.kind !== kind || !operation.path.endsWith('1')) return undefined;
      faults++;
      return fault;
    };
    log.append(1, textFrame('lost'));
    const error = (await log.flush().catch((reason: unknown) => reason)) as HedgerowError;
    expect(error.code).toBe(code);
    expect(error.message).toMatch(/restart/);
    if (kind === 'write' && 'shortBytes' in (fault as object)) expect(error.message).toContain('17 of 48 bytes');
    expect([log.failed, failures, durable, log.durableLsn]).toEqual([error, [error], [1], 1]);
    expect(() => log.append(1, textFrame('refused'))).toThrow(error);
    await expect(log.flush()).rejects.toBe(error);
    await turn();
    expect(faults).toBe(1);
    await log.close();
    expect(fs.openHandles).toBe(0);
    // The frame 'lost' may or may not be there, but 'kept' must be there.
    const found = await framesOf((await openTestLog(fs.kill())).log);
    expect(found[0]).toBe('1+1:kept');
  });
}

test('bytes that a failed sync left in the page cache are rewritten before the next open trusts them', async () => {
  const fs = new SimFs(3);
  const { log } = await openTestLog(fs, { fileBytes: 2 ** 15 });
  log.append(1, textFrame('kept'));
  await log.flush();
  fs.schedule = ({ kind }) => (kind === 'datasync' ? { code: 'EIO' } : undefined);
  log.append(1, textFrame('in the cache only'));
  await expect(log.flush()).rejects.toThrow();
  const killed = fs.kill();
  expect(await framesOf((await openTestLog(killed)).log)).toHaveLength(2);
  expect(await framesOf((await openTestLog(killed.crash())).log)).toHaveLength(2);
  // Without the open in between, the power loss would have destroyed the frame.
  expect(await framesOf((await openTestLog(fs.crash())).log)).toHaveLength(1);
});

test('frames that wait for the failed group are refused with it', async () => {
  const fs = new SimFs(3);
  const { log, durable } = await openTestLog(fs);
  fs.schedule = ({ kind, path }) => {
    if (kind !== 'datasync' || path.endsWith('spare')) return undefined;
    log.append(1, textFrame('waits'));
    return { code: 'EIO' };
  };
  log.append(1, textFrame('fails'));
  await expect(log.flush()).rejects.toThrow('EIO');
  await turn();
  expect(durable).toEqual([]);
});

test('a full disk in the preparation of a spare file is reported only when the spare is needed', async () => {
  const fs = new SimFs(3);
  const { log, failures } = await openTestLog(fs);
  log.append(1, textFrame('a'));
  await log.flush();
  fs.schedule = ({ kind, path }) => (kind === 'write' && path.endsWith('spare') ? { code: 'ENOSPC' } : undefined);
  for (let count = 0; count < 7; count++) {
    log.append(1, textFrame('.'.repeat(500)));
    await log.flush();
  }
  expect(failures).toEqual([]);
  log.append(1, textFrame('.'.repeat(500)));
  await expect(log.flush()).rejects.toMatchObject({ code: 'disk_full' });
  expect(await framesOf((await openTestLog(fs.crash())).log)).toHaveLength(8);
});

test('a spare file that could not be created for a while is created when needed', async () => {
  const fs = new SimFs(3);
  fs.schedule = ({ kind, path }) => (kind === 'write' && path.endsWith('spare') ? { code: 'ENOSPC' } : undefined);
  const { log } = await openTestLog(fs);
  await turn();
  fs.schedule = () => undefined;
  log.append(1, textFrame('a'));
  await log.flush();
  expect(log.durableLsn).toBe(1);
  await log.close();
});

for (const kind of ['write', 'sync', 'rename', 'syncDir'] as const) {
  test(`a failed ${kind} during rotation ends writing to the log and loses nothing`, async () => {
    const fs = new SimFs(4);
    const { log } = await openTestLog(fs);
    log.append(1, textFrame('.'.repeat(3500)));
    await log.flush();
    await turn();
    fs.schedule = (operation) => (operation.kind === kind ? { code: 'EIO' } : undefined);
    log.append(1, textFrame('.'.repeat(3500)));
    await expect(log.flush()).rejects.toMatchObject({ code: 'log_failed' });
    expect(log.durableLsn).toBe(1);
    fs.schedule = () => undefined;
    const killed = fs.kill();
    const second = await openTestLog(killed);
    expect(await framesOf(second.log)).toHaveLength(1);
    second.log.append(1, textFrame('next'));
    await second.log.flush();
    expect((await framesOf((await openTestLog(killed.crash())).log)).at(-1)).toBe('2+1:next');
  });
}
