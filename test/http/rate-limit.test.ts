import { afterEach, describe, expect, test } from 'vitest';
import { RateLimit } from '../../src/access/rate-limit.ts';
import { addressBytes, addressId, addressText } from '../../src/http/client-address.ts';
import { fc } from '../support/property.ts';
import { type Answer, raw, send, startServer, type TestServer } from './support.ts';

/** The token bucket of one caller. It counts exactly, in units of 1/60,000 of a request. */
class Bucket {
  readonly #perMinute: bigint;
  #tokens: bigint;
  #atMs = 0n;

  constructor(perMinute: number) {
    this.#perMinute = BigInt(perMinute);
    this.#tokens = this.#perMinute * 60_000n;
  }

  take(nowMs: number): { passes: boolean; remaining: number; resetMs: number; retryMs: number } {
    const most = this.#perMinute * 60_000n;
    const back = (BigInt(nowMs) - this.#atMs) * this.#perMinute;
    this.#tokens = this.#tokens + back < most ? this.#tokens + back : most;
    this.#atMs = BigInt(nowMs);
    const passes = this.#tokens >= 60_000n;
    if (passes) this.#tokens -= 60_000n;
    return {
      passes,
      remaining: Number(this.#tokens / 60_000n),
      resetMs: Number(most - this.#tokens) / Number(this.#perMinute),
      retryMs: passes ? 0 : Number(60_000n - this.#tokens) / Number(this.#perMinute),
    };
  }
}

describe('the allowance of a caller', () => {
  const pauses = fc.array(fc.oneof({ weight: 3, arbitrary: fc.nat(20) }, fc.nat(3000), fc.nat(130_000)), {
    minLength: 1,
    maxLength: 300,
  });

  test('equals the allowance of an evenly filled token bucket, for every limit and every sequence of times', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2000 }), fc.nat(10_000_000), pauses, (perMinute, startMs, steps) => {
        const limit = new RateLimit({ perMinute, seed: 1 });
        const bucket = new Bucket(perMinute);
        let nowMs = startMs;
        for (const pause of steps) {
          nowMs += pause;
          const expected = bucket.take(nowMs);
          expect(limit.takeByKey('k', nowMs)).toBe(expected.passes);
          expect(limit.remaining).toBe(expected.remaining);
          expect(limit.resetMs).toBeCloseTo(expected.resetMs, 6);
          if (!expected.passes) expect(limit.retryMs).toBeCloseTo(expected.retryMs, 6);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('permits the requests of a whole minute at once, and then one request per share of a minute', () => {
    for (const perMinute of [1, 7, 60, 1000, 999_983]) {
      const limit = new RateLimit({ perMinute, seed: 1 });
      for (let i = perMinute - 1; i >= 0; i--) {
        if (!limit.takeByKey('k', 5000) || limit.remaining !== i) throw new Error(`${perMinute}: ${i} are not left`);
      }
      expect(limit.takeByKey('k', 5000)).toBe(false);
      const retryAt = Math.ceil(5000 + limit.retryMs);
      expect(limit.takeByKey('k', retryAt - 1)).toBe(false);
      expect(limit.takeByKey('k', retryAt)).toBe(true);
    }
  });

  test('is sufficient after the wait that a refusal names', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 500 }), pauses, (perMinute, steps) => {
        const limit = new RateLimit({ perMinute, seed: 1 });
        let nowMs = 0;
        for (const pause of steps) {
          nowMs += Math.floor(pause / 50);
          if (limit.takeByKey('k', nowMs)) continue;
          nowMs += Math.ceil(limit.retryMs);
          expect(limit.takeByKey('k', nowMs)).toBe(true);
        }
      }),
    );
  });

  test('is separate for every caller, even for a key and an address with the same name', () => {
    const limit = new RateLimit({ perMinute: 2, seed: 1 });
    const take = () => [limit.takeByKey('a', 0), limit.takeByKey('b', 0), limit.takeByAddress('a', 0)];
    expect([take(), take(), take()]).toEqual([
      [true, true, true],
      [true, true, true],
      [false, false, false],
    ]);
  });

  test('is unlimited when the limit is 0', () => {
    const limit = new RateLimit({ perMinute: 0, seed: 1 });
    for (let i = 0; i < 5000; i++) expect(limit.takeByAddress(1, 0)).toBe(true);
    expect(limit.tracked).toBe(0);
  });
});

describe('the memory for callers', () => {
  test('stays bounded with a million addresses, and no caller gains a new allowance', () => {
    const limit = new RateLimit({ perMinute: 10, seed: 77, maxTracked: 5000 });
    for (let i = 0; i < 10; i++) expect(limit.takeByAddress('victim', 0)).toBe(true);
    let passed = 0;
    for (let i = 0; i < 1_000_000; i++) {
      if (limit.takeByAddress(i, Math.floor(i / 20_000))) passed += 1;
    }
    expect(limit.tracked).toBeLessThanOrEqual(5000);
    // One request for each tracked caller, plus the shared allowances.
    expect(passed).toBeLessThanOrEqual(5000 + 1024 * 11);
    expect(limit.takeByAddress('victim', 100)).toBe(false);
    expect(limit.takeByKey('somebody with a key', 100)).toBe(true);
    expect(limit.remaining).toBe(9);
  });

  test('keeps the state of a caller that keeps asking during a flood of other addresses', () => {
    const limit = new RateLimit({ perMinute: 60, seed: 3, maxTracked: 1000 });
    let passed = 0;
    let made = 0;
    for (let second = 0; second < 600; second++) {
      for (let i = 0; i < 300; i++) limit.takeByAddress(made++, second * 1000);
      for (let i = 0; i < 5; i++) if (limit.takeByAddress('busy', second * 1000)) passed += 1;
      expect(limit.tracked).toBeLessThanOrEqual(1000);
    }
    // 60 at first, then one per second.
    expect(passed).toBe(60 + 599);
  });

  test('is freed for callers that have sent nothing for two minutes', () => {
    const limit = new RateLimit({ perMinute: 10, seed: 1 });
    for (let i = 0; i < 1000; i++) limit.takeByAddress(i, 0);
    expect(limit.tracked).toBe(1000);
    limit.takeByAddress(5, 61_000);
    expect(limit.tracked).toBe(1000);
    limit.takeByAddress(5, 122_000);
    expect(limit.tracked).toBe(1);
  });
});

describe('addresses', () => {
  const bytesOf = (...bytes: number[]) => Uint8Array.from(bytes).buffer;
  const v6 = (text: string) => {
    const [before = '', after] = text.split('::');
    const groups = (part: string) => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)));
    const head = groups(before);
    const tail = after === undefined ? [] : groups(after);
    const all = [...head, ...new Array(8 - head.length - tail.length).fill(0), ...tail];
    return Uint8Array.from(all.flatMap((group) => [group >> 8, group & 255])).buffer;
  };

  test('are one caller if they are the same IPv4 address, also when written as an IPv6 address', () => {
    expect(addressText(bytesOf(127, 0, 0, 1))).toBe('127.0.0.1');
    for (const text of [
      '10.1.2.255',
      '::1',
      '::',
      '2001:db8::1:0:0:1',
      'fe80::aabb',
      '1:2:3:4:5:6:7:8',
      '2001:db8::',
    ]) {
      expect(addressText(addressBytes(text))).toBe(text);
    }
    expect(addressText(addressBytes('::ffff:10.1.2.3'))).toBe('10.1.2.3');
    expect(addressText(addressBytes('fe80::1%eth0'))).toBe('fe80::1');
    for (const text of [undefined, '', 'localhost', '1.2.3']) expect(addressBytes(text).byteLength).toBe(0);
    expect(addressText(v6('::ffff:c0a8:0102'))).toBe('192.168.1.2');
    expect(addressId(v6('::ffff:c0a8:0102'))).toBe(addressId(bytesOf(192, 168, 1, 2)));
    expect(addressId(bytesOf(192, 168, 1, 3))).not.toBe(addressId(bytesOf(192, 168, 1, 2)));
    expect(addressId(bytesOf(255, 255, 255, 255))).toBe(2 ** 32 - 1);
  });

  test('are one caller if they have the same IPv6 prefix of 64 bits', () => {
    expect(addressId(v6('2001:db8:1:2::1'))).toBe(addressId(v6('2001:db8:1:2:ffff:ffff:ffff:ffff')));
    expect(addressId(v6('2001:db8:1:3::1'))).not.toBe(addressId(v6('2001:db8:1:2::1')));
    expect(addressId(v6('::1'))).not.toBe(addressId(bytesOf(0, 0, 0, 1)));
  });

  test.each(['::1', '::', '2001:db8::1', 'fe80::1:2:3:4', '2001:db8:0:1:1:1:1:1', '1::2:0:0:3', '1:2:3:4:5:6:7:8'])(
    'are written as in RFC 5952: %s',
    (text) => expect(addressText(v6(text))).toBe(text),
  );

  test('are one caller if they are unknown', () => {
    expect([addressText(bytesOf()), addressId(bytesOf())]).toEqual(['unknown', 'unknown']);
  });
});

describe('over HTTP', () => {
  let server: TestServer;
  afterEach(() => server.close());
  const left = ({ headers }: Answer) => [
    headers.get('x-ratelimit-limit'),
    headers.get('x-ratelimit-remaining'),
    Number(headers.get('x-ratelimit-reset')),
  ];
  const get = (path: string, key?: string, method = 'GET') =>
    send(server, method, path, undefined, key === undefined ? {} : { 'x-api-key': key });

  test('each key has its own allowance, and a request beyond it is refused before role and body are checked', async () => {
    server = await startServer({ auth: true, qpm: 3 });
    const { readonly, admin } = server.keys;
    const before = Math.floor(Date.now() / 1000);
    for (const remaining of ['2', '1', '0']) {
      const answer = await get('/v1/tables', readonly);
      expect(answer.status).toBe(200);
      expect(left(answer).slice(0, 2)).toEqual(['3', remaining]);
      expect(left(answer)[2]).toBeGreaterThanOrEqual(before + 20);
      expect(left(answer)[2]).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000) + 60);
    }
    const refused = await send(server, 'POST', '/v1/tables', 'no json', { 'x-api-key': readonly, 'content-type': 'x' });
    expect(refused.status).toBe(429);
    expect(refused.json).toMatchObject({ code: 'rate_limited', status: 429 });
    expect(left(refused).slice(0, 2)).toEqual(['3', '0']);
    const retry = Number(refused.headers.get('retry-after'));
    expect(retry).toBeGreaterThanOrEqual(1);
    expect(retry).toBeLessThanOrEqual(20);
    expect(Number.isInteger(retry)).toBe(true);
    expect((await get('/v1/tables', admin)).status).toBe(200);
  });

  test('requests without a valid key count for their address, including those answered with 401', async () => {
    server = await startServer({ auth: true, qpm: 4 });
    const statuses: number[] = [];
    for (const key of [undefined, 'hgr_wrong1', 'hgr_wrong2', undefined, undefined, 'hgr_wrong3']) {
      statuses.push((await get('/v1/tables', key)).status);
    }
    expect(statuses).toEqual([401, 401, 401, 401, 429, 429]);
    expect((await get('/v1/tables', server.keys.readonly)).status).toBe(200);
  });

  test('OPTIONS and answers of 404, 405 and 503 use up the allowance, but are not refused when it is used up', async () => {
    server = await startServer({ qpm: 5, open: false });
    const asked: Answer[] = [];
    for (const [method, path] of [
      ['GET', '/nope'],
      ['PUT', '/v1/tables'],
      ['OPTIONS', '/v1/tables'],
      ['GET', '/v1/tables'],
      ['GET', '/v1/wal'],
      ['GET', '/nope'],
      ['PUT', '/v1/tables'],
      ['OPTIONS', '/v1/tables'],
      ['GET', '/v1/tables'],
    ] as const) {
      asked.push(await get(path, undefined, method));
    }
    expect(asked.map(({ status }) => status)).toEqual([404, 405, 200, 503, 503, 404, 405, 200, 503]);
    expect(asked.map((answer) => left(answer)[1])).toEqual(['4', '3', '2', '1', '0', '0', '0', '0', '0']);
    server.service.open({ database: server.database });
    expect((await get('/v1/tables')).status).toBe(429);
  });

  test('the two probes are neither counted nor limited and have no rate-limit headers', async () => {
    server = await startServer({ qpm: 1 });
    for (let i = 0; i < 5; i++) {
      for (const path of ['/health/live', '/health/ready']) {
        const answer = await get(path);
        expect(answer.status).toBe(200);
        expect([...answer.headers.keys()].filter((name) => name.startsWith('x-ratelimit'))).toEqual([]);
      }
    }
    const answer = await get('/v1/tables');
    expect([answer.status, left(answer)[1]]).toEqual([200, '0']);
    expect((await get('/health/live')).status).toBe(200);
  });

  test('a limit of 0 refuses nothing and keeps the headers', async () => {
    server = await startServer({ auth: true, qpm: 0 });
    for (let i = 0; i < 20; i++) {
      const answer = await get('/v1/tables', server.keys.admin);
      expect(answer.status).toBe(200);
      const [limit, remaining, reset] = left(answer);
      expect([limit, remaining]).toEqual(['0', '0']);
      expect(Math.abs(Number(reset) - Date.now() / 1000)).toBeLessThan(30);
    }
    expect(left(await get('/v1/tables'))[0]).toBe('0');
  });

  test('every kind of answer has the headers: data, streams, NDJSON and errors in the body', async () => {
    server = await startServer({ qpm: 6 });
    const range = '/v1/hyperedges?start_ts=0&end_ts=9';
    const answers = [
      await get(range),
      await send(server, 'GET', range, undefined, { accept: 'application/x-ndjson' }),
      await send(server, 'POST', '/v1/hyperedges', { event_ts: 1, members: [1] }),
      await send(server, 'POST', '/v1/hyperedges', '{'),
      await get('/v1/tables', undefined, 'HEAD'),
    ];
    expect(answers.map((answer) => left(answer)[1])).toEqual(['5', '4', '3', '2', '1']);
  });

  test('many invented keys from one address count as one caller', async () => {
    server = await startServer({ auth: true, qpm: 10 });
    let text = '';
    for (let i = 0; i < 100; i++) text += `GET /v1/tables HTTP/1.1\r\nHost: x\r\nX-API-Key: hgr_made_${i}\r\n\r\n`;
    const statuses = [...(await raw(server, [text])).matchAll(/HTTP\/1\.1 (\d{3})/g)].map((match) => match[1]);
    expect(statuses.filter((status) => status === '401')).toHaveLength(10);
    expect(statuses.filter((status) => status === '429')).toHaveLength(90);
  });
});
