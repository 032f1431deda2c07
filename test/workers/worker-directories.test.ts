// The directories of workers that there are no more are removed, and nothing else.

import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { directoryOf, removeOthers } from '../../src/workers/worker-directories.ts';

test('only directories of workers are removed', () => {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-workers-'));
  try {
    removeOthers(dir, 2);
    for (const name of ['1', '2', '3', '12', '0', '03', 'mine', '3.csv'])
      mkdirSync(`${dir}/workers/${name}`, { recursive: true });
    removeOthers(dir, 2);
    expect(readdirSync(`${dir}/workers`).sort()).toEqual(['0', '03', '1', '2', '3.csv', 'mine']);
    expect(directoryOf(dir, 2)).toBe(`${dir}/workers/2`);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
