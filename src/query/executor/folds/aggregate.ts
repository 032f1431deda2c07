// Groups rows by keys and computes aggregates.

import type { BoundAggregate, BoundExpression } from '../../binder/bound.ts';
import type { QueryContext } from '../context.ts';
import type { Batch } from '../rows/row-set.ts';
import type { Vector } from '../values/vector.ts';
import { type Accumulator, Average, Collect, Count, Extreme, type GroupsOf, Sum } from './accumulators.ts';
import { DistinctAccumulator } from './distinct-accumulator.ts';
import { Groups } from './groups.ts';
import { OwnGroups } from './own-groups.ts';

/**
 * Approximate memory in bytes that an aggregate takes per group: some numbers, and as much again
 * for growth.
 */
const BYTES_OF_AGGREGATE = 48;

export class Aggregator {
  readonly #context: QueryContext;
  readonly #groups: Groups | OwnGroups;
  readonly aggregates: readonly BoundAggregate[];
  readonly #accumulators: readonly Accumulator[];

  /** `areOwn` means that the keys of all rows that will be added differ. */
  constructor(
    keys: readonly BoundExpression[],
    aggregates: readonly BoundAggregate[],
    context: QueryContext,
    areOwn = false,
  ) {
    this.#context = context;
    this.#groups = new (areOwn ? OwnGroups : Groups)(keys, context, aggregates.length * BYTES_OF_AGGREGATE);
    this.aggregates = aggregates;
    this.#accumulators = aggregates.map((aggregate) => accumulatorOf(aggregate, context));
  }

  get groups(): number {
    return this.#groups.count;
  }

  /**
   * Adds rows. Each key and each aggregate is a step of its own, since the memory of very many of
   * them may have to grow in the same batch. The first one is not in the step that read the rows.
   * `times` contains the number of occurrences of each row.
   */
  *add(batch: Batch, times?: Uint32Array): Generator<null, void, void> {
    yield null;
    const groups = yield* this.groupsOf(batch);
    for (const index of this.aggregates.keys()) {
      if (groups !== undefined || index > 0) yield null;
      this.addRows(index, batch, groups, times);
    }
  }

  /** Returns the group of each row in a batch, or undefined if there are no keys. */
  groupsOf(batch: Batch): Generator<null, GroupsOf, void> {
    return this.#groups.of(batch);
  }

  /** Returns the accumulator, with room for all groups. */
  #accumulator(index: number): Accumulator {
    const accumulator = this.#accumulators[index]!;
    accumulator.reserve(this.#groups.count);
    return accumulator;
  }

  /** Adds rows to one aggregate. `times` contains the number of occurrences of each row. */
  addRows(index: number, batch: Batch, groups: GroupsOf, times?: Uint32Array): void {
    const { operand } = this.aggregates[index]!;
    const vector = operand && this.#context.transient(operand, batch);
    this.#accumulator(index).add(vector, groups, batch.count, times);
  }

  /** Adds figures to one aggregate. The core computed them for the rows of a segment. */
  addFigures(index: number, figures: Float64Array, groups: Uint32Array): void {
    this.#accumulator(index).addFigures(figures, groups);
  }

  /** Returns the keys of the groups [from, to). */
  keys(from: number, to: number): Vector[] {
    return this.#groups.keys(from, to);
  }

  /** Returns the results of an aggregate for the groups [from, to). */
  aggregate(index: number, from: number, to: number): Vector {
    return this.#accumulator(index).results(from, to);
  }
}

function accumulatorOf(aggregate: BoundAggregate, context: QueryContext): Accumulator {
  const { operand } = aggregate;
  if (aggregate.distinct && operand !== undefined)
    return new DistinctAccumulator(accumulatorOf({ ...aggregate, distinct: false }, context), operand.type, context);
  switch (aggregate.function) {
    case 'COUNT':
      return new Count();
    case 'SUM':
      return new Sum(aggregate);
    case 'AVG':
      return new Average();
    case 'COLLECT':
      return new Collect(context);
    case 'MIN':
      return new Extreme(-1, aggregate.type, context);
    case 'MAX':
      return new Extreme(1, aggregate.type, context);
  }
}
