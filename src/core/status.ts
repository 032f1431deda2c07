// Status codes of the core, and their conversion to errors.

import { HedgerowError } from '../errors.ts';

export const STATUS = {
  badArgument: -1,
  tooSmall: -2,
  outOfMemory: -3,
  corrupt: -4,
  tooManyMembers: -5,
  emptyMembers: -6,
  badInteger: -7,
  unsupported: -8,
  exhausted: -9,
} as const;

/**
 * Converts a negative status to an error with a message for people. If only a bug can cause the
 * error, the message contains `where`, the name of the export.
 */
export function coreError(status: number, where: string): HedgerowError {
  if (status === STATUS.outOfMemory) {
    return new HedgerowError('overloaded', 'The core ran out of memory. Try again later or compact the table.');
  }
  if (status === STATUS.exhausted) {
    return new HedgerowError('nodes_exhausted', 'All node numbers are used. Start a new database for further nodes.');
  }
  return new HedgerowError('internal', `The core answered ${status} to ${where}. This is a bug; please report it.`);
}
