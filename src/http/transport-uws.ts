// The transport over uWebSockets.js, whose responses and requests are passed on unchanged.

import { randomBytes } from 'node:crypto';
import { PreambleWatch, type Relayed } from './preamble-watch.ts';
import { Sample } from './sample.ts';
import { TLS_SUITES } from './tls-suites.ts';
import {
  cannotListen,
  type HttpServer,
  type ListenOptions,
  type RequestHandler,
  type TlsFiles,
  type Transport,
  type TransportFacts,
  type TransportRequest,
  type TransportResponse,
  unusableFiles,
} from './transport.ts';

type Socket = object;
type NativeResponse = TransportResponse & Relayed;
type NativeRequest = TransportRequest & { getCaseSensitiveMethod(): string };
type NativeHandler = (response: NativeResponse, request: NativeRequest) => void;

interface NativeApp {
  /** Called for each connection: 1 when it is accepted, -1 when it has ended. */
  filter(handler: (response: TransportResponse, change: number) => void): unknown;
  get(pattern: string, handler: NativeHandler): unknown;
  any(pattern: string, handler: NativeHandler): unknown;
  listen(host: string, port: number, options: number, callback: (socket: Socket | false) => void): unknown;
  close(): unknown;
}

/**
 * The part of the module that is used. The module's own types cannot be imported, since the package
 * may be missing.
 */
export interface UwsModule {
  App(): NativeApp;
  SSLApp(options: { cert_file_name: string; key_file_name: string; ssl_ciphers: string }): NativeApp;
  us_socket_local_port(socket: Socket): number;
}

/**
 * LIBUS_LISTEN_EXCLUSIVE_PORT. Without this option two processes can share a port, and each gets
 * some of the connections, as workers do.
 */
const EXCLUSIVE_PORT = 1;

export function uwsTransport(uws: UwsModule, facts: TransportFacts): Transport {
  return {
    facts,
    // The parser reads the chunk size `1;` as 27 bytes, and it reads trailers as the next request.
    checksChunks: false,
    listen: (handle, options) => listen(uws, handle, options),
  };
}

function listen(uws: UwsModule, handle: RequestHandler, options: ListenOptions): Promise<HttpServer> {
  const { host, port, tls, sockets } = options;
  const app = tls === undefined ? uws.App() : secureApp(uws, tls);
  const preambles = new PreambleWatch(new Sample(randomBytes(4).readInt32LE()));
  const count = (response: TransportResponse, change: number): void => {
    // At this point the address of the ended connection is no longer known.
    if (change === -1) {
      sockets.closed();
      return;
    }
    preambles.opened();
    if (!sockets.opened(response.getRemoteAddress())) response.close();
  };
  app.filter(count);
  const take = (response: NativeResponse, request: NativeRequest, method: string): void => {
    if (preambles.refuses(response)) response.close();
    else handle(response, request, method);
  };
  // A handler that throws would end the whole process; `handle` never throws.
  app.get('/*', (response, request) => take(response, request, 'GET'));
  app.any('/*', (response, request) => take(response, request, request.getCaseSensitiveMethod()));
  return new Promise((resolve, reject) => {
    app.listen(host, port, options.shared === undefined ? EXCLUSIVE_PORT : 0, (socket) => {
      if (socket === false) reject(cannotListen(options));
      else resolve({ host, port: uws.us_socket_local_port(socket), close: () => void app.close() });
    });
  });
}

function secureApp(uws: UwsModule, files: TlsFiles): NativeApp {
  try {
    return uws.SSLApp({
      cert_file_name: files.certFile,
      key_file_name: files.keyFile,
      ssl_ciphers: TLS_SUITES.join(':'),
    });
  } catch {
    // The transport does not say which file is unusable, or why.
    throw unusableFiles(files);
  }
}
