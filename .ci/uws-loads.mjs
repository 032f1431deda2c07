// Checks whether this version of Node can load a binary of uWebSockets.js from the packages
// installed in the current directory. If it can, the exit code is 0; otherwise it is 1, and stderr
// gives the reason.

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
    // Both versions of the package use the same binary names, so the version must be compared too.
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
