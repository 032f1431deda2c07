// Runs a golden script through the service's entry point for statements, in one of three states.
// Returns the answers as lines to compare.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { KeyRole } from '../../src/access/principal.ts';
import type { Database } from '../../src/engine/index.ts';
import { HedgerowError, refusal } from '../../src/errors.ts';
import { chunkText, rowKeys } from '../../src/query/executor/rows/result-text.ts';
import type { Prepared } from '../../src/query/prepare.ts';
import { Statements } from '../../src/query/statements.ts';
import type { Call } from '../../src/routes/application.ts';
import { requireRole } from '../../src/routes/query.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import type { SimFs } from '../support/sim-fs.ts';
import { errorLine, type FileStep, type GoldenFile, type GoldenScript, type ScriptStep } from './golden-file.ts';

/**
 * In the state `compacted`, COMPACT runs before every statement, even while transactions are open.
 * In the state `reopened`, the database is reopened whenever no transaction is open.
 */
export const STATES = ['as it stands', 'compacted', 'reopened'] as const;
export type State = (typeof STATES)[number];

/** Names of values that differ in every run. */
const MASKED_NAMES = ['transaction_id', 'expires_at', 'elapsed_ms', 'elapsed_us'];
/** Names of COMPACT's figures that depend on whether another COMPACT ran just before. */
const DONE_BEFORE = ['wal_pending_before', 'tombstones_reconciled'];

const ROOT = '/copy';
const FIXTURES = new URL('../fixtures/', import.meta.url);
/** Epoch milliseconds of the first statement. */
const START = 1_000_000_000_000;

/** Returns the answer lines for each statement of the script. */
export async function runScript(file: GoldenFile, script: GoldenScript, state: State): Promise<string[][]> {
  const world = await ScriptWorld.open(file, script);
  const answers: string[][] = [];
  for (const step of script.steps) {
    await world.before(state);
    answers.push(await world.answer(step));
  }
  await world.close();
  return answers;
}

/** Returns a line in the form in which it is compared. */
export function masked(line: string, state: State): string {
  const names = state === 'compacted' ? [...MASKED_NAMES, ...DONE_BEFORE] : MASKED_NAMES;
  return line.replace(new RegExp(`"(${names.join('|')})":("[^"]*"|[-+.0-9e]+)`, 'g'), '"$1":"*"');
}

/** The time in a script, in seconds since START. */
interface Clock {
  seconds: number;
}

class ScriptWorld {
  readonly #clock: Clock;
  readonly #fs: SimFs;
  readonly #copyRoot: string | undefined;
  #database: Database;
  #statements: Statements;
  #ids = 0;

  private constructor(clock: Clock, fs: SimFs, database: Database, copyRoot: string | undefined) {
    this.#clock = clock;
    this.#fs = fs;
    this.#copyRoot = copyRoot;
    this.#database = database;
    this.#statements = this.#door();
  }

  static async open(file: GoldenFile, script: GoldenScript): Promise<ScriptWorld> {
    const clock = { seconds: 0 };
    const fs = simDisk();
    fs.makeDir(ROOT);
    const database = await openDatabase(fs, clock);
    let copyRoot: string | undefined = ROOT;
    for (const step of [...file.setup, ...script.setup]) {
      if ('create' in step) await database.createTable(step.create);
      else if ('insert' in step) await insertAll(database, step.insert, step.edges);
      else if ('delete' in step) await database.table(step.delete).delete(step.event_ts, step.members);
      else if ('index' in step) await database.createIndex(step.index, step.column);
      else if ('compact' in step) await database.compact();
      else if ('file' in step) await putFile(fs, step);
      else copyRoot = undefined;
    }
    return new ScriptWorld(clock, fs, database, copyRoot);
  }

  #door(): Statements {
    let us = 0;
    return new Statements({
      database: this.#database,
      now: () => START + this.#clock.seconds * 1000,
      nowUs: () => (us += 5),
      newId: () => `id-${++this.#ids}`,
      transactionIdleSeconds: 30,
      copyRoot: this.#copyRoot,
      fs: this.#fs,
    });
  }

  /** Does what the state requires before a statement. */
  async before(state: State): Promise<void> {
    if (state === 'compacted') await this.#run(this.#statements.prepare('COMPACT'), {}, 'between');
    const { sessions } = this.#statements;
    sessions.sweep();
    if (state !== 'reopened' || sessions.size + sessions.expired > 0) return;
    await this.close();
    this.#database = await openDatabase(this.#fs, this.#clock);
    this.#statements = this.#door();
  }

  async close(): Promise<void> {
    this.#statements.close();
    await this.#database.close();
  }

  async answer(step: ScriptStep): Promise<string[]> {
    this.#clock.seconds += step.seconds;
    if (step.text.startsWith('file ')) return this.#linesOf(`${ROOT}/${step.text.slice('file '.length)}`);
    const { lastLsn } = this.#database;
    const files = this.#fs.list(ROOT);
    let effect: Prepared['effect'] | undefined;
    try {
      const prepared = this.#statements.prepare(step.text);
      effect = prepared.effect;
      requireRole(callerOf(step.role as KeyRole), prepared);
      const rows = await this.#run(prepared, step.parameters, step.session);
      if (effect === 'read') this.#expectUnchanged(step.text, lastLsn, files);
      return rows;
    } catch (error) {
      if (!(error instanceof HedgerowError)) throw error;
      this.#expectUnchanged(step.text, lastLsn, files);
      return [errorLine(error)];
    }
  }

  async #run(prepared: Prepared, parameters: ScriptStep['parameters'], session: string): Promise<string[]> {
    const slices = async (step: () => boolean): Promise<void> => {
      while (step()) await null;
    };
    const result = await this.#statements.execute(prepared, { parameters, session, slices });
    const keys = rowKeys(result.columns);
    let text = '';
    for (const chunk of result.steps) if (chunk !== null) text += chunkText(chunk, keys, '\n');
    const isMatch = prepared.statement.kind === 'match';
    assert.equal(result.plan() !== null, isMatch, `only a MATCH has a query plan: ${prepared.text}`);
    return text === '' ? [] : text.slice(0, -1).split('\n');
  }

  /** Throws if the log or the files have changed: reads and refusals must leave no trace. */
  #expectUnchanged(text: string, lsn: number, files: readonly string[]): void {
    assert.equal(this.#database.lastLsn, lsn, `${text} is logged`);
    assert.deepEqual(this.#fs.list(ROOT), files, `${text} leaves files`);
  }

  #linesOf(path: string): string[] {
    if (!this.#fs.exists(path)) return ['no file'];
    const handle = this.#fs.open(path, 'read');
    const bytes = new Uint8Array(handle.size());
    handle.read(bytes, 0);
    handle.close();
    const text = Buffer.from(bytes).toString();
    return text === '' ? [] : text.replace(/\n$/, '').split('\n');
  }
}

function openDatabase(fs: SimFs, clock: Clock): Promise<Database> {
  return openSim(fs, { maxMembers: 64, now: () => START + clock.seconds * 1000 });
}

async function insertAll(database: Database, table: string, edges: readonly object[]): Promise<void> {
  const bulk = database.table(table).bulk();
  for (const edge of edges) bulk.add(edge as Parameters<typeof bulk.add>[0]);
  await bulk.commit();
}

async function putFile(fs: SimFs, step: FileStep): Promise<void> {
  const path = `${ROOT}/${step.file}`;
  fs.makeDir(path.slice(0, path.lastIndexOf('/')));
  const handle = fs.open(path, 'create');
  await handle.write(contentOf(step), 0);
  handle.close();
}

function contentOf(step: FileStep): Uint8Array {
  if ('text' in step) return Buffer.from(step.text);
  if ('gzip' in step) return gzipSync(step.gzip);
  if ('base64' in step) return Buffer.from(step.base64, 'base64');
  return readFileSync(new URL(step.fixture, FIXTURES));
}

/** Returns the parts of a call that are needed to check the role. */
function callerOf(role: KeyRole): Call {
  const deny = (needed: string) => refusal('forbidden', `This needs the role ${needed}; the key has the role ${role}.`);
  return { caller: { keyId: 'key', role }, deny } as unknown as Call;
}
