// The version of the package.

import { readFileSync } from 'node:fs';

/** src and dist are both next to package.json. */
export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;
