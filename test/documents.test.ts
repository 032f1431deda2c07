// Checks the documentation: every file and folder that it names exists, and the README stays short.

import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const MOST_README_WORDS = 1000;
const FOLDERS = /^(?:src|assembly|test|bench|\.ci)\/[\w./-]*$/;

const documents = execFileSync('git', ['ls-files', '*.md', '--others', '--cached', '--exclude-standard'], {
  cwd: ROOT,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((path) => existsSync(join(ROOT, path)));

/** Returns relative links, and paths in backquotes that begin with a folder of the repository. */
function namedPaths(document: string): string[] {
  const text = readFileSync(join(ROOT, document), 'utf8').replaceAll(/^```[\s\S]*?^```$/gm, '');
  const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)]
    .map(([, target]) => target!)
    .filter((target) => !/^[a-z]+:/.test(target))
    .map((target) => join(dirname(document), target));
  const quoted = [...text.matchAll(/`([^`\s*]+)`/g)].map(([, path]) => path!).filter((path) => FOLDERS.test(path));
  return [...links, ...quoted];
}

describe('documents', () => {
  it.each(documents)('name files that exist: %s', (document) => {
    expect(namedPaths(document).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });

  it('include a README that can be read within a few minutes', () => {
    const words = readFileSync(join(ROOT, 'README.md'), 'utf8').split(/\s+/).length;
    expect(words).toBeLessThanOrEqual(MOST_README_WORDS);
  });
});
