// A TCP proxy with which a test cuts, holds or swallows what two programs send each other.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface TcpProxy {
  readonly port: number;
  /** Ends all connections; new ones are accepted again. */
  cut(): void;
  /** Holds what clients send, until `release`. Connections stay open. */
  hold(): void;
  /** Drops what the server sends, until `release`. Connections stay open. */
  swallow(): void;
  /** Loses everything that either side sends, also on new connections, until `release`. */
  silence(): void;
  /** Resolves when a client has sent something that is held or whose answer was dropped. */
  caught(): Promise<void>;
  release(): void;
  close(): void;
}

export async function startProxy(toPort: number): Promise<TcpProxy> {
  const pairs = new Set<{ client: Socket; server: Socket; held: Buffer[] }>();
  let mode: 'pass' | 'hold' | 'swallow' | 'silent' = 'pass';
  let tell = () => {};
  let caught = new Promise<void>(() => undefined);
  const setMode = (next: typeof mode) => {
    mode = next;
    caught = new Promise((resolve) => {
      tell = resolve;
    });
  };
  const listener = createServer((client) => {
    const server = connect(toPort, '127.0.0.1');
    const pair = { client, server, held: [] as Buffer[] };
    pairs.add(pair);
    const end = () => {
      pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    client.on('data', (bytes) => {
      if (mode === 'hold') {
        pair.held.push(bytes);
        tell();
      } else if (mode !== 'silent') server.write(bytes);
    });
    server.on('data', (bytes) => {
      if (mode === 'swallow') tell();
      else if (mode !== 'silent') client.write(bytes);
    });
  });
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  const cut = () => {
    for (const { client, server } of [...pairs]) {
      client.destroy();
      server.destroy();
    }
  };
  return {
    port: (listener.address() as AddressInfo).port,
    cut,
    hold: () => setMode('hold'),
    swallow: () => setMode('swallow'),
    silence: () => setMode('silent'),
    caught: () => caught,
    release() {
      setMode('pass');
      for (const { server, held } of pairs) for (const bytes of held.splice(0)) server.write(bytes);
    },
    close() {
      listener.close();
      cut();
    },
  };
}
