// What a transaction of a random history of named tables has staged, and what it sees.

import type { Transaction } from '../../src/engine/index.ts';
import {
  type EdgeTable,
  type EdgeVersion,
  type NaiveKind,
  type NaiveNode,
  type NamedState,
  type NodeTable,
  type NodeVersion,
  valuesOf,
} from '../model/named-state.ts';
import type { Holder } from './named-plan.ts';
import { isEdge, withRows } from './named-writes.ts';

export type Staged =
  | { kind: 'birth'; node: NaiveNode }
  | { kind: 'insert'; token: object; edge: EdgeVersion }
  | { kind: 'update'; token: object; target: EdgeVersion; edge: EdgeVersion }
  | { kind: 'remove'; token: object; target: EdgeVersion }
  | { kind: 'delete'; token: object; eventTs: number; members: ReadonlySet<NaiveNode>; isKnown: boolean }
  | { kind: 'insert node'; version: NodeVersion }
  | { kind: 'update node'; target: NodeVersion; version: NodeVersion }
  | { kind: 'delete node'; target: NodeVersion };

export class OpenTransaction implements Holder {
  readonly held = new Set<NaiveNode>();
  readonly tx: Transaction;
  readonly base: NamedState;
  /** Whether all its snapshots were taken when it began. */
  readonly isPinned: boolean;
  staged: Staged[] = [];

  constructor(tx: Transaction, base: NamedState, isPinned: boolean) {
    this.tx = tx;
    this.base = base;
    this.isPinned = isPinned;
  }

  get dead(): Set<NaiveNode> {
    return new Set(this.staged.flatMap((each) => (each.kind === 'delete node' ? [each.target.node] : [])));
  }

  isBorn(node: NaiveNode): boolean {
    return this.staged.some(
      (each) =>
        (each.kind === 'birth' && each.node === node) || (each.kind === 'insert node' && each.version.node === node),
    );
  }

  /** Returns the edges of a table that the transaction sees. */
  edges(token: object): EdgeVersion[] {
    let rows = [...(this.base.table(token)?.rows ?? [])];
    for (const each of this.staged) {
      if (!('token' in each) || each.token !== token) continue;
      if (each.kind === 'delete') rows = rows.filter((row) => !matches(each, row));
      else if (each.kind !== 'insert') rows = rows.filter((row) => row !== each.target);
      if (each.kind === 'insert' || each.kind === 'update') rows.push(each.edge);
    }
    return rows;
  }

  /** Returns the nodes of a node table that the transaction sees. */
  nodes(kind: NaiveKind): NodeVersion[] {
    let nodes = [...(this.base.kind(kind)?.nodes ?? [])];
    for (const each of this.staged) {
      if (each.kind === 'birth' && each.node.kind === kind) nodes.push({ node: each.node, values: new Map() });
      if (each.kind === 'update node' || each.kind === 'delete node')
        nodes = nodes.filter((version) => version.node !== each.target.node);
      if (each.kind === 'insert node' || each.kind === 'update node')
        if (each.version.node.kind === kind) nodes.push(each.version);
    }
    return nodes;
  }

  /** Whether the transaction has itself changed or removed an edge of the newest state. */
  hasChanged(token: object, { id, event_ts }: EdgeVersion): boolean {
    const seen = this.base.table(token)?.rows.find((edge) => edge.id === id && edge.event_ts === event_ts);
    return this.staged.some((each) => {
      if (!('token' in each) || each.token !== token) return false;
      if (each.kind === 'delete') return seen !== undefined && matches(each, seen);
      return each.kind === 'insert' ? each.edge.id === id : each.target.id === id;
    });
  }

  /** Whether a live edge that the transaction has not deleted holds a node. */
  isUsed(state: NamedState, node: NaiveNode): boolean {
    return state.usersOf(node.kind).some(({ token, rows }) => {
      const isSeen = this.edges(token).some(({ members }) => members.has(node));
      return isSeen || rows.some((edge) => edge.members.has(node) && !this.hasChanged(token, edge));
    });
  }

  /** Whether an edge is one of the transaction or is among the rows of the newest state. */
  isThere(target: EdgeVersion, rows: readonly EdgeVersion[]): boolean {
    return this.staged.some((each) => 'edge' in each && each.edge === target) || rows.includes(target);
  }
}

export function matches(each: Extract<Staged, { kind: 'delete' }>, row: EdgeVersion): boolean {
  return each.isKnown && isEdge(row, each.eventTs, each.members);
}

export function nodeOf(staged: Exclude<Staged, { token: object }>): NaiveNode & { node: NaiveNode } {
  const node = 'node' in staged ? staged.node : 'version' in staged ? staged.version.node : staged.target.node;
  return { ...node, node };
}

export function isSameShape(a: NodeTable, b: NodeTable): boolean {
  return a.columns === b.columns && a.name === b.name && a.keyName === b.keyName;
}

export function versionOf(
  { columns }: NodeTable,
  node: NaiveNode,
  attributes: Parameters<typeof valuesOf>[1],
): NodeVersion {
  return { node, values: valuesOf(columns, attributes) };
}

export function numbersByRole({ roles }: EdgeTable, { roles: lists }: EdgeVersion): Record<string, number[]> {
  return Object.fromEntries(roles.map((role, place) => [role, [...lists[place]!].map(({ number }) => number)]));
}

/** Returns the state after the operations of a transaction. */
export function applied(state: NamedState, staged: readonly Staged[]): NamedState {
  return staged.reduce((before, each) => {
    if ('token' in each)
      return withRows(before, each.token, (rows) => {
        if (each.kind === 'insert') return [...rows, each.edge];
        if (each.kind === 'delete') return rows.filter((row) => !matches(each, row));
        const left = rows.filter((row) => row !== each.target);
        return each.kind === 'update' ? [...left, each.edge] : left;
      });
    const { node } = nodeOf(each);
    const table = before.kind(node.kind)!;
    const left = table.nodes.filter((version) => version.node !== node);
    const version = 'version' in each ? each.version : { node, values: new Map() };
    return before.withKind({ ...table, nodes: each.kind === 'delete node' ? left : [...left, version] });
  }, state);
}
