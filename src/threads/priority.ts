// Lowers the priority of a worker thread, so that long work gets only the processor time that the
// main thread, which answers requests, does not need.

import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';

/**
 * Lowers the priority of the calling thread. Does nothing outside Linux, where a priority belongs
 * to the whole process.
 */
export function lowerPriority(): void {
  try {
    // Links to "<process id>/task/<thread id>".
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    // With 0, setPriority would lower the whole process.
    if (thread > 0 && thread !== process.pid) setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // There is no /proc, or no permission: the thread runs at the normal priority.
  }
}
