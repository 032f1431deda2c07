// The API keys of a database: checks them on every request, creates and revokes them durably.
//
// Invariants:
// - The plaintext of a key is kept only in #seen, in memory, and only after it was accepted once.
// - A key is valid from the moment its record is durable.
// - Changes run one at a time (#changes), so that two concurrent revocations cannot each count on
//   the other's admin key and leave no admin key.

import { timingSafeEqual } from 'node:crypto';
import type { DocumentChange, Documents } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import { Mutex } from '../schedule/locks.ts';
import {
  type CreatedKey,
  checkedRecord,
  createdOf,
  DAY_MS,
  itemOf,
  type KeyItem,
  type KeyRecord,
  makeKey,
  makeKeyId,
  type RandomBytes,
  sha256Hex,
} from './key-record.ts';
import type { Authenticator, KeyRole, Principal } from './principal.ts';

export interface KeyStoreOptions {
  documents: Pick<Documents, 'entries' | 'change'>;
  /** Epoch milliseconds. */
  now: () => number;
  randomBytes: RandomBytes;
}

/** Fields are validated by the callers (routes/keys.ts, cli/keys). */
export interface NewKey {
  role: KeyRole;
  description?: string;
  /** More than 0, fractions allowed. If omitted, the key does not expire. */
  expiresDays?: number;
}

interface Entry {
  /** The record as stored. */
  record: KeyRecord;
  readonly principal: Principal;
  /** The hexadecimal digest, as ASCII bytes. */
  readonly hash: Buffer;
  /** Epoch milliseconds; newer than the record's own value until the next flush. */
  lastUsedMs: number | null;
  /** Set when revocation begins: the key is refused from then on. */
  revoking: boolean;
}

/**
 * Maximum number of plaintext keys in the cache. A full cache is emptied; each key is then hashed
 * again at its next use.
 */
const MAX_SEEN = 1024;

const STORE = 'keys';
const HASH_LENGTH = 64;
const FIRST_KEY_DESCRIPTION = 'first admin key';

export class KeyStore implements Authenticator {
  readonly #documents: KeyStoreOptions['documents'];
  readonly #now: () => number;
  readonly #randomBytes: RandomBytes;
  /** In order of creation. */
  readonly #byId = new Map<string, Entry>();
  readonly #byHash = new Map<string, Entry>();
  /**
   * The entries of recently used keys by plaintext. These keys need not be hashed and compared
   * again. That would cost 1.5 us, a tenth of the time of a small request.
   */
  readonly #seen = new Map<string, Entry>();
  /** The times that `takeUsed` has returned. */
  readonly #told = new Map<string, number>();
  readonly #changes = new Mutex();
  readonly #given = Buffer.alloc(HASH_LENGTH);
  /** Unknown keys are compared with this, so that the check takes as long as for known keys. */
  readonly #decoy = Buffer.alloc(HASH_LENGTH);

  private constructor({ documents, now, randomBytes }: KeyStoreOptions) {
    this.#documents = documents;
    this.#now = now;
    this.#randomBytes = randomBytes;
    for (const [id, value] of documents.entries(STORE)) this.#add(checkedRecord(id, value));
  }

  /** Opens the stored keys without creating one. Throws `corrupt`. */
  static load(options: KeyStoreOptions): KeyStore {
    return new KeyStore(options);
  }

  /**
   * Opens the keys of a leader, whose changes arrive with its log. They cannot be changed here, and
   * the times of their use are not stored.
   */
  static follow(options: KeyStoreOptions & { documents: Documents }): KeyStore {
    const { documents } = options;
    const keys = new KeyStore(options);
    documents.watch(STORE, (id) => keys.#follow(id, documents.get(STORE, id)));
    return keys;
  }

  #follow(id: string, value: unknown): void {
    const entry = this.#byId.get(id);
    const record = value === undefined ? undefined : checkedRecord(id, value);
    if (record !== undefined && entry?.record.sha256 === record.sha256) {
      // The leader has stored when the key was last used; the key keeps its place.
      entry.record = record;
      entry.lastUsedMs = Math.max(entry.lastUsedMs ?? 0, record.last_used_at ?? 0) || null;
      return;
    }
    if (entry !== undefined) this.#remove(entry);
    if (record !== undefined) this.#add(record);
  }

  #remove(entry: Entry): void {
    const { key_id, sha256 } = entry.record;
    entry.revoking = true;
    this.#byId.delete(key_id);
    this.#byHash.delete(sha256);
    for (const [key, seen] of this.#seen) if (seen === entry) this.#seen.delete(key);
  }

  /**
   * Opens the stored keys. If there are none, stores a first admin key: `bootstrapKey` exactly as
   * given, or, if it is undefined, a generated key. A generated key is returned as `firstKey`, to
   * be shown once.
   */
  static async open(
    options: KeyStoreOptions & { bootstrapKey: string | undefined },
  ): Promise<{ keys: KeyStore; firstKey: string | undefined }> {
    const keys = KeyStore.load(options);
    if (keys.#byId.size > 0) return { keys, firstKey: undefined };
    const { bootstrapKey } = options;
    const key = bootstrapKey ?? makeKey(options.randomBytes);
    await keys.#changes.run(() => keys.#store(key, { role: 'admin', description: FIRST_KEY_DESCRIPTION }));
    return { keys, firstKey: bootstrapKey === undefined ? key : undefined };
  }

  authenticate(key: string): Principal | undefined {
    const seen = this.#seen.get(key);
    const entry = seen ?? this.#find(key);
    if (entry === undefined || entry.revoking) return undefined;
    const nowMs = this.#now();
    if (isExpired(entry.record, nowMs)) return undefined;
    if (seen === undefined) this.#remember(key, entry);
    entry.lastUsedMs = nowMs;
    return entry.principal;
  }

  /** Whether the key with this id is still valid: neither revoked nor expired. */
  isValid(keyId: string): boolean {
    const entry = this.#byId.get(keyId);
    return entry !== undefined && !entry.revoking && !isExpired(entry.record, this.#now());
  }

  #remember(key: string, entry: Entry): void {
    if (this.#seen.size >= MAX_SEEN) this.#seen.clear();
    this.#seen.set(key, entry);
  }

  /** Returns true for a stored key, expired or not; does not change `last_used_at`. */
  knows(key: string): boolean {
    return this.#find(key) !== undefined;
  }

  /**
   * Returns the keys that were used since the last call, with their times in epoch milliseconds,
   * for `noteUsed` in the process that leads the service.
   */
  takeUsed(): [keyId: string, atMs: number][] {
    const used: [string, number][] = [];
    for (const [id, { lastUsedMs }] of this.#byId) {
      if (lastUsedMs === null || lastUsedMs === this.#told.get(id)) continue;
      this.#told.set(id, lastUsedMs);
      used.push([id, lastUsedMs]);
    }
    for (const id of this.#told.keys()) if (!this.#byId.has(id)) this.#told.delete(id);
    return used;
  }

  /** Notes when keys were used in another process of the service. */
  noteUsed(used: readonly (readonly [keyId: string, atMs: number])[]): void {
    for (const [id, atMs] of used) {
      const entry = this.#byId.get(id);
      if (entry !== undefined) entry.lastUsedMs = Math.max(entry.lastUsedMs ?? 0, atMs);
    }
  }

  /** Number of admin keys that are currently valid. */
  get validAdmins(): number {
    const nowMs = this.#now();
    let count = 0;
    for (const { record, revoking } of this.#byId.values()) {
      if (record.role === 'admin' && !revoking && !isExpired(record, nowMs)) count += 1;
    }
    return count;
  }

  /** Returns all keys that are not revoked, including expired keys, oldest first. */
  list(): KeyItem[] {
    const items: KeyItem[] = [];
    for (const { record, lastUsedMs, revoking } of this.#byId.values()) {
      if (!revoking) items.push(itemOf(record, lastUsedMs));
    }
    return items;
  }

  /** Creates a key. Resolves when the key is durable; only this result contains its plaintext. */
  create(input: NewKey): Promise<CreatedKey> {
    return this.#changes.run(async () => {
      const key = makeKey(this.#randomBytes);
      return createdOf(await this.#store(key, input), key);
    });
  }

  /**
   * Revokes a key. Resolves when the revocation is durable. Rejects with `key_not_found` or
   * `last_admin`.
   */
  revoke(keyId: string): Promise<void> {
    return this.#changes.run(async () => {
      const entry = this.#byId.get(keyId);
      if (entry === undefined) throw unknownId();
      const { record } = entry;
      if (record.role === 'admin' && !isExpired(record, this.#now()) && this.validAdmins === 1) throw lastAdmin(keyId);
      entry.revoking = true;
      try {
        await this.#documents.change([{ store: STORE, id: keyId, value: null }]);
      } catch (error) {
        // The caller gets an error, so the key must stay valid.
        entry.revoking = false;
        throw error;
      }
      this.#remove(entry);
    });
  }

  /** Stores the `last_used_at` values that are newer than the stored ones, with a single write. */
  flush(): Promise<void> {
    return this.#changes.run(async () => {
      const renewed: [Entry, KeyRecord][] = [];
      for (const entry of this.#byId.values()) {
        const { record, lastUsedMs } = entry;
        if (lastUsedMs !== record.last_used_at) renewed.push([entry, { ...record, last_used_at: lastUsedMs }]);
      }
      if (renewed.length === 0) return;
      await this.#documents.change(renewed.map(([, record]) => changeTo(record)));
      for (const [entry, record] of renewed) entry.record = record;
    });
  }

  #find(key: string): Entry | undefined {
    const sha256 = sha256Hex(key);
    const entry = this.#byHash.get(sha256);
    this.#given.write(sha256, 'latin1');
    const isSame = timingSafeEqual(this.#given, entry?.hash ?? this.#decoy);
    return isSame ? entry : undefined;
  }

  async #store(key: string, { role, description = '', expiresDays }: NewKey): Promise<KeyRecord> {
    const nowMs = this.#now();
    let key_id = makeKeyId(this.#randomBytes);
    while (this.#byId.has(key_id)) key_id = makeKeyId(this.#randomBytes);
    const record: KeyRecord = {
      key_id,
      sha256: sha256Hex(key),
      role,
      description,
      created_at: nowMs,
      expires_at: expiresDays === undefined ? null : nowMs + expiresDays * DAY_MS,
      last_used_at: null,
    };
    await this.#documents.change([changeTo(record)]);
    this.#add(record);
    return record;
  }

  #add(record: KeyRecord): void {
    const entry: Entry = {
      record,
      principal: Object.freeze({ keyId: record.key_id, role: record.role }),
      hash: Buffer.from(record.sha256, 'latin1'),
      lastUsedMs: record.last_used_at,
      revoking: false,
    };
    this.#byId.set(record.key_id, entry);
    this.#byHash.set(record.sha256, entry);
  }
}

function changeTo(record: KeyRecord): DocumentChange {
  return { store: STORE, id: record.key_id, value: record };
}

function isExpired({ expires_at }: KeyRecord, nowMs: number): boolean {
  return expires_at !== null && nowMs >= expires_at;
}

/**
 * Makes the error for an unknown id. The message does not repeat the id: the caller may have sent
 * the key itself.
 */
function unknownId(): HedgerowError {
  return new HedgerowError(
    'key_not_found',
    'There is no key with this key_id (a key_id is not the key itself); list the keys to see their ids.',
  );
}

function lastAdmin(keyId: string): HedgerowError {
  return new HedgerowError(
    'last_admin',
    `${keyId} is the last admin key that is valid; nobody could manage keys without it. Create another admin key first.`,
  );
}
