// Tests the rules that every transport must keep. Both implementations are tested directly, without
// the dispatcher and the service. The raw-socket cases (test/service/raw-sockets.test.ts) and the
// described answers (test/service/openapi.test.ts) test the same rules with the whole service.

import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { bytesOf } from '../../src/http/byte-text.ts';
import { SocketCounts } from '../../src/http/socket-counts.ts';
import type { HttpServer, RequestHandler, TransportRequest, TransportResponse } from '../../src/http/transport.ts';
import { testTransport, transportsHere } from '../support/transport.ts';

const get = (path: string, headers = '') => `GET ${path} HTTP/1.1\r\nHost: x\r\n${headers}\r\n`;
const post = (body: string, headers = '') =>
  `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`;

function uncounted(): SocketCounts {
  return new SocketCounts({ most: 0, exempt: [], peers: () => undefined, now: () => 0 });
}

describe.each(transportsHere())('over %s', (name) => {
  const transport = testTransport(name);
  let server: HttpServer | undefined;
  const clients: Socket[] = [];
  afterEach(() => {
    for (const client of clients.splice(0)) client.destroy();
    server?.close();
    server = undefined;
  });

  async function serve(handle: RequestHandler): Promise<void> {
    server = await transport.listen(handle, { host: '127.0.0.1', port: 0, sockets: uncounted() });
  }

  interface Client {
    socket: Socket;
    /** Returns all bytes received so far, as Latin-1 text. */
    text: () => string;
    closed: Promise<void>;
  }

  async function client(): Promise<Client> {
    const socket = connect(server!.port, '127.0.0.1');
    clients.push(socket);
    let text = '';
    socket.on('data', (data) => {
      text += data.toString('latin1');
    });
    socket.on('error', () => {});
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    await new Promise<void>((resolve) => socket.once('connect', () => resolve()));
    return { socket, text: () => text, closed };
  }

  /** Sends a request. Returns everything received once `done` returns true. */
  async function ask(sent: string, done: (text: string) => boolean): Promise<string> {
    const { socket, text } = await client();
    socket.write(sent, 'latin1');
    await expect.poll(() => done(text()), { timeout: 5000, interval: 5 }).toBe(true);
    return text();
  }

  const endsWith = (end: string) => (text: string) => text.endsWith(end);
  /** Answers every request immediately with the text that `say` returns. */
  const answering = (say: (request: TransportRequest, method: string) => string): RequestHandler => {
    return (response, request, method) => void response.end(say(request, method));
  };

  /** Collects the body, then answers with it. */
  const echo: RequestHandler = (response) => {
    const chunks: Buffer[] = [];
    response.onAborted(() => {});
    response.onData((chunk, isLast) => {
      chunks.push(Buffer.from(chunk instanceof Uint8Array ? chunk : new Uint8Array(chunk)));
      if (isLast) response.cork(() => response.end(Buffer.concat(chunks)));
    });
  };

  test('reports its name and whether it checks chunks', () => {
    expect(transport.facts).toMatchObject({ name, reason: 'configured' });
    expect(transport.checksChunks).toBe(name === 'node');
  });

  test('passes method, path, query and headers on unchanged', async () => {
    const seen: unknown[] = [];
    await serve((response, request, method) => {
      const headers: string[] = [];
      request.forEach((header, value) => void headers.push(`${header}=${value}`));
      const named = ['x-a', 'x-b', 'x-none'].map((header) => request.getHeader(bytesOf(header)));
      seen.push(method, request.getUrl(), request.getQuery(), headers, named);
      response.end('.');
    });
    await ask(`DELETE /a%2fb?c=%20&d HTTP/1.1\r\nHost: x\r\nX-A: 1\r\nX-a:  2 \r\nX-B:\r\n\r\n${get('/p')}`, (text) => {
      return text.split('\r\n\r\n.').length === 3;
    });
    expect(seen).toEqual([
      ...['DELETE', '/a%2fb', 'c=%20&d', ['host=x', 'x-a=1', 'x-a=2', 'x-b='], ['1', '', '']],
      ...['GET', '/p', undefined, ['host=x'], ['', '', '']],
    ]);
  });

  test('writes the status, headers in every form and the length', async () => {
    await serve((response) => {
      response.writeStatus('404 Not Found');
      response.writeHeader(bytesOf('Content-Type'), bytesOf('text/plain\r\nX-One: 1\r\nX-Two: a: b'));
      response.writeHeader('X-Three', '3');
      response.end('é');
    });
    const text = await ask(get('/'), (received) => received.endsWith('\xc3\xa9'));
    expect(text.startsWith('HTTP/1.1 404 Not Found\r\n')).toBe(true);
    for (const line of ['Content-Type: text/plain', 'X-One: 1', 'X-Two: a: b', 'X-Three: 3', 'Content-Length: 2']) {
      expect(text.split('\r\n')).toContain(line);
    }
  });

  test('copies the bytes it is given, so that their memory may be reused immediately', async () => {
    const shared = Buffer.alloc(300_000, 'a');
    let writes = 0;
    await serve((response) => {
      response.onAborted(() => {});
      const send = () => {
        shared.fill(String.fromCharCode(97 + (writes % 26)));
        writes += 1;
        response.cork(() => response.write(shared.subarray(0, 15_000)));
        shared.fill('!');
        if (writes < 40) setImmediate(send);
        else response.cork(() => response.end(''));
      };
      response.onWritable(() => true);
      send();
    });
    const text = await ask(get('/'), endsWith('0\r\n\r\n'));
    expect(text).not.toContain('!');
    const body = unchunked(text.slice(text.indexOf('\r\n\r\n') + 4));
    expect(body).toBe(Array.from({ length: 40 }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat(15_000)).join(''));
  });

  test('answers HEAD with the length that GET would have, and keeps the connection usable', async () => {
    await serve((response, _request, method) => {
      if (method === 'HEAD') {
        if (!response.tryEnd('', 17)[1]) response.endWithoutBody();
      } else {
        response.end('.');
      }
    });
    const text = await ask(`HEAD / HTTP/1.1\r\nHost: x\r\n\r\n${get('/')}`, endsWith('.'));
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n(.*\r\n)*Content-Length: 17\r\n(.*\r\n)*\r\nHTTP\/1\.1 200 OK/);
  });

  test('assembles bodies with a length from pieces of any size', async () => {
    await serve(echo);
    const body = 'x'.repeat(200_000);
    expect(await ask(post(body), endsWith(body))).toContain('Content-Length: 200000');
    const { socket, text } = await client();
    const sent = post('abc');
    for (const letter of sent) {
      socket.write(letter);
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await expect.poll(text).toMatch(/abc$/);
    expect(await ask(post(''), (received) => received.includes('\r\n\r\n'))).toContain('Content-Length: 0');
  });

  test('skips a body that the handler does not read', async () => {
    await serve(answering((_request, method) => `<${method}>`));
    const text = await ask(post('y'.repeat(300_000)) + get('/'), endsWith('<GET>'));
    expect(text).toContain('<POST>');
  });

  test('reports the address of the client', async () => {
    const addresses: number[][] = [];
    await serve((response) => {
      addresses.push([...new Uint8Array(response.getRemoteAddress())]);
      response.end('.');
    });
    await ask(get('/'), endsWith('.'));
    expect(addresses).toEqual([[127, 0, 0, 1]]);
  });

  test('answers pipelined requests in order', async () => {
    await serve(answering((request) => `<${request.getUrl()}>`));
    const text = await ask(Array.from({ length: 80 }, (_, i) => get(`/${i}`)).join(''), endsWith('</79>'));
    expect([...text.matchAll(/<\/(\d+)>/g)].map((match) => Number(match[1]))).toEqual(
      Array.from({ length: 80 }, (_, i) => i),
    );
  });

  test('never runs a request while the previous one on the connection is unanswered', async () => {
    const running: TransportResponse[] = [];
    await serve((response) => {
      running.push(response);
      response.onAborted(() => {});
    });
    const { socket, text, closed } = await client();
    socket.write(get('/') + get('/'));
    await expect.poll(() => running.length).toBe(1);
    if (name === 'uws') {
      await closed;
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(running).toHaveLength(1);
    running[0]!.cork(() => running[0]!.end('1'));
    await expect.poll(() => running.length).toBe(2);
    running[1]!.cork(() => running[1]!.end('2'));
    await expect.poll(text).toMatch(/\r\n\r\n1HTTP[\s\S]*\r\n\r\n2$/);
  });

  test('ends a connection on which too many requests wait for an answer', async () => {
    let requests = 0;
    let gone = 0;
    await serve((response) => {
      requests += 1;
      response.onAborted(() => {
        gone += 1;
      });
    });
    const { socket, closed } = await client();
    socket.write(get('/').repeat(300));
    await closed;
    expect([requests, gone]).toEqual([1, 1]);
  });

  test('sends a large answer only as fast as the client reads it, without buffering it', async () => {
    const body = Buffer.alloc(20_000_000, 'abcdefghij');
    let most = 0;
    let calls = 0;
    await serve((response) => {
      response.onAborted(() => {});
      const [, isOut] = response.tryEnd(body, body.length);
      most = response.getWriteOffset();
      expect(isOut).toBe(false);
      response.onWritable((offset) => {
        calls += 1;
        return response.tryEnd(body.subarray(offset), body.length)[1];
      });
    });
    const { socket, closed } = await client();
    socket.pause();
    const chunks: Buffer[] = [];
    socket.removeAllListeners('data');
    socket.write(get('/', 'Connection: close\r\n'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(most).toBeGreaterThan(0);
    expect(most).toBeLessThan(body.length);
    socket.on('data', (data) => chunks.push(data));
    socket.on('data', () => {
      const received = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
      if (received > body.length) socket.end();
    });
    socket.resume();
    await closed;
    const all = Buffer.concat(chunks);
    expect(all.subarray(all.indexOf('\r\n\r\n') + 4).equals(body)).toBe(true);
    expect(calls).toBeGreaterThan(1);
  });

  test('notifies a stream when its client stops reading and when the client continues', async () => {
    const piece = Buffer.alloc(15_000, 's');
    let written = 0;
    let blocked = 0;
    let ended = false;
    await serve((response) => {
      response.onAborted(() => {});
      const pump = () => {
        while (written < 2000) {
          let isWritable = true;
          response.cork(() => {
            isWritable = response.write(piece);
          });
          written += 1;
          if (!isWritable) {
            blocked += 1;
            return;
          }
        }
        if (!ended) response.cork(() => response.end(''));
        ended = true;
      };
      response.onWritable(() => {
        pump();
        return true;
      });
      pump();
    });
    const { socket, text } = await client();
    socket.pause();
    socket.write(get('/'));
    await expect.poll(() => blocked).toBeGreaterThan(0);
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(written).toBeLessThan(1000);
    socket.resume();
    await expect.poll(() => text().endsWith('0\r\n\r\n'), { timeout: 10_000 }).toBe(true);
    expect(unchunked(text().slice(text().indexOf('\r\n\r\n') + 4)).length).toBe(2000 * piece.length);
  });

  test('reports once that a client has disconnected before its answer, and never after its answer', async () => {
    let aborted = 0;
    const waiting: TransportResponse[] = [];
    await serve((response, request) => {
      response.onAborted(() => {
        aborted += 1;
      });
      if (request.getUrl() === '/wait') waiting.push(response);
      else response.end('.');
    });
    const first = await client();
    first.socket.write(get('/wait'));
    await expect.poll(() => waiting.length).toBe(1);
    first.socket.destroy();
    await expect.poll(() => aborted).toBe(1);
    const second = await client();
    second.socket.write(get('/'));
    await expect.poll(second.text).toMatch(/\.$/);
    second.socket.destroy();
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(aborted).toBe(1);
  });

  test('cuts off clients that read nothing, send a body too slowly or send nothing', { timeout: 30_000 }, async () => {
    const body = Buffer.alloc(20_000_000);
    await serve((response, request) => {
      if (request.getUrl() === '/body') {
        echo(response, request, 'POST');
        return;
      }
      response.onAborted(() => {});
      response.tryEnd(body, body.length);
      response.onWritable((offset) => response.tryEnd(body.subarray(offset), body.length)[1]);
    });
    const silent = await client();
    silent.socket.pause();
    silent.socket.write(get('/'));
    const slow = await client();
    slow.socket.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
    const dribble = setInterval(() => slow.socket.write('x'), 500);
    const steady = await client();
    steady.socket.write('POST /body HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n');
    const flow = setInterval(() => steady.socket.write(Buffer.alloc(20_000)), 500);
    const idle = await client();
    const start = performance.now();
    try {
      await Promise.all([slow.closed, idle.closed]);
      // Leaves time for the connection to be cut, which the client notices only after it has read
      // the buffered bytes.
      await new Promise((resolve) => setTimeout(resolve, 3000));
      silent.socket.resume();
      await silent.closed;
      const took = performance.now() - start;
      expect([took > 8000, took < 20_000]).toEqual([true, true]);
      expect(silent.text().length).toBeLessThan(body.length);
      expect([slow.text(), idle.text()]).toEqual(['', '']);
      expect(steady.socket.destroyed).toBe(false);
    } finally {
      clearInterval(dribble);
      clearInterval(flow);
    }
  });

  test('closes a connection immediately or after an answer, as the handler requests', async () => {
    await serve((response, request) => {
      if (request.getUrl() === '/cut') response.close();
      else response.end('bye', true);
    });
    const cut = await client();
    cut.socket.write(get('/cut'));
    await cut.closed;
    expect(cut.text()).toBe('');
    const last = await client();
    last.socket.write(get('/'));
    await last.closed;
    expect(last.text()).toMatch(/\r\nConnection: close\r\n[\s\S]*bye$/);
  });

  test('refuses request heads over 4 KB and accepts smaller ones', async () => {
    await serve(answering(() => 'ok'));
    expect(await ask(get('/', `X: ${'x'.repeat(3900)}\r\n`), endsWith('ok'))).toContain(' 200 ');
    const { socket, text, closed } = await client();
    socket.write(get('/', `X: ${'x'.repeat(4200)}\r\n`));
    await closed;
    expect(text()).toMatch(/^HTTP\/1\.1 431 /);
  });

  test('refuses with advice to listen on an address that is in use', async () => {
    await serve(answering(() => 'ok'));
    const { port } = server!;
    await expect(
      transport.listen(
        answering(() => ''),
        { host: '127.0.0.1', port, sockets: uncounted() },
      ),
    ).rejects.toThrow(`cannot listen on 127.0.0.1:${port}: the address is in use, or not one of this machine`);
  });

  test('accepts no connection after close, and cuts the open ones', async () => {
    await serve(answering(() => 'ok'));
    const { port } = server!;
    const { closed } = await client();
    server!.close();
    server = undefined;
    await closed;
    const late = connect(port, '127.0.0.1');
    await expect(
      new Promise((resolve, reject) => late.once('connect', resolve).once('error', reject)),
    ).rejects.toThrow();
  });
});

/** Returns the body without its chunk framing. */
function unchunked(text: string): string {
  let body = '';
  for (let at = 0; ; ) {
    const line = text.indexOf('\r\n', at);
    const size = Number.parseInt(text.slice(at, line), 16);
    if (size === 0 || Number.isNaN(size)) return body;
    body += text.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
  }
}
