// The headers of requests and answers: which ones a route has, and their descriptions.

import { waitsForLsn } from '../min-lsn.ts';
import type { Route } from '../route.ts';
import type { JsonObject } from './json-schema.ts';
import { isError } from './statuses.ts';

const COUNT: JsonObject = { type: 'integer', minimum: 0 };

/** Request headers, as parameter components. */
export const REQUEST_HEADERS: Readonly<Record<string, JsonObject>> = {
  MinLsn: {
    name: 'X-Min-LSN',
    in: 'header',
    description: 'Wait, up to 5 seconds, until the answer reflects this log position.',
    schema: COUNT,
  },
  MaxLag: {
    name: 'X-Max-Lag-Ms',
    in: 'header',
    description:
      'Of a server that follows another one: 503 `too_far_behind` if it last had all writes of its leader longer ago than this, in milliseconds. A leader ignores it.',
    schema: COUNT,
  },
  IfNoneMatch: {
    name: 'If-None-Match',
    in: 'header',
    description: 'An `ETag` of an earlier answer. When nothing has changed since, the answer is a 304 without a body.',
    schema: { type: 'string' },
  },
  SessionId: {
    name: 'X-Session-Id',
    in: 'header',
    description:
      'Statements with the same value share a transaction (BEGIN ... COMMIT). Without it the API key itself is the session.',
    schema: { type: 'string' },
  },
  IdempotencyKey: {
    name: 'Idempotency-Key',
    in: 'header',
    description:
      'Makes the write safe to send again: for 24 hours (at most the last 100,000 keys) the first answer under 400 is sent again instead of writing twice; an answer too large to be kept is a 409 `already_done` with `lsn` and ids. One value for one API key, method, path and body.',
    schema: { type: 'string', minLength: 1 },
  },
};

/** Response headers, as components. */
export const ANSWER_HEADERS: Readonly<Record<string, JsonObject>> = {
  RequestId: {
    description: 'The id the client sent, or one made for this request; it is in logs and errors too.',
    required: true,
    schema: { type: 'string' },
  },
  RateLimitLimit: {
    description: 'Requests a minute for this key; 0: no limit.',
    required: true,
    schema: COUNT,
  },
  RateLimitRemaining: { description: 'Requests left at this moment.', required: true, schema: COUNT },
  RateLimitReset: {
    description: 'When the full limit is there again, in epoch seconds.',
    required: true,
    schema: COUNT,
  },
  Lsn: { description: 'Log position the answer reflects.', required: true, schema: COUNT },
  ErrorLsn: { description: 'Data routes only, once the database is open: its newest log position.', schema: COUNT },
  ETag: { description: 'State the answer shows, for `If-None-Match`.', schema: { type: 'string' } },
  NextCursor: {
    description: 'NDJSON only: cursor of the next page; absent on the last one.',
    schema: { type: 'string' },
  },
  Replayed: {
    description: '`true`: this is the stored answer of an earlier write with the same `Idempotency-Key`.',
    schema: { const: 'true' },
  },
  Location: {
    description: 'The same request at the leader: its address, then the path and the query.',
    required: true,
    schema: { type: 'string', format: 'uri' },
  },
  RetryAfter: { description: 'Seconds after which to try again.', required: true, schema: COUNT },
  Authenticate: { description: 'How to send a key.', required: true, schema: { type: 'string' } },
};

/** Component names by header name. */
const COMPONENTS: Readonly<Record<string, string>> = {
  'X-Request-Id': 'RequestId',
  'X-RateLimit-Limit': 'RateLimitLimit',
  'X-RateLimit-Remaining': 'RateLimitRemaining',
  'X-RateLimit-Reset': 'RateLimitReset',
  'X-Hedgerow-LSN': 'Lsn',
  ETag: 'ETag',
  'X-Next-Cursor': 'NextCursor',
  'Idempotent-Replayed': 'Replayed',
  Location: 'Location',
  'Retry-After': 'RetryAfter',
  'WWW-Authenticate': 'Authenticate',
};

export function requestHeaders(route: Route): JsonObject[] {
  const names: string[] = [];
  if (waitsForLsn(route)) names.push('MinLsn', 'MaxLag');
  if (route.tagged) names.push('IfNoneMatch');
  if (route.idempotent) names.push('IdempotencyKey');
  if (route.sessions === true) names.push('SessionId');
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }));
}

/** Returns the headers of an answer with this status, as references to components. */
export function answerHeaders(route: Route, status: number): JsonObject {
  const isGood = !isError(status);
  const wanted: Readonly<Record<string, boolean>> = {
    'X-Request-Id': true,
    'X-RateLimit-Limit': !route.rateExempt,
    'X-RateLimit-Remaining': !route.rateExempt,
    'X-RateLimit-Reset': !route.rateExempt,
    'X-Hedgerow-LSN': isGood ? route.data : !route.rateExempt,
    ETag: isGood && route.tagged,
    'X-Next-Cursor': isGood && route.negotiates && status !== 304,
    'Idempotent-Replayed': isGood && route.idempotent,
    Location: status === 307,
    'Retry-After': status === 429 || status === 503,
    'WWW-Authenticate': status === 401,
  };
  const names = Object.keys(wanted).filter((name) => wanted[name]);
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${component(name, isGood)}` }]));
}

function component(wireName: string, isGood: boolean): string {
  return wireName === 'X-Hedgerow-LSN' && !isGood ? 'ErrorLsn' : COMPONENTS[wireName]!;
}
