import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ModelStandIn, says, startModel } from '../http/model-stand-in.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  signIn,
  startConsole,
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console and hostile texts: skipped: ${REASON_TO_SKIP}`);

/** Each text would set `window.ran` if it were interpreted as anything but text. */
const PAYLOADS = [
  '<script>ran=1</script>',
  '<img src=x onerror=ran=1>',
  '<svg onload=ran=1>',
  '<svg><script>ran=1</script></svg>',
  '<body onload=ran=1>',
  '<iframe src="javascript:parent.ran=1"></iframe>',
  '<iframe srcdoc="<script>parent.ran=1</script>"></iframe>',
  '<a href="javascript:ran=1" autofocus onfocus=ran=1>x</a>',
  '<input autofocus onfocus=ran=1>',
  '<details open ontoggle=ran=1>',
  '<video><source onerror=ran=1></video>',
  '<audio src=x onerror=ran=1>',
  '<object data="javascript:ran=1"></object>',
  '<embed src="javascript:ran=1">',
  '<form action="javascript:ran=1"><button autofocus>x</button></form>',
  '<math><mtext></p><img src=x onerror=ran=1></mtext></math>',
  '<noscript><p title="</noscript><img src=x onerror=ran=1>">',
  '<template><script>ran=1</script></template>',
  '<style>@import "javascript:ran=1"; body{background:url(javascript:ran=1)}</style>',
  '<link rel=stylesheet href="data:text/css,*{background:red}">',
  '<base href="http://elsewhere.test/">',
  '<meta http-equiv=refresh content="0;url=javascript:ran=1">',
  '"><script>ran=1</script>',
  "'><img src=x onerror=ran=1>",
  '</textarea><script>ran=1</script>',
  '</title></style></script><script>ran=1</script>',
  '$\x7bwindow.ran=1}{{constructor.constructor("ran=1")()}}',
  'javascript:ran=1',
  '<x onclick=ran=1 onmouseover=ran=1 style="position:fixed;inset:0">x</x>',
  '<img src=`x` onerror=ran=1><!--<img src="--><img src=x onerror=ran=1//">',
];

describe.skipIf(REASON_TO_SKIP !== undefined)('texts that look like scripts', { timeout: 120_000 }, () => {
  let world: ConsoleWorld;
  let model: ModelStandIn;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    model = await startModel();
    world = await startConsole({ HEDGEROW_LLM_BASE_URL: model.baseUrl, HEDGEROW_LLM_ALLOWED_HOSTS: '127.0.0.1' });
    await send('/v1/query', { query: 'ALTER TABLE hyperedges ADD COLUMN note TEXT' });
    for (const [index, payload] of PAYLOADS.entries()) {
      await send('/v1/hyperedges', {
        event_ts: 1000 + index,
        members: [index, index + 1],
        formation: payload,
        note: payload,
      });
      await send('/v1/rules', {
        id: `rule:r${index}`,
        name: payload,
        if: [{ pred: 'formation', args: ['?E', '?F'] }],
        then: { pred: `p${index}`, args: ['?E', '?F', payload] },
      });
    }
    browser = await openBrowser();
    ({ page, complaints } = await openWatched(await browser.newContext({ viewport: { width: 1280, height: 900 } })));
    await signIn(page, world.url);
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    await model?.close();
  });

  async function send(path: string, body: unknown): Promise<void> {
    const answer = await fetch(world.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }

  /** Checks that nothing was executed and that no text became an element. */
  async function expectOnlyText(): Promise<void> {
    const found = await page.evaluate(() => ({
      ran: 'ran' in globalThis,
      elements: document.querySelectorAll(
        'iframe, object, embed, video, audio, math, base, body script, [onerror], [onload], [onfocus], [onclick], x, img',
      ).length,
    }));
    expect(found).toEqual({ ran: false, elements: 0 });
  }
  const openView = (name: string) => page.getByRole('link', { name, exact: true }).click();

  test('remain texts as values, in rows, JSON and the graph', async () => {
    expect(PAYLOADS.length).toBe(30);
    await page.getByRole('cell', { name: PAYLOADS[0]!, exact: true }).first().waitFor();
    const heads = await page.locator('.grid thead th').allTextContents();
    const cells = await page.locator(`.grid tbody tr td:nth-child(${heads.indexOf('note') + 1})`).allTextContents();
    expect(cells).toEqual(PAYLOADS);
    await expectOnlyText();
    for (const tab of ['JSON', 'Graph', 'Plan']) {
      await page.getByRole('tab', { name: tab }).click();
      await expectOnlyText();
    }
    await page.locator('.tree').waitFor();
  });

  test('remain texts in an opened edge and as names of columns', async () => {
    await writeStatement(page, `MATCH (e:hyperedges) RETURN e, e.note AS \`${PAYLOADS[1]}\` LIMIT 3`);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('tab', { name: 'Rows' }).click();
    await page.getByRole('columnheader', { name: PAYLOADS[1]!, exact: true }).waitFor();
    await expectOnlyText();
    await writeStatement(page, 'MATCH (e:hyperedges) RETURN *');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByRole('combobox', { name: 'Node' }).selectOption('2');
    await page.locator('.choice-panel .tag-edge').first().click();
    await page.getByRole('dialog').getByText(PAYLOADS[2]!).first().waitFor();
    await expectOnlyText();
    await page.keyboard.press('Escape');
  });

  test('remain texts as names of tables, columns and members, even if the service sends them', async () => {
    const tables = PAYLOADS.map((payload) => ({
      name: payload,
      member_tables: [payload],
      bucket_seconds: 10,
      compact_threshold: 0,
      row_count: 0,
      columns: [{ name: payload, type: payload }],
      created_at: 0,
      primary: false,
    }));
    const others = [{ table: PAYLOADS[0]!, column: PAYLOADS[0]!, created_at: 0 }];
    await page.route('**/v1/tables', (route) => route.fulfill({ json: tables }));
    await page.route('**/v1/indexes', (route) => route.fulfill({ json: others }));
    await page.reload();
    for (const payload of PAYLOADS) {
      await page.getByRole('button', { name: `${payload} 0 edges`, exact: true }).click();
      await page.getByText(`members: ${payload}`).waitFor();
      await expectOnlyText();
    }
    await page.unroute('**/v1/tables');
    await page.unroute('**/v1/indexes');
    await page.reload();
    await page.getByRole('button', { name: /^hyperedges/ }).waitFor();
  });

  test('remain texts in errors that repeat them', async () => {
    for (const payload of PAYLOADS) {
      await writeStatement(page, `MATCH (e:\`${payload.replaceAll('`', '')}\`) RETURN e`);
      const answered = page.waitForResponse((response) => response.url().endsWith('/v1/query'));
      await page.keyboard.press('Control+Enter');
      expect((await answered).status()).toBeGreaterThanOrEqual(400);
      await page.getByRole('alert').waitFor();
      await expectOnlyText();
    }
  });

  test('remain texts as names of rules and in derived facts and their proofs', async () => {
    await page.getByRole('button', { name: /^hyperedges/ }).click();
    await openView('Rules');
    for (const payload of PAYLOADS) await page.locator('.catalog').getByText(payload, { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Derive' }).click();
    await page.locator('.proof').waitFor();
    await expectOnlyText();
  });

  test('remain texts in the answer of a model, in supported and in struck-out sentences', async () => {
    await openView('Ask');
    await page.getByLabel('Built-in model, without network').uncheck();
    for (const payload of PAYLOADS) {
      model.answer = says(`Nodes 0 and 1 met at 1000 [HEDGE-1]. ${payload} is what they said.\n${payload}`);
      await page.locator('#question').fill(payload);
      const answered = page.waitForResponse((response) => response.url().endsWith('/v1/rag/query'));
      await page.getByRole('button', { name: 'Ask', exact: true }).click();
      expect((await answered).status()).toBe(200);
      await page.locator('.answer').waitFor();
      await expectOnlyText();
    }
    expect(await page.locator('.sentence-stripped').count()).toBeGreaterThan(0);
  });

  test('remain texts in an imported file', async () => {
    await openView('Import');
    const lines = PAYLOADS.map((payload, at) =>
      JSON.stringify({ event_ts: at, members: [1], [payload]: payload, note: payload }),
    );
    await page.locator('input[type=file]').setInputFiles({
      name: `${PAYLOADS[1]!.replaceAll('/', '')}.ndjson`,
      mimeType: 'text/plain',
      buffer: Buffer.from(lines.join('\n')),
    });
    await page.getByRole('button', { name: 'Import 30 edges' }).waitFor();
    await expectOnlyText();
  });

  test('remain texts as names of nodes, in the plan of an import, in rows and in the graph', async () => {
    const lines = PAYLOADS.map((payload, at) => JSON.stringify({ event_ts: at, members: [payload, 'somebody'] }));
    await page.locator('input[type=file]').setInputFiles({
      name: 'named.ndjson',
      mimeType: 'text/plain',
      buffer: Buffer.from([...lines, PAYLOADS[0]].join('\n')),
    });
    await page.getByText('1 row will be left out').click();
    await page.getByRole('cell', { name: PAYLOADS[1]! }).waitFor();
    await expectOnlyText();
    await page.getByRole('button', { name: 'Import 30 edges' }).click();
    await page.getByRole('button', { name: 'Look at them' }).click();
    await page.getByRole('cell', { name: `somebody · ${PAYLOADS[1]}` }).waitFor();
    await expectOnlyText();
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.picture .node').nth(30).waitFor();
    await page.getByText('The picture as a list').click();
    await page.getByRole('combobox', { name: 'Node' }).selectOption({ label: PAYLOADS[1]! });
    await page.locator('.choice-title', { hasText: PAYLOADS[1]! }).waitFor();
    await expectOnlyText();
  });

  test('cause no browser errors or warnings', () => {
    expect(complaints).toEqual([]);
  });
});
