// Converts one row of a file to an edge, as the plan requires.

import type { EdgeInput, PropertyValue } from '../../../engine/index.ts';
import { HedgerowError } from '../../../errors.ts';
import { isNumeric } from '../../../model/column-types.ts';
import { END_COLUMN } from '../../../model/columns.ts';
import type { MemberInput } from '../../../model/edge.ts';
import { keyItems, nodeNumber, nodeTexts } from '../../../tabular/nodes.ts';
import { plainNumber } from '../../../tabular/number-style.ts';
import { type Members, NodeKeys } from '../node-keys.ts';
import { propertyOf } from './cell-types.ts';
import { plainInteger } from './plain-integer.ts';
import type { PropertyColumn, RowPlan } from './row-plan.ts';
import { secondsOf } from './times.ts';

/**
 * Returns a function that converts a row to an edge, or throws a HedgerowError that describes the
 * fault. `nodes` turns names into members; undefined if members are integers.
 */
export function rowEdges(plan: RowPlan, nodes: Members | undefined): (cells: readonly unknown[]) => EdgeInput {
  const { time, members } = plan;
  const end = plan.end && { ...plan.end, name: plan.names[plan.end.index]! };
  const timeName = time.index === undefined ? '' : plan.names[time.index]!;
  // When a column has the name of a member of Object, such as `__proto__`, properties need an
  // object without a prototype, which is slower.
  const isOdd = plan.properties.some(({ name }) => name in {});
  return (cells) => {
    if (cells.length !== plan.names.length) throw countFault(cells.length, plan.names.length);
    const event_ts = timeOf(time.index === undefined ? null : cells[time.index], time, timeName);
    const found: MemberInput[] = (nodes === undefined && plainNodes(cells, members.indexes)) || [];
    if (found.length === 0)
      for (const index of members.indexes)
        addNodes(found, cells[index], members.separator, plan.names[index]!, nodes, event_ts);
    const roles = rolesOf(cells, plan, nodes, event_ts);
    if (found.length === 0 && !hasNodes(roles)) throw fault('The row names no node; an edge joins at least one.');
    const ends = end === undefined ? undefined : endOf(cells[end.index], end);
    const properties = propertiesOf(cells, plan.properties, isOdd, ends);
    const edge: EdgeInput = roles === undefined ? { event_ts, members: found } : { event_ts, members: found, roles };
    if (properties !== undefined) edge.properties = properties;
    return edge;
  };
}

/** Returns the members of each role that has a column; undefined if there are no such columns. */
function rolesOf(
  cells: readonly unknown[],
  { roles, names: columns }: RowPlan,
  nodes: Members | undefined,
  seconds: number,
): Record<string, MemberInput[]> | undefined {
  if (roles.length === 0) return undefined;
  const lists: Record<string, MemberInput[]> = Object.create(null);
  for (const { name, index, separator } of roles) {
    const found: MemberInput[] = [];
    addNodes(found, cells[index], separator, columns[index]!, nodes, seconds);
    lists[name] = found;
  }
  return lists;
}

function hasNodes(roles: Record<string, MemberInput[]> | undefined): boolean {
  return roles !== undefined && Object.values(roles).some((nodes) => nodes.length > 0);
}

function timeOf(cell: unknown, { format, missing }: RowPlan['time'], name: string): number {
  const isMissing = cell === null || cell === undefined || cell === '';
  return isMissing && missing !== undefined ? missing : secondsOf(cell, format, name);
}

/** Returns the end of an interval, or undefined if it has none. */
function endOf(
  cell: unknown,
  { format, name }: { format: RowPlan['time']['format']; name: string },
): number | undefined {
  return cell === null || cell === undefined || cell === '' ? undefined : secondsOf(cell, format, name);
}

/** Returns the values that are not null, and the end if it is given; undefined if there is none. */
export function propertiesOf(
  cells: readonly unknown[],
  columns: readonly PropertyColumn[],
  isOdd: boolean,
  end?: number | undefined,
): Record<string, PropertyValue> | undefined {
  let properties: Record<string, PropertyValue> | undefined;
  if (end !== undefined)
    properties = isOdd ? Object.assign(Object.create(null), { [END_COLUMN]: end }) : { [END_COLUMN]: end };
  for (const column of columns) {
    const { index, name } = column;
    const value = valueIn(cells[index], column);
    if (value === null) continue;
    properties ??= isOdd ? Object.create(null) : {};
    // Turns -0 into 0, as JSON does.
    properties![name] = typeof value === 'number' ? value + 0 : value;
  }
  return properties;
}

function valueIn(given: unknown, { name, type, isGuessed, decimal }: PropertyColumn): PropertyValue {
  const isNumber = decimal !== undefined && typeof given === 'string' && isNumeric(type);
  const cell = isNumber ? plainNumber(given, decimal) : given;
  if (cell === undefined && isNumber)
    throw fault(
      `${name} is ${JSON.stringify(given.slice(0, 40))}, but its numbers have a decimal ${decimal === ',' ? 'comma' : 'point'}; --decimal says which, --types ${name}=TEXT takes it as it is.`,
    );
  try {
    return propertyOf(cell, name, type);
  } catch (error) {
    if (!isGuessed || !(error instanceof HedgerowError)) throw error;
    const wider = type === 'INTEGER' && !Number.isNaN(Number(cell)) ? 'REAL' : 'TEXT';
    throw fault(
      `${error.message} The first rows looked like ${type}: to take this row too, import into a new table with --types ${name}=${wider}.`,
    );
  }
}

/**
 * Returns the nodes when each of the cells at `indexes` is one plain integer; undefined otherwise.
 */
function plainNodes(cells: readonly unknown[], indexes: readonly number[]): number[] | undefined {
  const nodes = new Array<number>(indexes.length);
  for (let i = 0; i < indexes.length; i++) {
    const cell = cells[indexes[i]!];
    const node = typeof cell === 'string' ? plainInteger(cell) : -1;
    if (node < 0) return undefined;
    nodes[i] = node;
  }
  return nodes;
}

function addNodes(
  found: MemberInput[],
  cell: unknown,
  separator: string | undefined,
  column: string,
  nodes: Members | undefined,
  seconds: number,
): void {
  if (nodes instanceof NodeKeys) {
    for (const item of keyItems(cell, separator)) found.push(nodes.memberOf(item, column));
    return;
  }
  for (const text of nodeTexts(cell, separator, nodes !== undefined)) {
    const node = nodes === undefined ? nodeNumber(text) : nodes.numberOf(text, seconds);
    if (Number.isNaN(node))
      throw fault(
        `${column} holds ${JSON.stringify(text.slice(0, 40))}, but nodes are integers here; --member-ids name gives names numbers.`,
      );
    found.push(node);
  }
}

function countFault(cells: number, columns: number): HedgerowError {
  return fault(`The row has ${cells} cells, but the header names ${columns} columns.`);
}

function fault(message: string): HedgerowError {
  return new HedgerowError('invalid_input', message);
}
