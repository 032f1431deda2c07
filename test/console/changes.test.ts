import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ChangeFeed, changeOf, MOST_ROWS, rowOf } from '../../src/console/changes/change-feed.ts';
import { EventData } from '../../src/console/changes/event-data.ts';
import { type FollowState, followChanges } from '../../src/console/changes/follow-changes.ts';
import { faultsOf } from './axe.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  expectToFit,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  sendLines,
  signIn,
  startConsole,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console, changes: skipped: ${REASON_TO_SKIP}`);

const insert = (lsn: number, more = {}) => ({
  lsn,
  ts: 1000,
  table: 't',
  op: 'insert',
  id: lsn,
  row: { id: lsn, event_ts: 60, members: [1, 2], note: null },
  ...more,
});

describe('the feed of changes', () => {
  test('groups changes by commit, the newest first, also across a reconnection that repeats some', () => {
    const feed = new ChangeFeed();
    for (const [lsn, isEnd] of [
      [3, false],
      [4, true],
      [4, true],
      [3, false],
      [7, true],
      [9, false],
    ] as const)
      feed.push(insert(lsn, isEnd ? { commit_end: true } : {}));
    expect(feed.commits().map(({ count, isWhole, rows }) => [count, isWhole, rows.map(({ lsn }) => lsn)])).toEqual([
      [1, false, [9]],
      [1, true, [7]],
      [2, true, [4, 3]],
    ]);
    expect([feed.lastLsn, feed.seen]).toEqual([9, 4]);
  });

  test('keeps a limited number of rows with short texts', () => {
    const feed = new ChangeFeed();
    const row = { note: 'x'.repeat(1_000_000) };
    for (let lsn = 1; lsn <= 5000; lsn += 1) feed.push(insert(lsn, lsn > 4990 ? { row } : {}));
    const [commit, ...others] = feed.commits();
    expect([others.length, commit!.count, commit!.rows.length]).toEqual([0, 5000, MOST_ROWS]);
    expect(commit!.rows[0]!.summary.length).toBeLessThan(100);
  });

  test('describes edges, changed fields, tables and indexes', () => {
    expect(rowOf(insert(1)).summary).toBe('event_ts 1970-01-01 00:01:00 · members 1, 2');
    const before = { id: 1, event_ts: 60, members: [1, 2], note: null, ['__proto__']: 1 };
    const update = { ...insert(2), op: 'update', before, row: { ...before, members: [1, 3], note: 'b' } };
    expect(rowOf(update).fields).toEqual([
      { name: 'members', before: '1, 2', after: '1, 3' },
      { name: 'note', before: 'null', after: 'b' },
    ]);
    expect(rowOf({ ...update, before: undefined }).summary).toMatch(/not known/);
    const other = (op: string, more: object) => rowOf({ lsn: 1, ts: 1, table: 't', op, ...more }).summary;
    expect(other('delete', { id: 1, before })).toContain('members 1, 2');
    expect(other('buckets_dropped', { before_ts: 60 })).toContain('1970-01-01 00:01:00');
    expect(other('table_created', { columns: [{ name: 'a' }, { name: 'b' }] })).toBe('columns a, b');
    expect(other('table_altered', { renamed_from: 's' })).toBe('renamed from s');
    expect(other('index_dropped', { column: 'a' })).toBe('column a');
    expect(other('node_invented', {})).toBe('');
  });

  test.each(['', 'x', '1', 'null', '[]', '{"lsn":"1"}', '{"lsn":1,"ts":1,"table":2,"op":"insert"}'])(
    'refuses %j as a change',
    (text) => {
      expect(() => changeOf(text)).toThrow(TypeError);
    },
  );
});

test('the data of events is found however the stream is cut into chunks', () => {
  const bytes = new TextEncoder().encode('retry: 1\n: Zoë\n\nid: 1\ndata: {"a":"Zoë"}\n\nid: 2\ndata: 2\n\n');
  for (let size = 1; size <= bytes.length; size += 1) {
    const events = new EventData();
    const found: string[] = [];
    for (let at = 0; at < bytes.length; at += size)
      events.push(bytes.subarray(at, at + size), (data) => found.push(data));
    expect(found).toEqual(['{"a":"Zoë"}', '2']);
  }
  const failing = new TextEncoder().encode('data: 1\n\nevent: error\ndata: {}\n\n');
  const found: string[] = [];
  expect(new EventData().push(failing, (data) => found.push(data))).toBe(false);
  expect(found).toEqual(['1']);
});

describe('a reader of changes', () => {
  type Answer = Response | Error;
  const events = (...lsns: number[]) =>
    new Response(lsns.map((lsn) => `id: ${lsn}\ndata: ${JSON.stringify(insert(lsn))}\n\n`).join(''), {
      headers: { 'content-type': 'text/event-stream' },
    });
  const refusal = (status: number, code: string) => Response.json({ detail: 'No.', code }, { status });

  /** Follows scripted answers; aborts when there are none left. */
  async function follow(answers: Answer[], { newest = 10, recent = 5, key = '', table = '' } = {}) {
    const end = new AbortController();
    const feed = new ChangeFeed();
    const asked: string[] = [];
    const keys: (string | null)[] = [];
    const states: FollowState[] = [];
    const pauses: number[] = [];
    await followChanges({
      feed,
      url: 'http://h',
      key,
      table,
      recent,
      signal: end.signal,
      newest: async () => newest,
      sleep: async (ms) => void pauses.push(ms),
      onState: (state) => states.push(state),
      onChange: () => {},
      fetch: async (input, init) => {
        const answer = answers.shift();
        if (answer === undefined) {
          end.abort();
          throw new Error('aborted');
        }
        asked.push(String(input));
        keys.push(new Headers(init?.headers).get('x-api-key'));
        if (answer instanceof Error) throw answer;
        return answer;
      },
    });
    return { feed, asked, keys, states: states.map(({ kind }) => kind), pauses };
  }
  const urls = (...lsns: number[]) => lsns.map((lsn) => `http://h/v1/changes?from_lsn=${lsn}`);

  test('begins shortly before the newest LSN, and goes on from the last one after a lost connection', async () => {
    const { asked, keys, states, pauses } = await follow(
      [events(6, 8), new Error('lost'), refusal(503, 'busy'), events(9), events()],
      { key: 'hgr_x' },
    );
    expect(asked).toEqual(urls(5, 8, 8, 8, 9));
    expect(new Set(keys)).toEqual(new Set(['hgr_x']));
    expect(states).toEqual(['connecting', 'live', 'lost', 'lost', 'lost', 'live', 'lost', 'live', 'lost']);
    expect(pauses).toEqual([1000, 2000, 4000, 1000, 2000]);
  });

  test('begins at the newest LSN if the ones before it are no longer kept', async () => {
    const { asked, keys } = await follow([refusal(410, 'lsn_gone'), events(11)], { table: 'a&b' });
    expect(asked).toEqual(urls(5, 10).map((url) => `${url}&table=a%26b`));
    expect(keys).toEqual([null, null]);
  });

  test.each([
    [410, 'gone'],
    [409, 'other'],
    [401, 'refused'],
    [404, 'refused'],
  ])('stops at status %i', async (status, kind) => {
    const { states, asked } = await follow([events(12), refusal(status, 'x'), events(13)]);
    expect(states.at(-1)).toBe(kind);
    expect(asked).toEqual(urls(5, 12));
  });

  test('stops at an answer that is no stream of changes', async () => {
    const page = new Response('<html>', { headers: { 'content-type': 'text/html' } });
    expect((await follow([page])).states.at(-1)).toBe('refused');
    const text = new Response('data: what\n\n', { headers: { 'content-type': 'text/event-stream' } });
    expect((await follow([text])).states.at(-1)).toBe('refused');
    expect((await follow([], { newest: Number.NaN })).states).toEqual(['connecting', 'refused']);
  });
});

describe.skipIf(REASON_TO_SKIP !== undefined)('the view of changes', { timeout: 90_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    world = await startConsole();
    browser = await openBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    ({ page, complaints } = await openWatched(context));
    await signIn(page, world.url);
    await page.getByRole('link', { name: 'Changes', exact: true }).click();
    await page.getByText('Live', { exact: true }).waitFor();
  }, 90_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  const run = async (query: string) => {
    const answer = await fetch(`${world.url}/v1/query`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      body: JSON.stringify({ query }),
    });
    if (!answer.ok) throw new Error(await answer.text());
  };
  const edges = (count: number, from = 0) =>
    Array.from(
      { length: count },
      (_, at) => `${JSON.stringify({ event_ts: from + at, members: [1, from + at] })}\n`,
    ).join('');
  const rows = () => page.locator('.changes tbody tr');

  test('shows changes as they happen, by commit, with the fields that changed', async () => {
    await run('CREATE HYPEREDGE TABLE visits () PROPERTIES (note TEXT)');
    await page.getByRole('cell', { name: 'table created' }).first().waitFor();
    await page.getByRole('option', { name: 'visits' }).waitFor({ state: 'attached' });
    await sendLines(world.url, 'visits', edges(3));
    await page.getByText('3 changes', { exact: true }).waitFor();
    await run("UPDATE visits SET note = '<b>new</b>' WHERE event_ts = 1");
    await page.getByText('note null → <b>new</b>').waitFor();
    await run('DELETE FROM visits WHERE event_ts = 2');
    await expect.poll(() => rows().first().textContent()).toMatch(/visits.*delete.*HEDGE-/);
    await rows()
      .nth(1)
      .getByRole('button', { name: /^HEDGE-/ })
      .click();
    await page.getByRole('dialog').getByText('<b>new</b>').waitFor();
    await page.keyboard.press('Escape');
    expect(await faultsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 800 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('pauses, counts what is missed, and goes on', async () => {
    await page.getByRole('button', { name: 'Pause' }).click();
    const before = await rows().count();
    await sendLines(world.url, 'visits', edges(30, 100));
    await page.getByText('30 changes since the pause').waitFor();
    expect(await rows().count()).toBe(before);
    await page.getByRole('button', { name: 'Resume' }).click();
    await expect.poll(() => rows().count()).toBe(before + 30);
  });

  test('shows the changes of one table', async () => {
    const filter = page.getByRole('combobox', { name: 'Changes of' });
    await filter.selectOption('hyperedges');
    await page.getByText('Live', { exact: true }).waitFor();
    await sendLines(world.url, 'visits', edges(1, 200));
    await sendLines(world.url, 'hyperedges', edges(2, 200));
    await page.getByText('members 1, 201').waitFor();
    expect(await page.locator('.changes').textContent()).not.toContain('visits');
    await filter.selectOption('');
    await page.getByRole('cell', { name: 'visits' }).first().waitFor();
  });

  test('reads nothing while the page is hidden, and goes on when it is shown', async () => {
    const hide = (isHidden: boolean) =>
      page.evaluate((value) => {
        Object.defineProperty(document, 'hidden', { value, configurable: true });
        document.dispatchEvent(new Event('visibilitychange'));
      }, isHidden);
    const stopped = page.waitForEvent('requestfailed', (request) => request.url().includes('/v1/changes'));
    await hide(true);
    await stopped;
    await sendLines(world.url, 'visits', edges(1, 300));
    await page.waitForTimeout(300);
    expect(await page.getByText('members 1, 300').count()).toBe(0);
    await hide(false);
    await page.getByText('members 1, 300').waitFor();
  });

  test('goes on from the last change after a lost connection', async () => {
    await page.route('**/v1/changes?*', (route) => route.abort());
    await page.getByRole('link', { name: 'Rules', exact: true }).click();
    await page.getByRole('link', { name: 'Changes', exact: true }).click();
    await page.getByText('Connection lost').waitFor();
    await sendLines(world.url, 'visits', edges(1, 400));
    await page.unroute('**/v1/changes?*');
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('members 1, 400').waitFor();
  });

  test.each([
    [410, 'lsn_gone', 'Changes are missing.'],
    [409, 'lsn_ahead', 'The database has another history.'],
  ])('says why it has stopped at status %i, and starts at the newest LSN', async (status, code, title) => {
    await page.route('**/v1/changes?*', (route) =>
      route.fulfill({ status, json: { detail: 'The reason.', code, status } }),
    );
    await page.getByRole('combobox', { name: 'Changes of' }).selectOption('visits');
    await page.getByRole('alert').getByText(`${title} The reason.`).waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.unroute('**/v1/changes?*');
    await page.getByRole('button', { name: 'Start at the newest LSN' }).click();
    await page.getByText('Live', { exact: true }).waitFor();
    await page.getByText('No changes yet').waitFor();
    await sendLines(world.url, 'visits', edges(1, 500));
    await page.getByText('members 1, 500').waitFor();
    expect(await rows().count()).toBe(1);
    await page.getByRole('combobox', { name: 'Changes of' }).selectOption('');
  });

  test('stays quick and small while thousands of changes arrive', async () => {
    await page.evaluate(() => {
      const frames: number[] = [];
      Object.assign(globalThis, { frames });
      const look = (at: number) => {
        frames.push(at);
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    for (let at = 0; at < 10; at += 1) await sendLines(world.url, 'visits', edges(3000, 10_000 + at * 3000));
    await page.getByText('members 1, 39999').waitFor();
    expect(await rows().count()).toBe(MOST_ROWS);
    const longest = await page.evaluate(() => {
      const { frames } = globalThis as unknown as { frames: number[] };
      return Math.max(...frames.slice(1).map((at, index) => at - frames[index]!));
    });
    console.log(`console, changes: longest frame during 30,000 changes ${Math.round(longest)} ms`);
    expect(longest).toBeLessThan(2000);
  });

  test('stops its request when the view is left, and has caused no complaints', async () => {
    const stopped = page.waitForEvent('requestfailed', (request) => request.url().includes('/v1/changes'));
    await page.getByRole('link', { name: 'Rules', exact: true }).click();
    await stopped;
    expect(complaints).toEqual([]);
  });

  test('needs no key where the service needs none', async () => {
    const open = await startConsole({ HEDGEROW_AUTH_DISABLED: '1' });
    try {
      const other = await openWatched(await browser.newContext());
      await other.page.goto(`${open.url}/#changes`);
      await other.page.getByText('Live', { exact: true }).waitFor();
      await sendLines(open.url, 'hyperedges', edges(1, 7));
      await other.page.getByText('members 1, 7').waitFor();
      expect(other.complaints).toEqual([]);
      await other.page.context().close();
    } finally {
      await open.close();
    }
  });
});
