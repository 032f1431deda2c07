// The two ends of the link between a worker and its leader, over a pair of sockets.

import { connect, createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import type { RequestHandler, TransportResponse } from '../../src/http/index.ts';
import { SocketCounts } from '../../src/http/socket-counts.ts';
import { LinkClient } from '../../src/workers/link-client.ts';
import { FrameReader, FrameWriter, PIECE_BYTES } from '../../src/workers/link-frames.ts';
import { LinkTransport } from '../../src/workers/link-transport.ts';

const open: Socket[] = [];
afterEach(() => {
  for (const socket of open.splice(0)) socket.destroy();
});

/** Returns two connected sockets. */
async function pair(): Promise<[Socket, Socket]> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const accepted = new Promise<Socket>((resolve) => server.once('connection', resolve));
  const { port } = server.address() as { port: number };
  const one = connect(port, '127.0.0.1');
  const other = await accepted;
  server.close();
  open.push(one, other);
  return [one, other];
}

const FACTS = { name: 'node', version: '0', reason: 'configured', detail: '' } as const;

/** Returns a client whose requests `handle` answers. */
async function linked(handle: RequestHandler): Promise<{ client: LinkClient; leader: Socket }> {
  const [worker, leader] = await pair();
  const transport = new LinkTransport(FACTS);
  const sockets = new SocketCounts({ most: 0, exempt: [], peers: () => undefined, now: () => 0 });
  await transport.listen(handle, { host: '127.0.0.1', port: 1, sockets });
  transport.attach(leader);
  return { client: new LinkClient(worker), leader };
}

const REQUEST = {
  method: 'POST',
  target: '/v1/query?a=b',
  headers: [],
  address: new ArrayBuffer(0),
  hold: () => true,
  whenGone: () => undefined,
} as const;

const bytesOf = (length: number, seed: number) => Uint8Array.from({ length }, (_, at) => (at * 31 + seed) & 255);

describe('frames', () => {
  test('arrive as they were sent, however the bytes are cut', async () => {
    for (const cut of [1, 2, 7, 9, 64, 100_000]) {
      const pieces: Buffer[] = [];
      const sink = {
        writableLength: 0,
        on: () => undefined,
        write: (bytes: Uint8Array) => pieces.push(Buffer.from(bytes)),
      };
      const writer = new FrameWriter(sink as never);
      const sent = Array.from({ length: 40 }, (_, n) => ({
        kind: (n % 9) + 1,
        request: n * 107,
        payload: bytesOf(n * n, n),
      }));
      for (const { kind, request, payload } of sent)
        writer.send(kind, request, payload.subarray(0, 3), payload.subarray(3));
      await new Promise((resolve) => setImmediate(resolve));
      const got: typeof sent = [];
      const reader = new FrameReader((kind, request, payload) =>
        got.push({ kind, request, payload: Uint8Array.from(payload) }),
      );
      const all = Buffer.concat(pieces);
      for (let at = 0; at < all.length; at += cut) reader.receive(all.subarray(at, at + cut));
      expect(got).toEqual(sent);
    }
  });
});

describe('a request over the link', () => {
  test('arrives with its head, body and address, and its answer comes back', async () => {
    const seen: unknown[] = [];
    const { client } = await linked((response, request, method) => {
      const headers: string[][] = [];
      request.forEach((name, value) => {
        headers.push([name, value]);
      });
      seen.push(method, request.getUrl(), request.getQuery(), headers, [
        ...new Uint8Array(response.getRemoteAddress()),
      ]);
      expect(request.getHeader(Buffer.from('x-b'))).toBe('2: 3');
      expect(request.isOwn).toBe(false);
      const body: number[] = [];
      response.onAborted(() => undefined);
      response.onData((chunk, isLast) => {
        body.push(...new Uint8Array(chunk));
        if (!isLast) return;
        seen.push(body);
        response.writeStatus('201 Created');
        response.writeHeader('Content-Type', 'text/plain\r\nX-C: 4');
        response.end('made');
      });
    });
    const answer = await client.send({
      ...REQUEST,
      headers: [
        ['x-a', 'ä'],
        ['x-b', '2: 3'],
      ],
      body: Buffer.of(1, 2, 3),
      address: Uint8Array.of(10, 0, 0, 1).buffer,
    });
    const headers = [
      ['x-a', 'ä'],
      ['x-b', '2: 3'],
    ];
    expect(seen).toEqual(['POST', '/v1/query', 'a=b', headers, [10, 0, 0, 1], [1, 2, 3]]);
    expect([answer.status, answer.headers.get('content-type'), answer.headers.get('x-c')]).toEqual([
      201,
      'text/plain',
      '4',
    ]);
    expect(answer.body.toString()).toBe('made');
  });

  test('may have a long body and a long answer', async () => {
    for (const length of [0, 1, PIECE_BYTES - 1, PIECE_BYTES, PIECE_BYTES + 1, 3 * PIECE_BYTES, 5_000_000]) {
      const { client } = await linked((response) => {
        const pieces: Buffer[] = [];
        response.onAborted(() => undefined);
        response.onData((chunk, isLast) => {
          pieces.push(Buffer.from(new Uint8Array(chunk)));
          if (isLast) response.end(Buffer.concat(pieces));
        });
      });
      const body = Buffer.from(bytesOf(length, 5));
      expect((await client.send({ ...REQUEST, body })).body.equals(body)).toBe(true);
    }
  });

  test('is given up if there is no memory for its answer', async () => {
    let aborted = 0;
    const { client } = await linked((response) => {
      response.onAborted(() => {
        aborted++;
      });
      const chunk = Buffer.alloc(PIECE_BYTES);
      const write = (): boolean => {
        while (response.write(chunk));
        return false;
      };
      response.onWritable(write);
      write();
    });
    let held = 0;
    const hold = (bytes: number) => {
      held = bytes;
      return bytes < 10 * PIECE_BYTES;
    };
    await expect(client.send({ ...REQUEST, body: Buffer.alloc(0), hold })).rejects.toThrow('no memory');
    expect(held).toBe(10 * PIECE_BYTES);
    while (aborted === 0) await new Promise((resolve) => setImmediate(resolve));
  });

  test('fails if the leader is lost, or cuts its answer', async () => {
    const { client, leader } = await linked((response, request) => {
      response.onAborted(() => undefined);
      if (request.getUrl() === '/cut') {
        response.write(Buffer.from('half'));
        response.close();
      }
    });
    await expect(client.send({ ...REQUEST, target: '/cut', body: Buffer.alloc(0) })).rejects.toThrow('cut');
    const waiting = client.send({ ...REQUEST, body: Buffer.alloc(0) });
    setImmediate(() => leader.destroy());
    await expect(waiting).rejects.toThrow('has ended');
    await expect(client.send({ ...REQUEST, body: Buffer.alloc(0) })).rejects.toThrow('has ended');
  });
});

describe('a stream over the link', () => {
  test('is sent as fast as it is read, and no faster', async () => {
    let sent = 0;
    const most = 40 * 2 ** 20;
    const { client } = await linked((response) => {
      const chunk = Buffer.from(bytesOf(PIECE_BYTES, 1));
      const write = (): boolean => {
        while (sent < most) {
          sent += chunk.length;
          if (!response.write(chunk)) return false;
        }
        response.endWithoutBody();
        return true;
      };
      response.onAborted(() => undefined);
      response.onWritable(write);
      write();
    });
    const stream = client.stream('/v1/log', new AbortController().signal);
    expect((await stream.next()).value).toBe(200);
    await stream.next();
    // Everything that can be sent without a reader is sent within these turns.
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    expect(sent).toBeLessThan(most);
    let got = PIECE_BYTES;
    for await (const piece of stream) got += (piece as Buffer).length;
    expect(got).toBe(sent);
  });

  test('ends at the leader when the worker stops reading', async () => {
    let aborted = 0;
    let response: TransportResponse | undefined;
    const { client } = await linked((given, request) => {
      expect(request.isOwn).toBe(true);
      response = given;
      given.onAborted(() => aborted++);
      given.write(Buffer.from('one'));
    });
    for await (const item of client.stream('/v1/log', new AbortController().signal))
      if (typeof item !== 'number') break;
    while (aborted === 0) await new Promise((resolve) => setImmediate(resolve));
    response!.write(Buffer.from('two'));
    const ending = new AbortController();
    const rest = client.stream('/v1/log', ending.signal);
    await rest.next();
    ending.abort(new Error('the end'));
    await expect(rest.next()).rejects.toThrow('the end');
  });
});
