// Cursors: signed, opaque tokens that page through one snapshot, and the snapshots that stay pinned
// for them.
//
// A token is base64url of `pinId.eventTs.rowId.mac`. The MAC (HMAC-SHA256 truncated to 96 bits,
// with a secret that is new at each start) also covers the `binding`, which describes the request
// that the cursor was issued for, so that a token is not valid for any other query. The pin id
// names a snapshot in the registry; the two numbers are the key of the last row sent.
//
// A pin exists while a request uses it. If a cursor was issued for it, the pin is kept until it has
// been idle for five minutes, or until it is evicted because there are too many pins or because
// replaced versions hold too much memory. After that, a request with the cursor is answered
// `invalid_cursor`. The map `#entries` is kept in order of use: its first entry is the least
// recently used one. Invariant: a snapshot is released exactly once, when its entry has been
// removed and has no users.

import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';
import type { Database, RowKey, Snapshot, Table } from '../engine/index.ts';
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
  readonly id: number;
  readonly table: Table;
  readonly snapshot: Snapshot;
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
  maxPinned?: number;
  maxPinnedOfKey?: number;
  idleMs?: number;
}

export class CursorRegistry {
  readonly #options: Required<CursorOptions>;
  /** A key object: plain bytes would be copied and prepared again for each token. */
  readonly #secret: KeyObject;
  /** Entries by id, least recently used first. */
  readonly #entries = new Map<number, Entry>();
  /** The newest pin of each table. Requests share it until something is written. */
  readonly #newest = new WeakMap<Table, Entry>();
  /** Number of entries each key holds. */
  readonly #held = new Map<string | null, number>();
  #lastId = 0;

  constructor(options: CursorOptions) {
    this.#options = {
      maxPinned: MAX_PINNED_SNAPSHOTS,
      maxPinnedOfKey: MAX_PINNED_OF_KEY,
      idleMs: CURSOR_IDLE_MS,
      ...options,
    };
    this.#secret = createSecretKey(options.secret);
  }

  get size(): number {
    return this.#entries.size;
  }

  /** Pins the newest state of `table` for one request. */
  pin(database: Database, table: Table): Pin {
    const newest = this.#newest.get(table);
    if (newest !== undefined && !newest.removed && isNewest(newest.snapshot, database)) return this.#use(newest);
    this.#lastId += 1;
    const entry: Entry = {
      id: this.#lastId,
      table,
      snapshot: database.snapshot(table),
      users: 1,
      kept: false,
      holders: new Set(),
      removed: false,
      usedAt: this.#options.now(),
    };
    this.#newest.set(table, entry);
    this.#entries.set(entry.id, entry);
    this.#makeRoom();
    this.relieve(database);
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
   * Returns the pin and the position of a token. `binding` must be the one with which the token was
   * issued. Throws `invalid_cursor`.
   */
  resume(token: string, table: Table, binding: string): { pin: Pin; after: RowKey } {
    const parts = Buffer.from(token, 'base64url').toString('latin1').split('.');
    const [id, eventTs, rowId] = parts.slice(0, 3).map((part) => parseInteger(part));
    if (parts.length !== 4 || id === undefined || eventTs === undefined || rowId === undefined) throw invalidCursor();
    const expected = Buffer.from(this.#token(id, { eventTs, id: rowId }, binding));
    const given = Buffer.from(token);
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) throw invalidCursor();
    const entry = this.#entries.get(id);
    if (entry === undefined || entry.table !== table) throw invalidCursor();
    return { pin: this.#use(entry), after: { eventTs, id: rowId } };
  }

  /**
   * Issues a token for the rows after `last`, and keeps the pin for it on behalf of the key (null
   * for a request without a key). A key over its maximum loses the pin that it used least recently.
   */
  issue(pin: Pin, last: RowKey, binding: string, keyId: string | null): string {
    const entry = this.#entries.get(pin.id);
    if (entry !== undefined) {
      entry.kept = true;
      this.#hold(entry, keyId);
    }
    return this.#token(pin.id, last, binding);
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
    this.#entries.delete(entry.id);
    this.#entries.set(entry.id, entry);
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
    this.#entries.delete(entry.id);
    for (const keyId of [...entry.holders]) this.#letGo(entry, keyId);
    entry.removed = true;
    if (entry.users === 0) entry.snapshot.release();
  }

  #token(pinId: number, place: RowKey, binding: string): string {
    const plain = `${pinId}.${place.eventTs}.${place.id}`;
    const mac = createHmac('sha256', this.#secret).update(`${plain}|${binding}`).digest('base64url');
    return Buffer.from(`${plain}.${mac.slice(0, 16)}`).toString('base64url');
  }
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
