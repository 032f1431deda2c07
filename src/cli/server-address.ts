// Where a server is, as flags name it.

import { UsageError } from './world.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8000';

/** Without a slash at its end. Throws UsageError. */
export function urlOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(`--url is ${JSON.stringify(text)}, but it takes an address such as ${DEFAULT_URL}.`);
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}
