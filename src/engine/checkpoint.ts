// The manifest's document: every table's definition, segments and applied LSN, the small documents and the files of stored answers, at one moment.

import { corruption } from '../errors.ts';
import type { TableDefinition } from './catalog.ts';
import type { StoredDocuments } from './documents.ts';
import type { StoredReplays } from './replay-files.ts';
import type { SegmentEntry } from './segments-on-disk.ts';
import type { Table } from './table.ts';

export interface CheckpointTable {
  definition: TableDefinition;
  /** Operations of the table up to here are in its segments. */
  appliedLsn: number;
  nextId: number;
  nextSegment: number;
  segments: SegmentEntry[];
  /** How often a compaction dropped live rows (TTL): what the table holds, as nothing in the log says it. Missing: never. */
  expirations?: number;
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

/** The document for the tables as they are, but for `changed`, which gets new segments. `lsn` must be durable. */
export function makeCheckpoint(
  tables: Iterable<Table>,
  lsn: number,
  nextTableId: number,
  changed?: ChangedTable,
): Checkpoint {
  const items: CheckpointTable[] = [];
  for (const table of tables) {
    const isChanged = changed?.table === table;
    const expirations = table.expirations + (isChanged && changed.expired ? 1 : 0);
    items.push({
      definition: table.definition,
      appliedLsn: isChanged ? changed.appliedLsn : table.appliedLsn,
      nextId: table.nextId,
      nextSegment: table.nextSegment,
      segments: isChanged ? [...changed.segments] : segmentsOf(table),
      ...(expirations > 0 ? { expirations } : {}),
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
