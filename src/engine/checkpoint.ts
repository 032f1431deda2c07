// The manifest's document: every table's definition, segments and applied LSN at one moment.

import { corruption } from '../errors.ts';
import type { TableDefinition } from './catalog.ts';
import type { SegmentEntry } from './segments-on-disk.ts';
import type { Table } from './table.ts';

export interface CheckpointTable {
  definition: TableDefinition;
  /** Operations of the table up to here are in its segments. */
  appliedLsn: number;
  nextId: number;
  nextSegment: number;
  segments: SegmentEntry[];
}

export interface Checkpoint {
  format: 1;
  /** Catalog operations up to here are in the document; newest LSN that any segment can hold. */
  lsn: number;
  nextTableId: number;
  tables: CheckpointTable[];
}

/** The document for the tables as they are, but for `changed`, which gets new segments. `lsn` must be durable. */
export function makeCheckpoint(
  tables: Iterable<Table>,
  lsn: number,
  nextTableId: number,
  changed?: { table: Table; segments: readonly SegmentEntry[]; appliedLsn: number },
): Checkpoint {
  const items: CheckpointTable[] = [];
  for (const table of tables) {
    const isChanged = changed?.table === table;
    items.push({
      definition: table.definition,
      appliedLsn: isChanged ? changed.appliedLsn : table.appliedLsn,
      nextId: table.nextId,
      nextSegment: table.nextSegment,
      segments: isChanged ? [...changed.segments] : segmentsOf(table),
    });
  }
  return { format: 1, lsn, nextTableId, tables: items };
}

/** The segments that a manifest lists for the table. */
export function segmentsOf(table: Table): SegmentEntry[] {
  return table.unopened
    ? [...table.unopened]
    : table.version.segments.map(({ number, facts }) => ({ number, bytes: facts.bytes }));
}

/** Least LSN that some table still needs the log from, minus one. */
export function appliedEverywhere(checkpoint: Checkpoint): number {
  return checkpoint.tables.reduce((least, table) => Math.min(least, table.appliedLsn), checkpoint.lsn);
}

/** Checks the shape of a document that came from disk. Throws `corrupt`. */
export function checkCheckpoint(value: unknown, path: string): Checkpoint {
  const document = value as Partial<Checkpoint> | null;
  if (document?.format !== 1 || !Array.isArray(document.tables) || typeof document.lsn !== 'number') {
    throw corruption(path, 0, 'the document is not a checkpoint of format 1');
  }
  return document as Checkpoint;
}
