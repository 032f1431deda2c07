// Turns an error into a reply: the error body is the same for the whole service.

import { messageWithSettings } from '../config/setting-names.ts';
import { type FieldError, HedgerowError, refusal } from '../errors.ts';
import { maskPatterns } from '../observe/redact.ts';
import { JSON_TYPE } from './media.ts';
import type { Reply } from './reply.ts';

/**
 * Fields of an error that its body shows; everything else (files, causes, stacks) stays internal.
 */
const PUBLIC_FIELDS = [
  'line',
  'column',
  'expected',
  'lsn',
  'last_lsn',
  'oldest_lsn',
  'ids',
  'ranges_left_off',
  'id',
  'transaction_id',
] as const;

/** Headers that errors carry, by the field that holds the value. */
const HEADER_FIELDS = [
  ['allow', 'Allow'],
  ['challenge', 'WWW-Authenticate'],
  ['location', 'Location'],
  ['retryAfter', 'Retry-After'],
] as const;

/** The causes of status 503 are temporary, usually short. */
const RETRY_LATER: Reply['headers'] = [['Retry-After', '1']];

/**
 * Returns the reply for an error. A thrown value that is not a HedgerowError is a bug and is
 * answered with 500 without its text. Text that looks like a key is masked: a message may repeat
 * text that the client sent, and answers are written to the logs of clients. With `unprocessable`,
 * invalid input is answered with 422 instead of 400.
 */
export function errorReply(thrown: unknown, requestId: string, unprocessable = false): Reply {
  const error =
    thrown instanceof HedgerowError
      ? thrown
      : refusal('internal', `Something failed inside the server. Report it with request id ${requestId}.`);
  const status = unprocessable && error.status === 400 ? 422 : error.status;
  const body: Record<string, unknown> = {
    detail: detailOf(error),
    code: error.code,
    status,
    request_id: requestId,
  };
  if (error.errors !== undefined) body.errors = error.errors.map(maskedField);
  for (const field of PUBLIC_FIELDS) {
    const value = error.fields?.[field];
    if (value !== undefined) body[field] = value;
  }
  return {
    status,
    contentType: JSON_TYPE,
    body: JSON.stringify(body),
    lsn: undefined,
    headers: headersOf(error),
    source: undefined,
    tag: undefined,
    // An answer under 400 would otherwise be taken for one that has done something.
    facts: status < 400 ? NOTHING_DONE : undefined,
  };
}

const NOTHING_DONE: Reply['facts'] = { audit: 'none', kept: false };

/**
 * Hints at the routes that list the existing items after one was not found, by the field `listed`.
 * They are added here because messages from other folders do not name routes.
 */
const LISTS: Readonly<Record<string, string>> = {
  tables: 'GET /v1/tables lists them.',
  indexes: 'GET /v1/indexes lists them.',
  rules: 'GET /v1/rules lists them.',
};

/**
 * Returns the text about an error for clients: its message, the settings that it concerns and the
 * route that helps. Text that looks like a key is masked.
 */
export function detailOf(error: HedgerowError): string {
  const sentence = messageWithSettings(error);
  const route = LISTS[String(error.fields?.listed)];
  return maskPatterns(route === undefined ? sentence : `${sentence} ${route}`);
}

/**
 * The parts of a request that may contain an invalid value. Other places, named by the engine, are
 * fields of the body.
 */
const PLACES: ReadonlySet<unknown> = new Set(['body', 'query', 'path', 'header']);

function maskedField({ loc, msg }: FieldError): FieldError {
  const place = PLACES.has(loc[0]) ? loc : ['body', ...loc];
  return { loc: place.map((part) => (typeof part === 'string' ? maskPatterns(part) : part)), msg: maskPatterns(msg) };
}

function headersOf({ status, fields }: HedgerowError): Reply['headers'] {
  if (fields === undefined) return status === 503 ? RETRY_LATER : undefined;
  const headers: [string, string][] = [];
  for (const [field, name] of HEADER_FIELDS) {
    const value = fields[field];
    if (value !== undefined) headers.push([name, String(value)]);
  }
  if (status === 503 && fields.retryAfter === undefined) headers.push(['Retry-After', '1']);
  return headers;
}
