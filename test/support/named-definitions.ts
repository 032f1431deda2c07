// The changes of definitions in a random history of named tables.

import type { AlterAction } from '../../src/engine/index.ts';
import type { NaiveColumn } from '../model/naive-table.ts';
import { type EdgeTable, keyed, type NamedState, type NodeTable } from '../model/named-state.ts';
import type { NamedWorld } from './named-world.ts';

export class NamedDefinitions {
  readonly #world: NamedWorld;
  #names = 0;
  #keys = 0;

  constructor(world: NamedWorld) {
    this.#world = world;
  }

  async step(): Promise<void> {
    const { random, state } = this.#world;
    const dice = random.below(12);
    if (state.kinds.length === 0 || (dice < 1 && state.kinds.length < 4)) return this.createNodeTable();
    if (state.tables.length === 0 || (dice < 3 && state.tables.length < 4)) return this.createTable();
    if (dice < 4) return this.#dropTable();
    if (dice < 5) return this.#dropNodeTable();
    if (dice < 8) return this.#alterNodes(this.#world.source.pick(state.kinds));
    if (dice < 10) return this.#alterEdges(this.#world.source.pick(state.tables));
    return this.#index();
  }

  #name(letter: string): string {
    return `${letter}${this.#names++}`;
  }

  #column(): NaiveColumn {
    return { ...this.#world.source.column(this.#name('a')), key: this.#keys++ };
  }

  async createNodeTable(): Promise<void> {
    const { random, db } = this.#world;
    const name = this.#name('K');
    const isInteger = random.chance(0.35);
    const columns = Array.from({ length: random.below(4) }, () => this.#column());
    const keyName = this.#world.source.pick(['name', 'Key', 'weight']);
    const table: NodeTable = { kind: { isInteger, name }, name, keyName, columns, nodes: [] };
    const key = { name: keyName, type: isInteger ? ('INTEGER' as const) : ('TEXT' as const) };
    const input = { name, key, columns: columns.map(({ key: _, ...column }) => column) };
    const next = (state: NamedState) => state.withKind(table);
    await this.#world.define(`createNodes ${name}`, () => db.nodes.createTable(input), next);
  }

  async createTable(): Promise<void> {
    const { random, db, source, state } = this.#world;
    if (state.kinds.length === 0) return;
    const name = this.#name('t');
    const kinds = state.kinds.filter(() => random.chance(0.5)).map(({ kind }) => kind);
    if (kinds.length === 0) kinds.push(source.pick(state.kinds).kind);
    const columns = keyed(source.edges.columns(), this.#keys);
    this.#keys += columns.length;
    const table: EdgeTable = {
      token: {},
      name,
      kinds,
      roles: source.edges.roles(),
      intervals: random.chance(0.4),
      createNodes: random.chance(0.75),
      columns,
      rows: [],
    };
    const { roles, intervals, createNodes } = table;
    const memberTables = kinds.map((kind) => (random.chance(0.2) ? kind.name.toLowerCase() : kind.name));
    const bucketSeconds = source.pick([1, 3, 10, 3600, 1_000_000]);
    const input = { name, memberTables, roles, intervals, createNodes, bucketSeconds };
    const all = { ...input, columns: columns.map(({ key: _, ...column }) => column) };
    const made = await this.#world.define(
      `create ${name} of ${memberTables}`,
      () => db.createTable(all),
      (before) => before.withTable(table),
    );
    if (made) this.#world.saw(kinds.length > 1 ? 'create with several kinds' : 'create with one kind');
    const mixed = { name: 'mixed', memberTables: [kinds[0]!.name, 'nobody'] };
    if (random.chance(0.1)) await this.#refused(() => db.createTable(mixed), 'invalid_input');
  }

  async #refused(change: () => Promise<unknown>, code: string): Promise<void> {
    await this.#world.define(`refused ${code}`, change, (state) => state, [code]);
  }

  async #dropTable(): Promise<void> {
    const { db, source, state } = this.#world;
    const { name, token } = source.pick(state.tables);
    await this.#world.define(
      `drop ${name}`,
      () => db.dropTable(name),
      (before) => before.withoutTable(token),
    );
  }

  async #dropNodeTable(): Promise<void> {
    const { db, source, state } = this.#world;
    const { name, kind } = source.pick(state.kinds);
    if (state.usersOf(kind).length > 0) return this.#refused(() => db.nodes.dropTable(name), 'table_in_use');
    await this.#world.define(
      `dropNodes ${name}`,
      () => db.nodes.dropTable(name),
      (before) => before.withoutKind(kind),
    );
  }

  async #alterNodes(table: NodeTable): Promise<void> {
    const { db, random } = this.#world;
    const { name, kind, keyName } = table;
    const alter = (action: AlterAction) => () => db.nodes.alterTable(name, action);
    if (random.chance(0.1)) return this.#refused(alter({ kind: 'dropColumn', column: keyName }), 'invalid_input');
    const to = random.chance(0.2) ? this.#name('K') : undefined;
    if (to !== undefined) {
      const next = (state: NamedState) => state.withKind({ ...state.kind(kind)!, name: to });
      await this.#world.define(`renameNodes ${name} ${to}`, alter({ kind: 'renameTable', to }), next);
      return;
    }
    if (random.chance(0.15)) {
      const column = this.#name('key');
      const action: AlterAction = { kind: 'renameColumn', column: keyName, to: column };
      const next = (state: NamedState) => state.withKind({ ...state.kind(kind)!, keyName: column });
      await this.#world.define(`renameKey ${name} ${column}`, alter(action), next);
      return;
    }
    const { action, columns } = this.#columnChange(table.columns);
    const next = (state: NamedState) => state.withKind({ ...state.kind(kind)!, columns });
    await this.#world.define(`${action.kind}OfNodes ${name}`, alter(action), next);
  }

  async #alterEdges({ name, token, columns: before }: EdgeTable): Promise<void> {
    const { db, random } = this.#world;
    const alter = (action: AlterAction) => () => db.alterTable(name, action);
    if (random.chance(0.2)) {
      const to = this.#name('n');
      const next = (state: NamedState) => state.withTable({ ...state.table(token)!, name: to });
      await this.#world.define(`rename ${name} ${to}`, alter({ kind: 'renameTable', to }), next);
      return;
    }
    const { action, columns } = this.#columnChange(before);
    const next = (state: NamedState) => state.withTable({ ...state.table(token)!, columns });
    await this.#world.define(`${action.kind} ${name}`, alter(action), next);
  }

  #columnChange(columns: readonly NaiveColumn[]): { action: AlterAction; columns: NaiveColumn[] } {
    const { random, source } = this.#world;
    const dice = columns.length === 0 ? 0 : random.below(4);
    if (dice < 2) {
      const added = this.#column();
      const { key: _, ...column } = added;
      return { action: { kind: 'addColumn', column }, columns: [...columns, added] };
    }
    const { key, name } = source.pick(columns);
    if (dice === 2)
      return {
        action: { kind: 'dropColumn', column: name },
        columns: columns.filter((each) => each.key !== key),
      };
    const to = this.#name('r');
    return {
      action: { kind: 'renameColumn', column: name, to },
      columns: columns.map((each) => (each.key === key ? { ...each, name: to } : each)),
    };
  }

  /** Creates or drops an index of a numeric column. */
  async #index(): Promise<void> {
    const { db, source, state, random } = this.#world;
    const { name } = source.pick([...state.tables, ...state.kinds]);
    const isOfNodes = state.kinds.some((each) => each.name === name);
    const table = isOfNodes ? db.nodes.table(name) : db.table(name);
    const numeric = table.columns.columns.filter(({ type, id }) => type !== 'TEXT' && type !== 'BOOLEAN' && id > 0);
    if (numeric.length === 0) return;
    const { name: column } = source.pick(numeric);
    const isThere = db.indexes(name).some((item) => item.column === column);
    if (isThere && random.chance(0.5)) return;
    const change = isThere ? () => db.dropIndex(name, column) : () => db.createIndex(name, column);
    await this.#world.define(`${isThere ? 'dropIndex' : 'index'} ${name} ${column}`, change, (before) => before);
  }
}
