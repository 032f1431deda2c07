// Checks whether a binary of uWebSockets.js loads in this Node, from the packages of the current
// directory. The exit code is 0 if so; otherwise it is 1, and stderr gives the reason.

import { createRequire } from 'node:module';
import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const names = Object.entries({ ...manifest.dependencies, ...manifest.optionalDependencies })
  .filter(([, range]) => range.startsWith('npm:@uwsjs/core@'))
  .map(([name, range]) => ({ name, version: range.split('@').at(-1) }));
const require = createRequire(`${process.cwd()}/package.json`);
const binary = `@uwsjs/${process.platform}-${process.arch}-${process.versions.node.split('.')[0]}`;
const why = names.map(({ name, version }) => {
  try {
    // Both versions use the same names for their binaries.
    const found = createRequire(require.resolve(name))(`${binary}/package.json`).version;
    if (found !== version) return `${name}: ${binary} is ${found}`;
    require(name);
    process.exit(0);
  } catch (error) {
    return `${name}: ${String(error.message).split('\n').at(-1)}`;
  }
});
process.stderr.write(`${why.join('\n')}\n`);
process.exit(1);
