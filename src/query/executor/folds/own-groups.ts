// The groups of rows of which each is a group of its own, since one of their keys, such as the key
// of a node, differs in all of them. Nothing has to be looked up: the keys are kept as they were
// computed.

import type { BoundExpression } from '../../binder/bound.ts';
import type { QueryContext } from '../context.ts';
import { HeldBytes } from '../memory.ts';
import type { Batch } from '../rows/row-set.ts';
import { evaluate } from '../values/evaluate.ts';
import { type Vector, valueAt, vectorOf } from '../values/vector.ts';

/** The rows that were added together. */
interface Part {
  /** The first row and the row after the last one. */
  readonly from: number;
  readonly to: number;
  readonly keys: readonly Vector[];
}

export class OwnGroups {
  readonly #context: QueryContext;
  readonly #keys: readonly BoundExpression[];
  readonly #bytesOfGroup: number;
  readonly #held = new HeldBytes();
  readonly #parts: Part[] = [];
  /** The part in which the last range began, since ranges are asked for in order. */
  #last = 0;
  #count = 0;

  /** `bytesOfGroup` is the number of bytes that the caller keeps for each group. */
  constructor(keys: readonly BoundExpression[], context: QueryContext, bytesOfGroup: number) {
    this.#context = context;
    this.#keys = keys;
    this.#bytesOfGroup = bytesOfGroup;
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the group of each row in a batch. */
  *of(batch: Batch): Generator<null, Uint32Array, void> {
    const from = this.#count;
    this.#count += batch.count;
    const keys: Vector[] = [];
    for (const key of this.#keys) {
      if (keys.length > 0) yield null;
      const vector = evaluate(key, batch, this.#context.environment);
      this.#context.charge(this.#held.ofVector(vector, batch.count));
      keys.push(vector);
    }
    this.#context.charge(batch.count * this.#bytesOfGroup);
    if (batch.count > 0) this.#parts.push({ from, to: this.#count, keys });
    const groups = new Uint32Array(batch.count);
    for (let i = 0, end = groups.length; i < end; i++) groups[i] = from + i;
    return groups;
  }

  /** Returns the keys of the groups [from, to). */
  keys(from: number, to: number): Vector[] {
    if (from === to) return this.#keys.map(({ type }) => vectorOf([], type));
    const parts = this.#partsOf(from, to);
    return this.#keys.map(({ type }, index) => {
      const slices = parts.map((part) =>
        slice(part.keys[index]!, Math.max(from, part.from) - part.from, Math.min(to, part.to) - part.from),
      );
      return slices.length === 1 ? slices[0]!.vector : vectorOf(slices.flatMap(valuesOf), type);
    });
  }

  #partsOf(from: number, to: number): Part[] {
    if (this.#parts[this.#last]!.from > from) this.#last = 0;
    while (this.#parts[this.#last]!.to <= from) this.#last++;
    const parts: Part[] = [];
    for (let at = this.#last; at < this.#parts.length && this.#parts[at]!.from < to; at++) parts.push(this.#parts[at]!);
    return parts;
  }
}

interface Slice {
  readonly vector: Vector;
  readonly count: number;
}

/** Returns the values [from, to) of a vector, without copying those of typed arrays. */
function slice(vector: Vector, from: number, to: number): Slice {
  const count = to - from;
  if (vector.kind === 'constant') return { vector, count };
  if (vector.kind === 'value') return { vector: { kind: 'value', values: vector.values.slice(from, to) }, count };
  const nulls = vector.nulls?.subarray(from, to);
  if (vector.kind === 'text')
    return { vector: { kind: 'text', codes: vector.codes.subarray(from, to), texts: vector.texts, nulls }, count };
  if (vector.kind === 'number')
    return { vector: { kind: 'number', values: vector.values.subarray(from, to), nulls }, count };
  return { vector: { kind: 'boolean', values: vector.values.subarray(from, to), nulls }, count };
}

function valuesOf({ vector, count }: Slice): ReturnType<typeof valueAt>[] {
  return Array.from({ length: count }, (_, index) => valueAt(vector, index));
}
