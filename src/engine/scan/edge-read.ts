// The live edges of a window at one snapshot: read here, or handed out in pieces to a thread that
// opens the segment files itself.

import { type ColumnBlock, type IncidenceColumns, readColumnBlocks } from '../../core/index.ts';
import { HedgerowError } from '../../errors.ts';
import type { SegmentFile } from '../table/segment-file.ts';
import type { Snapshot } from '../table/snapshot.ts';
import type { Table } from '../table/table.ts';
import { Version } from '../table/version.ts';
import { EDGE_PLAN, joinBlocks } from './edge-columns.ts';
import { Scan } from './scan.ts';
import { firstReaching } from './scan-view.ts';

/** Seconds, both included; infinite: no bound. */
export interface EdgeWindow {
  readonly startTs: number;
  readonly endTs: number;
}

/** Plain values that may cross to another thread. */
export type EdgePiece =
  | {
      kind: 'segment';
      path: string;
      bytes: number;
      /** Of its header. */
      checksum: number;
      /** It was not checked in depth yet. */
      deep: boolean;
      /** Rows that are dead at the snapshot, ascending. */
      dead: Uint32Array<ArrayBuffer>;
    }
  /** Column blocks of rows that stand in no segment, in key order: bytes of their own. */
  | { kind: 'rows'; blocks: Uint8Array<ArrayBuffer> };

/** Pins its snapshot until `release`. */
export class EdgeRead {
  readonly window: EdgeWindow;
  readonly lsn: number;
  /**
   * Equal for two reads of a running database only when the rows are equal; a compaction keeps it.
   */
  readonly token: string;
  readonly tableId: number;
  readonly bucketSeconds: number;
  readonly #table: Table;
  readonly #snapshot: Snapshot;
  #pieces: Generator<EdgePiece, void, void> | undefined;

  /** Throws `table_not_found`, `table_corrupt`. */
  constructor(table: Table, window: EdgeWindow) {
    this.window = window;
    this.#table = table;
    // In one turn with the snapshot: both tell the same state.
    this.token = table.contentTag;
    this.#snapshot = table.snapshot();
    this.lsn = this.#snapshot.lsn;
    this.tableId = table.id;
    this.bucketSeconds = table.bucketSeconds;
  }

  /** Rows of the window, at most: from headers and counts alone. */
  get mostRows(): number {
    let rows = 0;
    for (const { facts } of this.#segments()) rows += facts.rows;
    for (const { memtable } of this.#snapshot.version.memtables) rows += memtable.rows;
    return rows;
  }

  /**
   * The edges, undefined when they have more than `mostMembers` members in all. A step is bounded
   * to a few ms. Throws `table_corrupt`.
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

  /** The next piece for `readEdges`, null at the end. Bounded to a few ms. Throws `overloaded`. */
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
    // A version of the memtables alone; the snapshot holds the real one.
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
   * What an error of `readEdges` means here: a corrupt file makes the table refuse, as when this
   * thread meets it.
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

  /** Lets the snapshot go; a second call does nothing. */
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
