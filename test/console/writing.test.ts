import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Table } from '../../src/client/index.ts';
import { columnKinds } from '../../src/console/query/column-kinds.ts';
import { kindIn, valueIn } from '../../src/console/query/parameter-values.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  sendLines,
  signIn,
  startConsole,
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console, writing statements: skipped: ${REASON_TO_SKIP}`);

describe('the columns with times and members', () => {
  const of = (statement: string, columns: string[], types?: Record<string, string>) =>
    Object.fromEntries(
      [...columnKinds({ statement, columns, types })].map(([name, { kind, table }]) => [name, `${kind} of ${table}`]),
    );

  test('are found in the statement when the answer contains no types', () => {
    expect(of('MATCH (e:mail) RETURN *', ['id', 'event_ts', 'members'])).toEqual({
      event_ts: 'time of mail',
      members: 'members of mail',
    });
    expect(
      of('MATCH (a:mail), (b:ships) RETURN a.members, b.members AS crew, b.event_ts AS at, size(b.members) AS n', [
        'a.members',
        'crew',
        'at',
        'n',
      ]),
    ).toEqual({ 'a.members': 'members of mail', crew: 'members of ships', at: 'time of ships' });
    expect(
      of('MATCH (e:mail) RETURN MIN(e.event_ts) AS first, SUM(e.event_ts) AS total, COUNT(*) AS n', [
        'first',
        'total',
        'n',
      ]),
    ).toEqual({ first: 'time of mail' });
  });

  test('are found by their types when the answer contains types', () => {
    expect(of('SHOW TABLES', ['a', 'event_ts'], { a: 'TIME', event_ts: 'INTEGER' })).toEqual({
      a: 'time of undefined',
    });
  });
});

describe('the value of a parameter', () => {
  test('has the kind that its place in the statement requires', () => {
    const tables = [{ name: 'mail', columns: [{ name: 'urgent', type: 'BOOLEAN' }] }] as unknown as Table[];
    const kind = (condition: string) => kindIn(`MATCH (e:mail) WHERE ${condition}`, 'p', tables);
    expect(
      Object.fromEntries(
        [
          'e.id = $p RETURN *',
          '$p < e.weight RETURN *',
          'e.event_ts BETWEEN 1 AND $p RETURN *',
          "e.formation = $p AND 'x' = $q RETURN *",
          '$p IN e.members RETURN *',
          'e.id IN $p RETURN *',
          'size(e.members) > $p RETURN *',
          'e.note CONTAINS $p RETURN *',
          'e.urgent = $p RETURN *',
          'e.id = 1 RETURN * LIMIT $p',
          "e.formation = '$p' AND e.none = $p RETURN *",
        ].map((condition) => [condition, kind(condition)]),
      ),
    ).toEqual({
      'e.id = $p RETURN *': 'number',
      '$p < e.weight RETURN *': 'number',
      'e.event_ts BETWEEN 1 AND $p RETURN *': 'time',
      "e.formation = $p AND 'x' = $q RETURN *": 'text',
      '$p IN e.members RETURN *': 'number',
      'e.id IN $p RETURN *': 'list',
      'size(e.members) > $p RETURN *': 'number',
      'e.note CONTAINS $p RETURN *': 'text',
      'e.urgent = $p RETURN *': 'boolean',
      'e.id = 1 RETURN * LIMIT $p': 'number',
      "e.formation = '$p' AND e.none = $p RETURN *": 'any',
    });
  });

  test('is parsed according to its kind, or refused with a sentence', () => {
    expect([
      valueIn('p', { text: ' 12.5 ' }, 'number'),
      valueIn('p', { text: '12' }, 'text'),
      valueIn('p', { text: '2024-05-13' }, 'time'),
      valueIn('p', { text: '1715594400' }, 'time'),
      valueIn('p', { text: '1, b, true' }, 'list'),
      valueIn('p', { text: '[1, [2]]' }, 'list'),
      valueIn('p', { text: 'it' }, 'any'),
      valueIn('p', { text: '-3' }, 'any'),
      valueIn('p', { text: '', kind: 'text' }, 'text'),
      valueIn('p', { text: '' }, 'null'),
    ]).toEqual([12.5, '12', 1715558400, 1715594400, [1, 'b', true], [1, [2]], 'it', -3, '', null]);
    expect(() => valueIn('p', { text: '' }, 'text')).toThrow('Give $p a value in its field below the statement.');
    expect(() => valueIn('p', { text: 'x' }, 'number')).toThrow('$p is a number, not x.');
    expect(() => valueIn('p', { text: '30 February' }, 'time')).toThrow('$p is a time');
    expect(() => valueIn('p', { text: '[1' }, 'list')).toThrow('$p is a list');
  });
});

describe.skipIf(REASON_TO_SKIP !== undefined)('the query view', { timeout: 60_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    world = await startConsole();
    for (const [table, names, start] of [
      ['mail', ['Ada', 'Grace'], 980_000_000],
      ['ships', ['Argo', 'Beagle'], 1_500_000_000],
    ] as const) {
      await send('/v1/tables', { name: table, columns: [{ name: 'note', type: 'TEXT' }] });
      await send('/v1/tables', { name: `${table}_nodes`, columns: [{ name: 'vertex', type: 'TEXT' }] });
      const lines = Array.from({ length: table === 'mail' ? 8 : 4 }, (_, at) =>
        JSON.stringify({ event_ts: start + at * 86_400, members: [1, 2], note: `n${at}` }),
      );
      await sendLines(world.url, table, `${lines.join('\n')}\n`);
      const nodes = names.map((vertex, at) => JSON.stringify({ event_ts: 0, members: [at + 1], vertex }));
      await sendLines(world.url, `${table}_nodes`, `${nodes.join('\n')}\n`);
    }
    browser = await openBrowser();
    ({ page, complaints } = await openWatched(await browser.newContext({ viewport: { width: 1280, height: 900 } })));
    await signIn(page, world.url);
    await page.locator('.grid tbody tr').first().waitFor();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  async function send(path: string, body: unknown): Promise<void> {
    const answer = await fetch(world.url + path, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }
  const run = async (text: string) => {
    await writeStatement(page, text);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  };
  const written = () => page.locator('.cm-line').allTextContents();
  const offered = () => page.locator('.cm-tooltip-autocomplete li');

  test('offers aliases first but selects none: Enter breaks the line, and Tab takes the first', async () => {
    await writeStatement(page, 'MATCH (mailing:mail) RETURN ');
    await page.keyboard.type('m');
    await offered().first().waitFor();
    expect(await offered().first().textContent()).toContain('mailing');
    expect(await page.locator('.cm-tooltip-autocomplete li[aria-selected]').count()).toBe(0);
    // Just after the list has opened, the library ignores keys that accept a completion.
    await page.waitForTimeout(200);
    await page.keyboard.press('Enter');
    expect(await written()).toEqual(['MATCH (mailing:mail) RETURN m', '']);
    await page.keyboard.press('Backspace');
    await page.keyboard.type('a');
    await offered().first().waitFor();
    await page.waitForTimeout(200);
    await page.keyboard.press('Tab');
    expect(await written()).toEqual(['MATCH (mailing:mail) RETURN mailing']);
  });

  test('closes the completion after a complete word, and does not change new names', async () => {
    await writeStatement(page, 'MATCH (e:mail) RETURN ');
    await page.keyboard.type('e.not', { delay: 30 });
    await offered().filter({ hasText: 'note' }).waitFor();
    await page.keyboard.type('e');
    await offered().first().waitFor({ state: 'detached' });
    await page.keyboard.type(' AS', { delay: 30 });
    await offered().first().waitFor({ state: 'detached' });
    await page.keyboard.type(' ord', { delay: 30 });
    expect(await offered().count()).toBe(0);
    await page.keyboard.press('Enter');
    expect(await written()).toEqual(['MATCH (e:mail) RETURN e.note AS ord', '']);
  });

  test('makes the time strip, the names and the list on the left follow the table of the statement', async () => {
    await page.getByRole('button', { name: /^mail / }).click();
    await page.getByRole('region', { name: 'Time of mail' }).waitFor();
    await run(
      'MATCH (s:ships) WHERE s.event_ts BETWEEN 1500000000 AND 1500100000 RETURN s.members AS crew, s.event_ts AS sailed',
    );
    await page.getByRole('cell', { name: 'Argo · Beagle' }).first().waitFor();
    await page.getByRole('cell', { name: '2017-07-14 02:40:00' }).waitFor();
    await page.getByRole('region', { name: 'Time of ships' }).waitFor();
    expect(await page.getByRole('button', { name: /^ships / }).getAttribute('aria-pressed')).toBe('true');
    await expect.poll(() => page.getByRole('textbox', { name: 'From' }).inputValue()).toBe('2017-07-14T02:40');
    await run('MATCH (e:mail) RETURN *');
    await page.getByRole('cell', { name: 'Ada · Grace' }).first().waitFor();
    await page.getByRole('region', { name: 'Time of mail' }).waitFor();
    // A statement that the user has edited is kept when another table is selected on the left.
    await run('MATCH (e:mail) WHERE e.event_ts BETWEEN 980000000 AND 980100000 RETURN e.id');
    await page.getByRole('button', { name: /^ships / }).click();
    await page.getByRole('region', { name: 'Time of ships' }).waitFor();
    expect(await written()).toEqual(['MATCH (e:mail) WHERE e.event_ts BETWEEN 980000000 AND 980100000 RETURN e.id']);
  });

  test('has fields for parameters, of the kind that the statement needs', async () => {
    await writeStatement(page, 'MATCH (e:mail) WHERE e.event_ts >= $since AND e.note = $what RETURN e.note AS it');
    const since = page.getByRole('textbox', { name: '$since', exact: true });
    await since.waitFor();
    expect(await page.getByLabel('Kind of $since').inputValue()).toBe('time');
    expect(await page.getByLabel('Kind of $what').inputValue()).toBe('text');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('Give $since a value in its field below the statement.').waitFor();
    await since.fill('2001-01-20T14:13:20Z');
    await page.getByRole('textbox', { name: '$what', exact: true }).fill('n3');
    await page.getByRole('textbox', { name: '$what', exact: true }).press('Enter');
    await page.getByRole('cell', { name: 'n3', exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Plan' }).click();
    await page.getByRole('button', { name: /^Run it and show/ }).click();
    await page.getByText('Rows found', { exact: true }).waitFor();
    await page.getByRole('tab', { name: 'Rows' }).click();
    const file = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    await file;
    await page.getByText('1 row written').waitFor();
    await page.getByLabel('Kind of $what').selectOption('null');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByText('No rows').first().waitFor();
  });

  test('shows rows again after EXPLAIN, but leaves a plan open that the user opened', async () => {
    const isShown = (name: string) => page.getByRole('tab', { name, selected: true }).waitFor();
    await run('MATCH (e:mail) RETURN e.id');
    await isShown('Rows');
    await run('EXPLAIN MATCH (e:mail) RETURN e.id');
    await isShown('Plan');
    await run('ANALYZE MATCH (e:mail) RETURN e.id');
    await isShown('Plan');
    await run('MATCH (e:mail) RETURN e.id LIMIT 3');
    await isShown('Rows');
    await expect.poll(() => page.locator('.grid tbody tr').count()).toBe(3);
    await page.getByRole('tab', { name: 'Plan' }).click();
    await run('MATCH (e:mail) RETURN e.id LIMIT 4');
    await isShown('Plan');
    await page.getByRole('tab', { name: 'Rows' }).click();
  });

  test('reports names beyond the maximum as omitted', async () => {
    const rows = Array.from({ length: 20_001 }, (_, at) => ({ members: [at + 1], name: `node ${at + 1}` }));
    await page.route('**/v1/query', (route) =>
      (route.request().postDataJSON() as { query: string }).query.includes('mail_nodes')
        ? route.fulfill({ json: { columns: ['members', 'name'], rows, num_tuples: rows.length, query_plan: null } })
        : route.continue(),
    );
    await run('MATCH (e:mail) RETURN *');
    expect(await page.getByText('The names of').count()).toBe(0);
    await page.reload();
    await page.getByText('The names of 20,000 nodes of mail are shown, the other nodes by their numbers.').waitFor();
    await page.unroute('**/v1/query');
  });

  test('keeps a draft until the sign-out; a reload runs it only if the user had run it and it only reads', async () => {
    const statement = 'MATCH (s:ships) WHERE s.note = $kept RETURN s.note AS kept';
    await writeStatement(page, statement);
    await page.getByRole('textbox', { name: '$kept', exact: true }).fill('n2');
    await page.reload();
    await expect.poll(written).toEqual([statement]);
    await page.getByRole('region', { name: 'Time of ships' }).waitFor();
    await page.locator('.strip .plot[data-drawn]').waitFor();
    expect(await page.getByRole('region', { name: 'Result' }).count()).toBe(0);
    expect(await page.getByRole('textbox', { name: '$kept', exact: true }).inputValue()).toBe('n2');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.getByRole('cell', { name: 'n2', exact: true }).waitFor();
    await page.reload();
    await page.getByRole('cell', { name: 'n2', exact: true }).waitFor();
    // A reload does not run a statement that writes.
    await run("INSERT INTO ships (event_ts, members, note) VALUES (1500000000, [1], 'new')");
    await page.getByText('1', { exact: true }).first().waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'ships 5 edges' }).waitFor();
    await expect.poll(written).toEqual([expect.stringContaining('INSERT INTO ships')]);
    await page.getByRole('link', { name: 'Rules', exact: true }).click();
    const rule = page.getByRole('textbox', { name: 'Rule', exact: true });
    await rule.fill(`${await rule.inputValue()} `);
    await page.getByRole('link', { name: 'Ask', exact: true }).click();
    await page.locator('#question').fill('Who sailed?');
    await page.reload();
    expect(await page.locator('#question').inputValue()).toBe('Who sailed?');
    await page.getByRole('link', { name: 'Rules', exact: true }).click();
    expect(await rule.inputValue()).toMatch(/\} $/);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API key').waitFor();
    expect(await page.evaluate(() => [sessionStorage.length, localStorage.length])).toEqual([0, 0]);
  });

  test('causes no browser errors or warnings', () => {
    expect(complaints).toEqual([]);
  });
});
