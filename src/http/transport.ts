// The interface between http/ and the HTTP implementation. Two implementations pass the same tests
// (test/http/transport.test.ts): uWebSockets.js (transport-uws.ts), if one of its binaries loads,
// and node:http (transport-node.ts). choose-transport.ts decides between them.

import type { Socket } from 'node:net';
import type { SocketCounts } from './socket-counts.ts';

export type TransportName = 'uws' | 'node';

/**
 * `loaded`: uWebSockets.js, because it loads. `configured`: chosen by `HEDGEROW_TRANSPORT`. The
 * others are reasons why uWebSockets.js does not load.
 */
export const TRANSPORT_REASONS = ['loaded', 'configured', 'not_installed', 'no_binary', 'load_failed'] as const;
export type TransportReason = (typeof TRANSPORT_REASONS)[number];

/** Which transport runs, and why. */
export interface TransportFacts {
  name: TransportName;
  /** Version of uWebSockets.js or of Node.js. */
  version: string;
  reason: TransportReason;
  /** One sentence for people. */
  detail: string;
}

export interface Transport {
  readonly facts: TransportFacts;
  /**
   * False if the parser does not check the framing of chunked bodies strictly (RFC 9112, 7.1), so
   * that the end of such a body is uncertain; the dispatcher refuses them.
   */
  readonly checksChunks: boolean;
  /** Rejects if the address is not available, or the files for https are unusable. */
  listen(handle: RequestHandler, options: ListenOptions): Promise<HttpServer>;
}

/**
 * Called for every request with a complete head. Must not throw. Answers immediately, or registers
 * `onAborted` first.
 */
export type RequestHandler = (response: TransportResponse, request: TransportRequest, method: string) => void;

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

export interface ListenOptions {
  host: string;
  port: number;
  tls?: TlsFiles | undefined;
  /** Counts the connections; those that it refuses are closed at once. */
  sockets: SocketCounts;
  /**
   * Set if other processes of the service serve the same port. uWebSockets.js then shares the port
   * (SO_REUSEPORT). node:http does not listen; it is called with the connections that it is to
   * serve.
   */
  shared?: { onConnection(take: (socket: Socket) => void): void } | undefined;
}

export interface HttpServer {
  readonly host: string;
  /** The actual port, even if 0 was requested. */
  readonly port: number;
  /** Accepts no new connections and closes the open ones. */
  close(): void;
}

export function cannotListen({ host, port }: Pick<ListenOptions, 'host' | 'port'>): Error {
  return new Error(
    `cannot listen on ${host}:${port}: the address is in use, or not one of this machine; --port or HEDGEROW_PORT takes another`,
  );
}

export function unusableFiles({ certFile, keyFile }: TlsFiles): Error {
  return new Error(`https cannot be served: ${certFile} and ${keyFile} are not a certificate and a key in PEM form`);
}

export interface TransportResponse {
  writeStatus(status: string): unknown;
  /** The value may contain further headers, each after CRLF. */
  writeHeader(name: string | Uint8Array, value: string | Uint8Array): unknown;
  /** Sends a chunk; false if the client reads more slowly than we write. */
  write(chunk: Uint8Array): boolean;
  /**
   * Ends with this body. The bytes are copied, here and in `write` and `tryEnd`, so the caller may
   * overwrite them immediately.
   */
  end(body: string | Uint8Array, closeConnection?: boolean): unknown;
  /**
   * Ends with this body if the client has read enough of what was sent before. The part that cannot
   * be sent is not buffered: call again with the body from `getWriteOffset` on when the callback of
   * `onWritable` is called. The first result is true if all of `body` was taken, the second if the
   * answer is complete.
   */
  tryEnd(body: string | Uint8Array, totalSize: number): [isTaken: boolean, isComplete: boolean];
  /** Number of bytes of the body that were taken. */
  getWriteOffset(): number;
  /**
   * Ends after the headers. For HEAD, call `tryEnd` first, with no bytes and the size that GET
   * would have; call this only if `tryEnd` has not completed the answer.
   */
  endWithoutBody(): unknown;
  /** Closes the connection immediately; what was written may be lost. */
  close(): unknown;
  /**
   * Runs `write`. Everything that is written outside the request callback must be written in such a
   * function.
   */
  cork(write: () => void): unknown;
  onWritable(resume: (offset: number) => boolean): unknown;
  onAborted(aborted: () => void): unknown;
  /** Returns the client address, 4 or 16 bytes. May be called only while the response is open. */
  getRemoteAddress(): ArrayBuffer;
  /** The chunk is only valid during the call. */
  onData(take: (chunk: ArrayBuffer | Uint8Array, isLast: boolean) => void): unknown;
}

/** Only valid until the request callback returns. */
export interface TransportRequest {
  /** True for a request of a worker itself, at its leader (src/workers). */
  readonly isOwn?: boolean;
  getUrl(): string;
  /**
   * Returns the raw query string; undefined without `?`. Never call this with a name, which would
   * overwrite the raw text.
   */
  getQuery(): string | undefined;
  /** Returns the first header with this name; empty if there is none. */
  getHeader(lowerCaseName: Uint8Array): string;
  /** Calls `take` for each header, with the name in lower case. */
  forEach(take: (name: string, value: string) => void): void;
}
