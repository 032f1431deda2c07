// Copies the part of the tokenizer package that counting needs to build/tokenizer: 2.5 of 30 MB, so
// that an installed Hedgerow does not depend on the package.

import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const entry = require.resolve('gpt-tokenizer/encoding/o200k_base');
/** The package's script folder; the encoding is one level below. */
const scripts = dirname(dirname(entry));
const target = fileURLToPath(new URL('../../build/tokenizer/', import.meta.url)).slice(0, -1);
const beside = `${target}.new`;

rmSync(beside, { recursive: true, force: true });
require(entry);
for (const path of Object.keys(require.cache)) {
  if (!path.startsWith(scripts + sep)) throw new Error(`${path} is not of the tokenizer: nothing else was to be copied`);
  const copy = join(beside, relative(scripts, path));
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(path, copy);
}
writeFileSync(join(beside, 'package.json'), '{"type":"commonjs"}\n');
copyFileSync(join(scripts, '../LICENSE'), join(beside, 'LICENSE'));
rmSync(target, { recursive: true, force: true });
renameSync(beside, target);
