// Evaluates AND, OR, NOT and IS NULL on vectors in SQL's three-valued logic: true, false, unknown.

import { type BooleanVector, constant, isNullAt, type Vector } from './vector.ts';

/**
 * Returns for each row false if a value is false, else unknown if a value is unknown, else true.
 */
export function conjunction(vectors: readonly Vector[], count: number): Vector {
  return combine(vectors, count, 0);
}

/** Returns for each row true if a value is true, else unknown if a value is unknown, else false. */
export function disjunction(vectors: readonly Vector[], count: number): Vector {
  return combine(vectors, count, 1);
}

/** `deciding` is the value that decides the result, whatever the other values are. */
function combine(vectors: readonly Vector[], count: number, deciding: 0 | 1): Vector {
  const decided = new Uint8Array(count);
  const unknown = new Uint8Array(count);
  for (const vector of vectors) {
    if (vector.kind === 'constant') {
      if (vector.value === null) unknown.fill(1);
      else if (Number(vector.value) === deciding) return constant(deciding === 1);
      continue;
    }
    const { values, nulls } = vector as BooleanVector;
    if (nulls === undefined) {
      for (let i = 0; i < count; i++) decided[i]! |= values[i] === deciding ? 1 : 0;
    } else {
      for (let i = 0; i < count; i++) {
        if (nulls[i] === 1) unknown[i] = 1;
        else if (values[i] === deciding) decided[i] = 1;
      }
    }
  }
  const values = new Uint8Array(count);
  for (let i = 0; i < count; i++) {
    values[i] = decided[i] === 1 ? deciding : 1 - deciding;
    unknown[i]! &= decided[i]! ^ 1;
  }
  return { kind: 'boolean', values, nulls: unknown.includes(1) ? unknown : undefined };
}

export function inverted(vector: Vector): Vector {
  if (vector.kind === 'constant') return vector.value === null ? vector : constant(vector.value !== true);
  const { values, nulls } = vector as BooleanVector;
  const result = new Uint8Array(values.length);
  for (let i = 0, end = values.length; i < end; i++) result[i] = values[i]! ^ 1;
  return { kind: 'boolean', values: result, nulls };
}

export function nullTest(vector: Vector, count: number): Vector {
  if (vector.kind === 'constant') return constant(vector.value === null);
  const values = new Uint8Array(count);
  for (let i = 0; i < count; i++) values[i] = isNullAt(vector, i) ? 1 : 0;
  return { kind: 'boolean', values, nulls: undefined };
}
