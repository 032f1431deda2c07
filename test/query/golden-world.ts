// Opens the database that a golden file sets up, with naive tables that mirror it.

import type { Database } from '../../src/engine/index.ts';
import { openSim, type simDisk } from '../support/sim-engine.ts';
import type { GoldenFile } from './golden-file.ts';
import type { NaiveTable } from './naive-expressions.ts';
import { DoubleTable } from './random-tables.ts';

export interface GoldenWorld {
  database: Database;
  readonly tables: NaiveTable[];
}

export async function openGoldenWorld({ setup }: GoldenFile, fs: ReturnType<typeof simDisk>): Promise<GoldenWorld> {
  const database = await openSim(fs);
  const doubles = new Map<string, DoubleTable>();
  for (const step of setup) {
    if ('create' in step) {
      const table = await database.createTable(step.create);
      doubles.set(step.create.name, new DoubleTable(table, step.create.columns ?? []));
    } else if ('insert' in step) await doubles.get(step.insert)!.insert(step.edges);
    else if ('delete' in step) await doubles.get(step.delete)!.delete(step.event_ts, step.members);
    else if ('index' in step) await database.createIndex(step.index, step.column);
    else await database.compact();
  }
  return { database, tables: [...doubles.values()].map((double) => double.naive) };
}
