import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { HOSTILE, strayRequests, tracesIn } from './hostile.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  signIn,
  someOf,
  startConsole,
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console and hostile texts in all places: skipped: ${REASON_TO_SKIP}`);

/** Returns the text as a string literal of the statement language. */
const literal = (text: string) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
/** The texts that are short enough to be accepted everywhere. */
const SHORT = HOSTILE.filter((text) => text.length < 1000);

describe.skipIf(REASON_TO_SKIP !== undefined)('hostile texts in every place', { timeout: 180_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];
  let stray: string[];

  beforeAll(async () => {
    world = await startConsole();
    await send('/v1/query', { query: 'ALTER TABLE hyperedges ADD COLUMN note TEXT' });
    await send('/v1/tables', { name: 'hyperedges_nodes', columns: [{ name: 'vertex', type: 'TEXT' }] });
    for (const [at, text] of HOSTILE.entries()) {
      await send('/v1/hyperedges', { event_ts: 1000 + at, members: [at + 1, at + 2], formation: text, note: text });
      await send('/v1/hyperedges', { table: 'hyperedges_nodes', event_ts: at, members: [at + 1], vertex: text });
    }
    for (const text of SHORT.slice(0, 12)) {
      await send('/v1/keys', { role: 'readonly', description: text.replaceAll(/\p{Cc}/gu, ' ') });
    }
    const header = `at,a,b,${SHORT.slice(8, 16)
      .map((text) => `"${text.replaceAll('"', '""').replaceAll('\u0000', '')}"`)
      .join(',')}`;
    const lines = SHORT.map(
      (text, at) =>
        `${1_700_000_000 + at},"${text.replaceAll('"', '""').replaceAll('\u0000', '')}",b${at},1,2,3,4,5,6,7,8`,
    );
    await writeFile(join(world.virtualRoot, 'hostile.csv'), `${header}\n${lines.join('\n')}\n`);
    browser = await openBrowser();
    ({ page, complaints } = await openWatched(await browser.newContext({ viewport: { width: 1280, height: 900 } })));
    stray = strayRequests(page, world.url);
    await signIn(page, world.url);
    await page.locator('.grid tbody tr').first().waitFor();
    await page.locator('.editor[data-ready]').waitFor();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });
  afterEach(async () => {
    expect(await tracesIn(page)).toEqual([]);
    expect(stray).toEqual([]);
    expect(complaints).toEqual([]);
    expect(page.url().startsWith(`${world.url}/`)).toBe(true);
  });

  async function send(path: string, body: unknown): Promise<void> {
    const answer = await fetch(world.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path} ${JSON.stringify(body).slice(0, 200)}: ${await answer.text()}`);
  }
  const openView = (name: string) => page.getByRole('link', { name, exact: true }).click();
  const run = async (statement: string) => {
    await writeStatement(page, statement);
    await page.keyboard.press('Control+Enter');
  };

  test('remain texts as values, in rows, as JSON and in files', async () => {
    expect(HOSTILE.length).toBeGreaterThanOrEqual(30);
    await run('MATCH (e:hyperedges) RETURN e.note AS note ORDER BY e.id');
    await page.getByRole('columnheader', { name: 'note', exact: true }).waitFor();
    await expect.poll(() => page.locator('.grid tbody tr').count()).toBe(HOSTILE.length);
    const cells = page.locator('.grid tbody tr td:last-child .value');
    await expect.poll(async () => (await cells.allTextContents()).slice(0, -1)).toEqual(HOSTILE.slice(0, -1));
    await page
      .getByRole('button', { name: /characters/ })
      .last()
      .click();
    const longest = page.locator('.grid tbody tr td:last-child .value').last();
    await expect.poll(() => longest.textContent()).toBe(HOSTILE.at(-1));
    await page.getByRole('tab', { name: 'JSON' }).click();
    expect(await tracesIn(page)).toEqual([]);
    await page.getByRole('tab', { name: 'Rows' }).click();
    const saved = page.waitForEvent('download');
    await page.getByRole('button', { name: 'NDJSON', exact: true }).click();
    const file = await saved;
    expect(file.suggestedFilename()).toBe('hedgerow.ndjson');
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { note: string }).note)).toEqual(HOSTILE);
    const table = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV', exact: true }).click();
    expect(readFileSync(await (await table).path(), 'utf8')).toContain(`"'=HYPERLINK(`);
  });

  test('remain texts as names of nodes, in rows, in the picture, in its list and in its panel', async () => {
    await run('MATCH (e:hyperedges) RETURN *');
    await page.getByRole('tab', { name: 'Rows' }).click();
    await page.getByRole('cell', { name: `${HOSTILE[1]} · ${HOSTILE[2]}`, exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.picture .node').nth(20).waitFor();
    await page.getByText('The picture as a list').click();
    expect(await tracesIn(page)).toEqual([]);
    for (const at of [1, 5, 10, 17, 22, 43]) {
      await page.getByRole('combobox', { name: 'Node' }).selectOption(String(at + 1));
      await page.locator('.choice-title').waitFor();
      expect(await tracesIn(page)).toEqual([]);
    }
    await page.locator('.choice-panel .tag-edge').first().click();
    await page.getByRole('dialog').getByText('members').waitFor();
    expect(await tracesIn(page)).toEqual([]);
    await page.keyboard.press('Escape');
  });

  test('remain texts as names of columns and texts of a statement, in its plan, its error and the history', async () => {
    await page.getByRole('tab', { name: 'Plan' }).click();
    for (const text of SHORT) {
      const name = text.replaceAll(/[`\p{Cc}\u2028\u2029]/gu, '').slice(0, 60);
      await run(
        `MATCH (e:hyperedges) WHERE e.note = ${literal(text)} AND e.formation <> 'x' RETURN e.note AS \`${name}\``,
      );
      await page.locator('.took').waitFor();
      await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
      expect(await tracesIn(page)).toEqual([]);
    }
    await page.locator('.tree').waitFor();
    expect(await page.locator('.past option').count()).toBeGreaterThan(30);
    await page.getByRole('tab', { name: 'Rows' }).click();
  });

  test('remain texts as contents of the file of a virtual graph, in proposals, properties and nodes', async () => {
    await openView('Virtual');
    await page.getByLabel('File or pattern of files').fill('hostile.csv');
    await page.getByRole('button', { name: 'Propose' }).click();
    await page.locator('#spec-text').waitFor();
    expect(await tracesIn(page)).toEqual([]);
    await page.getByRole('button', { name: 'Store specification' }).click();
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.locator('.grid tbody tr').nth(20).waitFor();
    expect(await page.locator('.grid tbody').textContent()).toContain(HOSTILE[1]!);
  });

  test('remain texts as name, header, cells and bad rows of an imported file', async () => {
    await openView('Import');
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const header = ['time', 'members', 'constructor', '__proto__', 'toString', ...SHORT.slice(0, 20)].map(quoted);
    const lines = SHORT.map((text, at) => [`${at}`, `a${at};b`, '', text, ...SHORT.slice(0, 3)].map(quoted).join(','));
    const rejected = SHORT.map((text) => `${quoted(text)},a`);
    await page.locator('input[type=file]').setInputFiles({
      name: '"><img src=x onerror=ran=1>\u202e.csv',
      mimeType: 'text/html',
      buffer: Buffer.from([header.join(','), ...lines, ...rejected].join('\n')),
    });
    await page.getByText(/will be left out/).click();
    expect(await tracesIn(page)).toEqual([]);
    // Inherited properties of an object are not values of a row.
    expect(await page.getByRole('region', { name: 'Plan' }).textContent()).not.toContain('native code');
  });

  test('remain texts as descriptions of keys', async () => {
    await openView('Operations');
    await page
      .getByRole('row', { name: /onerror/ })
      .first()
      .waitFor();
  });

  test('remain texts in any field of an answer of the service', async () => {
    let at = 0;
    /** Replaces every string of an answer with a hostile text. */
    const hostile = (value: unknown): unknown => {
      if (typeof value === 'string') return SHORT[at++ % SHORT.length];
      if (Array.isArray(value)) return value.map(hostile);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, hostile(item)]));
    };
    await page.route(/\/(v1\/|health)/, async (route) => {
      const answer = await route.fetch();
      const text = await answer.text();
      const lines = (answer.headers()['content-type'] ?? '').includes('ndjson');
      const changed = lines
        ? text
            .split('\n')
            .map((line) => (line === '' ? '' : JSON.stringify(hostile(JSON.parse(line)))))
            .join('\n')
        : text === ''
          ? ''
          : JSON.stringify(hostile(JSON.parse(text)));
      await route.fulfill({ response: answer, body: changed });
    });
    await page.route('**/metrics', (route) =>
      route.fulfill({
        contentType: 'text/plain',
        body: SHORT.flatMap((text, index) => {
          const label = text.replaceAll(/[\n\\"]/g, '');
          return [0.1, 1, '+Inf'].map(
            (le) =>
              `hedgerow_http_request_duration_seconds_bucket{route="${label}",le="${le}"} ${index + 1}\nhedgerow_query_duration_seconds_bucket{strategy="${label}",le="${le}"} ${index + 1}`,
          );
        }).join('\n'),
      }),
    );
    for (const _turn of someOf([0, 1, 2], 1)) {
      await page.reload();
      for (const name of ['Query', 'Measures', 'Rules', 'Ask', 'Import', 'Virtual', 'Operations']) {
        await openView(name);
        await page.locator('#view .panel, #view .view').first().waitFor();
        for (const button of ['Run', 'Compute', 'Derive', 'Ask', 'Compact all tables', 'Look again', 'Open']) {
          const found = page.locator('#view').getByRole('button', { name: button, exact: true });
          if ((await found.count()) > 0 && (await found.first().isEnabled())) await found.first().click();
        }
        // The answers are shown once the network is idle.
        await page.waitForLoadState('networkidle');
        expect(await tracesIn(page), name).toEqual([]);
        expect(complaints, name).toEqual([]);
        expect(await page.getByRole('navigation', { name: 'Views' }).count(), name).toBe(1);
      }
    }
    await page.unrouteAll({ behavior: 'ignoreErrors' });
  });

  test('remain texts in the message, the position and the fields of an error', async () => {
    await openView('Query');
    await page.reload();
    await page.locator('.editor[data-ready]').waitFor();
    for (const text of SHORT) {
      const body = {
        detail: text,
        code: text,
        status: 400,
        request_id: text,
        line: 1,
        column: 2,
        errors: [{ loc: ['body', text], msg: `${text} it is` }],
      };
      await page.route('**/v1/query', (route) => route.fulfill({ status: 400, json: body }));
      await page.getByRole('button', { name: 'Run', exact: true }).click();
      await expect
        .poll(async () => (await page.locator('#view').getByRole('alert').allTextContents()).join(''))
        .toContain('it is');
      expect(await tracesIn(page)).toEqual([]);
      await page.unroute('**/v1/query');
    }
  });
});

describe.skipIf(REASON_TO_SKIP !== undefined)('the detector of injected markup', { timeout: 60_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;

  beforeAll(async () => {
    world = await startConsole();
    browser = await openBrowser();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  test('detects texts that become markup on a page without the policy', async () => {
    const context = await browser.newContext({ bypassCSP: true });
    const missed: string[] = [];
    const active = HOSTILE.filter((item) => /<[a-z!/]/i.test(item));
    for (const text of someOf(active, 16)) {
      const page = await context.newPage();
      const stray = strayRequests(page, world.url);
      await page.route('http://elsewhere.test/**', (route) => route.abort());
      await page.route('**/blank', (route) => route.fulfill({ contentType: 'text/html', body: '<main></main>' }));
      await page.goto(`${world.url}/blank`);
      const isInert = await page.evaluate((markup) => {
        const before = document.querySelectorAll('*').length;
        const place = document.createElement('div');
        document.querySelector('main')!.append(place);
        place.innerHTML = markup;
        return document.querySelectorAll('*').length === before + 1;
      }, text);
      // A text that leads the page to another address counts as detected.
      const traces = await tracesIn(page).catch(() => ['it went elsewhere']);
      if (!isInert && traces.length + stray.length === 0) missed.push(text);
      await page.close();
    }
    expect(missed).toEqual([]);
    const page = await context.newPage();
    await page.goto(world.url);
    await page.evaluate(() => {
      document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=ran=1>');
    });
    await expect.poll(() => tracesIn(page)).toContain('a script ran');
    await context.close();
  });

  test('is supplemented by a policy that refuses markup, inline scripts and other hosts', async () => {
    const { page } = await openWatched(await browser.newContext());
    await page.goto(world.url);
    await page.getByLabel('API key').waitFor();
    const seen = await page.evaluate(async () => {
      const outcome = (work: () => unknown) => {
        try {
          work();
          return 'allowed';
        } catch (error) {
          return (error as Error).name;
        }
      };
      const later = async (work: () => Promise<unknown>) =>
        work().then(
          () => 'allowed',
          (error: Error) => error.name,
        );
      const script = document.createElement('script');
      return {
        innerHTML: outcome(() => (document.body.innerHTML = '<b>x</b>')),
        insert: outcome(() => document.body.insertAdjacentHTML('beforeend', '<b>x</b>')),
        write: outcome(() => document.write('<b>x</b>')),
        parse: outcome(() => new DOMParser().parseFromString('<b>x</b>', 'text/html')),
        scriptText: outcome(() => (script.text = 'ran=1')),
        scriptAddress: outcome(() => (script.src = 'data:text/javascript,ran=1')),
        frame: outcome(() => (document.createElement('iframe').srcdoc = '<b>x</b>')),
        timer: outcome(() => setTimeout('ran=1' as never)),
        policy: outcome(() =>
          (
            globalThis as unknown as { trustedTypes: { createPolicy: (name: string, rules: object) => void } }
          ).trustedTypes.createPolicy('own', {}),
        ),
        worker: outcome(() => new Worker('data:text/javascript,ran=1')),
        fetch: await later(() => fetch('http://elsewhere.test/')),
        ran: 'ran' in globalThis,
      };
    });
    expect(seen).toEqual({
      innerHTML: 'TypeError',
      insert: 'TypeError',
      write: 'TypeError',
      parse: 'TypeError',
      scriptText: 'TypeError',
      scriptAddress: 'TypeError',
      frame: 'TypeError',
      timer: 'TypeError',
      policy: 'TypeError',
      worker: 'TypeError',
      fetch: 'TypeError',
      ran: false,
    });
    await page.context().close();
  });

  test('is supplemented by a ban on frames, so that other pages cannot show the console', async () => {
    const page = await browser.newPage();
    await page.route('http://elsewhere.test/', (route) =>
      route.fulfill({ contentType: 'text/html', body: `<iframe src="${world.url}/"></iframe>` }),
    );
    await page.goto('http://elsewhere.test/');
    const inner = page.frames()[1];
    expect(
      (await inner
        ?.locator('body')
        .textContent()
        .catch(() => '')) ?? '',
    ).not.toContain('API key');
    await page.close();
  });
});
