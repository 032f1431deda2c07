// Builds requests as text, and defines the type of a raw-socket case.

import { ADMIN_KEY } from './child.ts';
import type { Step } from './raw-connection.ts';

export interface RawCase {
  name: string;
  send: readonly Step[];
  /** The expected result, in the form that `converse` in raw-connection.ts returns. */
  outcome: string;
  /** Another correct result, if the result depends on a race. */
  orElse?: string;
  /** A text that must appear in the answer. */
  says?: string;
  /** A text that must not appear in the answer. */
  saysNot?: string;
  /** The `event_ts` of each edge that is stored afterwards. */
  stores?: readonly number[];
  /**
   * The `event_ts` of each edge that may or may not be stored, because the client disconnected
   * before the answer.
   */
  mayStore?: readonly number[];
}

export const LIVE = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
export const BULK = '/v1/hyperedges?table=bulk&start_ts=0&end_ts=9999999';

/** Returns a request with a host and a key. Each header line must end with CRLF. */
export function request(line: string, headers = '', body = ''): string {
  return `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_KEY}\r\n${headers}\r\n${body}`;
}

export const get = (path: string, headers = '') => request(`GET ${path}`, headers);
export const live = (headers: string, body = '') => request('GET /health/live', headers, body);
export const post = (headers: string, body: string) => request('POST /v1/hyperedges', headers, body);

/** Returns the JSON of an edge. It is EDGE_BYTES long for a four-digit time. */
export const edge = (time: number) => `{"event_ts":${time},"members":[${time},7]}`;
export const EDGE_BYTES = edge(1000).length;
export const EDGE_HEX = EDGE_BYTES.toString(16);

export const lengthOf = (body: string) => `Content-Length: ${body.length}\r\n`;

/** Returns a request that is correct except for what `headers` adds. */
export const insert = (time: number, headers = '') => post(lengthOf(edge(time)) + headers, edge(time));

export const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
export const chunked = (body: string, headers = '') => post(`Transfer-Encoding: chunked\r\n${headers}`, body);
/** Returns an edge as one chunk, followed by the last chunk. */
export const inChunks = (time: number) => `${chunk(edge(time))}0\r\n\r\n`;
