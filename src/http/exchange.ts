// One request and its answer on the transport: writes a reply once, as a whole or in chunks, unless the client has gone.

import { STATUS_CODES } from 'node:http';
import { HedgerowError } from '../errors.ts';
import { type ChunkSource, errorReply, type Reply } from './reply.ts';
import type { Services } from './route.ts';
import type { TransportResponse } from './transport.ts';

export class Exchange {
  readonly requestId: string;
  /** The client has closed its connection: the transport must not be touched any more. */
  gone = false;
  /** The answer carries the log position. */
  data = false;
  /** The connection ends with this answer. */
  closing = false;
  readonly #transport: TransportResponse;
  readonly #services: Services;
  readonly #isHead: boolean;
  /** Called once when an exchange that outlived its request callback is over. */
  #finished: (() => void) | undefined;
  #source: ChunkSource | undefined;
  #waiting = false;

  constructor(transport: TransportResponse, services: Services, requestId: string, isHead: boolean) {
    this.#transport = transport;
    this.#services = services;
    this.requestId = requestId;
    this.#isHead = isHead;
  }

  /** Must be called before the request callback returns without an answer. */
  outlive(finished: () => void): void {
    this.#finished = finished;
    this.#transport.onAborted(() => {
      this.gone = true;
      this.#end();
    });
  }

  /** True once `outlive` was called and the exchange is not over. */
  get isPending(): boolean {
    return this.#finished !== undefined;
  }

  fail(thrown: unknown): void {
    if (!(thrown instanceof HedgerowError) || thrown.status >= 500) this.#log(thrown);
    this.answer(errorReply(thrown, this.requestId));
  }

  answer(reply: Reply): void {
    if (this.gone) {
      reply.source?.close();
    } else if (reply.source === undefined || this.#isHead) {
      reply.source?.close();
      if (this.isPending) this.#transport.cork(() => this.#writeWhole(reply));
      else this.#writeWhole(reply);
      this.#end();
    } else {
      this.#startStream(reply, reply.source);
    }
  }

  #writeWhole(reply: Reply): void {
    const transport = this.#transport;
    this.#writeHead(reply);
    if (!this.#isHead) {
      transport.end(reply.body, this.closing);
      return;
    }
    if (reply.source !== undefined) transport.writeHeader('Transfer-Encoding', 'chunked');
    else transport.writeHeader('Content-Length', String(Buffer.byteLength(reply.body)));
    transport.endWithoutBody();
  }

  /** One `writeHeader` for all headers: each call into the transport costs as much as building the text. */
  #writeHead(reply: Reply): void {
    if (reply.status !== 200) this.#transport.writeStatus(statusLine(reply.status));
    let block = `${reply.contentType}\r\nX-Request-Id: ${this.requestId}`;
    if (this.data) {
      const lsn = reply.lsn ?? this.#services.database?.lastLsn;
      if (lsn !== undefined) block += `\r\nX-Hedgerow-LSN: ${lsn}`;
    }
    if (this.closing) block += '\r\nConnection: close';
    if (reply.headers !== undefined) {
      for (const [name, value] of reply.headers) block += `\r\n${name}: ${headerValue(value)}`;
    }
    this.#transport.writeHeader('Content-Type', block);
  }

  #startStream(reply: Reply, source: ChunkSource): void {
    this.#source = source;
    const { slices } = this.#services;
    this.#transport.onWritable(() => {
      if (this.#waiting) {
        this.#waiting = false;
        slices.add(this.#sendChunk);
      }
      return true;
    });
    this.#transport.cork(() => this.#writeHead(reply));
    slices.add(this.#sendChunk);
  }

  /** Sends one chunk; true while more can be sent at once. Pauses while the client does not read. */
  readonly #sendChunk = (): boolean => {
    if (this.gone || this.#source === undefined) return false;
    let chunk: Uint8Array | null;
    try {
      chunk = this.#source.next();
    } catch (error) {
      // The status is out already: a cut-off chunked body is the only way left to say that the answer is not whole.
      this.#log(error);
      this.#transport.close();
      return false;
    }
    let isWritable = true;
    this.#transport.cork(() => {
      if (chunk === null) this.#transport.end('', this.closing);
      else if (chunk.length > 0) isWritable = this.#transport.write(chunk);
    });
    if (chunk === null) this.#end();
    this.#waiting = !isWritable;
    return chunk !== null && isWritable;
  };

  #end(): void {
    const source = this.#source;
    this.#source = undefined;
    source?.close();
    const finished = this.#finished;
    this.#finished = undefined;
    finished?.();
  }

  #log(thrown: unknown): void {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    this.#services.log.error('request failed', {
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
