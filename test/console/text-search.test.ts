// The search field of a table with a text index, and what the view for questions shows of a search.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { searchStatement } from '../../src/console/statement-words.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { EmbeddedStatements } from '../../src/query/index.ts';
import { type ConsoleWorld, openBrowser, openWatched, REASON_TO_SKIP, signIn, startConsole } from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console, search: skipped: ${REASON_TO_SKIP}`);

const HOSTILE = `it's a "back\\slash" <img src=x onerror=alert(1)> budget`;

describe.skipIf(REASON_TO_SKIP !== undefined)('the search field', { timeout: 60_000 }, () => {
  let dir: string;
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hedgerow-search-field-'));
    const database = await openDatabase({ dir });
    const statements = new EmbeddedStatements({ database });
    await statements.run('CREATE HYPEREDGE TABLE notes () PROPERTIES (body TEXT)');
    await statements.run('CREATE TEXT INDEX ON notes (body) LANGUAGE english');
    const table = database.table('notes');
    const bodies = ['The travel budget is fixed.', 'We travelled to Rome.', 'Nothing else.', HOSTILE];
    for (const [place, body] of bodies.entries())
      await table.insert({ event_ts: 1_700_000_000 + place, members: [place + 1], properties: { body } });
    await database.close();
    world = await startConsole({ HEDGEROW_DATA_DIR: dir });
    browser = await openBrowser();
    ({ page, complaints } = await openWatched(await browser.newContext()));
    await signIn(page, world.url);
    await page.getByRole('button', { name: /^notes/ }).click();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });

  const search = async (words: string) => {
    await page.getByRole('searchbox', { name: 'Search the texts of notes' }).fill(words);
    await page.getByRole('button', { name: 'Search', exact: true }).click();
  };

  it('shows the best edges first', async () => {
    await search('travels budget');
    await page.getByText('The travel budget is fixed.').first().waitFor();
    const texts = (await page.locator('main').textContent()) ?? '';
    expect(texts.indexOf('The travel budget is fixed.')).toBeLessThan(texts.indexOf('We travelled to Rome.'));
    expect(await page.getByText('Nothing else.').count()).toBe(0);
  });

  it('takes any text as it is', async () => {
    await search(HOSTILE);
    await page.locator('td').getByText('onerror').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('is in questions as what matched each edge', async () => {
    await page.getByRole('link', { name: 'Ask', exact: true }).click();
    await page.getByRole('textbox', { name: /question/i }).fill('travel budget');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page
      .getByText(/words: travel \(rank \d\), budget \(rank 1\)/)
      .first()
      .waitFor();
    expect(complaints).toEqual([]);
  });
});

describe('the statement of a search', () => {
  it('quotes the words', () => {
    expect(searchStatement('my notes', `it's a \\ "b"`)).toBe(
      `MATCH (e:\`my notes\`)\nWHERE search(e, 'it''s a \\\\ "b"')\nRETURN *\nORDER BY score(e) DESC\nLIMIT 50`,
    );
  });
});
