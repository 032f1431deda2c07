// Limits the number of open connections by the process's limit of file descriptors.

import { readFileSync } from 'node:fs';

/**
 * Connections may use three quarters of the descriptors: the log, segments, backups and COPY need
 * the rest. Without a descriptor a write cannot be made durable.
 */
const SHARE_OF_SOCKETS = 0.75;

/**
 * Returns the maximum number of open connections; undefined if the process has no limit of
 * descriptors or the limit is unknown.
 */
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
