// Puts one request together: address, headers, body. It stays the same over all tries of a call.

import type { FetchInit } from './host-types.ts';
import { OPERATIONS, type Operation, type OperationId } from './operations.ts';
import type { CallOptions, Settings } from './options.ts';

/** What a method says of its call. */
export interface CallInput {
  /** In the order of the path template. */
  parameters?: readonly (string | number)[];
  query?: Readonly<Record<string, string | number | undefined>>;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as NDJSON, instead of `body`. */
  lines?: string;
  accept?: string;
  /** The call only reads, whatever its method. */
  reads?: boolean;
  /** Sent as `X-Session-Id`. */
  session?: string | undefined;
}

export interface PreparedRequest {
  readonly url: string;
  readonly init: FetchInit;
  /** Carried out twice it does no more than once. */
  readonly repeatable: boolean;
}

const JSON_TYPE = 'application/json';
export const NDJSON_TYPE = 'application/x-ndjson';

/**
 * `newestLsn`: of the writes of this client, 0 when reads need not see them. Throws a TypeError for
 * what no request can say.
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
    url: settings.url + pathOf(operation.path, input.parameters ?? []) + queryOf(input.query ?? {}),
    // A redirect would hand the key to wherever it leads; the service sends none.
    init: { method: operation.method, headers, redirect: 'error', credentials: 'omit', cache: 'no-store', ...body },
    // What a transaction has staged is no durable write: no answer is kept for its key, so a lost
    // one is the caller's to settle.
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
    // URLs take dots and empty segments as steps in the path, even when they are escaped.
    if (text === '' || text === '.' || text === '..') throw new TypeError(`${name} cannot be ${JSON.stringify(text)}.`);
    return encodeURIComponent(text);
  });
}

function queryOf(query: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return given.length === 0 ? '' : `?${new URLSearchParams(given)}`;
}

/** 128 random bits. `crypto.randomUUID` would not do: browsers offer it to secure pages only. */
function randomKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
