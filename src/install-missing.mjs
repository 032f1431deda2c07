// Installs the packages of a workspace when one of them is missing or has another version than in
// package-lock.json: `node src/install-missing.mjs test`. A plain `npm install` skips the
// workspaces (.npmrc), because a service needs neither the tests' packages nor the console's.

import { execSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));
const read = (path) => JSON.parse(readFileSync(join(root, path), 'utf8'));
/** The purpose of each workspace; completes the sentence "installing what ..." on stderr. */
const PURPOSES = { 'src/console': 'the console is built from', test: 'tests, benches and lint need' };

const wanted = process.argv.slice(2).filter((workspace) => !isInstalled(workspace));
if (wanted.length > 0) {
  const what = wanted.map((workspace) => PURPOSES[workspace] ?? workspace).join(', and what ');
  process.stderr.write(`hedgerow: installing what ${what} ...\n`);
  const startedMs = Date.now();
  const named = wanted.map((workspace) => `--workspace ${workspace}`).join(' ');
  // npm's output goes to stderr, because stdout belongs to the command that needs the packages.
  execSync(`npm install --workspaces=true ${named} --include-workspace-root --include=dev --no-audit --no-fund`, {
    cwd: root,
    stdio: ['ignore', 2, 2],
  });
  process.stderr.write(`hedgerow: installed in ${Math.round((Date.now() - startedMs) / 1000)} s\n`);
}

function isInstalled(workspace) {
  const { packages } = read('package-lock.json');
  return Object.keys(read(`${workspace}/package.json`).devDependencies).every((name) => {
    const place = [`${workspace}/node_modules/${name}`, `node_modules/${name}`].find((path) => path in packages);
    const manifest = `${place}/package.json`;
    return place !== undefined && existsSync(join(root, manifest)) && read(manifest).version === packages[place].version;
  });
}
