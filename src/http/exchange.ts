// One request and its answer on the transport: writes a reply once, as a whole or in chunks, unless the client has gone.

import { STATUS_CODES } from 'node:http';
import { HedgerowError } from '../errors.ts';
import { ChunkStream } from './chunk-stream.ts';
import { BLOCK_NAME } from './head-block.ts';
import { JSON_TYPE } from './media.ts';
import { type ChunkSource, errorReply, type Reply } from './reply.ts';
import { isSaneId } from './request-id.ts';
import type { Services } from './route.ts';
import type { TransportResponse } from './transport.ts';

// One is made for every request, so it holds plain fields only: private methods and closures would be made anew each time.
export class Exchange {
  /** The id the client sent; empty: the request has a number only. */
  private readonly sentId: string;
  private readonly requestNumber: number;
  /** The client has closed its connection: the transport must not be touched any more. */
  gone: boolean;
  /** The answer carries the log position. */
  data: boolean;
  /** The connection ends with this answer. */
  closing: boolean;
  private readonly transport: TransportResponse;
  private readonly services: Services;
  private readonly isHead: boolean;
  /** Called once when an exchange that outlived its request callback is over. */
  private finished: (() => void) | undefined;
  private stream: ChunkStream | undefined;

  constructor(transport: TransportResponse, services: Services, sentId: string, isHead: boolean) {
    this.sentId = isSaneId(sentId) ? sentId : '';
    this.requestNumber = services.ids.nextNumber();
    this.gone = false;
    this.data = false;
    this.closing = false;
    this.transport = transport;
    this.services = services;
    this.isHead = isHead;
    this.finished = undefined;
    this.stream = undefined;
  }

  get requestId(): string {
    return this.sentId === '' ? this.services.ids.textOf(this.requestNumber) : this.sentId;
  }

  /** Must be called before the request callback returns without an answer. */
  outlive(finished: () => void): void {
    this.finished = finished;
    this.transport.onAborted(() => {
      this.gone = true;
      this.stream?.stop();
      this.end();
    });
  }

  /** True once `outlive` was called and the exchange is not over. */
  get isPending(): boolean {
    return this.finished !== undefined;
  }

  fail(thrown: unknown): void {
    if (!(thrown instanceof HedgerowError) || thrown.status >= 500) this.log(thrown);
    this.answer(errorReply(thrown, this.requestId));
  }

  answer(reply: Reply): void {
    if (this.gone) {
      reply.source?.close();
    } else if (reply.source === undefined || this.isHead) {
      reply.source?.close();
      if (this.finished === undefined) {
        this.writeWhole(reply);
      } else {
        this.transport.cork(() => this.writeWhole(reply));
        this.end();
      }
    } else {
      this.startStream(reply, reply.source);
    }
  }

  private writeWhole(reply: Reply): void {
    const transport = this.transport;
    this.writeHead(reply);
    if (!this.isHead) {
      transport.end(reply.body, this.closing);
      return;
    }
    if (reply.source !== undefined) transport.writeHeader('Transfer-Encoding', 'chunked');
    else transport.writeHeader('Content-Length', String(Buffer.byteLength(reply.body)));
    transport.endWithoutBody();
  }

  /** One `writeHeader` for all headers: each call into the transport has its price. */
  private writeHead(reply: Reply): void {
    if (reply.status !== 200) this.transport.writeStatus(statusLine(reply.status));
    const lsn = this.data ? (reply.lsn ?? this.services.database?.lastLsn) : undefined;
    const isUsual =
      this.sentId === '' && !this.closing && reply.headers === undefined && reply.contentType === JSON_TYPE;
    if (isUsual && lsn !== undefined) {
      this.transport.writeHeader(BLOCK_NAME, this.services.headWithLsn.fill(lsn, this.requestNumber));
    } else if (isUsual) {
      this.transport.writeHeader(BLOCK_NAME, this.services.head.fill(-1, this.requestNumber));
    } else {
      this.transport.writeHeader('Content-Type', this.headText(reply, lsn));
    }
  }

  private headText(reply: Reply, lsn: number | undefined): string {
    let text = reply.contentType;
    if (lsn !== undefined) text += `\r\nX-Hedgerow-LSN: ${lsn}`;
    text += `\r\nX-Request-Id: ${this.requestId}`;
    if (this.closing) text += '\r\nConnection: close';
    if (reply.headers !== undefined) {
      for (const [name, value] of reply.headers) text += `\r\n${name}: ${headerValue(value)}`;
    }
    return text;
  }

  private startStream(reply: Reply, source: ChunkSource): void {
    this.stream = new ChunkStream({
      transport: this.transport,
      source,
      slices: this.services.slices,
      closing: this.closing,
      ended: () => this.end(),
      failed: (error) => this.log(error),
    });
    this.transport.cork(() => this.writeHead(reply));
    this.stream.start();
  }

  private end(): void {
    const finished = this.finished;
    this.finished = undefined;
    finished?.();
  }

  private log(thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.services.log.error('request failed', {
      request_id: this.requestId,
      error: error.message,
      stack: thrown instanceof HedgerowError ? undefined : error.stack,
    });
  }
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

/** A line break in a value would start a header of its own. */
function headerValue(value: string): string {
  let clean = '';
  for (const character of value) clean += character < ' ' || character > '~' ? ' ' : character;
  return clean;
}
