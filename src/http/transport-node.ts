// The transport over node:http and node:https, used if no binary of uWebSockets.js loads, or if it
// is configured. Its limits and the order of its answers are those of the uWebSockets.js transport.

import { readFileSync } from 'node:fs';
import { createServer, type Server, type ServerOptions } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { addressBytes } from './client-address.ts';
import { NodeConnection } from './node-connection.ts';
import type { SocketCounts } from './socket-counts.ts';
import { TLS_SUITES } from './tls-suites.ts';
import {
  cannotListen,
  type HttpServer,
  type ListenOptions,
  type RequestHandler,
  type TlsFiles,
  type Transport,
  type TransportFacts,
  unusableFiles,
} from './transport.ts';

/** Maximum size of request line and headers together. */
const MAX_HEAD_BYTES = 4096;
/** Time within which a head must be complete, and a request must follow the last answer. */
const IDLE_MS = 10_000;
/** Interval at which connections are checked. */
const SWEEP_MS = 1000;

const OPTIONS: ServerOptions = {
  // Strict regardless of --insecure-http-parser: anything that a proxy and this parser read
  // differently is a security hole.
  insecureHTTPParser: false,
  requireHostHeader: true,
  maxHeaderSize: MAX_HEAD_BYTES,
  headersTimeout: IDLE_MS,
  keepAliveTimeout: IDLE_MS,
  connectionsCheckingInterval: SWEEP_MS,
  // Bodies must keep a minimum pace instead (node-connection.ts).
  requestTimeout: 0,
  noDelay: true,
  highWaterMark: 64 * 1024,
};

export function nodeTransport(facts: TransportFacts): Transport {
  return { facts, checksChunks: true, listen };
}

async function listen(handle: RequestHandler, options: ListenOptions): Promise<HttpServer> {
  const { host, port, tls } = options;
  const server = tls === undefined ? createServer(OPTIONS) : secureServer(tls);
  // All headers are read; if there are too many, the request is refused (node-connection.ts)
  // instead of dropping some.
  server.maxHeadersCount = 0;
  const sweep = serve(server, tls === undefined ? 'connection' : 'secureConnection', handle, options.sockets);
  await new Promise<void>((resolve, reject) => {
    // `on` and not `once`: a connection that cannot be accepted (ENFILE, ENOBUFS) is an error of
    // the server too, and without a listener it would end the process.
    server.on('error', () => reject(cannotListen(options)));
    if (options.shared === undefined) server.listen(port, host, resolve);
    else {
      options.shared.onConnection((socket) => server.emit('connection', socket));
      // Makes node:http check for connections that are too slow.
      server.emit('listening');
      resolve();
    }
  });
  return {
    host,
    port: (server.address() as AddressInfo | null)?.port ?? port,
    close: () => {
      clearInterval(sweep);
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Returns the timer that checks the connections. */
function serve(server: Server, opened: string, handle: RequestHandler, sockets: SocketCounts): NodeJS.Timeout {
  const connections = new Map<Socket, NodeConnection>();
  server.on('connection', (socket: Socket) => {
    const address = addressBytes(socket.remoteAddress);
    socket.once('close', () => sockets.closed(address));
    if (!sockets.opened(address)) socket.destroy();
  });
  server.on(opened, (socket: Socket) => {
    const connection = new NodeConnection(socket, handle);
    connections.set(socket, connection);
    socket.once('close', () => {
      connections.delete(socket);
      connection.closed();
    });
  });
  server.on('request', (request, response) => connections.get(request.socket)?.arrive(request, response));
  // Without this listener, a request with an unknown expectation would be answered 417. RFC 9110,
  // 10.1.1 allows the expectation to be ignored.
  server.on('checkExpectation', (request, response) => connections.get(request.socket)?.arrive(request, response));
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket as Socket);
    if (connection === undefined) socket.destroy();
    else connection.fail(error.code ?? '');
  });
  return setInterval(() => {
    for (const connection of connections.values()) connection.look();
  }, SWEEP_MS).unref();
}

function secureServer(files: TlsFiles): Server {
  try {
    const pair = {
      ciphers: TLS_SUITES.join(':'),
      minVersion: 'TLSv1.2' as const,
      honorCipherOrder: true,
      cert: readFileSync(files.certFile),
      key: readFileSync(files.keyFile),
    };
    return createSecureServer({ ...OPTIONS, ...pair, handshakeTimeout: IDLE_MS });
  } catch {
    throw unusableFiles(files);
  }
}
