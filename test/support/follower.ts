// A follower of a database, on simulated disks: starts from a backup, applies the leader's frames,
// and can be killed.

import { loadCore, makeChecksum } from '../../src/core/index.ts';
import { type Database, type EngineOptions, restoreBackup } from '../../src/engine/index.ts';
import type { Random } from './random.ts';
import { openSim } from './sim-engine.ts';
import { SimFs } from './sim-fs.ts';

export const FOLLOWED = { history: { seconds: 1e9, bytes: 1e9 } };

const DISK = '/disk';
const SNAPSHOT = `${DISK}/snapshot`;

/** Options of a follower, or a function that returns them for its present disk. */
type Options = Partial<EngineOptions> | ((fs: SimFs) => Partial<EngineOptions>);

export class SimFollower {
  fs: SimFs;
  readonly #options: Options;
  database!: Database;

  private constructor(fs: SimFs, options: Options) {
    this.fs = fs;
    this.#options = options;
  }

  /** Starts a follower with a disk of its own from a new backup of the leader. */
  static async start(
    leader: Database,
    leaderFs: SimFs,
    seed: number | Random,
    options: Options = {},
  ): Promise<SimFollower> {
    const { path } = await leader.backup({ dir: '/backups', compactFirst: false });
    const follower = new SimFollower(new SimFs(seed), options);
    follower.fs.makeDir(DISK);
    await copyFile(leaderFs, path, follower.fs, SNAPSHOT);
    await leaderFs.remove(path);
    const core = loadCore('release');
    const crc32c = makeChecksum(core.instantiate());
    const idle = { progress: () => undefined, checkStopped: () => undefined };
    await restoreBackup({ fs: follower.fs, crc32c, core, file: SNAPSHOT, dir: `${DISK}/db`, ...idle });
    await follower.open();
    return follower;
  }

  /**
   * Starts a follower from a copy of the leader's directory, which is sooner than a backup, and the
   * same each time, because no threads compress anything. Nothing may be under way at the leader,
   * and its log must be in files.
   */
  static async startFromCopy(
    leader: Database,
    leaderFs: SimFs,
    random: Random,
    optionsOn: (fs: SimFs) => Partial<EngineOptions>,
  ): Promise<SimFollower> {
    // Makes everything durable, so that the leader cannot lose what the follower has.
    await leader.frames.checksumAt(leader.lastLsn);
    const follower = new SimFollower(leaderFs.copy(random), (fs) => ({ ...optionsOn(fs), dir: leader.dir }));
    await follower.open();
    return follower;
  }

  async open(more: Partial<EngineOptions> = {}): Promise<void> {
    const options = typeof this.#options === 'function' ? this.#options(this.fs) : this.#options;
    this.database = await openSim(this.fs, { ...FOLLOWED, dir: `${DISK}/db`, ...options, follows: true, ...more });
  }

  /** Applies frames of the leader, all or, with `random`, some of them. */
  async follow(leader: Database, random?: Random): Promise<void> {
    const { applier, frames, lastLsn } = this.database;
    const reader = await leader.frames.read(applier!.nextLsn - 1, await frames.checksumAt(lastLsn));
    for (;;) {
      const some = await reader.next();
      if (some.length === 0) break;
      const count = random === undefined ? some.length : random.below(some.length + 1);
      await applier!.apply(some.slice(0, count));
      if (count < some.length) break;
    }
    reader.close();
    await this.database.whenVisible(applier!.nextLsn - 1, 1000);
  }

  /** Ends the follower, in order or not, and starts it again. */
  async restart(how: 'close' | 'kill' | 'crash', more: Partial<EngineOptions> = {}): Promise<void> {
    if (how === 'close') await this.database.close();
    else this.fs = how === 'kill' ? this.fs.kill() : this.fs.crash();
    await this.open(more);
  }
}

async function copyFile(from: SimFs, path: string, to: SimFs, target: string): Promise<void> {
  const source = from.open(path, 'read');
  const bytes = new Uint8Array(source.size());
  source.read(bytes, 0);
  source.close();
  const handle = to.open(target, 'create');
  await handle.write(bytes, 0);
  await handle.sync();
  handle.close();
  await to.syncDir(DISK);
}
