// Batches for encoding edges, kept for the next bulk insert of a table.

import { assert } from '../../assert.ts';
import { EdgeBatch } from '../../core/index.ts';
import type { Table } from './table.ts';

const MOST_KEPT = 2;

export class EdgeBatches {
  readonly #table: Table;
  readonly #free: EdgeBatch[] = [];

  constructor(table: Table) {
    this.#table = table;
  }

  take(): EdgeBatch {
    const { context, kinds } = this.#table;
    if (kinds !== undefined) return context.nodes.takeBatch();
    return this.#free.pop() ?? new EdgeBatch(context.residency.instance());
  }

  give(batch: EdgeBatch): void {
    assert(batch.count === 0, 'a batch is given back empty');
    if (this.#table.kinds !== undefined) this.#table.context.nodes.giveBatch(batch);
    else if (this.#free.length < MOST_KEPT && !this.#free.includes(batch)) this.#free.push(batch);
  }
}
