// Builds what is missing or older than what it is made of, for `npm start`: says on stderr what it builds, and nothing when all is there.

import { execSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** `product`: a file that the script writes anew each time. `sources`: files and folders below the root. */
const PARTS = [
  { name: 'the service', script: 'build:host', product: 'dist/main.js', sources: ['src', 'tsconfig.json'] },
  {
    name: 'the page at /docs',
    script: 'build:page',
    product: 'build/docs-page/swagger-ui.css',
    sources: ['src/routes/docs-page.mjs'],
  },
  {
    name: 'the console',
    script: 'build:console',
    product: 'build/console/index.html',
    sources: ['src/console', 'src/client', 'src/routes', 'src/http'],
  },
];

function newest(path) {
  const found = statSync(join(root, path));
  if (!found.isDirectory()) return found.mtimeMs;
  return Math.max(0, ...readdirSync(join(root, path)).map((name) => newest(join(path, name))));
}

// Knows by itself what it is made of; the first time it takes half a minute.
if (!existsSync(join(root, 'build/core.wasm'))) process.stderr.write('hedgerow: building the core ...\n');
build('build:core');
for (const { name, script, product, sources } of PARTS) {
  const path = join(root, product);
  const madeMs = existsSync(path) ? statSync(path).mtimeMs : 0;
  if (Math.max(...[...sources, 'package.json'].map(newest)) < madeMs) continue;
  process.stderr.write(`hedgerow: building ${name} ...\n`);
  build(script);
}

function build(script) {
  execSync(`npm run --silent ${script}`, { cwd: root, stdio: 'inherit' });
}
