// Lists the statuses with which a route may refuse a request, those of 400 and above and the
// redirect of a follower: those that follow from the route's properties, and those that the route
// declares.

import type { ErrorCode, FieldError } from '../../errors.ts';
import { mayRedirect } from '../leader.ts';
import { waitsForLsn } from '../min-lsn.ts';
import type { Route } from '../route.ts';
import type { JsonObject } from './json-schema.ts';

/** Description of each status for callers. */
export const ERROR_TEXTS: Readonly<Record<number, string>> = {
  307: 'This server follows another one, which takes the writes. Send the request to `Location`, with the key.',
  400: 'Something in the request is invalid; `errors` names the places.',
  401: 'The key is missing, unknown, revoked or expired.',
  403: 'The role of the key is too low; `detail` names the one needed. Where no key is needed: a page of another origin asks, or Host is not known.',
  404: 'What the request names does not exist.',
  409: 'It exists already, or the request conflicts with the present state.',
  410: 'The changes asked for are no longer kept; `oldest_lsn` is the LSN to read from.',
  413: 'The body is over the limit.',
  415: 'The route takes no body of this content type.',
  422: 'Something in the request is invalid; `errors` names the places.',
  429: 'Too many requests with this key; `Retry-After` is the number of seconds to wait.',
  500: 'A file of the data is damaged; `detail` names it.',
  502: 'A service that the answer needs has failed: the language model, or the backend of a virtual graph.',
  503: 'The service is starting, stopping or overloaded, its log has failed, or it has not reached `X-Min-LSN` (`lsn_timeout`). Of a server that follows another one: it is further behind than `X-Max-Lag-Ms` (`too_far_behind`), or it passed a write on and its leader did not answer (`leader_unavailable`); that write may have been carried out, so send it again with the same `Idempotency-Key`. Try again after `Retry-After`.',
  504: 'The answer did not begin in time.',
  507: 'The disk is full.',
};

/**
 * Returns whether an answer with this status is an error: it has the body of all errors. A redirect
 * is one too, because the request was not carried out.
 */
export function isError(status: number): boolean {
  return status >= 400 || status === 307;
}

/** Returns an example error body with this status. */
export function errorExample(status: number): JsonObject {
  const [code, detail, errors] = EXAMPLES[status]!;
  return { detail, code, status, request_id: 'Yl-J6DgL-1', ...(errors === undefined ? {} : { errors }) };
}

type Example = readonly [code: ErrorCode, detail: string, errors?: readonly FieldError[]];

const EXAMPLES: Readonly<Record<number, Example>> = {
  307: ['not_leader', 'This server follows http://10.0.0.5:8000, which takes the writes. Send the request there.'],
  400: [
    'invalid_input',
    'members[0] must be an integer of at most 2^53-1.',
    [{ loc: ['body', 'members', 0], msg: 'must be an integer of at most 2^53-1' }],
  ],
  401: ['unauthorized', 'The API key is missing. Send it as X-API-Key or as Authorization: Bearer.'],
  403: ['forbidden', 'This needs the role readwrite; the key has the role readonly.'],
  404: ['table_not_found', 'There is no table "sighting". GET /v1/tables lists them.'],
  409: ['table_exists', 'There is a table "sightings" already.'],
  410: ['lsn_gone', 'Changes after LSN 7 are no longer kept; the oldest LSN to read from is 1041.'],
  413: ['body_too_large', 'The body is over the limit of 64 MB.'],
  415: ['unsupported_media_type', 'The body must be application/json.'],
  422: ['invalid_rule', 'rule:met: the variable ?B is bound by no condition.'],
  429: ['rate_limited', 'More than 1000 requests a minute. Go on after Retry-After seconds.'],
  500: ['table_corrupt', 'The file segments/7.hgs of the table hyperedges is damaged at offset 4096.'],
  502: ['backend_failed', 'The file trips.csv is not there.'],
  503: ['starting', 'The service is still starting. Try again after Retry-After seconds.'],
  504: ['timeout', 'The query took longer than 30000 ms and was stopped. Narrow it, or add an index.'],
  507: ['disk_full', 'The disk is full. Free some space, then try again.'],
};

/** Returns the statuses in ascending order. */
export function errorStatuses(route: Route): number[] {
  const statuses = new Set(route.errors ?? []);
  if (mayRedirect(route)) statuses.add(307);
  // The query string may be invalid percent-encoded UTF-8, even if the route does not read it.
  if (!route.rateExempt) statuses.add(400);
  // The wait for a log position is also bounded by the timeout of the whole query.
  if (waitsForLsn(route)) statuses.add(504);
  if (route.role !== 'none') statuses.add(401);
  // 409 answers a second request with the same Idempotency-Key: with another body, while the first
  // request is running, or when its answer is no longer kept or was lost.
  if (route.idempotent) statuses.add(409);
  if (route.bodyTypes.length > 0) statuses.add(413).add(415);
  // 403 answers a role that is too low or, where no key is needed, a page of another origin.
  if (!route.rateExempt) statuses.add(403).add(429).add(503);
  // Every write is a frame of the log.
  const onlyReads = route.method === 'GET' || (route.role === 'readonly' && !route.idempotent);
  if (route.database && !onlyReads) statuses.add(507);
  if (route.unprocessable === true && statuses.delete(400)) statuses.add(422);
  return [...statuses].sort((a, b) => a - b);
}
