import { createHash, randomBytes } from 'node:crypto';
import { beforeEach, describe, expect, test } from 'vitest';
import { type KeyRecord, sha256Hex } from '../../src/access/key-record.ts';
import { KeyStore } from '../../src/access/keys.ts';
import { MemoryDocuments } from './memory-documents.ts';

const START_MS = 1_700_000_000_250;
const DAY_MS = 86_400_000;
const GIVEN = 'a-key-that-the-operator-made';

let documents: MemoryDocuments;
let nowMs: number;
beforeEach(() => {
  documents = new MemoryDocuments();
  nowMs = START_MS;
});

const options = () => ({ documents, now: () => nowMs, randomBytes: (count: number) => randomBytes(count) });

async function openKeys(bootstrapKey: string | undefined = GIVEN): Promise<KeyStore> {
  return (await KeyStore.open({ ...options(), bootstrapKey })).keys;
}

const reopened = () => KeyStore.load(options());
const records = () => documents.entries('keys').map(([, record]) => record as KeyRecord);
const codeOf = (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'fine',
    (error) => error.code ?? error.message,
  );

describe('the first key', () => {
  test('is exactly the configured one, with the role admin', async () => {
    const { keys, firstKey } = await KeyStore.open({ ...options(), bootstrapKey: GIVEN });
    expect(firstKey).toBeUndefined();
    expect(keys.authenticate(GIVEN)).toEqual({ keyId: keys.list()[0]!.key_id, role: 'admin' });
  });

  test('is created when none is configured, and shown once', async () => {
    const first = await KeyStore.open({ ...options(), bootstrapKey: undefined });
    expect(first.firstKey).toMatch(/^hgr_[A-Za-z0-9_-]{43}$/);
    expect(first.keys.authenticate(first.firstKey!)?.role).toBe('admin');
    const second = await KeyStore.open({ ...options(), bootstrapKey: undefined });
    expect(second.firstKey).toBeUndefined();
    expect(second.keys.list()).toEqual(reopened().list());
    expect(second.keys.authenticate(first.firstKey!)?.role).toBe('admin');
  });

  test('is not taken from the configuration when the store already has keys', async () => {
    await openKeys();
    const { keys } = await KeyStore.open({ ...options(), bootstrapKey: 'another-key-of-the-operator' });
    expect(keys.authenticate('another-key-of-the-operator')).toBeUndefined();
    expect(keys.list()).toHaveLength(1);
  });

  test('is not created by loading a store', () => {
    expect(reopened().list()).toEqual([]);
    expect(documents.log).toEqual([]);
  });
});

describe('keys', () => {
  test('are stored only as SHA-256, and remain valid after a restart', async () => {
    const keys = await openKeys();
    const made = await keys.create({ role: 'readwrite', description: 'loader' });
    expect(JSON.stringify([...documents.values])).not.toContain(made.plaintext_key);
    expect(JSON.stringify([...documents.values])).not.toContain(GIVEN);
    expect(records()[1]!.sha256).toBe(createHash('sha256').update(made.plaintext_key).digest('hex'));
    for (const store of [keys, reopened()]) {
      expect(store.authenticate(made.plaintext_key)).toEqual({ keyId: made.key_id, role: 'readwrite' });
    }
  });

  test('have exactly the documented fields in answers', async () => {
    const keys = await openKeys();
    const made = await keys.create({ role: 'readonly', description: 'dashboard', expiresDays: 1 });
    expect(made).toEqual({
      key_id: expect.stringMatching(/^key_[0-9a-f]{16}$/),
      description: 'dashboard',
      role: 'readonly',
      created_at: 1_700_000_000,
      expires_at: 1_700_086_400,
      plaintext_key: expect.stringMatching(/^hgr_/),
    });
    const { plaintext_key, ...listed } = made;
    expect(keys.list()[1]).toEqual({ ...listed, last_used_at: null });
    expect(plaintext_key).not.toContain(made.key_id.slice(4));
    expect(await keys.create({ role: 'readonly' })).toMatchObject({ description: '', expires_at: null });
  });

  test.each(['', 'x', `${GIVEN}x`, GIVEN.slice(1), GIVEN.toUpperCase(), 'hgr_', '\u0000', 'é'.repeat(5000)])(
    'are unknown when they are not in the store: %j',
    async (key) => {
      const keys = await openKeys();
      expect(keys.authenticate(key)).toBeUndefined();
      expect(keys.authenticate(sha256Hex(GIVEN))).toBeUndefined();
    },
  );

  test('expire on time, even after a fraction of a day, and stay in the list', async () => {
    const keys = await openKeys();
    const { plaintext_key, key_id } = await keys.create({ role: 'readonly', expiresDays: 0.5 });
    nowMs += DAY_MS / 2 - 1;
    expect(keys.authenticate(plaintext_key)?.role).toBe('readonly');
    nowMs += 1;
    expect(keys.authenticate(plaintext_key)).toBeUndefined();
    expect(reopened().authenticate(plaintext_key)).toBeUndefined();
    expect(keys.list().map((key) => key.key_id)).toContain(key_id);
  });

  test('prevent the store from opening when one of them is unreadable', async () => {
    await openKeys();
    const [record] = records();
    for (const wrong of [
      null,
      {},
      { ...record, role: 'root' },
      { ...record, sha256: 'x' },
      { ...record, key_id: 'x' },
    ]) {
      documents.values.set(`keys ${record!.key_id}`, wrong);
      expect(reopened).toThrow(/cannot be read/);
    }
  });
});

describe('revocation', () => {
  test('is durable when its promise resolves, and removes the key from the list and the store', async () => {
    const keys = await openKeys();
    const { key_id, plaintext_key } = await keys.create({ role: 'readwrite' });
    await keys.revoke(key_id);
    for (const store of [keys, reopened()]) {
      expect(store.authenticate(plaintext_key)).toBeUndefined();
      expect(store.list().map((key) => key.key_id)).not.toContain(key_id);
    }
    expect(await codeOf(keys.revoke(key_id))).toBe('key_not_found');
  });

  test('takes effect before it is durable', async () => {
    const keys = await openKeys();
    const { key_id, plaintext_key } = await keys.create({ role: 'readwrite' });
    let synced = () => {};
    documents.disk = new Promise((resolve) => {
      synced = resolve;
    });
    const revoked = keys.revoke(key_id);
    await Promise.resolve();
    await Promise.resolve();
    expect(keys.authenticate(plaintext_key)).toBeUndefined();
    expect(records()).toHaveLength(2);
    synced();
    await revoked;
    expect(records()).toHaveLength(1);
  });

  test('leaves the key unchanged when it fails', async () => {
    const keys = await openKeys();
    const { key_id, plaintext_key } = await keys.create({ role: 'readwrite' });
    documents.failure = new Error('disk full');
    expect(await codeOf(keys.revoke(key_id))).toBe('disk full');
    expect(keys.authenticate(plaintext_key)?.role).toBe('readwrite');
    expect(keys.list()).toHaveLength(2);
    await keys.revoke(key_id);
    expect(keys.list()).toHaveLength(1);
  });

  test('does not repeat a possible secret in an error', async () => {
    const keys = await openKeys();
    await expect(keys.revoke(GIVEN)).rejects.toThrow(/^(?!.*a-key-that).*no key/);
  });
});

describe('the last admin', () => {
  test('cannot be revoked', async () => {
    const keys = await openKeys();
    const [first] = keys.list();
    await keys.create({ role: 'readwrite' });
    expect(await codeOf(keys.revoke(first!.key_id))).toBe('last_admin');
    expect(keys.authenticate(GIVEN)?.role).toBe('admin');
    const other = await keys.create({ role: 'admin' });
    await keys.revoke(first!.key_id);
    expect(await codeOf(keys.revoke(other.key_id))).toBe('last_admin');
  });

  test('is counted without expired keys, which can be revoked', async () => {
    const keys = await openKeys();
    const [first] = keys.list();
    const brief = await keys.create({ role: 'admin', expiresDays: 1 });
    expect(keys.validAdmins).toBe(2);
    nowMs += DAY_MS;
    expect(keys.validAdmins).toBe(1);
    expect(await codeOf(keys.revoke(first!.key_id))).toBe('last_admin');
    await keys.revoke(brief.key_id);
    expect(keys.list()).toHaveLength(1);
  });

  test('remains when two revocations run at the same time', async () => {
    const keys = await openKeys();
    const other = await keys.create({ role: 'admin' });
    const [first] = keys.list();
    const codes = await Promise.all([codeOf(keys.revoke(first!.key_id)), codeOf(keys.revoke(other.key_id))]);
    expect(codes).toEqual(['fine', 'last_admin']);
    expect(keys.validAdmins).toBe(1);
    expect(reopened().validAdmins).toBe(1);
  });
});

describe('last use', () => {
  test('is visible immediately and written by flush in one change', async () => {
    const keys = await openKeys();
    const { plaintext_key } = await keys.create({ role: 'readonly' });
    await keys.create({ role: 'readonly' });
    nowMs += 5000;
    keys.authenticate(GIVEN);
    keys.authenticate(plaintext_key);
    const used = keys.list().map((key) => key.last_used_at);
    expect(used).toEqual([1_700_000_005, 1_700_000_005, null]);
    expect(
      reopened()
        .list()
        .every((key) => key.last_used_at === null),
    ).toBe(true);
    const before = documents.log.length;
    await keys.flush();
    expect(documents.log.slice(before).map((changes) => changes.length)).toEqual([2]);
    expect(reopened().list()).toEqual(keys.list());
    await keys.flush();
    expect(documents.log).toHaveLength(before + 1);
  });

  test('is not updated by a refused request', async () => {
    const keys = await openKeys();
    const { plaintext_key } = await keys.create({ role: 'readonly', expiresDays: 1 });
    nowMs += DAY_MS;
    keys.authenticate(plaintext_key);
    expect(keys.knows(plaintext_key)).toBe(true);
    expect(keys.knows('x')).toBe(false);
    expect(keys.list()[1]!.last_used_at).toBeNull();
  });

  test('survives a failed flush, and no flush restores a revoked key', async () => {
    const keys = await openKeys();
    const { key_id, plaintext_key } = await keys.create({ role: 'readonly' });
    keys.authenticate(plaintext_key);
    keys.authenticate(GIVEN);
    await Promise.all([keys.revoke(key_id), keys.flush()]);
    expect(records()).toHaveLength(1);
    nowMs += 1000;
    keys.authenticate(GIVEN);
    documents.failure = new Error('disk full');
    expect(await codeOf(keys.flush())).toBe('disk full');
    await keys.flush();
    expect(reopened().list()).toEqual(keys.list());
  });
});
