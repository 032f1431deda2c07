// The errors that a call of the client can throw: one for an error answer of the server, one for a
// missing or incomplete answer.

import type { FieldError } from '../errors.ts';
import type { FetchAnswer } from './host-types.ts';

export interface ApiErrorFacts {
  statusCode: number;
  detail: string;
  code: string | undefined;
  requestId: string | undefined;
  errors: readonly FieldError[];
  retryAfter: number | undefined;
  line: number | undefined;
  column: number | undefined;
  oldestLsn: number | undefined;
  lastLsn: number | undefined;
}

/**
 * The server refused the call: it answered with a status of 400 or more, or with a redirect that
 * the client does not follow.
 */
export class HedgerowApiError extends Error {
  override readonly name = 'HedgerowApiError';
  declare readonly statusCode: number;
  /** The server's message: what is wrong and what to do. */
  declare readonly detail: string;
  /**
   * The stable code of the error; undefined if something in front of the server answered, such as a
   * proxy.
   */
  declare readonly code: string | undefined;
  declare readonly requestId: string | undefined;
  /** The invalid fields, if the server names them. */
  declare readonly errors: readonly FieldError[];
  /** Seconds after which to try again, if the server states them. */
  declare readonly retryAfter: number | undefined;
  /** The position of the fault in a statement or in an NDJSON body, counted from 1. */
  declare readonly line: number | undefined;
  declare readonly column: number | undefined;
  /** With the code `lsn_gone`: changes after this LSN are still kept. */
  declare readonly oldestLsn: number | undefined;
  /** With the code `lsn_ahead`: the newest LSN of the server. */
  declare readonly lastLsn: number | undefined;

  constructor(facts: ApiErrorFacts) {
    super(`${facts.statusCode}: ${facts.detail}`);
    Object.assign(this, facts);
  }
}

/**
 * No answer arrived, or only a part: the server could not be reached, the connection was cut, or
 * the time limit passed.
 */
export class HedgerowConnectionError extends Error {
  override readonly name = 'HedgerowConnectionError';
  /** True if the time limit of the call passed. */
  readonly timedOut: boolean;

  constructor(message: string, more: { cause?: unknown; timedOut?: boolean } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.timedOut = more.timedOut ?? false;
  }
}

/**
 * Returns the error for an answer with a status of 300 or more; `text` is its body, which a proxy
 * may have written.
 */
export function apiError(response: FetchAnswer, text: string, retryAfter: number | undefined): HedgerowApiError {
  const body = objectIn(text);
  const requestId = response.headers.get('x-request-id') ?? undefined;
  const detail = text.slice(0, 500).trim() || response.statusText;
  return new HedgerowApiError({ ...factsOf(body, detail, requestId), statusCode: response.status, retryAfter });
}

/** Returns the error that ended a stream which had begun with status 200; `text` describes it. */
export function streamError(text: string): HedgerowApiError {
  const body = objectIn(text);
  return new HedgerowApiError({
    ...factsOf(body, text.slice(0, 500), undefined),
    statusCode: numberIn(body.status) ?? 500,
    retryAfter: undefined,
  });
}

/** Returns what the body of an error says, or else `detail` and `requestId`. */
function factsOf(
  body: Record<string, unknown>,
  detail: string,
  requestId: string | undefined,
): Omit<ApiErrorFacts, 'statusCode' | 'retryAfter'> {
  return {
    detail: textIn(body.detail) ?? detail,
    code: textIn(body.code),
    requestId: textIn(body.request_id) ?? requestId,
    errors: Array.isArray(body.errors) ? body.errors : [],
    line: numberIn(body.line),
    column: numberIn(body.column),
    oldestLsn: numberIn(body.oldest_lsn),
    lastLsn: numberIn(body.last_lsn),
  };
}

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

function objectIn(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
