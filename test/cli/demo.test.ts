import { spawn } from 'node:child_process';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DemoFlags, demoCommand } from '../../src/cli/demo/command.ts';
import { DEMO_RULES } from '../../src/cli/demo/rules.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { openBrowser, openWatched, REASON_TO_SKIP } from '../console/support.ts';
import { startServer } from '../http/support.ts';
import { MAIN } from '../service/child.ts';
import { lookInto, rowsOf, TestWorld } from './support.ts';

let world: TestWorld;
const stops: (() => void)[] = [];

beforeEach(() => {
  world = new TestWorld();
});
afterEach(() => {
  for (const stop of stops.splice(0)) stop();
  world.remove();
});

interface Invited {
  console: string;
  key: string;
  curls: { url: string; body: string | undefined; key: string | undefined }[];
}

/** Parses the text that the demo prints at the end. */
function invitedBy(text: string): Invited {
  const curls = [
    ...text.matchAll(
      /^ {2}curl -s (?:-H "X-API-Key: ([^"]+)" )?(?:-H 'Content-Type: application\/json' (\S+) -d '([^']+)'|'(\S+)')$/gm,
    ),
  ];
  return {
    console: /^Console: +(\S+)$/m.exec(text)?.[1] ?? '',
    key: /^Key: +(\S+)$/m.exec(text)?.[1] ?? '',
    curls: curls.map(([, key, url, body, address]) => ({ key, url: url ?? address!, body })),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form.
async function answersOf({ curls }: Invited, key: string | undefined): Promise<any[]> {
  return Promise.all(
    curls.map(async ({ url, body }) => {
      const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) };
      const response = await fetch(url, body === undefined ? { headers } : { method: 'POST', headers, body });
      const answer = await response.json();
      expect([url, body, response.status, answer.detail]).toEqual([url, body, 200, undefined]);
      return answer;
    }),
  );
}

/**
 * Checks that every printed request finds something. `isTiny`: in a town of 20 people on one day,
 * what needs several meetings of one person may be missing.
 */
async function expectAnswers(invited: Invited, key: string | undefined, isTiny = false): Promise<void> {
  expect(invited.curls).toHaveLength(7);
  const [asked, atTime, guests, uninvited, together, measure, reason] = await answersOf(invited, key);
  const home = /Who lived at (.+) in March 2024\?/.exec(invited.curls[0]!.body!)![1]!;
  const person = /"(?:query)":"(.+) between /.exec(invited.curls[6]!.body!)![1]!;
  expect(asked.answer).toContain(`:${person}", "`);
  expect(asked.answer).toContain(`:${home}")`);
  expect(asked.understood.ignored).toEqual([]);
  expect(atTime.hyperedges).toHaveLength(1);
  const tenants = atTime.hyperedges[0].roles.tenant.map(({ key: name }: { key: string }) => name);
  expect(tenants).toContain(person);
  expect(guests.rows.length).toBeGreaterThan(0);
  const homes = guests.rows.flatMap((row: Record<string, { key: string }[]>) => row['t.home']!);
  expect(homes.every((one: { kind: string }) => /place$/i.test(one.kind))).toBe(true);
  expect(uninvited.rows.length).toBeGreaterThan(0);
  expect(Object.keys(measure.result).length).toBeGreaterThan(isTiny ? 0 : 4);
  expect(reason.understood.nodes).toEqual([person]);
  expect(reason.all_edges.length).toBeGreaterThan(0);
  if (isTiny) return;
  expect(together.rows.length).toBeGreaterThan(0);
  expect(reason.rules_fired).toContain('rule:invited_from');
  expect(reason.proofs[0].nodes.length).toBeGreaterThan(4);
}

interface Serving {
  invited: Invited;
  /** The output on stdout so far. */
  out: string;
  /** Sends Ctrl-C and resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Runs the built command in the test's directory until it reports that it serves. */
async function serving(flags: readonly string[]): Promise<Serving> {
  const child = spawn(process.execPath, [MAIN, 'demo', ...flags], {
    cwd: world.cwd,
    env: { PATH: process.env.PATH ?? '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  stops.push(() => child.kill('SIGKILL'));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  let out = '';
  let errors = '';
  child.stderr.on('data', (text) => {
    errors += text;
  });
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', (text) => {
      out += text;
      if (out.endsWith('\n\n') && out.includes('pagerank')) resolve();
    });
    void ended.then((code) => reject(new Error(`the demo ended (${code}): ${errors}`)));
  });
  return {
    out,
    invited: invitedBy(out),
    stop: () => {
      child.kill('SIGINT');
      return ended;
    },
  };
}

/** Runs the command in this process until it reports that it serves. */
async function servingHere(flags: DemoFlags, lastText = 'pagerank'): Promise<Serving> {
  const from = world.out.length;
  const { write } = world.stdout;
  stops.push(() => world.interrupt?.());
  let ended: Promise<number> | undefined;
  await new Promise<void>((resolve, reject) => {
    world.stdout.write = (text) => {
      write(text);
      if (text.includes(lastText)) resolve();
    };
    ended = demoCommand(flags, world);
    void ended.then((code) => reject(new Error(`the demo ended (${code}): ${world.err}`)));
  });
  const out = world.out.slice(from);
  return {
    out,
    invited: invitedBy(out),
    stop: () => {
      world.interrupt!();
      return ended!;
    },
  };
}

const SMALL = { people: '200', days: '7', seed: '5', port: '0' };

test('the demo starts a server when there is none, and another run uses the same meetings', async () => {
  const first = await serving(['--people', '200', '--days', '7', '--seed', '5', '--port', '0']);
  const { console: address, key, curls } = first.invited;
  expect(address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect(curls[0]!.key).toBe(key);
  await expectAnswers(first.invited, key);
  expect((await fetch(`${address}v1/rules`)).status).toBe(401);
  const { rules } = await (await fetch(`${address}v1/rules`, { headers: { 'x-api-key': key } })).json();
  expect(rules).toHaveLength(DEMO_RULES.length);
  expect(await first.stop()).toBe(0);

  const second = await servingHere(SMALL);
  expect(second.out).toMatch(/are in the table meetings already/);
  expect(second.invited.key).not.toBe(key);
  const old = await fetch(`${second.invited.console}v1/tables`, { headers: { 'x-api-key': key } });
  expect(old.status).toBe(401);
  await expectAnswers(second.invited, second.invited.key);
  expect(await second.stop()).toBe(0);
  expect(await demoCommand({ ...SMALL, seed: '6' }, world)).toBe(1);
  expect(world.err).toMatch(/holds other rows already/);
});

if (REASON_TO_SKIP !== undefined) console.log(`demo: the console skipped: ${REASON_TO_SKIP}`);
test.skipIf(REASON_TO_SKIP)(
  'the printed address opens the console with a graph, signed in, and the key leaves the address bar',
  async () => {
    const { out, invited, stop } = await servingHere(SMALL);
    const address = /^ {2}(http\S+#\S+)$/m.exec(out)![1]!;
    expect(address).toContain(invited.key);
    const browser = await openBrowser();
    try {
      const { page, complaints } = await openWatched(await browser.newContext());
      await page.goto(address);
      await page.getByRole('tab', { name: 'Graph', selected: true }).waitFor();
      await page.locator('.graph svg').first().waitFor();
      expect(page.url()).toBe(invited.console);
      expect(await page.evaluate(() => history.length)).toBeLessThanOrEqual(2);
      expect(await page.locator('.graph-summary').textContent()).toMatch(/\d+ edges/);
      // The console does not accept a statement that changes data from the address.
      await page.goto('about:blank');
      await page.goto(`${invited.console}#${new URLSearchParams({ statement: 'DELETE FROM meetings' })}`);
      await page.getByRole('tab', { name: 'Rows', selected: true }).waitFor();
      expect(await page.locator('.cm-content').textContent()).toMatch(/^MATCH/);
      expect(complaints).toEqual([]);
    } finally {
      await browser.close();
    }
    expect(await stop()).toBe(0);
  },
);

test('the demo listens on another port when the first one is in use', async () => {
  const taken = await startServer();
  world.environment.HEDGEROW_PORT = String(taken.port);
  const { invited, stop } = await servingHere({ people: '50', days: '1' });
  expect(invited.console).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
  expect(new URL(invited.console).port).not.toBe(String(taken.port));
  expect(await stop()).toBe(0);
  expect(await demoCommand({ data: 'other', people: '50', days: '1', port: String(taken.port) }, world)).toBe(1);
  expect(world.err).toMatch(/cannot listen on/);
  await taken.close();
});

test('--no-serve stores everything and leaves no process running', async () => {
  const flags = { data: 'db', people: '200', days: '3', seed: '5', port: '0', serve: false };
  expect(await demoCommand(flags, world), world.err).toBe(0);
  expect(world.out).toMatch(/Serve it again: hedgerow serve --data db --port \d+$/m);
  await lookInto(world.path('db'), (database) => {
    const rows = rowsOf(database.table('meetings'));
    expect(rows.length).toBeGreaterThan(100);
    expect(rows[0]!.formation).not.toBeNull();
    expect(database.table('tenancies').rowCount).toBeGreaterThan(80);
    const nodes = database.nodes.tables().map((table) => [table.name, table.rowCount]);
    expect(nodes[0]).toEqual(['Person', 200]);
    expect(database.documents.entries('keys')).toHaveLength(1);
  });
});

test('the smallest demo answers its questions too', async () => {
  const server = await startServer();
  for (const seed of ['1', '2', '3']) {
    world.out = '';
    const flags = { url: server.url, people: '20', days: '1', table: `tiny${seed}`, seed };
    expect(await demoCommand(flags, world), world.err).toBe(0);
    await expectAnswers(invitedBy(world.out), undefined, true);
  }
  await server.close();
});

test('data of an earlier version is served as it is, and the town is stored beside it', async () => {
  const database = await openDatabase({ dir: world.path('db'), primaryTable: 'hyperedges' });
  const table = await database.createTable({ name: 'meetings', bucketSeconds: 3600 });
  const bulk = table.bulk();
  for (let ts = 0; ts < 40; ts++)
    bulk.add({ event_ts: ts, members: [1, 2 + ts], properties: { formation: 'breakfast' } });
  await bulk.commit();
  await database.close();

  const { out, invited, stop } = await servingHere({ ...SMALL, data: 'db' }, 'Ctrl-C stops');
  expect(out).toMatch(/people in the table meetings of db are numbers, as an earlier version of the demo made them/);
  expect(invited.curls).toEqual([]);
  const [address] = /^ {2}http\S+#(\S+)$/m.exec(out)!.slice(1);
  const statement = new URLSearchParams(address).get('statement');
  const headers = { 'x-api-key': invited.key, 'content-type': 'application/json' };
  const body = JSON.stringify({ query: statement });
  const answer = await fetch(`${invited.console}v1/query`, { method: 'POST', headers, body });
  expect((await answer.json()).rows).toHaveLength(25);
  expect(await stop()).toBe(0);

  const flags = { ...SMALL, data: 'db', serve: false };
  expect(await demoCommand(flags, world)).toBe(1);
  expect(world.err).toMatch(/table meetings are numbers.* or name others with --table/);
  expect(await demoCommand({ ...flags, table: 'town' }, world), world.err).toBe(0);
  await lookInto(world.path('db'), (database) => {
    expect(database.table('meetings').rowCount).toBe(40);
    expect(database.tables().map(({ name }) => name)).toEqual(
      expect.arrayContaining(['hyperedges', 'meetings', 'town', 'town_tenancies']),
    );
    expect(database.nodes.tables().map(({ name, rowCount }) => [name, rowCount > 0])).toEqual(
      expect.arrayContaining([
        ['town_person', true],
        ['town_place', true],
      ]),
    );
  });
});

test.each([
  ['CREATE NODE TABLE Person (id INTEGER)', /table Person has another form/],
  ['CREATE HYPEREDGE TABLE tenancies () INTERVALS', /table tenancies has another form/],
  ['CREATE HYPEREDGE TABLE person ()', /person/],
])('tables of the user stop the demo before it writes anything: %s', async (statement, reason) => {
  const server = await startServer();
  const query = async (text: string) => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ query: text });
    return (await fetch(`${server.url}/v1/query`, { method: 'POST', headers, body })).json();
  };
  await query(statement);
  const before = [await query('SHOW TABLES'), await query('SHOW NODE TABLES')].map(({ rows }) => rows.length);
  expect(await demoCommand({ url: server.url, people: '20', days: '1' }, world)).toBe(1);
  expect(world.err).toMatch(reason);
  const after = [await query('SHOW TABLES'), await query('SHOW NODE TABLES')].map(({ rows }) => rows.length);
  expect(after).toEqual(before);
  await server.close();
});

test('every printed curl command finds something on a running server, and no key is printed', async () => {
  const server = await startServer({ auth: true });
  const flags = { url: server.url, apiKey: server.keys.admin, people: '200', days: '7', table: 'town' };
  expect(await demoCommand(flags, world), world.err).toBe(0);
  expect(world.out).not.toContain(server.keys.admin);
  const invited = invitedBy(world.out);
  expect(invited.curls[0]!.key).toBe('$HEDGEROW_API_KEY');
  await expectAnswers(invited, server.keys.admin);
  expect(await demoCommand({ ...flags, port: '0' }, world)).toBe(2);
  expect(await demoCommand({ ...flags, table: 'other', apiKey: 'hgr_wrong' }, world)).toBe(1);
  expect(world.err).not.toContain('hgr_wrong');
  await server.close();
});

test.each([
  [{ people: '5' }],
  [{ days: '0' }],
  [{ seed: 'x' }],
  [{ port: '70000' }],
  [{ open: true, serve: false }],
  [{ table: 'a'.repeat(60) }],
])('a wrong call exits with 2: %j', async (flags) => {
  expect(await demoCommand({ data: 'db', ...flags }, world)).toBe(2);
});
