// Runs statements in a data directory that no server has open.

import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Config } from '../../config.ts';
import { type Database, openDatabase } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { valueAt } from '../../query/executor/vector.ts';
import type { StatementResult } from '../../query/result.ts';
import { type RunSlices, Statements } from '../../query/statements.ts';
import { nodeFs } from '../../storage/node-fs.ts';
import { loadSettings } from '../config/load.ts';
import type { World } from '../world.ts';
import type { Parameters, Ran, Row, StatementRunner } from './runner.ts';

/** Work goes on so long before signals are looked at. */
const TURN_MS = 10;
const SESSION = 'command line';

/** Throws ConfigError, or what the directory says. A directory that is not there is not made. */
export async function openDirectoryRunner(
  data: string,
  config: string | undefined,
  world: World,
): Promise<StatementRunner> {
  const { database, settings } = await openDirectory(data, config, world);
  const { copyRoot, transactionIdleSeconds } = settings;
  const statements = new Statements({
    database,
    now: () => Date.now(),
    nowUs: () => world.now() * 1000,
    newId: randomUUID,
    transactionIdleSeconds,
    copyRoot: copyRoot === undefined ? undefined : resolve(world.cwd, copyRoot),
    fs: nodeFs,
  });
  return new DirectoryRunner(database, statements, world.now);
}

/** As `openDirectoryRunner`: the database, with the settings of its server. */
export async function openDirectory(
  data: string,
  config: string | undefined,
  world: World,
): Promise<{ database: Database; settings: Config }> {
  const dir = resolve(world.cwd, data);
  if (!existsSync(dir)) throw new Error(`There is no directory ${data}.`);
  // Nothing is served, so the address is of no concern here.
  const settings = loadSettings({ config, settings: { host: '127.0.0.1', dataDir: dir } }, world).config;
  const { primaryTable, memoryBudgetMb, maxMembers, durability } = settings;
  try {
    const database = await openDatabase({ dir, primaryTable, memoryBudgetMb, maxMembers, durability });
    return { database, settings };
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.code !== 'conflict') throw error;
    throw new HedgerowError('conflict', `${error.message} A server that runs on it can be asked with --url.`);
  }
}

class DirectoryRunner implements StatementRunner {
  readonly #database: Database;
  readonly #statements: Statements;
  readonly #now: () => number;

  constructor(database: Database, statements: Statements, now: () => number) {
    this.#database = database;
    this.#statements = statements;
    this.#now = now;
  }

  async run(statement: string, parameters: Parameters, signal: AbortSignal): Promise<Ran> {
    const result = await this.#statements.execute(this.#statements.prepare(statement), {
      parameters,
      session: SESSION,
      slices: this.#slices(signal),
    });
    return { columns: result.columns, batches: this.#batches(result, signal), plan: () => result.plan() };
  }

  async *rows(
    statement: string,
    parameters: Parameters,
    signal: AbortSignal,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    yield* (await this.run(statement, parameters, signal)).batches;
  }

  async *#batches(result: StatementResult, signal: AbortSignal): AsyncGenerator<readonly Row[], void, undefined> {
    const { columns, steps } = result;
    let turnMs = this.#now();
    try {
      for (const chunk of steps) {
        if (chunk !== null) {
          yield Array.from({ length: chunk.count }, (_, row) =>
            Object.fromEntries(columns.map((name, place) => [name, valueAt(chunk.items[place]!, row)])),
          );
        }
        if (this.#now() - turnMs < TURN_MS) continue;
        await turn(signal);
        turnMs = this.#now();
      }
    } finally {
      steps.return();
      result.close();
    }
  }

  #slices(signal: AbortSignal): RunSlices {
    return async (step) => {
      for (;;) {
        await turn(signal);
        const turnMs = this.#now();
        do {
          if (!step()) return;
        } while (this.#now() - turnMs < TURN_MS);
      }
    };
  }

  async close(): Promise<void> {
    this.#statements.close();
    await this.#database.close();
  }
}

/** Lets signals and timers through. Rejects with the reason of the signal. */
async function turn(signal: AbortSignal): Promise<void> {
  await new Promise((done) => setImmediate(done));
  signal.throwIfAborted();
}
