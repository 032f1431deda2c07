// Copies the files that counting tokens needs, 2.5 MB of the tokenizer package's 30 MB, to
// build/tokenizer, so that an installed Hedgerow does not depend on the package.
//
// The table of tokens is written as lines of JSON, which can be read in steps. Loading the
// package's own module would block the thread for 0.3 to 0.5 s.

import { copyFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

const require = createRequire(import.meta.url);
const ranks = require.resolve('gpt-tokenizer/bpeRanks/o200k_base');
/** The package's script folder; the table of tokens is one level below. */
const scripts = dirname(dirname(ranks));
const target = fileURLToPath(new URL('../../build/tokenizer/', import.meta.url)).slice(0, -1);
const beside = `${target}.new`;
const TOKENS_A_LINE = 2048;

/**
 * Source of the module build/tokenizer/packed.js. `create` returns a tokenizer without tokens, and
 * `lines` yields the lines of tokens that tokens.ts adds to it. They are decoded one by one, since
 * decoding the whole file takes 10 ms.
 */
const PACKED = `const { readFileSync } = require('node:fs');
const { join } = require('node:path');
const { BytePairEncodingCore } = require('./BytePairEncodingCore.js');
const { O200KBase } = require('./encodingParams/o200k_base.js');
exports.create = () => new BytePairEncodingCore({ ...O200KBase([]), mergeCacheSize: 0 });
exports.lines = function* () {
  const bytes = readFileSync(join(__dirname, 'tokens.ndjson'));
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(10, from);
    const to = end === -1 ? bytes.length : end;
    yield bytes.toString('utf8', from, to);
    from = to + 1;
  }
};
`;

rmSync(beside, { recursive: true, force: true });
require(join(scripts, 'BytePairEncodingCore.js'));
require(join(scripts, 'encodingParams/o200k_base.js'));
for (const path of Object.keys(require.cache)) {
  if (!path.startsWith(scripts + sep)) throw new Error(`${path} is not of the tokenizer: nothing else was to be copied`);
  const copy = join(beside, relative(scripts, path));
  mkdirSync(dirname(copy), { recursive: true });
  copyFileSync(path, copy);
}
writeFileSync(join(beside, 'packed.js'), PACKED);
const tokens = require(ranks).default;
const lines = [];
for (let from = 0; from < tokens.length; from += TOKENS_A_LINE) {
  // Array.from turns holes into undefined, which `includes` below finds.
  const line = Array.from(tokens.slice(from, from + TOKENS_A_LINE));
  if (line.includes(undefined)) throw new Error('a rank without a token: tokens.ts counts them in order');
  lines.push(JSON.stringify(line));
}
writeFileSync(join(beside, 'tokens.ndjson'), lines.join('\n'));
writeFileSync(join(beside, 'package.json'), '{"type":"commonjs"}\n');
copyFileSync(join(scripts, '../LICENSE'), join(beside, 'LICENSE'));
rmSync(target, { recursive: true, force: true });
renameSync(beside, target);
