// Groups rows by the values of their keys. Groups are numbered 0, 1, 2, ... in the order in which
// they first occur. Null keys are equal to each other.

import type { BoundExpression } from '../../binder/bound.ts';
import type { QueryContext } from '../context.ts';
import type { Batch } from '../rows/row-set.ts';
import { TupleIds } from '../rows/tuple-ids.ts';
import type { Vector } from '../values/vector.ts';

const BYTES_OF_GROUP = 48;

export class Groups {
  readonly #context: QueryContext;
  readonly #keys: readonly BoundExpression[];
  readonly #ids: TupleIds;
  readonly #bytesOfGroup: number;
  readonly #charge: (bytes: number) => void;
  #count = 0;

  /** `bytesOfGroup` is the number of bytes that the caller keeps for each group. */
  constructor(keys: readonly BoundExpression[], context: QueryContext, bytesOfGroup: number) {
    this.#context = context;
    this.#keys = keys;
    this.#ids = new TupleIds(keys.map(({ type }) => type));
    this.#bytesOfGroup = bytesOfGroup + BYTES_OF_GROUP * keys.length;
    this.#charge = (bytes) => context.charge(bytes);
    // Without keys there is one group, even if there are no rows.
    if (keys.length === 0) this.#count = 1;
    context.charge(this.#count * this.#bytesOfGroup);
  }

  get count(): number {
    return this.#count;
  }

  /** Returns the group of each row in a batch, or undefined if there are no keys. */
  *of(batch: Batch): Generator<null, Uint32Array | undefined, void> {
    if (this.#keys.length === 0) return undefined;
    const groups = yield* this.#ids.idsOf(this.#vectors(batch), batch.count, this.#charge);
    const before = this.#count;
    this.#count = this.#ids.size;
    this.#context.charge((this.#count - before) * this.#bytesOfGroup);
    return groups;
  }

  /** Returns the keys of the groups [from, to). */
  keys(from: number, to: number): Vector[] {
    return this.#keys.length === 0 ? [] : this.#ids.values(from, to);
  }

  *#vectors(batch: Batch): Generator<Vector, void, void> {
    for (const key of this.#keys) yield this.#context.transient(key, batch);
  }
}
