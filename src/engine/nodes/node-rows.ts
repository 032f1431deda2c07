// The rows of node tables as callers write them: a key and attributes.

import { HedgerowError } from '../../errors.ts';
import type { PropertyValue } from '../../model/column-types.ts';
import { keyProblem, type NodeKey } from '../../model/node-refs.ts';
import { greatestId } from '../recovery/recovery.ts';
import type { Table } from '../table/table.ts';
import type { EdgeInput } from '../types.ts';
import { keyColumnOf } from './definitions.ts';

/**
 * Returns the key among the columns of a node. Throws `invalid_input` if it is missing or wrong.
 */
export function keyIn(table: Table, properties: Readonly<Record<string, PropertyValue | undefined>>): NodeKey {
  const { name } = keyColumnOf(table.definition);
  const lower = name.toLowerCase();
  const given = Object.keys(properties).find((each) => each.toLowerCase() === lower);
  const value = given === undefined ? undefined : properties[given];
  const kind = table.context.nodes.kindOf(table);
  const problem = value === undefined || value === null ? 'is missing' : keyProblem(value, kind);
  if (problem === undefined) return value as NodeKey;
  throw new HedgerowError('invalid_input', `${name} ${problem}.`, { errors: [{ loc: [name], msg: problem }] });
}

/** Throws `invalid_input` if a new row of a node has another key. */
export function assertKeyKept(table: Table, number: number, { properties = {} }: EdgeInput): void {
  const key = keyIn(table, properties);
  const kept = table.context.nodes.keys.keyOf(number);
  if (key === kept) return;
  const { name } = keyColumnOf(table.definition);
  throw new HedgerowError(
    'invalid_input',
    `The key of a node cannot be changed: ${name} of ${JSON.stringify(kept)} stays as it is. Create a node with the new key instead.`,
    { errors: [{ loc: [name], msg: 'is the key, which cannot be changed' }] },
  );
}

export function createdMeanwhile({ name }: Table, key: NodeKey): HedgerowError {
  return new HedgerowError(
    'conflict',
    `Another commit has created the ${name} with the key ${JSON.stringify(key)} meanwhile. Nothing was applied; begin again.`,
  );
}

export function nodeExists(table: Table, key: NodeKey): HedgerowError {
  return new HedgerowError(
    'node_exists',
    `There is a ${table.name} with the key ${JSON.stringify(key)} already; change it instead.`,
  );
}

/** Makes the keys of rows that were inserted into a node table known. */
export function applyNodes(table: Table, records: Uint8Array, count: number): void {
  const { nodes } = table.context;
  nodes.written(nodes.kindOf(table), records, count);
  table.change({ nextId: Math.max(table.nextId, greatestId(records) + 1) });
}
