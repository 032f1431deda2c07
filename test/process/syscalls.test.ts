// Tests system calls that fail or kill the process (a sample of `npm run syscalls`), a full disk (a
// sample of `npm run space`), and scarce memory (a sample of `npm run memory`).

import { existsSync } from 'node:fs';
import { expect, test } from 'vitest';
import { memoryLoop } from './memory-loop.ts';
import { spaceLoop, whyNoDisk } from './space-loop.ts';
import { PHASES, syscallLoop } from './syscall-loop.ts';
import { whyNoTrace } from './traced.ts';

const BUILT = existsSync(new URL('../../dist/main.js', import.meta.url));
const noTrace = whyNoTrace();
const noDisk = whyNoDisk();
for (const why of [noTrace, noDisk]) if (why !== undefined) console.log(`skipped: ${why}`);

test.skipIf(!BUILT || noTrace !== undefined)(
  'a system call that fails or kills leaves nothing lost, duplicated or half applied',
  { timeout: 300_000 },
  async () => {
    const figures = await syscallLoop(PHASES, 15, 60);
    expect(figures.failures).toEqual([]);
    expect(figures.killed).toBeGreaterThan(10);
  },
);

test.skipIf(!BUILT || noDisk !== undefined)(
  'a full disk causes no wrong answer, and work resumes when the disk is enlarged',
  { timeout: 300_000 },
  async () => {
    const figures = await spaceLoop(12, 15);
    expect(figures.failures).toEqual([]);
    expect(figures.full).toBeGreaterThan(2);
  },
);

test.skipIf(!BUILT || process.platform !== 'linux')(
  'every acknowledged row survives a restart after the address space was limited',
  { timeout: 300_000 },
  async () => {
    const figures = await memoryLoop(6, 15);
    expect(figures.failures).toEqual([]);
    expect(figures.refused + figures.closed).toBeGreaterThan(0);
  },
);
