// Builds the core: build/core.wasm (SIMD), build/core.plain.wasm (no SIMD), build/core.debug.wasm
// (assertions, used by tests). The arguments may name targets; then only these are built. A target
// whose sources have not changed is skipped: the digest of the sources is stored next to the
// target. `--force` builds it anyway. With `--check` nothing is built, and the exit code is 1 if
// something would be.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
process.chdir(root);

const outputs = { release: 'build/core.wasm', plain: 'build/core.plain.wasm', debug: 'build/core.debug.wasm' };

/**
 * Returns the digest of everything that a target is built from. Modification times would not be
 * reliable: a copy of the tree has new ones, and a source may change while it is compiled.
 */
function sourceDigest() {
  const digest = createHash('sha256').update(asc.version).update(readFileSync('asconfig.json'));
  const names = readdirSync(here, { recursive: true }).filter((name) => name.endsWith('.ts'));
  for (const name of names.sort()) digest.update(`\n${name}\n`).update(readFileSync(join(here, name)));
  return digest.digest('hex');
}

const digest = sourceDigest();
const named = process.argv.filter((word) => word in outputs);
mkdirSync('build', { recursive: true });
for (const [target, file] of Object.entries(outputs)) {
  if (named.length > 0 && !named.includes(target)) continue;
  const note = `${file}.sources`;
  const fresh = existsSync(file) && existsSync(note) && readFileSync(note, 'utf8') === digest;
  if (fresh && !process.argv.includes('--force')) continue;
  if (process.argv.includes('--check')) process.exit(1);
  rmSync(note, { force: true });
  const { error, stderr } = await asc.main(['--config', 'asconfig.json', '--target', target]);
  if (error) {
    process.stderr.write(`core: ${target} does not compile\n${stderr.toString()}\n`);
    process.exit(1);
  }
  writeFileSync(note, digest);
}
