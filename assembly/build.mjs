// Builds the core: build/core.wasm (SIMD), build/core.plain.wasm (no SIMD), build/core.debug.wasm (asserts, used by tests).
// A target that is newer than every source file is left alone; `--force` builds all three.
import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';

const here = dirname(fileURLToPath(import.meta.url));
const root = dirname(here);
process.chdir(root);

const outputs = { release: 'build/core.wasm', plain: 'build/core.plain.wasm', debug: 'build/core.debug.wasm' };
const newestSource = Math.max(
  statSync('asconfig.json').mtimeMs,
  ...readdirSync(here, { recursive: true })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => statSync(join(here, name)).mtimeMs),
);
mkdirSync('build', { recursive: true });
for (const [target, file] of Object.entries(outputs)) {
  const fresh = existsSync(file) && statSync(file).mtimeMs >= newestSource;
  if (fresh && !process.argv.includes('--force')) continue;
  const { error, stderr } = await asc.main(['--config', 'asconfig.json', '--target', target]);
  if (error) {
    process.stderr.write(`core: ${target} does not compile\n${stderr.toString()}\n`);
    process.exit(1);
  }
}
