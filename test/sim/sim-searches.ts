// The searches of a simulation: statements that read in steps while everything else goes on.

import type { StatementResult } from '../../src/query/result.ts';
import type { Statements } from '../../src/query/statements.ts';
import { SimStopped } from '../support/sim-fs.ts';
import { type SimTable, Violation } from './sim-model.ts';
import { failureOf } from './sim-perils.ts';
import {
  compare,
  drawSearch,
  endSearch,
  type FoundRow,
  isWithoutIndex,
  parametersOf,
  rowsOfChunk,
  type Search,
  simStatements,
  statementOf,
  type WantedRow,
  wantedOf,
} from './sim-search.ts';
import type { SimTextIndexes } from './sim-text-indexes.ts';
import type { SimWorld } from './sim-world.ts';

interface Running {
  readonly result: StatementResult;
  readonly search: Search;
  readonly what: string;
  readonly rows: FoundRow[];
  wanted: readonly WantedRow[] | undefined;
  atEnd: boolean;
}

const MOST_RUNNING = 3;

export class SimSearches {
  readonly #world: SimWorld;
  readonly #indexes: SimTextIndexes;
  #running: Running[] = [];
  #of: { readonly statements: Statements; readonly db: SimWorld['db'] } | undefined;
  #us = 0;

  constructor(world: SimWorld, indexes: SimTextIndexes) {
    this.#world = world;
    this.#indexes = indexes;
  }

  /** Statements of the current process. */
  get statements(): Statements {
    const { db, fs, onEnd } = this.#world;
    if (this.#of?.db !== db) {
      const statements = simStatements(db, () => (this.#us += 900));
      this.#of = { statements, db };
      onEnd.push(() => {
        if (!fs.stopped) statements.close();
      });
    }
    return this.#of.statements;
  }

  /** Begins a search, or reads on in one that is running. */
  search(): void {
    const { random, source, ledger } = this.#world;
    const hasIndex = [...ledger.model.tables.values()].some(({ text }) => text !== undefined);
    if (!hasIndex && random.chance(0.95)) {
      this.#indexes.index();
      return;
    }
    const isFull = this.#running.length > MOST_RUNNING;
    if (this.#running.length > 0 && (isFull || random.chance(0.4)))
      this.#advance(source.pick(this.#running), random.chance(0.5) ? Infinity : 1 + random.below(4));
    else this.#begin();
  }

  /** Returns a table, mostly one that has a text index. */
  table(): string | undefined {
    const { random, source, ledger } = this.#world;
    const name = this.#world.anyTable();
    if (random.chance(0.05)) return name;
    const names = this.#world.tableNames().filter((each) => this.#world.hasTable(each));
    const searched = names.filter((each) => ledger.model.table(each).text !== undefined);
    return searched.length === 0 ? name : source.pick(searched);
  }

  #begin(): void {
    const world = this.#world;
    const name = this.table();
    if (name === undefined) return;
    const rows = world.ledger.model.table(name).live.map(({ row }) => row);
    const search = drawSearch(world, rows, ['none', 'score', 'score and id', 'score and id']);
    const what = `search ${name} ${JSON.stringify(search)}`;
    world.note(what);
    const isShort = world.random.chance(0.7);
    this.#reading(what, () => {
      const lsn = world.db.lastLsn;
      const result = this.#read(name, search, what, lsn);
      if (result === undefined) return;
      const running: Running = {
        result,
        search,
        what: `${what} at LSN ${lsn}`,
        rows: [],
        wanted: undefined,
        atEnd: false,
      };
      this.#running.push(running);
      world.onEnd.push(() => this.#forget(running));
      if (result.lsn !== lsn) throw new Violation('wrong-lsn', `${what} answers LSN ${result.lsn} at LSN ${lsn}`);
      world.ledger.capture(lsn, (model) => {
        const table = model.table(name);
        if (table.text === undefined)
          throw new Violation('wrong-refusal', `${running.what} is answered without a text index`);
        running.wanted = wantedOf(table, table.at(lsn), search);
        this.#compare(running);
      });
      if (isShort) this.#advance(running, Infinity);
    });
    world.saw('search');
  }

  /** Begins the statement. Returns undefined if it was refused because there is no text index. */
  #read(name: string, search: Search, what: string, lsn: number): StatementResult | undefined {
    const { ledger } = this.#world;
    const prepared = this.statements.prepare(statementOf(name, search));
    try {
      return this.statements.read(prepared, parametersOf(search), 'reader', undefined) as StatementResult;
    } catch (error) {
      if (!isWithoutIndex(error)) throw error;
      const found = 'no text index';
      const expect = (table: SimTable): string => (table.text === undefined ? found : 'a text index');
      ledger.observe({ what, lsn, found, rule: 'wrong-refusal', expect: (model) => expect(model.table(name)) });
      this.#world.saw('search without an index');
      return undefined;
    }
  }

  /** Reads at most `steps` steps of a running search. */
  #advance(running: Running, steps: number): void {
    let failed = true;
    this.#reading(running.what, () => {
      for (let left = steps; left > 0 && !running.atEnd; left--) {
        const next = running.result.steps.next();
        if (next.done === true) running.atEnd = true;
        else if (next.value !== null) running.rows.push(...rowsOfChunk(next.value));
      }
      failed = false;
    });
    if (!failed && !running.atEnd) return;
    this.#running = this.#running.filter((other) => other !== running);
    endSearch(running.result);
    if (!failed) this.#compare(running);
  }

  #compare({ what, rows, wanted, search, atEnd }: Running): void {
    if (wanted === undefined || !atEnd) return;
    compare(what, rows, wanted, search);
    this.#world.saw(rows.length > 0 ? 'search to its end' : 'search that finds nothing');
  }

  #forget(running: Running): void {
    if (!this.#world.fs.stopped && this.#running.includes(running)) endSearch(running.result);
    this.#running = this.#running.filter((other) => other !== running);
  }

  /** Runs a read. A read that is refused because of a fault is not compared. */
  #reading(what: string, read: () => void): void {
    try {
      read();
    } catch (error) {
      this.#excuse(what, error);
    }
  }

  #excuse(what: string, error: unknown): void {
    if (error instanceof Violation || error instanceof SimStopped || this.#world.fs.stopped) throw error;
    const failure = failureOf(error);
    this.#world.note(`  ${what.slice(0, 40)} -> ${failure.code}`);
    this.#world.assertExcused(failure, what);
    this.#world.saw('search refused');
  }
}
