// Reads the pieces of an EdgeRead in another thread: opens and checks the segment files, and
// returns the edges as columns.

import {
  type ColumnBlock,
  type ColumnPlan,
  type Core,
  type CoreModule,
  type IncidenceColumns,
  loadSegment,
  type ResidentSegment,
  readColumnBlocks,
  SEPARATOR,
  STEP_STATE,
  type StepResult,
  TextSink,
} from '../../core/index.ts';
import { type Fs, readFully } from '../../storage/index.ts';
import { asCorruption } from '../table/segment-file.ts';
import { edgePlan, joinBlocks } from './edge-columns.ts';
import type { EdgePiece, EdgeWindow } from './edge-read.ts';

/** Fraction of the work done once all rows are read; the rest is merging them. */
const READ_SHARE = 0.8;

/**
 * Reads the edges and returns them in (event_ts, id) order. A step reads one segment file or a few
 * thousand rows, and yields the fraction of the work done. `hasRoles` is that of the read. Throws
 * `corrupt` with file and offset, or `overloaded`.
 */
export function* readEdges(
  pieces: readonly EdgePiece[],
  window: EdgeWindow,
  fs: Fs,
  module: CoreModule,
  hasRoles = false,
): Generator<number, IncidenceColumns, void> {
  const plan = edgePlan(hasRoles);
  const inSegments: ColumnBlock[] = [];
  const others: ColumnBlock[] = [];
  const reader = new SegmentReader(fs, module.instantiate(), plan);
  for (const [index, piece] of pieces.entries()) {
    if (piece.kind === 'rows') others.push(...readColumnBlocks(piece.blocks, plan));
    else {
      for (const block of reader.read(piece, window)) {
        inSegments.push(block);
        yield (READ_SHARE * index) / pieces.length;
      }
    }
    yield (READ_SHARE * (index + 1)) / pieces.length;
  }
  const joining = joinBlocks(inSegments, others);
  for (;;) {
    const step = joining.next();
    if (step.done) return step.value;
    yield READ_SHARE + (1 - READ_SHARE) * step.value;
  }
}

/** Reads segments one after another in a single core instance. */
class SegmentReader {
  readonly #fs: Fs;
  readonly #core: Core;
  readonly #plan: ColumnPlan;
  readonly #sink = new TextSink();

  constructor(fs: Fs, core: Core, plan: ColumnPlan) {
    this.#plan = plan;
    this.#fs = fs;
    this.#core = core;
  }

  /** Yields the live rows of the window, a few thousand at a time. */
  *read(piece: EdgePiece & { kind: 'segment' }, { startTs, endTs }: EdgeWindow): Generator<ColumnBlock, void, void> {
    const segment = this.#load(piece);
    const { dead } = piece;
    // All listed rows died before the snapshot, so their LSNs can be 0.
    const deadRows = { count: dead.length, rows: dead, lsns: new Float64Array(dead.length), version: 0 };
    const bounds = { lowTs: startTs, lowId: -Infinity, endTs, stopTs: Infinity, stopId: 0 };
    const result: StepResult = { rows: 0, firstTs: 0, lastTs: 0, lastId: 0, buckets: 0, state: STEP_STATE.more };
    const sink = this.#sink;
    do {
      const next = segment.step(
        bounds,
        0,
        deadRows,
        0,
        Number.MAX_SAFE_INTEGER,
        this.#plan,
        SEPARATOR.columns,
        sink,
        result,
      );
      if (result.rows > 0) {
        bounds.lowTs = result.lastTs;
        bounds.lowId = result.lastId + 1;
        yield* readColumnBlocks(sink.takeAligned(), this.#plan);
      } else if (result.state === STEP_STATE.more) {
        const { eventTs, id } = segment.keyOf(next);
        bounds.lowTs = eventTs;
        bounds.lowId = id;
      }
    } while (result.state === STEP_STATE.more);
  }

  #load({ path, bytes, checksum, deep }: EdgePiece & { kind: 'segment' }): ResidentSegment {
    this.#core.exports.hg_memory_reset();
    try {
      const handle = this.#fs.open(path, 'read');
      try {
        const read = (target: Uint8Array) => void readFully(handle, target, 0);
        return loadSegment(this.#core, bytes, read, { deep, file: path, checksum });
      } finally {
        handle.close();
      }
    } catch (error) {
      throw asCorruption(error, path);
    }
  }
}
