// Starts a complete service with its built console, and a browser that opens the console.

import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';
import { startApp } from '../../src/app.ts';
import { loadConfig } from '../../src/config.ts';
import { CHROMIUM } from '../support/chromium.ts';

export const ADMIN_KEY = 'hgr_the-admin-key-of-the-console-walk';

export interface ConsoleWorld {
  readonly url: string;
  /** The folder for the files of virtual graphs. */
  readonly virtualRoot: string;
  readonly copyRoot: string;
  close(): Promise<void>;
}

/**
 * Starts a service with a new database on a free loopback port. `environment` is added to its
 * settings.
 */
export async function startConsole(environment: Record<string, string> = {}): Promise<ConsoleWorld> {
  const dir = await mkdtemp(join(tmpdir(), 'hedgerow-console-'));
  const virtualRoot = join(dir, 'virtual');
  const copyRoot = join(dir, 'copy');
  await mkdir(virtualRoot);
  await mkdir(copyRoot);
  const app = await startApp(
    loadConfig({
      environment: {
        HEDGEROW_DATA_DIR: join(dir, 'data'),
        HEDGEROW_PORT: '0',
        HEDGEROW_API_KEY: ADMIN_KEY,
        HEDGEROW_RATE_LIMIT_QPM: '0',
        HEDGEROW_LOG_LEVEL: 'error',
        HEDGEROW_VIRTUAL_ROOT: virtualRoot,
        HEDGEROW_COPY_ROOT: copyRoot,
        ...environment,
      },
      isTerminal: false,
    }),
  );
  await app.ready;
  return {
    url: app.url,
    virtualRoot,
    copyRoot,
    close: async () => {
      await app.close('the test is over');
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** The reason why pages cannot be opened here, or undefined if they can. */
export const REASON_TO_SKIP =
  CHROMIUM === undefined
    ? 'no chromium in /usr/bin'
    : existsSync(new URL('../../build/console/index.html', import.meta.url))
      ? undefined
      : 'the console was not built (npm run build:console)';

export function openBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM!,
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
}

export interface Watched {
  readonly page: Page;
  /** Page errors and console warnings, including violations of the content security policy. */
  readonly complaints: string[];
}

/**
 * Opens a page that records complaints. Responses with status 400 and above that the test provokes
 * do not count.
 */
export async function openWatched(context: BrowserContext): Promise<Watched> {
  const page = await context.newPage();
  page.setDefaultTimeout(20_000);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`));
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type()) && !/Failed to load resource/.test(message.text())) {
      complaints.push(`${message.type()}: ${message.text()}`);
    }
  });
  return { page, complaints };
}

export async function signIn(page: Page, url: string, key = ADMIN_KEY): Promise<void> {
  await page.goto(url);
  await page.getByLabel('API key').fill(key);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByRole('navigation', { name: 'Views' }).waitFor();
}

/**
 * Expects that the page is no wider than its window. This function waits, because plots are redrawn
 * a moment after the width changes.
 */
export async function expectToFit(page: Page): Promise<void> {
  await expect
    .poll(() => page.evaluate(() => document.documentElement.scrollWidth - innerWidth))
    .toBeLessThanOrEqual(0);
}

/**
 * Returns edges that resemble a small office: groups that meet, and a few people who meet other
 * groups.
 */
export function madeEdges(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => {
    const group = index % 5;
    const size = 2 + (index % 3);
    const members = Array.from({ length: size }, (_member, at) => group * 6 + ((index * 7 + at * 3) % 6));
    const visitor = index % 11 === 0 ? [((group + 1) % 5) * 6] : [];
    return JSON.stringify({ event_ts: 980_000_000 + index * 40_000, members: [...new Set([...members, ...visitor])] });
  });
  return `${lines.join('\n')}\n`;
}

export async function sendLines(url: string, table: string, lines: string): Promise<void> {
  const answer = await fetch(`${url}/v1/hyperedges?table=${table}`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', 'x-api-key': ADMIN_KEY },
    body: lines,
  });
  if (!answer.ok) throw new Error(await answer.text());
}

export async function writeCsv(path: string, length = 30): Promise<void> {
  const rows = Array.from({ length }, (_, index) => `${1_700_000_000 + index * 60},${index % 7},${index % 4},walk`);
  await writeFile(path, `left_at,origin,target,kind\n${rows.join('\n')}\n`);
}

/**
 * Replaces the statement in the editor through the keyboard. The function `fill` of Playwright
 * would insert the text with styles that the content security policy refuses.
 */
export async function writeStatement(page: Page, text: string): Promise<void> {
  const editor = page.getByRole('textbox', { name: 'Statement' });
  await page.locator('.editor[data-ready]').waitFor();
  await editor.click();
  await page.keyboard.press('Control+A');
  await page.keyboard.press('Backspace');
  await page.keyboard.insertText(text);
}

/** Whether every case of the long lists is tried, rather than a few spread over each list. */
const HAS_ALL_CASES = process.env.HEDGEROW_CONSOLE_CASES === 'all';

export function someOf<T>(cases: readonly T[], most: number): T[] {
  const step = HAS_ALL_CASES ? 1 : Math.ceil(cases.length / most);
  return cases.filter((_case, index) => index % step === 0);
}
