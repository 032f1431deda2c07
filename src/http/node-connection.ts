// One connection of the node:http transport: serves its requests one after another, and decides
// when it ends.
//
// node:http delivers every pipelined request as soon as its head is read. Here a request waits
// until the one before it is answered, so that writes on one connection run in order. Only a
// limited number of requests may wait: node:http keeps reading, and each request takes about 3 KB.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressBytes } from './client-address.ts';
import { NodeRequest } from './node-request.ts';
import { NodeResponse } from './node-response.ts';
import type { RequestHandler } from './transport.ts';

/**
 * Maximum number of requests on one connection that wait for earlier answers; one more ends the
 * connection.
 */
const MAX_WAITING = 256;
/**
 * Bytes of answers buffered by node:http for a connection, above which further requests on it wait.
 */
const MAX_BACKLOG_BYTES = 256 * 1024;
const MAX_HEADERS = 100;
/**
 * Number of calls of `look` (one a second) within which `LEAST_BODY_BYTES` of a body must arrive
 * and a client must read something.
 */
const PATIENCE_LOOKS = 10;
/** 16 KB a second. */
const LEAST_BODY_BYTES = 16 * 1024 * PATIENCE_LOOKS;

/** Status for requests that the parser refuses, by its error code; 400 for all others. */
const STATUS_OF_FAILURE: Readonly<Record<string, number>> = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_INVALID_VERSION: 505,
};
const PHRASES: Readonly<Record<number, string>> = {
  400: 'Bad Request',
  431: 'Request Header Fields Too Large',
  505: 'HTTP Version Not Supported',
};

interface Arrived {
  request: IncomingMessage;
  response: ServerResponse;
}

export class NodeConnection {
  readonly #socket: Socket;
  readonly #handle: RequestHandler;
  readonly #waiting: Arrived[] = [];
  #address: ArrayBuffer | undefined;
  /** The answer that is not complete yet. */
  #current: NodeResponse | undefined;
  /** The request handled last. */
  #last: IncomingMessage | undefined;
  /** The last complete answer. */
  #answered: ServerResponse | undefined;
  /** Bytes of answers since the socket last had none left to send. */
  #backlogBytes = 0;
  #awaitsReader = false;
  /**
   * Set when nothing more is read: the status to send after all answers; 0 closes the connection
   * without a status.
   */
  #failure: number | undefined;
  /** True if no further request is answered. */
  #ending = false;
  #isOver = false;
  /** The request whose body is arriving, and the bytes read when its pace was last checked. */
  #slow: IncomingMessage | undefined;
  #bytesRead = 0;
  #bodyLooks = 0;
  /** Bytes that the client had not read at the last check. */
  #unread = 0;
  #unreadLooks = 0;

  constructor(socket: Socket, handle: RequestHandler) {
    this.#socket = socket;
    this.#handle = handle;
  }

  /** Client address, 4 or 16 bytes; empty if the client has gone. */
  get address(): ArrayBuffer {
    this.#address ??= addressBytes(this.#socket.remoteAddress);
    return this.#address;
  }

  arrive(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isOver || this.#ending || this.#failure !== undefined) return;
    // Writing while the connection ends emits an error on the response; without a listener it would
    // end the process.
    response.on('error', ignore);
    const arrived = { request, response };
    if (this.#current === undefined && this.#waiting.length === 0 && this.#hasRoom()) this.#serve(arrived);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(arrived);
    else this.#stop(0);
  }

  /** Called when the parser refuses the input or the connection has broken. */
  fail(code: string): void {
    // The client sent a request after one with `Connection: close`; the new request is ignored.
    if (code === 'HPE_CLOSED_CONNECTION') return;
    if (!code.startsWith('HPE_') || code === 'HPE_INVALID_EOF_STATE') {
      this.destroy();
      return;
    }
    if (this.#failure !== undefined || this.#isOver) return;
    const current = this.#current;
    // The handler of a request with an invalid body would never see its end.
    if (current !== undefined && !current.request.complete) this.#stop(STATUS_OF_FAILURE[code] ?? 400);
    else {
      this.#failure = STATUS_OF_FAILURE[code] ?? 400;
      this.#tellFailure();
    }
  }

  /**
   * Abandons the current request, and ends the connection after the answers before it (at once, if
   * the current answer has begun).
   */
  #stop(status: number): void {
    this.#failure = status;
    this.#waiting.length = 0;
    const current = this.#current;
    if (current?.isBegun === true) {
      this.destroy();
      return;
    }
    this.#current = undefined;
    current?.abort();
    this.#tellFailure();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  /** Called when the socket is closed. */
  closed(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    const current = this.#current;
    this.#current = undefined;
    current?.abort();
  }

  /** To be called once a second: ends the connection if its client is too slow. */
  look(): void {
    if (this.#isTooSlowToSend() || this.#isTooSlowToRead()) this.destroy();
  }

  /**
   * Called when an answer is complete. `bytes` is the size of the body; `closing` is true if the
   * connection ends with this answer.
   */
  ended(response: ServerResponse, bytes: number, closing: boolean): void {
    this.#current = undefined;
    this.#answered = response;
    this.#backlogBytes += bytes;
    if (closing) {
      this.#ending = true;
      this.#waiting.length = 0;
      return;
    }
    if (this.#waiting.length > 0) setImmediate(this.#serveWaiting);
    else this.#tellFailure();
  }

  #serve({ request, response }: Arrived): void {
    this.#last = request;
    const head = new NodeRequest(request);
    const refused = statusOfHead(request, head);
    if (refused !== 0) {
      this.#ending = true;
      this.#waiting.length = 0;
      response.writeHead(refused, { Connection: 'close', 'Content-Length': 0 }).end();
      return;
    }
    const exchange = new NodeResponse(this, request, response);
    this.#current = exchange;
    this.#handle(exchange, head, request.method ?? '');
    // A body that no handler reads is discarded.
    if (head.hasBody && !exchange.readsBody) request.resume();
  }

  readonly #serveWaiting = (): void => {
    while (this.#current === undefined && this.#waiting.length > 0 && this.#hasRoom())
      this.#serve(this.#waiting.shift()!);
    if (this.#waiting.length === 0) this.#tellFailure();
  };

  /**
   * Returns true if only few bytes of answers are waiting for the client to read. Otherwise waiting
   * requests are served once the client has read these answers.
   */
  #hasRoom(): boolean {
    const last = this.#answered;
    if (last === undefined || last.writableFinished) this.#backlogBytes = 0;
    if (last === undefined || this.#backlogBytes <= MAX_BACKLOG_BYTES) return true;
    if (!this.#awaitsReader) {
      this.#awaitsReader = true;
      last.once('finish', () => {
        this.#awaitsReader = false;
        this.#serveWaiting();
      });
    }
    return false;
  }

  /** Sends the failure status after the last answer. */
  #tellFailure(): void {
    if (this.#failure === undefined || this.#current !== undefined || this.#waiting.length > 0) return;
    const last = this.#answered;
    if (last?.writableFinished === false) last.once('finish', () => this.#writeFailure());
    else this.#writeFailure();
  }

  #writeFailure(): void {
    const status = this.#failure!;
    const page = `HTTP/1.1 ${status} ${PHRASES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`;
    this.#socket.end(status === 0 ? '' : page, () => this.destroy());
  }

  #isTooSlowToSend(): boolean {
    const request = this.#current?.request ?? this.#last;
    if (request === undefined || request.complete) {
      this.#slow = undefined;
      return false;
    }
    if (this.#slow !== request) {
      this.#slow = request;
      this.#bodyLooks = 0;
      this.#bytesRead = this.#socket.bytesRead;
      return false;
    }
    if (++this.#bodyLooks < PATIENCE_LOOKS) return false;
    const bytes = this.#socket.bytesRead - this.#bytesRead;
    this.#bodyLooks = 0;
    this.#bytesRead = this.#socket.bytesRead;
    return bytes < LEAST_BODY_BYTES;
  }

  #isTooSlowToRead(): boolean {
    const unread = this.#socket.writableLength;
    this.#unreadLooks = unread > 0 && unread === this.#unread ? this.#unreadLooks + 1 : 0;
    this.#unread = unread;
    return this.#unreadLooks >= PATIENCE_LOOKS;
  }
}

function ignore(): void {}

/**
 * Returns 0, or the status for a request that node:http accepts but the other transport does not.
 */
function statusOfHead(
  { httpVersionMajor, httpVersionMinor, url, rawHeaders }: IncomingMessage,
  head: NodeRequest,
): number {
  if (httpVersionMajor !== 1 || httpVersionMinor !== 1) return 505;
  if (rawHeaders.length / 2 > MAX_HEADERS) return 431;
  // With a URL in absolute form or the like, or several Host headers, it is uncertain which host is
  // meant.
  if (url?.startsWith('/') !== true || head.hosts > 1) return 400;
  return 0;
}
