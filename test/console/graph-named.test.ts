import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
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
  writeStatement,
} from './support.ts';

if (REASON_TO_SKIP !== undefined) console.log(`console named graphs: skipped: ${REASON_TO_SKIP}`);

const DAY = 86_400;
const SETUP = [
  'CREATE NODE TABLE Person (name TEXT) PROPERTIES (city TEXT, born INTEGER)',
  'CREATE HYPEREDGE TABLE mail (Person) ROLES (sender, recipient)',
  'CREATE HYPEREDGE TABLE meetings (Person) ROLES (host, speaker, guest)',
  'CREATE HYPEREDGE TABLE jobs (Person) INTERVALS PROPERTIES (title TEXT)',
  'CREATE HYPEREDGE TABLE stays () INTERVALS',
  "INSERT INTO Person (name, city, born) VALUES ('Ada', 'London', 1815), ('Grace', 'Rome', 1906), ('Alan', 'London', 1912), ('Ken', NULL, NULL)",
  "INSERT INTO mail (event_ts, sender, recipient) VALUES (10, ['Ada'], ['Grace']), (20, ['Grace'], ['Ada']), (30, ['Alan'], ['Ada', 'Ken']), (40, ['Ken'], ['Ken'])",
  "INSERT INTO mail (event_ts, members) VALUES (50, ['Alan', 'Grace'])",
  "INSERT INTO meetings (event_ts, members, host, speaker, guest) VALUES (10, ['Ada', 'Grace', 'Alan'], ['Ada'], ['Ada', 'Grace'], [])",
  `INSERT INTO jobs (event_ts, members, end_ts, title) VALUES (0, ['Ada'], ${40 * DAY}, 'a'), (${10 * DAY}, ['Grace'], NULL, 'b'), (${50 * DAY}, ['Alan'], ${100 * DAY}, 'c')`,
];

describe.skipIf(REASON_TO_SKIP !== undefined)('the graph of named tables', { timeout: 60_000 }, () => {
  let world: ConsoleWorld;
  let browser: Browser;
  let page: Page;
  let complaints: string[];

  beforeAll(async () => {
    world = await startConsole();
    for (const query of SETUP) {
      const answer = await fetch(`${world.url}/v1/query`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY },
        body: JSON.stringify({ query }),
      });
      expect([query, answer.status]).toEqual([query, 200]);
    }
    const stays = Array.from({ length: 400 }, (_, at) => ({
      event_ts: at * 1000,
      end_ts: at * 1000 + 50_000,
      members: [at],
    }));
    await sendLines(world.url, 'stays', stays.map((edge) => `${JSON.stringify(edge)}\n`).join(''));
    browser = await openBrowser();
    const context = await browser.newContext({ viewport: { width: 1280, height: 1000 } });
    ({ page, complaints } = await openWatched(context));
    await signIn(page, world.url);
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
  const draw = async (text: string) => {
    await run(text);
    await page.getByRole('tab', { name: 'Graph' }).click();
    await page.locator('.picture').waitFor();
  };
  const written = async () => (await page.locator('.cm-content').textContent()) ?? '';
  const nodeField = () => page.locator('.choice-panel select');
  /** Returns the drawn node with this name. */
  const nodeOf = async (name: string): Promise<Locator> => {
    const value = await nodeField().locator('option', { hasText: name }).getAttribute('value');
    return page.locator(`.picture .node[data-node="${value}"]`);
  };
  const placeOf = async (name: string) => {
    const [x, y] = ((await (await nodeOf(name)).getAttribute('transform')) ?? '').match(/-?[\d.]+/g)!.map(Number);
    return { x: x!, y: y! };
  };
  const radiusOf = async (name: string) => Number(await (await nodeOf(name)).locator('circle').getAttribute('r'));
  const legend = () => page.locator('.legend-entry').allTextContents();
  const switchTheme = (name: 'Dark' | 'Light') => page.getByRole('button', { name: `${name} theme` }).click();

  test('colours nodes by an attribute and by a measure, and sizes them', async () => {
    await draw('MATCH (m:mail) RETURN *');
    await page.getByLabel('Colour by').selectOption({ label: 'city' });
    await expect.poll(legend).toEqual(['London 2 nodes', 'Rome 1 node', 'no value (NULL) 1 node']);
    const looks = await Promise.all(
      ['Ada', 'Grace', 'Alan', 'Ken'].map(async (name) => (await nodeOf(name)).getAttribute('class')),
    );
    expect(looks.map((look) => /category-\d|value-null/.exec(look ?? '')?.[0])).toEqual([
      'category-0',
      'category-1',
      'category-0',
      'value-null',
    ]);
    const fillOf = async (name: string) =>
      (await nodeOf(name)).locator('circle').evaluate((circle) => getComputedStyle(circle).fill);
    expect(await fillOf('Ada')).toBe(await fillOf('Alan'));
    expect(await fillOf('Ada')).not.toBe(await fillOf('Grace'));
    const light = await fillOf('Ada');
    expect(await faultsOf(page)).toEqual([]);
    await switchTheme('Dark');
    expect(await fillOf('Ada')).not.toBe(light);
    expect(await faultsOf(page)).toEqual([]);
    await switchTheme('Light');
    await page.getByRole('button', { name: 'London 2 nodes' }).click();
    expect(await page.locator('.picture-marked .node-marked:not(.node-name)').count()).toBe(2);
    await nodeField().selectOption({ label: 'Grace' });
    await page.locator('.choice-panel').getByText('city: Rome').waitFor();
    await nodeField().selectOption('');

    await page.getByLabel('Size by').selectOption({ label: 'born' });
    await page.getByText('Size: born, 1,815 (small) to 1,912 (large); dots: 1 without a value').waitFor();
    const [ada, grace, alan, ken] = await Promise.all(['Ada', 'Grace', 'Alan', 'Ken'].map(radiusOf));
    expect([ada, alan, ken]).toEqual([8, 20, 4.5]);
    expect(grace).toBeGreaterThan(ada!);
    await page.getByLabel('Colour by').selectOption({ label: 'node_degree from sender to recipient' });
    // Alan and the others send one message, whatever they receive.
    await expect.poll(legend).toEqual(['1 4 nodes']);
    await page.getByLabel('Colour by').selectOption({ label: 'pagerank' });
    await expect.poll(async () => (await legend()).length).toBeGreaterThan(1);
    await expectToFit(page);
  });

  test('reports why values are not shown, and draws the nodes nevertheless', async () => {
    await page.route('**/v1/analytics/mail/closeness', (route) => route.fulfill({ status: 500, body: 'broken' }));
    await page.getByLabel('Colour by').selectOption({ label: 'closeness' });
    await page.getByRole('alert').filter({ hasText: 'closeness is not shown' }).waitFor();
    expect(await page.locator('.picture .node').count()).toBe(4);
    await page.unroute('**/v1/analytics/mail/closeness');
    await page.getByLabel('Colour by').selectOption({ label: 'nothing' });
    await page.getByLabel('Size by').selectOption({ label: 'edges in this result' });
    await page.getByRole('alert').waitFor({ state: 'detached' });
  });

  test('draws two roles as arrows from the first to the second', async () => {
    await page.getByRole('list', { name: 'Roles' }).getByText('from sender to recipient').waitFor();
    /** Returns where the tips of arrow heads are. */
    const tips = async (shape: Locator) =>
      (await shape.locator('.role-head').evaluateAll((heads) => heads.map((head) => head.getAttribute('d')!))).map(
        (path) =>
          path
            .match(/-?[\d.]+/g)!
            .slice(0, 2)
            .map(Number) as [number, number],
      );
    const distance = async ([x, y]: [number, number], name: string) => {
      const place = await placeOf(name);
      return Math.hypot(place.x - x, place.y - y) - (await radiusOf(name));
    };
    // Messages in both directions have a line each, and the edge without roles has none.
    const pairs = page.locator('.picture .edge-pair');
    expect(await pairs.count()).toBe(3);
    const found = await Promise.all((await pairs.all()).map(tips));
    expect(found.map((list) => list.length).sort()).toEqual([0, 1, 1]);
    const [one, other] = found.filter((list) => list.length === 1).map(([tip]) => tip!);
    const near = await Promise.all(
      [one!, other!].map(async (tip) => [await distance(tip, 'Ada'), await distance(tip, 'Grace')]),
    );
    for (const distances of near) expect(Math.min(...distances)).toBeLessThan(3);
    expect(near[0]![0]! < near[0]![1]!).not.toBe(near[1]![0]! < near[1]![1]!);
    // Alan writes to two people; Ken writes to himself.
    const many = page.locator('.picture .edge-many');
    expect(await many.count()).toBe(2);
    const heads = await Promise.all((await many.all()).map(tips));
    expect(heads.map((list) => list.length).sort()).toEqual([1, 2]);
    const two = heads.find((list) => list.length === 2)!;
    const ends = await Promise.all(
      ['Ada', 'Ken'].map(async (name) => Math.min(...(await Promise.all(two.map((tip) => distance(tip, name)))))),
    );
    for (const end of ends) expect(end).toBeLessThan(3);
    expect(await many.locator('.role-dot').count()).toBe(2);
    await page.getByRole('button', { name: 'Links' }).click();
    expect(await page.locator('.picture .role-head').count()).toBe(5);
    await page.getByRole('button', { name: 'Hulls' }).click();
  });

  test('shows roles in lists and in the dialog of an edge', async () => {
    await page.getByText('The picture as a list').click();
    const list = page.locator('.edge-list');
    await list.getByText('Ada (recipient) · Alan (sender) · Ken (recipient)').waitFor();
    await list.getByText('Ken (sender, recipient)').waitFor();
    await list.getByText('Grace · Alan', { exact: true }).waitFor();
    await list.getByRole('button', { name: 'HEDGE-3' }).click();
    const fields = page.getByRole('dialog').locator('.fields > div');
    await fields
      .filter({ hasText: /^recipient/ })
      .getByText(/Ada.*Ken/)
      .waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    await nodeField().selectOption({ label: 'Alan' });
    await page.locator('.choice-panel').getByText('Ada (recipient) · Alan (sender) · Ken (recipient)').waitFor();
    await page.getByRole('button', { name: 'Expand: fetch its edges' }).click();
    // The edges that are fetched have the same roles, and are those that are drawn already.
    await page.getByText('4 nodes in 5 edges.').waitFor();
  });

  test('draws other roles as marks with a legend', async () => {
    await draw('MATCH (m:meetings) RETURN m');
    expect(await page.getByRole('list', { name: 'Roles' }).getByRole('listitem').allTextContents()).toEqual([
      'host',
      'speaker',
      'guest',
    ]);
    const marks = await page
      .locator('.picture .role-mark')
      .evaluateAll((all) => all.map((mark) => mark.getAttribute('class')));
    expect(marks.map((look) => /hue-\d/.exec(look ?? '')![0]).sort()).toEqual(['hue-0', 'hue-1', 'hue-1']);
    await page.locator('.edge-list').getByText('Ada (host, speaker) · Grace (speaker) · Alan').waitFor();
    expect(await faultsOf(page)).toEqual([]);
  });

  test('draws intervals as bars in the strip of time, and lists from when to when edges hold', async () => {
    await draw('MATCH (j:jobs) RETURN *');
    const bars = page.locator('.strip-bar');
    await expect.poll(() => bars.count()).toBe(3);
    const titles = await bars.locator('title').allTextContents();
    expect(titles).toEqual([
      'HEDGE-1: 1970-01-01 00:00:00 – 1970-02-10 00:00:00',
      'HEDGE-2: 1970-01-11 00:00:00 – still holds',
      'HEDGE-3: 1970-02-20 00:00:00 – 1970-04-11 00:00:00',
    ]);
    const open = page.locator('.strip-bar-open');
    expect(await open.count()).toBe(1);
    const [x, width] = await Promise.all([open.getAttribute('x'), open.getAttribute('width')]);
    expect(Number(x) + Number(width)).toBeCloseTo(1000, 1);
    await page.locator('.strip').getByText('3 edges, 1 edge without an end, times in UTC').waitFor();
    const list = page.locator('.edge-list');
    await list.getByText('1 edge, 1970-01-01 00:00:00 – 1970-02-10 00:00:00').waitFor();
    await list.getByText('1 edge, 1970-01-11 00:00:00 – still holds').waitFor();
    await list.getByRole('button', { name: 'HEDGE-2' }).click();
    await page.getByRole('dialog').getByText('it still holds').waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
  });

  test('lets a window be brushed over the bars', async () => {
    await page.locator('.strip').scrollIntoViewIfNeeded();
    const box = (await page.locator('.strip .u-over').boundingBox())!;
    await page.mouse.move(box.x + 2, box.y + box.height / 2);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width / 3, box.y + box.height / 2, { steps: 5 });
    await page.mouse.up();
    await expect.poll(written).toMatch(/WHERE j\.event_ts BETWEEN \d+ AND \d+ RETURN/);
    // Only Grace's job begins in this window.
    await page.getByText('1 node in 1 edge.').waitFor();
    await page.getByRole('button', { name: 'All of time' }).click();
    await page.getByText('3 nodes in 3 edges.').waitFor();
  });

  test('shows what holds at the moment of the slider', async () => {
    const slider = page.getByRole('slider', { name: 'As of' });
    const moment = page.locator('.as-of output');
    expect(await moment.textContent()).toBe('any time');
    const place = await placeOf('Alan');
    await slider.focus();
    // The slider begins at the right. Alan's job is over in the last second, Grace's goes on.
    await page.keyboard.press('End');
    await page.keyboard.press('ArrowLeft');
    await expect.poll(written).toBe(`MATCH (j:jobs) WHERE holds(j, ${100 * DAY - 8640}) RETURN *`);
    await page.getByText('2 nodes in 2 edges.').waitFor();
    expect(await moment.textContent()).toBe('1970-04-10 21:36:00 UTC');
    expect(await slider.getAttribute('aria-valuetext')).toBe('1970-04-10 21:36:00 UTC');
    // Nodes that stay keep their places.
    expect(await placeOf('Alan')).toEqual(place);
    await page.keyboard.press('Home');
    await expect.poll(written).toBe('MATCH (j:jobs) WHERE holds(j, 0) RETURN *');
    await page.getByText('1 node in 1 edge.').waitFor();
    expect(await nodeField().locator('option').allTextContents()).toEqual(['none pinned', 'Ada']);
    expect(await page.locator('.strip-moment').count()).toBe(1);
    await page.getByLabel('Moment').fill('1970-03-01T00:00:00');
    await expect.poll(written).toBe(`MATCH (j:jobs) WHERE holds(j, ${59 * DAY}) RETURN *`);
    await page.getByText('2 nodes in 2 edges.').waitFor();
    const past = await page.getByLabel('Earlier statements').locator('option').allTextContents();
    expect(past.filter((text) => text.includes('holds'))).toHaveLength(1);
    expect(await faultsOf(page)).toEqual([]);
    await expectToFit(page);
    await page.setViewportSize({ width: 390, height: 800 });
    await expectToFit(page);
    await page.setViewportSize({ width: 1280, height: 1000 });
  });

  test('follows the moment that is written in the statement', async () => {
    await run("MATCH (j:jobs) WHERE holds(j, '1970-01-21') AND j.title <> 'x' RETURN *");
    await page.getByText('2 nodes in 2 edges.').waitFor();
    const moment = page.locator('.as-of output');
    expect(await moment.textContent()).toBe('1970-01-21 00:00:00 UTC');
    expect(await page.getByRole('slider', { name: 'As of' }).inputValue()).toBe('200');
    // Only what holds then is fetched for a node.
    await nodeField().selectOption({ label: 'Ada' });
    await page.getByRole('button', { name: 'Expand: fetch its edges' }).click();
    await page.getByRole('button', { name: 'Any time' }).click();
    await expect.poll(written).toBe("MATCH (j:jobs) WHERE j.title <> 'x' RETURN *");
    await page.getByText('3 nodes in 3 edges.').waitFor();
    expect(await moment.textContent()).toBe('any time');
    await writeStatement(page, 'MATCH (m:mail) RETURN *');
    await page.getByText('for a statement that reads jobs').waitFor();
    expect(await page.getByRole('slider', { name: 'As of' }).isDisabled()).toBe(true);
    expect(await page.getByLabel('Moment').isDisabled()).toBe(true);
  });

  test('counts the edges that hold if they are too many for bars', async () => {
    await run('MATCH (s:stays) RETURN * LIMIT 5');
    await page.locator('.strip').getByText('400 edges, how many hold, times in UTC').waitFor();
    expect(await page.locator('.strip-bar').count()).toBe(0);
    await page
      .getByRole('img', { name: /^400 edges of stays .* How many edges hold, until 1970-01-06 04:43:20\./ })
      .waitFor();
    expect(await page.getByRole('slider', { name: 'As of' }).isEnabled()).toBe(true);
    // Tables without intervals have no slider.
    await run('MATCH (m:mail) RETURN *');
    await page.getByRole('slider', { name: 'As of' }).waitFor({ state: 'detached' });
    expect(complaints).toEqual([]);
  });
});
