// Resolves a host name to addresses through the operating system.

import { lookup } from 'node:dns/promises';

/**
 * Resolves to all addresses of a name, in the order in which to try them. Rejects if there is none.
 */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true });
  return answers.map(({ address }) => address);
};
