// Implements `npm run sbom`: prints the parts of an installed Hedgerow as CycloneDX JSON. These are
// the packages that are installed with it, and those whose code the build copies into its files.

import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const { packages } = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** The packages whose code is copied into build/tokenizer, build/docs-page and build/console. */
const COPIED = ['gpt-tokenizer', 'swagger-ui-dist', '@codemirror/autocomplete', '@codemirror/commands', '@codemirror/state', '@codemirror/view'];
COPIED.push('@preact/signals', 'papaparse', 'preact', 'uplot');

const npm = process.platform === 'win32' ? 'npm.cmd' : 'npm';
const bill = JSON.parse(
  execFileSync(npm, ['sbom', '--omit', 'dev', '--sbom-format', 'cyclonedx'], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  }),
);
// npm names the component after the folder of the checkout.
bill.metadata.component.name = 'hedgerow';
const known = new Set(bill.components.map(({ name, group }) => (group === undefined ? name : `${group}/${name}`)));
for (const name of withDependencies(COPIED)) {
  if (known.has(name)) continue;
  const { version: copied, license, integrity } = packages[`node_modules/${name}`];
  bill.components.push({
    'bom-ref': `${name}@${copied}`,
    type: 'library',
    name,
    version: copied,
    scope: 'required',
    purl: `pkg:npm/${name.replace('@', '%40')}@${copied}`,
    properties: [{ name: 'hedgerow:copied', value: `into the build of hedgerow@${version}` }],
    ...(integrity === undefined
      ? {}
      : { hashes: [{ alg: 'SHA-512', content: Buffer.from(integrity.replace(/^sha512-/, ''), 'base64').toString('hex') }] }),
    ...(license === undefined ? {} : { licenses: [{ license: { id: license } }] }),
  });
}
process.stdout.write(`${JSON.stringify(bill, null, 2)}\n`);

function withDependencies(names, found = new Set()) {
  for (const name of names) {
    if (found.has(name)) continue;
    found.add(name);
    withDependencies(Object.keys(packages[`node_modules/${name}`].dependencies ?? {}), found);
  }
  return found;
}
