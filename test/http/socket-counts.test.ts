import type { Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { mostConnections } from '../../src/http/connection-limit.ts';
import { SocketCounts } from '../../src/http/socket-counts.ts';
import { peersIn } from '../../src/http/tcp-table.ts';
import { openSocket, raw, send, startServer, type TestServer } from './support.ts';

const ipv4 = (...bytes: number[]) => Uint8Array.from(bytes).buffer;
const ONE = ipv4(10, 0, 0, 1);
const OTHER = ipv4(10, 0, 0, 2);
const ipv6 = (network: number, host: number) =>
  Uint8Array.from([0xfd, 0, 0, 0, 0, 0, 0, network, 0, 0, 0, 0, 0, 0, 0, host]).buffer;

/** A transport that may or may not report which address a closed connection belonged to. */
class Transport {
  readonly open: ArrayBuffer[] = [];
  looks = 0;
  nowMs = 0;
  lookMs = 0;
  hasTable = true;
  readonly counts: SocketCounts;

  constructor(most: number, exempt: string[] = []) {
    const peers = () => {
      this.looks += 1;
      this.nowMs += this.lookMs;
      return this.hasTable ? this.open : undefined;
    };
    this.counts = new SocketCounts({ most, exempt, peers, now: () => this.nowMs });
  }

  connect(address: ArrayBuffer, times = 1): boolean[] {
    return Array.from({ length: times }, () => {
      this.open.push(address);
      const isTaken = this.counts.opened(address);
      if (!isTaken) this.leave(address, false);
      return isTaken;
    });
  }

  leave(address: ArrayBuffer, isKnown: boolean): void {
    this.open.splice(this.open.indexOf(address), 1);
    if (isKnown) this.counts.closed(address);
    else this.counts.closed();
  }
}

const taken = (outcomes: boolean[]) => outcomes.filter(Boolean).length;

describe('connections of an address', () => {
  test('are accepted up to the limit, separately for each address', () => {
    const transport = new Transport(3);
    expect(transport.connect(ONE, 5)).toEqual([true, true, true, false, false]);
    expect(transport.counts.open).toBe(3);
    expect(taken(transport.connect(OTHER, 5))).toBe(3);
    expect(transport.counts.open).toBe(6);
    // No connection of an unknown address has ended yet.
    expect(transport.looks).toBe(0);
    transport.leave(ONE, true);
    expect(transport.connect(ONE, 2)).toEqual([true, false]);
  });

  test('are recounted from the kernel table when the transport does not report whose connection has ended', () => {
    const transport = new Transport(3);
    transport.connect(ONE, 3);
    transport.connect(OTHER, 3);
    transport.leave(ONE, false);
    transport.leave(ONE, false);
    expect(transport.connect(ONE, 3)).toEqual([true, true, false]);
    expect(transport.connect(OTHER, 1)).toEqual([false]);
    expect(transport.looks).toBeGreaterThan(0);
    // While no address can be over the limit, the open sockets are not scanned.
    const quiet = new Transport(3);
    for (let i = 0; i < 1000; i++) {
      expect(quiet.connect(ONE)).toEqual([true]);
      quiet.leave(ONE, false);
    }
    expect(quiet.looks).toBe(0);
  });

  test('are scanned in the kernel table for at most a tenth of the time', () => {
    const transport = new Transport(3);
    transport.lookMs = 5;
    transport.connect(OTHER, 3);
    transport.connect(ONE, 3);
    transport.leave(ONE, false);
    expect(transport.connect(ONE, 2)).toEqual([true, false]);
    const { looks } = transport;
    for (let i = 0; i < 100; i++) expect(transport.connect(ONE)).toEqual([false]);
    expect(transport.looks).toBe(looks);
    transport.nowMs += 50;
    transport.connect(ONE);
    expect(transport.looks).toBe(looks + 1);
  });

  test('are all accepted when an unknown address has disconnected and no kernel table can be read', () => {
    const transport = new Transport(3);
    transport.hasTable = false;
    expect(taken(transport.connect(ONE, 5))).toBe(3);
    transport.connect(OTHER, 3);
    transport.leave(OTHER, false);
    expect(taken(transport.connect(ONE, 5))).toBe(5);
  });

  test('are counted per IPv6 network, and as IPv4 when the IPv6 address maps an IPv4 address', () => {
    const transport = new Transport(3);
    expect(taken(Array.from({ length: 5 }, (_, host) => transport.connect(ipv6(1, host))[0]!))).toBe(3);
    expect(transport.connect(ipv6(2, 1))).toEqual([true]);
    const mapped = Uint8Array.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1]).buffer;
    transport.connect(mapped, 2);
    expect(transport.connect(ONE, 2)).toEqual([true, false]);
  });

  test('are not counted for proxies, nor when there is no limit', () => {
    const transport = new Transport(3, ['10.0.0.1', 'fd00:0:0:1::7']);
    expect(taken(transport.connect(ONE, 50))).toBe(50);
    expect(taken(transport.connect(ipv6(1, 7), 50))).toBe(50);
    expect(taken(transport.connect(OTHER, 50))).toBe(3);
    expect(taken(new Transport(0).connect(ONE, 5000))).toBe(5000);
  });
});

test('the remote addresses of open connections are read from the kernel table', () => {
  const text = [
    '  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode',
    '   0: 00000000:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 1 1',
    '   1: 0100007F:1F90 0100000A:D431 01 00000000:00000000 00:00000000 00000000     0        0 2 1',
    '   2: 0100007F:1F90 0200000A:D432 08 00000000:00000000 00:00000000 00000000     0        0 3 1',
    '   3: 0100007F:1F90 0300000A:D433 06 00000000:00000000 00:00000000 00000000     0        0 0 1',
    '   4: 0100000A:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000     0        0 4 1',
    '   5: 000000FD01000000000000007F000001:1F90 000000FD010000000000000007000000:D431 01 0 0',
    '',
  ].join('\n');
  const found = peersIn(text, 8080).map((peer) => Buffer.from(peer).toString('hex'));
  expect(found).toEqual(['0a000001', '0a000002', 'fd000000000000010000000000000007']);
});

describe('a service', () => {
  let server: TestServer;
  const sockets: Socket[] = [];
  afterEach(async () => {
    for (const socket of sockets.splice(0)) socket.destroy();
    await server?.close();
  });

  const GET = 'GET /v1/tables HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const connect = async (count: number) => {
    for (let i = 0; i < count; i++) sockets.push((await openSocket(server)).on('error', () => {}));
  };
  const answers = async () => (await raw(server, [GET], 300)).startsWith('HTTP/1.1 200');

  test('closes the connections beyond the limit of an address and accepts new ones after some have ended', async () => {
    server = await startServer({ socketsPerAddress: 20 });
    await connect(20);
    for (let i = 0; i < 30; i++) expect(await raw(server, [GET], 2000)).toBe('[closed]');
    for (const socket of sockets.splice(0, 10)) socket.destroy();
    const startMs = performance.now();
    while (!(await answers())) expect(performance.now() - startMs).toBeLessThan(10_000);
    // Short-lived connections do not add up.
    for (let i = 0; i < 50; i++)
      expect((await send(server, 'GET', '/v1/wal', undefined, { connection: 'close' })).status).toBe(200);
    await connect(8);
    expect(await answers()).toBe(true);
  });

  test('does not limit the connections of a proxy', async () => {
    server = await startServer({ socketsPerAddress: 5, proxyAddresses: ['127.0.0.1'] });
    await connect(30);
    expect(await answers()).toBe(true);
  });
});

test('the limit of all connections leaves file descriptors to the database', () => {
  const limits =
    'Max processes  100  100  processes\nMax open files            1024                 4096                 files\n';
  expect(mostConnections(() => limits)).toBe(768);
  expect(mostConnections(() => 'Max open files            unlimited            unlimited            files')).toBe(
    undefined,
  );
  expect(
    mostConnections(() => {
      throw new Error('no /proc');
    }),
  ).toBe(undefined);
  const counts = new SocketCounts({ most: 0, mostInAll: 3, exempt: [], peers: () => [], now: () => 0 });
  expect([ONE, OTHER, ONE, ONE].map((address) => counts.opened(address))).toEqual([true, true, true, false]);
  counts.closed();
  expect(counts.opened(OTHER)).toBe(false);
  counts.closed();
  counts.closed(ONE);
  expect(counts.opened(OTHER)).toBe(true);
  expect(counts.open).toBe(3);
});
