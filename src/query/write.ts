// Runs INSERT, UPDATE and DELETE inside a transaction: finds the rows first, then stages what happens to them.

import type { Table, Transaction } from '../engine/index.ts';
import type { ColumnType, EdgeInput, PropertyValue, RowKey } from '../engine/types.ts';
import type {
  BoundDelete,
  BoundExpression,
  BoundInsert,
  BoundInsertRow,
  BoundPattern,
  BoundUpdate,
  Value,
} from './binder/bound.ts';
import type { ParameterValues } from './binder/parameters.ts';
import { QueryContext } from './executor/context.ts';
import { constantValue, evaluate } from './executor/evaluate.ts';
import type { Batch } from './executor/row-set.ts';
import { scanRows } from './executor/scan-rows.ts';
import { type Vector, valueAt } from './executor/vector.ts';
import { accessOf } from './planner/access.ts';
import { addNeeds, noNeeds } from './planner/patterns-of.ts';
import type { ScanPlan } from './planner/plan.ts';
import { type Estimator, planScan } from './planner/planner.ts';
import { type ReadView, sourceOf } from './read.ts';

export interface WriteOptions {
  readonly transaction: Transaction;
  readonly view: ReadView;
  readonly parameters: ParameterValues;
  readonly estimate: Estimator;
  readonly nowUs: () => number;
  readonly memoryBytes?: number | undefined;
}

/** The row that a statement which changes rows answers. */
export interface Written {
  readonly operation: 'INSERT' | 'UPDATE' | 'DELETE' | 'COPY';
  readonly rows_affected: number;
  readonly first_id?: number | null;
  readonly last_id?: number | null;
  /** COPY: the file, absolute. */
  readonly path?: string;
}

/** Rows staged between two pauses. */
const ROWS_A_STEP = 500;
const BYTES_OF_CHANGE = 400;

export function* runInsert(node: BoundInsert, options: WriteOptions): Generator<null, Written, void> {
  let first: number | null = null;
  let last: number | null = null;
  let count = 0;
  for (const row of node.rows) {
    const { id } = options.transaction.insert(node.table, edgeOf(row, options.parameters));
    first ??= id;
    last = id;
    if (++count % ROWS_A_STEP === 0) yield null;
  }
  return { operation: 'INSERT', rows_affected: count, first_id: first, last_id: last };
}

function edgeOf(row: BoundInsertRow, parameters: ParameterValues): EdgeInput {
  const properties: Record<string, PropertyValue> = Object.create(null);
  for (const { column, value } of row.properties)
    properties[column] = constantValue(value, parameters) as PropertyValue;
  return {
    event_ts: constantValue(row.eventTs, parameters) as number,
    members: constantValue(row.members, parameters) as readonly number[],
    properties,
  };
}

export function* runDelete(node: BoundDelete, options: WriteOptions): Generator<null, Written, void> {
  const keys: RowKey[] = [];
  const { context, plan } = searchOf(node.pattern, node.where, [], options);
  for (const batch of scanRows(plan, context)) {
    if (batch !== null) {
      context.charge(batch.count * BYTES_OF_CHANGE);
      keys.push(...keysOf(batch));
    }
    yield null;
  }
  for (const [index, key] of keys.entries()) {
    options.transaction.deleteRow(node.pattern.table, key);
    if (index % ROWS_A_STEP === ROWS_A_STEP - 1) yield null;
  }
  return { operation: 'DELETE', rows_affected: keys.length };
}

export function* runUpdate(node: BoundUpdate, options: WriteOptions): Generator<null, Written, void> {
  const { table } = node.pattern;
  const changes: { key: RowKey; edge: EdgeInput }[] = [];
  const values = node.sets.map((set) => set.value);
  const { context, plan } = searchOf(node.pattern, node.where, values, options, table);
  // All rows are found and all new values made from the old ones before the first is changed.
  for (const batch of scanRows(plan, context)) {
    if (batch !== null) {
      context.charge(batch.count * BYTES_OF_CHANGE);
      changes.push(...changesOf(node, batch, context));
    }
    yield null;
  }
  for (const [index, { key, edge }] of changes.entries()) {
    options.transaction.updateRow(table, key, edge);
    if (index % ROWS_A_STEP === ROWS_A_STEP - 1) yield null;
  }
  return { operation: 'UPDATE', rows_affected: changes.length };
}

/** The scan that finds the rows meant. `whole`: every column of the table is read. */
function searchOf(
  pattern: BoundPattern,
  where: readonly BoundExpression[],
  values: readonly BoundExpression[],
  options: WriteOptions,
  whole?: Table,
): { context: QueryContext; plan: ScanPlan } {
  const { parameters, view, nowUs, memoryBytes } = options;
  const access = accessOf(pattern, where, parameters);
  const needs = noNeeds();
  for (const expression of [...access.filter, ...values]) addNeeds(expression, [needs], [pattern]);
  needs.times = true;
  needs.ids = true;
  if (whole !== undefined) {
    needs.members = true;
    for (const column of whole.columns.columns) needs.properties.add(column.id);
  }
  const context = new QueryContext({
    source: sourceOf(view),
    patterns: [pattern],
    parameters,
    nowUs,
    ...(memoryBytes === undefined ? {} : { memoryBytes }),
  });
  return { context, plan: planScan(pattern, 0, access, needs, options.estimate) };
}

function keysOf(batch: Batch): RowKey[] {
  const { set, rows } = batch.sides[0]!;
  return Array.from({ length: batch.count }, (_, place) => {
    const row = rows === undefined ? place : rows[place]!;
    return { eventTs: set.times[row]!, id: set.ids[row]! };
  });
}

/** The new content of every row of a batch. */
function changesOf(node: BoundUpdate, batch: Batch, context: QueryContext): { key: RowKey; edge: EdgeInput }[] {
  const { set, rows } = batch.sides[0]!;
  const vectors = node.sets.map((one) => evaluate(one.value, batch, context.environment));
  // Those of the moment the search began: a column may be added or dropped between two batches.
  const columns = context.environment.patterns[0]!.columns.map(({ name, id, type }) => ({
    name,
    vector: evaluate(
      {
        kind: 'field',
        pattern: 0,
        field: { kind: 'property', id, name, type: type as ColumnType },
        type: 'null',
        text: name,
      },
      batch,
      context.environment,
    ),
  }));
  return keysOf(batch).map((key, place) => {
    const row = rows === undefined ? place : rows[place]!;
    const properties: Record<string, PropertyValue> = Object.create(null);
    for (const { name, vector } of columns) properties[name] = valueAt(vector, place) as PropertyValue;
    const edge = {
      event_ts: key.eventTs,
      members: Array.from(set.members.subarray(set.offsets[row]!, set.offsets[row + 1]!)) as readonly number[],
      properties,
    };
    for (const [index, { field }] of node.sets.entries()) assign(edge, field, vectors[index]!, place);
    return { key, edge };
  });
}

type Edge = { event_ts: number; members: readonly number[]; properties: Record<string, PropertyValue> };

function assign(edge: Edge, field: BoundUpdate['sets'][number]['field'], vector: Vector, place: number): void {
  const value: Value = valueAt(vector, place);
  if (field.kind === 'event_ts') edge.event_ts = value as number;
  else if (field.kind === 'members') edge.members = value as readonly number[];
  else edge.properties[field.name] = value as PropertyValue;
}
