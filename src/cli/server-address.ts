// Parses the address of a server that a flag gives.

import { UsageError } from './world.ts';

export const DEFAULT_URL = 'http://127.0.0.1:8000';

/** Returns the address without a slash at its end; `host:port` means http. Throws UsageError. */
export function urlOf(text: string): string {
  const full = withScheme(text);
  const url = URL.canParse(full) ? new URL(full) : undefined;
  if (url === undefined || !['http:', 'https:'].includes(url.protocol)) {
    throw new UsageError(
      `--url is ${JSON.stringify(text)}, but it takes an address such as ${DEFAULT_URL} or localhost:8000.`,
    );
  }
  return url.origin + url.pathname.replace(/\/+$/, '');
}

/**
 * Adds `http://` to an address such as `localhost:8000`. URL would accept that text too, but with
 * `localhost:` as the scheme.
 */
function withScheme(text: string): string {
  const isHostAndPort = /^([^\s:/?#@[\]]+|\[[0-9a-f:.]+\]):\d+(\/|$)/i.test(text);
  return isHostAndPort ? `http://${text}` : text;
}
