// Runs ALTER in a random history: adds, drops and renames columns, and renames tables, while
// readers, compactions and transactions continue.

import type { AlterAction } from '../../src/engine/index.ts';
import type { NaiveTable } from '../model/naive-table.ts';
import { type HistoryWorld, refused, tableOf } from './history-world.ts';

export class AlterHistory {
  readonly #world: HistoryWorld;
  #names = 0;

  constructor(world: HistoryWorld) {
    this.#world = world;
  }

  async step(): Promise<void> {
    const { random } = this.#world;
    const name = this.#world.name();
    const { model } = tableOf(this.#world, name);
    const dice = random.below(10);
    if (dice < 4) await this.#columns(name, model, this.#added());
    else if (dice < 6 && model.columns.length > 0)
      await this.#columns(name, model, { kind: 'dropColumn', column: this.#columnOf(model) });
    else if (dice < 8 && model.columns.length > 0)
      await this.#columns(name, model, {
        kind: 'renameColumn',
        column: this.#columnOf(model),
        to: `r${this.#names++}`,
      });
    else if (dice < 9) await this.#rename(name, model);
    else await this.#refusals(name, model);
  }

  #columnOf(model: NaiveTable): string {
    return this.#world.source.pick(model.columns).name;
  }

  #added(): Extract<AlterAction, { kind: 'addColumn' }> {
    const { random, source } = this.#world;
    const column = {
      name: `a${this.#names++}`,
      type: source.pick(['INTEGER', 'REAL', 'TEXT', 'BOOLEAN'] as const),
    };
    const value = random.chance(0.6) ? source.value(column) : null;
    return { kind: 'addColumn', column: value === null ? column : { ...column, default: value } };
  }

  async #columns(
    name: string,
    model: NaiveTable,
    action: Exclude<AlterAction, { kind: 'renameTable' | 'setOption' }>,
  ): Promise<void> {
    const { columns: before, shapeLsn } = model;
    if (action.kind === 'addColumn') model.addColumn(action.column);
    else if (action.kind === 'dropColumn') model.dropColumn(action.column);
    else model.renameColumn(action.column, action.to);
    const { columns: after } = model;
    model.columns = before;
    this.#world.forgetDeleted(name);
    const redo = (lsn: number): void => {
      model.columns = after;
      model.shapeLsn = lsn;
    };
    const undo = (): void => {
      model.columns = before;
      model.shapeLsn = shapeLsn;
    };
    await this.#alter(name, action, undo, redo);
  }

  async #rename(name: string, model: NaiveTable): Promise<void> {
    const { models } = this.#world;
    if (this.#world.db().table(name).isPrimary) return this.#refusals(name, model);
    const to = `n${this.#names++}`;
    const { shapeLsn } = model;
    const redo = (lsn: number): void => {
      models.delete(name);
      models.set(to, model);
      model.shapeLsn = lsn;
    };
    const undo = (): void => {
      models.delete(to);
      models.set(name, model);
      model.shapeLsn = shapeLsn;
    };
    await this.#alter(name, { kind: 'renameTable', to }, undo, redo);
  }

  async #alter(name: string, action: AlterAction, undo: () => void, redo: (lsn: number) => void): Promise<void> {
    const db = this.#world.db();
    const version = db.catalogVersion;
    this.#world.note(`alter ${name} ${JSON.stringify(action).slice(0, 200)}`);
    const done = await this.#world.define({ undo, redo }, () => db.alterTable(name, action));
    if (!done) return;
    this.#world.saw(action.kind);
    if (db.catalogVersion !== version + 1) throw new Error(`the catalog went from ${version} to ${db.catalogVersion}`);
  }

  async #refusals(name: string, model: NaiveTable): Promise<void> {
    const db = this.#world.db();
    const cases: [AlterAction, string][] = [
      [{ kind: 'dropColumn', column: 'Weight' }, 'invalid_input'],
      [{ kind: 'renameColumn', column: 'id', to: 'x' }, 'invalid_input'],
      [{ kind: 'dropColumn', column: 'no_such' }, 'unknown_column'],
      [{ kind: 'addColumn', column: { name: 'formation', type: 'TEXT' } }, 'column_exists'],
    ];
    if (db.table(name).isPrimary) cases.push([{ kind: 'renameTable', to: 'other' }, 'primary_table']);
    else cases.push([{ kind: 'renameTable', to: db.primaryTable.toUpperCase() }, 'table_exists']);
    if (model.columns.length > 0) {
      const column = this.#columnOf(model).toUpperCase();
      cases.push([{ kind: 'addColumn', column: { name: column, type: 'REAL' } }, 'column_exists']);
    }
    for (const [action, code] of cases) {
      const refusal = db.alterTable(name, action).then(
        () => Promise.reject(new Error(`${JSON.stringify(action)} was not refused`)),
        (error: unknown) => refused(error, code),
      );
      await this.#world.wait(refusal);
    }
    this.#world.saw('ALTER refused');
  }
}
