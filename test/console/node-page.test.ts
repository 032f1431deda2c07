import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NodeTable, Table } from '../../src/client/index.ts';
import { nodeAt } from '../../src/console/node/node-place.ts';
import { faultsOf } from './axe.ts';
import { strayRequests, tracesIn } from './hostile.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  expectToFit,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  signIn,
  someOf,
  startConsole,
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console, the page of a node: skipped: ${REASON_TO_SKIP}`);

/** Keys of nodes that addresses, paths and markup could take for something else. */
const KEYS: readonly string[] = [
  '.',
  '..',
  '/',
  'a/b//c/',
  '../../etc/passwd',
  '#ask',
  '?kind=Person&key=x',
  '100% %2F %',
  '"quoted" and \'quoted\'',
  'back\\slash`tick`',
  '<img src=x onerror=ran=1>',
  '\u202egnorw\u202c',
  '👩‍👩‍👧 🌳',
  ' leading and trailing ',
  'constructor',
  '__proto__',
  'Ada\u0301',
  'ADA',
  `long ${'🌳'.repeat(120)}`,
];
/** Keys without anything to see, and what is shown instead. */
const INVISIBLE: readonly (readonly [string, string])[] = [
  [' ', 'U+0020'],
  ['\u200b\u200f', 'U+200B U+200F'],
];

describe('the address of a node', () => {
  const nodeTables = [
    { name: 'Person', key: { name: 'name', type: 'TEXT' } },
    { name: 'Room', key: { name: 'number', type: 'INTEGER' } },
  ] as NodeTable[];
  const tables = [
    { name: 'calls', nodes: 'named' },
    { name: 'plain', nodes: 'numbers' },
  ] as Table[];
  const at = (address: string) => nodeAt(address, nodeTables, tables);

  test.each(KEYS)('holds the key %j', (key) => {
    expect(at(`node/Person/${encodeURIComponent(key)}`)).toEqual({ table: 'Person', key });
  });

  test('finds a table by its name in any case, and reads integers', () => {
    expect(at('node/person/Ada/b')).toEqual({ table: 'Person', key: 'Ada/b' });
    expect(at('node/ROOM/-12')).toEqual({ table: 'Room', key: -12 });
    expect(at('node/plain/7')).toEqual({ table: 'plain', key: 7 });
  });

  test.each([
    ['node/Person/', 'The address of a node is #node/TABLE/KEY'],
    ['node/Person', 'The address of a node is #node/TABLE/KEY'],
    ['node//Ada', 'The address of a node is #node/TABLE/KEY'],
    ['node/Person/%E0%A4%A', 'The address of a node is #node/TABLE/KEY'],
    ['node/Nobody/Ada', 'There is no table Nobody'],
    ['node/calls/Ada', 'The members of calls have names'],
    ['node/Room/12.5', 'The nodes of Room are integers'],
    ['node/plain/9007199254740993', 'The nodes of plain are integers'],
  ])('is refused with a sentence: %s', (address, sentence) => {
    expect(at(address)).toContain(sentence);
  });
});

describe.skipIf(REASON_TO_SKIP !== undefined)('the page of a node', { timeout: 120_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let complaints: string[];
  let stray: string[];

  beforeAll(async () => {
    world = await startConsole();
    await send('/v1/node-tables', {
      name: 'Person',
      key: { name: 'name', type: 'TEXT' },
      columns: [
        { name: 'born', type: 'INTEGER' },
        { name: 'city', type: 'TEXT' },
        { name: 'tall', type: 'BOOLEAN' },
        { name: 'score', type: 'REAL' },
      ],
    });
    await send('/v1/node-tables', { name: 'Room', key: { name: 'number', type: 'INTEGER' } });
    await send('/v1/tables', { name: 'calls', member_tables: ['Person'], roles: ['caller', 'callee'] });
    await send('/v1/tables', { name: 'visits', member_tables: ['Person', 'Room'], intervals: true });
    await send('/v1/tables', { name: 'unused', member_tables: ['Person'] });
    const calls = [...KEYS, ...INVISIBLE.map(([key]) => key)].map((key, at) =>
      JSON.stringify({ event_ts: 1_700_000_000 + at * 86_400, members: { caller: ['Ada'], callee: [key] } }),
    );
    const more = Array.from({ length: 30 }, (_, at) =>
      JSON.stringify({ event_ts: 1_600_000_000 + at * 3600, members: { caller: ['Grace'], callee: ['Ada'] } }),
    );
    await lines('/v1/hyperedges?table=calls', [...calls, ...more]);
    const visit = (ts: number, key: string, end_ts: number | null) =>
      JSON.stringify({
        event_ts: ts,
        end_ts,
        members: [
          { kind: 'Person', key },
          { kind: 'Room', key: 12 },
        ],
      });
    await lines('/v1/hyperedges?table=visits', [
      visit(1_700_000_000, 'Ada', null),
      visit(1_700_000_500, '..', 1_700_000_900),
    ]);
    await lines('/v1/nodes/Person', [
      JSON.stringify({ name: 'Ada', born: 1815, city: '<b>\u202eRome', tall: true }),
      JSON.stringify({ name: 'Hedy', city: '' }),
      JSON.stringify({ name: 'Nobody' }),
    ]);
    await lines('/v1/hyperedges?table=hyperedges', [
      JSON.stringify({ event_ts: 5, members: [1, 2] }),
      JSON.stringify({ event_ts: 6, members: [1, 2, 3] }),
    ]);
    browser = await openBrowser();
    context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
    ({ page, complaints } = await openWatched(context));
    stray = strayRequests(page, world.url);
    await signIn(page, world.url);
    await page.locator('.grid tbody tr').first().waitFor();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  async function post(path: string, type: string, body: string, key = ADMIN_KEY): Promise<Response> {
    const headers = { 'content-type': type, 'x-api-key': key };
    const answer = await fetch(world.url + path, { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer;
  }
  const send = (path: string, body: unknown) => post(path, 'application/json', JSON.stringify(body));
  const lines = (path: string, all: readonly string[]) => post(path, 'application/x-ndjson', `${all.join('\n')}\n`);
  const rowOf = async (key: string) => {
    const query = 'MATCH (n:Person) WHERE n.name = $key RETURN *';
    const answer = await send('/v1/query', { query, parameters: { key } });
    return ((await answer.json()) as { rows: Record<string, unknown>[] }).rows[0];
  };
  const go = (table: string, key: string) => page.goto(`${world.url}/#node/${table}/${encodeURIComponent(key)}`);
  const title = () => page.locator('.node-title bdi');
  /** Waits until the page shows a node under this name. */
  const isAt = async (name: string) => {
    await expect.poll(() => title().textContent()).toBe(name);
    await page.locator('.fields').waitFor();
  };
  const run = async (text: string) => {
    await page.getByRole('link', { name: 'Query', exact: true }).click();
    await writeStatement(page, text);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  };

  test('opens from members and keys in the grid, from an edge and from a neighbour', async () => {
    await run("MATCH (c:calls) WHERE 'Grace' IN c.caller RETURN * LIMIT 1");
    await page.locator('.grid').getByRole('link', { name: 'Ada', exact: true }).first().click();
    await isAt('Ada');
    expect(await page.evaluate(() => [location.hash, document.title])).toEqual(['#node/Person/Ada', 'Ada - Hedgerow']);
    await page.goBack();
    await run('MATCH (p:Person) WHERE p.born > 1 RETURN p.name AS who, p.born');
    await page.locator('.grid').getByRole('link', { name: 'Ada', exact: true }).click();
    await isAt('Ada');
    await page.getByRole('region', { name: 'Edges of visits' }).getByRole('button', { name: 'HEDGE-1' }).click();
    await page.getByRole('dialog').getByRole('link', { name: '12', exact: true }).click();
    await expect.poll(() => title().textContent()).toBe('12');
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0);
    const others = page.getByRole('table', { name: 'Neighbours in visits' });
    await others.getByRole('link', { name: '..', exact: true }).click();
    await isAt('..');
  });

  test('opens from the graph', async () => {
    await run('MATCH (v:visits) RETURN *');
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.getByRole('combobox', { name: 'Node' }).selectOption({ label: 'Ada' });
    await page.locator('.choice-panel').getByRole('link', { name: 'Ada' }).click();
    await isAt('Ada');
  });

  test('shows attributes, nulls as such, counts, edges over time and neighbours', async () => {
    await go('Person', 'Ada');
    await isAt('Ada');
    const terms = await page.locator('.fields > div').allInnerTexts();
    expect(terms.map((text) => text.split(/\n+/))).toEqual([
      ['name', 'Ada'],
      ['born', '1815'],
      ['city', '<b>\u202eRome'],
      ['tall', 'true'],
      ['score', 'null'],
    ]);
    const count = KEYS.length + INVISIBLE.length + 30;
    const calls = page.getByRole('region', { name: 'Edges of calls' });
    await calls.getByText(`Edges 1 to 20 of ${count} edges`).waitFor();
    expect(await calls.locator('.grid tbody tr').count()).toBe(20);
    expect(await calls.locator('.grid tbody tr').first().locator('td').nth(2).textContent()).toBe('caller');
    await calls.locator('.plot[data-drawn]').waitFor();
    await calls.getByRole('button', { name: 'Older' }).click();
    await calls.getByText(`Edges 21 to 40 of ${count} edges`).waitFor();
    await calls.getByRole('button', { name: 'Older' }).click();
    await calls.getByText(`Edges 41 to ${count} of ${count} edges`).waitFor();
    expect(await calls.getByRole('button', { name: 'Older' }).isDisabled()).toBe(true);
    expect(await calls.locator('.grid tbody tr').last().locator('td').nth(2).textContent()).toBe('callee');
    const near = await calls.getByRole('table', { name: 'Neighbours in calls' }).locator('tr').allInnerTexts();
    expect(near[0]).toMatch(/^Grace\s+30 edges$/);
    expect(near).toHaveLength(20);
    const visits = page.getByRole('region', { name: 'Edges of visits' });
    await visits.getByText('still').waitFor();
    expect(await visits.getByRole('table', { name: 'Neighbours in visits' }).textContent()).toMatch(/12 Room1 edge/);
    await page.getByText('In no edge of unused.').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 900 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 900 });
  });

  test('lists the edges of a stretch that is brushed', async () => {
    await go('Person', 'Ada');
    const calls = page.getByRole('region', { name: 'Edges of calls' });
    const plot = calls.locator('.plot[data-drawn] .u-over');
    await plot.scrollIntoViewIfNeeded();
    const { x, y, width, height } = (await plot.boundingBox())!;
    await page.mouse.move(x + 1, y + height / 2);
    await page.mouse.down();
    await page.mouse.move(x + width / 4, y + height / 2, { steps: 4 });
    await page.mouse.up();
    await calls.getByText('Edges 1 to 20', { exact: true }).waitFor();
    await calls.getByRole('button', { name: 'Older' }).click();
    await calls.getByText('Edges 21 to 30', { exact: true }).waitFor();
    await calls.getByRole('button', { name: 'All of its time' }).click();
    await calls.getByText(/^Edges 1 to 20 of/).waitFor();
  });

  test.each(someOf([...INVISIBLE, ...KEYS.map((key) => [key, key] as const)], 11))(
    'opens by its address after a reload: %j',
    async (key, shown) => {
      await go('Person', key);
      await page.reload();
      await isAt(shown);
      const calls = page.getByRole('region', { name: 'Edges of calls' });
      await calls.getByText('Edges 1 to 1 of 1 edge').waitFor();
      // The direction of writing in a key does not reach beyond it.
      expect(await title().evaluate((element) => getComputedStyle(element).unicodeBidi)).toBe('isolate');
      const link = calls.locator('.grid').locator('a.node-link').nth(1);
      expect(await link.locator('bdi').textContent()).toBe(shown);
      await calls.locator('.grid').getByRole('link', { name: 'Ada', exact: true }).first().click();
      await isAt('Ada');
      await page.goBack();
      await isAt(shown);
      expect(await tracesIn(page)).toEqual([]);
    },
  );

  test.each(['Hedy', '..', 'a/b//c/'])('changes attributes of %j, also to null', async (key) => {
    await go('Person', key);
    await isAt(key);
    await page.getByRole('button', { name: 'Change attributes' }).click();
    await page.getByRole('textbox', { name: 'born' }).fill('many');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('born takes an integer, or null.').waitFor();
    await page.getByRole('textbox', { name: 'born' }).fill('1914');
    await page.getByRole('textbox', { name: 'city' }).fill('<i>Wien\u202e</i>');
    await page.getByRole('checkbox', { name: 'null for tall' }).uncheck();
    await page.getByRole('combobox', { name: 'tall' }).selectOption('false');
    await page.getByRole('textbox', { name: 'score' }).fill('0.5');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('button', { name: 'Change attributes' }).waitFor();
    expect(await rowOf(key)).toEqual({ name: key, born: 1914, city: '<i>Wien\u202e</i>', tall: false, score: 0.5 });
    await page.getByRole('button', { name: 'Change attributes' }).click();
    await page.getByRole('checkbox', { name: 'null for city' }).check();
    await page.getByRole('button', { name: 'Save' }).click();
    await page.locator('.fields').getByText('null').waitFor();
    expect(await rowOf(key)).toEqual({ name: key, born: 1914, city: null, tall: false, score: 0.5 });
    expect(await tracesIn(page)).toEqual([]);
  });

  test('is not deleted as long as an edge has it; otherwise it is, after a question', async () => {
    const remove = async () => {
      await page.getByRole('button', { name: /^Delete/ }).click();
      await page.getByRole('button', { name: /^Really delete/ }).click();
    };
    for (const key of ['Ada', '..']) {
      await go('Person', key);
      await isAt(key);
      await remove();
      await page.getByText(/is a member of edges of table \w+; delete these edges first\./).waitFor();
      expect(await rowOf(key)).toBeDefined();
    }
    await go('Person', 'Nobody');
    await isAt('Nobody');
    await page.getByText('In no edge').first().waitFor();
    await remove();
    await page.getByText('The node is deleted').waitFor();
    expect(await rowOf('Nobody')).toBeUndefined();
    await page.reload();
    await page.getByText('Person has no such node').waitFor();
  });

  test('tells a reader that a key of another role is needed to change it', async () => {
    const made = await send('/v1/keys', { role: 'readonly' });
    const { plaintext_key: key } = (await made.json()) as { plaintext_key: string };
    const other = await openWatched(await browser.newContext());
    await signIn(other.page, world.url, key);
    await other.page.goto(`${world.url}/#node/Person/Ada`);
    await other.page.getByRole('button', { name: 'Change attributes' }).click();
    await other.page.getByRole('textbox', { name: 'born' }).fill('1');
    await other.page.getByRole('button', { name: 'Save' }).click();
    await other.page.getByText('Sign in with a key of that role.').waitFor();
    await other.page.context().close();
    expect(await rowOf('Ada')).toMatchObject({ born: 1815 });
  });

  test('shows a number of a table of numbers, with its edges and neighbours', async () => {
    await run('MATCH (e:hyperedges) RETURN * LIMIT 5');
    await page.locator('.grid').getByRole('link', { name: '2', exact: true }).first().click();
    await expect.poll(() => title().textContent()).toBe('2');
    await page.getByText('its nodes have no attributes').waitFor();
    const near = page.getByRole('table', { name: 'Neighbours in hyperedges' });
    await near.getByRole('link', { name: '3', exact: true }).waitFor();
    expect(await near.locator('tr').allInnerTexts()).toEqual([
      expect.stringMatching(/^1\s+2 edges$/),
      expect.stringMatching(/^3\s+1 edge$/),
    ]);
  });

  test('says why an address names no node', async () => {
    for (const [address, sentence] of [
      ['node/Person/%E0%A4%A', 'The address of a node is'],
      ['node/Stranger/x', 'There is no table Stranger'],
      ['node/calls/x', 'The members of calls have names'],
    ]) {
      await page.goto(`${world.url}/#${address}`);
      await page.getByText(sentence!).waitFor();
    }
    await go('Person', 'nobody at all');
    await page.getByText('Person has no such node').waitFor();
  });

  test('is listed at the left by its table, whose nodes are shown as rows', async () => {
    const entry = page.getByRole('button', { name: /^Person \d+ nodes$/ });
    await entry.click();
    const catalog = page.getByRole('complementary');
    await catalog.getByRole('row', { name: 'name TEXT key' }).waitFor();
    await catalog.getByRole('row', { name: 'born INTEGER' }).waitFor();
    await page.locator('.cm-content', { hasText: 'MATCH (n:Person)' }).waitFor();
    await page.locator('.grid').getByRole('link', { name: 'ADA', exact: true }).click();
    await isAt('ADA');
    await page.getByRole('button', { name: 'Room 1 node' }).click();
    await catalog.getByRole('row', { name: 'number INTEGER key' }).waitFor();
    await page.locator('.grid').getByRole('link', { name: '12', exact: true }).click();
    await expect.poll(() => title().textContent()).toBe('12');
  });

  test('causes no browser errors, warnings or requests elsewhere', () => {
    expect(complaints).toEqual([]);
    expect(stray).toEqual([]);
  });
});
