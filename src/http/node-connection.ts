// One connection of the transport over node:http: its requests one after the other, and what ends it.
//
// node:http gives out every pipelined request as soon as its head is read. Here a request waits until the one before it is answered, so that writes of one
// connection run in their order. Few may wait: node:http reads on, and each takes some 3 KB.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { addressBytes } from './client-address.ts';
import { NodeRequest } from './node-request.ts';
import { NodeResponse } from './node-response.ts';
import type { RequestHandler } from './transport.ts';

/** Requests of one connection that wait for the answer before theirs; one more ends the connection. */
const MAX_WAITING = 256;
/** Bytes of answers that node:http keeps for a connection until further requests on it wait. */
const MAX_BACKLOG_BYTES = 256 * 1024;
const MAX_HEADERS = 100;
/** Looks (one a second) after which a body must have brought `LEAST_BODY_BYTES`, and a client must have read something. */
const PATIENCE_LOOKS = 10;
/** 16 KB a second. */
const LEAST_BODY_BYTES = 16 * 1024 * PATIENCE_LOOKS;

/** Status of what the parser refuses, by its code. All others: 400. */
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
  /** The answer that is not complete. */
  #current: NodeResponse | undefined;
  /** The request that was handled last. */
  #last: IncomingMessage | undefined;
  /** The last answer that is complete. */
  #answered: ServerResponse | undefined;
  /** Bytes of answers since the last time that the socket had taken all of them. */
  #backlogBytes = 0;
  #awaitsReader = false;
  /** Nothing more is read: the status to tell when all answers are out; 0: none. */
  #failure: number | undefined;
  /** No request after the last one is answered. */
  #ending = false;
  #isOver = false;
  /** The request whose body is coming, and the bytes read when its pace was last judged. */
  #slow: IncomingMessage | undefined;
  #bytesRead = 0;
  #bodyLooks = 0;
  /** Bytes that the client had not read at the last look. */
  #unread = 0;
  #unreadLooks = 0;

  constructor(socket: Socket, handle: RequestHandler) {
    this.#socket = socket;
    this.#handle = handle;
  }

  /** Of the client: 4 or 16 bytes, none when it has gone. */
  get address(): ArrayBuffer {
    this.#address ??= addressBytes(this.#socket.remoteAddress);
    return this.#address;
  }

  arrive(request: IncomingMessage, response: ServerResponse): void {
    if (this.#isOver || this.#ending || this.#failure !== undefined) return;
    // What is written while the connection ends is an error there, which would end the process without a listener.
    response.on('error', ignore);
    const arrived = { request, response };
    if (this.#current === undefined && this.#waiting.length === 0 && this.#hasRoom()) this.#serve(arrived);
    else if (this.#waiting.length < MAX_WAITING) this.#waiting.push(arrived);
    else this.#stop(0);
  }

  /** The parser refuses what has come, or the connection has broken. */
  fail(code: string): void {
    // A request after one that said `Connection: close`: it is not looked at.
    if (code === 'HPE_CLOSED_CONNECTION') return;
    if (!code.startsWith('HPE_') || code === 'HPE_INVALID_EOF_STATE') {
      this.destroy();
      return;
    }
    if (this.#failure !== undefined || this.#isOver) return;
    const current = this.#current;
    // The handler of a request whose body is wrong will never see its end.
    if (current !== undefined && !current.request.complete) this.#stop(STATUS_OF_FAILURE[code] ?? 400);
    else {
      this.#failure = STATUS_OF_FAILURE[code] ?? 400;
      this.#tellFailure();
    }
  }

  /** Gives up the request that is not answered, and the connection after the answers before it. */
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

  /** The socket is closed. */
  closed(): void {
    this.#isOver = true;
    this.#waiting.length = 0;
    const current = this.#current;
    this.#current = undefined;
    current?.abort();
  }

  /** To be called once a second: ends a connection whose client is too slow. */
  look(): void {
    if (this.#isTooSlowToSend() || this.#isTooSlowToRead()) this.destroy();
  }

  /** `bytes` of the body of an answer were handed over; `closing`: the connection ends with it. */
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
    // A body that nobody asks for is read past.
    if (head.hasBody && !exchange.readsBody) request.resume();
  }

  readonly #serveWaiting = (): void => {
    while (this.#current === undefined && this.#waiting.length > 0 && this.#hasRoom())
      this.#serve(this.#waiting.shift()!);
    if (this.#waiting.length === 0) this.#tellFailure();
  };

  /** True when few bytes of answers wait for the client to read; otherwise waiting requests are served when it has. */
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

  /** After the last answer. */
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

/** 0, or the status that refuses what node:http lets through but the other transport does not. */
function statusOfHead(
  { httpVersionMajor, httpVersionMinor, url, rawHeaders }: IncomingMessage,
  head: NodeRequest,
): number {
  if (httpVersionMajor !== 1 || httpVersionMinor !== 1) return 505;
  if (rawHeaders.length / 2 > MAX_HEADERS) return 431;
  // Absolute form and the like: which host is meant is in doubt.
  if (url?.startsWith('/') !== true || head.hosts > 1) return 400;
  return 0;
}
