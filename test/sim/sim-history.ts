// One simulated history. The seed decides what happens, and a judge checks the results.

import { SimStopped } from '../support/sim-fs.ts';
import { SimDamage } from './sim-damage.ts';
import { SimDefinitions } from './sim-definitions.ts';
import { type GoName, goOf, STEP_NAMES, type StepName, stepsOf, type Weights, weightsOf } from './sim-goes.ts';
import { SimMemory } from './sim-memory.ts';
import { Violation } from './sim-model.ts';
import { SimReaders } from './sim-readers.ts';
import { SimSearches } from './sim-searches.ts';
import { SimSessions } from './sim-sessions.ts';
import { SimTextIndexes } from './sim-text-indexes.ts';
import { SimTransactions } from './sim-transactions.ts';
import { SimUpkeep } from './sim-upkeep.ts';
import { SimWorld } from './sim-world.ts';
import { SimWriters } from './sim-writers.ts';

export class SimHistory {
  readonly seed: number;
  readonly go: GoName;
  readonly world: SimWorld;
  readonly #steps: Record<StepName, () => void | Promise<void>>;
  readonly #weights: Weights;

  constructor(seed: number, go: GoName = goOf(seed)) {
    this.seed = seed;
    this.go = go;
    const world = new SimWorld(seed, go);
    this.world = world;
    const writers = new SimWriters(world);
    const transactions = new SimTransactions(world, writers);
    const readers = new SimReaders(world);
    const definitions = new SimDefinitions(world, writers, go === 'tables' ? 40 : 5);
    const texts = new SimTextIndexes(world, writers);
    const searches = new SimSearches(world, texts);
    const sessions = new SimSessions(world, texts, searches);
    const upkeep = new SimUpkeep(world);
    const damage = new SimDamage(world);
    this.#weights = weightsOf(go);
    this.#steps = {
      insert: () => writers.insert(),
      equal: () => writers.equal(),
      bulk: () => writers.bulk(),
      remove: () => writers.remove(),
      change: () => transactions.change(),
      stage: () => transactions.stage(),
      commit: () => transactions.end(),
      duel: () => transactions.duel(),
      read: () => readers.read(),
      cursor: () => readers.cursor(),
      pin: () => readers.pin(),
      document: () => writers.document(),
      retry: () => writers.retry(),
      store: () => writers.store(),
      compact: () => upkeep.compact(),
      expire: () => upkeep.expire(),
      table: () => definitions.table(),
      alter: () => definitions.alter(),
      index: () => definitions.index(),
      threshold: () => definitions.threshold(),
      figures: () => readers.figures(),
      settle: () => world.settle(),
      reopen: () => world.reopen(),
      kill: () => world.crash(true),
      power: () => world.crash(false),
      backup: () => upkeep.backup(),
      damage: () => damage.step(),
      short: () => upkeep.short(),
      fill: () => upkeep.fill(),
      textIndex: () => texts.index(),
      search: () => searches.search(),
      session: () => sessions.session(),
    };
  }

  /** Runs the history. Throws a Violation, or any other error that occurred. */
  async run(): Promise<void> {
    const { world } = this;
    SimMemory.takeBack();
    const steps = stepsOf(world.random);
    world.note(`seed ${this.seed}, ${this.go}, ${steps} steps`);
    await world.open();
    for (let step = 0; step < steps; step++) await this.#guard(() => this.#step());
    await this.#end();
  }

  async #step(): Promise<void> {
    const { world } = this;
    // After a disk failure, writes are refused until a restart, but reads continue. A full disk may
    // get free space again, so a restart is less likely then.
    if (world.refuses && world.random.chance(this.go === 'full' ? 0.04 : 0.4))
      return world.random.chance(0.6) ? world.crash() : world.reopen();
    await this.#steps[this.#pick()]();
    await world.rest();
  }

  #pick(): StepName {
    const weights = this.#weights;
    const sum = STEP_NAMES.reduce((total, name) => total + weights[name], 0);
    let at = (this.world.random.below(2 ** 20) / 2 ** 20) * sum;
    for (const name of STEP_NAMES) {
      at -= weights[name];
      if (at < 0) return name;
    }
    return 'read';
  }

  /** Runs a step. If the machine stops during the step, another process takes over. */
  async #guard(step: () => Promise<void>): Promise<void> {
    const { world } = this;
    try {
      await step();
    } catch (error) {
      if (error instanceof Violation || !(error instanceof SimStopped || world.fs.stopped)) throw error;
      world.check();
      await world.crash();
    }
  }

  /** Checks that everything is present after two more restarts and after a compaction. */
  async #end(): Promise<void> {
    const { world } = this;
    world.note('END');
    world.memory.relieve();
    await this.#guard(() => (world.refuses ? world.crash() : world.reopen()));
    await this.#guard(async () => {
      world.perils.calm(world.fs);
      // A fault may also hit the background work of the next start. The start is then repeated.
      for (let starts = 0; starts < 4 && (world.perils.disk || world.refuses); starts++) {
        await world.crash();
        world.perils.calm(world.fs);
      }
      await world.wait(world.db.compact({}), 'the last compaction');
      world.judgeNow();
    });
    world.perils.calm(world.fs);
    await world.crash(false);
  }
}
