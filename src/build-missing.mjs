// Builds the products that are missing or older than their sources: those of `service` (what
// serving needs) or of `pages` (the console and the page at /docs). Prints on stderr what it builds
// and how long that took; prints nothing when everything is up to date.

import { execSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * `product`: a file that the script rewrites each time. `sources`: files and folders below the
 * root; the product is old if one of them is newer. `about`: how long a build takes on two cores.
 * `folder`: the output folder, if it may be built under another name and then renamed.
 */
const PARTS = {
  service: [
    // It has no `sources`: assembly/build.mjs itself checks what has changed, and skips the rest.
    { name: 'the core', about: 'half a minute', script: 'build:core', flags: 'release plain', product: 'build/core.plain.wasm' },
    { name: 'the service', about: '10 seconds', script: 'build:host', product: 'dist/main.js', sources: ['src', 'tsconfig.json'] },
    {
      name: 'the tokenizer',
      about: 'a second',
      script: 'build:tokenizer',
      product: 'build/tokenizer/LICENSE',
      sources: ['src/llm/pack-tokenizer.mjs'],
    },
  ],
  pages: [
    {
      name: 'the page at /docs',
      about: 'a second, and its packages',
      script: 'build:page',
      product: 'build/docs-page/swagger-ui.css',
      sources: ['src/routes/docs-page.mjs'],
    },
    {
      name: 'the console',
      about: 'half a minute',
      script: 'build:console',
      product: 'build/console/index.html',
      sources: ['src/console', 'src/client', 'src/routes', 'src/http'],
      folder: 'build/console',
    },
  ],
};

/**
 * Returns `none` if a product is missing, else `old` if a source is newer than its product, else
 * `new`.
 */
export function stateOf(which) {
  const states = PARTS[which].map(stateOfPart);
  return states.includes('none') ? 'none' : states.includes('old') ? 'old' : 'new';
}

/** Builds the products that are missing or old. Throws when a script fails; it has printed why. */
export function buildMissing(which) {
  const wanted = PARTS[which].filter((part) => stateOfPart(part) !== 'new');
  wanted.forEach(({ name, about, script, flags, folder }, at) => {
    process.stderr.write(`hedgerow: building ${name} (${at + 1} of ${wanted.length}, about ${about}) ...\n`);
    const startedMs = Date.now();
    // The folder is built under another name and then renamed, so that a service that runs
    // meanwhile finds all of its files or none.
    const beside = folder === undefined || existsSync(join(root, folder)) ? undefined : join(root, `${folder}.new`);
    const given = beside === undefined ? flags : `--outDir ${beside}`;
    execSync(`npm run --silent ${script}${given === undefined ? '' : ` -- ${given}`}`, { cwd: root, stdio: 'inherit' });
    if (beside !== undefined) {
      rmSync(join(root, folder), { recursive: true, force: true });
      renameSync(beside, join(root, folder));
    }
    process.stderr.write(`hedgerow: built ${name} in ${Math.max(1, Math.round((Date.now() - startedMs) / 1000))} s\n`);
  });
}

function stateOfPart({ product, sources }) {
  const path = join(root, product);
  if (!existsSync(path)) return 'none';
  if (sources === undefined) return coreIsFresh() ? 'new' : 'old';
  return Math.max(...[...sources, 'package.json'].map(newest)) < statSync(path).mtimeMs ? 'new' : 'old';
}

/** Asks the build of the core, which compares the texts of its sources. */
function coreIsFresh() {
  try {
    execSync('node assembly/build.mjs release plain --check', { cwd: root, stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function newest(path) {
  const found = statSync(join(root, path));
  if (!found.isDirectory()) return found.mtimeMs;
  const names = readdirSync(join(root, path)).filter((name) => name !== 'node_modules');
  return Math.max(0, ...names.map((name) => newest(join(path, name))));
}

if (process.argv[1] === fileURLToPath(import.meta.url)) buildMissing(process.argv[2]);
