// Many clients follow the feed of changes at once: quick ones, which share what the server reads,
// ones that are cut off and resume, and slow ones, which fall behind and read the log again.

import { createHash } from 'node:crypto';
import { get, type IncomingMessage } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { Random } from '../support/random.ts';
import { send, startServer, type TestServer } from './support.ts';

const FOLLOWERS = 20;
/** The bulk insert that slow clients do not read at once: more text than the server keeps. */
const BULK_EDGES = 25_000;
const LAST_TS = 999_999_999;

let server: TestServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

interface Following {
  readonly table: string | undefined;
  readonly random: Random;
  /** If given, the client reads nothing until this resolves. */
  readonly resumes: Promise<void> | undefined;
}

/**
 * Follows until the last change has arrived; returns the digest of all changes, and their number.
 */
async function follow({ url }: TestServer, fromLsn: number, following: Following): Promise<string> {
  const { table, random } = following;
  const digest = createHash('sha256');
  let count = 0;
  let lsn = fromLsn;
  for (let isOver = false; !isOver; ) {
    const cutAfter = random.chance(0.5) ? 1 + random.below(300) : Number.POSITIVE_INFINITY;
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { accept: 'text/event-stream', 'last-event-id': String(lsn) };
      get(`${url}/v1/changes${table === undefined ? '' : `?table=${table}`}`, { headers }, resolve).on('error', reject);
    });
    expect(answer.statusCode).toBe(200);
    if (following.resumes !== undefined) await following.resumes;
    let text = '';
    let taken = 0;
    answer.setEncoding('utf8');
    reading: for await (const piece of answer) {
      text += piece;
      const events = text.split('\n\n');
      text = events.pop()!;
      for (const event of events) {
        const found = /^id: (\d+)\ndata: (.*)$/.exec(event);
        if (found === null) continue;
        lsn = Number(found[1]);
        digest.update(`${found[2]}\n`);
        count++;
        isOver = found[2]!.includes(`"event_ts":${LAST_TS}`);
        if (isOver || ++taken > cutAfter) break reading;
      }
    }
    answer.destroy();
  }
  return `${count} ${digest.digest('hex')}`;
}

test.each(['uws', 'node'] as const)(
  'all get every change once, in order, over %s',
  async (transport) => {
    const started = await startServer({ transport });
    server = started;
    const post = (body: object | string, headers?: Record<string, string>) =>
      send(started, 'POST', '/v1/hyperedges', body, headers);
    const fallsBehind = vi.spyOn(started.database.changes, 'again');
    await send(started, 'POST', '/v1/tables', { name: 'other' });
    const fromLsn = started.database.lastLsn;
    let resume = (): void => undefined;
    const resumes = new Promise<void>((resolve) => {
      resume = resolve;
    });
    const followers = Array.from({ length: FOLLOWERS }, (_, place) =>
      follow(started, fromLsn, {
        table: place % 3 === 0 ? 'other' : undefined,
        random: new Random(place + 1),
        resumes: place % 5 === 0 ? resumes : undefined,
      }),
    );
    for (let round = 0; round < 100; round++) {
      await post({ event_ts: round, members: [1, round] });
      if (round % 4 === 0) await post({ event_ts: round, members: [2, round], table: 'other' });
      if (round % 9 === 0) await send(started, 'DELETE', '/v1/hyperedges', { event_ts: round, members: [1, round] });
    }
    const lines = Array.from({ length: BULK_EDGES }, (_, n) => `{"event_ts":${n},"members":[${n},3],"table":"other"}`);
    const bulk = await post(lines.join('\n'), { 'content-type': 'application/x-ndjson' });
    expect(bulk.status).toBe(201);
    for (let round = 0; round < 20; round++) await post({ event_ts: round, members: [4] });
    resume();
    await post({ event_ts: LAST_TS, members: [5], table: 'other' });
    const digests = await Promise.all(followers);
    const expected = async (table: string) => {
      const { text } = await send(started, 'GET', `/v1/changes?from_lsn=${fromLsn}${table}`);
      return `${text.split('\n').length - 1} ${createHash('sha256').update(text).digest('hex')}`;
    };
    const [all, other] = [await expected(''), await expected('&table=other')];
    for (const [place, digest] of digests.entries()) expect(digest).toBe(place % 3 === 0 ? other : all);
    expect(fallsBehind).toHaveBeenCalled();
    // Nothing is kept once nobody follows.
    await expect.poll(() => started.database.changes.readers).toBe(0);
  },
  60_000,
);
