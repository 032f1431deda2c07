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
  listsOf<M = number>(members: readonly M[], masks: readonly number[] | undefined): Record<string, M[]> {
    const lists: Record<string, M[]> = {};
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
 * The distinct members of an edge, with their masks; no masks if no member has a role. Numbers are
 * in ascending order, others in the order in which they were given.
 */
export interface RoleMembers<M = number> {
  readonly members: M[];
  readonly masks: number[] | undefined;
}

/** How the members of a table are given: as numbers, or as keys of nodes (node-refs.ts). */
export interface MemberForm<M> {
  /** What a list holds, and what one of them is, for messages. */
  readonly items: string;
  readonly item: string;
  /** Returns the member, or what is wrong with the value as a phrase that follows its name. */
  read(value: unknown): M | string;
  /** Returns a value that is equal for equal members only. */
  idOf(member: M): number | string;
  /**
   * Returns the value of a member that is given as an object, and its place in it; or what is wrong
   * with the object as a phrase.
   */
  valueOf(item: Readonly<Record<string, unknown>>): { value: unknown; path: Place } | string;
  inOrder(a: M, b: M): number;
}

/** Members that are numbers. */
export const NUMBERS: MemberForm<number> = {
  items: 'node ids',
  item: 'node id',
  read: (value) => (Number.isSafeInteger(value) ? (value as number) + 0 : NODE),
  idOf: (member) => member,
  valueOf: (item) => problemOf(item) ?? { value: item.node, path: ['node'] },
  inOrder: (a, b) => a - b,
};

const NODE = 'must be an integer between -(2^53-1) and 2^53-1';
/** The largest number of distinct members that are collected; more are refused in any case. */
const MOST_COLLECTED = 4096;

/** The members of one edge while they are read. The masks of repeated members are joined. */
class Collected<M> {
  readonly #places = new Map<number | string, number>();
  readonly #members: M[] = [];
  readonly #masks: number[] = [];
  readonly #form: MemberForm<M>;
  readonly #faults: Faults;
  #hasFault = false;

  constructor(form: MemberForm<M>, faults: Faults) {
    this.#form = form;
    this.#faults = faults;
  }

  refuse(path: Place, msg: string): void {
    this.#hasFault = true;
    this.#faults.add(path, msg);
  }

  /** Takes one member. This is where a value of a request becomes the number of a node. */
  take(value: unknown, mask: number, path: Place): void {
    const member = this.#form.read(value);
    if (typeof member === 'string') {
      this.refuse(path, member);
      return;
    }
    const id = this.#form.idOf(member);
    const known = this.#places.get(id);
    if (known !== undefined) this.#masks[known]! |= mask;
    else if (this.#members.length < MOST_COLLECTED) {
      this.#places.set(id, this.#members.length);
      this.#members.push(member);
      this.#masks.push(mask);
    }
  }

  takeList(given: unknown, mask: number, path: Place): void {
    if (!Array.isArray(given)) {
      if (given !== undefined && given !== null)
        this.refuse(path, `must be an array of ${this.#form.items}, not ${kindOf(given)}`);
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
    const given = this.#form.valueOf(item as Record<string, unknown>);
    if (typeof given === 'string') {
      this.refuse(path, given);
      return;
    }
    const { role } = item as Record<string, unknown>;
    this.take(given.value, this.#roleMask(role, roles, [...path, 'role']), [...path, ...given.path]);
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
  end(): RoleMembers<M> {
    const { item, inOrder } = this.#form;
    if (this.#members.length === 0 && !this.#hasFault)
      this.#faults.add(['members'], `must hold at least one ${item}`, 'empty_members');
    const order = this.#members.map((_, place) => place);
    order.sort((a, b) => inOrder(this.#members[a]!, this.#members[b]!));
    const members = order.map((place) => this.#members[place]!);
    const masks = order.map((place) => this.#masks[place]!);
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
export function readRoleMembers<M>(
  members: unknown,
  lists: unknown,
  roles: RoleSet | undefined,
  form: MemberForm<M>,
  faults: Faults,
): RoleMembers<M> {
  const collected = new Collected(form, faults);
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
