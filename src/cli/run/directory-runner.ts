// Runs statements in a data directory that no server has open.

import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CheckAnswer, CheckInput } from '../../client/index.ts';
import type { Config } from '../../config.ts';
import { type Database, openDatabase } from '../../engine/index.ts';
import { HedgerowError } from '../../errors.ts';
import { EmbeddedStatements } from '../../query/index.ts';
import { loadSettings } from '../config/load.ts';
import type { Times } from '../query/formats.ts';
import type { World } from '../world.ts';
import type { Parameters, Place, Ran, Row } from './runner.ts';

/**
 * Throws UsageError, ConfigError, or the error of opening the directory. Does not create a missing
 * directory.
 */
export async function openDirectoryRunner(data: string, config: string | undefined, world: World): Promise<Place> {
  const { database, settings } = await openDirectory(data, config, world);
  const { copyRoot, transactionIdleSeconds } = settings;
  const statements = new EmbeddedStatements({
    database,
    transactionIdleSeconds,
    copyRoot: copyRoot === undefined ? undefined : resolve(world.cwd, copyRoot),
  });
  return new DirectoryRunner(database, statements);
}

/**
 * Opens the database like `openDirectoryRunner`, and returns it with the settings of its server.
 */
export async function openDirectory(
  data: string,
  config: string | undefined,
  world: World,
): Promise<{ database: Database; settings: Config }> {
  const dir = resolve(world.cwd, data);
  if (!existsSync(dir)) throw new Error(`There is no directory ${data}.`);
  // The settings need a valid address, although no server is started.
  const settings = loadSettings({ config, settings: { host: '127.0.0.1', dataDir: dir } }, world).config;
  const { primaryTable, memoryBudgetMb, maxMembers, durability } = settings;
  try {
    const database = await openDatabase({ dir, primaryTable, memoryBudgetMb, maxMembers, durability });
    return { database, settings };
  } catch (error) {
    if (!(error instanceof HedgerowError) || error.code !== 'conflict') throw error;
    throw new HedgerowError(
      'conflict',
      `${error.message} If a server runs on the directory, --url sends statements to it.`,
    );
  }
}

class DirectoryRunner implements Place {
  readonly #database: Database;
  readonly #statements: EmbeddedStatements;

  constructor(database: Database, statements: EmbeddedStatements) {
    this.#database = database;
    this.#statements = statements;
  }

  run(statement: string, parameters: Parameters, signal: AbortSignal, times?: Times): Promise<Ran> {
    return this.#statements.begin(statement, parameters, { signal, times });
  }

  async *rows(
    statement: string,
    parameters: Parameters,
    signal: AbortSignal,
    times?: Times,
  ): AsyncGenerator<readonly Row[], void, undefined> {
    yield* (await this.run(statement, parameters, signal, times)).batches;
  }

  async check(input: CheckInput, signal: AbortSignal): Promise<CheckAnswer> {
    // Loaded on demand, because most shells never check claims.
    const { checkEdges } = await import('../query/check-edges.ts');
    return checkEdges(this.#database, input, signal);
  }

  async close(): Promise<void> {
    this.#statements.close();
    await this.#database.close();
  }
}
