// Reads the live edges in a time window at one snapshot: in this thread, or as pieces for another
// thread, which opens the segment files itself.

import { type ColumnBlock, type IncidenceColumns, readColumnBlocks } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { Snapshot } from '../table/snapshot.ts';
import type { Table } from '../table/table.ts';
import { Version } from '../table/version.ts';
import { edgePlan, joinBlocks } from './edge-columns.ts';
import { Scan } from './scan.ts';
import { firstReaching } from './scan-view.ts';

/** A time window in epoch seconds. Both bounds are inclusive; an infinite bound is no limit. */
export interface EdgeWindow {
  readonly startTs: number;
  readonly endTs: number;
}

/** One piece of the edges, as plain values that can be sent to another thread. */
export type EdgePiece =
  | {
      kind: 'segment';
      path: string;
      bytes: number;
      /** The checksum stored in the segment's header. */
      checksum: number;
      /** Whether the segment still needs a deep check. */
      deep: boolean;
      /** Rows that are dead at the snapshot, ascending. */
      dead: Uint32Array<ArrayBuffer>;
    }
  /** Column blocks of the rows in memtables, in key order. The buffer is not shared. */
  | { kind: 'rows'; blocks: Uint8Array<ArrayBuffer> };

/** A read of the edges in a time window. It pins its snapshot until `release` is called. */
export class EdgeRead {
  readonly window: EdgeWindow;
  readonly lsn: number;
  /**
   * If two reads in the same run of the database have equal tokens, the table has the same rows in
   * both. A compaction changes the token only if it drops rows (TTL).
   */
  readonly token: string;
  readonly tableId: number;
  readonly bucketSeconds: number;
  /** Whether the edges have role masks. */
  readonly hasRoles: boolean;
  readonly #table: Table;
  readonly #snapshot: Snapshot;
  #pieces: Generator<EdgePiece, void, void> | undefined;

  /** Throws `table_not_found` or `table_corrupt`. */
  constructor(table: Table, window: EdgeWindow) {
    this.window = window;
    this.#table = table;
    // The token is read in the same turn as the snapshot, so that both describe the same state.
    this.token = table.contentTag;
    this.#snapshot = table.snapshot();
    this.lsn = this.#snapshot.lsn;
    this.tableId = table.id;
    this.bucketSeconds = table.bucketSeconds;
    this.hasRoles = !table.roles.isEmpty;
  }

  /** Upper bound for the number of rows in the window, computed without reading rows. */
  get mostRows(): number {
    let rows = 0;
    for (const { facts } of this.#segments()) rows += facts.rows;
    for (const { memtable } of this.#snapshot.version.memtables) rows += memtable.rows;
    return rows;
  }

  /**
   * Reads the edges in this thread. Returns undefined if they have more than `mostMembers` members
   * in total. A step takes at most a few ms. Throws `table_corrupt`.
   */
  *here(mostMembers: number): Generator<number, IncidenceColumns | undefined, void> {
    const { startTs, endTs } = this.window;
    const columns = edgePlan(this.hasRoles);
    const scan = this.#table.scan({ format: 'columns', columns, startTs, endTs }, this.#snapshot);
    const blocks: ColumnBlock[] = [];
    let members = 0;
    try {
      for (let bytes = scan.next(); bytes !== null; bytes = scan.next()) {
        for (const block of readColumnBlocks(bytes, columns)) {
          blocks.push(block);
          members += block.members.length;
        }
        if (members > mostMembers) return undefined;
        yield 0;
      }
    } finally {
      scan.close();
    }
    return yield* joinBlocks(blocks, []);
  }

  /**
   * Returns the next piece for `readEdges`, or null at the end. Takes at most a few ms. Throws
   * `overloaded`.
   */
  nextPiece(): EdgePiece | null {
    this.#pieces ??= this.#allPieces();
    const step = this.#pieces.next();
    return step.done ? null : step.value;
  }

  *#allPieces(): Generator<EdgePiece, void, void> {
    for (const segment of this.#segments()) {
      const { path, facts, checked } = segment;
      const { bytes, checksum } = facts;
      yield { kind: 'segment', path, bytes, checksum, deep: !checked, dead: deadAt(segment, this.lsn) };
    }
    const { startTs, endTs } = this.window;
    // This version has only the memtables. The snapshot keeps the version with all sources pinned.
    const version = new Version([], this.#snapshot.version.memtables, this.bucketSeconds);
    const view = { version, lsn: this.lsn, overlay: undefined };
    const scan = new Scan(this.#table, view, { format: 'columns', columns: edgePlan(this.hasRoles), startTs, endTs });
    try {
      for (let blocks = scan.next(); blocks !== null; blocks = scan.next()) yield { kind: 'rows', blocks };
    } finally {
      scan.close();
    }
  }

  #segments(): SegmentFile[] {
    const { segments } = this.#snapshot.version;
    const reaching = segments.slice(firstReaching(segments, this.window.startTs));
    return reaching.filter(({ facts }) => facts.timeMin <= this.window.endTs);
  }

  /**
   * Translates an error thrown by `readEdges`. A corrupt file makes the table refuse requests, as
   * if this thread had read the file.
   */
  errorOf(error: unknown): unknown {
    if (!(error instanceof HedgerowError) || error.code !== 'corrupt') return error;
    this.#table.refuse(error);
    try {
      this.#table.assertUsable(this.#snapshot);
    } catch (refusal) {
      return refusal;
    }
    return error;
  }

  /** Releases the snapshot; further calls do nothing. */
  release(): void {
    this.#pieces?.return();
    this.#snapshot.release();
  }
}

function deadAt({ dead }: SegmentFile, lsn: number): Uint32Array<ArrayBuffer> {
  const rows = new Uint32Array(dead.count);
  let count = 0;
  for (let at = 0; at < dead.count; at++) if (dead.lsns[at]! <= lsn) rows[count++] = dead.rows[at]!;
  return rows.slice(0, count);
}
