import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { SLOW_STEPS } from '../../src/schedule/scheduler.ts';
import { slowStepsLine } from '../slow-steps.ts';

test('slow steps are summarised by kind', () => {
  expect(slowStepsLine('commit 21.4\nstatement 30\nstatement 44.6\n')).toBe(
    'steps over 20 ms, with the longest of each kind: statement 2 (45 ms), commit 1 (21 ms)',
  );
  expect(slowStepsLine('')).toBe('steps over 20 ms, with the longest of each kind: none');
});

test('a process that loads the watch records the slow steps that are published', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-slow-steps-'));
  try {
    const file = join(dir, 'steps');
    const watch = fileURLToPath(new URL('../support/watch-slow-steps.mjs', import.meta.url));
    const publish = `
      const { channel } = require('node:diagnostics_channel');
      channel('${SLOW_STEPS}').publish({ kind: 'commit', tookMs: 30 });
      process.kill(process.pid, 'SIGKILL');`;
    const env = { ...process.env, HEDGEROW_TEST_SLOW_STEPS: file, NODE_OPTIONS: `--import=${watch}` };
    spawnSync(process.execPath, ['-e', publish], { env });
    expect(readFileSync(file, 'utf8')).toBe('commit 30\n');
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
