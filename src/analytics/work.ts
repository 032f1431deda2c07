// What crosses between the main thread and a thread that computes measures: plain values and bytes.

import type { EdgePiece, EdgeWindow } from '../engine/index.ts';
import type { Basis } from './measure.ts';
import type { ParameterValues } from './parameters.ts';

/** Edges that projections are made of; equal values stand for equal edges. */
export interface EdgeSource {
  tableId: number;
  /** Of the rows (EdgeRead). */
  token: string;
  window: EdgeWindow;
}

export interface MeasureWork extends EdgeSource {
  bucketSeconds: number;
  measure: string;
  /** Checked, with their defaults. */
  params: ParameterValues;
}

export type MeasureCalls = {
  run: (work: MeasureWork) => void;
};

/** To the thread while it runs a measure: `piece`s and `pieces-end` when it needs the edges. */
export type ToMeasure =
  | { kind: 'piece'; piece: EdgePiece }
  | { kind: 'pieces-end' }
  /** A chunk was taken: one more may come. */
  | { kind: 'more' };

export type FromMeasure =
  | { kind: 'needs' }
  /** The edges are read: files and memory of the snapshot are needed no more. */
  | { kind: 'read' }
  | { kind: 'progress'; done: number }
  | { kind: 'begun'; definition: string; basis: Basis | null }
  /** The next bytes of the result's JSON text. */
  | { kind: 'chunk'; bytes: Uint8Array<ArrayBuffer> };

/** Chunks that wait to be taken, at most. */
export const CHUNKS_AHEAD = 16;
