// Listens and closes; the only file that knows uWebSockets.js by name.

import uws from 'uWebSockets.js';
import type { Dispatcher } from './dispatch.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export interface TlsFiles {
  certFile: string;
  keyFile: string;
}

export interface HttpServer {
  readonly host: string;
  /** The port taken, also when 0 was asked for. */
  readonly port: number;
  /** Takes no new connections and cuts those there are. */
  close(): void;
}

export interface ListenOptions {
  host: string;
  port: number;
  tls?: TlsFiles | undefined;
}

/** Rejects when the address cannot be had, or the files for https cannot be used. */
export async function listen(dispatcher: Dispatcher, { host, port, tls }: ListenOptions): Promise<HttpServer> {
  const app = tls === undefined ? uws.App() : secureApp(tls);
  // A handler that throws ends the whole process; `handle` never does.
  app.get('/*', (response, request) => {
    dispatcher.handle(response as unknown as TransportResponse, request as TransportRequest, 'GET');
  });
  app.any('/*', (response, request) => {
    const method = request.getCaseSensitiveMethod();
    dispatcher.handle(response as unknown as TransportResponse, request as TransportRequest, method);
  });
  return new Promise((resolve, reject) => {
    const listening = (socket: uws.us_listen_socket | false) => {
      if (socket === false) {
        reject(
          new Error(
            `cannot listen on ${host}:${port}: the address is in use, or not one of this machine; --port or HEDGEROW_PORT takes another`,
          ),
        );
        return;
      }
      resolve({ host, port: uws.us_socket_local_port(socket as uws.us_socket), close: () => void app.close() });
    };
    // Without the option two processes share one port and each gets some of the connections. The type lacks this form.
    const listenOn = app.listen as unknown as (
      host: string,
      port: number,
      options: number,
      callback: typeof listening,
    ) => void;
    listenOn.call(app, host, port, EXCLUSIVE_PORT, listening);
  });
}

/** LIBUS_LISTEN_EXCLUSIVE_PORT; the declared enum has no value at run time under this module system. */
const EXCLUSIVE_PORT = 1;

function secureApp({ certFile, keyFile }: TlsFiles): uws.TemplatedApp {
  try {
    return uws.SSLApp({ cert_file_name: certFile, key_file_name: keyFile });
  } catch {
    // The transport does not say which of them, or why.
    throw new Error(`https cannot be served: ${certFile} and ${keyFile} are no certificate and key in PEM form`);
  }
}
