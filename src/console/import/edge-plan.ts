// Plans how the rows of a file become edges; the plan can be reviewed before anything is written.

import { EDGE_FIELDS, RESERVED_NAMES } from '../../model/columns.ts';
import type { MemberInput } from '../../model/edge.ts';
import { readRef } from '../../model/node-refs.ts';
import type { MemberKeys } from '../../tabular/member-keys.ts';
import { keyItems, nodeNumber, nodeTexts } from '../../tabular/nodes.ts';
import { guessTimeFormat } from '../../tabular/times.ts';
import { cellsIn, type Mapping, markOf } from './mapping.ts';
import type { Reject, SourceFile, SourceRow } from './read-file.ts';
import { needsOrder, secondsOf } from './times.ts';
import { isMissing, type ValueColumn, valueIn, valuesOf } from './value-cells.ts';

export interface PlannedEdge {
  readonly event_ts: number;
  /** When it ends; left out if it has no end. */
  readonly end_ts?: number;
  /** Numbers, names, or keys with their kinds. */
  readonly members: readonly MemberInput[];
  /** The members of each role; left out if no column has one. */
  readonly roles?: Readonly<Record<string, readonly MemberInput[]>>;
  readonly properties: Readonly<Record<string, unknown>>;
}

export interface EdgePlan {
  readonly edges: readonly PlannedEdge[];
  /** Names of the properties, which may differ from the names of the columns in the file. */
  readonly properties: readonly string[];
  /** The roles that members have, in order. */
  readonly roles: readonly string[];
  readonly rejected: readonly Reject[];
}

/**
 * Plans the edges. `keys` makes and checks the members of a named table; without it, members are
 * numbers, or names of a table of numbers.
 */
export function planEdges(file: SourceFile, mapping: Mapping, keys?: MemberKeys): EdgePlan {
  const values = edgeValues(file, mapping);
  const edges: PlannedEdge[] = [];
  const rejected: Reject[] = [...file.rejected];
  const read = rowReader(file, mapping, values, keys);
  for (const [index, row] of file.rows.entries()) {
    try {
      edges.push(read(row));
    } catch (error) {
      rejected.push({ row: file.numbers[index]!, reason: (error as Error).message, source: row });
    }
  }
  const properties = values.map(({ name }) => name);
  const roles = new Map<string, string>();
  for (const edge of edges)
    for (const role of Object.keys(edge.roles ?? {}))
      if (!roles.has(role.toLowerCase())) roles.set(role.toLowerCase(), role);
  return { edges, properties, roles: [...roles.values()], rejected: rejected.sort((a, b) => a.row - b.row) };
}

function edgeValues(file: SourceFile, { propertyColumns }: Mapping): ValueColumn[] {
  return valuesOf(file, propertyColumns);
}

/** Returns the columns that the table needs, without those that every table has. */
export function newColumns(file: SourceFile, mapping: Mapping): { name: string; type: ValueColumn['type'] }[] {
  return edgeValues(file, mapping)
    .filter(({ name }) => !RESERVED_NAMES.has(name.toLowerCase()))
    .map(({ name, type }) => ({ name, type }));
}

function rowReader(
  file: SourceFile,
  mapping: Mapping,
  values: readonly ValueColumn[],
  keys: MemberKeys | undefined,
): (row: SourceRow) => PlannedEdge {
  const { timeColumn, timeFormat, endColumn } = mapping;
  const ends = endColumn === '' ? [] : cellsIn(file, endColumn);
  const guessed = guessTimeFormat(ends, endColumn);
  // The order of day and month is that of the other times of the file.
  const endFormat = needsOrder(ends, guessed) ? timeFormat : guessed;
  return (row) => {
    const event_ts = secondsOf(row[timeColumn], timeFormat);
    const end = endColumn === '' || isMissing(row[endColumn]) ? undefined : secondsOf(row[endColumn], endFormat);
    if (end !== undefined && end < event_ts) throw new Error('ends before it begins');
    const { members, roles } = membersOf(row, mapping, keys);
    const properties = Object.create(null) as Record<string, unknown>;
    for (const column of values) {
      const cell = row[column.column];
      const value = isMissing(cell) ? undefined : valueIn(cell, column);
      if (value !== undefined) properties[column.name] = value;
    }
    return {
      event_ts,
      ...(end === undefined ? {} : { end_ts: end }),
      members,
      ...(roles.size === 0 ? {} : { roles: Object.fromEntries(roles) }),
      properties,
    };
  };
}

type RoleLists = Map<string, MemberInput[]>;

function membersOf(
  row: SourceRow,
  { memberColumns, separator, hasNames, roles: roleOf }: Mapping,
  keys: MemberKeys | undefined,
): { members: MemberInput[]; roles: RoleLists } {
  const members = new Map<unknown, MemberInput>();
  const roles: RoleLists = new Map();
  const add = (item: unknown, column: string, role: string | undefined): void => {
    const found = keys === undefined ? plainNode(item, hasNames) : keyed(item, column, keys);
    const id = typeof found === 'object' ? JSON.stringify([found.kind, found.key]) : found;
    const member = members.get(id) ?? found;
    members.set(id, member);
    if (role === undefined || role === '') return;
    const list = roles.get(role) ?? [];
    roles.set(role, list.includes(member) ? list : [...list, member]);
  };
  for (const column of memberColumns) {
    for (const [role, cell] of listsIn(row[column])) {
      const items = keys === undefined ? numberItems(cell, separator, hasNames) : keyItems(cell, markOf(separator));
      for (const item of items) {
        const own = rolesOfItem(item);
        for (const each of own.length > 0 ? own : [role ?? roleOf.get(column)]) add(item, column, each);
      }
    }
  }
  if (members.size === 0) throw new Error('has no members');
  return { members: [...members.values()], roles };
}

/** Returns all nodes in a column as they are in the file: texts, numbers or objects. */
export function* itemsIn(file: SourceFile, { separator }: Mapping, column: string): Generator<unknown> {
  for (const cell of cellsIn(file, column))
    for (const [, list] of listsIn(cell)) yield* keyItems(list, markOf(separator));
}

/** Returns the lists in a cell of NDJSON whose members are written by role; otherwise the cell. */
function listsIn(cell: unknown): readonly (readonly [role: string | undefined, list: unknown])[] {
  const isByRole =
    typeof cell === 'object' && cell !== null && !Array.isArray(cell) && !('key' in cell || 'node' in cell);
  return isByRole ? Object.entries(cell) : [[undefined, cell]];
}

function numberItems(cell: unknown, separator: string, hasNames: boolean): readonly unknown[] {
  const isObject = (item: unknown) => typeof item === 'object' && item !== null;
  if (Array.isArray(cell) ? cell.some(isObject) : isObject(cell)) return Array.isArray(cell) ? cell : [cell];
  return nodeTexts(cell, markOf(separator), hasNames);
}

/** Returns the roles of a member such as `{"node": 4, "role": "sender"}`. */
function rolesOfItem(item: unknown): readonly string[] {
  const { role } = (typeof item === 'object' && item !== null ? item : {}) as { role?: unknown };
  return (Array.isArray(role) ? role : [role]).filter((name) => typeof name === 'string');
}

function plainNode(item: unknown, hasNames: boolean): MemberInput {
  const given = typeof item === 'object' && item !== null ? (item as { node?: unknown }).node : item;
  const text = String(given);
  if (hasNames) return text;
  const node = nodeNumber(text);
  if (Number.isNaN(node))
    throw new Error(`names the member ${text.slice(0, 40)}, but nodes are integers here; check Nodes have names`);
  return node;
}

function keyed(item: unknown, column: string, keys: MemberKeys): MemberInput {
  const ref = readRef(keys.memberOf(item, column), keys.kinds);
  if (typeof ref === 'string') throw new Error(`names a member that ${ref}`);
  const kind = keys.kinds[ref.kind]!;
  return keys.kinds.length === 1 ? ref.key : { kind: kind.name, key: ref.key };
}

/** Returns the line of an edge as the service takes it. */
export function lineOf({ event_ts, end_ts, members, roles, properties }: PlannedEdge): Record<string, unknown> {
  const line: Record<string, unknown> = Object.create(null);
  Object.assign(line, properties);
  line.event_ts = event_ts;
  if (end_ts !== undefined) line.end_ts = end_ts;
  line.members = roles === undefined ? members : members.map((member) => withRoles(member, roles));
  return line;
}

function withRoles(member: MemberInput, roles: NonNullable<PlannedEdge['roles']>): unknown {
  const own = Object.entries(roles)
    .filter(([, list]) => list.includes(member))
    .map(([role]) => role);
  if (own.length === 0) return member;
  const node = typeof member === 'object' ? member : typeof member === 'number' ? { node: member } : { key: member };
  return { ...node, role: own };
}

/** Returns a role that has the name of a property too, which no table can have. */
export function sharedName({ properties, roles }: EdgePlan): string | undefined {
  const taken = new Set([...properties.map((name) => name.toLowerCase()), ...EDGE_FIELDS]);
  return roles.find((role) => taken.has(role.toLowerCase()));
}
