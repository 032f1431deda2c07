// Runs a random history of named tables, beside the naive model of model/named-state.ts: edges with
// roles and intervals that create nodes, writes and deletions of nodes, transactions, changes of
// definitions, compactions, reopenings, crashes, faults of the disk, full disks, short memory, a
// follower, and at the end a backup.

import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { restoreBackup } from '../../src/engine/index.ts';
import { isOfDisk } from './followed-history.ts';
import { FOLLOWED, SimFollower } from './follower.ts';
import { NamedDefinitions } from './named-definitions.ts';
import { NamedReads } from './named-reads.ts';
import { checkNodes } from './named-rows.ts';
import { NamedTransactions } from './named-transactions.ts';
import { NamedWorld } from './named-world.ts';
import { NamedWrites } from './named-writes.ts';
import { openSim, turn } from './sim-engine.ts';
import { SimStopped } from './sim-fs.ts';

export interface NamedHistoryOptions {
  /** Whether another database follows this one. */
  readonly isFollowed: boolean;
  /** Whether memory is short now and then. */
  readonly isShort: boolean;
  /** Whether a backup is made and restored at the end. */
  readonly hasBackup: boolean;
}

type Step = [weight: number, run: () => Promise<void> | void];

export class NamedHistory {
  readonly world: NamedWorld;
  readonly #options: NamedHistoryOptions;
  readonly #writes: NamedWrites;
  readonly #reads: NamedReads;
  readonly #transactions: NamedTransactions;
  readonly #definitions: NamedDefinitions;
  #follower: SimFollower | undefined;
  #compaction: Promise<void> | undefined;

  constructor(seed: number, options: NamedHistoryOptions) {
    const world = new NamedWorld(seed, options.isFollowed, options.isShort);
    this.world = world;
    this.#options = options;
    this.#writes = new NamedWrites(world);
    this.#reads = new NamedReads(world);
    this.#transactions = new NamedTransactions(world, this.#reads);
    this.#definitions = new NamedDefinitions(world);
    world.readMeanwhile = () => {
      this.#reads.some();
      this.#reads.readPinned();
    };
    world.onLost = () => {
      this.#writes.forget();
      this.#reads.forget();
      this.#transactions.forget();
      this.#compaction = undefined;
    };
  }

  async run(steps: number): Promise<void> {
    const { world } = this;
    try {
      await this.#guard(() => world.open());
      await this.#guard(async () => {
        await this.#definitions.createNodeTable();
        await this.#definitions.createNodeTable();
        await this.#definitions.createTable();
        await this.#definitions.createTable();
      });
      for (let step = 0; step < steps; step++) await this.#guard(() => this.#step());
      await this.#end();
    } catch (error) {
      throw new Error(`${(error as Error).message}\nlast steps:\n  ${world.log.slice(-25).join('\n  ')}`, {
        cause: error,
      });
    }
  }

  /** Runs a step. A crash within the step ends it. */
  async #guard(run: () => Promise<void>): Promise<void> {
    const { world } = this;
    try {
      await run();
      if (world.fs.stopped) throw new SimStopped('stopped');
    } catch (error) {
      if (!(error instanceof SimStopped) && !world.fs.stopped) throw error;
      await this.#crash();
    }
  }

  /** Ends the process, and starts it again, until that succeeds. */
  async #crash(): Promise<void> {
    const { world } = this;
    for (;;) {
      try {
        await world.crash();
        this.#reads.all();
        checkNodes(world.db);
        return;
      } catch (error) {
        if (world.isShortOfMemory(error)) world.memory.relieve();
        else if (!(error instanceof SimStopped) && !world.fs.stopped && !isOfDisk(error)) throw error;
      }
    }
  }

  async #step(): Promise<void> {
    const { world } = this;
    const { random } = world;
    if (world.isDamaged) return this.#crash();
    const steps = this.#steps();
    let at = random.below(steps.reduce((sum, [weight]) => sum + weight, 0));
    const [, run] = steps.find(([weight]) => {
      at -= weight;
      return at < 0;
    })!;
    await run();
    if (world.isDamaged) return;
    if (random.chance(0.4)) this.#reads.some();
    if (random.chance(0.2)) this.#reads.attempt(() => this.#reads.keys());
    if (random.chance(0.3)) await turn();
    if (this.#options.isFollowed && random.chance(0.4)) await this.#follow();
  }

  #steps(): Step[] {
    const { world } = this;
    return [
      [20, () => this.#writes.insert()],
      [4, () => this.#writes.volley()],
      [8, () => this.#writes.bulk()],
      [8, () => this.#writes.delete()],
      [14, () => this.#transactions.step()],
      [8, () => this.#transactions.writeNodes()],
      [4, () => this.#transactions.deleteWithEdges()],
      [7, () => this.#definitions.step()],
      [3, () => this.#compactNow()],
      [4, () => this.#compactAside()],
      [2, () => this.#reopen()],
      [2, () => this.#crash()],
      [3, () => this.#reads.pin()],
      [5, () => this.#reads.readPinned()],
      [2, () => this.#reads.release()],
      [3, () => this.#reads.list()],
      [2, () => this.#reads.pages()],
      [1, () => (world.isFull ? world.empty() : world.fill())],
      [world.isFull ? 6 : 0, () => world.empty()],
      [this.#options.isShort ? 5 : 0, () => this.#shorten()],
      [5, () => world.settle()],
    ];
  }

  #shorten(): void {
    const { memory, random } = this.world;
    this.world.note('memory is short');
    if (random.chance(0.4)) memory.relieve();
    else memory.shorten(random.below(30), random.below(6), 1 + random.below(5), random.chance(0.3) ? 0.5 : 0);
  }

  // Compaction, reopening

  async #compactNow(): Promise<void> {
    const { world } = this;
    await world.settle();
    await this.#settleCompaction();
    if (world.isDamaged) return;
    world.note('compact');
    await world.wait(
      world.db.compact({}).then(
        () => world.saw('compaction'),
        (error) => world.excuse(error),
      ),
    );
  }

  async #compactAside(): Promise<void> {
    const { world } = this;
    await this.#settleCompaction();
    if (world.isDamaged) return;
    const { tables, kinds } = world.state;
    const name = world.source.pick([...tables, ...kinds, { name: undefined }]).name;
    world.note(`compact aside ${name ?? ''}`);
    this.#compaction = world.db.compact(name === undefined ? {} : { table: name }).then(
      () => world.saw('compaction aside'),
      (error) => {
        const { code } = error as { code?: unknown };
        if (code !== 'table_not_found' && code !== 'draining') world.excuse(error);
      },
    );
    this.#compaction.catch(() => undefined);
  }

  async #settleCompaction(): Promise<void> {
    const compaction = this.#compaction;
    this.#compaction = undefined;
    if (compaction !== undefined) await this.world.wait(compaction);
  }

  async #reopen(): Promise<void> {
    const { world } = this;
    this.#reads.releaseAll();
    this.#transactions.rollBackAll();
    this.#writes.discardAll();
    if (world.random.chance(0.7)) await this.#settleCompaction();
    await world.settle();
    if (world.isDamaged) return this.#crash();
    await world.wait(world.db.close().catch((error) => world.excuse(error)));
    await this.#settleCompaction();
    if (world.isDamaged) return this.#crash();
    if (world.fs.openHandles !== 0) throw new Error(`${world.fs.openHandles} files are open after close`);
    world.saw('reopen');
    world.note('REOPEN');
    world.forgetProcess();
    try {
      await world.open();
      this.#reads.all();
      checkNodes(world.db);
    } catch (error) {
      if (world.isShortOfMemory(error)) world.memory.relieve();
      else if (isOfDisk(error)) world.saw('open that the disk refused');
      else throw error;
      return this.#crash();
    }
  }

  async #end(): Promise<void> {
    const { world } = this;
    await this.#guard(async () => {
      if (world.isDamaged) await this.#crash();
      world.endFaults();
      await this.#reopen();
      world.endFaults();
    });
    world.endFaults();
    await world.wait(world.db.compact({}));
    this.#reads.all();
    if (this.#options.isFollowed) await this.#follow(true);
    if (this.#options.hasBackup) await this.#backUp();
    await this.#crash();
    world.endFaults();
    this.#reads.keys();
    await world.close();
  }

  // Follower and backup

  /** Applies some of the frames at the follower, or all, and compares what it has. */
  async #follow(all = false): Promise<void> {
    const { world } = this;
    const { random } = world;
    await world.settle();
    if (world.isDamaged || world.db.lastLsn !== world.db.headLsn) return;
    const { schedule } = world.fs;
    world.fs.schedule = () => undefined;
    this.#follower ??= await SimFollower.startFromCopy(world.db, world.fs, random, () => ({
      ...FOLLOWED,
      core: world.options.core ?? 'release',
      slicedOperations: random.chance(0.4) ? 3 : 4096,
    }));
    const follower = this.#follower;
    try {
      await follower.follow(world.db, all ? undefined : random);
    } catch (error) {
      // A full disk made the leader drop old frames, so the follower begins again from a copy.
      if ((error as { code?: unknown }).code !== 'lsn_gone' || !world.log.includes('the disk is full')) throw error;
      world.saw('follower: away for too long');
      await follower.database.close();
      this.#follower = undefined;
      world.fs.schedule = schedule;
      return;
    }
    if (all || random.chance(0.2)) await follower.restart(world.source.pick(['close', 'kill', 'crash'] as const));
    if (random.chance(0.2)) await follower.database.compact();
    const { lastLsn } = follower.database;
    world.note(`follower at ${lastLsn}`);
    this.#reads.all(world.stateAt(lastLsn), follower.database);
    checkNodes(follower.database);
    world.saw(lastLsn === world.headLsn ? 'follower at the head' : 'follower behind');
    world.fs.schedule = schedule;
  }

  /** Restores a backup, in which new nodes have numbers that no node here has had. */
  async #backUp(): Promise<void> {
    const { world } = this;
    const { path } = await world.db.backup({ dir: '/backups', compactFirst: false });
    const core = loadCore('release');
    const crc32c = makeChecksum(core.instantiate());
    const idle = { progress: () => undefined, checkStopped: () => undefined };
    const fs = world.fs.copy(world.random);
    await restoreBackup({ fs, crc32c, core, file: path, dir: '/backups/restored', ...idle });
    const restored = await openSim(fs, { dir: '/backups/restored' });
    this.#reads.all(world.state, restored);
    checkNodes(restored);
    const table = world.state.tables.find(({ createNodes }) => createNodes);
    if (table !== undefined) {
      const kind = table.kinds[0]!;
      const key = kind.isInteger ? 123_456 : 'a new node';
      await restored.table(table.name).insert({ event_ts: 1, members: [{ kind: kind.name, key }] });
      const number = restored.nodes.find(restored.nodes.table(world.state.kind(kind)!.name), key);
      if (world.hasHad(number)) throw new Error(`the number ${number} is used again in a restored database`);
    }
    await restored.close();
    world.saw('backup');
  }
}
