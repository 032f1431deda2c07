// Copies the library of the API page from its package to build/docs-page, so that an installed
// Hedgerow needs neither that package nor a CDN.

import { copyFileSync, mkdirSync, renameSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const FILES = ['swagger-ui-bundle.js', 'swagger-ui.css', 'favicon-32x32.png', 'LICENSE', 'NOTICE'];

const target = new URL('../../build/docs-page/', import.meta.url);
const source = new URL('./', import.meta.resolve('swagger-ui-dist/package.json'));
mkdirSync(target, { recursive: true });
for (const name of FILES) {
  const copy = fileURLToPath(new URL(name, target));
  // The copy is renamed once it is complete, because a running service may read the file meanwhile.
  copyFileSync(fileURLToPath(new URL(name, source)), `${copy}.new`);
  renameSync(`${copy}.new`, copy);
}
