// Adapts a node:http response to the transport port.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { NodeConnection } from './node-connection.ts';
import type { TransportResponse } from './transport.ts';

/** `tryEnd` writes this many bytes at a time until the socket is full. */
const PIECE_BYTES = 16 * 1024;

export class NodeResponse implements TransportResponse {
  readonly request: IncomingMessage;
  readonly #connection: NodeConnection;
  readonly #response: ServerResponse;
  #status = 200;
  #phrase = 'OK';
  readonly #headers: string[] = [];
  /** Bytes of the body handed over. */
  #written = 0;
  #isBegun = false;
  #isEnded = false;
  /** True if the connection ends with this answer. */
  #isClosing = false;
  readsBody = false;
  #aborted: (() => void) | undefined;

  constructor(connection: NodeConnection, request: IncomingMessage, response: ServerResponse) {
    this.#connection = connection;
    this.request = request;
    this.#response = response;
  }

  /** True once the head has been written. */
  get isBegun(): boolean {
    return this.#isBegun;
  }

  writeStatus(status: string): void {
    this.#status = Number(status.slice(0, 3));
    this.#phrase = status.slice(4);
  }

  writeHeader(name: string | Uint8Array, value: string | Uint8Array): void {
    const lines = textOf(value).split('\r\n');
    const first = textOf(name);
    if (first === 'Connection' && lines[0] === 'close') this.#isClosing = true;
    this.#headers.push(first, lines[0]!);
    for (let i = 1; i < lines.length; i++) {
      const line = lines[i]!;
      const colon = line.indexOf(': ');
      this.#headers.push(line.slice(0, colon), line.slice(colon + 2));
    }
  }

  write(chunk: Uint8Array): boolean {
    this.#begin(undefined);
    this.#written += chunk.length;
    return this.#response.write(Buffer.from(chunk));
  }

  end(body: string | Uint8Array, closeConnection = false): void {
    const length = Buffer.byteLength(body);
    if (closeConnection && !this.#isBegun) this.writeHeader('Connection', 'close');
    this.#begin(length);
    this.#written += length;
    if (length > 0) this.#response.end(typeof body === 'string' ? body : Buffer.from(body));
    else this.#response.end();
    this.#over();
  }

  tryEnd(body: string | Uint8Array, totalSize: number): [boolean, boolean] {
    this.#begin(totalSize);
    const bytes = typeof body === 'string' ? Buffer.from(body) : body;
    let at = 0;
    while (at < bytes.length) {
      const piece = Buffer.from(bytes.subarray(at, at + PIECE_BYTES));
      at += piece.length;
      if (!this.#response.write(piece)) break;
    }
    this.#written += at;
    if (this.#written < totalSize) return [at === bytes.length, false];
    this.#response.end();
    this.#over();
    return [true, true];
  }

  getWriteOffset(): number {
    return this.#written;
  }

  endWithoutBody(): void {
    this.#begin(undefined);
    this.#response.end();
    this.#over();
  }

  close(): void {
    this.#connection.destroy();
  }

  cork(write: () => void): void {
    write();
  }

  onWritable(resume: (offset: number) => boolean): void {
    this.#response.on('drain', () => {
      if (!this.#isEnded) resume(this.#written);
    });
  }

  onAborted(aborted: () => void): void {
    this.#aborted = aborted;
  }

  getRemoteAddress(): ArrayBuffer {
    return this.#connection.address;
  }

  onData(take: (chunk: Uint8Array, isLast: boolean) => void): void {
    this.readsBody = true;
    this.request.on('data', (chunk: Buffer) => take(chunk, false));
    this.request.on('end', () => take(NOTHING, true));
  }

  /** Called when the client has disconnected or its body is invalid. */
  abort(): void {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#aborted?.();
  }

  /** Writes the head. Without `length` the body is chunked, or absent. */
  #begin(length: number | undefined): void {
    if (this.#isBegun) return;
    this.#isBegun = true;
    const headers = this.#headers;
    if (length !== undefined) headers.push('Content-Length', String(length));
    this.#response.writeHead(this.#status, this.#phrase, headers);
  }

  #over(): void {
    this.#isEnded = true;
    this.#connection.ended(this.#response, this.#written, this.#isClosing || !this.#response.shouldKeepAlive);
  }
}

const NOTHING = new Uint8Array(0);

function textOf(value: string | Uint8Array): string {
  return typeof value === 'string'
    ? value
    : Buffer.from(value.buffer, value.byteOffset, value.length).toString('latin1');
}
