// Pages through one snapshot: signed, opaque tokens, and the few snapshots that stay pinned for them.

import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Database, RowKey, Snapshot, Table } from '../engine/index.ts';
import { type HedgerowError, refusal } from '../errors.ts';
import { parseInteger } from './integers.ts';

/** Snapshots kept for cursors; over it, of the key that has most of them, the one used longest ago goes. */
export const MAX_PINNED_SNAPSHOTS = 1000;
/** Of these: for cursors of one key. */
const MAX_PINNED_OF_KEY = 900;
/** A snapshot whose cursors are not used for so long is released. */
export const CURSOR_IDLE_MS = 5 * 60 * 1000;

/** A snapshot in use by one request, and by every cursor given out on it. Release it once, at the end of the request. */
export interface Pin {
  readonly id: number;
  readonly table: Table;
  readonly snapshot: Snapshot;
}

interface Entry extends Pin {
  /** Requests running on it now. */
  users: number;
  /** A cursor was given out: kept after its last request. */
  kept: boolean;
  /** Keys that were given a cursor on it, and count it as theirs; null: without a key. */
  readonly holders: Set<string | null>;
  /** Removed from the registry: released with its last user. */
  removed: boolean;
  usedAt: number;
}

export interface CursorOptions {
  /** Milliseconds, monotonic. */
  now: () => number;
  /** Signs the tokens; random, new with each start. */
  secret: Uint8Array;
  maxPinned?: number;
  maxPinnedOfKey?: number;
  idleMs?: number;
}

export class CursorRegistry {
  readonly #options: Required<CursorOptions>;
  /** By id, the one used longest ago first. */
  readonly #entries = new Map<number, Entry>();
  /** The newest pin of each table, shared while nothing has been written since. */
  readonly #newest = new WeakMap<Table, Entry>();
  /** How many entries each key holds. */
  readonly #held = new Map<string | null, number>();
  #lastId = 0;

  constructor(options: CursorOptions) {
    this.#options = {
      maxPinned: MAX_PINNED_SNAPSHOTS,
      maxPinnedOfKey: MAX_PINNED_OF_KEY,
      idleMs: CURSOR_IDLE_MS,
      ...options,
    };
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
   * When readers hold more memory of replaced versions than they may: ends the cursors used longest ago that hold some, until it is enough. Their next page
   * answers `invalid_cursor`. Called now and then by the owner, and with each new pin.
   */
  relieve(database: Database): void {
    if (!database.isPinnedOver) return;
    for (const entry of this.#entries.values()) {
      if (entry.users > 0 || !database.isPinning(entry.snapshot)) continue;
      this.#remove(entry);
      if (!database.isPinnedOver) return;
    }
  }

  /** The pin and place a token stands for; `binding` must be what it was issued with. */
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

  /** A token for the rows after `last`; keeps the pin for it, as one of the key's (null: without a key). Over the number a key may hold, it loses the one used longest ago. */
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

  /** Lets go of what has been idle too long. Called now and then by the owner. */
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
    // None holds any when all of them are in use.
    const oldest = most === undefined ? this.#entries.values().next().value : this.#oldestOf(most);
    if (oldest !== undefined) this.#remove(oldest);
  }

  #hold(entry: Entry, keyId: string | null): void {
    if (entry.holders.has(keyId)) return;
    entry.holders.add(keyId);
    const count = (this.#held.get(keyId) ?? 0) + 1;
    this.#held.set(keyId, count);
    // Without keys nobody else would be kept out.
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
    const mac = createHmac('sha256', this.#options.secret).update(`${plain}|${binding}`).digest('base64url');
    return Buffer.from(`${plain}.${mac.slice(0, 16)}`).toString('base64url');
  }
}

/** Nothing was written since, and no compaction has replaced what it reads, which it would keep in memory. */
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
