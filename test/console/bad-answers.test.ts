import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConsoleWorld,
  madeEdges,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  sendLines,
  signIn,
  someOf,
  startConsole,
  writeCsv,
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console and bad answers: skipped: ${REASON_TO_SKIP}`);

const json = { 'content-type': 'application/json' };

/** Faulty responses that replace an answer. */
const FAULTS: readonly (readonly [string, (route: Route) => Promise<void>])[] = [
  [
    'an error of the service',
    (route) =>
      route.fulfill({
        status: 500,
        headers: json,
        body: '{"detail":"Something failed inside the server.","code":"internal","status":500,"request_id":"r"}',
      }),
  ],
  ['a page of a proxy', (route) => route.fulfill({ status: 503, body: '<html><h1>Busy</h1></html>' })],
  [
    'an exceeded limit',
    (route) =>
      route.fulfill({
        status: 429,
        headers: { ...json, 'retry-after': '60' },
        body: '{"detail":"Too many requests."}',
      }),
  ],
  ['an error without a text', (route) => route.fulfill({ status: 502, body: '' })],
  ['a page instead of JSON', (route) => route.fulfill({ status: 200, body: '<html>Sign in to the hotel</html>' })],
  ['half an answer', (route) => route.fulfill({ status: 200, headers: json, body: '{"columns":["e"],"rows":[{"e":' })],
  ['an empty answer', (route) => route.fulfill({ status: 200, headers: json, body: '' })],
  ['no service', (route) => route.abort('connectionrefused')],
];

/** Parts of messages from JavaScript engines, which no user should have to read. */
const OF_ENGINES = /is not a function|undefined|cannot read|\[object|NaN|\n\s+at /i;

describe.skipIf(REASON_TO_SKIP !== undefined)('bad answers', { timeout: 180_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    world = await startConsole();
    await writeCsv(join(world.virtualRoot, 'trips.csv'));
    await writeFile(join(world.virtualRoot, 'empty.csv'), '');
    await sendLines(world.url, 'hyperedges', madeEdges(60));
    browser = await openBrowser();
    ({ page, complaints } = await openWatched(await browser.newContext({ viewport: { width: 1280, height: 900 } })));
    await signIn(page, world.url);
    await page.locator('.grid tbody tr').first().waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const openView = (name: string) => page.getByRole('link', { name, exact: true }).click();

  /**
   * Checks that the action ends in a message to the user when its answer is faulty, and that the
   * action works again without the fault.
   */
  async function goesOnAfterFaults(path: string, act: () => Promise<void>, works: () => Promise<void>): Promise<void> {
    for (const [name, answer] of someOf(FAULTS, 2)) {
      await page.route(path, answer);
      await act();
      const alert = page.locator('#view').getByRole('alert').first();
      await alert.waitFor().catch(() => Promise.reject(new Error(`${path}: ${name}: nothing is told`)));
      const told = (await alert.textContent())!;
      expect(told.length, name).toBeGreaterThan(20);
      expect(told, name).not.toMatch(OF_ENGINES);
      expect(told, name).not.toContain('hgr_');
      await page.unroute(path);
      await act();
      await works();
      await expect
        .poll(() => page.locator('#view').getByRole('alert').allTextContents(), { message: `after ${name}` })
        .toEqual([]);
    }
  }

  test('are reported in reply to a statement', async () => {
    await writeStatement(page, 'MATCH (e:hyperedges) RETURN e LIMIT 7');
    await goesOnAfterFaults(
      '**/v1/query',
      () => page.getByRole('button', { name: 'Run', exact: true }).click(),
      async () => expect.poll(() => page.locator('.grid tbody tr').count()).toBe(7),
    );
  });

  test('are reported when the rows of a statement break off', async () => {
    for (const body of ['{"e":1}\n{"e":', '{"e":1}\nnot json\n']) {
      await page.route('**/v1/query', (route) =>
        route.fulfill({ headers: { 'content-type': 'application/x-ndjson' }, body }),
      );
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await page
        .locator('#view')
        .getByRole('alert')
        .getByText(/stream of rows/)
        .waitFor();
      await page.unroute('**/v1/query');
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await expect.poll(() => page.locator('.grid tbody tr').count()).toBe(7);
    }
  });

  test('are reported in the panel of the plan', async () => {
    await page.getByRole('tab', { name: 'Plan' }).click();
    const explain = async () => {
      await page.getByRole('tab', { name: 'Rows' }).click();
      await page.getByRole('tab', { name: 'Plan' }).click();
    };
    await goesOnAfterFaults('**/v1/query', explain, () => page.locator('.tree').waitFor());
    await page.getByRole('tab', { name: 'Rows' }).click();
  });

  test('are reported in reply to a measure', async () => {
    await openView('Measures');
    await page.getByRole('combobox', { name: 'Measure' }).selectOption('node_degree');
    await goesOnAfterFaults(
      '**/v1/analytics/**',
      () => page.getByRole('button', { name: 'Compute' }).click(),
      () => page.locator('.bars').waitFor(),
    );
  });

  test('are reported in reply to a rule, to its check and to its facts', async () => {
    await openView('Rules');
    await page.getByText('The rule is sound').waitFor();
    const rule = page.getByRole('textbox', { name: 'Rule', exact: true });
    let text = await rule.inputValue();
    await goesOnAfterFaults(
      '**/v1/rules/validate',
      async () => {
        text += ' ';
        await rule.fill(text);
      },
      () => page.getByText('The rule is sound').waitFor(),
    );
    await goesOnAfterFaults(
      '**/v1/rules',
      () => page.getByRole('button', { name: 'Store rule' }).click(),
      () => page.getByText('rule:met is stored.').waitFor(),
    );
    await goesOnAfterFaults(
      '**/v1/reason',
      () => page.getByRole('button', { name: 'Derive' }).click(),
      () => page.locator('.proof').waitFor(),
    );
  });

  test('are reported in reply to a question', async () => {
    await openView('Ask');
    await page.locator('#question').fill('Who met?');
    await goesOnAfterFaults(
      '**/v1/rag/query',
      () => page.getByRole('button', { name: 'Ask', exact: true }).click(),
      () => page.locator('.answer').waitFor(),
    );
  });

  test('are reported in the view of virtual graphs', async () => {
    await openView('Virtual');
    await page.getByLabel('File or pattern of files').fill('trips.csv');
    await goesOnAfterFaults(
      '**/v1/virtual/propose',
      () => page.getByRole('button', { name: 'Propose' }).click(),
      () => page.locator('#spec-text').waitFor(),
    );
    await page.getByRole('button', { name: 'Store specification' }).click();
    await goesOnAfterFaults(
      '**/v1/virtual/**/query',
      () => page.getByRole('button', { name: 'Run query' }).click(),
      () => page.getByText('30 hyperedges').waitFor(),
    );
  });

  test('are reported in the view of the service', async () => {
    await openView('Operations');
    for (const path of ['**/health', '**/v1/wal']) {
      await goesOnAfterFaults(
        path,
        () => page.getByRole('button', { name: 'Look again' }).click(),
        async () => {
          await page.getByRole('region', { name: 'Health' }).waitFor();
          await expect.poll(() => page.locator('#view').getByRole('alert').count()).toBe(0);
        },
      );
    }
  });

  test('are reported in reply to an import', async () => {
    await openView('Import');
    const file = {
      name: 'later.ndjson',
      mimeType: 'text/plain',
      buffer: Buffer.from('{"event_ts":1,"members":[1,2]}\n'),
    };
    await goesOnAfterFaults(
      '**/v1/hyperedges?*',
      async () => {
        await page.locator('input[type=file]').setInputFiles(file);
        await page.getByRole('button', { name: 'Import 1 edge', exact: true }).click();
      },
      () => page.getByText('1 edge of 1 written').waitFor(),
    );
  });

  test('are reported in the sidebar and the timeline', async () => {
    await openView('Query');
    await goesOnAfterFaults(
      '**/v1/tables',
      async () => void (await page.reload()),
      () => page.locator('.grid tbody tr').first().waitFor(),
    );
  });

  test('break only one view when they have an unexpected form, until a retry succeeds', async () => {
    const otherShape = (route: Route) => route.fulfill({ headers: json, body: '{"answer":42}' });
    const alert = page.locator('#view').getByRole('alert');
    await page.route('**/v1/analytics', otherShape);
    await openView('Measures');
    await alert.getByText('does not look as it should').waitFor();
    await openView('Query');
    await page.locator('.grid tbody tr').first().waitFor();
    expect(await alert.count()).toBe(0);
    await openView('Measures');
    await alert.waitFor();
    await page.unroute('**/v1/analytics');
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('combobox', { name: 'Measure' }).waitFor();
    expect(await alert.count()).toBe(0);
    for (const path of ['**/v1/tables', '**/v1/rules', '**/v1/query']) {
      await page.route(path, otherShape);
      await page.reload();
      await alert.first().waitFor();
      expect((await alert.allTextContents()).join(' '), path).not.toMatch(OF_ENGINES);
      await page.unroute(path);
      await page.reload();
      await page.getByRole('combobox', { name: 'Measure' }).waitFor();
      await expect.poll(() => alert.count(), { message: path }).toBe(0);
    }
    await openView('Query');
  });

  test('are reported at the sign-in', async () => {
    for (const [name, answer] of someOf(FAULTS, 2)) {
      await page.route('**/health', answer);
      await page.reload();
      const told = (await page.getByRole('alert').textContent())!;
      expect(told.length, name).toBeGreaterThan(20);
      expect(told, name).not.toMatch(OF_ENGINES);
      await page.unroute('**/health');
      await page.reload();
      await page.getByRole('navigation', { name: 'Views' }).waitFor();
    }
  });

  test('cause no browser errors or warnings', () => {
    expect(complaints).toEqual([]);
  });
});
