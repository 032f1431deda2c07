// The write-ahead log: collects frames in groups, makes each group durable with one sync (group
// commit), and returns the frames at the next open.
//
// While one group is being written, new frames are collected in another. So all frames that arrive
// during a sync share the cost of the next sync. Frames are written to preallocated files: a file
// is filled with zeros and synced before it gets its name. Therefore an append does not change the
// file size, and only data must be synced. A group that does not fit into the rest of a file goes
// on in the spare file, which was prepared in the background (log-room.ts).
//
// Invariants: LSNs are assigned without gaps, from 1. durableLsn <= writtenLsn <= headLsn. At most
// one write or sync runs at a time. onDurable reports the LSNs of a frame only after the frame was
// written and synced, maybe by one call (with durability `async`: after the write). After the
// first failed write or sync nothing is written any more (the log is "poisoned"), because a failed
// fsync leaves the file in an unknown state. FORMAT.md describes the bytes, the recovery rule and
// the reasons.

import { assert } from '../assert.ts';
import { HedgerowError } from '../errors.ts';
import { ClosedFiles } from './closed-files.ts';
import type { Crc32c } from './crc32c.ts';
import { FILE_HEADER_BYTES, FRAME_HEADER_BYTES, frameBytes, MAX_PAYLOAD_BYTES } from './frame.ts';
import { FrameGroup } from './frame-group.ts';
import type { Fs } from './fs.ts';
import { failureOf } from './log-failure.ts';
import {
  type ActiveLogFile,
  capacityOf,
  FIRST_FILE_BYTES,
  fileBytesFor,
  logFilePath,
  placeSpare,
  removeSpare,
  trimFile,
} from './log-file.ts';
import { FileFollower } from './log-follower.ts';
import { adoptHistory, dateFiles } from './log-history.ts';
import { type LogFilePart, partsOf, readLogFiles } from './log-reader.ts';
import { type RecoveredLog, recoverLog } from './log-recovery.ts';
import { LogRoom } from './log-room.ts';
import type { LogBatches, LogFollower, LogLease, LogOpening, LogStore } from './log-store.ts';
import { MarkFile } from './mark-file.ts';
import { writeWhole } from './whole-file.ts';

export const DEFAULT_LOG_FILE_BYTES = 2 ** 24;

/** Options of a log in files. */
export interface LogOptions extends LogOpening {
  fs: Fs;
  /**
   * Directory of the log; created if missing. It contains nothing else, so only the log syncs it.
   */
  dir: string;
  crc32c: Crc32c;
  /**
   * Size of a log file in bytes; default 16 MB. The first file after an open has at most 1 MB,
   * unless its first frame needs more.
   */
  fileBytes?: number;
}

/**
 * Recovers the log in `dir` and opens it for one writer. The caller must hold the lock on the
 * directory. If it rejects with `corrupt`, the log is unchanged. When it resolves, this process
 * owns the log: another process that still has the log open detects this when it next creates a log
 * file or installs a manifest.
 */
export async function openLog(options: LogOptions): Promise<LogStore> {
  assert(options.durability === 'fsync' || options.scheduleSync !== undefined, 'async durability has a timer');
  const { fs, dir, crc32c, minimumLsn, reachedLsn = minimumLsn, manifest } = options;
  fs.makeDir(dir);
  const recovered = await recoverLog(fs, dir, crc32c, { minimumLsn, reachedLsn, manifest });
  await removeSpare(fs, dir);
  const newest = recovered.needed.at(-1);
  const mark = await MarkFile.claim({
    ...{ fs, dir, crc32c, found: recovered.mark, owner: options.owner ?? 0 },
    anew: newest === undefined || newest.version < 2,
    epoch: recovered.nextEpoch,
    reachedLsn: recovered.headLsn,
  });
  if (recovered.dropped !== null) options.onDropped?.({ ...recovered.dropped });
  return new FileLog(options, recovered, mark);
}

interface FlushWaiter {
  lsn: number;
  resolve: () => void;
  reject: (error: HedgerowError) => void;
}

class FileLog implements LogStore {
  failed: HedgerowError | null = null;
  durableLsn: number;
  headLsn: number;

  readonly #options: LogOptions;
  readonly #fileBytes: number;
  readonly #recovered: RecoveredLog;
  readonly #epoch: number;
  readonly #defer: (step: () => void) => void;
  /** Yields to other work. */
  readonly #pause: () => Promise<void> = () => new Promise((resolve) => void this.#defer(resolve));
  #nextSequence: number;
  /** Oldest first. Nothing is written to these files any more. */
  readonly #closedFiles: ClosedFiles;
  #active: ActiveLogFile | null = null;
  readonly #mark: MarkFile;
  readonly #room: LogRoom;
  #gathering = new FrameGroup();
  #flushing = new FrameGroup();
  /** Whether a flush is scheduled or running. */
  #busy = false;
  #writtenLsn: number;
  #syncWanted = false;
  #syncScheduled = false;
  #waiters: FlushWaiter[] = [];
  /** When the newest frame was appended, in epoch seconds. */
  #newestSeconds: number;
  #closed = false;
  /** The running flush, or the last one. */
  #running: Promise<void> = Promise.resolve();

  constructor(options: LogOptions, recovered: RecoveredLog, mark: MarkFile) {
    this.#options = options;
    this.#recovered = recovered;
    this.#mark = mark;
    this.#fileBytes = Math.max(options.fileBytes ?? DEFAULT_LOG_FILE_BYTES, fileBytesFor(FRAME_HEADER_BYTES));
    const { fs, dir } = options;
    this.#room = new LogRoom({ fs, dir, fileBytes: this.#fileBytes, assertOwner: () => this.assertOwner() });
    this.#epoch = recovered.nextEpoch;
    this.#nextSequence = recovered.nextSequence;
    this.#newestSeconds = options.seconds?.() ?? 0;
    const { history, seconds } = options;
    const files = history === undefined ? [...recovered.obsolete] : adoptHistory(fs, options.crc32c, recovered);
    files.push(...recovered.needed);
    if (history !== undefined) dateFiles(fs, files, this.#newestSeconds);
    this.#closedFiles = new ClosedFiles(files, options.minimumLsn, {
      ...{ fs, history, seconds },
      activeFirstLsn: () => this.#active?.firstLsn,
      markSequence: () => this.#mark.sequence,
    });
    this.#defer = options.defer ?? ((step) => void setImmediate(step));
    this.headLsn = recovered.headLsn;
    this.durableLsn = recovered.headLsn;
    this.#writtenLsn = recovered.headLsn;
    this.#prepareSpare();
  }

  get provesManifest(): boolean {
    const newest = this.#recovered.needed.at(-1);
    return this.#active !== null || (newest !== undefined && newest.version >= 2);
  }

  get oldestLsn(): number {
    return this.#closedFiles.oldestLsn ?? this.#active?.firstLsn ?? this.durableLsn + 1;
  }

  get sizeBytes(): number {
    return this.#closedFiles.bytes + (this.#active?.bytes ?? 0);
  }

  get historyBytes(): number {
    return this.#closedFiles.historyBytes;
  }

  /** All files with frames, oldest first. */
  get #files(): readonly { path: string; firstLsn: number }[] {
    const { list } = this.#closedFiles;
    return this.#active === null ? list : [...list, this.#active];
  }

  append(operations: number, parts: readonly Uint8Array[], seconds = this.#options.seconds?.() ?? 0): number {
    const payloadBytes = this.#checkFrame(operations, parts);
    const firstLsn = this.headLsn + 1;
    const { crc32c } = this.#options;
    this.#newestSeconds = seconds;
    this.#gathering.add(parts, payloadBytes, this.#epoch, firstLsn, this.durableLsn, operations, crc32c, seconds);
    this.#room.take(frameBytes(payloadBytes));
    this.headLsn += operations;
    if (!this.#busy) this.#startFlush();
    return firstLsn;
  }

  async appendInSlices(
    operations: number,
    parts: readonly Uint8Array[],
    pause: () => Promise<void>,
    seconds = this.#options.seconds?.() ?? 0,
  ): Promise<number> {
    const payloadBytes = this.#checkFrame(operations, parts);
    // The frame becomes a group of its own, so all frames appended earlier are flushed first.
    await this.flush();
    const firstLsn = this.headLsn + 1;
    const group = new FrameGroup(frameBytes(payloadBytes));
    const { durableLsn } = this;
    const { crc32c } = this.#options;
    await group.addInSlices(parts, payloadBytes, this.#epoch, firstLsn, durableLsn, operations, crc32c, pause, seconds);
    this.#newestSeconds = seconds;
    this.#checkOpen();
    const isAlone = this.headLsn + 1 === firstLsn && this.#gathering.frames === 0;
    assert(isAlone, 'nothing was appended while a frame was made in slices');
    this.#gathering = group;
    this.#room.take(frameBytes(payloadBytes));
    this.headLsn += operations;
    if (!this.#busy) this.#startFlush();
    return firstLsn;
  }

  #checkOpen(): void {
    if (this.failed !== null) throw this.failed;
    if (this.#closed) throw new HedgerowError('draining', 'The log is closed: the database is shutting down.');
  }

  /** Returns the payload size in bytes. Throws like `append`. */
  #checkFrame(operations: number, parts: readonly Uint8Array[]): number {
    this.#checkOpen();
    let payloadBytes = 0;
    for (let index = 0; index < parts.length; index++) payloadBytes += parts[index]!.length;
    if (payloadBytes > MAX_PAYLOAD_BYTES) {
      throw new HedgerowError(
        'body_too_large',
        `One commit may hold ${MAX_PAYLOAD_BYTES} bytes, this one has ${payloadBytes}. Split it.`,
      );
    }
    assert(operations >= 1, 'a frame holds one operation or more');
    return payloadBytes;
  }

  async *read(fromLsn: number): LogBatches {
    const lease = this.lease(fromLsn);
    try {
      yield* lease.frames();
    } finally {
      lease.release();
    }
  }

  follow(fromLsn: number): LogFollower {
    const { fs, crc32c } = this.#options;
    return new FileFollower(fs, crc32c, this.#pause, (lsn) => this.#partOf(lsn), fromLsn);
  }

  /** Returns the file that contains a durable LSN. */
  #partOf(lsn: number): LogFilePart {
    this.#assertHeld(lsn);
    const files = this.#files;
    const place = files.findLastIndex(({ firstLsn }) => firstLsn <= lsn);
    const { path, firstLsn } = files[place]!;
    return { path, firstLsn, stopLsn: Math.min(files[place + 1]?.firstLsn ?? Infinity, this.durableLsn + 1) };
  }

  #assertHeld(lsn: number): void {
    const { oldestLsn } = this;
    if (lsn >= oldestLsn) return;
    const detail = `The log begins with LSN ${oldestLsn}: older operations, such as LSN ${lsn}, were removed from it.`;
    throw new HedgerowError('invalid_lsn', detail, { fields: { oldest_lsn: oldestLsn } });
  }

  lease(fromLsn: number): LogLease {
    const { durableLsn: lastLsn } = this;
    this.#assertHeld(fromLsn);
    const release = this.#closedFiles.lease(fromLsn);
    const parts = partsOf(this.#files, fromLsn, lastLsn);
    const { fs, crc32c } = this.#options;
    return {
      fromLsn,
      lastLsn,
      frames: () => readLogFiles(fs, parts, fromLsn, crc32c, this.#pause),
      release,
    };
  }

  truncate(lsn: number): Promise<void> {
    assert(lsn <= this.durableLsn, 'only durable LSNs are let go of');
    return this.#closedFiles.truncate(lsn);
  }

  roomFor(payloadBytes: number, urgent: boolean): boolean {
    return this.#room.fits(frameBytes(payloadBytes), urgent);
  }

  async makeRoom(payloadBytes: number): Promise<void> {
    const bytes = frameBytes(payloadBytes);
    for (;;) {
      this.#checkOpen();
      if (this.#room.fits(bytes, false)) return;
      try {
        await this.#room.make(bytes, this.#nextFileBytes(), () => this.flush());
      } catch (error) {
        if (!(error instanceof HedgerowError && error.code === 'disk_full' && (await this.#closedFiles.dropHistory())))
          throw error;
      }
    }
  }

  assertOwner(): void {
    if (this.failed !== null) throw this.failed;
    try {
      this.#mark.assertOwner();
    } catch (error) {
      throw this.#poison(error);
    }
  }

  flush(): Promise<void> {
    if (this.failed !== null) return Promise.reject(this.failed);
    if (this.durableLsn === this.headLsn) return Promise.resolve();
    this.#syncWanted = true;
    return new Promise((resolve, reject) => {
      this.#waiters.push({ lsn: this.headLsn, resolve, reject });
      if (!this.#busy) this.#startFlush();
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    try {
      if (this.failed === null) {
        await this.flush();
        await this.#seal();
      }
    } finally {
      // If `assertOwner` has poisoned the log, a write may still be running.
      await this.#running;
      this.#active?.handle.close();
      this.#active = null;
      await this.#room.close();
      this.#mark.close();
    }
    if (this.failed === null) await removeSpare(this.#options.fs, this.#options.dir);
  }

  #startFlush(): void {
    this.#busy = true;
    this.#defer(() => {
      this.#running = this.#flushGroup();
    });
  }

  /**
   * Writes the gathered frames, syncs them if that is due, and reports them. Apart from `close`,
   * this is the only place that writes frames.
   */
  async #flushGroup(): Promise<void> {
    if (this.failed !== null) return;
    const group = this.#gathering;
    this.#gathering = this.#flushing;
    this.#flushing = group;
    const { durability, now, observe } = this.#options;
    const startUs = now?.() ?? 0;
    try {
      await this.#write(group);
      if (durability === 'fsync' || this.#syncWanted) await this.#sync();
      else this.#scheduleSync();
    } catch (error) {
      this.#poison(error);
      return;
    }
    // If the log was poisoned meanwhile, another process has taken over, and may have read the log
    // without this group.
    if (this.failed !== null) return;
    if (now !== undefined && group.frames > 0) {
      observe?.({ frames: group.frames, operations: group.operations, bytes: group.used, elapsedUs: now() - startUs });
    }
    const reported = group.frames > 0 ? group.lastLsn : 0;
    group.clear();
    if (this.#active !== null) this.#room.written(this.#active.capacity - this.#active.bytes, this.#gathering.used);
    this.#prepareSpare();
    this.#busy = false;
    this.#resolveWaiters();
    if (reported > 0) this.#options.onDurable(reported);
    if (!this.#busy && (this.#gathering.frames > 0 || this.#syncWanted)) this.#startFlush();
  }

  /** Writes a group with one write per file, which makes a small one durable. */
  async #write(group: FrameGroup): Promise<void> {
    const follows = group.frames === 0 || group.lastLsn - group.operations === this.#writtenLsn;
    assert(follows, 'a group begins after the newest written LSN');
    const isSynced = this.#options.durability === 'fsync' && this.#options.isCopy !== true;
    for (let from = 0; from < group.used; ) {
      const room = this.#active === null ? 0 : this.#active.capacity - this.#active.bytes;
      const until = group.boundaryWithin(from, room);
      if (until === from) {
        const frame = group.frameAt(from);
        await this.#rotate(frame.firstLsn, frame.bytes);
        continue;
      }
      const active = this.#active!;
      assert(active.bytes + (until - from) <= active.capacity, 'a group ends within its file');
      const isDurable = isSynced && group.isSmall && this.durableLsn === this.#writtenLsn;
      await writeWhole(active.handle, group.bytes.subarray(from, until), active.bytes, isDurable);
      active.bytes += until - from;
      this.#writtenLsn = until === group.used ? group.lastLsn : group.frameAt(until).firstLsn - 1;
      if (isDurable) this.#reach(this.#writtenLsn);
      from = until;
    }
  }

  async #sync(): Promise<void> {
    this.#syncWanted = false;
    const lsn = this.#writtenLsn;
    if (lsn === this.durableLsn || this.#active === null) return;
    if (this.#options.isCopy !== true) await this.#active.handle.datasync();
    this.#reach(lsn);
  }

  /** Everything up to this LSN has become durable. */
  #reach(lsn: number): void {
    assert(lsn >= this.durableLsn && lsn <= this.headLsn, 'LSNs become durable in order');
    this.durableLsn = lsn;
    this.#mark.writeWatermark(lsn);
  }

  #scheduleSync(): void {
    if (this.#syncScheduled || this.durableLsn === this.#writtenLsn) return;
    this.#syncScheduled = true;
    this.#options.scheduleSync!(() => {
      this.#syncScheduled = false;
      if (this.failed !== null || this.#closed || this.durableLsn === this.headLsn) return;
      this.#syncWanted = true;
      if (!this.#busy) this.#startFlush();
    });
  }

  /**
   * Begins a new file that starts with `firstLsn` and has space for a frame of `neededBytes`. The
   * old file is made durable before the new one gets its name.
   */
  async #rotate(firstLsn: number, neededBytes: number): Promise<void> {
    const { fs, dir, crc32c } = this.#options;
    if (this.#active !== null) {
      await this.#sync();
      assert(this.durableLsn === firstLsn - 1, 'a log file is durable before its successor is made');
      const { handle, path, sequence, firstLsn: from, bytes } = this.#active;
      handle.close();
      this.#active = null;
      this.#closedFiles.add({ path, sequence, firstLsn: from, bytes, newestSeconds: this.#newestSeconds });
    }
    this.assertOwner();
    const spare = await this.#room.takeSpare(neededBytes, this.#nextFileBytes());
    const sequence = this.#nextSequence++;
    assert(sequence > this.#mark.sequence, 'the sequence numbers of log files ascend');
    const handle = await placeSpare(fs, dir, spare, { epoch: this.#epoch, sequence, firstLsn }, crc32c);
    this.#room.placed();
    const place = { path: logFilePath(dir, sequence), sequence, firstLsn };
    this.#active = { handle, ...place, bytes: FILE_HEADER_BYTES, capacity: capacityOf(spare.bytes) };
    await this.#mark.write({ sequence, firstLsn, reachedLsn: firstLsn - 1 });
    const before = this.#closedFiles.list.at(-1);
    if (before !== undefined) await trimFile(fs, before);
  }

  /**
   * Prepares a spare file in the background, unless the active file is less than half full. A
   * failure is not reported here, because `#rotate` tries again.
   */
  #prepareSpare(): void {
    if (this.#closed || (this.#active !== null && this.#active.bytes * 2 < this.#active.capacity)) return;
    this.#room.prepare(this.#nextFileBytes());
  }

  #nextFileBytes(): number {
    const isFirst = this.#nextSequence === this.#recovered.nextSequence;
    return isFirst ? Math.min(this.#fileBytes, FIRST_FILE_BYTES) : this.#fileBytes;
  }

  /**
   * Records, with a seal and in the mark, that the last frames are durable and the log was closed
   * in order. The frames are already synced, so the loss of the seal would not lose any data.
   */
  async #seal(): Promise<void> {
    this.assertOwner();
    assert(this.durableLsn === this.headLsn, 'a log is durable as a whole when it is sealed');
    if (this.#active !== null) {
      const seal = new FrameGroup();
      seal.add([], 0, this.#epoch, this.headLsn + 1, this.durableLsn, 0, this.#options.crc32c);
      await writeWhole(this.#active.handle, seal.bytes.subarray(0, frameBytes(0)), this.#active.bytes);
      await this.#active.handle.datasync();
    }
    await this.#mark.write({ reachedLsn: this.headLsn, closed: true });
  }

  #resolveWaiters(): void {
    if (this.#waiters.length === 0) return;
    const done = this.#waiters.filter((waiter) => waiter.lsn <= this.durableLsn);
    this.#waiters = this.#waiters.filter((waiter) => waiter.lsn > this.durableLsn);
    for (const waiter of done) waiter.resolve();
    if (this.#waiters.length > 0) this.#syncWanted = true;
  }

  /** Makes the log refuse all writes from now on. Returns the error of the first failure. */
  #poison(cause: unknown): HedgerowError {
    if (this.failed !== null) return this.failed;
    const error = failureOf(cause, this.#active?.path ?? this.#options.dir);
    this.failed = error;
    this.#gathering.clear();
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error);
    this.#options.onFailed(error);
    return error;
  }
}
