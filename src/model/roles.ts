// The roles of a table's members: their names and masks, and the forms in which an edge gives its
// members with roles.

import { kindOf, type Place } from './fields.ts';
import { setField } from './set-field.ts';

/** Members by role, as rows show them and programs give them. */
export type RoleLists = Readonly<Record<string, readonly number[]>>;

/** The roles of a table. They are found by name without regard to case. */
export class RoleSet {
  /** For tables without roles. */
  static readonly none = new RoleSet([]);

  /** In the order of their bits. */
  readonly names: readonly string[];
  readonly #bits: ReadonlyMap<string, number>;

  constructor(names: readonly string[]) {
    this.names = names;
    this.#bits = new Map(names.map((name, bit) => [name.toLowerCase(), bit]));
  }

  static of(names: readonly string[] | undefined): RoleSet {
    return names === undefined || names.length === 0 ? RoleSet.none : new RoleSet(names);
  }

  get isEmpty(): boolean {
    return this.names.length === 0;
  }

  /** Returns the mask of one role, or 0 if the table does not have it. */
  maskOf(name: string): number {
    const bit = this.#bits.get(name.toLowerCase());
    return bit === undefined ? 0 : 1 << bit;
  }

  /** Returns the role of this name, as the table spells it. */
  find(name: string): { readonly name: string; readonly mask: number } | undefined {
    const bit = this.#bits.get(name.toLowerCase());
    return bit === undefined ? undefined : { name: this.names[bit]!, mask: 1 << bit };
  }

  /** Returns the members of each role, in their order; `masks` is parallel to `members`. */
  listsOf(members: readonly number[], masks: readonly number[] | undefined): Record<string, number[]> {
    const lists: Record<string, number[]> = {};
    for (const [bit, name] of this.names.entries())
      setField(
        lists,
        name,
        masks === undefined ? [] : members.filter((_, index) => ((masks[index]! >> bit) & 1) !== 0),
      );
    return lists;
  }

  /** Returns the names of the roles in a mask. */
  namesIn(mask: number): string[] {
    return this.names.filter((_, bit) => ((mask >> bit) & 1) !== 0);
  }

  /** Returns what is wrong with a role that the table does not have, as a phrase. */
  unknownText(name: string): string {
    const shown = JSON.stringify(name.slice(0, 100));
    if (this.isEmpty) return `${shown} is no role: ${NO_ROLES}`;
    return `${shown} is no role of the table; its roles are ${this.names.join(', ')}`;
  }
}

/** What to do if a table has no roles. */
export const NO_ROLES =
  'the table has no roles; they are declared when a table is created, as in CREATE HYPEREDGE TABLE mail () ROLES (sender, recipient)';

/** Who collects what is wrong with an edge. */
interface Faults {
  readonly isFull: boolean;
  add(path: Place, msg: string, code?: 'empty_members'): void;
}

/**
 * The members of an edge in ascending order, with their masks; no masks if no member has a role.
 */
export interface RoleMembers {
  readonly members: number[];
  readonly masks: number[] | undefined;
}

const NODE = 'must be an integer between -(2^53-1) and 2^53-1';
/** The largest number of distinct members that are collected; more are refused in any case. */
const MOST_COLLECTED = 4096;

/** The members of one edge while they are read. The masks of repeated members are joined. */
class Collected {
  readonly #masks = new Map<number, number>();
  readonly #faults: Faults;
  #hasFault = false;

  constructor(faults: Faults) {
    this.#faults = faults;
  }

  refuse(path: Place, msg: string): void {
    this.#hasFault = true;
    this.#faults.add(path, msg);
  }

  /** Takes one member. This is where a value of a request becomes the number of a node. */
  take(value: unknown, mask: number, path: Place): void {
    if (!Number.isSafeInteger(value)) {
      this.refuse(path, NODE);
      return;
    }
    const known = this.#masks.get(value as number);
    if (known !== undefined || this.#masks.size < MOST_COLLECTED) this.#masks.set(value as number, (known ?? 0) | mask);
  }

  takeList(given: unknown, mask: number, path: Place): void {
    if (!Array.isArray(given)) {
      if (given !== undefined && given !== null)
        this.refuse(path, `must be an array of node ids, not ${kindOf(given)}`);
      return;
    }
    for (let i = 0; i < given.length && !this.#faults.isFull; i++) this.take(given[i], mask, [...path, i]);
  }

  /** Takes an object that maps roles to lists. If `roles` is undefined, any name is a role. */
  takeLists(given: object, roles: RoleSet | undefined, path: Place): void {
    for (const name in given) {
      if (this.#faults.isFull) return;
      const mask = roles === undefined ? 0 : roles.maskOf(name);
      if (mask === 0 && roles !== undefined) this.refuse(path, `cannot hold ${roles.unknownText(name)}`);
      else this.takeList((given as Record<string, unknown>)[name], mask, [...path, name.slice(0, 100)]);
    }
  }

  /** Takes a list whose items are nodes or objects with `node` and `role`. */
  takeItems(given: readonly unknown[], roles: RoleSet | undefined, path: Place): void {
    for (let i = 0; i < given.length && !this.#faults.isFull; i++) {
      const item = given[i];
      if (typeof item === 'object' && item !== null && !Array.isArray(item)) this.#takeItem(item, roles, [...path, i]);
      else this.take(item, 0, [...path, i]);
    }
  }

  #takeItem(item: object, roles: RoleSet | undefined, path: Place): void {
    const { node, role } = item as Record<string, unknown>;
    const problem = problemOf(item as Record<string, unknown>);
    if (problem !== undefined) this.refuse(path, problem);
    else this.take(node, this.#roleMask(role, roles, [...path, 'role']), [...path, 'node']);
  }

  #roleMask(given: unknown, roles: RoleSet | undefined, path: Place): number {
    let mask = 0;
    const names = Array.isArray(given) ? given : given === undefined || given === null ? [] : [given];
    for (const name of names) {
      if (this.#faults.isFull) break;
      if (typeof name !== 'string') this.refuse(path, `must be a name or a list of names, not ${kindOf(name)}`);
      else if (roles !== undefined) {
        const one = roles.maskOf(name);
        if (one === 0) this.refuse(path, roles.unknownText(name));
        mask |= one;
      }
    }
    return mask;
  }

  /** Returns the members. Adds a fault if there are none. */
  end(): RoleMembers {
    if (this.#masks.size === 0 && !this.#hasFault)
      this.#faults.add(['members'], 'must hold at least one node id', 'empty_members');
    const members = [...this.#masks.keys()].sort((a, b) => a - b);
    const masks = members.map((member) => this.#masks.get(member)!);
    return { members, masks: masks.some((mask) => mask !== 0) ? masks : undefined };
  }
}

/** Returns what is wrong with the fields of an item, as a phrase. */
function problemOf({ node, key, role: _, ...others }: Record<string, unknown>): string | undefined {
  const other = Object.keys(others)[0]?.slice(0, 100);
  if (other !== undefined) return `has a field ${JSON.stringify(other)}; a member has \`node\` and \`role\``;
  if (key === undefined) return node === undefined ? 'has no `node`' : undefined;
  return node === undefined
    ? 'has a `key`, but the members of the table are numbers; give `node`'
    : 'has both `node` and `key`; give one of them';
}

/**
 * Returns whether `members` of a request, or `lists` beside it, have a form that `readRoleMembers`
 * reads: anything but a list of plain values. The items of a list are looked at if `looksInside`.
 */
export function hasRoleForm(members: unknown, lists: unknown, looksInside: boolean): boolean {
  if (lists !== undefined && lists !== null) return true;
  if (!Array.isArray(members)) return typeof members === 'object' && members !== null;
  return looksInside && members.some((item) => typeof item === 'object' && item !== null);
}

/**
 * Reads members with roles of a request: `members` is an object that maps roles to lists, or a list
 * whose items may be `{node, role}`; `lists` is what rows have as `roles`. If `roles` is undefined,
 * roles are ignored. Faults are added to `faults`; the result has no meaning then.
 */
export function readRoleMembers(
  members: unknown,
  lists: unknown,
  roles: RoleSet | undefined,
  faults: Faults,
): RoleMembers {
  const collected = new Collected(faults);
  if (Array.isArray(members)) collected.takeItems(members, roles, ['members']);
  else if (typeof members === 'object' && members !== null) {
    if (roles?.isEmpty === true && Object.keys(members).length > 0)
      faults.add(['members'], `must be a list: ${NO_ROLES}`);
    else collected.takeLists(members, roles, ['members']);
  } else if (members !== undefined && members !== null)
    collected.refuse(['members'], `must be a list or an object that maps roles to lists, not ${kindOf(members)}`);
  if (lists !== undefined && lists !== null) {
    if (typeof lists !== 'object' || Array.isArray(lists))
      collected.refuse(['roles'], `must be an object that maps roles to lists, not ${kindOf(lists)}`);
    else collected.takeLists(lists, roles, ['roles']);
  }
  return faults.isFull ? { members: [], masks: undefined } : collected.end();
}
