// Implements `LogStore` in memory, as the second implementation of this interface. A `LogMemory`
// represents the disk, which survives a crash. One log at a time writes to it.

import { assert } from '../../src/assert.ts';
import { corruption, HedgerowError } from '../../src/errors.ts';
import type {
  LogBatches,
  LogFollower,
  LogFrame,
  LogLease,
  LogOpening,
  LogStore,
  OpenLog,
} from '../../src/storage/log-store.ts';

const PLACE = 'the log in memory';
const MAX_PAYLOAD_BYTES = 2 ** 30;
/** Number of payload bytes for which one call to `makeRoom` makes room. */
const ROOM_BYTES = 8192;
/** The part of ROOM_BYTES that is reserved for urgent frames. */
const URGENT_BYTES = 1024;
/** Maximum number of frames in a batch that is read. */
const BATCH_FRAMES = 5;

/** The stored state, which outlives the log and its process. */
export class LogMemory {
  /** Written frames, oldest first. */
  frames: LogFrame[] = [];
  /** Operations up to this LSN survive a crash. */
  durableLsn = 0;
  /** Newest LSN that was truncated. */
  truncatedLsn = 0;
  /** The log that may currently write. */
  owner: object | null = null;
  /** Maximum total of payload bytes. Tests can lower it. */
  limitBytes = Infinity;
  /** Number of writes and syncs that succeed before one fails. */
  #stepsLeft = Infinity;
  #failureCode = 'EIO';
  /** Whether the machine has stopped, so that no operation completes any more. */
  stopped = false;

  /** Opens a log on this memory. */
  readonly open: OpenLog = async (opening) => new MemoryLog(this, opening);

  /** Stops the machine. Returns the state after a power loss. */
  crash(): LogMemory {
    return this.#next(this.durableLsn);
  }

  /** Stops the process. Returns the state that the next process finds. */
  kill(): LogMemory {
    return this.#next(Infinity);
  }

  /** Removes the frame that contains `lsn`. */
  damage(lsn: number): void {
    const at = this.frames.findIndex((frame) => lastLsnOf(frame) >= lsn);
    this.frames.splice(at, 1);
  }

  /** Makes one write or sync fail after `steps` have succeeded. Later ones succeed again. */
  failAfter(steps: number, code: 'EIO' | 'ENOSPC' = 'EIO'): void {
    this.#stepsLeft = steps;
    this.#failureCode = code;
  }

  /**
   * Simulates a write or a sync. It takes a microtask, may fail, and never completes once the
   * machine has stopped.
   */
  async step(): Promise<void> {
    await null;
    if (this.stopped) await new Promise<never>(() => {});
    if (this.#stepsLeft-- > 0) return;
    this.#stepsLeft = Infinity;
    throw Object.assign(new Error(`${this.#failureCode}: simulated`), { code: this.#failureCode });
  }

  get usedBytes(): number {
    return bytesOf(this.frames);
  }

  #next(upToLsn: number): LogMemory {
    this.stopped = true;
    const next = new LogMemory();
    next.frames = this.frames.filter((frame) => lastLsnOf(frame) <= upToLsn);
    next.truncatedLsn = this.truncatedLsn;
    return next;
  }
}

class MemoryLog implements LogStore {
  failed: HedgerowError | null = null;
  durableLsn: number;
  headLsn: number;
  readonly #memory: LogMemory;
  readonly #opening: LogOpening;
  readonly #defer: (step: () => void) => void;
  /** Frames that were appended but not yet written. */
  #queued: LogFrame[] = [];
  readonly #leases = new Set<{ readonly fromLsn: number }>();
  /** Recovery does not need the operations up to this LSN. */
  #obsoleteLsn: number;
  /** Payload bytes that may still be appended. */
  #roomBytes = 0;
  #running: Promise<void> | null = null;
  #syncWanted = false;
  #syncScheduled = false;
  #closed = false;

  constructor(memory: LogMemory, opening: LogOpening) {
    const { minimumLsn, reachedLsn = minimumLsn, manifest } = opening;
    this.#memory = memory;
    this.#opening = opening;
    this.#defer = opening.defer ?? ((step) => void setImmediate(step));
    this.headLsn = lastOf(memory);
    if (this.headLsn < Math.max(minimumLsn, reachedLsn))
      throw corruption(PLACE, 0, `it ends at operation ${this.headLsn}, but operation ${reachedLsn} was in it`);
    if (memory.truncatedLsn > minimumLsn)
      throw corruption(PLACE, 0, `operations ${minimumLsn + 1} to ${memory.truncatedLsn} are missing`);
    if (manifest === 'missing' && this.headLsn > 0) throw corruption(PLACE, 0, 'the manifest was lost');
    this.#obsoleteLsn = minimumLsn;
    // Opening makes durable what a killed process has written.
    memory.durableLsn = this.headLsn;
    this.durableLsn = this.headLsn;
    memory.owner = this;
  }

  get oldestLsn(): number {
    return this.#memory.frames[0]?.firstLsn ?? this.durableLsn + 1;
  }

  get sizeBytes(): number {
    return this.#memory.usedBytes;
  }

  get historyBytes(): number {
    return bytesOf(this.#memory.frames.filter((frame) => lastLsnOf(frame) <= this.#obsoleteLsn));
  }

  get provesManifest(): boolean {
    return lastOf(this.#memory) > 0;
  }

  append(operations: number, parts: readonly Uint8Array[], seconds = this.#opening.seconds?.() ?? 0): number {
    this.#checkOpen();
    const payload = joined(parts);
    assert(operations >= 1, 'a frame has one operation or more');
    const firstLsn = this.headLsn + 1;
    this.#queued.push({ firstLsn, operations, payload, seconds });
    this.#roomBytes -= payload.length;
    this.headLsn += operations;
    this.#start();
    return firstLsn;
  }

  async appendInSlices(
    operations: number,
    parts: readonly Uint8Array[],
    pause: () => Promise<void>,
    seconds?: number,
  ): Promise<number> {
    this.#checkOpen();
    joined(parts);
    await this.flush();
    const { headLsn } = this;
    await pause();
    this.#checkOpen();
    assert(this.headLsn === headLsn, 'nothing is appended while a frame is made in slices');
    return this.append(operations, parts, seconds);
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
    let lsn = fromLsn;
    let batch: readonly LogFrame[] = [];
    return {
      next: async (upToLsn) => {
        for (const { payload } of batch) payload.fill(255);
        batch = [];
        if (lsn > upToLsn) return batch;
        const { oldestLsn } = this;
        if (lsn < oldestLsn) throw new HedgerowError('invalid_lsn', `The log begins with LSN ${oldestLsn}.`);
        for await (const frames of this.#frames(lsn, upToLsn)) {
          batch = frames.map((frame) => ({ ...frame, payload: frame.payload.slice() }));
          break;
        }
        lsn = lastLsnOf(batch.at(-1)!) + 1;
        return batch;
      },
      close: () => undefined,
    };
  }

  lease(fromLsn: number): LogLease {
    const { oldestLsn, durableLsn: lastLsn } = this;
    if (fromLsn < oldestLsn) throw new HedgerowError('invalid_lsn', `The log begins with LSN ${oldestLsn}.`);
    const lease = { fromLsn };
    this.#leases.add(lease);
    return {
      fromLsn,
      lastLsn,
      frames: () => this.#frames(fromLsn, lastLsn),
      release: () => void this.#leases.delete(lease),
    };
  }

  async *#frames(fromLsn: number, lastLsn: number): LogBatches {
    for (let lsn = fromLsn; lsn <= lastLsn; ) {
      const { frames } = this.#memory;
      const at = frames.findIndex((frame) => lastLsnOf(frame) >= lsn);
      const batch = frames.slice(at, at + BATCH_FRAMES).filter((frame) => lastLsnOf(frame) <= lastLsn);
      const bad = batch.find((frame, index) => index > 0 && frame.firstLsn !== lastLsnOf(batch[index - 1]!) + 1);
      if (batch.length === 0 || batch[0]!.firstLsn > lsn || bad !== undefined)
        throw corruption(PLACE, 0, `operation ${lsn} must follow, but it is not there`);
      lsn = lastLsnOf(batch.at(-1)!) + 1;
      // Yields copies of the payloads and overwrites them when the next batch is requested, because
      // callers must not keep them.
      const copies = batch.map((frame) => ({ ...frame, payload: frame.payload.slice() }));
      yield copies;
      for (const { payload } of copies) payload.fill(255);
    }
  }

  async truncate(lsn: number): Promise<void> {
    let upTo = lsn;
    for (const { fromLsn } of this.#leases) upTo = Math.min(upTo, fromLsn - 1);
    this.#obsoleteLsn = Math.max(this.#obsoleteLsn, upTo);
    const memory = this.#memory;
    const { bytes: keptBytes } = this.#opening.history ?? { bytes: -1 };
    while (memory.frames.length > 0 && lastLsnOf(memory.frames[0]!) <= upTo && this.historyBytes > keptBytes)
      memory.truncatedLsn = lastLsnOf(memory.frames.shift()!);
  }

  roomFor(payloadBytes: number, urgent: boolean): boolean {
    return this.#roomBytes - payloadBytes >= (urgent ? 0 : URGENT_BYTES);
  }

  async makeRoom(payloadBytes: number): Promise<void> {
    this.#checkOpen();
    if (this.roomFor(payloadBytes, false)) return;
    const wanted = Math.max(ROOM_BYTES, payloadBytes + URGENT_BYTES);
    const queued = this.#queued.reduce((sum, { payload }) => sum + payload.length, 0);
    if (this.#memory.usedBytes + queued + wanted > this.#memory.limitBytes)
      throw new HedgerowError('disk_full', 'There is no room for the log. Nothing was written.');
    this.#roomBytes = wanted;
  }

  assertOwner(): void {
    if (this.failed !== null) throw this.failed;
    if (this.#memory.owner !== this) throw this.#poison(new HedgerowError('conflict', 'Another log took over.'));
  }

  async flush(): Promise<void> {
    const lsn = this.headLsn;
    while (this.durableLsn < lsn) {
      if (this.failed !== null) throw this.failed;
      this.#syncWanted = true;
      await this.#start();
    }
    if (this.failed !== null) throw this.failed;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    if (this.failed !== null) return;
    await this.flush();
    this.assertOwner();
  }

  #checkOpen(): void {
    if (this.failed !== null) throw this.failed;
    if (this.#closed) throw new HedgerowError('draining', 'The log is closed.');
  }

  /** Starts writing a group of frames unless one is running. Resolves when that group has ended. */
  #start(): Promise<void> {
    this.#running ??= new Promise<void>((resolve) => this.#defer(resolve))
      .then(() => this.#writeGroup())
      .finally(() => {
        this.#running = null;
        if (this.failed === null && (this.#queued.length > 0 || this.#syncWanted)) void this.#start();
      });
    return this.#running;
  }

  async #writeGroup(): Promise<void> {
    if (this.failed !== null) return;
    const memory = this.#memory;
    const group = this.#queued.splice(0);
    try {
      await this.#memory.step();
      this.assertOwner();
      memory.frames.push(...group);
      if (this.#opening.durability === 'fsync' || this.#syncWanted) await this.#sync();
      else this.#scheduleSync();
    } catch (error) {
      this.#poison(error);
      return;
    }
    const last = group.at(-1);
    if (last !== undefined) this.#opening.onDurable(lastLsnOf(last));
  }

  async #sync(): Promise<void> {
    this.#syncWanted = false;
    const lsn = lastOf(this.#memory);
    await this.#memory.step();
    assert(lsn >= this.durableLsn && lsn <= this.headLsn, 'what becomes durable was given out, and never goes back');
    this.#memory.durableLsn = lsn;
    this.durableLsn = lsn;
  }

  #scheduleSync(): void {
    if (this.#syncScheduled) return;
    this.#syncScheduled = true;
    this.#opening.scheduleSync!(() => {
      this.#syncScheduled = false;
      if (this.failed !== null || this.#closed || this.durableLsn === this.headLsn) return;
      this.#syncWanted = true;
      void this.#start();
    });
  }

  #poison(cause: unknown): HedgerowError {
    if (this.failed !== null) return this.failed;
    const isFull = (cause as { code?: unknown }).code === 'ENOSPC';
    this.failed =
      cause instanceof HedgerowError
        ? cause
        : new HedgerowError(isFull ? 'disk_full' : 'log_failed', `${PLACE} cannot be written any more.`, { cause });
    this.#queued = [];
    this.#opening.onFailed(this.failed);
    return this.failed;
  }
}

function bytesOf(frames: readonly LogFrame[]): number {
  return frames.reduce((sum, { payload }) => sum + payload.length, 0);
}

function lastLsnOf({ firstLsn, operations }: LogFrame): number {
  return firstLsn + operations - 1;
}

/** Returns the newest LSN that was written. */
function lastOf({ frames, truncatedLsn }: LogMemory): number {
  const last = frames.at(-1);
  return last === undefined ? truncatedLsn : lastLsnOf(last);
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = parts.reduce((sum, part) => sum + part.length, 0);
  if (bytes > MAX_PAYLOAD_BYTES)
    throw new HedgerowError('body_too_large', `One commit may hold ${MAX_PAYLOAD_BYTES} bytes.`);
  const payload = new Uint8Array(bytes);
  let at = 0;
  for (const part of parts) {
    payload.set(part, at);
    at += part.length;
  }
  return payload;
}
