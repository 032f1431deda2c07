// Which statuses of 400 and above a route answers: those that follow from its facts, and those its handler names.

import { waitsForLsn } from '../min-lsn.ts';
import type { Route } from '../route.ts';

/** What each status means to a caller. */
export const ERROR_TEXTS: Readonly<Record<number, string>> = {
  400: 'Something in the request is invalid; `errors` names the places.',
  401: 'The key is missing, unknown, revoked or expired.',
  403: 'The role of the key is too low; `detail` names the one needed.',
  404: 'What the request names does not exist.',
  409: 'It exists already, or the request stands against the present state.',
  413: 'The body is over the limit.',
  415: 'The route takes no body of this content type.',
  422: 'Something in the request is invalid; `errors` names the places.',
  429: 'Too many requests with this key; `Retry-After` tells when to go on.',
  500: 'A file of the data is damaged; `detail` names it.',
  502: 'A service that the answer needs has failed: the language model, or what lies behind a virtual graph.',
  503: 'The service is starting, stopping or overloaded, or its log has failed. Try again after `Retry-After`.',
  504: 'The answer did not begin in time.',
  507: 'The disk is full.',
};

/** Ascending. */
export function errorStatuses(route: Route): number[] {
  const statuses = new Set(route.errors ?? []);
  const { parameters, query, body } = route.schemas;
  if (parameters !== undefined || query !== undefined || body !== undefined || route.idempotent) statuses.add(400);
  // The wait for a log position ends with the time for the whole query.
  if (waitsForLsn(route)) statuses.add(400).add(504);
  if (route.role !== 'none') statuses.add(401);
  if (route.role === 'readwrite' || route.role === 'admin') statuses.add(403);
  // The same Idempotency-Key with another body, while the first still runs, or when its answer is no longer kept or was lost.
  if (route.idempotent) statuses.add(409);
  if (route.bodyTypes.length > 0) statuses.add(413).add(415);
  if (!route.rateExempt) statuses.add(429).add(503);
  // Every write is a frame of the log.
  const onlyReads = route.method === 'GET' || (route.role === 'readonly' && !route.idempotent);
  if (route.database && !onlyReads) statuses.add(507);
  if (route.unprocessable === true && statuses.delete(400)) statuses.add(422);
  return [...statuses].sort((a, b) => a - b);
}
