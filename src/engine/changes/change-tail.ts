// The newest changes, read once for all who follow them.
//
// A reader that has caught up with the log stops reading it, and takes the pieces that the tail
// reads from then on. The tail keeps some of them, so that those who are a little slower find what
// they need. Who falls further behind reads the log again (ChangeReader) until it has caught up.
//
//   pieces    (10, 14]  (14, 15]  (15, 31]   head = 31
//   a follower at 14 takes the second and the third; at 20, the third in part; at 9, none
//
// A tail reads only while it has followers.

import { assert } from '../../assert.ts';
import type { Committer } from '../commit/committer.ts';
import type { ChangeReader } from './change-feed.ts';

export interface Change {
  readonly lsn: number;
  /** A JSON object. */
  readonly text: string;
}

/** How changes are written for a client. The function is the key of a cache: use the same one. */
export type ChangeForm = (change: Change) => string;

export interface ChangeTailOptions {
  /** A reader at the head of the log. The tail closes it. */
  readonly reader: ChangeReader;
  readonly committer: Pick<Committer, 'visibleLsn' | 'whenVisible'>;
  readonly after: (ms: number) => Promise<void>;
  /** Most bytes of the pieces that are kept; one piece always is. */
  readonly mostBytes: () => number;
  /** Charges bytes to the memory budget; a negative number releases them. */
  readonly charge: (bytes: number) => void;
  /** Called when the last follower is gone, or reading has failed. */
  readonly ended: () => void;
}

/** Changes that are read at once. */
const SOME = 4096;
/** Followers are woken at least this often. */
const LOOK_MS = 1000;
/** With durability `async`, reads see commits that cannot be read from the log yet. */
const SOON_MS = 50;
/**
 * Once there are changes, this much time passes before they are read, so that many commits are one
 * piece: each piece costs every follower about 30 us.
 */
const REST_MS_A_FOLLOWER = 0.25;
const LEAST_REST_MS = 4;
const MOST_REST_MS = 25;
/** A piece is held as texts and, once for each form, as bytes: about this many times its text. */
const BYTES_OF_CHARACTER = 3;

/** The changes after `fromLsn` up to `lsn`. */
export class TailPiece {
  readonly fromLsn: number;
  readonly lsn: number;
  readonly changes: readonly Change[];
  readonly heldBytes: number;
  readonly #written = new Map<ChangeForm, Buffer>();

  constructor(fromLsn: number, lsn: number, changes: readonly Change[]) {
    assert(fromLsn < changes[0]!.lsn && changes[changes.length - 1]!.lsn <= lsn, 'a piece has the changes of its LSNs');
    this.fromLsn = fromLsn;
    this.lsn = lsn;
    this.changes = changes;
    this.heldBytes = BYTES_OF_CHARACTER * changes.reduce((sum, { text }) => sum + text.length, 0);
  }

  /**
   * Returns the changes after an LSN in this form. The bytes may be those that others get too: they
   * must not be changed.
   */
  bytesAfter(lsn: number, form: ChangeForm): Buffer {
    if (lsn > this.fromLsn)
      return write(
        this.changes.filter((change) => change.lsn > lsn),
        form,
      );
    let bytes = this.#written.get(form);
    if (bytes === undefined) {
      bytes = write(this.changes, form);
      this.#written.set(form, bytes);
    }
    return bytes;
  }
}

function write(changes: readonly Change[], form: ChangeForm): Buffer {
  return Buffer.from(changes.map(form).join(''));
}

export class ChangeTail {
  readonly #options: ChangeTailOptions;
  /** In order of LSNs; each begins where the one before ends, or after LSNs without changes. */
  #pieces: TailPiece[] = [];
  /** All changes up to this LSN are in pieces, or were. */
  #headLsn: number;
  /** Changes after this LSN are kept. */
  #fromLsn: number;
  #heldBytes = 0;
  #followers = 0;
  #ended = false;
  #failure: unknown;
  #turn: Promise<void>;
  #endTurn: () => void = () => undefined;

  constructor(options: ChangeTailOptions) {
    this.#options = options;
    this.#headLsn = options.reader.lsn;
    this.#fromLsn = this.#headLsn;
    this.#turn = this.#nextTurn();
  }

  get headLsn(): number {
    return this.#headLsn;
  }

  get followers(): number {
    return this.#followers;
  }

  /** Estimated memory of the pieces that are kept, in bytes. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** Adds a follower, which must `leave` once. */
  join(): void {
    assert(!this.#ended, 'a tail that has ended is not joined');
    if (this.#followers++ === 0) void this.#read();
  }

  leave(): void {
    this.#followers--;
    assert(this.#followers >= 0, 'who leaves has joined');
    if (this.#followers === 0) this.#end();
  }

  /** Whether the changes after an LSN are here, or will be. */
  has(lsn: number): boolean {
    return lsn >= this.#fromLsn;
  }

  /**
   * Returns the first piece with changes after an LSN; undefined if there is none yet. Throws what
   * reading the log has thrown: `corrupt`, for example.
   */
  pieceAfter(lsn: number): TailPiece | undefined {
    if (this.#failure !== undefined) throw this.#failure;
    // Most followers need the last piece.
    let found: TailPiece | undefined;
    for (let at = this.#pieces.length - 1; at >= 0 && this.#pieces[at]!.lsn > lsn; at--) found = this.#pieces[at];
    return found;
  }

  /** Resolves when there may be a further piece; at the latest after a second. */
  next(): Promise<void> {
    return this.#turn;
  }

  async #read(): Promise<void> {
    const { reader } = this.#options;
    try {
      while (!this.#ended) {
        const fromLsn = this.#headLsn;
        const changes = await reader.next(SOME);
        this.#headLsn = reader.lsn;
        if (changes.length > 0) this.#keep(new TailPiece(fromLsn, this.#headLsn, changes));
        this.#wake();
        if (changes.length === 0) await this.#rest();
      }
    } catch (error) {
      this.#failure = error;
      this.#end();
    }
  }

  async #rest(): Promise<void> {
    const { committer, after } = this.#options;
    const isLate = committer.visibleLsn > this.#headLsn;
    await committer.whenVisible(this.#headLsn + 1, LOOK_MS);
    const ms = Math.min(MOST_REST_MS, Math.max(LEAST_REST_MS, REST_MS_A_FOLLOWER * this.#followers));
    await after(isLate ? SOON_MS : ms);
  }

  #keep(piece: TailPiece): void {
    this.#pieces.push(piece);
    this.#hold(piece.heldBytes);
    const most = this.#options.mostBytes();
    while (this.#heldBytes > most && this.#pieces.length > 1) {
      const gone = this.#pieces.shift()!;
      this.#hold(-gone.heldBytes);
      this.#fromLsn = gone.lsn;
    }
  }

  #hold(bytes: number): void {
    this.#heldBytes += bytes;
    this.#options.charge(bytes);
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#pieces = [];
    this.#hold(-this.#heldBytes);
    this.#options.reader.close();
    this.#options.ended();
    this.#wake();
  }

  #nextTurn(): Promise<void> {
    return new Promise((resolve) => {
      this.#endTurn = resolve;
    });
  }

  #wake(): void {
    const endTurn = this.#endTurn;
    this.#turn = this.#nextTurn();
    endTurn();
  }
}
