// The members of hyperedges as nodes of a graph file. Their ids are `n<number>` for numbers,
// `Kind:key` for nodes of a node table, and `:key` for keys in the rows of a statement, which do
// not say the kind. No two are equal, and none is the id of a hyperedge, which has no colon: kinds
// are identifiers.

import type { Row } from '../run/runner.ts';
import { membersOf } from './edge-rows.ts';
import { NumberSet } from './number-set.ts';

export interface Member {
  readonly id: string;
  /** The number or the key. */
  readonly label: string;
  /** The node table, if it is known. */
  readonly kind: string | undefined;
  /** Set if members are numbers. */
  readonly number: number | undefined;
}

export class GraphMembers {
  /** The node table of members that are bare keys; undefined if it is not known. */
  readonly #kind: string | undefined;
  readonly #numbers = new NumberSet();
  readonly #ids = new Set<string>();

  constructor(kind: string | undefined) {
    this.#kind = kind;
  }

  /** Returns whether the member has not been added before, and adds it. */
  add({ id, number }: Member): boolean {
    if (number !== undefined) return this.#numbers.add(number);
    if (this.#ids.has(id)) return false;
    this.#ids.add(id);
    return true;
  }

  ofTable(kind: string, key: string | number): Member {
    return { id: `${kind}:${key}`, label: String(key), kind, number: undefined };
  }

  /**
   * Returns the members of row `index`, counted from 0. Throws an Error for a row that is not an
   * edge.
   */
  of(row: Row, index: number, format: string): readonly Member[] {
    const { members, event_ts: time } = row;
    const all = Array.isArray(members) ? members.map((member) => this.#memberOf(member)) : [undefined];
    if (all.length > 0 && !all.includes(undefined) && Number.isSafeInteger(time)) return all as Member[];
    return membersOf(row, index, format).map((number) => this.#numbered(number));
  }

  /** Returns the roles of the members of a row, separated by commas, by the ids of the members. */
  rolesIn(row: Row, roles: readonly string[]): ReadonlyMap<string, string> | undefined {
    if (roles.length === 0) return undefined;
    const all = new Map<string, string>();
    for (const role of roles)
      for (const member of row[role] as readonly unknown[]) {
        const { id } = this.#memberOf(member)!;
        const before = all.get(id);
        all.set(id, before === undefined ? role : `${before},${role}`);
      }
    return all;
  }

  /** Returns undefined for what is neither a number nor a key. */
  #memberOf(member: unknown): Member | undefined {
    if (Number.isSafeInteger(member))
      return this.#kind === undefined ? this.#numbered(member as number) : this.ofTable(this.#kind, member as number);
    if (typeof member === 'string') return this.ofTable(this.#kind ?? '', member);
    const { kind, key } = (member ?? {}) as { kind?: unknown; key?: unknown };
    const isKey = typeof key === 'string' || Number.isSafeInteger(key);
    return typeof kind === 'string' && isKey ? this.ofTable(kind, key as string | number) : undefined;
  }

  #numbered(number: number): Member {
    return { id: `n${number}`, label: String(number), kind: undefined, number };
  }
}
