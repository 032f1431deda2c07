// How many file descriptors the process may have, and how many of them connections may take.

import { readFileSync } from 'node:fs';

/** Of four descriptors connections take three at most: the log, segments, backups and COPY need the rest. Without one a write cannot be kept. */
const SHARE_OF_SOCKETS = 0.75;

/** Connections that may be open at a time; undefined: the limit of descriptors is not known, or there is none. */
export function mostConnections(readLimits = () => readFileSync('/proc/self/limits', 'latin1')): number | undefined {
  let text: string;
  try {
    text = readLimits();
  } catch {
    return undefined;
  }
  const most = Number(/^Max open files\s+(\d+)/m.exec(text)?.[1]);
  return most > 0 ? Math.floor(most * SHARE_OF_SOCKETS) : undefined;
}
