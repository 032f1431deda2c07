// The manifest's document: every table's definition, segments and applied LSN, the small documents and the files of stored answers, at one moment.

import { corruption } from '../../errors.ts';
import type { TableDefinition } from '../catalog/catalog.ts';
import type { StoredDocuments } from '../catalog/documents.ts';
import type { StoredReplays } from '../idempotency/answer-files.ts';
import { entryOf, type SegmentEntry } from '../table/segments-on-disk.ts';
import type { Table } from '../table/table.ts';
import { checkpointProblem } from './checkpoint-shape.ts';

export interface CheckpointTable {
  definition: TableDefinition;
  /** Operations of the table up to here are in its segments. */
  appliedLsn: number;
  nextId: number;
  nextSegment: number;
  segments: SegmentEntry[];
  /**
   * Files of operations of the table that are in no segment and that the log need not keep (held-operations.ts), oldest first. Missing: none. The table was
   * corrupt when they were written.
   */
  held?: readonly HeldEntry[];
  /** How often a compaction dropped live rows (TTL): what the table holds, as nothing in the log says it. Missing: never. */
  expirations?: number;
}

/** A file of operations as the manifest lists it. */
export interface HeldEntry {
  number: number;
  bytes: number;
  /** The table's operations up to here are in segments or in files of operations. */
  lsn: number;
}

export interface Checkpoint {
  format: 1;
  /** Catalog operations up to here are in the document; newest LSN that any segment can hold. */
  lsn: number;
  nextTableId: number;
  tables: CheckpointTable[];
  /** As of `lsn`. Missing in older manifests: none. */
  documents?: StoredDocuments[];
  /** Missing in older manifests: none. */
  replays?: StoredReplays;
}

/** A table that gets new segments with the manifest. */
export interface ChangedTable {
  table: Table;
  segments: readonly SegmentEntry[];
  appliedLsn: number;
  /** Live rows are dropped with it. */
  expired: boolean;
}

/** The segments that a manifest lists for the table. */
export function segmentsOf(table: Table): SegmentEntry[] {
  return table.unopened ? [...table.unopened] : table.version.segments.map(entryOf);
}

/** Least LSN that some table still needs the log from, minus one. */
export function appliedEverywhere(checkpoint: Checkpoint): number {
  return checkpoint.tables.reduce((least, table) => Math.min(least, neededAfter(table)), checkpoint.lsn);
}

/** The table needs nothing of the log up to here. */
export function neededAfter({ appliedLsn, held }: Pick<CheckpointTable, 'appliedLsn' | 'held'>): number {
  return Math.max(appliedLsn, held?.[held.length - 1]?.lsn ?? 0);
}

/** Checks the shape of a document that came from disk. Throws `corrupt`. */
export function checkCheckpoint(value: unknown, path: string): Checkpoint {
  const problem = checkpointProblem(value);
  if (problem !== null) throw corruption(path, 0, `the document is not a checkpoint of format 1 (${problem})`);
  return value as Checkpoint;
}
