// Resolves the names in a query and in the spec of its edge: the edge, its members, and the tables
// and columns of the backend.

import { type HedgerowError, refusal } from '../../errors.ts';
import type { BackendColumn, BackendSchema, BackendTable } from '../backend.ts';
import { findNamed, hint, listed, shown } from '../identifiers.ts';
import type { Name, Query } from '../language/ast.ts';
import { errorAt } from '../language/token.ts';
import type { EdgeSpec, GroupEdgeSpec, MemberSpec, RowEdgeSpec, VirtualSpec } from '../spec/spec.ts';
import { TIME_KINDS } from './dialect.ts';

export interface NamedMember {
  readonly spec: MemberSpec;
  readonly column: BackendColumn;
}

interface NamedParts {
  readonly table: BackendTable;
  readonly ts: BackendColumn;
  /** All members of the edge, in the order of the spec; exactly one for a group. */
  readonly members: readonly NamedMember[];
  /**
   * The columns that become properties. For the shape `row` these are the remaining columns of the
   * table, for the shape `group` the columns of the key.
   */
  readonly properties: readonly BackendColumn[];
}

/** An edge of the spec with its names resolved. */
export type NamedEdge = NamedParts & { readonly spec: EdgeSpec };

/**
 * Returns the edge that a query asks for. Checks the patterns in the query and the names in the
 * spec of the edge.
 */
export function namedEdge(query: Query, spec: VirtualSpec, schema: BackendSchema): NamedEdge {
  const edge = findLabel(query, query.label, spec.edges, 'edge label');
  checkPatterns(query, edge, spec);
  const table = tableOf(schema, edge.table, `The edge ${edge.label}`);
  checkNodes(edge, spec, schema);
  const column = (name: string) => columnOf(table, name, `The edge ${edge.label}`);
  const ts = column(edge.ts_column);
  if (!TIME_KINDS.includes(ts.kind)) throw noTime(edge, ts);
  const parts = edge.shape === 'row' ? rowParts(edge, table, ts, column) : groupParts(edge, column);
  return { spec: edge, table, ts, ...parts };
}

function rowParts(
  edge: RowEdgeSpec,
  table: BackendTable,
  ts: BackendColumn,
  column: (name: string) => BackendColumn,
): Pick<NamedParts, 'members' | 'properties'> {
  const members = edge.members.map((spec) => ({ spec, column: column(edge.row_member_columns[spec.name]!) }));
  const used = new Set([ts, ...members.map((member) => member.column)]);
  return { members, properties: table.columns.filter((other) => !used.has(other)) };
}

function groupParts(
  edge: GroupEdgeSpec,
  column: (name: string) => BackendColumn,
): Pick<NamedParts, 'members' | 'properties'> {
  const members = edge.members.map((spec) => ({ spec, column: column(edge.member_column) }));
  return { members, properties: [...new Set(edge.group_columns.map(column))] };
}

/**
 * Throws if the patterns name a member that the edge does not have, a member twice, or a member
 * with another label, or if the alias of the edge is the name of such a member.
 */
function checkPatterns(query: Query, edge: EdgeSpec, spec: VirtualSpec): void {
  const seen = new Set<string>();
  for (const { member, label } of query.members) {
    const found = findMember(query, member, edge);
    if (seen.has(found.name)) throw wrong(query, member, `the member ${found.name} occurs twice.`);
    seen.add(found.name);
    const node = findLabel(query, label, spec.nodes, 'node label');
    if (node.label !== found.node_label)
      throw wrong(query, label, `the member ${found.name} of ${edge.label} is ${found.node_label}, not ${node.label}.`);
  }
  const alias = query.alias.name.toLowerCase();
  const clash = query.members.find(({ member }) => member.name.toLowerCase() === alias);
  if (clash !== undefined)
    throw wrong(
      query,
      clash.member,
      `the edge is called ${query.alias.name} like this member; give the edge another name.`,
    );
}

/** Finds a member of an edge by its name. Throws `invalid_statement` if there is none. */
export function findMember(query: Query, { name, start }: Name, edge: EdgeSpec): MemberSpec {
  const found = edge.members.find((member) => member.name.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const names = edge.members.map((member) => member.name);
  throw wrong(
    query,
    { start },
    `${edge.label} has no member ${shown(name)}; it has ${listed(names)}${hint(name, names)}.`,
  );
}

function findLabel<T extends { readonly label: string }>(
  query: Query,
  { name, start }: Name,
  items: readonly T[],
  what: string,
): T {
  const found = items.find((item) => item.label.toLowerCase() === name.toLowerCase());
  if (found !== undefined) return found;
  const labels = items.map((item) => item.label);
  throw wrong(
    query,
    { start },
    `there is no ${what} ${shown(name)}; there are ${listed(labels)}${hint(name, labels)}.`,
  );
}

function wrong(query: Query, { start }: { start: number }, detail: string): HedgerowError {
  return errorAt(query.text, start, detail, undefined, 'invalid_statement');
}

/** Throws if the backend lacks the table or id column of one of the edge's nodes. */
function checkNodes(edge: EdgeSpec, spec: VirtualSpec, schema: BackendSchema): void {
  const labels = new Set(edge.members.map((member) => member.node_label));
  for (const node of spec.nodes.filter(({ label }) => labels.has(label))) {
    const who = `The node ${node.label}`;
    columnOf(tableOf(schema, node.table, who), node.id_column, who);
  }
}

function tableOf({ tables }: BackendSchema, name: string, who: string): BackendTable {
  const result = findNamed(tables, name);
  if (result.found !== undefined) return result.found;
  if (result.ambiguous)
    throw refusal(
      'invalid_input',
      `${who} names the table ${shown(name)}, but several tables have that name if case is ignored; write it exactly.`,
    );
  const names = tables.map((table) => table.name);
  const known = `the tables are ${listed(names)}${hint(name, names)}`;
  throw refusal('invalid_input', `${who} names the table ${shown(name)}, which the backend does not have; ${known}.`);
}

function columnOf(table: BackendTable, name: string, who: string): BackendColumn {
  const result = findNamed(table.columns, name);
  if (result.found !== undefined) return result.found;
  const place = `the column ${shown(name)} of ${shown(table.name)}`;
  if (result.ambiguous)
    throw refusal(
      'unknown_column',
      `${who} names ${place}, but several columns have that name if case is ignored; write it exactly.`,
    );
  const names = table.columns.map((column) => column.name);
  const known = `the columns are ${listed(names)}${hint(name, names)}`;
  throw refusal('unknown_column', `${who} names ${place}, which the backend does not have; ${known}.`);
}

/** Returns the column that a condition names as `alias.column`. */
export function findColumn(query: Query, { name, start }: Name, { spec, table, properties }: NamedEdge): BackendColumn {
  const known = spec.shape === 'group' ? properties : table.columns;
  const result = findNamed(known, name);
  if (result.found !== undefined) return result.found;
  const names = known.map((column) => column.name);
  const what = spec.shape === 'group' ? 'is not a group column of' : 'is not a column of';
  const detail = result.ambiguous
    ? `several columns are called ${shown(name)} if case is ignored; write it exactly.`
    : `${shown(name)} ${what} ${spec.label}; there are event_ts, ${listed(names)}${hint(name, ['event_ts', ...names])}.`;
  throw errorAt(query.text, start, detail, undefined, 'unknown_column');
}

function noTime(edge: EdgeSpec, { name, type }: BackendColumn): HedgerowError {
  return refusal(
    'invalid_input',
    `The edge ${edge.label} takes its time from ${shown(name)}, a column of the type ${type}; it must be an integer (seconds since 1970), a timestamp or a date.`,
  );
}
