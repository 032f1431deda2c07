import { EventEmitter, once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startWorld, type World } from '../service/worlds.ts';
import { CHROMIUM, keepPageOpen } from '../support/chromium.ts';

/**
 * Uses several methods of the client from a page of another origin, and posts the outcome to the
 * server of the page.
 */
const SCRIPT = `
import { HedgerowApiError, HedgerowClient } from './client/index.js';
const { searchParams } = new URL(location);
const client = new HedgerowClient({ url: searchParams.get('url'), leaders: searchParams.getAll('leader'), apiKey: 'bootstrap' });
const rows = [];
let refused;
let outcome;
try {
  await client.hyperedges.insertMany([1, 2, 3].map((ts) => ({ event_ts: ts, members: [ts], formation: '“' + ts })));
  for await (const row of client.hyperedges.rangeRows({ start_ts: 2, end_ts: 9 })) rows.push([row.event_ts, row.formation]);
  await client.tables.get('nope').catch((error) => { refused = [error instanceof HedgerowApiError, error.statusCode, error.code, error.requestId !== undefined]; });
  outcome = JSON.stringify({ rows, refused, lsn: client.lastLsn > 0 });
} catch (error) {
  outcome = String(error.cause ?? error);
}
await fetch('/outcome', { method: 'POST', body: outcome });
`;

const dist = new URL('../../dist/client/', import.meta.url);
let pages: Server;
let origin: string;
const outcomes = new EventEmitter();
beforeAll(async () => {
  pages = createServer((request, response) => {
    const { pathname } = new URL(request.url!, 'http://pages');
    const name = pathname.replace('/client/', '');
    if (pathname === '/outcome') void text(request).then((body) => outcomes.emit('posted', body) && response.end());
    else if (pathname === '/')
      response
        .setHeader('content-type', 'text/html')
        .end(`<meta charset="utf-8"><body><script type="module">${SCRIPT}</script>`);
    else if (existsSync(new URL(name, dist)))
      response.setHeader('content-type', 'text/javascript').end(readFileSync(new URL(name, dist)));
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
  origin = `http://127.0.0.1:${(pages.address() as { port: number }).port}`;
});
afterAll(() => pages.close());

async function outcome(world: World, query = `url=${encodeURIComponent(world.url)}`): Promise<string> {
  const posted = once(outcomes, 'posted');
  const [outcome] = await keepPageOpen(`${origin}/?${query}`, posted);
  await world.close();
  return outcome;
}

if (CHROMIUM === undefined) console.log('browser client: skipped: no chromium in /usr/bin');

test.skipIf(CHROMIUM === undefined)(
  'the client works on a page whose origin is listed',
  { timeout: 120_000 },
  async () => {
    const world = await startWorld({ corsOrigins: [origin] });
    expect(JSON.parse(await outcome(world))).toEqual(GOOD);
  },
);

/** What the page posts if all has worked. */
const GOOD = {
  rows: [
    [2, '“2'],
    [3, '“3'],
  ],
  refused: [true, 404, 'table_not_found', true],
  lsn: true,
};

/** Starts a server that redirects every POST to `location`, and passes on everything else. */
async function redirecting(location: string): Promise<{ url: string; close: () => void }> {
  const server = createServer(async (request, response) => {
    response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*');
    if (request.method === 'OPTIONS') response.end();
    else if (request.method === 'POST') response.writeHead(307, { location: location + request.url }).end();
    else {
      const headers = { 'x-api-key': 'bootstrap', accept: request.headers.accept! };
      const answer = await fetch(location + request.url, { headers });
      response.writeHead(answer.status, { 'content-type': answer.headers.get('content-type')! });
      response.end(await answer.text());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as { port: number }).port}`,
    close: () => void server.close().closeAllConnections(),
  };
}

test.skipIf(CHROMIUM === undefined)(
  'the client on a page writes at a listed leader, and follows no redirect elsewhere',
  { timeout: 120_000 },
  async () => {
    const asked: string[] = [];
    const elsewhere = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      response.setHeader('access-control-allow-origin', '*').setHeader('access-control-allow-headers', '*').end();
    });
    await new Promise<void>((resolve) => elsewhere.listen(0, '127.0.0.1', resolve));
    const away = await redirecting(`http://127.0.0.1:${(elsewhere.address() as { port: number }).port}`);
    const world = await startWorld({ corsOrigins: [origin] });
    const follower = await redirecting(world.url);
    const text = await outcome(
      world,
      new URLSearchParams([...urls(follower), ['leader', away.url], ['leader', world.url]]).toString(),
    );
    expect(JSON.parse(text)).toEqual(GOOD);
    const none = await startWorld();
    expect(await outcome(none, new URLSearchParams(urls(away)).toString())).toContain('307');
    expect(asked).toEqual([]);
    for (const server of [follower, away]) server.close();
    elsewhere.close();
  },
);

const urls = ({ url }: { url: string }): [string, string][] => [['url', url]];

test.skipIf(CHROMIUM === undefined)(
  'the client gets nothing on a page of another origin',
  { timeout: 120_000 },
  async () => {
    const world = await startWorld({ corsOrigins: ['http://elsewhere.test'] });
    expect(await outcome(world)).toContain('Failed to fetch');
  },
);
