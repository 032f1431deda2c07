// Checks the operations in the frames of the log, in order, as a replay would apply them.

import { RecordChecker } from '../../core/index.ts';
import { corruption } from '../../errors.ts';
import { IDENTIFIER } from '../../model/columns.ts';
import { FRAME_HEADER_BYTES } from '../../storage/index.ts';
import { type CatalogChange, isKnownChange } from '../catalog/changes.ts';
import type { DocumentChange } from '../catalog/documents.ts';
import { decodeBefore } from '../changes/before-rows.ts';
import type { Checkpoint } from '../checkpoint/checkpoint.ts';
import { decodeKills, OPERATION, type Run, readRuns } from '../commit/operations.ts';
import { decodeReplay } from '../idempotency/kept-answer.ts';
import type { FrameReport } from './log-report.ts';
import { type FileTools, type Problem, problemOf } from './problem.ts';
import type { NodeCheck } from './verify-nodes.ts';

/**
 * Numbers of operations that are in the log but not yet in a segment or a file of stored answers.
 */
export interface PendingOperations {
  /** Count by table id. */
  readonly inserts: Map<number, number>;
  /**
   * Count by table id: deletions by time and members, and kills of single rows (by deletions and
   * updates).
   */
  readonly tombstones: Map<number, number>;
  answers: number;
}

export class OperationCheck {
  readonly pending: PendingOperations = { inserts: new Map(), tombstones: new Map(), answers: 0 };
  /** Names of the tables that exist at the end of the log, by table id. */
  readonly tables = new Map<number, string>();
  /** Store and id of each document that exists at the end of the log. */
  readonly documents = new Set<string>();
  readonly #checkpoint: Checkpoint | null;
  readonly #applied: ReadonlyMap<number, number>;
  readonly #records: RecordChecker;
  readonly #problems: Problem[];
  readonly #nodes: NodeCheck;
  #nextTableId: number;

  constructor(tools: FileTools, checkpoint: Checkpoint | null, problems: Problem[], nodes: NodeCheck) {
    this.#nodes = nodes;
    this.#records = new RecordChecker(tools.core.instantiate());
    this.#checkpoint = checkpoint;
    this.#problems = problems;
    this.#nextTableId = checkpoint?.nextTableId ?? 1;
    const tables = checkpoint?.tables ?? [];
    this.#applied = new Map(tables.map(({ definition, appliedLsn }) => [definition.id, appliedLsn]));
    for (const { store, entries } of checkpoint?.documents ?? [])
      for (const [id] of entries) this.documents.add(JSON.stringify([store, id]));
    for (const { definition } of tables) this.tables.set(definition.id, definition.name);
  }

  /** Checks the next frame of the log file at `path`. */
  take(path: string, frame: FrameReport, payload: Uint8Array): void {
    let lsn = frame.first_lsn;
    for (const run of readRuns(payload, frame.operations, path)) {
      const offset = frame.offset + FRAME_HEADER_BYTES + (run.bytes.byteOffset - payload.byteOffset);
      try {
        this.#checkRun(run, lsn, path, offset);
      } catch (error) {
        this.#problems.push(problemOf(error, path));
      }
      lsn += run.operations;
    }
  }

  #checkRun(run: Run, lsn: number, path: string, offset: number): void {
    switch (run.kind) {
      case OPERATION.insert:
      case OPERATION.tombstone:
        this.#checkRecords(run, path, offset);
        this.#count(run, lsn, path, offset);
        return;
      case OPERATION.kill:
        decodeKills(run, path, offset);
        this.#count(run, lsn, path, offset);
        return;
      case OPERATION.catalog:
        this.#applyChange(parsed(run.bytes, path, offset) as CatalogChange, lsn, path, offset);
        return;
      case OPERATION.document:
        this.#applyDocument(parsed(run.bytes, path, offset) as DocumentChange | null, lsn, path, offset);
        return;
      case OPERATION.replay:
        decodeReplay(run.bytes, path, offset);
        if (lsn > (this.#checkpoint?.replays?.lsn ?? 0)) this.pending.answers++;
        return;
      case OPERATION.before:
        this.#checkBefore(run, path, offset);
        return;
      case OPERATION.more:
        return;
      default:
        throw corruption(path, offset, `it holds an operation of kind ${run.kind}, which this build does not know`);
    }
  }

  #checkBefore({ bytes }: Run, path: string, offset: number): void {
    try {
      for (const records of decodeBefore(bytes))
        for (const record of records)
          this.#checkRecords({ kind: OPERATION.insert, tableId: 0, operations: 1, bytes: record }, path, offset);
    } catch (error) {
      if (error instanceof RangeError) throw corruption(path, offset, error.message);
      throw error;
    }
  }

  #checkRecords({ bytes, operations }: Run, path: string, offset: number): void {
    const bad = this.#records.check(bytes, operations);
    if (bad >= 0) throw corruption(path, offset + bad, 'a record is malformed');
  }

  #count({ kind, tableId, operations, bytes }: Run, lsn: number, path: string, offset: number): void {
    if (tableId < 1 || tableId >= this.#nextTableId)
      throw corruption(path, offset, `it holds rows of table number ${tableId}, which was never created`);
    if (!this.tables.has(tableId) || lsn <= (this.#applied.get(tableId) ?? 0)) return;
    if (kind === OPERATION.insert) this.#nodes.inserted(tableId, bytes);
    const counts = kind === OPERATION.insert ? this.pending.inserts : this.pending.tombstones;
    counts.set(tableId, (counts.get(tableId) ?? 0) + operations);
  }

  #applyDocument(change: Partial<DocumentChange> | null, lsn: number, path: string, offset: number): void {
    const { store, id, value } = change ?? {};
    if (typeof store !== 'string' || typeof id !== 'string' || value === undefined)
      throw corruption(path, offset, 'a document lacks its store, id or value');
    if (lsn <= (this.#checkpoint?.lsn ?? 0)) return; // already in the manifest
    const key = JSON.stringify([store, id]);
    if (value === null) this.documents.delete(key);
    else this.documents.add(key);
  }

  #applyChange(change: CatalogChange, lsn: number, path: string, offset: number): void {
    if (!isKnownChange(change?.op))
      throw corruption(
        path,
        offset,
        `it holds a catalog change ${JSON.stringify((change as { op?: unknown } | null)?.op)}, which this build does not know`,
      );
    if (lsn <= (this.#checkpoint?.lsn ?? 0)) return; // already in the manifest
    if (change.op === 'drop_table') this.tables.delete(change.id);
    if (change.op === 'rename_table') this.#rename(change, path, offset);
    if (change.op !== 'create_table') return;
    const { id, name } = change.table ?? {};
    if (!Number.isSafeInteger(id) || id < this.#nextTableId || typeof name !== 'string')
      throw corruption(
        path,
        offset,
        `a table is created with the number ${id}, but the next number is ${this.#nextTableId}`,
      );
    this.#nextTableId = id + 1;
    this.tables.set(id, name);
    this.#nodes.created(change.table);
  }

  #rename({ id, name }: { id: number; name: string }, path: string, offset: number): void {
    if (typeof name !== 'string' || !IDENTIFIER.test(name))
      throw corruption(
        path,
        offset,
        `table number ${id} gets the name ${JSON.stringify(name)}, which is not an identifier`,
      );
    if (this.tables.has(id)) this.tables.set(id, name);
  }
}

function parsed(bytes: Uint8Array, path: string, offset: number): unknown {
  try {
    return JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString());
  } catch (error) {
    throw corruption(path, offset, `an operation is not JSON (${(error as Error).message})`);
  }
}
