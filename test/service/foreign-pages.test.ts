import { createServer, type Server } from 'node:http';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Recorder, send, startServer, type TestServer } from '../http/support.ts';
import { CHROMIUM } from '../support/chromium.ts';

/** Stored before each attack. No page may see this text. */
const SECRET = 'the-secret-formation';
const LONGEST_WAIT_MS = 10_000;

if (CHROMIUM === undefined) console.log('foreign pages: skipped: no chromium in /usr/bin');

/**
 * Tries everything that a page can do without permission, and returns what the attempts saw. None
 * of them may write anything. Runs in the browser.
 */
async function attack(target: string): Promise<string[]> {
  const seen: string[] = [];
  const edge = (ts: number) => `{"event_ts":${ts},"members":[666]}`;
  const insert = `${target}/v1/hyperedges`;
  const read = `${target}/v1/hyperedges?start_ts=-9&end_ts=99999`;
  const statement = JSON.stringify({ query: 'CREATE HYPEREDGE TABLE taken (node)' });
  const attempt = async (what: string, run: () => Promise<Response>) => {
    try {
      const response = await run();
      seen.push(`${what}: ${response.type} ${response.status} ${await response.text()}`);
    } catch (error) {
      seen.push(`${what}: ${error}`);
    }
  };
  const json = { 'content-type': 'application/json' };
  await attempt('get', () => fetch(read));
  await attempt('opaque get', () => fetch(read, { mode: 'no-cors' }));
  await attempt('health', () => fetch(`${target}/health`));
  await attempt('json', () => fetch(insert, { method: 'POST', headers: json, body: edge(1) }));
  await attempt('text', () => fetch(insert, { method: 'POST', body: edge(2) }));
  for (const mode of ['cors', 'no-cors'] as const) {
    await attempt(`${mode} blob`, () => fetch(insert, { method: 'POST', mode, body: new Blob([edge(3)]) }));
    await attempt(`${mode} statement`, () =>
      fetch(`${target}/v1/query`, { method: 'POST', mode, body: new Blob([statement]) }),
    );
    await attempt(`${mode} empty`, () => fetch(`${target}/v1/hyperedges/compact`, { method: 'POST', mode }));
  }
  await attempt('drop', () => fetch(`${target}/v1/tables/other`, { method: 'DELETE' }));
  seen.push(`beacon: ${navigator.sendBeacon(insert, new Blob([edge(4)]))}`);
  const loaded = (element: HTMLElement, address: string) =>
    new Promise<void>((resolve) => {
      element.onload = element.onerror = () => resolve();
      (element as HTMLImageElement).src = address;
      document.body.append(element);
    });
  const image = document.createElement('img');
  await loaded(image, `${target}/docs/favicon-32x32.png`);
  seen.push(`image: ${image.naturalWidth}`);
  await loaded(document.createElement('script'), `${target}/openapi.json`);
  await loaded(document.createElement('iframe'), read);
  const frame = Object.assign(document.createElement('iframe'), { name: 'sink' });
  document.body.append(frame);
  const form = Object.assign(document.createElement('form'), {
    method: 'post',
    action: insert,
    target: 'sink',
    enctype: 'text/plain',
  });
  // As text, this is {"event_ts":5,"members":[666],"a":"="}.
  form.append(
    Object.assign(document.createElement('input'), { name: '{"event_ts":5,"members":[666],"a":"', value: '"}' }),
  );
  document.body.append(form);
  await new Promise<void>((resolve) => {
    frame.onload = () => resolve();
    form.submit();
  });
  return seen;
}

interface Outcome {
  seen: string[];
  /** Statuses of all requests that arrived from the page. */
  statuses: number[];
  rows: number;
  tables: string[];
}

describe.skipIf(CHROMIUM === undefined)(
  'a service without keys, when pages of other sites call it',
  { timeout: 120_000 },
  () => {
    let browser: Browser;
    let pages: Server;
    let pagesPort: number;
    let server: TestServer;
    const observer = new Recorder();

    beforeAll(async () => {
      pages = createServer((_request, response) => {
        response
          .writeHead(200, { 'content-type': 'text/html', connection: 'close' })
          .end('<!doctype html><title>a page</title><body></body>');
      });
      await new Promise<void>((resolve) => pages.listen(0, '127.0.0.1', resolve));
      pagesPort = (pages.address() as { port: number }).port;
      const origins = [`http://listed.test:${pagesPort}`];
      server = await startServer({ observer, publicHosts: [], cors: origins });
      await send(server, 'POST', '/v1/hyperedges', { event_ts: 0, members: [1], formation: SECRET });
      await send(server, 'POST', '/v1/tables', { name: 'other', columns: [] });
      const args = [
        '--no-sandbox',
        '--disable-gpu',
        '--disable-dev-shm-usage',
        '--host-resolver-rules=MAP *.test 127.0.0.1',
      ];
      browser = await chromium.launch({ executablePath: CHROMIUM!, args });
    });
    afterAll(async () => {
      await browser?.close();
      await server?.close();
      pages?.close();
    });

    async function onPage<T>(address: string, use: (page: Page) => Promise<T>): Promise<T> {
      const context = await browser.newContext();
      try {
        const page = await context.newPage();
        page.setDefaultTimeout(LONGEST_WAIT_MS);
        await page.goto(address);
        return await use(page);
      } finally {
        await context.close();
      }
    }

    async function outcomeOf(address: string, target: string, loaded = () => {}): Promise<Outcome> {
      observer.requests.length = 0;
      const seen = await onPage(address, (page) => {
        loaded();
        return page.evaluate(attack, target);
      });
      const statuses = observer.requests.map(({ status }) => status);
      const rows = await send(server, 'GET', '/v1/hyperedges?start_ts=-9&end_ts=99999');
      const tables = await send(server, 'GET', '/v1/tables');
      return {
        seen,
        statuses,
        rows: rows.json.num_tuples,
        tables: tables.json.map(({ name }: { name: string }) => name).sort(),
      };
    }

    function expectNothing({ seen, statuses, rows, tables }: Outcome): void {
      expect(seen.filter((line) => line.includes(SECRET))).toEqual([]);
      expect(seen.filter((line) => /: (basic|cors) 2\d\d/.test(line))).toEqual([]);
      expect(seen).toContain('image: 0');
      expect(rows).toBe(1);
      expect(tables).toEqual(['hyperedges', 'other']);
      expect(statuses.length).toBeGreaterThan(10);
      // 404 is the answer to the browser's request for an icon.
      expect(statuses.filter((status) => status !== 403 && status !== 404)).toEqual([]);
    }

    test('does not answer a page from another port of this machine', async () => {
      for (const host of ['127.0.0.1', 'localhost'])
        expectNothing(await outcomeOf(`http://${host}:${pagesPort}/`, `http://${host}:${server.port}`));
    });

    test('does not answer a page of another site', async () => {
      expectNothing(await outcomeOf(`http://evil.test:${pagesPort}/`, `http://127.0.0.1:${server.port}`));
      expectNothing(await outcomeOf(`http://evil.test:${pagesPort}/`, `http://localhost:${server.port}`));
    });

    test('does not answer a site whose name now resolves to this machine', async () => {
      // DNS rebinding: the name resolves to the server of the site while the page loads, and to the
      // service afterwards.
      let port = pagesPort;
      const sockets = new Set<Socket>();
      const name = createTcpServer((socket) => {
        const other = connect(port, '127.0.0.1');
        for (const end of [socket, other]) end.on('error', () => {});
        sockets.add(socket.on('close', () => other.destroy()));
        socket.pipe(other).pipe(socket);
      });
      await new Promise<void>((resolve) => name.listen(0, '127.0.0.1', resolve));
      const origin = `http://rebound.test:${(name.address() as { port: number }).port}`;
      try {
        const outcome = await outcomeOf(`${origin}/`, origin, () => {
          port = server.port;
          for (const socket of sockets) socket.destroy();
        });
        expectNothing(outcome);
        expect(outcome.seen.filter((line) => line.includes('foreign_host')).length).toBeGreaterThan(5);
      } finally {
        name.close();
      }
    });

    test('serves the API page through a link, and the page works', async () => {
      const opened = await onPage(`http://evil.test:${pagesPort}/`, async (page) => {
        await page.evaluate((address) => {
          document.body.append(Object.assign(document.createElement('a'), { href: address, textContent: 'there' }));
        }, `${server.url}/docs`);
        const [answer] = await Promise.all([page.waitForNavigation(), page.getByText('there').click()]);
        const inside = await page.evaluate(async () => (await fetch('/v1/tables')).status);
        return [answer?.status(), await page.title(), inside];
      });
      expect(opened).toEqual([200, 'Hedgerow API', 200]);
    });

    test('lets a listed origin read and write', async () => {
      const outcome = await outcomeOf(`http://listed.test:${pagesPort}/`, `http://127.0.0.1:${server.port}`);
      expect(outcome.seen.find((line) => line.startsWith('get:'))).toContain(SECRET);
      expect(outcome.seen.find((line) => line.startsWith('json:'))).toContain('cors 201');
      // Even from a listed origin, a body without a type or with a text type is refused.
      expect(outcome.statuses.filter((status) => status === 415).length).toBeGreaterThan(2);
      expect(outcome.rows).toBe(2);
    });
  },
);
