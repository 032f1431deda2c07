// Tests streams for clients that accept gzip. The decompressed text equals the plain text. The
// source is read only as fast as the client reads, and rows that are found slowly are sent as they
// are found. The source is closed whatever happens. All of this holds over both transports.

import { connect, type Socket } from 'node:net';
import { createGunzip, gunzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { GzipSource } from '../../src/http/answer/gzip-source.ts';
import { contentReply } from '../../src/http/index.ts';
import type { ChunkSource } from '../../src/http/reply.ts';
import type { Route } from '../../src/http/route.ts';
import { routes } from '../../src/routes/index.ts';
import { Random } from '../support/random.ts';
import { transportsHere } from '../support/transport.ts';
import { manyEdges, NDJSON, send as sendPlain, sleep, startServer, type TestServer } from './support.ts';

/** The source that the route /test serves. Each test sets its own. */
let source: ChunkSource;
const route: Route = {
  id: 'getTest',
  method: 'GET',
  path: '/test',
  role: 'none',
  summary: '',
  database: false,
  data: false,
  negotiates: false,
  tagged: false,
  rateExempt: false,
  idempotent: false,
  bodyTypes: [],
  schemas: { answers: {} },
  handler: () => ({ ...contentReply(200, 'application/x-ndjson', ''), source }),
};

interface Given {
  next: ChunkSource['next'];
  wait?: (resume: () => void) => boolean;
}

class Counted implements ChunkSource {
  closed = 0;
  reads = 0;
  readonly given: Given;
  wait?: (resume: () => void) => boolean;

  constructor(given: Given) {
    this.given = given;
    if (given.wait !== undefined) this.wait = given.wait;
  }
  next() {
    this.reads += 1;
    return this.given.next();
  }
  close() {
    this.closed += 1;
  }
}

/** Returns a source that lends the same buffer for every piece, as the engine does. */
function lent(pieces: readonly Uint8Array[]): Given {
  const memory = Buffer.alloc(Math.max(...pieces.map(({ length }) => length), 1));
  let at = 0;
  return {
    next() {
      const piece = pieces[at++];
      if (piece === undefined) return null;
      memory.fill(0);
      memory.set(piece);
      return memory.subarray(0, piece.length);
    },
  };
}

const RANDOM = new Random(7);
/** Returns random text, which gzip can hardly compress. */
const noise = (length: number) => Buffer.alloc(length).map(() => 32 + RANDOM.below(95));

async function allOf(gzip: GzipSource): Promise<Buffer> {
  const all: Buffer[] = [];
  for (let chunk = gzip.next(); chunk !== null; chunk = gzip.next()) {
    if (chunk.length > 0) all.push(Buffer.from(chunk));
    else await new Promise<void>((resume) => gzip.wait(resume) || setImmediate(resume));
  }
  gzip.close();
  return Buffer.concat(all);
}

const now = () => performance.now();

describe('a compressed source', () => {
  test.each([
    ['nothing', []],
    ['one byte', [1]],
    ['many pieces', Array.from({ length: 300 }, () => RANDOM.below(3000))],
    ['pieces of the usual size', [65_600, 64_000, 65_535, 70_000]],
    ['long pieces', [3_000_000, 10, 0, 0, 200_000, 32_768, 1]],
  ])('decompresses to the same text: %s', async (_name, lengths) => {
    const pieces = lengths.map(noise);
    const counted = new Counted(lent(pieces));
    const packed = await allOf(new GzipSource(counted, now));
    expect(gunzipSync(packed).equals(Buffer.concat(pieces))).toBe(true);
    expect(counted.closed).toBe(1);
  });

  test('reads no further while its last output has not been taken', async () => {
    const counted = new Counted({ next: () => noise(65_536) });
    const gzip = new GzipSource(counted, now);
    let taken = 0;
    for (let turn = 0; turn < 50; turn++) {
      const chunk = gzip.next()!;
      if (chunk.length === 0) await new Promise<void>((resume) => gzip.wait(resume) || setImmediate(resume));
      else {
        taken += chunk.length;
        await sleep(1);
        // Noise made of 95 characters shrinks to 0.82 of its size at best.
        expect(counted.reads).toBeLessThan(taken / (0.8 * 65_536) + 2);
      }
    }
    gzip.close();
    expect(counted.closed).toBe(1);
  });

  test('fails when its source fails', async () => {
    let reads = 0;
    const fail = () => {
      throw new Error('disk gone');
    };
    const counted = new Counted({ next: () => (++reads > 3 ? fail() : noise(40_000)) });
    const gzip = new GzipSource(counted, now);
    await expect(allOf(gzip)).rejects.toThrow('disk gone');
    gzip.close();
    expect(counted.closed).toBe(1);
  });

  test('may be closed at any time, and closes its source once', async () => {
    for (let steps = 0; steps < 8; steps++) {
      const counted = new Counted({ next: () => noise(40_000) });
      const gzip = new GzipSource(counted, now);
      for (let i = 0; i < steps; i++) gzip.next();
      let resumed = 0;
      gzip.wait(() => resumed++);
      gzip.close();
      gzip.close();
      await sleep(5);
      expect([counted.closed, resumed]).toEqual([1, 0]);
    }
  });

  test('returns the rows found so far while its source waits, and resumes once', async () => {
    const given: (string | null)[] = ['{"a":1}\n', null, '{"a":2}\n', '{"a":3}\n', null, null, '{"a":4}\n'];
    const waits: (() => void)[] = [];
    const counted = new Counted({
      next: () => (given.length === 0 ? null : Buffer.from(given[0] === null ? '' : given.shift()!)),
      wait: (resume) => given[0] === null && waits.push(resume) > 0,
    });
    const gzip = new GzipSource(counted, now);
    const gunzip = createGunzip();
    let text = '';
    gunzip.on('data', (data) => {
      text += data;
    });
    const seen: string[] = [];
    for (let chunk = gzip.next(); chunk !== null; chunk = gzip.next()) {
      if (chunk.length > 0) {
        gunzip.write(chunk);
        continue;
      }
      let resumed = 0;
      const isLate = gzip.wait(() => resumed++);
      for (let turns = 0; isLate && resumed === 0; turns++) {
        await sleep(1);
        // Only the source can make progress now.
        if (turns > 20 && resumed === 0) {
          seen.push(text);
          given.shift();
          waits.shift()!();
        }
      }
      expect(resumed).toBe(isLate ? 1 : 0);
    }
    gunzip.end();
    await new Promise((resolve) => gunzip.once('end', resolve));
    const rows = [1, 2, 3, 4].map((a) => `{"a":${a}}\n`);
    expect(seen).toEqual([rows[0], rows.slice(0, 3).join(''), rows.slice(0, 3).join('')]);
    expect([text, counted.closed]).toEqual([rows.join(''), 0]);
  });

  test('returns slowly found rows about ten times a second', async () => {
    let ms = 0;
    let rows = 0;
    const counted = new Counted({
      next: () => {
        ms += 3;
        return rows++ < 1000 ? Buffer.from(`{"row":${rows}}\n`) : null;
      },
    });
    const gzip = new GzipSource(counted, () => ms);
    let flushed = 0;
    for (let chunk = gzip.next(); chunk !== null; chunk = gzip.next()) {
      if (chunk.length > 0) flushed += 1;
      else await new Promise<void>((resume) => gzip.wait(resume) || resume());
    }
    expect(flushed).toBeGreaterThan(20);
    expect(flushed).toBeLessThan(100);
  });
});

describe.each(transportsHere())('over %s', (transport) => {
  let server: TestServer;
  const sockets: Socket[] = [];
  beforeAll(async () => {
    server = await startServer({ transport, routes: [...routes, route], limits: { gzipStreams: 2 } });
    await sendPlain(server, 'POST', '/v1/hyperedges', manyEdges(20_000), NDJSON);
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });
  afterAll(() => server.close());

  function open(path: string, more = '', method = 'GET') {
    const socket = connect(server.port, '127.0.0.1');
    sockets.push(socket);
    socket.on('error', () => {});
    const chunks: Buffer[] = [];
    socket.on('data', (chunk) => chunks.push(chunk));
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()));
    socket.write(`${method} ${path} HTTP/1.1\r\nHost: x\r\nAccept-Encoding: gzip\r\n${more}\r\n`);
    const all = () => Buffer.concat(chunks);
    const head = () => all().subarray(0, all().indexOf('\r\n\r\n')).toString('latin1').toLowerCase();
    return { socket, head, body: () => all().subarray(all().indexOf('\r\n\r\n') + 4), closed };
  }

  const ranges = [
    ['/v1/hyperedges?start_ts=0&end_ts=1000000', ''],
    ['/v1/hyperedges?start_ts=0&end_ts=1000000', 'application/x-ndjson'],
    ['/v1/hyperedges?start_ts=0&end_ts=1000000&limit=19000', 'application/x-ndjson'],
  ] as const;
  test.each(ranges)('a compressed stream has the same text as a plain one: %s %s', async (path, accept) => {
    const headers: Record<string, string> = accept === '' ? {} : { accept };
    const [small, plain] = await Promise.all(
      ['gzip', 'identity'].map((coding) =>
        sendPlain(server, 'GET', path, undefined, { ...headers, 'accept-encoding': coding }),
      ),
    );
    expect([small!, plain!].map((answer) => answer.headers.get('content-encoding'))).toEqual(['gzip', null]);
    for (const { headers } of [small!, plain!]) {
      expect(headers.get('vary')?.toLowerCase()).toContain('accept-encoding');
      expect(headers.get('transfer-encoding')).toBe('chunked');
    }
    const figures = /"elapsed_us":\d+/g;
    expect(small!.text.replace(figures, '') === plain!.text.replace(figures, '')).toBe(true);
    expect(plain!.text.length).toBeGreaterThan(1_000_000);
  });

  test('a compressed stream sends fewer bytes', async () => {
    const { body, head, closed } = open(ranges[0][0], 'Connection: close\r\n');
    await Promise.race([closed, expect.poll(() => body().toString('latin1').endsWith('\r\n0\r\n\r\n')).toBe(true)]);
    expect(head()).toContain('content-encoding: gzip');
    expect(body().length).toBeLessThan(500_000);
  });

  test('HEAD returns the same headers as GET', async () => {
    const { socket, head, body } = open(ranges[0][0], '', 'HEAD');
    await expect.poll(head).toContain('\r\n');
    expect(head()).toContain('content-encoding: gzip');
    expect(head()).toContain('transfer-encoding: chunked');
    await sleep(20);
    expect([body().length, socket.destroyed]).toEqual([0, false]);
  });

  test('the source is closed when a client disconnects midway', async () => {
    const counted = new Counted({ next: () => noise(65_536) });
    source = counted;
    const { socket, body } = open('/test');
    await expect.poll(() => body().length).toBeGreaterThan(200_000);
    socket.destroy();
    await expect.poll(() => counted.closed).toBe(1);
    const { reads } = counted;
    await sleep(50);
    expect([counted.reads, counted.closed]).toEqual([reads, 1]);
  });

  test('the source is not read further while a client does not read', async () => {
    const counted = new Counted({ next: () => noise(65_536) });
    source = counted;
    const { socket, head } = open('/test');
    await expect.poll(head).toContain('gzip');
    socket.pause();
    let reads = -1;
    await expect
      .poll(
        () => {
          const isSame = counted.reads === reads;
          reads = counted.reads;
          return isSame;
        },
        { interval: 300, timeout: 10_000 },
      )
      .toBe(true);
    // The buffers of the sockets hold a few MB.
    expect(reads).toBeLessThan(400);
    socket.destroy();
    await expect.poll(() => counted.closed).toBe(1);
  });

  test('a source that fails makes the server cut the connection', async () => {
    let reads = 0;
    const counted = new Counted({
      next: () => {
        if (++reads > 10) throw new Error('disk gone');
        return noise(40_000);
      },
    });
    source = counted;
    const { closed, body } = open('/test');
    await closed;
    expect(body().toString('latin1').endsWith('0\r\n\r\n')).toBe(false);
    expect(counted.closed).toBe(1);
    expect(server.errors.splice(0).join()).toContain('disk gone');
  });

  test('rows arrive while the source waits', async () => {
    let row: string | undefined = '{"a":1}\n';
    let resumed: (() => void) | undefined;
    const counted = new Counted({
      next: () => {
        const text = row ?? '';
        row = undefined;
        return Buffer.from(text);
      },
      wait: (resume) => {
        resumed = resume;
        return true;
      },
    });
    source = counted;
    const response = await fetch(`${server.url}/test`);
    const reader = response.body!.getReader();
    for (const expected of ['{"a":1}\n', '{"a":2}\n']) {
      const { value } = await reader.read();
      expect(Buffer.from(value!).toString()).toBe(expected);
      row = '{"a":2}\n';
      resumed!();
    }
    await reader.cancel();
    await expect.poll(() => counted.closed).toBe(1);
  });

  test('streams beyond the limit of compressed streams are sent plain', async () => {
    const given = ['x', 'x', 'x', 'x'];
    let isGiven = false;
    // Yields the pieces in `given`, each followed by an empty piece.
    source = new Counted({
      next: () => {
        isGiven = !isGiven;
        return Buffer.from(isGiven ? (given.pop() ?? '') : '');
      },
      wait: () => true,
    });
    const heads: string[] = [];
    const opened = [];
    for (let i = 0; i < 4; i++) {
      const client = open('/test');
      opened.push(client);
      await expect.poll(client.head).toContain('chunked');
      heads.push(client.head());
    }
    expect(heads.map((head) => head.includes('content-encoding: gzip'))).toEqual([true, true, false, false]);
    for (const { socket } of opened) socket.destroy();
    await sleep(50);
    source = new Counted(lent([Buffer.from('x')]));
    const next = open('/test');
    await expect.poll(next.head).toContain('content-encoding: gzip');
  });
});
