// The leader's end of the links: a transport whose requests come from the workers, and not from
// clients. The service of the leader listens on it in place of a port.

import type { Duplex } from 'node:stream';
import {
  type HttpServer,
  headerText,
  type ListenOptions,
  type RequestHandler,
  type Transport,
  type TransportFacts,
  type TransportRequest,
  type TransportResponse,
} from '../http/index.ts';
import {
  ABORT,
  CUT,
  END,
  FrameReader,
  FrameWriter,
  HEAD,
  LAST,
  OWN,
  PIECE,
  PIECE_BYTES,
  REQUEST,
  WHOLE,
  WITH_BODY,
} from './link-frames.ts';

export class LinkTransport implements Transport {
  /** Those of the transport of the workers, which is the one that clients see. */
  readonly facts: TransportFacts;
  readonly checksChunks = true;
  readonly #sockets = new Set<Duplex>();
  #handle: RequestHandler | undefined;

  constructor(facts: TransportFacts) {
    this.facts = facts;
  }

  /** Host and port are those of the workers. */
  async listen(handle: RequestHandler, { host, port }: ListenOptions): Promise<HttpServer> {
    this.#handle = handle;
    const close = () => {
      this.#handle = undefined;
      for (const socket of this.#sockets) socket.destroy();
    };
    return { host, port, close };
  }

  /** Serves the requests of a worker's socket until it is closed. */
  attach(socket: Duplex): void {
    const open = new Map<number, LinkResponse>();
    const writer = new FrameWriter(socket, () => {
      for (const response of [...open.values()]) response.drained();
    });
    const reader = new FrameReader((kind, number, payload) => {
      if (kind === REQUEST) this.#begin(writer, open, number, payload);
      else if (kind === ABORT) open.get(number)?.abort();
      else open.get(number)?.receive(payload, kind === LAST);
    });
    this.#sockets.add(socket);
    socket.on('data', (piece: Buffer) => reader.receive(piece));
    socket.on('error', () => undefined);
    socket.on('close', () => {
      this.#sockets.delete(socket);
      writer.end();
      for (const response of [...open.values()]) response.abort();
    });
  }

  #begin(writer: FrameWriter, open: Map<number, LinkResponse>, number: number, payload: Buffer): void {
    const flags = payload[0]!;
    const start = 2 + payload[1]!;
    const address = new Uint8Array(payload.subarray(2, start)).buffer;
    const request = new LinkRequest(payload.toString('utf8', start), (flags & OWN) !== 0);
    const response = new LinkResponse({ writer, number, address, ended: () => open.delete(number) });
    if (this.#handle === undefined) {
      response.close();
      return;
    }
    open.set(number, response);
    this.#handle(response, request, request.method);
    if ((flags & WITH_BODY) === 0) response.receive(payload.subarray(0, 0), true);
  }
}

class LinkRequest implements TransportRequest {
  readonly method: string;
  readonly isOwn: boolean;
  readonly #path: string;
  readonly #query: string | undefined;
  readonly #headers: (readonly [string, string])[] = [];

  constructor(head: string, isOwn: boolean) {
    this.isOwn = isOwn;
    const [first = '', ...lines] = head.split('\r\n');
    const space = first.indexOf(' ');
    this.method = first.slice(0, space);
    const target = first.slice(space + 1);
    const mark = target.indexOf('?');
    this.#path = mark < 0 ? target : target.slice(0, mark);
    this.#query = mark < 0 ? undefined : target.slice(mark + 1);
    for (const line of lines) {
      const colon = line.indexOf(': ');
      this.#headers.push([line.slice(0, colon), line.slice(colon + 2)]);
    }
  }

  getUrl(): string {
    return this.#path;
  }

  getQuery(): string | undefined {
    return this.#query;
  }

  getHeader(lowerCaseName: Uint8Array): string {
    const name = headerText(lowerCaseName);
    for (const [each, value] of this.#headers) if (each === name) return value;
    return '';
  }

  forEach(take: (name: string, value: string) => void): void {
    for (const [name, value] of this.#headers) take(name, value);
  }
}

interface ResponseParts {
  readonly writer: FrameWriter;
  readonly number: number;
  readonly address: ArrayBuffer;
  readonly ended: () => void;
}

class LinkResponse implements TransportResponse {
  readonly #parts: ResponseParts;
  #head = '200 OK';
  #isBegun = false;
  #isEnded = false;
  /** Bytes of the body that were sent. */
  #written = 0;
  #aborted: (() => void) | undefined;
  #resume: ((offset: number) => boolean) | undefined;
  #take: ((chunk: Uint8Array, isLast: boolean) => void) | undefined;

  constructor(parts: ResponseParts) {
    this.#parts = parts;
  }

  writeStatus(status: string): void {
    this.#head = status + this.#head.slice('200 OK'.length);
  }

  writeHeader(name: string | Uint8Array, value: string | Uint8Array): void {
    this.#head += `\r\n${textOf(name)}: ${textOf(value)}`;
  }

  write(chunk: Uint8Array): boolean {
    this.#send(chunk);
    return !this.#parts.writer.isFull;
  }

  end(body: string | Uint8Array): void {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    if (this.#isBegun || bytes.length > PIECE_BYTES) {
      this.#send(bytes);
      this.#over(END);
      return;
    }
    const head = Buffer.from(this.#head);
    const size = Buffer.alloc(4);
    size.writeUInt32LE(head.length);
    const { writer, number } = this.#parts;
    this.#isBegun = true;
    writer.send(WHOLE, number, size, head, bytes);
    this.#finish();
  }

  tryEnd(body: string | Uint8Array, totalSize: number): [boolean, boolean] {
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    const { writer } = this.#parts;
    let at = 0;
    while (at < bytes.length) {
      const piece = bytes.subarray(at, at + PIECE_BYTES);
      this.#send(piece);
      at += piece.length;
      if (writer.isFull) break;
    }
    if (this.#written < totalSize) return [at === bytes.length, false];
    this.#begin();
    this.#over(END);
    return [true, true];
  }

  getWriteOffset(): number {
    return this.#written;
  }

  endWithoutBody(): void {
    this.#begin();
    this.#over(END);
  }

  close(): void {
    this.#over(CUT);
    this.#aborted?.();
  }

  cork(write: () => void): void {
    write();
  }

  onWritable(resume: (offset: number) => boolean): void {
    this.#resume = resume;
  }

  onAborted(aborted: () => void): void {
    this.#aborted = aborted;
  }

  getRemoteAddress(): ArrayBuffer {
    return this.#parts.address;
  }

  onData(take: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.#take = take;
  }

  /** Receives a piece of the request's body. */
  receive(chunk: Uint8Array, isLast: boolean): void {
    if (!this.#isEnded) this.#take?.(chunk, isLast);
  }

  /** Called when the socket takes more bytes. */
  drained(): void {
    if (!this.#isEnded) this.#resume?.(this.#written);
  }

  /** Called when the client has disconnected, or the worker has ended. */
  abort(): void {
    if (this.#isEnded) return;
    this.#finish();
    this.#aborted?.();
  }

  #begin(): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    this.#parts.writer.send(HEAD, this.#parts.number, Buffer.from(this.#head));
  }

  #send(bytes: Uint8Array): void {
    this.#begin();
    this.#written += bytes.length;
    const { writer, number } = this.#parts;
    for (let at = 0; at < bytes.length; at += PIECE_BYTES)
      writer.send(PIECE, number, bytes.subarray(at, at + PIECE_BYTES));
  }

  #over(kind: number): void {
    if (this.#isEnded) return;
    this.#parts.writer.send(kind, this.#parts.number);
    this.#finish();
  }

  #finish(): void {
    this.#isEnded = true;
    this.#parts.ended();
  }
}

function textOf(value: string | Uint8Array): string {
  return typeof value === 'string' ? value : Buffer.from(value.buffer, value.byteOffset, value.length).toString();
}
