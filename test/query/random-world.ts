// Makes random tables with statements for them, and calls `visit` in every state: after inserts and
// deletes, after compaction and after indexing.

import type { Database } from '../../src/engine/index.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { type RandomStatement, randomStatement } from './random-statements.ts';
import { type DoubleTable, makeTables, ROLES, randomEdges } from './random-tables.ts';

export const STATEMENTS_OF_A_WORLD = 25;

export interface WorldState {
  readonly database: Database;
  readonly tables: readonly DoubleTable[];
  readonly statements: readonly RandomStatement[];
  readonly state: string;
  /** Whether rows were inserted or deleted since the previous state. */
  readonly isChanged: boolean;
}

export async function eachState(seed: number, visit: (state: WorldState) => Promise<void>): Promise<void> {
  const random = new Random(seed);
  const database = await openSim(simDisk(seed), {
    core: seed % 4 === 0 ? 'debug' : seed % 4 === 1 ? 'plain' : 'release',
  });
  const roles = seed % 2 === 0 ? ROLES : [];
  const tables = await makeTables(database, random, roles);
  const statements = Array.from({ length: STATEMENTS_OF_A_WORLD }, () => randomStatement(random, roles));
  const show = (state: string, isChanged: boolean) => visit({ database, tables, statements, state, isChanged });
  for (const table of tables)
    await table.insert(randomEdges(random, random.below(6) === 0 ? 0 : 10 + random.below(20), roles));
  for (const table of tables) await table.deleteSome(random, 0.1);
  await show('in memory', true);
  await database.compact();
  await show('compacted', false);
  for (const table of tables) await table.insert(randomEdges(random, random.below(20), roles));
  for (const table of tables) await table.deleteSome(random, 0.2);
  await show('half and half', true);
  await indexAll(database, random);
  await show('indexed', false);
  for (const table of tables) await table.insert(randomEdges(random, random.below(10), roles));
  for (const table of tables) await table.deleteSome(random, 0.1);
  await show('indexed, with rows in memory', true);
}

async function indexAll(database: Database, random: Random): Promise<void> {
  for (const table of ['Contact', 'Trip'])
    for (const column of ['n', 'score', 'weight', 'big'])
      if (random.below(4) > 0) await database.createIndex(table, column);
}
