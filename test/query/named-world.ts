// A small database with node tables, in which tests run statements as programs do.

import type { Database } from '../../src/engine/index.ts';
import { EmbeddedStatements, type StatementOptions, type StatementRow } from '../../src/query/embedded.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';

export interface NamedWorld {
  readonly database: Database;
  /** Runs a statement and returns its rows. */
  readonly run: (
    text: string,
    parameters?: Record<string, unknown>,
    options?: StatementOptions,
  ) => Promise<StatementRow[]>;
  /** Runs a statement that must be refused, and returns its code and message. */
  readonly refused: (
    text: string,
    parameters?: Record<string, unknown>,
    options?: StatementOptions,
  ) => Promise<{ code: string; status: number; message: string }>;
}

export async function namedWorld(statements: readonly string[] = []): Promise<NamedWorld> {
  const database = await openSim(simDisk());
  const embedded = new EmbeddedStatements({ database });
  const run: NamedWorld['run'] = async (text, parameters, options) =>
    (await embedded.run(text, parameters, options)).rows;
  const refused: NamedWorld['refused'] = async (text, parameters, options) => {
    try {
      await embedded.run(text, parameters, options);
    } catch (error) {
      const { code, status, message } = error as { code: string; status: number; message: string };
      return { code, status, message };
    }
    throw new Error(`not refused: ${text}`);
  };
  for (const statement of statements) await run(statement);
  return { database, run, refused };
}

/** People, rooms, calls between people, and visits of people to rooms. */
export const TOWN = [
  "CREATE NODE TABLE Person (name TEXT) PROPERTIES (born INTEGER, city TEXT DEFAULT 'Rome')",
  'CREATE NODE TABLE Room (id INTEGER) PROPERTIES (event_ts INTEGER)',
  'CREATE HYPEREDGE TABLE calls (Person) PROPERTIES (cost REAL DEFAULT 0.5)',
  'CREATE HYPEREDGE TABLE visits (Person, Room) BUCKET_SECONDS 10',
  'CREATE HYPEREDGE TABLE plain () PROPERTIES (kind TEXT)',
  "INSERT INTO Person (name, born, city) VALUES ('Ada', 1815, 'London'), ('Grace', 1906, 'New York')",
  "INSERT INTO calls (event_ts, members) VALUES (1, ['Ada', 'Grace']), (2, ['Grace', 'Emmy', 'ada']), (3, ['Emmy'])",
  "INSERT INTO visits (event_ts, members) VALUES (5, [node(Person, 'Ada'), node(Room, 7)]), (25, [node(room, 7), node(Person, 'Emmy')])",
  'INSERT INTO plain (event_ts, members) VALUES (1, [1, 2])',
];
