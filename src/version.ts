// The version of the package.

import { readFileSync } from 'node:fs';

/** Read from package.json, which is one folder above both src and dist. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
