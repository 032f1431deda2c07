// What a call of the client can throw: an answer that says no, or no whole answer at all.

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
}

/** The server answered with a status of 400 or more. */
export class HedgerowApiError extends Error {
  override readonly name = 'HedgerowApiError';
  readonly statusCode: number;
  /** The server's sentence: what is wrong and what to do. */
  readonly detail: string;
  /** The stable code of the error; undefined when something in front of the server answered. */
  readonly code: string | undefined;
  readonly requestId: string | undefined;
  /** Wrong fields, when the server names them. */
  readonly errors: readonly FieldError[];
  /** Seconds after which to try again, when the server says so. */
  readonly retryAfter: number | undefined;
  /** Where the fault lies in a statement, or in a body of lines; from 1. */
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(facts: ApiErrorFacts) {
    super(`${facts.statusCode}: ${facts.detail}`);
    this.statusCode = facts.statusCode;
    this.detail = facts.detail;
    this.code = facts.code;
    this.requestId = facts.requestId;
    this.errors = facts.errors;
    this.retryAfter = facts.retryAfter;
    this.line = facts.line;
    this.column = facts.column;
  }
}

/**
 * No answer came, or it broke off: the server could not be reached, the connection was cut, or the
 * time was over.
 */
export class HedgerowConnectionError extends Error {
  override readonly name = 'HedgerowConnectionError';
  /** The time limit of the call ran out. */
  readonly timedOut: boolean;

  constructor(message: string, more: { cause?: unknown; timedOut?: boolean } = {}) {
    super(message, more.cause === undefined ? undefined : { cause: more.cause });
    this.timedOut = more.timedOut ?? false;
  }
}

/** The error of an answer of 400 or more; `text` is its body, whatever wrote it. */
export function apiError(response: FetchAnswer, text: string, retryAfter: number | undefined): HedgerowApiError {
  const body = objectIn(text);
  const requestId = typeof body.request_id === 'string' ? body.request_id : response.headers.get('x-request-id');
  return new HedgerowApiError({
    statusCode: response.status,
    detail: typeof body.detail === 'string' ? body.detail : text.slice(0, 500).trim() || response.statusText,
    code: typeof body.code === 'string' ? body.code : undefined,
    requestId: requestId ?? undefined,
    errors: Array.isArray(body.errors) ? body.errors : [],
    retryAfter,
    line: numberIn(body.line),
    column: numberIn(body.column),
  });
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
