import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { BASE_PREDICATES, unknownPredicates } from '../../src/console/rules/rule-words.ts';
import { BASE_PREDICATES as BASE_OF_SERVICE } from '../../src/rules/base-predicates.ts';
import { faultsOf } from './axe.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  expectToFit,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  sendLines,
  signIn,
  startConsole,
  writeCsv,
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console, frame and views: skipped: ${REASON_TO_SKIP}`);

test('the console has the same predicates of edges as the service', () => {
  expect(BASE_PREDICATES).toEqual(new Map([...BASE_OF_SERVICE, ['node', 2], ['attribute', 3]]));
});

test('an unknown predicate is reported with a suggestion', () => {
  const rule = (...body: unknown[]) => ({ id: 'rule:own', if: body, then: { pred: 'own', args: ['?A'] } });
  const atom = (pred: string) => ({ pred, args: ['?A'] });
  const stored = [
    { id: 'rule:met', head: 'met', enabled: true },
    { id: 'rule:far', head: 'far', enabled: false },
    { id: 'rule:own', head: 'former', enabled: true },
  ];
  expect(unknownPredicates(rule(atom('hyperedge'), atom('met'), { not: atom('own') }), stored)).toEqual([]);
  expect(unknownPredicates(rule({ compare: ['?A', '<', 2] }, {}, null), stored)).toEqual([]);
  expect(unknownPredicates(rule(atom('membr'), { not: atom('far') }, atom('former')), stored)).toEqual([
    'membr is not a predicate of edges, and no stored rule derives it: it has no facts. Did you mean member?',
    'far is derived by rule:far alone, which is off: it has no facts.',
    'former is not a predicate of edges, and no stored rule derives it: it has no facts. Store a rule that derives it, or use one of those above.',
  ]);
});

const TABLES = 200;

describe.skipIf(REASON_TO_SKIP !== undefined)('the frame of the console', { timeout: 90_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    world = await startConsole();
    // 1,500 nodes, so that a result with one value per node is longer than the page requests.
    const edges = Array.from({ length: 750 }, (_, at) =>
      JSON.stringify({ event_ts: 1_000_000 + at * 60, members: [at * 2, at * 2 + 1] }),
    );
    await sendLines(world.url, 'hyperedges', `${edges.join('\n')}\n`);
    for (let at = 1; at < TABLES; at += 1) await send('/v1/tables', { name: `t${String(at).padStart(3, '0')}` });
    await writeCsv(`${world.virtualRoot}/trips.csv`, 300);
    browser = await openBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    ({ page, complaints } = await openWatched(context));
    await signIn(page, world.url);
    await page.locator('.grid tbody tr').first().waitFor();
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  async function send(path: string, body: unknown): Promise<void> {
    const answer = await fetch(world.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }
  const openView = (name: string) => page.getByRole('link', { name, exact: true }).click();

  test('scrolls a list of 200 tables separately and filters it by typing', async () => {
    const entries = page.locator('.catalog-list').first().locator('li');
    expect(await entries.count()).toBe(TABLES);
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBeLessThan(3500);
    const filter = page.getByRole('searchbox', { name: 'Filter tables' });
    await filter.fill('T17');
    await page.getByText('10 of 200 tables').waitFor();
    expect(await entries.count()).toBe(10);
    await filter.press('Enter');
    await page.getByRole('region', { name: 'Time of t170' }).waitFor();
    await filter.fill('');
    await expect.poll(() => entries.count()).toBe(TABLES);
    // A table that a statement has selected is scrolled into view.
    await writeStatement(page, 'MATCH (e:t199) RETURN e');
    await page.keyboard.press('Control+Enter');
    const chosen = page.getByRole('button', { name: /^t199 / });
    await expect.poll(() => chosen.getAttribute('aria-pressed')).toBe('true');
    await expect
      .poll(() =>
        chosen.evaluate((entry) => {
          const { top, bottom } = entry.getBoundingClientRect();
          const list = entry.closest('.catalog-list')!.getBoundingClientRect();
          return top >= list.top - 1 && bottom <= list.bottom + 1 && bottom <= innerHeight;
        }),
      )
      .toBe(true);
    expect(await faultsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test.each([1280, 360])('does not shift its layout while the page loads, at %i px', async (width) => {
    const other = await context.newPage();
    await other.setViewportSize({ width, height: 900 });
    await other.addInitScript(() => {
      const shifts: string[] = [];
      Object.assign(globalThis, { shifts });
      new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) {
          const { value, sources } = entry as unknown as {
            value: number;
            sources: { node: Element | null; previousRect: DOMRect; currentRect: DOMRect }[];
          };
          const names = sources.map(
            ({ node, previousRect, currentRect }) =>
              `${node?.nodeName}.${node?.className ?? ''} ${previousRect.y} -> ${currentRect.y}`,
          );
          if (value > 0.001) shifts.push(`${value.toFixed(4)}: ${names.join(', ')}`);
        }
      }).observe({ type: 'layout-shift', buffered: true });
    });
    const key = JSON.stringify(ADMIN_KEY);
    await other.addInitScript(`sessionStorage.setItem('hedgerow.key', ${key})`);
    await other.goto(world.url);
    await other.locator('.grid tbody tr').first().waitFor();
    await other.locator('.strip .plot[data-drawn]').waitFor();
    await other.locator('.editor[data-ready]').waitFor();
    await other.waitForTimeout(300);
    expect(await other.evaluate(() => (globalThis as unknown as { shifts: string[] }).shifts)).toEqual([]);
    await other.close();
  });

  test('shows in its header that the service is unreachable, and reconnects', async () => {
    await openView('Query');
    // The element for this report appears a moment after the first rows.
    await page.locator('.service-note').waitFor({ state: 'attached' });
    await context.setOffline(true);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const note = page.getByRole('banner').getByText(/^Service not reachable since \d\d:\d\d:\d\d UTC$/);
    await note.waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: 'Retry' }).click();
    await page.getByRole('button', { name: 'Retry' }).waitFor();
    await note.waitFor();
    await send('/v1/tables', { name: 'made_meanwhile' });
    await context.setOffline(false);
    await page.getByRole('button', { name: 'Retry' }).click();
    await note.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: /^made_meanwhile/ }).waitFor();
    // An error page from a gateway counts as unreachable too, but an error of the service does not.
    await page.route('**/v1/query', (route) => route.fulfill({ status: 503, body: '<html>Busy</html>' }));
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Service not reachable').waitFor();
    await page.unroute('**/v1/query');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Service not reachable').waitFor({ state: 'detached' });
  });

  test('shows a running measure; cancelling the measure also stops it on the server', async () => {
    await page.getByRole('button', { name: /^hyperedges/ }).click();
    await openView('Measures');
    await page.getByRole('combobox', { name: 'Measure' }).selectOption('node_degree');
    const stop = page.getByRole('button', { name: 'Stop', exact: true });
    expect(await stop.isDisabled()).toBe(true);
    await page.route('**/v1/analytics/**', () => {});
    const ended = page.waitForEvent('requestfailed');
    await page.getByRole('button', { name: 'Compute' }).click();
    await page.getByRole('progressbar', { name: 'Computing node_degree of hyperedges' }).waitFor();
    await page.getByText(/node_degree of hyperedges, [1-9]\d* s/).waitFor();
    await stop.click();
    await page.getByText('The measure was stopped.').waitFor();
    expect((await ended).url()).toContain('/v1/analytics/hyperedges/node_degree');
    await page.unroute('**/v1/analytics/**');
    expect(await page.getByRole('progressbar').count()).toBe(0);
  });

  test('marks results of measures, virtual graphs and routes as truncated when they are', async () => {
    await page.getByRole('button', { name: 'Compute' }).click();
    await page.getByText('Only the first 1,000 entries were asked for.').waitFor();
    await page.getByLabel('limit', { exact: true }).fill('1200');
    await page.getByRole('button', { name: 'Compute' }).click();
    await page.getByText('1,200 values').waitFor();
    expect(await page.getByText('were asked for').count()).toBe(0);

    await openView('Virtual');
    await page.getByLabel('File or pattern of files').fill('trips.csv');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByRole('button', { name: 'Store specification' }).click();
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.getByText('50 hyperedges').waitFor();
    const query = page.getByLabel('Query', { exact: true });
    await query.fill((await query.inputValue()).replace('LIMIT 50', ''));
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.getByText('The first 200 hyperedges; there are more').waitFor();
    const hyperedges = page.getByRole('region', { name: 'Hyperedges' });
    expect(await hyperedges.locator('tbody tr').count()).toBe(200);

    await openView('Operations');
    await page.getByText(/^The busiest 12 of \d+ routes are shown\./).waitFor();
    await page.getByRole('button', { name: 'All of them' }).click();
    await page.getByText(/^All \d+ routes are shown\./).waitFor();
  });

  test('warns about a rule with an unknown predicate, but lets the user store it', async () => {
    await openView('Rules');
    const rule = page.getByRole('textbox', { name: 'Rule', exact: true });
    const good = await rule.inputValue();
    await page.getByText('The rule is sound').waitFor();
    expect(await page.locator('.note-warning').count()).toBe(0);
    await rule.fill(good.replace('"member", "args": ["?E", "?B"]', '"membr", "args": ["?E", "?B"]'));
    const warning = page.locator('#rule-check').getByText('Did you mean member?');
    await warning.waitFor();
    expect(await faultsOf(page)).toEqual([]);
    expect(await page.getByRole('button', { name: 'Store rule' }).isEnabled()).toBe(true);
    await rule.fill(good);
    await warning.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Store rule' }).click();
    await page.getByText('rule:met is stored.').waitFor();
    await page.getByLabel('At most').fill('750');
    await page.getByRole('button', { name: 'Derive' }).click();
    await page.getByText(/^750 facts follow from rule:met; the first 200 are listed\.$/).waitFor();
    expect(await page.locator('.fact-list li').count()).toBe(200);
  });

  test('causes no browser errors or warnings', () => {
    expect(complaints).toEqual([]);
  });
});
