// Generates random INSERT, UPDATE and DELETE on named tables, each with its meaning on the plain
// tables: which rows it finds is left to the evaluators.

import type { EdgeInput } from '../../src/engine/index.ts';
import type { Random } from '../support/random.ts';
import { type NaiveRow, rolesOf } from './naive-expressions.ts';
import { literalOf, type NamedStatement } from './named-random.ts';
import {
  EDGE_TABLES,
  isUsed,
  keyOf,
  kindOf,
  type NamedShape,
  type NamedTables,
  NODE_TABLES,
  setOf,
} from './named-random-world.ts';
import { conditionWithExists } from './named-tie-statements.ts';
import { both, Ties } from './named-ties.ts';
import { pick } from './random-expressions.ts';

/** The outcome of a change: how many rows it changed, or the code with which it is refused. */
export type Outcome = { readonly count: number } | { readonly refused: string };

export interface NamedChange {
  readonly table: string;
  readonly statement: NamedStatement;
  /** A MATCH that returns, as `k`, what identifies the rows that are changed. */
  readonly found: NamedStatement | undefined;
  /** Changes the plain tables, unless the change is refused, and returns the outcome. */
  meaning(keys: readonly number[]): Outcome;
}

/** The ids of new edges, until the ids are known that the database gave them. */
const NOT_NUMBERED = 2 ** 40;

type Item = Omit<NaiveRow, 'id'>;

/** Writes changes of the tables of a world. */
export class NamedChanges {
  readonly #random: Random;
  readonly #shape: NamedShape;
  readonly #world: NamedTables;

  constructor(random: Random, shape: NamedShape, world: NamedTables) {
    this.#random = random;
    this.#shape = shape;
    this.#world = world;
  }

  next(): NamedChange {
    const edges = pick(this.#random, Object.keys(EDGE_TABLES));
    const nodes = pick(this.#random, NODE_TABLES);
    switch (this.#random.below(8)) {
      case 0:
      case 1:
        return this.#insertEdges(edges);
      case 2:
        return this.#insertNodes(nodes);
      case 3:
        return this.#updateNodes(nodes);
      case 4:
      case 5:
        return this.#updateEdges(edges);
      case 6:
        return this.#deleteNodes(nodes);
      default:
        return this.#deleteEdges(edges);
    }
  }

  /** Returns a node that edges of a table may have; often one that does not exist yet. */
  #id(kinds: readonly string[]): number {
    for (;;) {
      const id =
        this.#random.below(3) === 0 ? 10 + this.#shape.nodes + this.#random.below(6) : this.#random.below(9) - 3;
      if (kinds.includes(kindOf(id))) return id;
    }
  }

  #ids(table: string): number[] {
    return setOf(Array.from({ length: 1 + this.#random.below(3) }, () => this.#id(EDGE_TABLES[table]!)));
  }

  #list(table: string, ids: readonly number[]): string {
    const several = EDGE_TABLES[table]!.length > 1;
    const member = (id: number) => {
      const key = literalOf(keyOf(id)!);
      return several || this.#random.below(4) === 0 ? `node(${kindOf(id)}, ${key})` : key;
    };
    return `[${ids.map(member).join(', ')}]`;
  }

  /** Creates the nodes that do not exist, with the defaults. */
  #createNodes(ids: readonly number[]): void {
    for (const id of ids) {
      const { rows } = this.#world.table(kindOf(id));
      if (!rows.some(({ num }) => num === id)) this.#world.addNode(kindOf(id), id, {});
    }
  }

  #plain(text: string): NamedStatement {
    return { named: { text, parameters: {} }, plain: { text, parameters: {} } };
  }

  #insertEdges(table: string): NamedChange {
    const { roles, intervals } = this.#shape;
    const names = roles.length > 0 && this.#random.below(2) === 0 ? [...roles] : ['members'];
    if (roles.length > 0 && names.length === 1 && this.#random.below(2) === 0) names.push(pick(this.#random, roles));
    const edges: (EdgeInput & { readonly texts: string })[] = [];
    for (let count = 1 + this.#random.below(3); count > 0; count--) {
      const lists = new Map(names.map((name) => [name, this.#ids(table)]));
      const event_ts = this.#random.below(70) - 25;
      const n = this.#random.below(20) - 5;
      const end = intervals ? pick(this.#random, [null, event_ts, event_ts + 7, event_ts + 40]) : null;
      const end_ts = intervals && this.#random.below(25) === 0 ? event_ts - 1 : end;
      const texts = [event_ts, ...[...lists.values()].map((ids) => this.#list(table, ids)), n];
      edges.push({
        event_ts,
        members: lists.get('members') ?? [],
        roles: Object.fromEntries([...lists].filter(([name]) => name !== 'members')),
        properties: intervals ? { n, end_ts } : { n },
        texts: `(${[...texts, ...(intervals ? [end_ts ?? 'null'] : [])].join(', ')})`,
      });
    }
    const columns = ['event_ts', ...names, 'n', ...(intervals ? ['end_ts'] : [])];
    const text = `INSERT INTO ${table} (${columns.join(', ')}) VALUES ${edges.map(({ texts }) => texts).join(', ')}`;
    const endsBefore = edges.some(({ event_ts, properties }) => ((properties!.end_ts as number) ?? 99) < event_ts);
    const meaning = (): Outcome => {
      if (endsBefore) return { refused: 'invalid_input' };
      const { rows } = this.#world.table(table);
      for (const [place, edge] of edges.entries()) {
        this.#world.addEdge(table, NOT_NUMBERED + place, edge);
        this.#createNodes(rows.at(-1)!.members);
      }
      return { count: edges.length };
    };
    return { table, statement: this.#plain(text), found: undefined, meaning };
  }

  #insertNodes(table: string): NamedChange {
    const ids = setOf(Array.from({ length: 1 + this.#random.below(2) }, () => this.#id([table])));
    const given = ids.map(() => ({ n: this.#random.below(9), id: this.#random.below(90), event_ts: null }));
    const values = ids.map((id, place) => `(${given[place]!.n}, ${literalOf(keyOf(id)!)}, ${given[place]!.id})`);
    const text = `INSERT INTO ${table} (n, name, id) VALUES ${values.join(', ')}`;
    const meaning = (): Outcome => {
      const { rows } = this.#world.table(table);
      if (ids.some((id) => rows.some(({ num }) => num === id))) return { refused: 'node_exists' };
      for (const [place, id] of ids.entries()) this.#world.addNode(table, id, given[place]!);
      return { count: ids.length };
    };
    return { table, statement: this.#plain(text), found: undefined, meaning };
  }

  /** Returns `text WHERE condition`, and the MATCH with the same condition. */
  #where(table: string, text: string): Pick<NamedChange, 'statement' | 'found'> {
    const ties = new Ties(this.#random, this.#shape);
    const one = { alias: table, table };
    const conditions = Array.from({ length: 1 + this.#random.below(2) }, () => conditionWithExists(ties, one));
    const where = conditions.join(' AND ');
    const key = EDGE_TABLES[table] === undefined ? both('name', 'num') : 'id';
    return {
      statement: ties.statement(`${text} WHERE ${where}`),
      found: ties.statement(`MATCH (${table}:${table}) WHERE ${where} RETURN ${table}.${key} AS k`),
    };
  }

  #updateNodes(table: string): NamedChange {
    const by = this.#random.below(5);
    const text = `UPDATE ${table} SET n = n + ${by}, place = 'moved', ok = null`;
    const meaning = (keys: readonly number[]): Outcome => {
      const { rows } = this.#world.table(table);
      for (const [place, row] of rows.entries())
        if (keys.includes(row.num as number))
          rows[place] = { ...row, n: row.n === null ? null : (row.n as number) + by, place: 'moved', ok: null };
      return { count: keys.length };
    };
    return { table, ...this.#where(table, text), meaning };
  }

  #updateEdges(table: string): NamedChange {
    const { roles, intervals } = this.#shape;
    const forms: (() => { text: string; change: (row: NaiveRow) => Item })[] = [
      () => ({ text: "place = 'moved'", change: (row) => ({ ...row, place: 'moved' }) }),
      () => {
        const ids = this.#ids(table);
        return { text: `members = ${this.#list(table, ids)}`, change: (row) => withMembers(row, ids) };
      },
    ];
    if (intervals) {
      const by = this.#random.below(12) === 0 ? -1 : this.#random.below(30);
      forms.push(
        () => ({ text: 'end_ts = null', change: (row) => ({ ...row, end_ts: null }) }),
        () => ({ text: `end_ts = event_ts + ${by}`, change: (row) => ({ ...row, end_ts: row.event_ts + by }) }),
      );
    }
    if (roles.length > 0)
      forms.push(() => {
        const ids = this.#ids(table);
        const role = pick(this.#random, roles);
        return { text: `${role} = ${this.#list(table, ids)}`, change: (row) => withRole(row, role, ids) };
      });
    const { text, change } = pick(this.#random, forms)();
    const meaning = (keys: readonly number[]): Outcome => {
      const { rows } = this.#world.table(table);
      const changed = rows.map((row) => (keys.includes(row.id) ? ({ ...row, ...change(row) } as NaiveRow) : row));
      if (changed.some((row) => intervals && ((row.end_ts as number) ?? Number.MAX_VALUE) < row.event_ts))
        return { refused: 'invalid_input' };
      this.#world.table(table).rows = changed;
      for (const row of changed) this.#createNodes(row.members);
      return { count: keys.length };
    };
    return { table, ...this.#where(table, `UPDATE ${table} SET ${text}`), meaning };
  }

  #deleteEdges(table: string): NamedChange {
    const meaning = (keys: readonly number[]): Outcome => {
      const own = this.#world.table(table);
      own.rows = own.rows.filter(({ id }) => !keys.includes(id));
      return { count: keys.length };
    };
    return { table, ...this.#where(table, `DELETE FROM ${table}`), meaning };
  }

  #deleteNodes(table: string): NamedChange {
    const meaning = (keys: readonly number[]): Outcome => {
      if (keys.some((id) => isUsed(this.#world.tables, id))) return { refused: 'node_in_use' };
      const own = this.#world.table(table);
      own.rows = own.rows.filter(({ num }) => !keys.includes(num as number));
      return { count: keys.length };
    };
    return { table, ...this.#where(table, `DELETE FROM ${table}`), meaning };
  }
}

/** Members that stay keep their roles. */
function withMembers(row: NaiveRow, ids: readonly number[]): Item {
  if (row.roles === undefined) return { ...row, members: ids };
  const stay = Object.entries(rolesOf(row)).map(([role, nodes]) => [role, nodes.filter((id) => ids.includes(id))]);
  return { ...row, members: ids, roles: Object.fromEntries(stay) };
}

/** Exactly these nodes have the role; they become members, and those that lose it stay members. */
function withRole(row: NaiveRow, role: string, ids: readonly number[]): Item {
  return { ...row, members: setOf([...row.members, ...ids]), roles: { ...rolesOf(row), [role]: ids } };
}
