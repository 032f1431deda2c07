// Makes reads wait until they see a certain write, which the header `X-Min-LSN` names.

import { type HedgerowError, refusal } from '../errors.ts';
import type { RequestCall } from './call.ts';
import type { DatabasePort } from './database-port.ts';
import { queryTimeout } from './deadline.ts';
import { parseInteger } from './integers.ts';
import type { Route } from './route.ts';

/** Maximum time that a read waits for the position that it asks for. */
const LONGEST_WAIT_MS = 5000;

/** Returns true for routes that evaluate the header. */
export function waitsForLsn(route: Route): boolean {
  return route.role === 'readonly' && route.database;
}

/** Returns the position in the header, or 0 if the header is absent. Throws `invalid_lsn`. */
export function minLsnOf(header: string): number {
  if (header === '') return 0;
  const lsn = parseInteger(header);
  if (lsn >= 0) return lsn;
  throw refusal(
    'invalid_lsn',
    'X-Min-LSN must be a log position: an integer of 0 or more, such as the value of X-Hedgerow-LSN.',
    {
      errors: [{ loc: ['header', 'X-Min-LSN'], msg: 'must be an integer of 0 to 2^53-1' }],
    },
  );
}

/**
 * Resolves when reads see `lsn`; rejects with `lsn_timeout`, or `timeout` if the query's own time
 * limit ends first.
 */
export async function untilVisible(
  call: Pick<RequestCall, 'database' | 'services' | 'deadlineMs'>,
  lsn: number,
): Promise<void> {
  const { database, services } = call;
  const leftMs = call.deadlineMs - services.now();
  const reached = await database.whenVisible(lsn, Math.max(0, Math.min(LONGEST_WAIT_MS, leftMs)));
  if (!reached) throw leftMs < LONGEST_WAIT_MS ? queryTimeout(services.queryTimeoutMs) : lsnTimeout(database, lsn);
}

function lsnTimeout(database: DatabasePort, lsn: number): HedgerowError {
  return refusal('lsn_timeout', `Position ${lsn} is not visible yet; the newest one is ${database.lastLsn}.`);
}
