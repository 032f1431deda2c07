// Asks the fifty questions on the page. Those that the data can answer are answered correctly, and
// the others are not answered.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/engine/index.ts';
import { ANSWERABLE, CALLED, NOT_ANSWERABLE } from '../rag/fifty-questions.ts';
import { expectSaid, fillFifty, HAS_MAILS, MODES } from '../rag/fifty-world.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  signIn,
  startConsole,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console, fifty questions: skipped: ${REASON_TO_SKIP}`);

interface Shown {
  text: string;
  /** The ids of the edges that the tags in the answer name. */
  cited: number[];
  isAbstained: boolean;
}

describe.skipIf(REASON_TO_SKIP !== undefined)('fifty questions', { timeout: 60_000 }, () => {
  let dir: string;
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'hedgerow-questions-'));
    const database = await openDatabase({ dir, maxMembers: 255, memoryBudgetMb: 64 });
    await fillFifty(database);
    await database.close();
    world = await startConsole({ HEDGEROW_DATA_DIR: dir });
    const stored = await fetch(`${world.url}/v1/rules`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      body: JSON.stringify(CALLED),
    });
    expect(stored.status).toBe(200);
    browser = await openBrowser();
    ({ page, complaints } = await openWatched(await browser.newContext()));
    await signIn(page, world.url);
    await page.getByRole('link', { name: 'Ask', exact: true }).click();
  });
  afterAll(async () => {
    await browser?.close();
    await world?.close();
    if (dir !== undefined) await rm(dir, { recursive: true, force: true });
  });

  /** Asks the question and returns what the page shows of the answer. */
  async function asked(question: string, table: string, mode: string): Promise<Shown> {
    if ((await page.getByLabel(`Question about ${table},`).count()) === 0)
      await page.getByRole('button', { name: new RegExp(`^${table} [\\d,]+ edges`) }).click();
    await page.getByLabel(`Question about ${table},`).fill(question);
    await page.getByRole('combobox', { name: 'Mode' }).selectOption(mode);
    const answered = page.waitForResponse((response) => response.url().endsWith('/v1/rag/query'));
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    expect((await answered).status()).toBe(200);
    await page.getByRole('button', { name: 'Ask', exact: true }).and(page.locator(':enabled')).waitFor();
    const answer = page.getByRole('region', { name: 'Answer' }).locator('.answer');
    const lines = await answer.locator('p:not(.sentence-stripped)').allInnerTexts();
    const tags = await answer.locator('p:not(.sentence-stripped) .tag-edge').allInnerTexts();
    return {
      text: lines.join('\n'),
      cited: tags.flatMap((tag) => /^\[?HEDGE-(\d+)/.exec(tag)?.[1] ?? []).map(Number),
      isAbstained: (await page.locator('.answer-abstained').count()) > 0,
    };
  }

  describe.each(ANSWERABLE)('$question', (right) => {
    it.skipIf(right.table === 'mails' && !HAS_MAILS).each(MODES)('is answered correctly in mode %s', async (mode) => {
      const { text, cited, isAbstained } = await asked(right.question, right.table, mode);
      expect(isAbstained).toBe(false);
      expectSaid(right, text, cited);
      expect(complaints).toEqual([]);
    });
  });

  describe.each(NOT_ANSWERABLE)('%s', (question) => {
    it.each(MODES)('is not answered in mode %s', async (mode) => {
      const { text, isAbstained } = await asked(question, 'calls', mode);
      expect(isAbstained).toBe(true);
      expect(text).not.toMatch(/HEDGE|STEP|RULE|called/);
      expect(complaints).toEqual([]);
    });
  });
});
