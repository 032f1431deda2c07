// The write-ahead log as rows of PostgreSQL. While this process follows, the log takes frames that
// were read from there (`fetch`), which are durable already. While it leads, the frames of a group
// are one INSERT, which is confirmed when its commit is durable.
//
// Invariants: LSNs have no gaps. onDurable reports a frame only after its commit was confirmed. If
// an INSERT fails, or if the lease is lost, the log is poisoned: the memory of this process has
// operations that the log may not have, and the database must be opened again.

import { assert } from '../assert.ts';
import { corruption, HedgerowError } from '../errors.ts';
import type { Crc32c, LogBatches, LogFollower, LogLease, LogOpening, LogStore } from '../storage/index.ts';
import { type Connection, type Postgres, sqlStateOf } from './connection.ts';
import { LogAppender } from './log-appender.ts';
import { LogExtent } from './log-extent.ts';
import { LogReads } from './log-reads.ts';
import {
  type ChainedFrame,
  frameCrc,
  headerCrc,
  LOG_TABLE,
  type LogEnd,
  lastLsnOf,
  readEnd,
  readFrames,
  readOldest,
  readPieces,
  removed,
} from './log-rows.ts';
import { SharedConnection } from './shared-connection.ts';
import type { Tenure } from './tenure.ts';

/** PostgreSQL keeps up to 1 GB in a value, and as much in the message that brings it. */
const MAX_PAYLOAD_BYTES = 2 ** 29;
/**
 * Bytes that may wait for the next INSERT before writers have to wait; a larger frame goes alone.
 */
const MAX_QUEUED_BYTES = 2 ** 26;
/** Part of it for urgent frames. */
const URGENT_BYTES = 2 ** 20;
/** Bytes and frames of one INSERT. */
const GROUP_BYTES = 2 ** 24;
const GROUP_FRAMES = 4096;
const PIECE_BYTES = 2 ** 20;
/** How long one statement of a reader may take. */
const READ_MS = 30_000;
/** A frame is copied and checked in slices of this size. */
const SLICE_BYTES = 2 ** 20;

export interface PostgresLogOptions extends LogOpening {
  readonly postgres: Postgres;
  readonly crc32c: Crc32c;
  /** Set if this process leads already. */
  readonly tenure?: Tenure | undefined;
  /**
   * Resolves with the LSN up to which others do not need the log: those who start from a snapshot,
   * and other processes.
   */
  readonly removableLsn?: (connection: Connection) => Promise<number>;
  /** Called when the log ends at a new LSN, to tell other processes. */
  readonly appended?: (lsn: number) => void;
  /** Granularity of what is removed; default 1 MB. */
  readonly pieceBytes?: number;
}

interface FlushWaiter {
  readonly lsn: number;
  readonly resolve: () => void;
  readonly reject: (error: HedgerowError) => void;
}

/** Opens the log. The caller holds the lock of the directory. */
export async function openPostgresLog(options: PostgresLogOptions): Promise<PostgresLog> {
  const { postgres, crc32c, minimumLsn, reachedLsn = minimumLsn, pieceBytes = PIECE_BYTES, tenure } = options;
  const shared = new SharedConnection(postgres, { commits: 'local', timeoutMs: READ_MS });
  try {
    const connection = await shared.get();
    await connection.confirm();
    const end = await readEnd(connection);
    const oldestLsn = (await readOldest(connection)) ?? end.lsn + 1;
    if (end.lsn < Math.max(minimumLsn, reachedLsn))
      throw corruption(
        LOG_TABLE,
        end.lsn,
        `it ends at LSN ${end.lsn}, but this directory has LSN ${reachedLsn}: PostgreSQL has lost commits`,
      );
    if (oldestLsn > minimumLsn + 1)
      throw corruption(LOG_TABLE, oldestLsn, `it begins with LSN ${oldestLsn}, but LSN ${minimumLsn + 1} is needed`);
    const extent = new LogExtent(await readPieces(connection, pieceBytes), pieceBytes);
    const log = new PostgresLog(options, new LogReads(shared, crc32c), end, oldestLsn, extent);
    if (tenure !== undefined) await log.lead(tenure);
    return log;
  } catch (error) {
    await shared.close();
    throw error;
  }
}

export class PostgresLog implements LogStore {
  failed: HedgerowError | null = null;
  durableLsn: number;
  headLsn: number;
  oldestLsn: number;
  historyBytes = 0;
  readonly provesManifest = false;

  readonly #options: PostgresLogOptions;
  readonly #reads: LogReads;
  readonly #extent: LogExtent;
  readonly #defer: (step: () => void) => void;
  /** The last frame that was appended, durable or not. */
  #end: LogEnd;
  /** The last frame that is durable. */
  #written: LogEnd;
  /** Undefined while this process follows. */
  #tenure: Tenure | undefined;
  #appender: LogAppender | undefined;
  /** Frames that were fetched and not yet appended; only while this process follows. */
  #fetched: ChainedFrame[] = [];
  #queue: ChainedFrame[] = [];
  #queuedBytes = 0;
  #busy = false;
  #running: Promise<void> = Promise.resolve();
  #waiters: FlushWaiter[] = [];
  readonly #leases = new Set<{ readonly fromLsn: number }>();
  /** This process needs nothing up to this LSN. */
  #obsoleteLsn: number;
  #closed = false;
  #isEnded = false;

  constructor(options: PostgresLogOptions, reads: LogReads, end: LogEnd, oldestLsn: number, extent: LogExtent) {
    this.#options = options;
    this.#reads = reads;
    this.#end = end;
    this.#written = end;
    this.headLsn = end.lsn;
    this.durableLsn = end.lsn;
    this.oldestLsn = oldestLsn;
    this.#extent = extent;
    this.#obsoleteLsn = options.minimumLsn;
    this.historyBytes = extent.bytesUpTo(this.#obsoleteLsn);
    this.#defer = options.defer ?? ((step) => void setImmediate(step));
  }

  get sizeBytes(): number {
    return this.#extent.sizeBytes;
  }

  /** The last durable frame. */
  get end(): LogEnd {
    return this.#written;
  }

  /** The LSN up to which this process does not need the log, whatever its readers do. */
  get obsoleteLsn(): number {
    let lsn = this.#obsoleteLsn;
    for (const { fromLsn } of this.#leases) lsn = Math.min(lsn, fromLsn - 1);
    return lsn;
  }

  // Following and leading

  /**
   * Reads the next frames of the log, which are then to be appended in their order. Resolves with
   * none at its end. Rejects with `log_diverged` if the log is another than that of this process.
   */
  async fetch(connection: Connection): Promise<readonly ChainedFrame[]> {
    assert(this.#tenure === undefined, 'only a follower fetches frames');
    this.#fetched = [];
    const { lsn, crc } = await readEnd(connection);
    if (lsn < this.headLsn || (lsn === this.headLsn && crc !== this.#end.crc)) throw diverged(this.headLsn);
    if (lsn === this.headLsn) return [];
    const frames = await readFrames(connection, this.#options.crc32c, this.headLsn + 1, Number.MAX_SAFE_INTEGER);
    const [first] = frames;
    if (first === undefined) return frames;
    if (first.firstLsn !== this.headLsn + 1 || first.previous !== this.#end.crc) throw diverged(this.headLsn);
    this.#fetched = [...frames];
    return frames;
  }

  /**
   * Begins to lead. All frames of the log must have been appended here. Rejects with `log_diverged`
   * if the log ends elsewhere, and with `ConnectionLost`; this process then still follows.
   */
  async lead(tenure: Tenure): Promise<void> {
    assert(this.#tenure === undefined, 'a process begins to lead once');
    this.#checkOpen();
    await this.flush();
    const { appender, end } = await LogAppender.open(this.#options.postgres, tenure, () => this.failed);
    if (end.lsn !== this.headLsn || end.crc !== this.#end.crc) {
      await appender.close();
      throw diverged(this.headLsn);
    }
    this.#fetched = [];
    this.#appender = appender;
    this.#tenure = tenure;
    void tenure.lost.then((error) => this.#isEnded || this.#poison(error));
  }

  /** Looks which old frames other processes have removed. */
  async refresh(): Promise<void> {
    const oldestLsn = await this.#reads.oldestLsn();
    if (oldestLsn !== undefined) this.#removed(oldestLsn - 1);
  }

  // Appending

  append(operations: number, parts: readonly Uint8Array[], seconds = this.#options.seconds?.() ?? 0): number {
    const payload = new Uint8Array(this.#checkFrame(operations, parts));
    let at = 0;
    for (let index = 0; index < parts.length; index++) {
      payload.set(parts[index]!, at);
      at += parts[index]!.length;
    }
    const place = { previous: this.#end.crc, firstLsn: this.headLsn + 1, operations, seconds };
    const frame = { ...place, payload };
    return this.#add({ ...frame, crc: frameCrc(this.#options.crc32c, frame) });
  }

  async appendInSlices(
    operations: number,
    parts: readonly Uint8Array[],
    pause: () => Promise<void>,
    seconds = this.#options.seconds?.() ?? 0,
  ): Promise<number> {
    const payload = new Uint8Array(this.#checkFrame(operations, parts));
    const { crc32c } = this.#options;
    const place = { previous: this.#end.crc, firstLsn: this.headLsn + 1, operations, seconds };
    let crc = headerCrc(crc32c, place);
    let at = 0;
    for (const part of parts) {
      for (let from = 0; from < part.length; from += SLICE_BYTES) {
        const slice = part.subarray(from, from + SLICE_BYTES);
        payload.set(slice, at);
        crc = crc32c(slice, crc);
        at += slice.length;
        if (slice.length === SLICE_BYTES) await pause();
      }
    }
    await pause();
    this.#checkOpen();
    assert(this.headLsn + 1 === place.firstLsn, 'nothing is appended while a frame is made in slices');
    return this.#add({ ...place, payload, crc: crc >>> 0 });
  }

  #add(frame: ChainedFrame): number {
    if (this.#tenure === undefined) this.#takeFetched(frame);
    else {
      this.#queue.push(frame);
      this.#queuedBytes += frame.payload.length;
    }
    this.#extent.add(frame);
    this.#end = { lsn: lastLsnOf(frame), crc: frame.crc };
    this.headLsn = this.#end.lsn;
    if (!this.#busy) this.#start();
    return frame.firstLsn;
  }

  /** Checks that a follower appends what it has read. */
  #takeFetched(frame: ChainedFrame): void {
    const next = this.#fetched.shift();
    const isSame = next?.firstLsn === frame.firstLsn && next.operations === frame.operations && next.crc === frame.crc;
    assert(isSame, 'a follower appends the frames of the log as they are');
  }

  #checkOpen(): void {
    if (this.failed !== null) throw this.failed;
    if (this.#closed) throw new HedgerowError('draining', 'The log is closed: the database is shutting down.');
  }

  /** Returns the payload size in bytes. Throws like `append`. */
  #checkFrame(operations: number, parts: readonly Uint8Array[]): number {
    this.#checkOpen();
    let bytes = 0;
    for (let index = 0; index < parts.length; index++) bytes += parts[index]!.length;
    if (bytes > MAX_PAYLOAD_BYTES)
      throw new HedgerowError(
        'body_too_large',
        `One commit may hold ${MAX_PAYLOAD_BYTES} bytes if its log is in PostgreSQL, this one has ${bytes}. Split it.`,
      );
    assert(operations >= 1, 'a frame holds one operation or more');
    return bytes;
  }

  #start(): void {
    this.#busy = true;
    this.#defer(() => {
      this.#running = this.#flushGroup();
    });
  }

  async #flushGroup(): Promise<void> {
    if (this.failed !== null) return;
    const { now, observe, onDurable, appended } = this.#options;
    if (this.#tenure !== undefined && this.#queue.length > 0) {
      const frames = this.#takeGroup();
      const startUs = now?.() ?? 0;
      try {
        await this.#appender!.insert(this.#written, frames);
      } catch (error) {
        this.#poison(error);
        return;
      }
      // If the lease was lost meanwhile, others may lead already: nothing is acknowledged any more.
      if (this.failed !== null) return;
      const last = frames.at(-1)!;
      const operations = lastLsnOf(last) - frames[0]!.firstLsn + 1;
      const bytes = frames.reduce((sum, { payload }) => sum + payload.length, 0);
      if (now !== undefined) observe?.({ frames: frames.length, operations, bytes, elapsedUs: now() - startUs });
      this.#written = { lsn: lastLsnOf(last), crc: last.crc };
      appended?.(this.#written.lsn);
    } else if (this.#tenure === undefined) this.#written = this.#end;
    const { lsn } = this.#written;
    const isNew = lsn > this.durableLsn;
    assert(lsn >= this.durableLsn && lsn <= this.headLsn, 'LSNs become durable in order');
    this.durableLsn = lsn;
    this.#busy = false;
    this.#resolveWaiters();
    if (isNew) onDurable(lsn);
    if (!this.#busy && this.durableLsn < this.headLsn) this.#start();
  }

  #takeGroup(): ChainedFrame[] {
    let count = 0;
    let bytes = 0;
    while (count < this.#queue.length && count < GROUP_FRAMES) {
      const { length } = this.#queue[count]!.payload;
      if (count > 0 && bytes + length > GROUP_BYTES) break;
      bytes += length;
      count++;
    }
    this.#queuedBytes -= bytes;
    return this.#queue.splice(0, count);
  }

  #resolveWaiters(): void {
    if (this.#waiters.length === 0) return;
    const done = this.#waiters.filter(({ lsn }) => lsn <= this.durableLsn);
    this.#waiters = this.#waiters.filter(({ lsn }) => lsn > this.durableLsn);
    for (const waiter of done) waiter.resolve();
  }

  #poison(cause: unknown): HedgerowError {
    if (this.failed !== null) return this.failed;
    const error = failureOf(cause);
    this.failed = error;
    this.#queue = [];
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    this.#options.onFailed(error);
    return error;
  }

  flush(): Promise<void> {
    if (this.failed !== null) return Promise.reject(this.failed);
    if (this.durableLsn === this.headLsn) return Promise.resolve();
    return new Promise((resolve, reject) => {
      this.#waiters.push({ lsn: this.headLsn, resolve, reject });
    });
  }

  roomFor(payloadBytes: number, urgent: boolean): boolean {
    if (this.#queuedBytes === 0) return true;
    return this.#queuedBytes + payloadBytes <= MAX_QUEUED_BYTES - (urgent ? 0 : URGENT_BYTES);
  }

  async makeRoom(payloadBytes: number): Promise<void> {
    for (;;) {
      this.#checkOpen();
      if (this.roomFor(payloadBytes, false)) return;
      await this.flush();
    }
  }

  assertOwner(): void {
    if (this.failed !== null) throw this.failed;
  }

  // Reading

  async *read(fromLsn: number): LogBatches {
    const lease = this.lease(fromLsn);
    try {
      yield* lease.frames();
    } finally {
      lease.release();
    }
  }

  follow(fromLsn: number): LogFollower {
    return this.#reads.follow(fromLsn);
  }

  lease(fromLsn: number): LogLease {
    const { durableLsn: lastLsn, oldestLsn } = this;
    if (fromLsn < oldestLsn) throw removed(fromLsn, oldestLsn);
    const lease = { fromLsn };
    this.#leases.add(lease);
    return {
      fromLsn,
      lastLsn,
      frames: () => this.#reads.frames(fromLsn, lastLsn),
      release: () => void this.#leases.delete(lease),
    };
  }

  // Removing

  /** Only the leader removes frames, and only those that no process and no snapshot needs. */
  async truncate(lsn: number): Promise<void> {
    assert(lsn <= this.durableLsn, 'only durable LSNs are let go of');
    this.#obsoleteLsn = Math.max(this.#obsoleteLsn, lsn);
    this.historyBytes = this.#extent.bytesUpTo(this.#obsoleteLsn);
    await this.trim();
  }

  /** Total size in bytes of the frames after an LSN. */
  bytesAfter(lsn: number): number {
    return this.#extent.sizeBytes - this.#extent.bytesUpTo(lsn);
  }

  /** Removes what is no longer needed, because there is a newer snapshot, for example. */
  async trim(): Promise<void> {
    if (this.#tenure !== undefined && this.failed === null) await this.#remove(this.#tenure);
  }

  async #remove({ epoch }: Tenure): Promise<void> {
    const { history, seconds, removableLsn } = this.#options;
    const nowSeconds = seconds?.() ?? 0;
    if (this.#extent.removable(this.obsoleteLsn, history, nowSeconds) === 0) return;
    const connection = await this.#reads.connection();
    const others = (await removableLsn?.(connection)) ?? Number.POSITIVE_INFINITY;
    const lsn = this.#extent.removable(Math.min(this.obsoleteLsn, others), history, nowSeconds);
    if (lsn === 0) return;
    await connection.run(
      `DELETE FROM hedgerow_log WHERE first_lsn <= $1 AND last_lsn <= $1
        AND EXISTS (SELECT 1 FROM hedgerow_lease WHERE epoch = $2)`,
      [lsn, epoch],
    );
    this.#removed(lsn);
  }

  #removed(lsn: number): void {
    this.oldestLsn = Math.max(this.oldestLsn, lsn + 1);
    this.#extent.remove(lsn);
    this.historyBytes = this.#extent.bytesUpTo(this.#obsoleteLsn);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      if (this.failed === null) await this.flush();
    } finally {
      // If the log is poisoned, an INSERT may still wait for the server.
      if (this.failed !== null) this.#appender?.destroy();
      await this.#running;
      this.#isEnded = true;
      await this.#appender?.close();
      await this.#reads.close();
    }
  }
}

function diverged(lsn: number): HedgerowError {
  return new HedgerowError(
    'log_diverged',
    `The log in PostgreSQL does not continue what this server has up to LSN ${lsn}: PostgreSQL has lost commits, for example because a standby was promoted that was not synchronous. Start this server with an empty directory.`,
  );
}

function failureOf(cause: unknown): HedgerowError {
  if (cause instanceof HedgerowError) return cause;
  // 53100: the disk of the server is full.
  const isFull = sqlStateOf(cause) === '53100';
  const { message } = cause as Error;
  return new HedgerowError(
    isFull ? 'disk_full' : 'log_failed',
    `PostgreSQL has refused to append to the log (${message}). It was not carried out. ${isFull ? 'Free space on its disk' : 'See the log of PostgreSQL'}, then try again.`,
    { cause },
  );
}
