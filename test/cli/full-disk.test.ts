// Commands whose output runs out of space print a sentence with advice, never a stack trace.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, openSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { reportFailure } from '../../src/cli/world.ts';
import { MAIN } from '../service/child.ts';
import { TestWorld } from './support.ts';

test
  .skipIf(!existsSync('/dev/full'))
  .each([
    [['--help']],
    [['inspect', 'DIR']],
    [['query', '--data', 'DIR', 'MATCH (e:hyperedges) RETURN COUNT(*)']],
    [['export', '--data', 'DIR', '--table', 'hyperedges']],
  ])('%j on a full disk prints one sentence with advice', (words) => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-full-'));
  try {
    const made = spawnSync(process.execPath, [
      MAIN,
      'query',
      '--data',
      dir,
      'INSERT INTO hyperedges (event_ts, members) VALUES (1, [1, 2])',
    ]);
    expect(made.status, String(made.stderr)).toBe(0);
    const { status, stderr } = spawnSync(
      process.execPath,
      [MAIN, ...words.map((word) => (word === 'DIR' ? dir : word))],
      { stdio: ['ignore', openSync('/dev/full', 'w'), 'pipe'] },
    );
    expect([status, String(stderr)]).toEqual([1, expect.stringMatching(/no room on the disk\. Free some space/)]);
    expect(String(stderr)).not.toMatch(/^\s+at /m);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});

test('a failed system call is reported as a sentence with the file', () => {
  const world = new TestWorld();
  const error = Object.assign(new Error('ENOSPC: no space left on device, write'), {
    code: 'ENOSPC',
    syscall: 'write',
    path: '/x/y',
  });
  expect(reportFailure(world, error)).toBe(1);
  expect(world.err).toMatch(/^hedgerow: \/x\/y could not be written .*ENOSPC.*Free some space/);
  world.remove();
});
