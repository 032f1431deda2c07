import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
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
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console and large things: skipped: ${REASON_TO_SKIP}`);

const TABLES = 120;
const RULES = 150;

describe.skipIf(REASON_TO_SKIP !== undefined)('large and unusual data', { timeout: 120_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    world = await startConsole();
    const edges = Array.from({ length: 5000 }, (_, at) => ({
      event_ts: 1_000_000 + at * 60,
      members: at % 50 === 0 ? Array.from({ length: 64 }, (_member, node) => node + at) : [at % 97, 100 + (at % 89)],
    }));
    await sendLines(world.url, 'hyperedges', `${edges.map((edge) => JSON.stringify(edge)).join('\n')}\n`);
    for (let at = 0; at < TABLES; at += 1) await send('/v1/tables', { name: `t${at}` });
    // A table and columns with names that every JavaScript object has.
    await send('/v1/tables', {
      name: '__proto__',
      columns: ['constructor', '__proto__', 'toString'].map((name) => ({ name, type: 'TEXT' })),
    });
    for (let at = 0; at < RULES; at += 1) {
      await send('/v1/rules', {
        id: `rule:r${at}`,
        name: `Rule ${at}`,
        if: [{ pred: 'formation', args: ['?E', '?F'] }],
        then: { pred: `p${at}`, args: ['?E', '?F'] },
      });
    }
    browser = await openBrowser();
    ({ page, complaints } = await openWatched(await browser.newContext({ viewport: { width: 1280, height: 900 } })));
    await signIn(page, world.url);
    await page.locator('.grid tbody tr').first().waitFor();
    await page.locator('.editor[data-ready]').waitFor();
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  afterEach(async () => {
    expect(complaints).toEqual([]);
    await expectToFit(page);
  });

  async function send(path: string, body: unknown): Promise<void> {
    const answer = await fetch(world.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }
  const run = async (statement: string) => {
    await writeStatement(page, statement);
    await page.keyboard.press('Control+Enter');
  };
  const openView = (name: string) => page.getByRole('link', { name, exact: true }).click();

  /**
   * Fakes the answer to the next statement, because no service of this size would send such an
   * answer.
   */
  async function answered(columns: readonly string[], rows: readonly Record<string, unknown>[]): Promise<void> {
    await page.route('**/v1/query', (route) =>
      route.fulfill({
        contentType: 'application/x-ndjson',
        body: rows.map((row) => `${JSON.stringify(row)}\n`).join(''),
      }),
    );
    await run(`MATCH (e:hyperedges) RETURN e.id AS ${columns[0]!}`);
    await page.getByRole('columnheader', { name: columns[0]!, exact: true }).waitFor();
  }

  test('are drawn as a picture: 5,000 edges, some with 64 members', async () => {
    await run('MATCH (e:hyperedges) RETURN *');
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.stretch').first().waitFor();
    await run('MATCH (e:hyperedges) WHERE size(e.members) = 64 RETURN * LIMIT 10');
    await page.locator('.picture .node').nth(63).waitFor();
    await page.getByRole('tab', { name: 'Rows' }).click();
  });

  test('are shortened until the user asks for everything: a text of a megabyte', async () => {
    const text = 'wide '.repeat(200_000);
    await answered(['large'], [{ large: text }]);
    const cell = page.locator('.grid tbody td');
    expect((await cell.textContent())!.length).toBeLessThan(1000);
    await page.getByRole('button', { name: '1,000,000 characters' }).click();
    expect((await cell.locator('.value').textContent())!.length).toBe(text.length);
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByRole('tab', { name: 'Rows' }).click();
    await page.unroute('**/v1/query');
  });

  test('are shown: 2,000 columns', async () => {
    const names = Array.from({ length: 2000 }, (_, at) => `column_${at}`);
    await answered(names, [Object.fromEntries(names.map((name, at) => [name, at]))]);
    expect(await page.getByRole('columnheader').count()).toBeGreaterThanOrEqual(2000);
    await page.unroute('**/v1/query');
  });

  test('are shown: empty results, null, empty texts and lists, extreme numbers and odd times', async () => {
    await answered(
      ['odd'],
      [null, '', [], {}, [null], 1e308, -0, 9_007_199_254_740_991, true, [[1], { a: [] }], ' ', '\n'].map((odd) => ({
        odd,
        event_ts: 8.64e15,
      })),
    );
    expect(await page.locator('.grid tbody tr').count()).toBe(12);
    await page.unroute('**/v1/query');
    await run('MATCH (e:t1) RETURN *');
    await page.getByText('t1 holds no edges.').waitFor();
    expect(await page.getByRole('columnheader').count()).toBe(0);
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByRole('tab', { name: 'Rows' }).click();
  });

  test('are shown: a table with the name __proto__', async () => {
    await page
      .getByRole('button', { name: /^__proto__/ })
      .first()
      .click();
    await page.getByText('__proto__ holds no edges yet').waitFor();
    await page.locator('.catalog').getByRole('button', { name: 'constructor', exact: true }).waitFor();
    await run(
      "INSERT INTO __proto__ (event_ts, members, constructor, `__proto__`) VALUES (5, [1, 2], 'built', 'born')",
    );
    await run('MATCH (e:__proto__) RETURN *');
    await page.getByRole('cell', { name: 'built', exact: true }).waitFor();
    await page.getByRole('cell', { name: 'born', exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByRole('tab', { name: 'JSON' }).click();
    await page.getByRole('tab', { name: 'Rows' }).click();
    expect(await page.locator('#view').getByRole('alert').count()).toBe(0);
  });

  test('are listed: many tables and rules', async () => {
    expect(await page.locator('.catalog .entry').count()).toBe(TABLES + RULES + 2);
    await openView('Rules');
    await expect.poll(() => page.locator('.rule-list li').count()).toBe(60);
    await page.getByText(`The first 60 of ${RULES} rules.`).waitFor();
  });

  test('do not block other views while a statement waits for a slow service', async () => {
    await openView('Query');
    await page.locator('.editor[data-ready]').waitFor();
    await page.route('**/v1/query', async (route) => {
      await new Promise((resolve) => setTimeout(resolve, 3000));
      await route.continue().catch(() => {});
    });
    await run('MATCH (e:hyperedges) RETURN * LIMIT 5');
    await openView('Import');
    await page.getByRole('heading', { name: 'Import a file' }).waitFor();
    await openView('Query');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('The statement was stopped.').waitFor();
    await page.unroute('**/v1/query');
  });
});
