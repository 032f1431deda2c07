// Cursors: signed, opaque tokens that page through one snapshot, and the snapshots that stay pinned
// for them.
//
// A token is base64url of `lsn.eventTs.rowId.mac`. The LSN names the state of the table that the
// cursor reads; the two other numbers are the key of the last row sent. The MAC (HMAC-SHA256
// truncated to 96 bits) also covers the table and the `binding`, which describes the request that
// the cursor was issued for, so that a token is not valid for any other query. The secret is new at
// each start. A follower takes over its leader's (`share`), so that cursors of one are valid at the
// other.
//
// A pin exists while a request uses it. If a cursor was issued for it, the pin is kept until it has
// been idle for five minutes, or until it is evicted because there are too many pins or because
// replaced versions hold too much memory. A request with a cursor that has no pin here, because it
// was released or because another server issued the cursor, gets a new one if the table still holds
// that state, and is otherwise answered `cursor_gone`. The map `#entries` is kept in order of use:
// its first entry is the least recently used one. Invariant: a snapshot is released exactly once,
// when its entry has been removed and has no users.

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import { type Database, type RowKey, type Snapshot, snapshotAt, type Table } from '../engine/index.ts';
import { type HedgerowError, refusal } from '../errors.ts';
import { parseInteger } from '../http/index.ts';

/**
 * Maximum number of snapshots kept for cursors. Above this number, the key that holds most
 * snapshots loses the one it used least recently.
 */
export const MAX_PINNED_SNAPSHOTS = 1000;
/** Maximum number of snapshots kept for the cursors of one key. */
const MAX_PINNED_OF_KEY = 900;
/** A snapshot is released if its cursors have not been used for this many milliseconds. */
export const CURSOR_IDLE_MS = 5 * 60 * 1000;

/**
 * A snapshot that a request uses. Cursors may be issued for it. Each request must release its pin
 * once, at its end.
 */
export interface Pin {
  readonly table: Table;
  readonly snapshot: Snapshot;
}

/** What a token says. */
export interface CursorPlace {
  /** The state of the table that the cursor reads. */
  readonly lsn: number;
  /** The last row that was sent. */
  readonly after: RowKey;
}

interface Entry extends Pin {
  /** Number of requests that use the entry now. */
  users: number;
  /** True if a cursor was issued. The entry is then kept after the end of its last request. */
  kept: boolean;
  /** Keys that hold a cursor for this entry; null stands for requests without a key. */
  readonly holders: Set<string | null>;
  /** True once removed from the registry; the last user then releases the snapshot. */
  removed: boolean;
  usedAt: number;
}

export interface CursorOptions {
  /** Milliseconds, monotonic. */
  now: () => number;
  /** The key that signs the tokens; random, and new at each start. */
  secret: Uint8Array;
  /** Pins an older state of a table; undefined if it is no longer held. */
  snapshotAt?: (table: Table, lsn: number) => Snapshot | undefined;
  maxPinned?: number;
  maxPinnedOfKey?: number;
  idleMs?: number;
}

export class CursorRegistry {
  readonly #options: Required<CursorOptions>;
  /**
   * The secrets with which tokens may be signed; the first one signs new tokens. Key objects: plain
   * bytes would be copied and prepared again for each token.
   */
  #secrets: readonly KeyObject[];
  /** Entries by table and LSN, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  /** The newest pin of each table. Requests share it until something is written. */
  readonly #newest = new WeakMap<Table, Entry>();
  /** Number of entries each key holds. */
  readonly #held = new Map<string | null, number>();

  constructor(options: CursorOptions) {
    this.#options = {
      maxPinned: MAX_PINNED_SNAPSHOTS,
      maxPinnedOfKey: MAX_PINNED_OF_KEY,
      idleMs: CURSOR_IDLE_MS,
      snapshotAt,
      ...options,
    };
    this.#secrets = [createSecretKey(options.secret)];
  }

  /** The secret that signs new tokens. */
  get secret(): Buffer {
    return this.#secrets[0]!.export();
  }

  /**
   * Signs new tokens with the secret of the leader from now on. Tokens signed before stay valid
   * until the secret changes once more.
   */
  share(secret: Uint8Array): void {
    const shared = createSecretKey(secret);
    if (!shared.equals(this.#secrets[0]!)) this.#secrets = [shared, this.#secrets[0]!];
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Pins the newest state of `table` for one request. */
  pin(database: Database, table: Table): Pin {
    const newest = this.#newest.get(table);
    if (newest !== undefined && !newest.removed && isNewest(newest.snapshot, database)) return this.#use(newest);
    const entry = this.#add(table, database.snapshot(table));
    this.#newest.set(table, entry);
    this.relieve(database);
    return entry;
  }

  #add(table: Table, snapshot: Snapshot): Entry {
    const name = nameOf(table, snapshot.lsn);
    const before = this.#entries.get(name);
    const entry: Entry = {
      table,
      snapshot,
      users: 1,
      kept: before?.kept ?? false,
      holders: new Set(),
      removed: false,
      usedAt: this.#options.now(),
    };
    if (before !== undefined) {
      // A compaction has replaced the version since; the new one shows the same rows.
      for (const keyId of before.holders) entry.holders.add(keyId);
      before.holders.clear();
      this.#remove(before);
    }
    this.#entries.set(name, entry);
    this.#makeRoom();
    return entry;
  }

  /**
   * If readers pin more memory of replaced versions than allowed, removes entries that hold such
   * memory, least recently used first, until the limit is kept. Requests with their cursors are
   * then answered `invalid_cursor`. Called periodically by the owner, and with each new pin.
   */
  relieve(database: Database): void {
    if (!database.isPinnedOver) return;
    for (const entry of this.#entries.values()) {
      if (entry.users > 0 || !database.isPinning(entry.snapshot)) continue;
      this.#remove(entry);
      if (!database.isPinnedOver) return;
    }
  }

  /**
   * Returns what a token says. `binding` must be the one with which the token was issued. Throws
   * `invalid_cursor`.
   */
  read(token: string, table: Table, binding: string): CursorPlace {
    const parts = Buffer.from(token, 'base64url').toString('latin1').split('.');
    const [lsn, eventTs, rowId] = parts.slice(0, 3).map((part) => parseInteger(part));
    if (parts.length !== 4 || lsn === undefined || eventTs === undefined || rowId === undefined) throw invalidCursor();
    const place = { lsn, after: { eventTs, id: rowId } };
    const given = Buffer.from(token);
    const isSigned = this.#secrets.some((secret) => {
      const expected = Buffer.from(tokenOf(secret, table, place, binding));
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
    if (!isSigned) throw invalidCursor();
    return place;
  }

  /**
   * Pins the state that a cursor reads, which must be visible. Throws `cursor_gone`.
   */
  resume({ lsn }: CursorPlace, table: Table): Pin {
    const entry = this.#entries.get(nameOf(table, lsn));
    if (entry !== undefined) return this.#use(entry);
    const snapshot = this.#options.snapshotAt(table, lsn);
    if (snapshot === undefined) throw cursorGone(lsn);
    return this.#add(table, snapshot);
  }

  /**
   * Issues a token for the rows after `last`, and keeps the pin for it on behalf of the key (null
   * for a request without a key). A key over its maximum loses the pin that it used least recently.
   */
  issue(pin: Pin, last: RowKey, binding: string, keyId: string | null): string {
    const { table, snapshot } = pin;
    const entry = this.#entries.get(nameOf(table, snapshot.lsn));
    if (entry !== undefined) {
      entry.kept = true;
      this.#hold(entry, keyId);
    }
    return tokenOf(this.#secrets[0]!, table, { lsn: snapshot.lsn, after: last }, binding);
  }

  release(pin: Pin): void {
    const entry = pin as Entry;
    entry.users -= 1;
    if (entry.users > 0) return;
    if (entry.removed) entry.snapshot.release();
    else if (!entry.kept) this.#remove(entry);
  }

  /** Removes entries that have been idle too long. Called periodically by the owner. */
  sweep(): void {
    const oldest = this.#options.now() - this.#options.idleMs;
    for (const entry of this.#entries.values()) {
      if (entry.usedAt > oldest) break;
      if (entry.users === 0) this.#remove(entry);
    }
  }

  close(): void {
    for (const entry of [...this.#entries.values()]) this.#remove(entry);
  }

  #use(entry: Entry): Entry {
    entry.users += 1;
    entry.usedAt = this.#options.now();
    const name = nameOf(entry.table, entry.snapshot.lsn);
    this.#entries.delete(name);
    this.#entries.set(name, entry);
    return entry;
  }

  #makeRoom(): void {
    if (this.#entries.size <= this.#options.maxPinned) return;
    let most: string | null | undefined;
    for (const [key, count] of this.#held) if (most === undefined || count > this.#held.get(most)!) most = key;
    // No key holds an entry if all entries belong to requests that were issued no cursor.
    const oldest = most === undefined ? this.#entries.values().next().value : this.#oldestOf(most);
    if (oldest !== undefined) this.#remove(oldest);
  }

  #hold(entry: Entry, keyId: string | null): void {
    if (entry.holders.has(keyId)) return;
    entry.holders.add(keyId);
    const count = (this.#held.get(keyId) ?? 0) + 1;
    this.#held.set(keyId, count);
    // The limit per key does not apply to requests without a key.
    if (keyId === null || count <= this.#options.maxPinnedOfKey) return;
    const oldest = this.#oldestOf(keyId);
    if (oldest === undefined) return;
    if (oldest.holders.size === 1) this.#remove(oldest);
    else this.#letGo(oldest, keyId);
  }

  #letGo(entry: Entry, keyId: string | null): void {
    if (!entry.holders.delete(keyId)) return;
    const count = this.#held.get(keyId)! - 1;
    if (count === 0) this.#held.delete(keyId);
    else this.#held.set(keyId, count);
  }

  #oldestOf(keyId: string | null): Entry | undefined {
    for (const entry of this.#entries.values()) if (entry.holders.has(keyId)) return entry;
    return undefined;
  }

  #remove(entry: Entry): void {
    this.#entries.delete(nameOf(entry.table, entry.snapshot.lsn));
    for (const keyId of [...entry.holders]) this.#letGo(entry, keyId);
    entry.removed = true;
    if (entry.users === 0) entry.snapshot.release();
  }
}

/** Tables have numbers, which are not used again. */
function nameOf(table: Table, lsn: number): string {
  return `${table.id}:${lsn}`;
}

function tokenOf(secret: KeyObject, table: Table, { lsn, after }: CursorPlace, binding: string): string {
  const plain = `${lsn}.${after.eventTs}.${after.id}`;
  const mac = createHmac('sha256', secret).update(`${plain}|${table.id}|${binding}`).digest('base64url');
  return Buffer.from(`${plain}.${mac.slice(0, 16)}`).toString('base64url');
}

/**
 * Returns true if nothing was written since the snapshot was taken, and no compaction has replaced
 * the versions that it reads. (The snapshot would keep replaced versions in memory.)
 */
function isNewest(snapshot: Snapshot, database: Database): boolean {
  return snapshot.lsn === database.lastLsn && !database.isPinning(snapshot);
}

function invalidCursor(): HedgerowError {
  return refusal(
    'invalid_cursor',
    'This cursor does not belong to this request, or has expired. Start again without a cursor.',
    { errors: [{ loc: ['query', 'cursor'], msg: 'does not belong to this request, or has expired' }] },
  );
}

export function cursorGone(lsn: number): HedgerowError {
  return refusal(
    'cursor_gone',
    `This cursor has expired: the state at LSN ${lsn}, which it reads, is no longer held. Start again without a cursor.`,
  );
}
