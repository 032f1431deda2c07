import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ModelStandIn, says, startModel } from '../http/model-stand-in.ts';
import { faultsOf } from './axe.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  madeEdges,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  signIn,
  startConsole,
  type Watched,
  writeCsv,
  writeStatement,
} from './support.ts';

const ENRON = '/work/shared/data/email-Enron.ndjson.gz';
const hasEnron = existsSync(ENRON);
if (REASON_TO_SKIP !== undefined) console.log(`console walk: skipped: ${REASON_TO_SKIP}`);
else if (!hasEnron) console.log('console walk: email-Enron is absent; a small generated table replaces it');

/** The folder for screenshots of each step. Without it, no screenshots are taken. */
const SHOTS = process.env.CONSOLE_SHOTS;

const EDGES = hasEnron ? 10_883 : 600;
const shown = new Intl.NumberFormat('en').format(EDGES);

describe.skipIf(REASON_TO_SKIP !== undefined)('the walk through the console', { timeout: 240_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  const faults: string[] = [];
  let model: ModelStandIn;
  let readonlyKey: string;

  beforeAll(async () => {
    model = await startModel();
    world = await startConsole({ HEDGEROW_LLM_ALLOWED_HOSTS: new URL(model.baseUrl).host });
    await writeCsv(join(world.virtualRoot, 'trips.csv'));
    browser = await openBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 900 }, colorScheme: 'light' });
    ({ page, complaints } = (await openWatched(context)) as Watched);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await model?.close();
  });

  /**
   * Checks both themes and two widths. Contrast depends on the theme and the rest on the width, so
   * accessibility is checked in only two of the four combinations.
   */
  const look = async (name: string) => {
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme });
      await page.locator(`html[data-theme=${theme}]`).waitFor();
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 900 });
        if ((theme === 'light') === (width === 1280))
          faults.push(...(await faultsOf(page)).map((fault) => `${name}, ${theme}, ${width}: ${fault}`));
        // Plots are redrawn a moment after the width changes.
        await page
          .waitForFunction(() => document.documentElement.scrollWidth <= innerWidth, undefined, { timeout: 3000 })
          .catch(() => {});
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        if (overflow > 0) faults.push(`${name}, ${width}: ${overflow} px wider than the page`);
        if (SHOTS !== undefined) {
          mkdirSync(SHOTS, { recursive: true });
          await page.screenshot({ path: join(SHOTS, `${name}-${width}-${theme}.png`), fullPage: true });
        }
      }
    }
    await page.emulateMedia({ colorScheme: 'light' });
    await page.setViewportSize({ width: 1280, height: 900 });
  };
  const openView = (name: string) => page.getByRole('link', { name, exact: true }).click();

  test('refuses a wrong key with a message, and signs in with the right one', async () => {
    await page.goto(world.url);
    await page.getByLabel('API key').fill('hgr_wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').waitFor();
    expect(await page.getByRole('alert').textContent()).toMatch(/key/i);
    await look('sign-in');
    await signIn(page, world.url);
    expect(await page.evaluate(() => [sessionStorage.getItem('hedgerow.key'), localStorage.length])).toEqual([
      ADMIN_KEY,
      0,
    ]);
    await page.getByText('holds no edges yet').first().waitFor();
    await look('empty');
  });

  test('imports a file', async () => {
    await openView('Import');
    const buffer = hasEnron ? gunzipSync(readFileSync(ENRON)) : Buffer.from(madeEdges(EDGES));
    await page.locator('input[type=file]').setInputFiles({ name: 'mail.ndjson', mimeType: 'text/plain', buffer });
    const start = page.getByRole('button', { name: `Import ${shown} edges` });
    await start.waitFor();
    await look('import');
    await start.click();
    await page.getByRole('button', { name: 'Look at them' }).click();
    await page.locator('.grid tbody tr').nth(99).waitFor();
    await page.getByRole('button', { name: `mail ${shown} edges` }).waitFor();
    await look('rows');
  });

  test('shows the next rows of a result', async () => {
    await page.getByRole('button', { name: 'Next 100' }).click();
    await page.getByText('Rows 101 to 200').waitFor();
    expect(await page.locator('.grid tbody tr').count()).toBe(100);
  });

  test('marks the mistake in a statement at its position and runs the corrected statement', async () => {
    await writeStatement(page, 'MATCH (e:mail)\nWHERE e.wieght IS NULL\nRETURN COUNT(*) AS found');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Did you mean weight?').waitFor();
    expect(await page.locator('.cm-fault').textContent()).toBe('wieght');
    await look('mistake');
    await writeStatement(page, 'MATCH (e:mail)\nWHERE e.weight IS NULL\nRETURN COUNT(*) AS found');
    await page.getByRole('button', { name: 'Run' }).click();
    await page.getByRole('cell', { name: String(EDGES), exact: true }).waitFor();
    expect(await page.locator('.cm-fault').count()).toBe(0);
  });

  test('completes names', async () => {
    await writeStatement(page, 'MATCH (e:mail) RETURN e.form');
    const offered = page.locator('.cm-tooltip-autocomplete li');
    await offered.filter({ hasText: 'formation' }).waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Alt+ArrowUp');
    await page.locator('.cm-content', { hasText: 'AS found' }).waitFor();
  });

  test('sets the time window with the brush of the histogram', async () => {
    await writeStatement(page, 'MATCH (e:mail) RETURN *');
    await page.keyboard.press('Control+Enter');
    await page.locator('.grid tbody tr').nth(50).waitFor();
    const plot = (await page.locator('.plot .u-over').boundingBox())!;
    await page.mouse.move(plot.x + plot.width * 0.6, plot.y + 30);
    await page.mouse.down();
    await page.mouse.move(plot.x + plot.width * 0.62, plot.y + 30, { steps: 4 });
    await page.mouse.up();
    await page.locator('.cm-content', { hasText: /BETWEEN \d+ AND \d+/ }).waitFor();
    const written = (await page.locator('.cm-content').textContent())!;
    const [, from, to] = /BETWEEN (\d+) AND (\d+)/.exec(written)!;
    expect(Number(to)).toBeGreaterThan(Number(from));
    const first = page.locator('.grid tbody tr').first().locator('td').nth(1).locator('.value');
    await expect.poll(async () => Number(await first.textContent())).toBeGreaterThanOrEqual(Number(from));
  });

  test('draws the result, pins a node, loads its edges and opens one', async () => {
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.picture .node').first().waitFor();
    const before = await page.locator('.picture .node').count();
    await page.locator('.picture .node').first().click({ force: true });
    await page.locator('.node-pinned').waitFor();
    await look('graph');
    await page.getByRole('button', { name: /^Expand/ }).click();
    await expect.poll(() => page.locator('.picture .node').count()).toBeGreaterThan(before);
    await page.locator('.choice-panel .tag-edge').first().click();
    await page.getByRole('dialog').getByText('members').waitFor();
    await look('edge');
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('draws the result as links or as a list, and the picture can be zoomed and moved', async () => {
    const hulls = await page.locator('.hull').count();
    await page.getByRole('button', { name: hulls > 0 ? 'Links' : 'Hulls' }).click();
    await page
      .locator(hulls > 0 ? '.edge-square' : '.hull')
      .first()
      .waitFor();
    const shapes = await page.locator('.edge-pair, .edge-many').count();
    await page.getByText('The picture as a list').click();
    expect(await page.locator('.edge-list tbody tr').count()).toBe(shapes);
    await look('graph-list');
    const box = () => page.locator('.picture').getAttribute('viewBox');
    const whole = await box();
    const width = (text: string | null) => Number(text!.split(' ')[2]);
    await page.getByRole('button', { name: 'Zoom in' }).click();
    await expect.poll(async () => width(await box())).toBeLessThan(width(whole));
    await page.getByRole('button', { name: 'Fit' }).click();
    await expect.poll(box).toBe(whole);
    // Zooms with the keyboard.
    await page.locator('.zoom-ground').focus();
    await page.keyboard.press('+');
    await expect.poll(async () => width(await box())).toBeLessThan(width(whole));
    const near = await box();
    await page.keyboard.press('ArrowLeft');
    await expect.poll(box).not.toBe(near);
    await page.keyboard.press('0');
    await expect.poll(box).toBe(whole);
    // Zooms with the wheel, once the picture has the focus.
    const frame = (await page.locator('.picture').boundingBox())!;
    await page.mouse.move(frame.x + frame.width / 2, frame.y + frame.height / 2);
    await page.mouse.wheel(0, -200);
    await expect.poll(async () => width(await box())).toBeLessThan(width(whole));
    await page.keyboard.press('0');
    await expect.poll(box).toBe(whole);
    // Moves the picture by dragging.
    await page.mouse.down();
    await page.mouse.move(frame.x + frame.width / 2 + 60, frame.y + frame.height / 2, { steps: 3 });
    await page.mouse.up();
    await expect.poll(async () => Number((await box())!.split(' ')[0])).toBeLessThan(Number(whole!.split(' ')[0]));
    expect(width(await box())).toBeCloseTo(width(whole), 1);
  });

  test('shows the plan with the figures of each step', async () => {
    await page.getByRole('tab', { name: 'Plan' }).click();
    await page.getByRole('button', { name: /^Run it and show/ }).click();
    await page.getByText('Rows found', { exact: true }).waitFor();
    expect(await page.locator('.tree').first().textContent()).toMatch(/TPI_BUCKET_PUSHDOWN.*found [\d,]+ in/);
    await look('plan');
  });

  test('downloads the rows', async () => {
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const text = readFileSync(await (await file).path(), 'utf8');
    expect(text.split('\r\n')[0]).toBe('id,event_ts,members,weight,mean_dist_m,formation');
    expect(text.split('\r\n').length).toBeGreaterThan(3);
    await page.getByRole('button', { name: 'Parquet on the server' }).click();
    await page.getByText('Written on the server as console-').waitFor();
    expect(readdirSync(world.copyRoot).filter((name) => name.endsWith('.parquet')).length).toBe(1);
  });

  test.skipIf(!hasEnron)('draws time ranges once the window is removed and there are too many edges', async () => {
    await page.getByRole('button', { name: 'All of time' }).click();
    await expect.poll(() => page.locator('.cm-content').textContent()).not.toContain('BETWEEN');
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.stretch').nth(10).waitFor();
    await look('buckets');
  });

  test('computes a measure with parameters from a form', async () => {
    await openView('Measures');
    await page.getByRole('combobox', { name: 'Measure' }).selectOption('node_degree');
    await page.getByLabel('limit', { exact: true }).fill('7');
    await page.getByRole('button', { name: 'Compute' }).click();
    await page.locator('.bars').waitFor();
    expect(await page.locator('.bars tbody tr').count()).toBe(7);
    await look('measure');
    const result = page.getByRole('region', { name: 'Result of the measure' });
    expect(await result.locator('.tag-edge').count(), 'of nodes').toBe(0);
    await page.getByRole('combobox', { name: 'Measure' }).selectOption('edge_size');
    await page.getByRole('button', { name: 'Compute' }).click();
    await result.locator('.bars .tag-edge').first().waitFor();
    await page.getByRole('combobox', { name: 'Measure' }).selectOption('temporal_activity');
    await page.getByRole('button', { name: 'Compute' }).click();
    await result.locator('.plot[data-drawn]').waitFor();
  });

  test('checks a rule while it is written, stores it and proves a fact with stored edges', async () => {
    await openView('Rules');
    const rule = page.getByRole('textbox', { name: 'Rule', exact: true });
    const good = await rule.inputValue();
    await rule.fill(good.replace('"?A", "?B"]', '"?A", "?C"]'));
    await page.locator('#rule-check').getByText('?C').first().waitFor();
    expect(await page.getByRole('button', { name: 'Store rule' }).isDisabled()).toBe(true);
    await rule.fill(good);
    await page.getByText('The rule is sound').waitFor();
    await page.getByRole('button', { name: 'Store rule' }).click();
    await page.getByText('rule:met is stored.').waitFor();
    await page.getByRole('button', { name: 'Derive' }).click();
    await page.locator('.proof .tag-edge').first().waitFor();
    await look('rule');
    await page.locator('.proof .tag-edge').first().click();
    await page.getByRole('dialog').getByText('event_ts').waitFor();
    await page.keyboard.press('Escape');
  });

  test('answers a question and shows what supports each sentence', async () => {
    await openView('Ask');
    await page.locator('#question').fill('Who met?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.locator('.sentence-supported .tag-edge', { hasText: 'HEDGE-' }).first().waitFor();
    await page.getByRole('button', { name: 'STEP-1', exact: true }).click();
    await page.getByRole('region', { name: /^Proof of met/ }).waitFor();
    await look('answer');
  });

  test('uses a model that the user names, and stores its key nowhere', async () => {
    model.answer = says('Nobody met nobody. Somebody met somebody.');
    await page.getByLabel('Built-in model, without network').uncheck();
    await page.getByLabel('Address').fill(model.baseUrl);
    await page.getByLabel('Model', { exact: true }).fill('tiny');
    await page.getByLabel('Key of the model').fill('sk-the-key-of-the-model');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.locator('.sentence-stripped').nth(1).waitFor();
    await look('answer-own');
    expect(await page.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]))).not.toContain(
      'sk-',
    );
    await openView('Rules');
    await openView('Ask');
    await page.getByLabel('Built-in model, without network').uncheck();
    expect(await page.getByLabel('Key of the model').inputValue()).toBe('');
  });

  test('proposes, stores and queries a virtual graph', async () => {
    await openView('Virtual');
    await page.getByLabel('File or pattern of files').fill('trips.csv');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.getByRole('button', { name: 'Store specification' }).click();
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.getByText('30 hyperedges').waitFor();
    await look('virtual');
  });

  test('shows the state of the service, and compacts', async () => {
    await openView('Operations');
    await page.getByRole('button', { name: 'Compact all tables' }).click();
    await page.getByText(/^Compacted /).waitFor();
    await page.getByRole('button', { name: 'Look again' }).click();
    await page.locator('.courses .plot[data-drawn]').nth(1).waitFor();
    await look('operations');
  });

  test('creates a readonly key and revokes it', async () => {
    await page.getByLabel('New key for').fill('the hall');
    await page.getByRole('button', { name: 'Make key' }).click();
    readonlyKey = await page.getByLabel('It is shown only now').inputValue();
    expect(readonlyKey).toMatch(/^hgr_/);
    await look('key');
    await page.getByRole('button', { name: 'Done' }).click();
    expect(await page.textContent('body')).not.toContain(readonlyKey);
    const other = await openWatched(await browser.newContext());
    await signIn(other.page, world.url, readonlyKey);
    await other.page.getByRole('link', { name: 'Operations' }).click();
    await other.page.getByText('Only an admin key may list').waitFor();
    await other.page.getByRole('button', { name: 'Compact all tables' }).click();
    await other.page.getByText('Sign in with a key of that role.').waitFor();
    await other.page.context().close();
    const row = page.getByRole('row', { name: /the hall/ });
    await row.getByRole('button', { name: /^Revoke/ }).click();
    await row.getByRole('button', { name: /^Really revoke/ }).click();
    await row.waitFor({ state: 'detached' });
  });

  test('imports a file with names, omits its bad rows, and shows the names', async () => {
    await openView('Import');
    const text = 'time,people,minutes\n2024-03-01,Ada;Grace;Edsger,30\n2024-03-02,Ada;Barbara,15\nnever,Ada,1\n';
    const file = { name: 'meetings.csv', mimeType: 'text/csv', buffer: Buffer.from(text) };
    await page.locator('input[type=file]').setInputFiles(file);
    await page.getByText('1 row will be left out').click();
    await page.getByText('Row 3 says "never" where a time should be; write it in ISO 8601').waitFor();
    await look('import-names');
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save them as a file' }).click();
    expect(readFileSync(await (await saved).path(), 'utf8')).toMatch(/"row":3.*never/);
    await page.getByRole('button', { name: 'Import 2 edges' }).click();
    await page.getByRole('button', { name: 'Look at them' }).click();
    await page.getByRole('cell', { name: 'Ada · Grace · Edsger' }).waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.picture .node-name').filter({ hasText: 'Barbara' }).waitFor();
    await look('graph-names');
    // New names are added to the node table. One row has more members than the service accepts, so
    // its names are not.
    await openView('Import');
    const crowd = Array.from({ length: 70 }, (_, at) => `guest ${at}`).join(';');
    const lines = `time,people,minutes\n2024-03-03,${crowd},1\n2024-03-03,Grace;Leslie,5\n`;
    await page.locator('input[type=file]').setInputFiles({ ...file, buffer: Buffer.from(lines) });
    await page.getByRole('button', { name: 'Import 2 edges' }).click();
    await page.getByText('1 edge of 2 written').waitFor();
    await page.getByText('The service refused 1 row.').waitFor();
    await page.getByRole('button', { name: 'Look at them' }).click();
    await page.getByRole('cell', { name: 'Grace · Leslie' }).waitFor();
    await page.getByRole('button', { name: 'meetings_node 5 nodes' }).waitFor();
  });

  test('answers a question with the name of a node', async () => {
    await openView('Ask');
    await page.getByLabel('Question about meetings').fill('Whom did Ada meet?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByRole('region', { name: 'Answer' }).waitFor();
    expect(await page.getByRole('region', { name: 'Answer' }).textContent()).not.toContain('There is no answer');
  });

  test('asks for the encoding of an old file, its member columns and the order of day and month', async () => {
    await openView('Import');
    const buffer = Buffer.from('am;wer;ort\n3/4/2024 9:05;J\xfcrgen;Delft\n4/4/2024 10:00;Ada;Delft\n', 'latin1');
    await page.locator('input[type=file]').setInputFiles({ name: 'alt.csv', mimeType: 'text/csv', buffer });
    await page.getByText('It is not written in UTF-8.').waitFor();
    await page.getByRole('button', { name: 'Read as Windows-1252' }).click();
    await page.getByText('Choose the columns that hold members').waitFor();
    expect(await page.getByText('left out').count()).toBe(0);
    await look('import-old');
    const members = page.getByRole('group', { name: 'Members' });
    await members.getByLabel('wer').check();
    await members.getByLabel('ort').check();
    await page.getByText('2 rows will be left out').waitFor();
    await page.getByLabel('Dates are').selectOption('Day.Month.Year');
    await page.getByRole('cell', { name: '2024-04-03 09:05:00' }).waitFor();
    await page.getByRole('cell', { name: 'Jürgen · Delft' }).waitFor();
    await page.getByLabel('Dates are').selectOption('Month/Day/Year');
    await page.getByRole('cell', { name: '2024-03-04 09:05:00' }).waitFor();
    expect(await page.getByText('left out').count()).toBe(0);
  });

  test('signs out and keeps nothing', async () => {
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
    expect(await page.textContent('body')).not.toContain('mail');
  });

  test('has caused no browser errors, warnings or accessibility faults', () => {
    expect(complaints).toEqual([]);
    expect([...new Set(faults)]).toEqual([]);
  });
});

test.skipIf(REASON_TO_SKIP !== undefined)(
  'the console asks for no key when the service needs none',
  { timeout: 60_000 },
  async () => {
    const world = await startConsole({ HEDGEROW_AUTH_DISABLED: '1' });
    const browser = await openBrowser();
    try {
      const { page, complaints } = await openWatched(await browser.newContext());
      await page.goto(world.url);
      await page.getByText('No key needed').waitFor();
      await page.getByText('holds no edges yet').first().waitFor();
      expect(await page.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
      await world.close();
    }
  },
);
