// Writes the status and headers of an answer: common headers as cached bytes, rare headers as text.

import { STATUS_CODES } from 'node:http';
import { bytesOf } from './byte-text.ts';
import { CORS_NAME } from './cors.ts';
import { BLOCK_NAME } from './head-block.ts';
import { JSON_TYPE } from './media.ts';
import type { Parts } from './parts.ts';
import type { Reply } from './reply.ts';
import type { Route } from './route.ts';
import { HSTS } from './tls-suites.ts';
import type { TransportResponse } from './transport.ts';

/** The facts about a request from which the headers are made. */
export interface HeadFacts {
  readonly services: Parts;
  readonly route: Route | undefined;
  /** Number of requests left in the caller's allowance; negative if this request does not count. */
  readonly remaining: number;
  /** Time at which the whole allowance is back, in epoch seconds. */
  readonly resetSeconds: number;
  /** The id sent by the client; empty if the request only has a number. */
  readonly sentId: string;
  readonly requestNumber: number;
  readonly requestId: string;
  /** CORS headers for a page of another origin. */
  readonly cors: Uint8Array | undefined;
}

const ENCODING_NAME = bytesOf('Content-Encoding');
const HSTS_NAME = bytesOf('Strict-Transport-Security');
const GZIP = bytesOf('gzip');
const ID_NAME = bytesOf('X-Request-Id');

/**
 * Writes all common headers with one `writeHeader`, since each call into the transport is
 * expensive.
 */
export function writeHead(transport: TransportResponse, facts: HeadFacts, reply: Reply, compressed: boolean): void {
  const { services, sentId, remaining, cors } = facts;
  const { status, contentType, headers, tag = -1 } = reply;
  if (status !== 200) transport.writeStatus(statusLine(status));
  const lsn = facts.route?.data === true ? (reply.lsn ?? services.database?.lastLsn ?? -1) : -1;
  if (contentType === JSON_TYPE && remaining >= 0 && typeof tag === 'number') {
    const number = sentId === '' ? facts.requestNumber : -1;
    transport.writeHeader(BLOCK_NAME, services.heads.fill(facts.resetSeconds, remaining, lsn, tag, number));
    if (sentId !== '') transport.writeHeader(ID_NAME, sentId);
  } else {
    transport.writeHeader(BLOCK_NAME, headText(facts, reply, lsn));
  }
  if (compressed) transport.writeHeader(ENCODING_NAME, GZIP);
  if (services.isTls) transport.writeHeader(HSTS_NAME, HSTS);
  if (cors !== undefined) transport.writeHeader(CORS_NAME, cors);
  if (headers !== undefined) {
    for (const [name, value] of headers) transport.writeHeader(name, headerValue(value));
  }
}

/** Returns the same headers as the cached blocks, as text. */
function headText(facts: HeadFacts, { contentType, tag }: Reply, lsn: number): string {
  const { heads, tags, cors } = facts.services;
  let text = `${contentType}\r\nVary: ${cors.vary}`;
  if (facts.remaining >= 0) {
    text += `\r\nX-RateLimit-Limit: ${heads.limit}\r\nX-RateLimit-Reset: ${facts.resetSeconds}`;
    text += `\r\nX-RateLimit-Remaining: ${facts.remaining}`;
  }
  if (lsn >= 0) text += `\r\nX-Hedgerow-LSN: ${lsn}`;
  if (tag !== undefined) text += `\r\nETag: ${tags.textOf(tag)}`;
  return `${text}\r\nX-Request-Id: ${facts.requestId}`;
}

const STATUS_LINES = new Map<number, string>();

function statusLine(status: number): string {
  let line = STATUS_LINES.get(status);
  if (line === undefined) {
    line = `${status} ${STATUS_CODES[status] ?? 'Unknown'}`;
    STATUS_LINES.set(status, line);
  }
  return line;
}

/** Replaces everything but printable ASCII: a line break in a value would start another header. */
function headerValue(value: string): string {
  let clean = '';
  for (const character of value) clean += character < ' ' || character > '~' ? ' ' : character;
  return clean;
}
