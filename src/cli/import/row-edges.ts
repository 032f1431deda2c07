// One row of a file to the JSON line of its edge, as the plan says.

import { HedgerowError } from '../../errors.ts';
import { propertyOf } from './cell-types.ts';
import type { NodeNames } from './node-names.ts';
import { partsOf, type RowPlan } from './row-plan.ts';
import { secondsOf } from './times.ts';

const INTEGER = /^[+-]?\d{1,16}$/;

/** Gives the line of a row, or throws a HedgerowError that says what is wrong with it. `names`: where the plan has nodes with names. */
export function rowEdges(plan: RowPlan, names: NodeNames | undefined): (cells: readonly unknown[]) => string {
  const { time, members, properties } = plan;
  const timeName = plan.names[time.index]!;
  const keys = properties.map(({ name }) => JSON.stringify(name));
  return (cells) => {
    if (cells.length !== plan.names.length)
      throw fault(`The row has ${cells.length} cells, but the header names ${plan.names.length} columns.`);
    const seconds = secondsOf(cells[time.index], time.format, timeName);
    const nodes: number[] = [];
    for (const index of members.indexes) addNodes(nodes, cells[index], plan, index, names, seconds);
    if (nodes.length === 0) throw fault('The row names no node; an edge joins at least one.');
    let text = '';
    for (let i = 0; i < properties.length; i++) {
      const { index, name, type } = properties[i]!;
      const value = propertyOf(cells[index], name, type);
      if (value !== null) text += `${text === '' ? '' : ','}${keys[i]!}:${JSON.stringify(value)}`;
    }
    const head = `{"event_ts":${seconds},"members":[${nodes.join(',')}]`;
    return text === '' ? `${head}}` : `${head},"properties":{${text}}}`;
  };
}

function addNodes(
  nodes: number[],
  cell: unknown,
  { members, names: columns }: RowPlan,
  index: number,
  names: NodeNames | undefined,
  seconds: number,
): void {
  if (cell === null || cell === undefined) return;
  const isList = Array.isArray(cell) || ArrayBuffer.isView(cell);
  const parts = isList
    ? Array.from(cell as ArrayLike<unknown>)
    : typeof cell === 'string'
      ? partsOf(cell, members.separator)
      : [cell];
  for (const part of parts) {
    const text = String(part ?? '').trim();
    if (text === '') continue;
    if (names !== undefined) nodes.push(names.numberOf(text, seconds));
    else if (INTEGER.test(text) && Number.isSafeInteger(Number(text))) nodes.push(Number(text));
    else
      throw fault(
        `${columns[index]} holds ${JSON.stringify(text.slice(0, 40))}, but nodes are integers here; --member-ids name gives names numbers.`,
      );
  }
}

function fault(message: string): HedgerowError {
  return new HedgerowError('invalid_input', message);
}
