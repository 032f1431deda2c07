// Checks that the first example in assembly/README.md prints what its last comment promises.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';

it('the first example in README.md runs as printed', () => {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const readme = readFileSync(join(root, 'assembly/README.md'), 'utf8');
  const program = /```js\n(.*?)```/s.exec(readme)![1]!;
  const promised = /console\.log\(.*\/\/ (.*)\n/.exec(program)![1]!;
  const folder = mkdtempSync(join(tmpdir(), 'hedgerow-readme-'));
  try {
    writeFileSync(join(folder, 'first-use.mjs'), program);
    const output = execFileSync(process.execPath, [join(folder, 'first-use.mjs')], { cwd: root, encoding: 'utf8' });
    expect(output.trim()).toBe(promised);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
