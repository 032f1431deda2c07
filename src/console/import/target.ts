// Decides what an import needs: the table, its node tables, and what is wrong with the choice.

import type { NewNodeTable, NewTable, NodeTable, Table } from '../../client/index.ts';
import { IDENTIFIER } from '../../model/columns.ts';
import type { MemberKind } from '../../model/node-refs.ts';
import { kindsIn, MemberKeys } from '../../tabular/member-keys.ts';
import { areIntegers } from '../../tabular/node-columns.ts';
import { NODES_SUFFIX } from '../companion.ts';
import { named } from '../named.ts';
import { suggestedBucket } from './bucket-width.ts';
import { type EdgePlan, itemsIn, sharedName } from './edge-plan.ts';
import type { Mapping } from './mapping.ts';
import type { SourceFile } from './read-file.ts';

export interface Target {
  readonly name: string;
  /** Undefined when the table exists. */
  readonly create: NewTable | undefined;
  readonly addColumns: readonly { readonly name: string; readonly type: string }[];
  /** The node tables to create before the table. */
  readonly nodeTables: readonly NewNodeTable[];
  /**
   * What members are: numbers, keys of node tables, or names that have numbers in the companion
   * `<table>_nodes` of an older table.
   */
  readonly members: 'numbers' | 'keys' | 'companion';
}

/** The tables of the service. */
export interface Known {
  readonly tables: readonly Table[];
  readonly nodeTables: readonly NodeTable[];
}

/** The mapping for a table that exists: a column with the name of a role holds its members. */
export function mappingInto(mapping: Mapping, table: Table | undefined): Mapping {
  const roles = new Map(mapping.roles);
  for (const column of mapping.memberColumns) {
    const role = table?.roles.find((name) => name.toLowerCase() === column.toLowerCase());
    if (role !== undefined && !roles.has(column)) roles.set(column, role);
  }
  return { ...mapping, roles };
}

/** What makes the members of a named table, and the node tables that are missing for it. */
export interface Keys {
  /** Undefined if members are numbers. */
  readonly keys: MemberKeys | undefined;
  readonly nodeTables: readonly NewNodeTable[];
}

/** `nodeTable` is the node table of columns that have none of their own. */
export function keysFor(
  file: SourceFile,
  mapping: Mapping,
  table: Table | undefined,
  nodeTable: string,
  { nodeTables }: Pick<Known, 'nodeTables'>,
): Keys {
  if (table !== undefined) {
    if (table.nodes !== 'named') return { keys: undefined, nodeTables: [] };
    const kinds = table.member_tables.map((name) => kindOf(name, named(nodeTables, name)));
    return { keys: new MemberKeys(kinds, kindsByColumn(mapping, kinds, nodeTable)), nodeTables: [] };
  }
  if (!mapping.hasNames) return { keys: undefined, nodeTables: [] };
  const items = new Map<string, unknown[]>();
  const said: unknown[] = [];
  for (const column of mapping.memberColumns) {
    const kind = mapping.kinds.get(column) ?? nodeTable;
    for (const item of itemsIn(file, mapping, column)) {
      const hasKind = typeof item === 'object' && item !== null && 'kind' in item;
      if (hasKind) said.push(item);
      else if (items.get(kind)?.push(item) === undefined) items.set(kind, [item]);
    }
  }
  const kinds = new Map<string, MemberKind>();
  const add = (kind: MemberKind) => {
    const known = named(nodeTables, kind.name);
    kinds.set(kind.name.toLowerCase(), known === undefined ? kind : kindOf(known.name, known));
  };
  for (const kind of kindsIn(said)) add(kind);
  for (const [name, keys] of items) add({ name, isInteger: areIntegers(keys.map(keyOfItem)) });
  const all = [...kinds.values()];
  return {
    keys: new MemberKeys(all, kindsByColumn(mapping, all, nodeTable)),
    nodeTables: all
      .filter(({ name }) => named(nodeTables, name) === undefined)
      .map(({ name, isInteger }) => ({
        name,
        key: isInteger ? { name: 'id', type: 'INTEGER' as const } : { name: 'name', type: 'TEXT' as const },
      })),
  };
}

function keyOfItem(item: unknown): unknown {
  return typeof item === 'object' && item !== null ? (item as { key?: unknown }).key : item;
}

function kindOf(name: string, table: NodeTable | undefined): MemberKind {
  return { name, isInteger: table?.key.type === 'INTEGER' };
}

function kindsByColumn({ memberColumns, kinds: kindOfColumn }: Mapping, kinds: readonly MemberKind[], other: string) {
  const found = new Map<string, MemberKind>();
  for (const column of memberColumns) {
    const kind = named(kinds, kindOfColumn.get(column) ?? (named(kinds, column) === undefined ? other : column));
    if (kind !== undefined) found.set(column.toLowerCase(), kind);
  }
  return found;
}

export interface Wanted {
  readonly name: string;
  readonly mapping: Mapping;
  readonly plan: EdgePlan;
  readonly columns: readonly { readonly name: string; readonly type: string }[];
  readonly keys: Keys;
}

export function targetOf({ name, mapping, plan, columns, keys }: Wanted, { tables }: Known): Target {
  const table = named(tables, name);
  const isMissing = (column: { name: string }) =>
    named(table?.columns ?? [], column.name) === undefined && !(table?.intervals === true && isEnd(column.name));
  const create = {
    name,
    bucket_seconds: suggestedBucket(plan.edges),
    columns: [...columns],
    ...(keys.keys === undefined ? {} : { member_tables: keys.keys.kinds.map((kind) => kind.name) }),
    ...(plan.roles.length === 0 ? {} : { roles: [...plan.roles] }),
    ...(mapping.endColumn === '' ? {} : { intervals: true }),
  } as NewTable;
  return {
    name: table?.name ?? name,
    create: table === undefined ? create : undefined,
    addColumns: table === undefined ? [] : columns.filter(isMissing),
    nodeTables: keys.nodeTables,
    members: keys.keys !== undefined ? 'keys' : mapping.hasNames ? 'companion' : 'numbers',
  };
}

function isEnd(name: string): boolean {
  return name.toLowerCase() === 'end_ts';
}

/** Returns a sentence that says why the edges cannot go into the table; undefined if they can. */
export function problemWith({ name, mapping, plan, keys }: Wanted, { tables, nodeTables }: Known): string | undefined {
  const table = named(tables, name);
  const odd = [...plan.roles, ...mapping.kinds.values(), ...keys.nodeTables.map((kind) => kind.name)].find(
    (word) => !IDENTIFIER.test(word),
  );
  if (odd !== undefined)
    return `Roles and node tables have names of at most 64 letters, digits and _, not ${JSON.stringify(odd)}.`;
  const both = sharedName(plan);
  if (both !== undefined) return `${both} is both a role and a column; give one of them another name.`;
  if (table !== undefined) return problemWithTable(table, mapping, plan, nodeTables, tables);
  const taken = [...keys.nodeTables.map((kind) => kind.name)].find(
    (kind) => named(tables, kind) !== undefined || kind.toLowerCase() === name.toLowerCase(),
  );
  if (taken !== undefined) return `${taken} is a table of edges; give the node table another name.`;
  return named(nodeTables, name) === undefined ? undefined : `${name} is a node table; edges need another one.`;
}

function problemWithTable(
  table: Table,
  mapping: Mapping,
  plan: EdgePlan,
  nodeTables: readonly NodeTable[],
  tables: readonly Table[],
): string | undefined {
  const { name, roles } = table;
  if (mapping.hasNames && table.nodes !== 'named' && named(tables, name + NODES_SUFFIX) === undefined)
    return `${name} holds numbers, but these nodes have names; import into a table with another name.`;
  if (mapping.endColumn !== '' && !table.intervals)
    return `${name} has no intervals, so its edges have no end; import into a table with another name, or choose no column with ends.`;
  const role = plan.roles.find((one) => !roles.some((other) => other.toLowerCase() === one.toLowerCase()));
  if (role !== undefined)
    return roles.length === 0
      ? `${name} has no roles, and a table gets its roles when it is made; import into a table with another name, or leave the roles empty.`
      : `${name} has no role ${role}; its roles are ${roles.join(', ')}.`;
  const kinds = table.member_tables.flatMap((kind) => named(nodeTables, kind) ?? []);
  const kind = [...mapping.kinds.values()].find((one) => named(kinds, one) === undefined);
  if (table.nodes !== 'named') return undefined;
  const all = table.member_tables.join(', ');
  if (kind !== undefined) return `The members of ${name} are nodes of ${all}, not of ${kind}.`;
  if (kinds.length < 2 || plan.edges.length > 0 || mapping.memberColumns.length === 0) return undefined;
  return `The members of ${name} are nodes of ${all}; choose under Roles and kinds of which those in each column are.`;
}

/** Describes what an import would create. */
export function targetWords({ name, create, addColumns, nodeTables }: Target): string {
  const nodes =
    nodeTables.length === 0 ? '' : `; nodes go to ${nodeTables.map((table) => table.name).join(', ')}, made anew`;
  if (create !== undefined) {
    const roles = create.roles === undefined ? '' : `, the roles ${create.roles.join(', ')}`;
    const ends = create.intervals === true ? ' and intervals' : '';
    return `${name} will be made, with buckets of ${create.bucket_seconds} s${roles}${ends}${nodes}. That takes an admin key.`;
  }
  const added =
    addColumns.length === 0 ? '' : `; it gets the columns ${addColumns.map((column) => column.name).join(', ')}`;
  return `${name} is there: the edges are added to it${added}.`;
}
