// Puts requests together as text, and says what a row of the raw-socket corpus is.

import { ADMIN_KEY } from './child.ts';
import type { Step } from './raw-connection.ts';

export interface RawCase {
  name: string;
  send: readonly Step[];
  /** As `converse` of raw-connection.ts says it. */
  outcome: string;
  /** Right as well, where two things happen at once. */
  orElse?: string;
  /** Stands in the answer. */
  says?: string;
  /** Stands nowhere in the answer. */
  saysNot?: string;
  /** Times of the edges that are stored afterwards. */
  stores?: readonly number[];
  /** Times of edges that may be stored or not: their client left before it had an answer. */
  mayStore?: readonly number[];
}

export const LIVE = 'GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n';
export const BULK = '/v1/hyperedges?table=bulk&start_ts=0&end_ts=9999999';

/** A request with a host and a key; each header line ends with CRLF. */
export function request(line: string, headers = '', body = ''): string {
  return `${line} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${ADMIN_KEY}\r\n${headers}\r\n${body}`;
}

export const get = (path: string, headers = '') => request(`GET ${path}`, headers);
export const live = (headers: string, body = '') => request('GET /health/live', headers, body);
export const post = (headers: string, body: string) => request('POST /v1/hyperedges', headers, body);

/** The JSON of an edge; of a four-digit time it is EDGE_BYTES long. */
export const edge = (time: number) => `{"event_ts":${time},"members":[${time},7]}`;
export const EDGE_BYTES = edge(1000).length;
export const EDGE_HEX = EDGE_BYTES.toString(16);

export const lengthOf = (body: string) => `Content-Length: ${body.length}\r\n`;

/** A request that is right in everything but what `headers` adds. */
export const insert = (time: number, headers = '') => post(lengthOf(edge(time)) + headers, edge(time));

export const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`;
export const chunked = (body: string, headers = '') => post(`Transfer-Encoding: chunked\r\n${headers}`, body);
/** An edge as one chunk, and the end. */
export const inChunks = (time: number) => `${chunk(edge(time))}0\r\n\r\n`;
