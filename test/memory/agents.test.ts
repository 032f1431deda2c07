// The tools with which agents remember, in a directory and with a server, many calls at once, and
// what they find in the directory afterwards.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { HedgerowClient } from '../../src/client/index.ts';
import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { verifyDirectory } from '../../src/engine/index.ts';
import { nodeFs } from '../../src/storage/index.ts';
import { beginHere, type Session } from '../cli/mcp-session.ts';
import { startServer, type TestServer } from '../http/support.ts';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function newDirectory(): string {
  const dir = mkdtempSync(join(tmpdir(), 'hedgerow-memory-'));
  closers.push(async () => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

async function begin(flags: Parameters<typeof beginHere>[0]): Promise<Session> {
  const session = await beginHere(flags);
  closers.push(() => session.client.close());
  return session;
}

async function newServer(): Promise<TestServer> {
  const server = await startServer({ auth: true });
  closers.push(() => server.close());
  return server;
}

/** Lets an agent remember, replace, recall and look back. */
async function useMemory({ call }: Session): Promise<void> {
  const missing = await call('recall', { question: 'budget' });
  expect([missing.isError, missing.text]).toEqual([
    true,
    expect.stringContaining('the first thing that is remembered'),
  ]);
  const what = 'The budget of project Orion is 40,000 euros.';
  const given = { what, who: ['Ada'], about: ['project Orion', 'budget'], when: '2024-05-02', source: 'mail' };
  expect((await call('remember', given)).value).toEqual({ id: 1 });
  expect((await call('remember', { what: 'Lunch is at noon.', about: ['canteen'], when: '2024-05-03' })).value.id).toBe(
    2,
  );
  const successor = { id: 1, what: 'The budget of project Orion is 55,000 euros.', at: '2024-06-01' };
  expect((await call('supersede', successor)).value).toEqual({ id: 3, ended: 1 });
  const now = await call('recall', { question: 'What is the budget of Orion?' });
  expect(now.value.memories).toEqual([
    {
      id: 3,
      what: successor.what,
      who: ['Ada'],
      about: ['project Orion', 'budget'],
      event_ts: 1717200000,
      time: '2024-06-01T00:00:00Z',
      end_ts: null,
      end_time: null,
      source: null,
      why: expect.arrayContaining([expect.stringMatching(/^words: .*orion/)]),
    },
  ]);
  const then = await call('recall', { question: 'What is the budget of Orion?', at: '2024-05-15' });
  expect(then.value.memories).toMatchObject([{ id: 1, end_time: '2024-06-01T00:00:00Z', source: 'mail' }]);
  const first = await call('recall', { top_k: 1 });
  expect(first.value.memories).toMatchObject([{ id: 3 }]);
  const nothing = await call('recall', { about: ['project orion'] });
  expect(nothing.value).toEqual({ memories: [], more: false, hint: expect.stringContaining('compared exactly') });
  const all = await call('history', { about: ['project Orion'] });
  expect(all.value).toMatchObject({
    memories: [
      { id: 1, superseded_by: 3 },
      { id: 3, supersedes: 1 },
    ],
  });
  expect(all.value).not.toHaveProperty('hint');
  const newest = await call('history', { about: ['project Orion', 'canteen'], limit: 1 });
  expect(newest.value).toMatchObject({ memories: [{ id: 3 }], hint: expect.stringContaining('older') });
  const again = await call('supersede', { id: 1, what: 'no' });
  expect([again.isError, again.text]).toEqual([true, expect.stringContaining('was superseded by 3')]);
  const unnamed = await call('remember', { what: 'no' });
  expect([unnamed.isError, unnamed.text]).toEqual([true, expect.stringContaining('give who, about, or both')]);
}

test('a time is given in every form that a request over HTTP takes', async () => {
  const { call } = await begin({ data: newDirectory(), allowWrites: true });
  const forms = [
    ['2024-05-02T10:00:00.000Z', '2024-05-02T10:00:00Z'],
    ['2024-05-02T10:00:00,5z', '2024-05-02T10:00:00Z'],
    ['2024-05-02 12:00+0200', '2024-05-02T10:00:00Z'],
    ['2024-05-02T12:00:00+02', '2024-05-02T10:00:00Z'],
    [' 2024-05-02 ', '2024-05-02T00:00:00Z'],
    [1_714_644_000, '2024-05-02T10:00:00Z'],
  ] as const;
  for (const [when, time] of forms) {
    const { id } = (await call('remember', { what: 'x', about: ['x'], when })).value;
    const { memories } = (await call('history', { id })).value;
    expect(memories, String(when)).toMatchObject([{ time }]);
    expect((await call('recall', { at: when, top_k: 100 })).value.memories.length, String(when)).toBeGreaterThan(0);
  }
  for (const when of ['soon', '2024-02-30', '1714644000', '2024-05-02T10', '']) {
    const refused = await call('remember', { what: 'x', about: ['x'], when });
    expect([refused.isError, refused.text], when).toEqual([true, expect.stringMatching(/^when .*\bISO 8601\b|exist/)]);
  }
});

test('a recall says when memories are left out because they are too long together', async () => {
  const { call } = await begin({ data: newDirectory(), allowWrites: true });
  for (let n = 0; n < 40; n++) await call('remember', { what: `${n} ${'long '.repeat(400)}`, about: ['x'], when: n });
  const { value } = await call('recall', { top_k: 40 });
  const left = 40 - value.memories.length;
  expect(left).toBeGreaterThan(0);
  expect(value).toMatchObject({ more: true, hint: expect.stringContaining(`${left} memories`) });
  expect((await call('recall', { top_k: 10 })).value).not.toHaveProperty('hint');
});

test('an agent remembers in a directory', async () => {
  await useMemory(await begin({ data: newDirectory(), allowWrites: true }));
});

test('an agent remembers with a server, as its key allows', async () => {
  const server = await newServer();
  const readonly = await begin({ url: server.url, apiKey: server.keys.readonly, allowWrites: true });
  const refused = await readonly.call('remember', { what: 'no', about: ['x'] });
  expect([refused.isError, refused.text]).toEqual([true, expect.stringContaining('readwrite')]);
  await useMemory(await begin({ url: server.url, apiKey: server.keys.readwrite, allowWrites: true }));
  expect((await readonly.call('recall', { question: 'lunch' })).value.memories).toMatchObject([{ id: 2 }]);
});

test('without --allow-writes an agent can only recall', async () => {
  const { client } = await begin({ data: newDirectory() });
  const names = (await client.listTools()).tools.map(({ name }) => name);
  expect(names.filter((name) => ['remember', 'supersede', 'recall', 'history'].includes(name))).toEqual([
    'recall',
    'history',
  ]);
});

const CALLS = 1000;

/** What a call number does: half of the calls remember, and the others replace or look. */
type Act = (
  name: 'remember' | 'supersede' | 'recall' | 'history',
  given: object,
) => Promise<{ isError: boolean; id?: number }>;

/**
 * Makes 1,000 calls at once, of which some race for the same memory. Returns the number of
 * memories that there must be.
 */
async function callAll(act: Act): Promise<number> {
  for (let n = 1; n <= 20; n++) await act('remember', { what: `fact ${n}`, about: [`thing ${n}`], when: 100 });
  const done = await Promise.all(
    Array.from({ length: CALLS }, async (_, n) => {
      const thing = `thing ${n % 20}`;
      if (n % 4 === 0) return act('recall', { question: `what about ${thing}?` });
      if (n % 4 === 1) return act('supersede', { id: 1 + (n % 39), what: `fact ${n} instead`, at: 100 + n });
      if (n % 40 === 2) return act('history', { about: [thing] });
      return act('remember', { what: `fact ${n}`, about: [thing, `only ${n}`], when: 100 + n });
    }),
  );
  // Each memory has one successor at most, so most of those who wanted to replace one came late.
  expect(done.every(({ isError }, n) => n % 4 === 1 || !isError)).toBe(true);
  const written = done.flatMap(({ id }) => id ?? []);
  expect(new Set(written).size).toBe(written.length);
  return 20 + written.length;
}

/** Checks the files of a closed database, and the links between its memories. */
async function expectWhole(dir: string, memories: number): Promise<void> {
  const core = loadCore('release');
  const tools = { fs: nodeFs, core, crc32c: makeChecksum(core.instantiate()) };
  expect((await verifyDirectory(tools, dir, async () => {})).problems).toEqual([]);
  const { call } = await begin({ data: dir });
  const { value } = await call('query', {
    statement: 'MATCH (m:memories) RETURN COUNT(*) AS stored, COUNT(m.supersedes) AS links, COUNT(m.end_ts) AS ended',
  });
  expect(value.rows[0].stored).toBe(memories);
  expect(value.rows[0].links).toBeGreaterThan(10);
  expect(value.rows[0].ended).toBe(value.rows[0].links);
  const pairs = 'MATCH (old:memories), (new:memories) WHERE new.supersedes = old.id AND old.end_ts = new.event_ts';
  const linked = await call('query', { statement: `${pairs} RETURN COUNT(*) AS links` });
  expect(linked.value.rows).toEqual([{ links: value.rows[0].links }]);
}

test('1,000 calls of tools at once leave a whole database', async () => {
  const dir = newDirectory();
  const { client, call } = await begin({ data: dir, allowWrites: true });
  const memories = await callAll(async (name, given) => {
    const { value, isError } = await call(name, given as Record<string, unknown>);
    return { isError, ...(isError || value.id === undefined ? {} : { id: value.id as number }) };
  });
  await client.close();
  await expectWhole(dir, memories);
}, 120_000);

test('1,000 requests at once leave a whole database', async () => {
  const dir = newDirectory();
  const server = await startServer({ dir });
  let memories: number;
  try {
    // More requests at once than the service takes are refused for the moment, and come again.
    const { memory } = new HedgerowClient({ url: server.url, maxAttempts: 100, maxDelayMs: 5000 });
    memories = await callAll(async (name, given) => {
      try {
        const answer: object = await memory[name](given as never);
        return { isError: false, ...('id' in answer ? { id: answer.id as number } : {}) };
      } catch (error) {
        // A memory may have been replaced, not be there yet, or begin after the time of its end.
        expect(error).toMatchObject({ code: expect.stringMatching(/^(memory_ended|edge_not_found|invalid_input)$/) });
        return { isError: true };
      }
    });
  } finally {
    await server.close();
  }
  await expectWhole(dir, memories);
}, 120_000);
