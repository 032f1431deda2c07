// COPY FROM into a node table: a node whose key is known is replaced, any other is created. All
// rows are one commit.

import type { Database, PropertyValue, Table, Transaction } from '../../engine/index.ts';
import { keyProblem, type NodeKey } from '../../model/node-refs.ts';
import type { RowBatch } from './rows.ts';

export class NodeCopy {
  readonly #table: Table;
  readonly #keyName: string;
  readonly #transaction: Transaction;
  count = 0;

  constructor(database: Database, table: Table) {
    this.#table = table;
    this.#keyName = database.nodes.keyName(table);
    this.#transaction = database.begin();
  }

  /** Approximate memory in bytes that the rows take until the commit. */
  get bytes(): number {
    return this.#transaction.heldBytes;
  }

  /** Stages one row of the file, unless it is blank. Throws the fault in the row. */
  add(batch: RowBatch, index: number): void {
    const row = batch.edge(index);
    if (row === undefined) return;
    const properties = (row.properties ?? {}) as Record<string, PropertyValue>;
    const table = this.#table;
    const kind = table.context.nodes.kindOf(table);
    const key = properties[this.#keyName];
    const number = keyProblem(key, kind) === undefined ? this.#transaction.nodes.find(kind, key as NodeKey) : 0;
    if (number === 0) this.#transaction.insertNode(table, properties);
    else
      this.#transaction.changeRow(
        table,
        { eventTs: number, id: number },
        { event_ts: number, members: [number], properties },
      );
    this.count += 1;
  }

  commit(attach?: Parameters<Transaction['commit']>[0]): ReturnType<Transaction['commit']> {
    return this.#transaction.commit(attach);
  }

  /** Gives up what was not committed. */
  discard(): void {
    this.#transaction.rollback();
  }
}
