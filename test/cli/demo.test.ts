import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type DemoFlags, type DemoSize, demoChunks, demoCommand } from '../../src/cli/demo/command.ts';
import { DemoFacts } from '../../src/cli/demo/facts.ts';
import { DAY_SECONDS, FIRST_DAY_TS, type Meeting } from '../../src/cli/demo/meetings.ts';
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

async function demoText(size: DemoSize): Promise<string> {
  let text = '';
  for await (const chunk of demoChunks(size, new DemoFacts(size.people))) text += chunk.toString();
  return text;
}

test('the same seed always makes the same meetings, and another seed makes others', async () => {
  const size = { people: 300, days: 7, seed: 1 };
  const text = await demoText(size);
  expect(await demoText(size)).toBe(text);
  expect(await demoText({ ...size, seed: 2 })).not.toBe(text);
  expect(createHash('sha256').update(text).digest('hex').slice(0, 16)).toMatchInlineSnapshot(`"9a434ebbc4d54445"`);
});

test('the default demo has about 50,000 plausible meetings', async () => {
  const lines = (await demoText({ people: 3000, days: 28, seed: 1 })).trimEnd().split('\n');
  const all = lines.map((line) => JSON.parse(line) as Meeting);
  expect(all.length).toBeGreaterThan(45_000);
  expect(all.length).toBeLessThan(55_000);
  const met = new Set<number>();
  const byHour = new Array<number>(24).fill(0);
  const isOdd = ({ event_ts, members, weight }: Meeting, index: number): boolean =>
    event_ts < (all[index - 1]?.event_ts ?? FIRST_DAY_TS) ||
    members.length < 2 ||
    members.length > 12 ||
    members.some((person, at) => at > 0 && person <= members[at - 1]!) ||
    weight <= 0;
  expect(all.filter(isOdd)).toEqual([]);
  for (const { event_ts, members } of all) {
    for (const person of members) met.add(person);
    byHour[Math.floor((event_ts % DAY_SECONDS) / 3600)]!++;
  }
  expect(met.size).toBeGreaterThan(2700);
  expect(byHour[12]!).toBeGreaterThan(byHour[15]!);
  expect(byHour[3]).toBe(0);
  const labels = new Set(all.map((meeting) => meeting.formation));
  expect(labels.size).toBeGreaterThan(8);
  const office = all.filter((meeting) => meeting.formation === 'office');
  expect(office.every(({ event_ts }) => Math.floor((event_ts - FIRST_DAY_TS) / DAY_SECONDS) % 7 < 5)).toBe(true);
});

interface Invited {
  console: string;
  key: string;
  curls: { url: string; body: string; key: string | undefined }[];
}

/** Parses the text that the demo prints at the end. */
function invitedBy(text: string): Invited {
  const curls = [
    ...text.matchAll(
      /^ {2}curl -s (?:-H "X-API-Key: ([^"]+)" )?-H 'Content-Type: application\/json' (\S+) -d '([^']+)'$/gm,
    ),
  ];
  return {
    console: /^Console: +(\S+)$/m.exec(text)?.[1] ?? '',
    key: /^Key: +(\S+)$/m.exec(text)?.[1] ?? '',
    curls: curls.map(([, key, url, body]) => ({ key, url: url!, body: body! })),
  };
}

// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every form.
async function answersOf({ curls }: Invited, key: string | undefined): Promise<any[]> {
  return Promise.all(
    curls.map(async ({ url, body }) => {
      const headers = { 'content-type': 'application/json', ...(key === undefined ? {} : { 'x-api-key': key }) };
      const response = await fetch(url, { method: 'POST', headers, body });
      expect([url, response.status]).toEqual([url, 200]);
      return response.json();
    }),
  );
}

/** Checks that every printed request finds something. */
async function expectAnswers(invited: Invited, key: string | undefined): Promise<void> {
  expect(invited.curls).toHaveLength(3);
  const [reason, query, measure] = await answersOf(invited, key);
  expect(reason.rules_fired.length).toBe(2);
  expect(reason.proofs[0].nodes.length).toBeGreaterThan(4);
  expect(query.rows.length).toBeGreaterThan(0);
  expect(Object.keys(measure.result)).toHaveLength(5);
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
async function servingHere(flags: DemoFlags): Promise<Serving> {
  const from = world.out.length;
  const { write } = world.stdout;
  stops.push(() => world.interrupt?.());
  let ended: Promise<number> | undefined;
  await new Promise<void>((resolve, reject) => {
    world.stdout.write = (text) => {
      write(text);
      if (text.includes('pagerank')) resolve();
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
  expect(rules).toHaveLength(2);
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
    expect(database.documents.entries('keys')).toHaveLength(1);
  });
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

test.each([[{ people: '5' }], [{ days: '0' }], [{ seed: 'x' }], [{ port: '70000' }], [{ open: true, serve: false }]])(
  'a wrong call exits with 2: %j',
  async (flags) => {
    expect(await demoCommand({ data: 'db', ...flags }, world)).toBe(2);
  },
);
