// Reads the live edges of a time window at one snapshot: in this thread, or as pieces for another
// thread that opens the segment files itself.

import { type ColumnBlock, type IncidenceColumns, readColumnBlocks } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { Snapshot } from '../table/snapshot.ts';
import type { Table } from '../table/table.ts';
import { Version } from '../table/version.ts';
import { EDGE_PLAN, joinBlocks } from './edge-columns.ts';
import { Scan } from './scan.ts';
import { firstReaching } from './scan-view.ts';

/** In seconds, both bounds inclusive; infinite: unbounded. */
export interface EdgeWindow {
  readonly startTs: number;
  readonly endTs: number;
}

/** Plain values that can be sent to another thread. */
export type EdgePiece =
  | {
      kind: 'segment';
      path: string;
      bytes: number;
      /** Checksum in its header. */
      checksum: number;
      /** Whether the segment still needs a deep check. */
      deep: boolean;
      /** Rows that are dead at the snapshot, ascending. */
      dead: Uint32Array<ArrayBuffer>;
    }
  /** Column blocks of rows that are in no segment, in key order; the buffer is not shared. */
  | { kind: 'rows'; blocks: Uint8Array<ArrayBuffer> };

/** Pins its snapshot until `release`. */
export class EdgeRead {
  readonly window: EdgeWindow;
  readonly lsn: number;
  /**
   * Equal tokens of two reads, while the database runs, mean equal rows; a compaction keeps the
   * token.
   */
  readonly token: string;
  readonly tableId: number;
  readonly bucketSeconds: number;
  readonly #table: Table;
  readonly #snapshot: Snapshot;
  #pieces: Generator<EdgePiece, void, void> | undefined;

  /** Throws `table_not_found` or `table_corrupt`. */
  constructor(table: Table, window: EdgeWindow) {
    this.window = window;
    this.#table = table;
    // Read in the same turn as the snapshot, so that both describe the same state.
    this.token = table.contentTag;
    this.#snapshot = table.snapshot();
    this.lsn = this.#snapshot.lsn;
    this.tableId = table.id;
    this.bucketSeconds = table.bucketSeconds;
  }

  /** Upper bound of the rows in the window, from headers and counts alone. */
  get mostRows(): number {
    let rows = 0;
    for (const { facts } of this.#segments()) rows += facts.rows;
    for (const { memtable } of this.#snapshot.version.memtables) rows += memtable.rows;
    return rows;
  }

  /**
   * The edges; undefined if they have more than `mostMembers` members in total. A step takes at
   * most a few ms. Throws `table_corrupt`.
   */
  *here(mostMembers: number): Generator<number, IncidenceColumns | undefined, void> {
    const { startTs, endTs } = this.window;
    const scan = this.#table.scan({ format: 'columns', columns: EDGE_PLAN, startTs, endTs }, this.#snapshot);
    const blocks: ColumnBlock[] = [];
    let members = 0;
    try {
      for (let bytes = scan.next(); bytes !== null; bytes = scan.next()) {
        for (const block of readColumnBlocks(bytes, EDGE_PLAN)) {
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
   * The next piece for `readEdges`; null at the end. Takes at most a few ms. Throws `overloaded`.
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
    // A version with only the memtables; the snapshot pins the real one.
    const version = new Version([], this.#snapshot.version.memtables, this.bucketSeconds);
    const view = { version, lsn: this.lsn, overlay: undefined };
    const scan = new Scan(this.#table, view, { format: 'columns', columns: EDGE_PLAN, startTs, endTs });
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
   * Translates an error of `readEdges`: a corrupt file makes the table refuse, as it would if this
   * thread had read it.
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
