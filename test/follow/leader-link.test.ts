// The connection to a leader, with servers that answer as a leader should not.

import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, describe, expect, test } from 'vitest';
import { LeaderLink, LeaderRefusal } from '../../src/follow/leader-link.ts';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function linkTo(answer: (response: ServerResponse, url: string) => void): Promise<LeaderLink> {
  const server = createServer((request, response) => answer(response, request.url!));
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return new LeaderLink({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: 'k' });
}

async function caught(pieces: AsyncIterable<unknown>): Promise<Error> {
  try {
    for await (const _ of pieces);
  } catch (error) {
    return error as Error;
  }
  throw new Error('nothing was thrown');
}

describe('the connection to a leader', () => {
  test('ends when it is told to, also after a garbage collection', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const link = await linkTo((response) => response.write('first'));
    const ending = new AbortController();
    const pieces = link.log(7, undefined, ending.signal);
    expect(Buffer.from((await pieces.next()).value!).toString()).toBe('first');
    const next = pieces.next();
    for (let round = 0; round < 5; round++) {
      collect();
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    ending.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
  });

  test('says what the leader has refused, and why a connection failed', async () => {
    const refusing = await linkTo((response) => {
      response.writeHead(409, { 'content-type': 'application/json' });
      response.end('{"code":"log_diverged","detail":"Another history."}');
    });
    const { signal } = new AbortController();
    const refusal = (await caught(refusing.log(7, 1, signal))) as LeaderRefusal;
    expect(refusal).toBeInstanceOf(LeaderRefusal);
    expect(refusal).toMatchObject({ status: 409, code: 'log_diverged', message: 'Another history.' });
    const odd = await linkTo((response) => response.writeHead(502).end('<html>'));
    expect(await caught(odd.snapshot(signal))).toMatchObject({ status: 502, code: undefined });
    const nobody = new LeaderLink({ url: 'http://127.0.0.1:9', key: undefined });
    expect((await caught(nobody.snapshot(signal))).message).toMatch(/ECONNREFUSED|bad port/);
    const cut = await linkTo((response) => {
      response.write('some');
      setTimeout(() => response.destroy(), 20);
    });
    expect((await caught(cut.snapshot(signal))).message).toMatch(/terminated|closed|socket/i);
  });

  test('asks for the log after an LSN, with the checksum of the last frame if it is known', async () => {
    const asked: string[] = [];
    const link = await linkTo((response, url) => {
      asked.push(url);
      response.end();
    });
    const { signal } = new AbortController();
    for await (const _ of link.log(7, undefined, signal));
    for await (const _ of link.log(8, 4_000_000_000, signal));
    expect(asked).toEqual(['/v1/log?from_lsn=7', '/v1/log?from_lsn=8&sum=4000000000']);
  });
});
