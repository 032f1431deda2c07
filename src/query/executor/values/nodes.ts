// Evaluates keys of nodes: the internal numbers by which members are stored, or keys with their
// kinds as they are written.

import { nodeNumber } from '../../../engine/index.ts';
import type { BoundNode, Value } from '../../binder/bound.ts';
import type { Environment } from './evaluate.ts';
import { type ConstantVector, constant, type Vector, valueAt } from './vector.ts';

/** The LSN of a reader that sees the newest state. */
const NEWEST = Number.POSITIVE_INFINITY;

/**
 * Evaluates a node. The number of a key that no node has is 0, which is no member of any edge. In
 * one run, a key that is a constant is looked up once; a list then is the same array for every
 * batch.
 */
export function nodeVector(node: BoundNode, key: Vector, count: number, { nodes, lsn }: Environment): Vector {
  if (key.kind !== 'constant') return keysOfRows(node, key, count, lsn);
  const known = nodes?.get(node);
  if (known !== undefined) return known;
  const { value } = key;
  const vector = constant(
    Array.isArray(value) ? value.map((item: Value) => nodeOf(node, item, lsn)) : nodeOf(node, value, lsn),
  ) as ConstantVector;
  nodes?.set(node, vector);
  return vector;
}

function nodeOf({ nodes, as }: BoundNode, key: Value, lsn = NEWEST): Value {
  if (key === null) return null;
  return as === 'number' ? nodeNumber(nodes, key, lsn) : { kind: nodes.name, key };
}

function keysOfRows(node: BoundNode, key: Vector, count: number, lsn = NEWEST): Vector {
  if (node.as === 'reference')
    return { kind: 'value', values: Array.from({ length: count }, (_, i) => nodeOf(node, valueAt(key, i), lsn)) };
  const values = new Float64Array(count);
  const nulls = new Uint8Array(count);
  const known = new Map<Value, number>();
  for (let i = 0; i < count; i++) {
    const value = valueAt(key, i);
    if (value === null) {
      nulls[i] = 1;
      continue;
    }
    let number = known.get(value);
    if (number === undefined) {
      number = nodeNumber(node.nodes, value, lsn);
      known.set(value, number);
    }
    values[i] = number;
  }
  return { kind: 'number', values, nulls: nulls.includes(1) ? nulls : undefined };
}
