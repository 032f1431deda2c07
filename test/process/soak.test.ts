// Tests in a soak of 20 seconds that no request fails and that nothing grows after warm-up. The
// long form is `npm run soak`.

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { soak } from './soak-run.ts';
import { fitted, metric } from './soak-samples.ts';

const BUILT = existsSync(new URL('../../dist/main.js', import.meta.url));

test.skipIf(!BUILT)(
  'the service answers a mixed load for 20 seconds without growing',
  { timeout: 300_000 },
  async () => {
    const directory = mkdtempSync(join(tmpdir(), 'hedgerow-soak-'));
    const { failures, verdicts, requests, report } = await soak(20, 15, directory);
    expect(failures).toEqual([]);
    expect(verdicts.filter(({ flat }) => !flat)).toEqual([]);
    expect(requests).toBeGreaterThan(100);
    expect(existsSync(report)).toBe(true);
    rmSync(directory, { recursive: true });
  },
);

test('a line fitted to samples on a line passes through the samples', () => {
  const { first, last } = fitted([0, 1, 2, 3].map((x) => ({ x, y: 5 + 2 * x })));
  expect([first, last]).toEqual([5, 11]);
});

test('a metric is summed over its labels', () => {
  expect(metric('# HELP a b\na{x="1"} 2\na{x="2"} 3.5\nab 9\n', 'a')).toBe(5.5);
});
