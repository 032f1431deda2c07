import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { KeyStore } from '../../src/access/keys.ts';
import { importCommand } from '../../src/cli/import/command.ts';
import { keysCreateCommand, keysListCommand, keysRevokeCommand } from '../../src/cli/keys/command.ts';
import { openDatabase } from '../../src/engine/index.ts';
import { ADMIN_KEY, type KeyedServer, startKeyedServer } from '../access/keyed-server.ts';
import { lookInto, TestWorld } from './support.ts';

let world: TestWorld;
beforeEach(() => {
  world = new TestWorld();
  world.environment = { HEDGEROW_MEMORY_BUDGET_MB: '64' };
});
afterEach(() => {
  world.remove();
});

/** Returns the output of the command, parsed as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into objects of every form.
async function printed(command: Promise<number>): Promise<any> {
  world.out = '';
  expect([await command, world.err]).toEqual([0, '']);
  return JSON.parse(world.out);
}

describe('in a directory', () => {
  const here = { data: 'db', json: true };

  test('a first admin key can be created before any server runs', async () => {
    const made = await printed(keysCreateCommand({ ...here, role: 'admin', description: 'me' }, world));
    expect(made).toMatchObject({ role: 'admin', description: 'me', plaintext_key: expect.stringMatching(/^hgr_/) });
    expect((await printed(keysListCommand(here, world))).map((key: { key_id: string }) => key.key_id)).toEqual([
      made.key_id,
    ]);
    await lookInto(world.path('db'), async ({ documents }) => {
      const options = { documents, now: () => Date.now(), randomBytes, bootstrapKey: 'not-this-one-any-more' };
      const { keys, firstKey } = await KeyStore.open(options);
      expect(firstKey).toBeUndefined();
      expect(keys.authenticate(made.plaintext_key)?.role).toBe('admin');
    });
  });

  test('keys are listed and revoked', async () => {
    await printed(keysCreateCommand({ ...here, role: 'admin' }, world));
    const brief = await printed(keysCreateCommand({ ...here, role: 'readonly', expiresDays: '0.5' }, world));
    expect(brief.expires_at - brief.created_at).toBe(43_200);
    world.out = '';
    expect(await keysListCommand({ data: 'db' }, world)).toBe(0);
    expect(world.out).toMatch(/^key_id +role +created +last used +expires +description$/m);
    expect(world.out).toMatch(/^key_\w+ +readonly +\d{4}-\S+Z +never +\d{4}-\S+Z +-$/m);
    expect(await printed(keysRevokeCommand(brief.key_id, here, world))).toEqual({
      key_id: brief.key_id,
      revoked: true,
    });
    expect(await printed(keysListCommand(here, world))).toHaveLength(1);
  });

  test('a first key without the role admin is refused', async () => {
    expect(await keysCreateCommand({ ...here, role: 'readonly' }, world)).toBe(1);
    expect(world.err).toContain('--role admin');
  });

  test('the last admin key cannot be revoked', async () => {
    const { key_id } = await printed(keysCreateCommand({ ...here, role: 'admin' }, world));
    expect(await keysRevokeCommand(key_id, here, world)).toBe(1);
    expect(world.err).toContain('last admin key');
  });

  test('listing keys does not create a missing directory', async () => {
    expect(await keysListCommand({ data: 'nowhere' }, world)).toBe(1);
    expect(world.err).toBe('hedgerow: There is no directory nowhere.\n');
    expect(await keysListCommand({ data: 'nowhere' }, world)).toBe(1);
  });

  test('a directory open in a server is refused with advice', async () => {
    const database = await openDatabase({ dir: world.path('db'), memoryBudgetMb: 64 });
    try {
      expect(await keysCreateCommand({ ...here, role: 'admin' }, world)).toBe(1);
      expect(world.err).toContain('--url');
    } finally {
      await database.close();
    }
  });

  test('stored texts cannot control the terminal', async () => {
    await printed(keysCreateCommand({ ...here, role: 'admin', description: 'a\u001b[2Jb\nc' }, world));
    world.out = '';
    expect(await keysListCommand({ data: 'db' }, world)).toBe(0);
    expect(world.out).toContain('a\\u001b[2Jb\\u000ac');
  });
});

test.each([
  [{}, 'needs --role'],
  [{ role: 'root' }, 'needs --role, one of readonly, readwrite, admin'],
  [{ role: 'admin', expiresDays: '0' }, '--expires-days is "0"'],
  [{ role: 'admin', expiresDays: '1e3' }, '--expires-days is "1e3"'],
  [{ role: 'admin', description: 'x'.repeat(1025) }, '--description takes at most 1024'],
  [{ role: 'admin', data: 'db', url: 'http://127.0.0.1:1' }, 'exclude each other'],
  [{ role: 'admin', config: 'x.toml' }, '--config needs --data'],
  [{ role: 'admin', url: 'ftp://x' }, '--url is'],
])('%j is refused as a wrong call', async (flags, text) => {
  expect(await keysCreateCommand(flags, world)).toBe(2);
  expect(world.err).toContain(text);
  expect(world.out).toBe('');
});

describe('at a running server', () => {
  let server: KeyedServer;
  let there: { url: string; apiKey: string; json: boolean };
  beforeEach(async () => {
    server = await startKeyedServer();
    there = { url: server.url, apiKey: ADMIN_KEY, json: true };
  });
  afterEach(() => server.close());

  test('keys are created, listed and revoked', async () => {
    const flags = { ...there, role: 'readwrite', description: 'loader', expiresDays: '30' };
    const made = await printed(keysCreateCommand(flags, world));
    expect(server.keys.authenticate(made.plaintext_key)?.role).toBe('readwrite');
    expect(await printed(keysListCommand(there, world))).toEqual(server.keys.list());
    await printed(keysRevokeCommand(made.key_id, there, world));
    expect(server.keys.authenticate(made.plaintext_key)).toBeUndefined();
  });

  test('the key is printed on its own line on a terminal', async () => {
    expect(await keysCreateCommand({ ...there, json: false, role: 'readonly' }, world)).toBe(0);
    const [, key] = /^key {10}(hgr_\S+)$/m.exec(world.out)!;
    expect(server.keys.authenticate(key!)?.role).toBe('readonly');
    expect(world.out).toContain('shown this once only');
  });

  test.each([undefined, 'hgr_wrong'])('the error names the flag for the key when the key is %j', async (apiKey) => {
    expect(await keysListCommand({ ...there, apiKey }, world)).toBe(1);
    expect(world.err).toContain('--api-key');
    expect(world.err).not.toContain('hgr_wrong');
    world.err = '';
    const edges = world.file('edges.ndjson', '{"event_ts":1,"members":[1]}\n');
    expect(await importCommand([edges], { url: server.url, apiKey }, world)).toBe(1);
    expect(world.err).toContain('HEDGEROW_API_KEY');
  });

  test('an import works with a key', async () => {
    const { plaintext_key: apiKey } = await server.keys.create({ role: 'readwrite' });
    const edges = world.file('edges.ndjson', '{"event_ts":1,"members":[1]}\n');
    expect(await importCommand([edges], { url: server.url, apiKey }, world)).toBe(0);
    expect(server.database.table().rowCount).toBe(1);
  });

  test('an unreachable server is reported', async () => {
    await server.close();
    expect(await keysListCommand(there, world)).toBe(1);
    expect(world.err).toMatch(/No answer from .*--data DIR/);
    server = await startKeyedServer();
  });
});
