// Checks the software bill of materials that `npm run sbom` prints.

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));

interface Component {
  name: string;
  version: string;
  purl: string;
}

test('npm run sbom lists the packages that are installed or copied by the build, and none for tests', async () => {
  const { stdout } = await promisify(execFile)('npm', ['run', '--silent', 'sbom'], { cwd: root, maxBuffer: 2 ** 28 });
  const bill = JSON.parse(stdout) as { bomFormat: string; metadata: { component: Component }; components: Component[] };
  expect(bill.bomFormat).toBe('CycloneDX');
  const manifest = JSON.parse(readFileSync(`${root}package.json`, 'utf8'));
  expect(bill.metadata.component).toMatchObject({ name: 'hedgerow', version: manifest.version });
  const names = bill.components.map(({ purl }) =>
    decodeURIComponent(purl.replace(/^pkg:npm\//, '')).replace(/(.)@.*/, '$1'),
  );
  // The real names of the packages, not their aliases.
  const wanted = Object.entries(manifest.dependencies as Record<string, string>).map(
    ([name, range]) => /^npm:(@?[^@]+)@/.exec(range)?.[1] ?? name,
  );
  expect(wanted.filter((name) => !names.includes(name))).toEqual([]);
  for (const copied of ['gpt-tokenizer', 'preact', 'uplot', '@codemirror/view', 'style-mod', 'swagger-ui-dist'])
    expect(names).toContain(copied);
  for (const other of ['vitest', 'typescript', 'better-sqlite3', 'vite']) expect(names).not.toContain(other);
  expect(bill.components.every(({ version }) => /^\d/.test(version))).toBe(true);
});
