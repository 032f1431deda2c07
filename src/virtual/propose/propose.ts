// Proposes a spec for a backend: which tables are edges, which of their columns are members, and
// why.
//
// A table becomes an edge if it has a time column and at least two columns that refer to something.
// (tables.ts finds these columns by the rules in src/tabular, which `hedgerow import` uses too.)
// There are two shapes. A table has the shape `group` if it has exactly two such columns, neither
// has a role such as `from` in its name, several sampled rows share a value of one column, and rows
// that share the value also share the time: `attendance(meeting_id, person_id, at)` gives one edge
// per meeting. Any other such table has the shape `row`: `payments(from_id, to_id, at)` gives one
// edge per row.
//
// The node of a member is the table to which the member's column refers. The reference is a foreign
// key, a name (`customer_id` and `customers`), or the fact that the column's values are keys of
// that table. If there is no such table, the column itself defines the node.

import { HedgerowError } from '../../errors.ts';
import { DEFAULT_MAX_MEMBERS } from '../../limits.ts';
import { roleOf, saysGroup, saysId, thingOf, wordsOf } from '../../tabular/words.ts';
import type { BackendColumn, BackendSchema, BackendTable } from '../backend.ts';
import { listed } from '../identifiers.ts';
import type { BackendSpec, EdgeSpec, MemberSpec, NodeSpec, VirtualSpec } from '../spec/spec.ts';
import { labelOf, memberNameOf, unused } from './names.ts';
import { namesTable, referencedBy, type Samples, type TableView, viewOf } from './tables.ts';

export { SAMPLE_ROWS, type Samples, sampleStatement } from './tables.ts';

export interface Proposal {
  readonly spec: VirtualSpec;
  /** One sentence per edge of the spec. */
  readonly rationale: readonly { readonly edge: string; readonly reason: string }[];
}

/** The id and name of the proposed spec, and the backend that contains its rows. */
export interface ProposalHead {
  readonly id: string;
  readonly name: string;
  readonly backend: BackendSpec;
}

/**
 * Proposes a spec. The same schema and samples always give the same proposal. Throws
 * `invalid_input` if no table looks like edges.
 */
export function proposeSpec(head: ProposalHead, schema: BackendSchema, samples: Samples = new Map()): Proposal {
  const views = schema.tables.map((table) => viewOf(table, schema, samples));
  const nodes = nodeBook(views, schema);
  const edges: EdgeSpec[] = [];
  const rationale: { edge: string; reason: string }[] = [];
  for (const view of views) {
    const found = edgeOf(view, nodes, edges);
    if (found === undefined) continue;
    edges.push(found.edge);
    rationale.push({ edge: found.edge.label, reason: found.reason });
  }
  if (edges.length === 0) throw nothingFound(schema);
  return { spec: { ...head, nodes: nodes.all(), edges }, rationale };
}

function edgeOf(
  view: TableView,
  nodes: NodeBook,
  before: readonly EdgeSpec[],
): { edge: EdgeSpec; reason: string } | undefined {
  const { table, time, references } = view;
  if (time === undefined || references.length < 2) return undefined;
  const used = new Set(before.map(({ label }) => label.toLowerCase()));
  const words = wordsOf(table.name.split('.').at(-1)!);
  const head = { label: unused(labelOf(words, 'Edge'), used), table: table.name, ts_column: time.name };
  const group = groupColumn(view);
  if (group === undefined) return rowEdge(head, view, nodes);
  const member = references.find((column) => column !== group.column)!;
  const members = [memberOf(member, 0, nodes.labelFor(member, view), new Set())];
  const shape = { shape: 'group', group_columns: [group.column.name], member_column: member.name } as const;
  const reason = `Rows of ${table.name} with the same ${group.column.name} are one edge: ${group.why}; ${member.name} lists its members and ${time.name} is its time.`;
  return { edge: { ...head, ...shape, members }, reason };
}

function rowEdge(
  head: Pick<EdgeSpec, 'label' | 'table' | 'ts_column'>,
  view: TableView,
  nodes: NodeBook,
): { edge: EdgeSpec; reason: string } {
  const names = new Set<string>();
  const columns = view.references.slice(0, DEFAULT_MAX_MEMBERS);
  const members = columns.map((column, index) => {
    const member = memberOf(column, index, nodes.labelFor(column, view), names);
    names.add(member.name.toLowerCase());
    return member;
  });
  const row_member_columns = Object.fromEntries(members.map(({ name }, index) => [name, columns[index]!.name]));
  const shown = columns.map((column) => `${column.name} (${nodes.whyFor(column, view)})`);
  const reason = `Each row of ${head.table} has a time (${head.ts_column}) and joins ${shown.join(', ')}.`;
  return { edge: { ...head, shape: 'row', row_member_columns, members }, reason };
}

function memberOf(column: BackendColumn, index: number, node_label: string, used: ReadonlySet<string>): MemberSpec {
  const name = unused(memberNameOf(column.name, `member${index + 1}`), used);
  return { name, node_label, role: roleOf(column.name) ?? name };
}

/**
 * Returns the column by which rows form groups, if there are exactly two references: rows with
 * equal values in that column have the same time. With fewer than two sampled rows, judges by the
 * names of the columns.
 */
function groupColumn(view: TableView): { column: BackendColumn; why: string } | undefined {
  const { references, rows, time } = view;
  if (references.length !== 2 || references.some(({ name }) => roleOf(name) !== undefined)) return undefined;
  if (rows.length > 1) {
    const found = references.find((column) => isShared(view, column, time!));
    return (
      found && { column: found, why: 'several rows share its value, and rows with the same value have the same time' }
    );
  }
  const named = references.filter(({ name }) => saysGroup(name));
  return named.length === 1 ? { column: named[0]!, why: 'its name suggests it, and no rows were sampled' } : undefined;
}

/**
 * Returns whether all rows with the same value also have the same time, and at least a fifth of the
 * values occur in several rows.
 */
function isShared({ table, rows }: TableView, column: BackendColumn, time: BackendColumn): boolean {
  const [at, timeAt] = [table.columns.indexOf(column), table.columns.indexOf(time)];
  const groups = new Map<unknown, { time: unknown; count: number }>();
  for (const row of rows) {
    const group = groups.get(row[at]);
    if (group === undefined) groups.set(row[at], { time: row[timeAt], count: 1 });
    else if (group.time !== row[timeAt]) return false;
    else group.count += 1;
  }
  const several = [...groups.values()].filter(({ count }) => count > 1).length;
  return several * 5 >= groups.size;
}

/** The nodes of a proposal. A node is created when a member first needs it. */
interface NodeBook {
  labelFor(column: BackendColumn, view: TableView): string;
  /** Returns a few words that explain why the column is considered a reference. */
  whyFor(column: BackendColumn, view: TableView): string;
  all(): NodeSpec[];
}

function nodeBook(views: readonly TableView[], schema: BackendSchema): NodeBook {
  const nodes = new Map<string, NodeSpec>();
  const add = (key: string, words: readonly string[], node: Omit<NodeSpec, 'label'>): string => {
    const known = nodes.get(key);
    if (known !== undefined) return known.label;
    const used = new Set([...nodes.values()].map(({ label }) => label.toLowerCase()));
    const label = unused(labelOf(words, 'Node'), used);
    nodes.set(key, { label, ...node });
    return label;
  };
  const labelFor = (column: BackendColumn, view: TableView): string => {
    const target = targetOf(column, view, views, schema);
    if (target !== undefined) {
      const words = wordsOf(target.table.split('.').at(-1)!);
      return add(`${target.table}\0${target.column}`, words, { table: target.table, id_column: target.column });
    }
    const thing = thingOf(column.name);
    const key = `\0${thing.join(' ')} ${column.kind}`;
    return add(key, thing.length === 0 ? ['node'] : thing, { table: view.table.name, id_column: column.name });
  };
  const whyFor = (column: BackendColumn, view: TableView): string =>
    targetOf(column, view, views, schema)?.why ??
    (saysId(column.name) ? 'its name says that it identifies something' : 'it shares values with another column');
  return { labelFor, whyFor, all: () => [...nodes.values()] };
}

interface Target {
  readonly table: string;
  readonly column: string;
  readonly why: string;
}

/** Finds the table to whose rows a column refers, by foreign key, by name, or by values. */
function targetOf(
  column: BackendColumn,
  view: TableView,
  views: readonly TableView[],
  schema: BackendSchema,
): Target | undefined {
  const foreign = referencedBy(column, view.table, schema);
  if (foreign !== undefined) return { ...foreign, why: `a foreign key to ${foreign.table}` };
  const named: BackendTable | undefined = namesTable(column, schema);
  const owner = views.find(({ table, key }) => table === named && table !== view.table && key?.kind === column.kind);
  if (owner !== undefined)
    return { table: owner.table.name, column: owner.key!.name, why: `called after ${owner.table.name}` };
  if (thingOf(column.name).length > 0) return undefined;
  const holder = views.find((other) => other !== view && holds(other, column, view));
  if (holder === undefined) return undefined;
  return { table: holder.table.name, column: holder.key!.name, why: `its values are found in ${holder.table.name}` };
}

/**
 * Returns whether the column has at least two different sampled values, and at least half of these
 * are among the sampled keys of the other table.
 */
function holds({ key, values }: TableView, column: BackendColumn, view: TableView): boolean {
  const seen = new Set(view.values.get(column));
  if (key === undefined || key.kind !== column.kind || seen.size < 2) return false;
  const keys = new Set(values.get(key));
  const shared = [...seen].filter((value) => keys.has(value)).length;
  return shared * 2 >= seen.size;
}

function nothingFound({ tables }: BackendSchema): HedgerowError {
  const seen = tables.length === 0 ? 'it has no table' : `its tables are ${listed(tables.map(({ name }) => name))}`;
  return new HedgerowError(
    'invalid_input',
    `No table of the backend looks like edges (a column of times, and two or more that identify something); ${seen}. Write the spec yourself.`,
  );
}
