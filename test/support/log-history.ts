// Runs a random history of a log on a simulated disk and compares it with a model. Acknowledged
// operations must survive, and the operations that survive must be those that were appended.

import { HedgerowError } from '../../src/errors.ts';
import { openLog } from '../../src/storage/log.ts';
import type { LogFrame, LogStore } from '../../src/storage/log-store.ts';
import { crc32c } from './crc32c.ts';
import { Random } from './random.ts';
import { type Fault, type Operation, SimFs, SimStopped } from './sim-fs.ts';

const DIR = '/data';
const FILE_BYTES = 4096 + 6000;

interface ModelFrame {
  firstLsn: number;
  operations: number;
  payload: Uint8Array;
}

export class LogHistory {
  /** Frames that the last recovery found and frames appended since then, oldest first. */
  frames: ModelFrame[] = [];
  /** Every recovery must find all operations up to this LSN. */
  promisedLsn = 0;
  /** LSN up to which the manifest makes the log unnecessary. */
  minimumLsn = 0;
  /** Greatest LSN that was in the log when the manifest was written. */
  reachedLsn = 0;
  /** Counts of events, so that a test can check that a history covered them. */
  readonly seen = { crashes: 0, kills: 0, poisonings: 0, closes: 0, stoppedOpens: 0, rotations: 0, framesLost: 0 };
  readonly #random: Random;
  readonly #durability: 'fsync' | 'async';
  readonly #asksForRoom: boolean;
  fs: SimFs;

  constructor(seed: number) {
    this.#random = new Random(seed);
    this.#durability = this.#random.chance(0.25) ? 'async' : 'fsync';
    this.#asksForRoom = this.#random.chance(0.7);
    this.fs = new SimFs(this.#random);
  }

  async run(rounds: number): Promise<void> {
    for (let round = 0; round < rounds; round++) {
      const crashAt = this.fs.operations + 1 + this.#random.below(this.#random.chance(0.3) ? 12 : 90);
      const faultAt = this.#random.chance(0.25) ? this.fs.operations + 1 + this.#random.below(60) : -1;
      this.fs.schedule = (operation) => this.#fault(operation, crashAt, faultAt);
      const life = this.#life().catch((error: unknown) => {
        if (!(error instanceof SimStopped)) throw error;
        return new Promise<void>(() => {});
      });
      await Promise.race([life, this.fs.whenStopped]);
      this.#nextMachine();
    }
    this.fs.schedule = () => undefined;
    await this.#verifyTwice();
  }

  #fault(operation: Operation, crashAt: number, faultAt: number): Fault | undefined {
    if (operation.index === crashAt) return 'crash';
    if (operation.index !== faultAt || operation.kind === 'open' || operation.kind === 'read') return undefined;
    if (operation.kind === 'write' && this.#random.chance(0.5)) return { shortBytes: 1 + this.#random.below(300) };
    return { code: this.#random.chance(0.5) ? 'EIO' : 'ENOSPC' };
  }

  #nextMachine(): void {
    if (this.#random.chance(0.4)) {
      this.seen.kills++;
      this.fs = this.fs.kill();
    } else {
      this.seen.crashes++;
      this.fs = this.fs.crash();
    }
  }

  /** Simulates the life of one process: opens the log, checks it, appends, sometimes closes it. */
  async #life(): Promise<void> {
    const fs = this.fs;
    const log = await this.#open();
    if (log === null) return;
    await this.#check(log);
    const appends = this.#random.below(40);
    try {
      for (let count = 0; count < appends && log.failed === null; count++) await this.#step(log, fs);
      if (this.#random.chance(0.3)) {
        await log.close();
        this.seen.closes++;
        if (this.fs.openHandles !== 0) throw new Error(`${this.fs.openHandles} files are open after close`);
      } else if (this.#random.chance(0.5)) await log.flush();
    } catch (error) {
      if (!isDiskFault(error)) throw error;
      this.seen.poisonings++;
    }
  }

  /** Opens the log. Returns null if the disk fails meanwhile. */
  async #open(): Promise<LogStore | null> {
    try {
      const log: LogStore = await openLog({
        fs: this.fs,
        dir: DIR,
        crc32c,
        durability: this.#durability,
        fileBytes: FILE_BYTES,
        minimumLsn: this.minimumLsn,
        reachedLsn: this.reachedLsn,
        onDurable: (lsn) => {
          if (this.#durability === 'fsync') this.#promise(log, lsn);
        },
        onFailed: () => {},
        defer: queueMicrotask,
        scheduleSync: (sync) => void this.#later(sync),
      });
      return log;
    } catch (error) {
      if (error instanceof HedgerowError || error instanceof SimStopped || !isDiskFault(error)) throw error;
      this.seen.stoppedOpens++;
      return null;
    }
  }

  async #later(sync: () => void): Promise<void> {
    for (let ticks = this.#random.below(30); ticks >= 0; ticks--) await null;
    sync();
  }

  #promise(log: LogStore, lsn: number): void {
    if (lsn > log.durableLsn) throw new Error(`operation ${lsn} was reported durable, the log says ${log.durableLsn}`);
    if (lsn > this.promisedLsn) this.promisedLsn = lsn;
  }

  async #step(log: LogStore, fs: SimFs): Promise<void> {
    if (fs.stopped) throw new SimStopped();
    const operations = 1 + (this.#random.chance(0.3) ? this.#random.below(50) : 0);
    const size = this.#random.chance(0.03)
      ? this.#random.below(30_000)
      : this.#random.below(this.#random.chance(0.3) ? 2500 : 120);
    const payload = new Uint8Array(size);
    for (let index = 0; index < size; index++) payload[index] = this.#random.below(256);
    const cut = this.#random.below(size + 1);
    // Most histories reserve room before they append, as most callers do.
    if (this.#asksForRoom) while (!log.roomFor(size, this.#random.chance(0.2))) await log.makeRoom(size);
    if (fs.stopped) throw new SimStopped();
    const firstLsn = log.append(operations, [payload.subarray(0, cut), payload.subarray(cut)]);
    this.frames.push({ firstLsn, operations, payload });
    if (this.#random.chance(0.4)) for (let ticks = this.#random.below(12); ticks >= 0; ticks--) await null;
    if (fs.stopped) throw new SimStopped();
    if (this.#random.chance(0.15)) await log.flush();
    if (log.durableLsn > this.promisedLsn) this.promisedLsn = log.durableLsn;
    if (this.#random.chance(0.05)) await this.#truncate(log);
  }

  async #truncate(log: LogStore): Promise<void> {
    const behind = this.#random.below(3) * 20;
    this.minimumLsn = Math.max(this.minimumLsn, log.durableLsn - behind);
    this.reachedLsn = log.durableLsn;
    log.assertOwner();
    await log.truncate(this.minimumLsn);
  }

  /**
   * Checks that the log contains all promised frames unchanged, in order and without gaps. Then
   * removes from the model the frames that the log does not contain.
   */
  async #check(log: LogStore): Promise<void> {
    if (log.headLsn < this.promisedLsn)
      throw new Error(`operation ${this.promisedLsn} was promised, the log ends at ${log.headLsn}`);
    if (log.durableLsn !== log.headLsn)
      throw new Error(`the log ends at ${log.headLsn}, but only ${log.durableLsn} is durable`);
    const kept = this.frames.filter((frame) => lastLsn(frame) <= log.headLsn);
    this.seen.framesLost += this.frames.length - kept.length;
    const wanted = kept.filter((frame) => lastLsn(frame) > this.minimumLsn);
    let index = 0;
    for await (const batch of log.read(this.minimumLsn + 1)) {
      for (const frame of batch) checkFrame(frame, wanted[index++]);
    }
    if (index !== wanted.length) throw new Error(`${index} frames were found, ${wanted.length} expected`);
    const newest = kept.at(-1);
    if (log.headLsn !== Math.max(this.minimumLsn, newest === undefined ? 0 : lastLsn(newest)))
      throw new Error(`half a frame at ${log.headLsn}`);
    this.frames = kept;
    this.promisedLsn = log.headLsn;
    if (this.fs.list(DIR).length > 2) this.seen.rotations++;
  }

  async #verifyTwice(): Promise<void> {
    for (let time = 0; time < 2; time++) {
      const log = (await this.#open())!;
      await this.#check(log);
      this.fs = time === 0 ? this.fs.crash() : this.fs.kill();
    }
  }
}

function checkFrame(found: LogFrame, expected: ModelFrame | undefined): void {
  if (expected === undefined) throw new Error(`frame ${found.firstLsn} was found, none was expected`);
  if (
    expected.firstLsn !== found.firstLsn ||
    expected.operations !== found.operations ||
    !sameBytes(expected.payload, found.payload)
  ) {
    throw new Error(
      `frame ${found.firstLsn} (${found.operations}) was found, ${expected.firstLsn} (${expected.operations}) was expected`,
    );
  }
}

function lastLsn(frame: ModelFrame): number {
  return frame.firstLsn + frame.operations - 1;
}

/**
 * Returns whether a disk fault explains the error. The error may be a refusal by the log or a
 * system error, but not corruption.
 */
function isDiskFault(error: unknown): boolean {
  if (error instanceof HedgerowError) return ['log_failed', 'disk_full', 'disk_failed'].includes(error.code);
  const code = (error as { code?: unknown } | null)?.code;
  return code === 'EIO' || code === 'ENOSPC' || (error instanceof Error && error.message.startsWith('short write'));
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return left.length === right.length && left.every((byte, index) => byte === right[index]);
}
