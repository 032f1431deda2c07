// Fills the dictionary of keys from the rows of the node tables, when the database opens.

import { buildColumnPlan, type ColumnBlock, readColumnBlocks } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import { inSlices, type Steps } from '../../schedule/steps.ts';
import type { EngineContext } from '../context.ts';
import type { Table } from '../table/table.ts';

export interface LoadedTables {
  all(): Iterable<Table>;
  readonly nextNumber: number;
}

/**
 * Adds the keys of all live nodes. About a microsecond per node. A node table with a corrupt file
 * is passed over: it refuses all requests, as do reads of tables whose members are its nodes.
 * Rejects with `overloaded` if there is no memory for the keys.
 */
export async function loadKeys(context: EngineContext, tables: LoadedTables): Promise<void> {
  const nodeTables = [...tables.all()].filter(({ isOfNodes }) => isOfNodes);
  if (nodeTables.length === 0 && tables.nextNumber === 1) return;
  const { nodes, nowUs, pauses } = context;
  const { keys } = nodes;
  for (const table of nodeTables) {
    if (table.corrupt === null) await inSlices(addAll(table, context), { nowUs, pause: pauses.checkpoint });
    keys.next = Math.max(keys.next, table.nextId);
  }
  keys.next = Math.max(keys.next, tables.nextNumber);
  nodes.charge();
}

function* addAll(table: Table, context: EngineContext): Steps<void> {
  const { nodes } = context;
  const kind = nodes.kindOf(table);
  const type = kind.isInteger ? 'INTEGER' : 'TEXT';
  const columns = buildColumnPlan({ ids: true, columns: [{ id: kind.keyColumn, type, missing: null }] });
  const scan = table.scan({ format: 'columns', columns });
  try {
    for (let bytes = scan.next(); bytes !== null; bytes = scan.next()) {
      for (const block of readColumnBlocks(bytes, columns)) addBlock(block);
      yield undefined;
    }
  } catch (error) {
    // The table refuses requests from now on.
    if (!(error instanceof HedgerowError) || error.code !== 'table_corrupt') throw error;
  } finally {
    scan.close();
  }

  function addBlock({ rows, ids, columns: [column] }: ColumnBlock): void {
    for (let row = 0; row < rows; row++) {
      const key = column!.kind === 'text' ? column!.texts[column!.codes[row]!]! : column!.values[row]!;
      nodes.keys.add(kind.slot, key, ids[row]!);
    }
  }
}
