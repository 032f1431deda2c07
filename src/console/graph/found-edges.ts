// Reads the edges in the rows of a result: their times, their members and the roles of these.

import type { QueryRow } from '../../client/index.ts';
import { DrawnNodes } from './drawn-nodes.ts';

export interface FoundEdge {
  readonly id: number | undefined;
  readonly ts: number | undefined;
  /** When the edge ends; null while it holds, undefined if the result has no ends. */
  readonly end: number | null | undefined;
  readonly members: readonly number[];
  /**
   * For each member, in their order, a mask of its roles: bit i is the i-th role of the table.
   * Undefined if no member has a role.
   */
  readonly roles: readonly number[] | undefined;
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Returns every edge in the rows: rows that have members, and edges as objects in cells.
 * `roleNames` are the roles of the table, which may be columns of the rows.
 */
export function edgesOf(
  rows: readonly QueryRow[],
  nodes = new DrawnNodes(),
  roleNames: readonly string[] = [],
): FoundEdge[] {
  return rows.flatMap((row) => {
    const found: FoundEdge[] = [];
    for (const [name, value] of Object.entries(row)) {
      const prefix = name === 'members' ? '' : name.endsWith('.members') ? name.slice(0, -'members'.length) : undefined;
      if (prefix !== undefined) push(nodes, found, roleNames, (field) => row[`${prefix}${field}`]);
      else if (typeof value === 'object' && value !== null && 'members' in value)
        push(nodes, found, roleNames, (field) => (value as Fields)[field]);
    }
    return found;
  });
}

function push(
  nodes: DrawnNodes,
  found: FoundEdge[],
  roleNames: readonly string[],
  fieldOf: (field: string) => unknown,
): void {
  const given = fieldOf('members');
  const [id, ts, end] = [numberIn(fieldOf('id')), numberIn(fieldOf('event_ts')), fieldOf('end_ts')];
  if (!Array.isArray(given) || given.length === 0) return;
  // Texts alone may be anything, such as collected values that the statement calls members.
  if (id === undefined && ts === undefined && given.some((member) => typeof member !== 'number')) return;
  const members = given.map((member) => nodes.numberOf(member));
  if (!members.every((node) => node !== undefined)) return;
  const lists = listsOf(fieldOf('roles'));
  const listOf = (name: string) => (Object.hasOwn(lists, name) ? lists[name] : fieldOf(name));
  const roles = roleNames.length === 0 ? undefined : masksOf(members, roleNames, listOf, nodes);
  found.push({ id, ts, end: end === null ? null : numberIn(end), members, roles });
}

function numberIn(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined;
}

/** Rows of the service hold `roles: {sender: [...]}`; statements have a column for each role. */
function listsOf(roles: unknown): Fields {
  return typeof roles === 'object' && roles !== null && !Array.isArray(roles) ? (roles as Fields) : {};
}

function masksOf(
  members: readonly number[],
  roleNames: readonly string[],
  listOf: (role: string) => unknown,
  nodes: DrawnNodes,
): number[] | undefined {
  const masks = members.map(() => 0);
  const places = new Map(members.map((node, at) => [node, at]));
  for (const [bit, name] of roleNames.entries()) {
    const list = listOf(name);
    if (!Array.isArray(list)) continue;
    for (const member of list) {
      const at = places.get(nodes.numberOf(member) ?? Number.NaN);
      if (at !== undefined) masks[at]! |= 1 << bit;
    }
  }
  return masks.some((mask) => mask !== 0) ? masks : undefined;
}
