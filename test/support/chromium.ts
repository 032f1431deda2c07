// Opens pages in headless Chromium, if it is installed.

import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';

const run = promisify(execFile);

export const CHROMIUM = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find((path) =>
  existsSync(path),
);

const FLAGS =
  '--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update --disable-sync --enable-logging=stderr';
/** With these flags timers take no real time. They suit pages that load only their own files. */
const DUMP_FLAGS = '--virtual-time-budget=20000 --dump-dom';

export interface OpenedPage {
  /** HTML of the page after it has run. */
  html: string;
  /** Lines from the page's console, including errors. */
  console: string[];
}

export async function openPage(url: string): Promise<OpenedPage> {
  const profile = mkdtempSync(join(tmpdir(), 'hedgerow-chromium-'));
  try {
    const limits = { maxBuffer: 64 << 20, timeout: 60_000 };
    const { stdout, stderr } = await run(
      CHROMIUM!,
      [...FLAGS.split(' '), ...DUMP_FLAGS.split(' '), `--user-data-dir=${profile}`, url],
      limits,
    );
    return { html: stdout, console: stderr.split('\n').filter((line) => line.includes(':CONSOLE')) };
  } finally {
    rmSync(profile, { recursive: true, force: true });
  }
}

/**
 * Keeps a page open, in real time, until the promise settles. The page is expected to cause this.
 */
export async function keepPageOpen<T>(url: string, until: Promise<T>): Promise<T> {
  const browser = await chromium.launch({ executablePath: CHROMIUM!, args: FLAGS.split(' ') });
  try {
    const page = await browser.newPage();
    await page.goto(url);
    return await until;
  } finally {
    await browser.close();
  }
}
