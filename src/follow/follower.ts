// Keeps a database up to date with its leader: receives the frames of the leader's log and applies
// them, and connects again whenever the connection is lost.

import type { Database } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import { FrameDecoder, type Heartbeat } from './frame-stream.ts';
import { LeaderClock } from './leader-clock.ts';
import { LeaderRefusal, type LeaderSource } from './leader-link.ts';

export interface FollowerOptions {
  readonly database: Database;
  readonly leader: LeaderSource;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Receives the secret with which the leader signs cursors, at each connection. */
  readonly cursorSecret: (secret: Uint8Array) => void;
  /** Reports a change of the state: connected, lost, refused. */
  readonly notice: (message: string, fields: Record<string, unknown>) => void;
  /** Reports that the leader cannot be followed any more. */
  readonly warn: FollowerOptions['notice'];
  /** Called when the leader's log does not go on from the state here, and never will. */
  readonly onLost?: ((detail: string) => void) | undefined;
}

/** How far a follower is behind its leader. */
export interface Lag {
  /**
   * Number of LSNs of the leader that are not visible here, as far as is known; undefined until the
   * leader has answered for the first time.
   */
  readonly lsns: number | undefined;
  /**
   * Milliseconds since the follower last knew that it was at its leader's head; Infinity if it has
   * not been there since it was started.
   */
  readonly ms: number;
}

/** Waits between two attempts to connect: the first, and the longest. */
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 5000;
/** Most heads that are remembered until their frames are visible. */
const MOST_HEADS = 1000;
/** The leader's answers that another attempt will not change. */
const FINAL_CODES: readonly (string | undefined)[] = ['lsn_gone', 'lsn_ahead', 'log_diverged'];

export class Follower {
  readonly #options: FollowerOptions;
  readonly #ending = new AbortController();
  #running: Promise<void> | undefined;
  /** The leader's newest LSN that is known here. */
  #headLsn: number | undefined;
  /** When the follower last knew that it was at the leader's head. */
  #atHeadMs = Number.NEGATIVE_INFINITY;
  /** Heads of the leader that are not visible here, and when they were its heads; oldest first. */
  #heads: { readonly lsn: number; readonly atMs: number }[] = [];
  #isConnected = false;
  #failures = 0;
  /** Why the follower cannot go on; null if it can. */
  problem: string | null = null;

  constructor(options: FollowerOptions) {
    this.#options = options;
  }

  get leaderUrl(): string {
    return this.#options.leader.url;
  }

  get isConnected(): boolean {
    return this.#isConnected;
  }

  get lag(): Lag {
    const { database, now } = this.#options;
    this.#look();
    const lsns = this.#headLsn === undefined ? undefined : Math.max(0, this.#headLsn - database.lastLsn);
    return { lsns, ms: Math.max(0, now() - this.#atHeadMs) };
  }

  /** Begins to follow. */
  start(): void {
    this.#running ??= this.#run();
  }

  /** Stops following; resolves when no frame is being applied any more. */
  async close(): Promise<void> {
    this.#ending.abort(new Error('The follower is being stopped.'));
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    while (!signal.aborted) {
      try {
        await this.#follow();
        if (!signal.aborted) this.#lost(new Error('The leader ended the stream of its log.'));
      } catch (error) {
        if (!signal.aborted) this.#lost(error);
      }
      if (!signal.aborted) await this.#rest();
    }
  }

  /** Applies frames until the connection is lost. */
  async #follow(): Promise<void> {
    const { database, leader, notice, now, cursorSecret } = this.#options;
    const applier = database.applier!;
    const fromLsn = applier.nextLsn - 1;
    const sum = await database.frames.checksumAt(fromLsn);
    const decoder = new FrameDecoder(database.crc32c);
    const clock = new LeaderClock(now());
    for await (const piece of leader.log(fromLsn, sum, this.#ending.signal)) {
      if (!this.#isConnected) {
        notice('following the leader', { leader: leader.url, from_lsn: fromLsn });
        this.#isConnected = true;
        this.problem = null;
      }
      const { frames, headLsn, heartbeat } = decoder.receive(piece);
      this.#headLsn = decoder.announcedLsn ?? this.#headLsn;
      await applier.apply(frames);
      if (headLsn === undefined) continue;
      this.#failures = 0;
      if (heartbeat?.cursorSecret !== undefined) cursorSecret(heartbeat.cursorSecret);
      // A leader of an earlier version sends no times.
      const hasTime = heartbeat !== undefined && heartbeat.timeMs > 0;
      const atMs = hasTime ? this.#timeOf(heartbeat, clock) : clock.isKnown ? undefined : now();
      const lsn = heartbeat?.headLsn ?? headLsn;
      if (atMs !== undefined) this.#remember(lsn, atMs);
    }
  }

  /** Looks which heads reads see by now. */
  #look(): void {
    const { lastLsn } = this.#options.database;
    while (this.#heads.length > 0 && this.#heads[0]!.lsn <= lastLsn) this.#atHeadMs = this.#heads.shift()!.atMs;
  }

  /** Remembers when the leader had reached an LSN. */
  #remember(lsn: number, atMs: number): void {
    this.#look();
    // If too many are not visible here yet, later ones are left out, and the lag is that of others.
    if (this.#heads.length < MOST_HEADS) this.#heads.push({ lsn, atMs });
  }

  /** Returns when a heartbeat was made, by this process's clock. */
  #timeOf({ timeMs }: Heartbeat, clock: LeaderClock): number {
    const local = clock.local(timeMs, this.#options.now());
    if (local !== undefined) return local;
    throw new Error(
      'The clock of this machine stood still, so the age of its data is not known until it connects again.',
    );
  }

  #lost(error: unknown): void {
    const { leader, notice, warn } = this.#options;
    const detail = (error as Error).message;
    const fields = { leader: leader.url, detail };
    // While a leader starts, it refuses for a moment.
    const isBad = error instanceof HedgerowError || (error instanceof LeaderRefusal && error.status !== 503);
    const isFinal = error instanceof LeaderRefusal && FINAL_CODES.includes(error.code);
    if (this.#isConnected || this.problem !== detail) {
      if (isFinal) warn('the leader cannot be followed any more; reads are answered from an old state', fields);
      else notice('the leader is lost; trying again', fields);
    }
    this.#isConnected = false;
    this.#failures++;
    this.problem = detail;
    if (isFinal) this.#options.onLost?.(detail);
    if (isBad) this.#failures = Math.max(this.#failures, 10);
  }

  #rest(): Promise<void> {
    const ms = Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** Math.min(10, this.#failures - 1));
    return new Promise((resolve) => {
      const { signal } = this.#ending;
      const timer = setTimeout(done, ms);
      function done() {
        clearTimeout(timer);
        signal.removeEventListener('abort', done);
        resolve();
      }
      signal.addEventListener('abort', done, { once: true });
    });
  }
}
