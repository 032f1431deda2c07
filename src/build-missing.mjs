// Builds what is missing or older than what it is made of: `service` (what serving needs) or
// `pages` (the console and the page at /docs). Says on stderr what it builds and how long that
// took, and nothing when all is there.

import { execSync } from 'node:child_process';
import { existsSync, readdirSync, renameSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/**
 * `product`: a file that the script writes anew each time. `sources`: files and folders below the
 * root. `about`: how long it takes on two cores.
 */
const PARTS = {
  service: [
    // Knows by itself what it is made of, and asks for nothing that is there.
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

/** `none`: there is nothing; `old`: something it is made of is newer; `new`. */
export function stateOf(which) {
  const states = PARTS[which].map(stateOfPart);
  return states.includes('none') ? 'none' : states.includes('old') ? 'old' : 'new';
}

/** Throws when a script fails; it has said why. */
export function buildMissing(which) {
  const wanted = PARTS[which].filter((part) => stateOfPart(part) !== 'new');
  wanted.forEach(({ name, about, script, flags, folder }, at) => {
    process.stderr.write(`hedgerow: building ${name} (${at + 1} of ${wanted.length}, about ${about}) ...\n`);
    const startedMs = Date.now();
    // Made beside and renamed: a service that runs meanwhile finds all of it or nothing.
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

/** Asks the build itself, which compares texts. */
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
