// Maintenance in a simulation: compactions of one table or of all tables, with and without a TTL,
// backups that are restored, full disks and scarce memory.

import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { restoreBackup } from '../../src/engine/backup/restore.ts';
import { Database } from '../../src/engine/index.ts';
import { SimStopped } from '../support/sim-fs.ts';
import { judge } from './sim-judge.ts';
import type { SimOp } from './sim-ledger.ts';
import { type SimModel, Violation } from './sim-model.ts';
import { failureOf } from './sim-perils.ts';
import { NOW_SECONDS, type SimWorld } from './sim-world.ts';

const BACKUPS = '/backups';
const RESTORED_PARENT = '/restored';
const RESTORED = `${RESTORED_PARENT}/db`;
/** Errors with which a compaction ends when its table is dropped or its database is closed. */
const ENDS = ['table_not_found', 'draining'];

/** Number of turns after which nothing is queued, apart from work that reschedules itself. */
const MOST_TURNS_BEFORE = 2000;

export class SimUpkeep {
  readonly #world: SimWorld;

  constructor(world: SimWorld) {
    this.#world = world;
  }

  /** Compacts concurrently with everything else. */
  compact(): void {
    const world = this.#world;
    const name = world.random.chance(0.6) ? world.anyTable() : undefined;
    const what = `compact ${name ?? 'all'}`;
    world.note(what);
    const { db, fs } = world;
    const run = db.compact(name === undefined ? {} : { table: name });
    run.then(
      () => {
        world.note(`  ${what} -> done`);
        world.saw('compaction');
      },
      (error: unknown) => {
        if (fs.stopped || world.db !== db) return;
        const failure = failureOf(error);
        world.note(`  ${what} -> ${failure.code}`);
        if (ENDS.includes(failure.code)) return;
        world.report(() => world.assertExcused(failure, what));
      },
    );
  }

  /**
   * Drops old rows. This is not logged, so it runs while nothing else is in flight. After a crash
   * it has either happened or not.
   */
  async expire(): Promise<void> {
    const world = this.#world;
    await world.settle();
    const name = world.anyTable();
    if (name === undefined || world.refuses) return;
    const { live } = world.ledger.model.table(name);
    if (live.length === 0) return;
    const ttlSeconds = NOW_SECONDS - world.source.pick(live).row.event_ts - world.random.below(3);
    if (!Number.isSafeInteger(ttlSeconds) || ttlSeconds < 1) return;
    const width = world.table(name).bucketSeconds;
    const cutoff = Math.floor((NOW_SECONDS - ttlSeconds) / width) * width;
    let dropped: number | undefined;
    const op: SimOp = {
      what: `expire ${name} before ${cutoff}`,
      operations: 0,
      state: 'open',
      tables: new Set([name]),
      apply: (model: SimModel) => {
        const table = model.table(name);
        const count = table.compact(cutoff);
        if (dropped !== undefined && dropped !== count)
          throw new Violation('wrong-answer', `${op.what} answered ${dropped} rows, not ${count}`);
      },
    };
    world.note(op.what);
    const taken = (result: { edges_dropped: number }): undefined => {
      dropped = result.edges_dropped;
      return undefined;
    };
    world.submit(op, () => world.db.compact({ table: name, ttlSeconds }), taken, ENDS);
    await world.settle();
    world.saw('expire');
    // Only a restart shows whether the compaction happened.
    if (world.ledger.unsettled.size > 0) await world.reopen();
  }

  /** Takes a backup, mostly restores it, and compares its contents. */
  async backup(): Promise<void> {
    const world = this.#world;
    await world.settle();
    // Queued work runs first, as it did when backups were packed in threads. This keeps the
    // histories of the kept seeds unchanged.
    await world.loop.turnsOf(MOST_TURNS_BEFORE);
    if (world.fs.stopped || world.refuses) return;
    const compactFirst = world.random.chance(0.3);
    world.note('backup');
    let path: string;
    try {
      const result = await world.wait(world.db.backup({ dir: BACKUPS, compactFirst }), 'the backup');
      path = result.path;
      if (result.lsn !== world.ledger.model.lsn)
        throw new Violation('wrong-backup', `it holds LSN ${result.lsn}, not ${world.ledger.model.lsn}`);
      world.saw('backup');
    } catch (error) {
      return this.#excuse(error, 'the backup', ['backup_exists']);
    }
    try {
      await this.#restore(path);
    } catch (error) {
      this.#excuse(error, 'the restore', []);
    }
  }

  #excuse(error: unknown, what: string, codes: string[]): void {
    if (error instanceof SimStopped || error instanceof Violation || this.#world.fs.stopped) throw error;
    const failure = failureOf(error);
    this.#world.note(`  ${what} -> ${failure.code}`);
    // A restore treats an unreadable file like a damaged one.
    if (codes.includes(failure.code) || this.#world.perils.disk) return;
    this.#world.assertExcused(failure, what);
  }

  async #restore(file: string): Promise<void> {
    const world = this.#world;
    const { fs } = world;
    const core = loadCore();
    const crc32c = makeChecksum(core.instantiate());
    const nothing = (): void => {};
    // The backup is restored on another disk, so that the restored files do not interfere later.
    const other = fs.copy();
    other.makeDir(RESTORED_PARENT);
    const restore = restoreBackup({
      ...{ fs: other, crc32c, core, file, dir: RESTORED },
      ...{ progress: nothing, checkStopped: nothing },
    });
    await world.wait(restore, 'the restore');
    const options = world.options(other, RESTORED, { module: core });
    const restored = await world.wait(Database.open(options), 'the opening of what was restored');
    judge(restored, world.ledger.model, world);
    await world.wait(restored.close(), 'the end of what was restored');
    world.saw('restore');
  }

  /** Makes the disk nearly full for a while. Once there is room again, writes must resume. */
  async fill(): Promise<void> {
    const world = this.#world;
    const { random, perils } = world;
    if (random.chance(0.6)) {
      const room = random.below(random.chance(0.5) ? 2000 : 30_000);
      world.note(`the disk has room for ${room} bytes`);
      perils.limit(world.fs, room);
      return;
    }
    perils.limit(world.fs, Infinity);
    world.note('the disk has room again');
    await world.settle();
    // A process that was killed meanwhile is not expected to write.
    if (world.refuses && !world.fs.stopped)
      throw new Violation(
        'full-for-ever',
        'the disk was full and has room again, but writes are refused until a restart',
      );
  }

  /** Makes memory scarce for a while, or sufficient again. */
  short(): void {
    const world = this.#world;
    const { random, memory } = world;
    if (random.chance(0.4)) {
      memory.relieve();
      world.note('there is memory again');
      return;
    }
    const allocations = random.below(12);
    const instances = random.below(4);
    const count = 1 + random.below(random.chance(0.6) ? 2 : 12);
    const tight = random.chance(0.4) ? 0.7 : 0;
    memory.shorten(allocations, instances, count, tight);
    world.note(
      `memory fails after ${allocations} allocations or ${instances} instances, ${count} times, tight ${tight}`,
    );
  }
}
