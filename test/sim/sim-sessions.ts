// A session of a simulation: a transaction with writes of its own that searches in its snapshot,
// while rows, indexes and segments change around it, and that is rolled back.

import type { EdgeRow } from '../../src/engine/types.ts';
import type { StatementResult } from '../../src/query/result.ts';
import { NaiveRow } from '../model/naive-table.ts';
import { SimStopped } from '../support/sim-fs.ts';
import { type SimTable, Violation } from './sim-model.ts';
import { failureOf } from './sim-perils.ts';
import { allRows, compare, drawSearch, isWithoutIndex, parametersOf, statementOf, wantedOf } from './sim-search.ts';
import type { SimSearches } from './sim-searches.ts';
import type { SimTextIndexes } from './sim-text-indexes.ts';
import { randomWords } from './sim-words.ts';
import type { SimWorld } from './sim-world.ts';

interface Session {
  readonly name: string;
  readonly table: SimTable;
  /** LSN of the snapshot. */
  readonly lsn: number;
  /** The rows that the session sees, by token. */
  readonly rows: Map<number, NaiveRow>;
}

const SESSION = 'own';
const BETWEEN = 'the index of a session changed after its snapshot';

export class SimSessions {
  readonly #world: SimWorld;
  readonly #indexes: SimTextIndexes;
  readonly #searches: SimSearches;
  #open: Session | undefined;
  #began: unknown;

  constructor(world: SimWorld, indexes: SimTextIndexes, searches: SimSearches) {
    this.#world = world;
    this.#indexes = indexes;
    this.#searches = searches;
  }

  /** Begins the session, writes or searches in it, or ends it. */
  async session(): Promise<void> {
    const { random, fs } = this.#world;
    // The model must know what is visible, and the index that a statement uses.
    if (this.#indexes.isChanging || this.#world.ledger.model.lsn < this.#world.db.lastLsn) return;
    try {
      await this.#begin();
      for (let count = 1 + random.below(5); count > 0 && this.#open !== undefined; count--) {
        if (random.chance(0.5)) await this.#change(this.#open);
        else await this.#search(this.#open);
        await this.#world.loop.turnsOf(random.below(4));
      }
      if (random.chance(0.3)) await this.#end();
    } catch (error) {
      if (error instanceof Violation || error instanceof SimStopped || fs.stopped) throw error;
      const failure = failureOf(error);
      this.#world.note(`  session -> ${failure.code}`);
      // Another commit may have changed the row since the snapshot.
      if (failure.code !== 'conflict') this.#world.assertExcused(failure, 'a session');
      await this.#end();
    }
  }

  /** Begins a session, unless one is open whose table still has its columns and its name. */
  async #begin(): Promise<void> {
    const world = this.#world;
    const { db, ledger } = world;
    if (this.#began !== db) this.#open = undefined;
    this.#began = db;
    if (this.#open !== undefined) {
      const { name, table, lsn } = this.#open;
      if (!world.altering.has(name) && ledger.model.tables.get(name) === table && table.shapeLsn <= lsn) return;
      await this.#end();
    }
    const name = this.#searches.table();
    if (name === undefined) return;
    const lsn = db.lastLsn;
    const table = ledger.model.table(name);
    world.note(`session in ${name} at LSN ${lsn}`);
    const rows = new Map(table.versionsAt(lsn).map((version) => [version.row.weight as number, version]));
    await this.#run('BEGIN');
    this.#open = { name, table, lsn, rows };
  }

  async #end(): Promise<void> {
    this.#open = undefined;
    if (this.#searches.statements.sessions.find(SESSION) !== undefined) await this.#run('ROLLBACK');
  }

  async #search({ name, table, lsn, rows: seen }: Session): Promise<void> {
    const rows = [...seen.values()].map(({ row }) => row);
    const search = drawSearch(this.#world, rows, ['none', 'score']);
    const what = `search ${name} ${JSON.stringify(search)} in a session at LSN ${lsn}`;
    const { text } = table;
    let result: StatementResult;
    try {
      result = await this.#run(statementOf(name, search), parametersOf(search));
    } catch (error) {
      if (text !== undefined || !isWithoutIndex(error)) throw error;
      return;
    }
    if (text === undefined) throw new Violation('wrong-refusal', `${what} is answered without a text index`);
    if (result.lsn !== lsn) throw new Violation('wrong-lsn', `${what} answers LSN ${result.lsn}`);
    compare(what, allRows(result), wantedOf(table, rows, search), search);
    this.#world.saw(text.lsn > lsn ? BETWEEN : 'session');
  }

  /** Inserts, changes or deletes a row. */
  async #change({ name, table, rows }: Session): Promise<void> {
    const { random, source } = this.#world;
    const token = this.#world.token();
    const names = table.allColumns.filter(({ type }) => type === 'TEXT').map((column) => column.name);
    const texts = Object.fromEntries(names.map((column) => [column, random.chance(0.2) ? null : randomWords(random)]));
    const old = rows.size > 0 ? source.pick([...rows.keys()]) : undefined;
    const dice = random.below(10);
    const keep = (row: EdgeRow): void => void rows.set(token, new NaiveRow(table, row));
    if (dice < 4 || old === undefined) {
      const edge = { event_ts: source.time(), members: [...new Set(source.members())] };
      const columns = ['event_ts', 'members', 'weight', ...names];
      const values = ['$event_ts', '$members', '$token', ...names.map((column) => `$${column}`)];
      const statement = `INSERT INTO ${name} (${columns.join(', ')}) VALUES (${values.join(', ')})`;
      await this.#run(statement, { ...edge, token, ...texts });
      keep(table.rowOf(-token, { ...edge, properties: { ...texts, weight: token } }));
      return;
    }
    const { row } = rows.get(old)!;
    if (dice < 7) {
      const sets = ['weight = $token', ...names.map((column) => `${column} = $${column}`)];
      await this.#run(`UPDATE ${name} SET ${sets.join(', ')} WHERE weight = $old`, { old, token, ...texts });
      keep({ ...row, ...texts, weight: token });
    } else await this.#run(`DELETE FROM ${name} WHERE weight = $old`, { old });
    rows.delete(old);
  }

  /** Runs a statement of the session without a pause. */
  #run(text: string, parameters: Record<string, unknown> = {}): Promise<StatementResult> {
    const { statements } = this.#searches;
    const slices = async (step: () => boolean): Promise<void> => {
      while (step());
    };
    const running = statements.execute(statements.prepare(text), { parameters, session: SESSION, slices });
    return this.#world.wait(running, text);
  }
}
