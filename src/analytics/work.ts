// Messages between the main thread and a measure thread: plain values and bytes.

import type { EdgePiece, EdgeWindow } from '../engine/index.ts';
import type { Direction } from './directed.ts';
import type { Basis } from './measure.ts';
import type { ParameterValues } from './parameters.ts';
import type { Marks } from './result-text.ts';

/** Identifies the edges that projections are built from: equal values mean equal edges. */
export interface EdgeSource {
  tableId: number;
  /** Identifies the state of the rows (EdgeRead). */
  token: string;
  window: EdgeWindow;
}

export interface MeasureWork extends EdgeSource {
  bucketSeconds: number;
  /** Whether the members are nodes with keys: the result has marks in place of them. */
  isNamed: boolean;
  /** Whether the edges have role masks. */
  hasRoles: boolean;
  direction: Direction | undefined;
  measure: string;
  /** Checked parameters, with defaults filled in. */
  params: ParameterValues;
}

export type MeasureCalls = {
  run: (work: MeasureWork) => void;
};

/**
 * Messages to a thread that is running a measure. `piece` and `pieces-end` answer its request for
 * edges.
 */
export type ToMeasure =
  | { kind: 'piece'; piece: EdgePiece }
  | { kind: 'pieces-end' }
  /** A chunk was consumed, so one more may be sent. */
  | { kind: 'more' };

export type FromMeasure =
  | { kind: 'needs' }
  /** The edges have been read, so the snapshot's files and memory are no longer needed. */
  | { kind: 'read' }
  | { kind: 'progress'; done: number }
  | { kind: 'begun'; definition: string; basis: Basis | null; marks: Marks | null }
  /** The next bytes of the result's JSON text. */
  | { kind: 'chunk'; bytes: Uint8Array<ArrayBuffer> };

/** Maximum number of chunks waiting to be consumed. */
export const CHUNKS_AHEAD = 16;
