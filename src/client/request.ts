// Assembles the path, headers and body of one request. All attempts of a call send the same
// request.

import type { FetchInit } from './host-types.ts';
import { OPERATIONS, type Operation, type OperationId } from './operations.ts';
import type { CallOptions, Settings } from './options.ts';

/** The parts of a call that a method of the client provides. */
export interface CallInput {
  /** Path parameters, in the order of the path template. */
  parameters?: readonly (string | number)[];
  query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as NDJSON, instead of `body`. */
  lines?: string;
  accept?: string;
  /** True if the call only reads data, whatever its HTTP method is. */
  reads?: boolean;
  /** Sent as `X-Session-Id`. */
  session?: string | undefined;
}

export interface PreparedRequest {
  /** The path with the query, to be appended to the address of a server. */
  readonly path: string;
  readonly init: FetchInit;
  /** True if carrying out the request twice has the same effect as carrying it out once. */
  readonly repeatable: boolean;
}

const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';

/**
 * Prepares a request. `newestLsn` is the log position that reads must reflect, or 0 if they need
 * not. Throws a TypeError for parameters that a request cannot contain.
 */
export function prepare(
  settings: Settings,
  id: OperationId,
  input: CallInput,
  options: CallOptions,
  newestLsn: number,
): PreparedRequest {
  const operation: Operation = OPERATIONS[id];
  const headers = new Headers({ Accept: input.accept ?? JSON_TYPE });
  if (settings.apiKey !== '') headers.set('X-API-Key', settings.apiKey);
  if (input.session !== undefined) headers.set('X-Session-Id', input.session);
  const isRead = operation.method === 'GET' || input.reads === true;
  if (isRead) {
    const minLsn = Math.max(options.minLsn ?? 0, newestLsn);
    if (minLsn > 0) headers.set('X-Min-LSN', String(minLsn));
  }
  if (operation.idempotent && !isRead) headers.set('Idempotency-Key', options.idempotencyKey ?? randomKey());
  const body = bodyOf(input, headers);
  return {
    path: pathOf(operation.path, input.parameters ?? []) + queryOf(input.query ?? {}),
    // `fetch` would send the key wherever a redirect says; see redirect.ts.
    init: { method: operation.method, headers, redirect: 'manual', credentials: 'omit', cache: 'no-store', ...body },
    // A write staged in a transaction is not durable yet, and the server keeps no answer for its
    // key. If the answer is lost, the caller must decide what to do.
    repeatable: isRead || (operation.idempotent && input.session === undefined),
  };
}

function bodyOf(input: CallInput, headers: Headers): { body?: string } {
  if (input.lines !== undefined) {
    headers.set('Content-Type', NDJSON_TYPE);
    return { body: input.lines };
  }
  if (input.body === undefined) return {};
  headers.set('Content-Type', JSON_TYPE);
  return { body: JSON.stringify(input.body) };
}

function pathOf(template: string, parameters: readonly (string | number)[]): string {
  let index = 0;
  return template.replaceAll(/\{\w+\}/g, (name) => {
    const text = String(parameters[index++]);
    // URL parsers resolve `.` and `..` even if the dots are escaped; an empty segment is ambiguous.
    if (text === '' || text === '.' || text === '..') throw new TypeError(`${name} cannot be ${JSON.stringify(text)}.`);
    return encodeURIComponent(text);
  });
}

function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/**
 * Returns 128 random bits as hexadecimal digits. `crypto.randomUUID` cannot be used, because
 * browsers offer it only to pages served over https.
 */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
