import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { ADMIN_KEY, ask, type KeyedServer, startKeyedServer } from '../access/keyed-server.ts';

let server: KeyedServer;
let nowMs: number;
beforeEach(async () => {
  nowMs = 1_700_000_000_000;
  server = await startKeyedServer({ now: () => nowMs });
});
afterEach(() => server.close());

const create = async (body: unknown) => (await ask(server, 'POST', '/v1/keys', { body })).json;

describe('keys over HTTP', () => {
  test('are listed as a bare array that contains no key text', async () => {
    const { status, json } = await ask(server, 'GET', '/v1/keys');
    expect(status).toBe(200);
    expect(json).toEqual([
      {
        key_id: expect.stringMatching(/^key_/),
        description: 'first admin key',
        role: 'admin',
        created_at: 1_700_000_000,
        last_used_at: 1_700_000_000,
        expires_at: null,
      },
    ]);
  });

  test('are shown once when they are created, and work immediately with their role', async () => {
    const { status, headers, json } = await ask(server, 'POST', '/v1/keys', {
      body: { role: 'readonly', description: 'grafana', expires_days: 0.5 },
    });
    expect(status).toBe(200);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json).toEqual({
      key_id: expect.stringMatching(/^key_/),
      description: 'grafana',
      role: 'readonly',
      created_at: 1_700_000_000,
      expires_at: 1_700_043_200,
      plaintext_key: expect.stringMatching(/^hgr_[\w-]{43}$/),
    });
    const key = json.plaintext_key;
    expect((await ask(server, 'GET', '/v1/tables', { key })).status).toBe(200);
    expect((await ask(server, 'GET', '/v1/keys', { key })).status).toBe(403);
    expect((await ask(server, 'GET', '/v1/keys')).json[1].description).toBe('grafana');
    expect(JSON.stringify((await ask(server, 'GET', '/v1/keys')).json)).not.toContain(key);
    nowMs += 43_200_000;
    expect((await ask(server, 'GET', '/v1/tables', { key })).status).toBe(401);
    expect((await ask(server, 'GET', '/v1/keys')).json).toHaveLength(2);
  });

  test('are refused from the next request on when they are revoked, and are no longer listed', async () => {
    const { key_id, plaintext_key: key } = await create({ role: 'readwrite' });
    expect((await ask(server, 'GET', '/v1/tables', { key })).status).toBe(200);
    const { status, json } = await ask(server, 'DELETE', `/v1/keys/${key_id}`);
    expect([status, json]).toEqual([200, { key_id, revoked: true }]);
    expect((await ask(server, 'GET', '/v1/tables', { key })).status).toBe(401);
    expect((await ask(server, 'GET', '/v1/keys')).json).toHaveLength(1);
    expect((await ask(server, 'DELETE', `/v1/keys/${key_id}`)).json).toMatchObject({
      status: 404,
      code: 'key_not_found',
    });
  });

  test('cannot be revoked if only one with the role admin is left', async () => {
    const [{ key_id }] = (await ask(server, 'GET', '/v1/keys')).json;
    expect((await ask(server, 'DELETE', `/v1/keys/${key_id}`)).json).toMatchObject({ status: 409, code: 'last_admin' });
    const other = await create({ role: 'admin' });
    const own = { key: other.plaintext_key };
    expect((await ask(server, 'DELETE', `/v1/keys/${key_id}`, own)).status).toBe(200);
    expect((await ask(server, 'GET', '/v1/keys')).status).toBe(401);
    expect((await ask(server, 'DELETE', `/v1/keys/${other.key_id}`, own)).status).toBe(409);
  });

  test.each([
    [{}, 'role'],
    [{ role: 'root' }, 'role'],
    [{ role: null }, 'role'],
    [{ role: 'admin', expires_days: 0 }, 'expires_days'],
    [{ role: 'admin', expires_days: -1 }, 'expires_days'],
    [{ role: 'admin', expires_days: '1' }, 'expires_days'],
    [{ role: 'admin', expires_days: 1e9 }, 'expires_days'],
    [{ role: 'admin', description: 5 }, 'description'],
    [{ role: 'admin', description: 'x'.repeat(1025) }, 'description'],
  ])('are not created from the body %j', async (body, field) => {
    const { status, json } = await ask(server, 'POST', '/v1/keys', { body });
    expect([status, json.code]).toEqual([400, 'invalid_input']);
    expect(json.errors[0].loc).toEqual(['body', field]);
    expect(server.keys.list()).toHaveLength(1);
  });

  test('may have null in optional fields', async () => {
    const made = await create({ role: 'readonly', description: null, expires_days: null });
    expect(made).toMatchObject({ description: '', expires_at: null });
  });

  test('are created by each request: an Idempotency-Key has no effect', async () => {
    const twice = async () => {
      const response = await fetch(`${server.url}/v1/keys`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': ADMIN_KEY, 'idempotency-key': 'one' },
        body: '{"role":"readonly"}',
      });
      return (await response.json()) as { key_id: string };
    };
    expect((await twice()).key_id).not.toBe((await twice()).key_id);
    expect(server.keys.list()).toHaveLength(3);
  });

  test('are created and revoked with lines in the audit log, without the key text', async () => {
    const made = await create({ role: 'readonly' });
    await ask(server, 'DELETE', `/v1/keys/${made.key_id}`);
    const [admin] = server.keys.list();
    const lines = server.audits.map(({ event, keyId, role, statement, status }) => [
      event,
      keyId,
      role,
      statement,
      status,
    ]);
    expect(lines).toEqual([
      ['key.created', admin!.key_id, 'admin', `create ${made.key_id} readonly`, 200],
      ['key.revoked', admin!.key_id, 'admin', `revoke ${made.key_id}`, 200],
    ]);
    expect(JSON.stringify(server.audits)).not.toContain(made.plaintext_key);
  });

  test('are stored in the database, and their last use is stored by flush', async () => {
    const made = await create({ role: 'readwrite' });
    nowMs += 5000;
    await ask(server, 'GET', '/v1/tables', { key: made.plaintext_key });
    await server.keys.flush();
    const stored = server.database.documents.entries('keys').map(([, value]) => value);
    expect(stored).toMatchObject([{ last_used_at: 1_700_000_000_000 }, { last_used_at: 1_700_000_005_000 }]);
    expect(JSON.stringify(stored)).not.toContain(made.plaintext_key);
  });
});

test('all three key routes answer 503 when keys are disabled, whatever the body', async () => {
  const open = await startKeyedServer({ authDisabled: true });
  try {
    for (const [method, path, body] of [
      ['GET', '/v1/keys', undefined],
      ['POST', '/v1/keys', { role: 'admin' }],
      ['POST', '/v1/keys', {}],
      ['DELETE', '/v1/keys/key_1', undefined],
    ] as const) {
      const { status, json } = await ask(open, method, path, { key: null, body });
      expect([status, json.code]).toEqual([503, 'no_keys']);
    }
  } finally {
    await open.close();
  }
});
