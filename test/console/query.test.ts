import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import { compressors } from 'hyparquet-compressors';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type ConsoleWorld,
  madeEdges,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  sendLines,
  signIn,
  startConsole,
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console query: skipped: ${REASON_TO_SKIP}`);

describe.skipIf(REASON_TO_SKIP !== undefined)('statements in the console', { timeout: 60_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    world = await startConsole();
    await sendLines(world.url, 'hyperedges', madeEdges(2500));
    browser = await openBrowser();
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    ({ page, complaints } = await openWatched(context));
    await signIn(page, world.url);
    await page.locator('.grid tbody tr').nth(50).waitFor();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const run = async (text: string) => {
    await writeStatement(page, text);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  };
  const written = async () => (await page.locator('.cm-content').textContent()) ?? '';
  const cells = (row: number) => page.locator('.grid tbody tr').nth(row).locator('td').allTextContents();
  const outcomes = () => page.getByRole('region', { name: 'Statements that have run' }).getByRole('button');

  test('run one after the other, each with its result', async () => {
    await run(
      "CREATE HYPEREDGE TABLE notes (person) PROPERTIES (note TEXT);\nINSERT INTO notes (event_ts, members, note) VALUES (1, [1, 2], ''), (2, [3], 'null'), (3, [], null);",
    );
    await page.getByText('Statement 2 of 2 was not run.').waitFor();
    await page.getByRole('button', { name: 'notes 0 edges' }).waitFor();
    await run(
      "INSERT INTO notes (event_ts, members, note) VALUES (1, [1, 2], ''), (2, [3], 'null'), (3, [4], null);\nMATCH (e:notes) RETURN e.note;\nSHOW TABLES",
    );
    await expect.poll(() => outcomes().count()).toBe(3);
    expect(await outcomes().first().textContent()).toContain('3 rows changed');
    await page.getByRole('button', { name: 'notes 3 edges' }).waitFor();
    await outcomes().nth(1).click();
    expect([await cells(0), await cells(1), await cells(2)]).toEqual([['empty text'], ['null'], ['null']]);
    expect(await page.locator('.grid tbody i').count()).toBe(2);
  });

  test('mark an error in a later statement at its position and keep the earlier results', async () => {
    await run('SHOW TABLES;\n  MATCH (e:notes) WHERE e.nte = 1 RETURN e;\nDROP INDEX ON notes(note)');
    await page.getByRole('button', { name: 'Run it' }).click();
    await page.getByText('Statement 2 of 3 was not run.').waitFor();
    expect(await page.locator('.cm-fault').textContent()).toBe('nte');
    expect(await page.getByRole('region', { name: 'Result' }).getByRole('cell', { name: 'notes' }).count()).toBe(1);
  });

  test('ask for confirmation before they delete anything permanently', async () => {
    const sent: string[] = [];
    const watch = (request: { url(): string; postData(): string | null }) => {
      // Ignores the other requests that the page makes on its own.
      if (request.url().endsWith('/v1/query') && /doomed/.test(request.postData() ?? ''))
        sent.push(JSON.parse(request.postData()!).query.trim());
    };
    page.on('request', watch);
    const question = page.getByRole('alertdialog');
    await run('CREATE HYPEREDGE TABLE doomed (person) PROPERTIES (n INTEGER)');
    await page.getByRole('button', { name: 'doomed 0 edges' }).waitFor();
    sent.length = 0;
    for (const text of ['DROP HYPEREDGE TABLE doomed', 'UPDATE doomed SET n = 1', 'SHOW TABLES; DELETE FROM doomed']) {
      await run(text);
      await question.waitFor();
      // Pressing the shortcut for Run again does not run the statement either.
      await page.getByRole('textbox', { name: 'Statement' }).focus();
      await page.keyboard.press('Control+Enter');
      await question.waitFor();
      await page.getByRole('button', { name: 'Leave it' }).click();
      await question.waitFor({ state: 'detached' });
    }
    expect(sent.filter((query) => !query.startsWith('MATCH'))).toEqual([]);
    await run('DROP HYPEREDGE TABLE doomed');
    expect(await question.textContent()).toContain('DROP HYPEREDGE TABLE doomed: this cannot be undone.');
    // The question applies only to the text that it shows.
    await writeStatement(page, 'DELETE FROM doomed WHERE n = 1');
    await question.waitFor({ state: 'detached' });
    await run('DELETE FROM doomed WHERE n = 1');
    await expect.poll(() => sent.filter((query) => query.startsWith('DELETE')).length).toBe(1);
    expect(await question.count()).toBe(0);
    await run('DROP HYPEREDGE TABLE doomed');
    await page.getByRole('button', { name: 'Run it' }).click();
    await page.getByRole('button', { name: /^doomed/ }).waitFor({ state: 'detached' });
    expect(sent.filter((query) => !query.startsWith('MATCH'))).toEqual([
      'DELETE FROM doomed WHERE n = 1',
      'DROP HYPEREDGE TABLE doomed',
    ]);
    page.off('request', watch);
  });

  test('show an open transaction and buttons that end it', async () => {
    await run('BEGIN; INSERT INTO notes (event_ts, members) VALUES (4, [5]); MATCH (e:notes) RETURN e.id');
    const note = page.getByText('A transaction is open');
    await note.waitFor();
    await expect.poll(() => page.locator('.grid tbody tr').count()).toBe(4);
    await page.getByRole('button', { name: 'notes 3 edges' }).waitFor();
    await page.getByRole('button', { name: 'Roll back' }).click();
    await note.waitFor({ state: 'detached' });
    await run('BEGIN; INSERT INTO notes (event_ts, members) VALUES (4, [5]); MATCH (e:hyperedges) RETURN *');
    await page.getByRole('button', { name: 'Commit' }).click();
    await note.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'notes 4 edges' }).waitFor();
  });

  test('can be stopped, and the next statement runs', async () => {
    const pairs = Array.from({ length: 40 }, (_, index) => `(a.event_ts + b.event_ts) % ${index + 2} >= 0`);
    await writeStatement(
      page,
      `MATCH (a:hyperedges), (b:hyperedges) WHERE shared(a, b) >= 0 AND a.event_ts - b.event_ts < 1e15 AND ${pairs.join(' AND ')} RETURN COUNT(*)`,
    );
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await page.getByText('The statement was stopped.').waitFor();
    await run('MATCH (e:notes) RETURN COUNT(*) AS found');
    await page.getByRole('cell', { name: '4', exact: true }).waitFor();
    expect(await page.getByText('The statement was stopped.').count()).toBe(0);
  });

  test('show long results page by page to the end', async () => {
    await run('MATCH (e:hyperedges) RETURN e.id, e.members LIMIT 200');
    await page.getByRole('button', { name: 'Next 100' }).click();
    await page
      .getByText('Rows 101 to 200 of 200 rows, the first that were found; the statement has LIMIT 200')
      .waitFor();
    expect(await page.getByRole('button', { name: 'Next 100' }).isDisabled()).toBe(true);
    await page.getByRole('tab', { name: 'JSON' }).click();
    expect(((await page.locator('pre.json').textContent()) ?? '').trim().split('\n').length).toBe(100);
    await page.getByRole('tab', { name: 'Rows' }).click();
  });

  test('have results of which all rows can be downloaded as Parquet', async () => {
    await run('MATCH (e:hyperedges) RETURN e.id, e.members, e.weight');
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Parquet', exact: true }).click();
    const bytes = readFileSync(await (await file).path());
    const rows = await parquetReadObjects({ file: Uint8Array.from(bytes).buffer, compressors });
    expect([rows.length, Object.keys(rows[0]!), rows[0]!.id]).toEqual([2500, ['id', 'members', 'weight'], 1n]);
    await page.getByText('2,500 rows written').waitFor();
  });

  test('have pictures that show edges of the queried table, whichever table is selected on the left', async () => {
    await page.getByRole('button', { name: /^hyperedges/ }).click();
    await run('MATCH (e:notes) RETURN *');
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByText('The picture as a list').click();
    await page.getByRole('region', { name: 'Result' }).locator('table .tag-edge').first().click();
    await page.getByRole('heading', { name: /^Edge \d+ of notes$/ }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await page.getByRole('tab', { name: 'Rows' }).click();
  });

  test('get a name inserted at the caret when the user clicks it on the left', async () => {
    await page.getByRole('button', { name: /^notes/ }).click();
    await writeStatement(page, 'MATCH (n:notes) RETURN ');
    await page.getByRole('button', { name: 'members', exact: true }).click();
    await page.keyboard.type(', ');
    await page.getByRole('button', { name: 'note', exact: true }).click();
    expect(await written()).toBe('MATCH (n:notes) RETURN n.members, n.note');
  });

  test('can be edited with the keyboard: characters, undo and line comments', async () => {
    await writeStatement(page, 'a\u{1f469}\u200d\u{1f467}b');
    await page.keyboard.press('Backspace');
    await page.keyboard.press('Backspace');
    expect(await written()).toBe('a');
    await page.keyboard.press('Control+/');
    expect(await written()).toBe('// a');
    await page.keyboard.press('Control+/');
    expect(await written()).toBe('a');
    // Typing within half a second is undone in one step.
    await page.waitForTimeout(600);
    await page.keyboard.type('b');
    await page.keyboard.press('Control+z');
    expect(await written()).toBe('a');
    await page.keyboard.press('Enter');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Home');
    await page.keyboard.press('Delete');
    await page.keyboard.type('b');
    expect(await page.locator('.cm-line').allTextContents()).toEqual(['b', '']);
  });

  test('replace a selection with typed text without violating the security policy', async () => {
    await writeStatement(page, 'MATCH (e:notes)\nRETURN e.id');
    await page.keyboard.press('Control+A');
    await page.keyboard.type('MATCH (e:hyperedges)');
    expect(await written()).toBe('MATCH (e:hyperedges)');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Shift+ArrowLeft');
    await page.keyboard.press('Control+Shift+ArrowLeft');
    await page.keyboard.type('notes)');
    expect(await written()).toBe('MATCH (e:notes)');
    expect(complaints).toEqual([]);
  });

  test('show a note in the picture when LIMIT cuts off the result', async () => {
    await run('MATCH (e:hyperedges) RETURN * LIMIT 20');
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByText('Drawn from the first 20 rows: the statement has LIMIT 20.').waitFor();
    await page.getByRole('tab', { name: 'Rows' }).click();
    await run('MATCH (e:notes) RETURN * LIMIT 20');
    await page.getByText('of 4 rows').waitFor();
    expect(await page.getByText('the statement has LIMIT').count()).toBe(0);
  });

  test('get a typed time window as a condition, unless it ends before it begins', async () => {
    await page.getByRole('button', { name: /^hyperedges/ }).click();
    await run('MATCH (e:hyperedges) RETURN e.id');
    const from = page.getByRole('textbox', { name: 'From' });
    const to = page.getByRole('textbox', { name: 'to', exact: true });
    await from.fill('2001-03-01T00:00:00');
    await from.press('Enter');
    await expect.poll(written).toMatch(/BETWEEN 983404800 AND \d+/);
    await to.fill('2001-01-01T00:00:00');
    await page.getByText('The window ends before it begins.').waitFor();
    await to.press('Enter');
    expect(await written()).toContain('BETWEEN 983404800 AND');
    await page.getByRole('button', { name: 'All of time' }).click();
    await expect.poll(written).not.toContain('BETWEEN');
  });

  test('do not run from a link when they write', async () => {
    const other = await page.context().newPage();
    const statement = encodeURIComponent('MATCH (e:notes) RETURN e; DELETE FROM notes');
    await other.goto(`${world.url}/#key=hgr_the-admin-key-of-the-console-walk&statement=${statement}`);
    await other.locator('.cm-content', { hasText: 'DELETE FROM notes' }).waitFor();
    await other.getByRole('button', { name: 'notes 4 edges' }).waitFor();
    expect(await other.getByRole('region', { name: 'Result' }).count()).toBe(0);
    await other.close();
  });

  test('do not prevent an import from resuming without duplicates after a lost answer', async () => {
    const lost = { status: 500, json: { code: 'internal', detail: 'The answer was lost.' } };
    let requests = 0;
    await page.route(/hyperedges\?table=again$/, async (route) => {
      requests += 1;
      if (requests !== 2) return route.continue();
      await route.fetch();
      return route.fulfill(lost);
    });
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    const buffer = Buffer.from(madeEdges(2500));
    await page.locator('input[type=file]').setInputFiles({ name: 'again.ndjson', mimeType: 'text/plain', buffer });
    await page.getByRole('button', { name: 'Import 2,500 edges' }).click();
    await page.getByText('The answer was lost.').waitFor();
    await page.getByRole('button', { name: 'Import the other 500 edges' }).click();
    const done = page.getByRole('button', { name: 'Imported 2,500 edges' });
    await done.waitFor();
    expect(await done.isDisabled()).toBe(true);
    await page.getByRole('button', { name: 'again 2,500 edges' }).waitFor();
    expect(requests).toBe(3);
    await page.getByLabel('Into table').fill('other');
    expect(await page.getByRole('button', { name: 'Import 2,500 edges' }).isEnabled()).toBe(true);
  });

  test('cause no browser errors or warnings', () => {
    expect(complaints).toEqual([]);
  });
});
