// The type of the manifest's document, called a checkpoint: the definition, segments and applied
// LSN of every table, the small documents, and the files of stored answers, all at one moment.

import { corruption } from '../../errors.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import type { StoredDocuments } from '../catalog/documents.ts';
import type { StoredHistory } from '../changes/change-history.ts';
import type { StoredReplays } from '../idempotency/answer-files.ts';
import { entryOf, type SegmentEntry } from '../table/segments-on-disk.ts';
import type { Table } from '../table/table.ts';
import { checkpointProblem } from './checkpoint-shape.ts';

export interface CheckpointTable {
  definition: TableDefinition;
  /** All operations of the table up to this LSN are in its segments. */
  appliedLsn: number;
  nextId: number;
  nextSegment: number;
  segments: SegmentEntry[];
  /**
   * Files with operations that were copied out of the log while the table was corrupt, and are in
   * no segment yet (held-operations.ts). Oldest file first; absent if there are none.
   */
  held?: readonly HeldEntry[];
  /**
   * Number of compactions that dropped live rows (TTL); absent if there were none. The log does not
   * record such drops, so this number distinguishes the states before and after one.
   */
  expirations?: number;
  /**
   * All rows before this time (epoch seconds) were dropped, but the log may not say so yet
   * (catalog/expiration.ts). Absent if there is nothing to record.
   */
  unlogged?: number;
}

/** A file of held operations as listed in the manifest. */
export interface HeldEntry {
  number: number;
  bytes: number;
  /** The table's operations up to this LSN are all in segments or in held files. */
  lsn: number;
}

export interface Checkpoint {
  format: 1;
  /**
   * Catalog operations up to this LSN are included. No segment contains operations above this LSN.
   */
  lsn: number;
  nextTableId: number;
  /** Number of the next node as far as dropped node tables tell; absent if none was dropped. */
  nextNumber?: number;
  tables: CheckpointTable[];
  /** The documents as of `lsn`. Older manifests lack this field and have no documents. */
  documents?: StoredDocuments[];
  /** Older manifests lack this field and have no stored answers. */
  replays?: StoredReplays;
  /** Missing if no changes are kept for readers. */
  changes?: StoredHistory;
}

/** A table that gets new segments with the manifest. */
export interface ChangedTable {
  table: Table;
  segments: readonly SegmentEntry[];
  appliedLsn: number;
  /** The time before which live rows were dropped (TTL); undefined if none were. */
  droppedTs: number | undefined;
}

/** Returns the segments that a manifest lists for the table. */
export function segmentsOf(table: Table): SegmentEntry[] {
  return table.unopened ? [...table.unopened] : table.version.segments.map(entryOf);
}

/** Returns the LSN up to which no table needs the log. */
export function appliedEverywhere(checkpoint: Checkpoint): number {
  return checkpoint.tables.reduce((least, table) => Math.min(least, neededAfter(table)), checkpoint.lsn);
}

/** Returns the LSN up to which the table does not need the log. */
export function neededAfter({ appliedLsn, held }: Pick<CheckpointTable, 'appliedLsn' | 'held'>): number {
  return Math.max(appliedLsn, held?.[held.length - 1]?.lsn ?? 0);
}

/** Checks the shape of a document read from disk. Throws `corrupt`. */
export function checkCheckpoint(value: unknown, path: string): Checkpoint {
  const problem = checkpointProblem(value);
  if (problem !== null) throw corruption(path, 0, `the document is not a checkpoint of format 1 (${problem})`);
  return value as Checkpoint;
}
