// The naive model of a database with node tables: a state is an immutable list of node tables and a
// list of named tables. Every change makes a new state, so a history keeps the state of each LSN.
//
// A node is an object. Two nodes with equal keys are different nodes if one was created after the
// other was deleted. Its number is taken from the database when it is first seen, and must stay.

import type { ColumnDefinition, EdgeRow, PropertyValue } from '../../src/engine/types.ts';
import type { KindAndKey, NodeKey } from '../../src/model/node-refs.ts';
import type { NaiveColumn } from './naive-table.ts';

/** A node table as a kind of members. It stays the same when the table is altered or renamed. */
export interface NaiveKind {
  readonly isInteger: boolean;
  /** Newest name. */
  name: string;
}

export interface NaiveNode {
  readonly kind: NaiveKind;
  readonly key: NodeKey;
  /** 0 until it is known. */
  number: number;
}

type Values = ReadonlyMap<number, PropertyValue>;

/** One version of the attributes of a node. */
export interface NodeVersion {
  readonly node: NaiveNode;
  /** By the key of the column. */
  readonly values: Values;
}

export interface NodeTable {
  readonly kind: NaiveKind;
  readonly name: string;
  readonly keyName: string;
  /** The attributes. */
  readonly columns: readonly NaiveColumn[];
  readonly nodes: readonly NodeVersion[];
}

/** One version of an edge. */
export interface EdgeVersion {
  readonly id: number;
  readonly event_ts: number;
  readonly members: ReadonlySet<NaiveNode>;
  /** The members of each role, in the order of the table's roles. */
  readonly roles: readonly ReadonlySet<NaiveNode>[];
  readonly values: Values;
}

export interface EdgeTable {
  /** The same object for all states of a table. */
  readonly token: object;
  readonly name: string;
  readonly kinds: readonly NaiveKind[];
  readonly roles: readonly string[];
  readonly intervals: boolean;
  readonly createNodes: boolean;
  /** User columns. */
  readonly columns: readonly NaiveColumn[];
  readonly rows: readonly EdgeVersion[];
}

const BUILT_IN: readonly NaiveColumn[] = [
  { key: -3, name: 'weight', type: 'REAL' },
  { key: -2, name: 'mean_dist_m', type: 'REAL' },
  { key: -1, name: 'formation', type: 'TEXT' },
];
const END: NaiveColumn = { key: -4, name: 'end_ts', type: 'INTEGER' };

export function allColumns({ intervals, columns }: Pick<EdgeTable, 'intervals' | 'columns'>): NaiveColumn[] {
  return [...BUILT_IN, ...(intervals ? [END] : []), ...columns];
}

/** Returns the values of named properties. Columns without a property have their default. */
export function valuesOf(
  columns: readonly NaiveColumn[],
  properties: Readonly<Record<string, PropertyValue | undefined>>,
): Values {
  const values = new Map<number, PropertyValue>();
  for (const { key, name } of columns) if (properties[name] !== undefined) values.set(key, properties[name]);
  return values;
}

export class NamedState {
  readonly kinds: readonly NodeTable[];
  readonly tables: readonly EdgeTable[];

  constructor(kinds: readonly NodeTable[] = [], tables: readonly EdgeTable[] = []) {
    this.kinds = kinds;
    this.tables = tables;
  }

  /** Returns the state of a node table; undefined if it does not exist in this state. */
  kind(kind: NaiveKind): NodeTable | undefined {
    return this.kinds.find((each) => each.kind === kind);
  }

  table(token: object): EdgeTable | undefined {
    return this.tables.find((each) => each.token === token);
  }

  withKind(changed: NodeTable): NamedState {
    return new NamedState([...this.kinds.filter(({ kind }) => kind !== changed.kind), changed], this.tables);
  }

  withTable(changed: EdgeTable): NamedState {
    return new NamedState(this.kinds, [...this.tables.filter(({ token }) => token !== changed.token), changed]);
  }

  withoutKind(gone: NaiveKind): NamedState {
    return new NamedState(
      this.kinds.filter(({ kind }) => kind !== gone),
      this.tables,
    );
  }

  withoutTable(gone: object): NamedState {
    return new NamedState(
      this.kinds,
      this.tables.filter(({ token }) => token !== gone),
    );
  }

  /** Returns the live node with a key. */
  find(kind: NaiveKind, key: NodeKey): NaiveNode | undefined {
    return this.kind(kind)?.nodes.find(({ node }) => node.key === key)?.node;
  }

  isLive(node: NaiveNode): boolean {
    return this.kind(node.kind)?.nodes.some((each) => each.node === node) === true;
  }

  /** Returns the nodes of all node tables. */
  nodes(): NaiveNode[] {
    return this.kinds.flatMap(({ nodes }) => nodes.map(({ node }) => node));
  }

  usersOf(kind: NaiveKind): EdgeTable[] {
    return this.tables.filter(({ kinds }) => kinds.includes(kind));
  }
}

/** Returns the rows of a named table with the numbers of their members, in (event_ts, id) order. */
export function edgeRows(table: EdgeTable, rows: readonly EdgeVersion[] = table.rows): EdgeRow[] {
  const ordered = [...rows].sort((a, b) => a.event_ts - b.event_ts || a.id - b.id);
  return ordered.map((edge) => {
    const row: EdgeRow = { id: edge.id, event_ts: edge.event_ts, members: numbersOf(edge.members) };
    if (table.roles.length > 0)
      row.roles = Object.fromEntries(table.roles.map((role, place) => [role, numbersOf(edge.roles[place]!)]));
    fill(row, allColumns(table), edge.values);
    return row;
  });
}

function numbersOf(nodes: ReadonlySet<NaiveNode>): number[] {
  return [...nodes].map(({ number }) => number).sort((a, b) => a - b);
}

function fill(row: Record<string, unknown>, columns: readonly NaiveColumn[], values: Values): void {
  for (const { key, name, default: missing = null } of columns)
    row[name] = values.has(key) ? values.get(key)! : missing;
}

/**
 * Returns the rows of a node table as the engine stores them: with the number as id, time and only
 * member, in the order of the numbers.
 */
export function nodeRows({ keyName, columns }: NodeTable, nodes: readonly NodeVersion[]): EdgeRow[] {
  const ordered = [...nodes].sort((a, b) => a.node.number - b.node.number);
  return ordered.map(({ node: { key, number }, values }) => {
    const row: EdgeRow = { id: number, event_ts: number, members: [number], [keyName]: key };
    fill(row, columns, values);
    return row;
  });
}

/** Returns a row of a node table as clients see it. */
export function shownNode({ id: _, event_ts: __, members: ___, ...shown }: EdgeRow): Record<string, unknown> {
  return shown;
}

/** Returns a row of a named table with members as `shown` returns them. */
export function shownEdge(row: EdgeRow, shown: (number: number) => NodeKey | KindAndKey): Record<string, unknown> {
  const { id, event_ts, members, roles, ...values } = row;
  const lists = Object.entries(roles ?? {}).map(([role, list]) => [role, (list as number[]).map(shown)]);
  return {
    id,
    event_ts,
    members: members.map(shown),
    ...(roles === undefined ? {} : { roles: Object.fromEntries(lists) }),
    ...values,
  };
}

/** Returns columns with keys from `firstKey` on. */
export function keyed(columns: readonly ColumnDefinition[], firstKey: number): NaiveColumn[] {
  return columns.map((column, place) => ({ ...column, key: firstKey + place }));
}
