// Runs INSERT, UPDATE and DELETE inside a transaction. UPDATE and DELETE find all rows before they
// stage the first change.

import type { EdgeInput, PropertyValue, RowKey, Table, Transaction } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import type { KindAndKey } from '../model/node-refs.ts';
import type { RoleLists, RoleSet } from '../model/roles.ts';
import { runUntil } from '../schedule/steps.ts';
import type {
  BoundDelete,
  BoundExpression,
  BoundInsert,
  BoundInsertRow,
  BoundSet,
  BoundUpdate,
  Value,
} from './binder/bound.ts';
import type { ParameterValues } from './binder/parameters.ts';
import { nameOfField } from './binder/scope.ts';
import { type Batches, QueryContext } from './executor/context.ts';
import { existsRows } from './executor/joins/exists.ts';
import type { MemoryPool } from './executor/memory.ts';
import { type Batch, batchOf, type RowSet } from './executor/rows/row-set.ts';
import { compacted, scanRows } from './executor/rows/scan-rows.ts';
import { constantValue, evaluate } from './executor/values/evaluate.ts';
import { type Vector, valueAt } from './executor/values/vector.ts';
import type { Span } from './parser/ast.ts';
import { checkConstants } from './planner/constant-work.ts';
import { addNeeds } from './planner/patterns-of.ts';
import type { Estimator } from './planner/scans.ts';
import { planSearch, type SearchPlan } from './planner/search.ts';
import { checkSearches } from './planner/search-parameters.ts';
import { checkTimes } from './planner/time-parameters.ts';
import { type ReadView, sourceOf } from './read.ts';
import { errorPlaced } from './syntax-error.ts';

export interface WriteOptions {
  readonly transaction: Transaction;
  readonly view: ReadView;
  readonly parameters: ParameterValues;
  readonly estimate: Estimator;
  readonly nowUs: () => number;
  readonly memory?: MemoryPool | undefined;
  readonly readLetters?: number | undefined;
  /**
   * Whether the commit must return each changed row. True for batches, which answer with the rows
   * of every operation.
   */
  readonly answersRows: boolean;
}

/** The row that a changing statement answers with. */
export interface Written {
  readonly operation: 'INSERT' | 'UPDATE' | 'DELETE' | 'COPY';
  readonly rows_affected: number;
  readonly first_id?: number | null;
  readonly last_id?: number | null;
  /** COPY: absolute path of the file. */
  readonly path?: string;
}

/** Rows that are staged between two pauses. */
const ROWS_A_STEP = 200;
/**
 * Memory in bytes that a changed row takes until the commit, in addition to what the search holds.
 */
const BYTES_OF_CHANGE = 256;

export function* runInsert(node: BoundInsert, options: WriteOptions): Generator<null, Written, void> {
  let first: number | null = null;
  let last: number | null = null;
  let count = 0;
  for (const row of node.rows) {
    const { id } = insertRow(node, row, options);
    first ??= id;
    last = id;
    if (++count % ROWS_A_STEP === 0) yield null;
  }
  // A node is known by its key; it has no id.
  if (node.table.isOfNodes) return { operation: 'INSERT', rows_affected: count };
  return { operation: 'INSERT', rows_affected: count, first_id: first, last_id: last };
}

function insertRow(node: BoundInsert, row: BoundInsertRow, { transaction, parameters }: WriteOptions): { id: number } {
  try {
    if (node.table.isOfNodes) return transaction.insertNode(node.table, propertiesOf(row, parameters));
    return transaction.insert(node.table, edgeOf(row, parameters));
  } catch (error) {
    throw valueRefused(error, node.text, node.columns, row.places);
  }
}

/**
 * Adds to the error the position of the value that it names, or of the first value if it names
 * none.
 */
function valueRefused(error: unknown, text: string, columns: readonly string[], places: readonly Span[]): unknown {
  const named = error instanceof HedgerowError ? error.errors?.[0] : undefined;
  const name = String(named?.loc[0]).toLowerCase();
  const place = places[columns.findIndex((column) => column.toLowerCase() === name)] ?? places[0]!;
  return errorPlaced(text, place.start, error);
}

function edgeOf(row: BoundInsertRow, parameters: ParameterValues): EdgeInput {
  return {
    event_ts: constantValue(row.eventTs!, parameters) as number,
    members: row.members === undefined ? [] : (constantValue(row.members, parameters) as EdgeInput['members']),
    roles: row.roles.length === 0 ? undefined : givenRoles(row, parameters),
    properties: propertiesOf(row, parameters),
  };
}

function propertiesOf(row: BoundInsertRow, parameters: ParameterValues): Record<string, PropertyValue> {
  const properties: Record<string, PropertyValue> = Object.create(null);
  for (const { column, value } of row.properties)
    properties[column] = constantValue(value, parameters) as PropertyValue;
  return properties;
}

function givenRoles({ roles }: BoundInsertRow, parameters: ParameterValues): RoleLists {
  const lists: Record<string, readonly number[]> = Object.create(null);
  for (const { role, value } of roles) lists[role] = constantValue(value, parameters) as readonly number[];
  return lists;
}

/**
 * Time in microseconds for which a change runs before other work has a turn, as a read does. Its
 * own steps may be much shorter, so that beside reads it would get a small share of the time.
 */
const STEP_US = 2000;

/** Runs a change for some time. Returns undefined if it is not at its end. */
export function runSome(change: Generator<null, Written, void>, nowUs: () => number): Written | undefined {
  return runUntil(change, nowUs, nowUs() + STEP_US)?.value;
}

export function* runDelete(node: BoundDelete, options: WriteOptions): Generator<null, Written, void> {
  const { context, plan } = searchOf(node, [], options);
  try {
    return yield* deleteFound(node, plan, context, options);
  } finally {
    context.end();
  }
}

function* deleteFound(
  node: BoundDelete,
  plan: SearchPlan,
  context: QueryContext,
  options: WriteOptions,
): Generator<null, Written, void> {
  const sets: RowSet[] = [];
  for (const batch of found(plan, context)) {
    if (batch !== null) sets.push(kept(batch, context));
    yield null;
  }
  let count = 0;
  for (const set of sets) {
    for (let row = 0; row < set.rows; row++) {
      options.transaction.deleteRow(node.pattern.table, keyOf(set, row));
      if (++count % ROWS_A_STEP === 0) yield null;
    }
  }
  return { operation: 'DELETE', rows_affected: count };
}

export function* runUpdate(node: BoundUpdate, options: WriteOptions): Generator<null, Written, void> {
  const values = node.sets.map((set) => set.value);
  const { context, plan } = searchOf(node, values, options, node.pattern.table);
  try {
    return yield* updateFound(node, plan, context, options);
  } finally {
    context.end();
  }
}

function* updateFound(
  node: BoundUpdate,
  plan: SearchPlan,
  context: QueryContext,
  options: WriteOptions,
): Generator<null, Written, void> {
  const all: Changes[] = [];
  // All rows are found, and all new values computed from the old ones, before the first row is
  // changed.
  for (const batch of found(plan, context)) {
    if (batch !== null) all.push(changesOf(node, kept(batch, context), context));
    yield null;
  }
  let count = 0;
  for (const changes of all) {
    for (let row = 0; row < changes.set.rows; row++) {
      updateRow(node, keyOf(changes.set, row), newEdge(node, changes, row), options);
      if (++count % ROWS_A_STEP === 0) yield null;
    }
  }
  return { operation: 'UPDATE', rows_affected: count };
}

/**
 * Returns the rows of a batch as a compact set, which is held until its rows have been changed.
 * Charges the memory of this set and of the changes.
 */
function kept(batch: Batch, context: QueryContext): RowSet {
  const set = compacted(batch, 0);
  context.chargeSet(set);
  context.charge(set.rows * BYTES_OF_CHANGE);
  return set;
}

function keyOf({ times, ids }: RowSet, row: number): RowKey {
  return { eventTs: times[row]!, id: ids[row]! };
}

function updateRow({ pattern, sets, text }: BoundUpdate, key: RowKey, edge: EdgeInput, options: WriteOptions): void {
  const { transaction, answersRows } = options;
  try {
    if (answersRows) transaction.updateRow(pattern.table, key, edge);
    else transaction.changeRow(pattern.table, key, edge);
  } catch (error) {
    const columns = sets.map(({ field }) => nameOfField(field));
    const places = sets.map(({ place }) => place);
    throw valueRefused(error, text, columns, places);
  }
}

const TOO_MANY_CHANGES =
  'The statement changes too many rows at once; change them in parts, say WHERE event_ts BETWEEN .. AND ..';

/**
 * Returns the scan that finds the affected rows. If the table `whole` is given, the scan reads all
 * its columns.
 */
function searchOf(
  search: BoundUpdate | BoundDelete,
  values: readonly BoundExpression[],
  options: WriteOptions,
  whole?: Table,
): { context: QueryContext; plan: SearchPlan } {
  const { pattern, text, where } = search;
  const { parameters, view, nowUs, memory, readLetters } = options;
  checkTimes([...where, ...values], parameters);
  checkConstants(where, text, parameters);
  checkSearches(where, [pattern, ...search.inner], text, parameters);
  const plan = planSearch(search, parameters, options.estimate, (needs, patterns) => {
    for (const value of values) addNeeds(value, needs, patterns);
    const own = needs[0]!;
    own.times = true;
    own.ids = true;
    if (whole === undefined) return;
    own.members = true;
    own.masks = !whole.roles.isEmpty;
    for (const column of whole.columns.columns) own.properties.add(column.id);
  });
  const context = new QueryContext({
    source: sourceOf(view),
    patterns: [pattern, ...search.inner],
    parameters,
    lsn: view.lsn,
    nowUs,
    tooLarge: TOO_MANY_CHANGES,
    expressions: () => [...plan.filter, ...values],
    memory,
    readLetters,
  });
  return { context, plan };
}

/** Yields the rows that a search finds. */
function* found({ scan, input, exists }: SearchPlan, context: QueryContext): Batches<Batch> {
  yield* context.prepareScores();
  const rows = () => scanRows(scan, context);
  yield* context.paced(input.op === 'existsFilter' ? existsRows(input, exists, rows, context) : rows());
}

/**
 * Rows and their new values, column by column. Stored as objects, a million rows would take many
 * times the memory.
 */
interface Changes {
  readonly set: RowSet;
  /** New values, in the order of the assignments in SET. */
  readonly values: readonly Vector[];
  /** Old values of every property. */
  readonly columns: readonly { readonly name: string; readonly vector: Vector }[];
}

function changesOf(node: BoundUpdate, set: RowSet, context: QueryContext): Changes {
  const batch = batchOf(set, 0);
  const values = node.sets.map((one) => newValues(one, node.text, batch, context));
  for (const vector of values) context.charge(context.held.ofVector(vector, set.rows));
  // The columns are those at the start of the search: a column may be added or dropped between two
  // batches.
  const columns = context.environment.patterns[0]!.columns.map(({ name, id, type }) => ({
    name,
    vector: evaluate(
      {
        kind: 'field',
        pattern: 0,
        field: { kind: 'property', id, name, type },
        type: 'null',
        text: name,
      },
      batch,
      context.environment,
    ),
  }));
  return { set, values, columns };
}

/** Returns the new content of a row. */
function newEdge({ sets, pattern }: BoundUpdate, { set, values, columns }: Changes, row: number): EdgeInput {
  const properties: Record<string, PropertyValue> = Object.create(null);
  for (const { name, vector } of columns) properties[name] = valueAt(vector, row) as PropertyValue;
  const members = Array.from(set.members.subarray(set.offsets[row]!, set.offsets[row + 1]!));
  const edge: Edge = { event_ts: set.times[row]!, members, roles: undefined, properties };
  for (const [index, { field }] of sets.entries()) assign(edge, field, values[index]!, row);
  const { roles, kinds } = pattern.table;
  const masks = roles.isEmpty ? [] : Array.from(set.masks.subarray(set.offsets[row]!, set.offsets[row + 1]!));
  if (kinds !== undefined && sets.some(setsKeys)) return withReferences(pattern.table, edge, sets, members, masks);
  if (!roles.isEmpty) edge.roles = newRoles(roles, edge, roles.listsOf(members, masks));
  return kinds === undefined ? edge : { ...edge, areNumbers: true };
}

/** Whether SET gives keys: any list of members but one that the row has already. */
function setsKeys({ field, value }: BoundSet): boolean {
  return (field.kind === 'members' || field.kind === 'role') && value.kind !== 'field';
}

/**
 * Returns the content of a changed row of a named table, whose members are all given by kind and
 * key: those that SET gives, and those that the row has.
 */
function withReferences(
  { context, roles }: Table,
  edge: Edge,
  sets: BoundUpdate['sets'],
  members: readonly number[],
  masks: readonly number[],
): EdgeInput {
  const referenceOf = (member: unknown): KindAndKey | unknown =>
    typeof member === 'number' ? context.nodes.shown(member, true) : member;
  const isOld = (name: string) =>
    sets.some(({ field, value }) => 'name' in field && field.name === name && value.kind === 'field');
  const old = members.map(referenceOf);
  const isGiven = sets.some((set) => set.field.kind === 'members' && setsKeys(set));
  const now = isGiven ? (edge.members as readonly unknown[]) : (edge.members as readonly unknown[]).map(referenceOf);
  const result = { ...edge, members: now as EdgeInput['members'] };
  if (roles.isEmpty) return result;
  const given: Record<string, readonly unknown[]> = Object.create(null);
  for (const [name, list] of Object.entries(edge.roles ?? {})) given[name] = isOld(name) ? list.map(referenceOf) : list;
  const texts = new Set(now.map((member) => JSON.stringify(member)));
  const lists: Record<string, unknown> = Object.create(null);
  for (const [name, list] of Object.entries(roles.listsOf(old, masks)))
    lists[name] = given[name] ?? list.filter((member) => texts.has(JSON.stringify(member)));
  return { ...result, roles: lists as RoleLists };
}

/**
 * Returns the roles of a changed row: those that SET gives, and of the others the old ones, for the
 * members that stay.
 */
function newRoles(roles: RoleSet, { members, roles: given = {} }: Edge, old: RoleLists): RoleLists {
  const stay = new Set(members as readonly number[]);
  const lists: Record<string, readonly number[]> = Object.create(null);
  for (const name of roles.names) lists[name] = given[name] ?? old[name]!.filter((member) => stay.has(member));
  return lists;
}

function newValues({ value, place }: BoundSet, text: string, batch: Batch, { environment }: QueryContext): Vector {
  try {
    return evaluate(value, batch, environment);
  } catch (error) {
    throw errorPlaced(text, place.start, error);
  }
}

interface Edge {
  event_ts: number;
  members: EdgeInput['members'];
  /** The lists of the roles that SET gives. */
  roles: RoleLists | undefined;
  properties: Record<string, PropertyValue>;
}

function assign(edge: Edge, field: BoundUpdate['sets'][number]['field'], vector: Vector, place: number): void {
  const value: Value = valueAt(vector, place);
  if (field.kind === 'event_ts') edge.event_ts = value as number;
  else if (field.kind === 'members') edge.members = value as EdgeInput['members'];
  else if (field.kind === 'role') edge.roles = withRole(edge.roles, field.name, value as readonly number[]);
  else edge.properties[field.name] = value as PropertyValue;
}

function withRole(lists: RoleLists | undefined, role: string, members: readonly number[]): RoleLists {
  const all: Record<string, readonly number[]> = Object.create(null);
  return Object.assign(all, lists, { [role]: members });
}
