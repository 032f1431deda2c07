import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { NodeTable, Table } from '../../src/client/index.ts';
import { faultsOf } from './axe.ts';
import { tracesIn } from './hostile.ts';
import {
  ADMIN_KEY,
  type ConsoleWorld,
  expectToFit,
  openBrowser,
  openWatched,
  REASON_TO_SKIP,
  signIn,
  startConsole,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console, imports with names: skipped: ${REASON_TO_SKIP}`);

/** Names that are keys of nodes as they are. */
const NAMES = [
  'a/b',
  '..',
  '.',
  '<img src=x onerror=ran=1>',
  '\u202egnorw\u202c',
  '👩‍👩‍👧 🌳',
  '"q" \'p\'',
  '__proto__',
];

describe.skipIf(REASON_TO_SKIP !== undefined)('an import with names', { timeout: 90_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    world = await startConsole();
    browser = await openBrowser();
    ({ page, complaints } = await openWatched(await browser.newContext({ viewport: { width: 1280, height: 900 } })));
    await signIn(page, world.url);
    await page.getByText('holds no edges yet').first().waitFor();
  }, 60_000);
  afterAll(async () => {
    await browser?.close();
    await world?.close();
  });

  async function ask<T>(path: string, body?: unknown): Promise<T> {
    const answer = await fetch(world.url + path, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'x-api-key': ADMIN_KEY, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(await answer.text());
    return (await answer.json()) as T;
  }
  const rowsOf = async (query: string) => (await ask<{ rows: Record<string, unknown>[] }>('/v1/query', { query })).rows;
  const tableOf = async (name: string) => (await ask<Table[]>('/v1/tables')).find((table) => table.name === name);
  const choose = async (name: string, text: string) => {
    await page.getByRole('link', { name: 'Import', exact: true }).click();
    const buffer = Buffer.from(text);
    await page.locator('input[type=file]').setInputFiles({ name, mimeType: 'text/csv', buffer });
    await page.getByRole('heading', { name }).waitFor();
  };
  const quoted = (cell: string) => `"${cell.replaceAll('"', '""')}"`;

  test('makes a node table and a named table, with hostile names as keys', async () => {
    await choose(
      'talks.csv',
      `time,from,to,minutes\n${NAMES.map((name, at) => `${at},${quoted(name)},Ada,5\n`).join('')}`,
    );
    await page.getByText('nodes go to talks_node, made anew').waitFor();
    expect(await page.getByLabel('Nodes go to').inputValue()).toBe('talks_node');
    await page.getByRole('button', { name: `Import ${NAMES.length} edges` }).click();
    await page.getByText(`${NAMES.length} edges of ${NAMES.length} written to talks.`).waitFor();
    expect(await tableOf('talks')).toMatchObject({
      nodes: 'named',
      member_tables: ['talks_node'],
      row_count: NAMES.length,
    });
    expect(await tableOf('talks_nodes')).toBeUndefined();
    const nodes = await rowsOf('MATCH (n:talks_node) RETURN n.name AS name');
    expect(nodes.map(({ name }) => name).sort()).toEqual([...NAMES, 'Ada'].sort());
    await page.getByRole('button', { name: 'Look at them' }).click();
    await page.locator('.grid').getByRole('link', { name: '..', exact: true }).click();
    await expect.poll(() => page.locator('.node-title bdi').textContent()).toBe('..');
    expect(await tracesIn(page)).toEqual([]);
  });

  test('takes a second file with the attributes of the nodes', async () => {
    const rows = NAMES.map((name, at) => `${quoted(name)},${1900 + at},${quoted(`of ${name}`)}\n`).join('');
    await choose('people.csv', `name,born,note\n${rows},1,no key\n`);
    expect(await page.getByLabel('Each row is').inputValue()).toBe('nodes');
    expect(await page.getByLabel('Into node table').inputValue()).toBe('talks_node');
    await page.getByText('those whose key it has are replaced; it gets the columns born, note').waitFor();
    await page.getByText('1 row will be left out').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.setViewportSize({ width: 360, height: 900 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.getByRole('button', { name: `Import ${NAMES.length} nodes` }).click();
    await page.getByText(`${NAMES.length} nodes of ${NAMES.length} written to talks_node.`).waitFor();
    const nodes = await rowsOf('MATCH (n:talks_node) WHERE n.born IS NOT NULL RETURN * ORDER BY n.born');
    expect(nodes).toEqual(NAMES.map((name, at) => ({ name, born: 1900 + at, note: `of ${name}` })));
    await page.getByRole('button', { name: 'Look at them' }).click();
    await page.locator('.grid').getByRole('cell', { name: '1900', exact: true }).waitFor();
    expect(await tracesIn(page)).toEqual([]);
  });

  test('makes a node table of a file of nodes', async () => {
    await choose('places.csv', 'id,city\n3,Rome\n4,Delft\n');
    await page.getByLabel('Into node table').fill('Place');
    await page.getByText('Place will be made, with the key id (INTEGER).').waitFor();
    await page.getByRole('button', { name: 'Import 2 nodes' }).click();
    await page.getByText('2 nodes of 2 written to Place.').waitFor();
    const made = (await ask<NodeTable[]>('/v1/node-tables')).find(({ name }) => name === 'Place');
    expect(made).toMatchObject({ key: { name: 'id', type: 'INTEGER' }, columns: [{ name: 'city' }], row_count: 2 });
    await page.getByRole('button', { name: 'Place 2 nodes' }).waitFor();
  });

  test('gives columns roles and kinds, and edges an end', async () => {
    await choose(
      'stays.csv',
      'time,guest,place,left\n2024-03-01,Ada,3,2024-05-01\n2024-04-01,Grace,4,\n2024-04-02,Eve,9,2024-01-01\n',
    );
    const members = page.getByRole('group', { name: 'Members' });
    for (const column of ['guest', 'place']) await members.getByLabel(column, { exact: true }).setChecked(true);
    await page.getByLabel('Ends').selectOption('left');
    await page.getByText('Roles and kinds').click();
    await page.getByLabel('Role of guest').fill('two words');
    await page.getByText('Roles and node tables have names of at most 64 letters').waitFor();
    expect(await page.getByRole('button', { name: 'Import 2 edges' }).isDisabled()).toBe(true);
    await page.getByLabel('Role of guest').fill('tenant');
    await page.getByLabel('Role of place').fill('home');
    await page.getByLabel('Node table of place').fill('Place');
    await page.getByLabel('Nodes go to').fill('talks_node');
    await page.getByRole('cell', { name: 'Ada (talks_node) (tenant) · 3 (Place) (home)' }).waitFor();
    await page.getByRole('cell', { name: 'still holds' }).waitFor();
    await page.getByText('1 row will be left out').click();
    await page.getByText('Row 3 ends before it begins.').waitFor();
    expect(await faultsOf(page)).toEqual([]);
    await page.getByRole('button', { name: 'Import 2 edges' }).click();
    await page.getByText('2 edges of 2 written to stays.').waitFor();
    expect(await tableOf('stays')).toMatchObject({
      member_tables: ['talks_node', 'Place'],
      roles: ['tenant', 'home'],
      intervals: true,
    });
    expect(
      await rowsOf(
        'MATCH (s:stays) RETURN s.event_ts AS at, s.end_ts AS until, s.tenant AS who, s.home AS home ORDER BY at',
      ),
    ).toEqual([
      {
        at: 1_709_251_200,
        until: 1_714_521_600,
        who: [{ kind: 'talks_node', key: 'Ada' }],
        home: [{ kind: 'Place', key: 3 }],
      },
      {
        at: 1_711_929_600,
        until: null,
        who: [{ kind: 'talks_node', key: 'Grace' }],
        home: [{ kind: 'Place', key: 4 }],
      },
    ]);
  });

  test('is refused before it begins where the table cannot take it', async () => {
    await choose('hyperedges.csv', 'time,from,to\n1,Ada,Grace\n');
    await page.getByText('hyperedges holds numbers, but these nodes have names').waitFor();
    expect(await page.getByRole('button', { name: 'Import 1 edge' }).isDisabled()).toBe(true);
    await page.getByLabel('Into table').fill('talks');
    await page.getByText('talks is there: the edges are added to it.').waitFor();
    await page.getByRole('button', { name: 'Import 1 edge' }).click();
    await page.getByText('1 edge of 1 written to talks.').waitFor();
    expect(await rowsOf("MATCH (t:talks) WHERE 'Grace' IN t.members RETURN t.members AS members")).toEqual([
      { members: ['Ada', 'Grace'] },
    ]);
  });

  test('causes no browser errors or warnings', () => {
    expect(complaints).toEqual([]);
  });
});
