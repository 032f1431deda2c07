// Listens and closes; the only file that knows uWebSockets.js by name.

import uws from 'uWebSockets.js';
import type { Dispatcher } from './dispatch.ts';
import type { TransportRequest, TransportResponse } from './transport.ts';

export interface HttpServer {
  readonly host: string;
  /** The port taken, also when 0 was asked for. */
  readonly port: number;
  /** Takes no new connections, waits up to `graceMs` for running requests, then cuts what is left. */
  close(graceMs: number): Promise<void>;
}

/** Rejects when the address cannot be had. */
export function listen(dispatcher: Dispatcher, host: string, port: number): Promise<HttpServer> {
  const app = uws.App();
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
        reject(new Error(`cannot listen on ${host}:${port}: the address is in use, or not one of this machine`));
        return;
      }
      resolve({
        host,
        port: uws.us_socket_local_port(socket as uws.us_socket),
        close: async (graceMs) => {
          uws.us_listen_socket_close(socket);
          await Promise.race([dispatcher.idle(), wait(graceMs)]);
          app.close();
        },
      });
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

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, ms).unref();
  });
}
