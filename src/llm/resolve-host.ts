// Asks the system for the addresses of a host name.

import { lookup } from 'node:dns/promises';

/** All addresses of a name, in the order to try them in. Fails when there is none. */
export type ResolveHost = (host: string) => Promise<readonly string[]>;

export const resolveHost: ResolveHost = async (host) => {
  const answers = await lookup(host, { all: true, verbatim: true });
  return answers.map(({ address }) => address);
};
