// Opens pages in a headless Chromium, where one is installed.

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
/** Waits, and timers that are set meanwhile, take no time: for pages that wait for nothing but their own files. */
const DUMP_FLAGS = '--virtual-time-budget=20000 --dump-dom';

export interface OpenedPage {
  /** What the page has become, as HTML. */
  html: string;
  /** Lines of its console, errors among them. */
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

/** Keeps a page open, in real time, until something has happened that it brings about. */
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
