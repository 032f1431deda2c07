// Evaluates a bound expression for every combination of rows in a batch.

import { type ColumnType, kindOfType } from '../../../model/column-types.ts';
import type { RoleSet } from '../../../model/roles.ts';
import { setField } from '../../../model/set-field.ts';
import { containsText } from '../../../text-search.ts';
import type {
  BoundExists,
  BoundExpression,
  BoundField,
  BoundIn,
  BoundList,
  BoundNode,
  BoundParameter,
  BoundRow,
  Value,
} from '../../binder/bound.ts';
import { type ParameterValues, parameterValue } from '../../binder/parameters.ts';
import { partsOf } from '../../binder/parts.ts';
import { joinedParts, joinTexts } from '../joins/join-texts.ts';
import { followsVector, hasNodeVector, overlapsVector, sharedVector } from '../rows/edges.ts';
import { type Batch, gather, type RowSet, type Side } from '../rows/row-set.ts';
import { computeVectors, negateVector } from './arithmetic.ts';
import { compareVectors, mapTexts } from './compare.ts';
import { dateVector, dayVector } from './dates.ts';
import { conjunction, disjunction, inverted, nullTest } from './logic.ts';
import { isInValues, isInVectors, prepareList } from './membership.ts';
import { nodeVector } from './nodes.ts';
import { type RunSearches, scoreVector, searchVector } from './searches.ts';
import { type ConstantVector, constant, NULL_VECTOR, type Scratch, type Vector, valueAt } from './vector.ts';

/** The data that an evaluation needs besides the rows. */
export interface Environment {
  readonly parameters: ParameterValues;
  /** LSN of the state in which keys of nodes are looked up; the newest state if it is left out. */
  readonly lsn?: number | undefined;
  /** The property columns of each pattern, for whole rows. */
  readonly patterns: readonly {
    readonly columns: readonly { readonly id: number; readonly name: string; readonly type: ColumnType }[];
    readonly roles: RoleSet;
  }[];
  /** For each pattern, whether its rows are nodes, which have no columns but these. */
  readonly areNodes?: readonly boolean[];
  /** The searches of this run. */
  readonly searches?: RunSearches;
  /** Nodes whose keys are constants, as far as they were looked up in this run. */
  readonly nodes?: Map<BoundNode, ConstantVector>;
  /** Set if the values are no longer used when the next expression is evaluated. */
  readonly scratch?: Scratch;
  /**
   * `keys` and `aggregates` are set in groups and contain their values. `items` is set in ORDER BY
   * over items and contains the values of the items.
   */
  readonly keys?: readonly Vector[];
  readonly aggregates?: readonly Vector[];
  readonly items?: readonly Vector[];
  /** The values of every EXISTS in a condition that contains some. */
  readonly tested?: ReadonlyMap<BoundExists, Vector>;
}

/**
 * Evaluates an expression. Throws `invalid_statement` if a number exceeds its range or a text is
 * too long.
 */
export function evaluate(node: BoundExpression, batch: Batch, environment: Environment): Vector {
  const { count } = batch;
  const at = (operand: BoundExpression) => evaluate(operand, batch, environment);
  switch (node.kind) {
    case 'constant':
      return constant(node.value);
    case 'parameter':
      return constant(parameterValue(environment.parameters, node));
    case 'field':
      return fieldVector(node, batch.sides[node.pattern]!, count);
    case 'row':
      return rowVector(node, batch, environment);
    case 'compare':
      return compareVectors(node.operator, at(node.left), at(node.right), count);
    case 'arithmetic':
      if (node.type === 'text') return joinTexts(node, joinedParts(node).map(at), count);
      return computeVectors(node, at(node.left), at(node.right), count, environment.scratch);
    case 'negate':
      return negateVector(at(node.operand));
    case 'textMatch':
      return textMatchVector(node.operator, at(node.left), at(node.right), count);
    case 'and':
      return conjunction(node.items.map(at), count);
    case 'or':
      return disjunction(node.items.map(at), count);
    case 'not':
      return inverted(at(node.operand));
    case 'isNull':
      return nullTest(at(node.operand), count);
    case 'in':
      return inVector(node, at, count, environment);
    case 'hasNode':
      return hasNodeVector(at(node.node), batch.sides[node.pattern]!, count, node.mask);
    case 'node':
      return nodeVector(node, at(node.key), count, environment);
    case 'size':
      return sizeVector(node.operand, at, batch);
    case 'time':
      return at(node.operand);
    case 'day':
      return dayVector(at(node.operand), count);
    case 'date':
      return dateVector(at(node.operand), count);
    case 'bucket':
      return bucketVector(batch.sides[node.pattern]!, node.bucketSeconds, count);
    case 'shared':
      return sharedVector(batch.sides[node.left]!, batch.sides[node.right]!, count, node);
    case 'overlaps':
      return overlapsVector(batch.sides[node.left]!, batch.sides[node.right]!, at(node.width), count);
    case 'follows':
      return followsVector(batch.sides[node.later]!, batch.sides[node.earlier]!, at(node.width), count);
    case 'keyValue':
      return environment.keys![node.index]!;
    case 'aggregateValue':
      return environment.aggregates![node.index]!;
    case 'itemValue':
      return environment.items![node.index]!;
    case 'exists':
      return environment.tested!.get(node)!;
    case 'search':
      return searchVector(node, at, count, environment, batch.sides[node.pattern]!);
    case 'score':
      return scoreVector(node, at, count, environment, batch.sides[node.pattern]!);
    case 'list':
      return listVector(node, at, count);
  }
}

const NO_BATCH: Batch = { count: 1, sides: [] };

/**
 * Returns the value of an expression that reads no row: it consists of constants, parameters and
 * values that are computed from them. Keys of nodes are looked up in the state at `lsn`.
 */
export function constantValue(node: BoundExpression, parameters: ParameterValues, lsn?: number): Value {
  return valueAt(evaluate(node, NO_BATCH, { parameters, lsn, patterns: [] }), 0);
}

function fieldVector(node: BoundField, { set, rows }: Side, count: number): Vector {
  const { field } = node;
  switch (field.kind) {
    case 'event_ts':
      return { kind: 'number', values: gather(set.times, rows, count), nulls: undefined };
    case 'id':
      return { kind: 'number', values: gather(set.ids, rows, count), nulls: undefined };
    case 'members': {
      const values: Value[] = new Array(count);
      for (let i = 0; i < count; i++) values[i] = membersOf(set, rows === undefined ? i : rows[i]!);
      return { kind: 'value', values };
    }
    case 'role': {
      const values: Value[] = new Array(count);
      for (let i = 0; i < count; i++) values[i] = membersWith(set, rows === undefined ? i : rows[i]!, field.mask);
      return { kind: 'value', values };
    }
    case 'property':
      return propertyVector(set, rows, count, field.id, kindOfType(field.type) === 'boolean');
  }
}

function membersOf({ members, offsets }: RowSet, row: number): number[] {
  const start = offsets[row]!;
  const list = new Array<number>(offsets[row + 1]! - start);
  for (let i = 0; i < list.length; i++) list[i] = members[start + i]!;
  return list;
}

/** Returns the members of a row that have a role of the mask. */
function membersWith({ members, masks, offsets }: RowSet, row: number, mask: number): number[] {
  const list: number[] = [];
  for (let at = offsets[row]!; at < offsets[row + 1]!; at++) if ((masks[at]! & mask) !== 0) list.push(members[at]!);
  return list;
}

function propertyVector(
  set: RowSet,
  rows: Uint32Array | undefined,
  count: number,
  id: number,
  isBoolean: boolean,
): Vector {
  const column = set.columns.get(id)!;
  const nulls = gatherBytes(column.nulls, rows, count);
  const mask = nulls.includes(1) ? nulls : undefined;
  if (column.kind === 'text')
    return { kind: 'text', codes: gatherCodes(column.codes, rows, count), texts: column.texts, nulls: mask };
  const values = gather(column.values, rows, count);
  if (!isBoolean) return { kind: 'number', values, nulls: mask };
  return { kind: 'boolean', values: Uint8Array.from(values), nulls: mask };
}

function gatherBytes(values: Uint8Array, rows: Uint32Array | undefined, count: number): Uint8Array {
  if (rows === undefined) return values.length === count ? values : values.subarray(0, count);
  const picked = new Uint8Array(count);
  for (let i = 0; i < count; i++) picked[i] = values[rows[i]!]!;
  return picked;
}

function gatherCodes(values: Uint32Array, rows: Uint32Array | undefined, count: number): Uint32Array {
  if (rows === undefined) return values.length === count ? values : values.subarray(0, count);
  const picked = new Uint32Array(count);
  for (let i = 0; i < count; i++) picked[i] = values[rows[i]!]!;
  return picked;
}

/**
 * Returns whole rows as objects: of an edge id, event_ts, members, the roles if the table has some,
 * then the property columns.
 */
function rowVector(node: BoundRow, batch: Batch, environment: Environment): Vector {
  const side = batch.sides[node.pattern]!;
  const { set, rows } = side;
  const { columns, roles } = environment.patterns[node.pattern]!;
  const isNode = environment.areNodes?.[node.pattern] === true;
  const vectors = columns.map(({ id, type }) =>
    propertyVector(set, rows, batch.count, id, kindOfType(type) === 'boolean'),
  );
  const values: Value[] = new Array(batch.count);
  for (let i = 0; i < batch.count; i++) {
    const row = rows === undefined ? i : rows[i]!;
    const value: Record<string, Value> = isNode
      ? {}
      : { id: set.ids[row]!, event_ts: set.times[row]!, members: membersOf(set, row) };
    if (!roles.isEmpty) value.roles = rolesOf(set, row, roles);
    for (const [place, column] of columns.entries()) setField(value, column.name, valueAt(vectors[place]!, i));
    values[i] = value;
  }
  return { kind: 'value', values };
}

function rolesOf({ members, masks, offsets }: RowSet, row: number, roles: RoleSet): Record<string, number[]> {
  const [start, end] = [offsets[row]!, offsets[row + 1]!];
  return roles.listsOf(Array.from(members.subarray(start, end)), Array.from(masks.subarray(start, end)));
}

function textMatchVector(operator: string, left: Vector, right: Vector, count: number): Vector {
  const test = operator === 'CONTAINS' ? containsText : operator === 'STARTS WITH' ? startsWith : endsWith;
  if (right.kind === 'constant') {
    if (right.value === null) return NULL_VECTOR;
    const part = right.value as string;
    if (left.kind === 'text') return mapTexts(left, count, (text) => test(text, part));
  }
  const values = new Uint8Array(count);
  const nulls = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    const text = valueAt(left, i);
    const part = valueAt(right, i);
    if (text === null || part === null) nulls[i] = 1;
    else values[i] = test(text as string, part as string) ? 1 : 0;
  }
  return { kind: 'boolean', values, nulls };
}

const startsWith = (text: string, part: string) => text.startsWith(part);
const endsWith = (text: string, part: string) => text.endsWith(part);

function inVector(
  node: BoundIn,
  at: (operand: BoundExpression) => Vector,
  count: number,
  environment: Environment,
): Vector {
  const operand = at(node.operand);
  const values = valuesOfList(node, environment.parameters);
  if (values !== undefined) return isInValues(operand, values, count);
  return isInVectors(operand, (node.items as readonly BoundExpression[]).map(at), count);
}

/** Returns the values in the list of an IN, or undefined if an item must be computed. */
function valuesOfList({ items }: BoundIn, parameters: ParameterValues): readonly Value[] | undefined {
  if (!('kind' in items)) return writtenValues(items, parameters);
  return (items.kind === 'constant' ? items.value : parameterValue(parameters, items)) as readonly Value[];
}

/**
 * Prepares, in steps, the lists in which an expression looks up values. Returns the number of bytes
 * that this adds to those held.
 */
export function* prepareLists(expression: BoundExpression, parameters: ParameterValues): Generator<null, number, void> {
  let bytes = 0;
  if (expression.kind === 'in') {
    const values = valuesOfList(expression, parameters);
    // The items are constants or parameters and contain no further lists.
    if (values !== undefined)
      return (yield* prepareList(values)) + (yield* prepareLists(expression.operand, parameters));
  }
  for (const part of partsOf(expression)) bytes += yield* prepareLists(part, parameters);
  return bytes;
}

const WRITTEN = new WeakMap<ParameterValues, WeakMap<readonly BoundExpression[], readonly Value[] | 'computed'>>();

/**
 * Returns the values of a list that consists of constants and parameters, or undefined for another
 * list. With the same `parameters` object, the same array is returned each time.
 */
function writtenValues(items: readonly BoundExpression[], parameters: ParameterValues): readonly Value[] | undefined {
  let lists = WRITTEN.get(parameters);
  if (lists === undefined) {
    lists = new WeakMap();
    WRITTEN.set(parameters, lists);
  }
  let values = lists.get(items);
  if (values === undefined) {
    const isWritten = items.every(({ kind }) => kind === 'constant' || kind === 'parameter');
    values = isWritten
      ? items.map((item) =>
          item.kind === 'constant' ? item.value : parameterValue(parameters, item as BoundParameter),
        )
      : 'computed';
    lists.set(items, values);
  }
  return values === 'computed' ? undefined : values;
}

function sizeVector(operand: BoundExpression, at: (operand: BoundExpression) => Vector, batch: Batch): Vector {
  if (operand.kind === 'field' && operand.field.kind !== 'role') {
    const { set, rows } = batch.sides[operand.pattern]!;
    const values = new Float64Array(batch.count);
    for (let i = 0; i < batch.count; i++) {
      const row = rows === undefined ? i : rows[i]!;
      values[i] = set.offsets[row + 1]! - set.offsets[row]!;
    }
    return { kind: 'number', values, nulls: undefined };
  }
  const lists = at(operand);
  if (lists.kind === 'constant')
    return constant(lists.value === null ? null : (lists.value as readonly Value[]).length);
  const values = new Float64Array(batch.count);
  const nulls = new Uint8Array(batch.count);
  for (let i = 0; i < batch.count; i++) {
    const list = valueAt(lists, i);
    if (list === null) nulls[i] = 1;
    else values[i] = (list as readonly Value[]).length;
  }
  return { kind: 'number', values, nulls };
}

function bucketVector({ set, rows }: Side, width: number, count: number): Vector {
  const times = gather(set.times, rows, count);
  const values = new Float64Array(count);
  for (let i = 0; i < count; i++) values[i] = Math.floor(times[i]! / width);
  return { kind: 'number', values, nulls: undefined };
}

function listVector(node: BoundList, at: (operand: BoundExpression) => Vector, count: number): Vector {
  const items = node.items.map(at);
  if (items.every((item) => item.kind === 'constant')) return constant(items.map((item) => valueAt(item, 0)));
  const values: Value[] = new Array(count);
  for (let i = 0; i < count; i++) values[i] = items.map((item) => valueAt(item, i));
  return { kind: 'value', values };
}
