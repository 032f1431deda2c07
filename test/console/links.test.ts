import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  expectToFit,
  madeEdges,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  sendLines,
  signIn,
  someOf,
  startConsole,
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console, links and keys: skipped: ${REASON_TO_SKIP}`);

const EDGES = 40;

describe.skipIf(REASON_TO_SKIP !== undefined)('a tab with the console', { timeout: 90_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  /** Statements that the page has sent. */
  let sent: string[];

  beforeAll(async () => {
    world = await startConsole();
    await sendLines(world.url, 'hyperedges', madeEdges(EDGES));
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  beforeEach(async () => {
    await context?.close();
    context = await browser.newContext();
    ({ page, complaints } = await openWatched(context));
    sent = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/v1/query')) sent.push((request.postDataJSON() as { query: string }).query);
    });
  });

  const linkTo = (fields: Record<string, string>) => `${world.url}/#${new URLSearchParams(fields)}`;
  const shell = () => page.getByRole('navigation', { name: 'Views' }).waitFor();
  const rows = () => page.locator('.grid tbody tr').first().waitFor();

  async function asAdmin<T>(path: string, body?: unknown, method = body === undefined ? 'GET' : 'POST'): Promise<T> {
    const answer = await fetch(world.url + path, {
      method,
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return (answer.status === 204 ? undefined : await answer.json()) as T;
  }

  test('immediately runs a statement from a link when it only reads', async () => {
    await page.goto(linkTo({ key: ADMIN_KEY, statement: 'MATCH (e:hyperedges) RETURN e.id AS it LIMIT 3' }));
    await page.getByRole('columnheader', { name: 'it', exact: true }).waitFor();
    expect(sent.some((statement) => statement.includes('AS it'))).toBe(true);
  });

  const writing = [
    'DELETE FROM hyperedges',
    'MATCH (e:hyperedges) RETURN e; DELETE FROM hyperedges',
    'MATCH (e:hyperedges) RETURN e;DROP TABLE hyperedges;MATCH (e:hyperedges) RETURN e',
    "MATCH (e:hyperedges) WHERE e.formation = 'it''s' RETURN e; DELETE FROM hyperedges",
    "MATCH (e:hyperedges) WHERE e.formation = 'a\\'; DELETE FROM hyperedges; MATCH (e:hyperedges) RETURN e //'",
    'MATCH (e:hyperedges) RETURN e /* ; */ ; DELETE FROM hyperedges',
    'MATCH (e:hyperedges) RETURN e // \n; DELETE FROM hyperedges',
    'MATCH (e:hyperedges) RETURN e -- \r; DELETE FROM hyperedges',
    'MATCH/**/;COMPACT hyperedges',
    "MATCH (e:`hyper'edges`) RETURN e; DELETE FROM hyperedges WHERE formation <> 'x'",
    "COPY (MATCH (e:hyperedges) RETURN e) TO 'stolen.parquet'",
    '/* MATCH */ DELETE FROM hyperedges',
    'EXPLAIN DELETE FROM hyperedges',
    'BEGIN',
    'INSERT INTO hyperedges (event_ts, members) VALUES (1, [1, 2])',
    'CREATE TABLE stranger',
  ];
  test.each(someOf(writing, 4))('never runs anything but a single read from a link: %s', async (statement) => {
    await page.goto(linkTo({ key: ADMIN_KEY, statement }));
    await shell();
    await page.locator('.editor[data-ready]').waitFor();
    // Once the time strip is drawn, the page has done everything that it does on its own.
    await page.locator('.strip .plot[data-drawn]').waitFor();
    expect(sent.filter((text) => !/^\s*(EXPLAIN\s+)?MATCH\b/i.test(text))).toEqual([]);
    const { rows: found } = await asAdmin<{ rows: { n: number }[] }>('/v1/query', {
      query: 'MATCH (e:hyperedges) RETURN COUNT(*) AS n',
    });
    expect(found[0]!.n).toBe(EDGES);
  });

  test('removes the key in a link from the address, and keeps it only in the storage of the tab', async () => {
    await page.goto(linkTo({ key: ADMIN_KEY, statement: 'MATCH (e:hyperedges) RETURN * LIMIT 3', tab: 'graph' }));
    await shell();
    await page.getByText('Key of the link').waitFor();
    await page.setViewportSize({ width: 360, height: 800 });
    await expectToFit(page);
    const seen = await page.evaluate(() => ({
      address: location.href,
      referrer: document.referrer,
      name: window.name,
      cookies: document.cookie,
      local: JSON.stringify({ ...localStorage }),
      state: JSON.stringify(history.state),
      page: document.documentElement.outerHTML,
      length: history.length,
    }));
    expect(JSON.stringify(seen)).not.toContain(ADMIN_KEY);
    await page.getByRole('link', { name: 'Operations' }).click();
    await page.goBack();
    await page.goBack().catch(() => null);
    expect(page.url()).not.toContain(ADMIN_KEY);
  });

  test('follows a link when it already shows the console', async () => {
    await page.goto(world.url);
    await page.getByLabel('API key').waitFor();
    await page.goto(linkTo({ key: ADMIN_KEY, statement: 'MATCH (e:hyperedges) RETURN e.id AS again LIMIT 3' }));
    await page.getByRole('columnheader', { name: 'again', exact: true }).waitFor();
    expect(page.url()).not.toContain(ADMIN_KEY);
  });

  test('keeps the key of a signed-in user when it opens a link', async () => {
    const { plaintext_key: key } = await asAdmin<{ plaintext_key: string }>('/v1/keys', {
      role: 'readonly',
      description: 'a stranger',
    });
    await signIn(page, world.url);
    await page.goto(linkTo({ key }));
    await shell();
    expect(page.url()).not.toContain(key);
    expect(await page.evaluate(() => sessionStorage.getItem('hedgerow.key'))).toBe(ADMIN_KEY);
    expect(await page.getByText('Key of the link').count()).toBe(0);
  });

  const odd = [
    '#key=',
    '#key=%00%ff%zz',
    '#key=hgr_%0d%0aX-Evil:%201',
    '#key=%E2%80%AEhgr_%F0%9F%98%80',
    `#key=${'a'.repeat(50_000)}`,
    '#statement=MATCH',
    '#__proto__=1&constructor=2',
    '#javascript:alert(1)',
    '#query/../../x',
    '?key=hgr_in-the-query&statement=MATCH',
  ];
  test.each(someOf(odd, 3))(
    'leads from an odd address to the sign-in without a technical message: %s',
    async (tail) => {
      await page.goto(`${world.url}/${tail}`);
      await page.getByLabel('API key').waitFor();
      for (const text of await page.getByRole('alert').allTextContents())
        expect(text).not.toMatch(/undefined|is not a|\n\s+at |ByteString/);
      expect(complaints).toEqual([]);
    },
  );

  test.each(someOf(['hgr_\u0000x', 'hgr_é😀', 'a\nb', 'hgr_‮evil'], 2))(
    'refuses an odd key with a readable message: %j',
    async (key) => {
      await page.goto(world.url);
      await page.getByLabel('API key').fill(key);
      await page.getByRole('button', { name: 'Sign in' }).click();
      const told = (await page.getByRole('alert').textContent())!;
      expect(told).not.toMatch(/ByteString|Headers|fetch|undefined/);
      expect(told).toMatch(/key/i);
    },
  );

  test('has its own session', async () => {
    await signIn(page, world.url);
    const { page: other } = await openWatched(context);
    await other.goto(world.url);
    await other.getByLabel('API key').waitFor();
    await signIn(other, world.url);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.getByLabel('API key').waitFor();
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await rows();
    expect(await page.getByRole('alert').count()).toBe(0);
  });

  test('keeps nothing after signing out, not even from running requests', async () => {
    await signIn(page, world.url);
    await rows();
    await page.locator('.editor[data-ready]').waitFor();
    await writeStatement(page, "MATCH (e:hyperedges) WHERE e.formation = 'a secret' RETURN e");
    let letGo = () => {};
    const isHeld = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/v1/query', async (route) => {
      await isHeld;
      await route.continue().catch(() => {});
    });
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: /^Running/ }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    letGo();
    await page.unroute('**/v1/query');
    // After two more requests, all effects of the late answer have arrived.
    for (let turn = 0; turn < 2; turn += 1)
      await page.evaluate(() => fetch('health', { cache: 'no-store' }).then((it) => it.text()));
    expect(await page.evaluate(() => JSON.stringify({ ...sessionStorage }))).toBe('{}');
    await signIn(page, world.url);
    await rows();
    expect(await page.textContent('body')).not.toContain('a secret');
    expect(
      await page
        .locator('.past select')
        .isDisabled()
        .catch(() => false),
    ).toBe(false);
    expect(await page.locator('.past option').allTextContents()).not.toContainEqual(expect.stringContaining('secret'));
  });

  test('reports a key that was revoked while in use, and returns to the sign-in', async () => {
    const made = await asAdmin<{ plaintext_key: string; key_id: string }>('/v1/keys', {
      role: 'readonly',
      description: 'x',
    });
    await signIn(page, world.url, made.plaintext_key);
    await rows();
    await asAdmin(`/v1/keys/${made.key_id}`, undefined, 'DELETE');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const alert = page.getByRole('alert').first();
    await alert.getByText('Sign out and sign in with a valid key.').waitFor();
    expect(await page.textContent('body')).not.toContain(made.plaintext_key);
    await page.reload();
    await page.getByLabel('API key').waitFor();
    expect(await page.getByRole('alert').textContent()).toMatch(/key/i);
    expect(await page.evaluate(() => sessionStorage.getItem('hedgerow.key'))).toBe(null);
    await page.getByLabel('API key').fill(ADMIN_KEY);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await rows();
    expect(await page.getByRole('alert').count()).toBe(0);
  });
});
