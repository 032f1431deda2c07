// Encodes the frame of a transaction: its runs of operations and, for readers of changes, the rows
// that they delete (changes/before-rows.ts).

import type { Steps as SlicedSteps } from '../../schedule/steps.ts';
import { encodeBefore, MOST_BYTES, ROWS_AT_ONCE, recordsOf } from '../changes/before-rows.ts';
import { OPERATION, runHeader } from '../commit/operations.ts';
import type { RowPlace } from '../table/live-rows.ts';
import type { Table } from '../table/table.ts';
import type { KeptBytes } from './staged-list.ts';

/** A row that is deleted: an existing row, or the index of the staged operation that inserts it. */
export type Victim = RowPlace | number;

/** Consecutive operations of one kind and table. */
interface Run {
  readonly kind: 'insert' | 'tombstone' | 'kill';
  readonly table: Table;
  readonly steps: Uint32Array;
  /** The encoded operations. */
  readonly pieces: readonly { readonly bytes: Uint8Array }[];
}

export interface FrameParts {
  readonly parts: readonly Uint8Array[];
  /** Number of operations that only provide LSNs for rows that share a tombstone. */
  readonly more: number;
}

/** Finds the rows that a step deletes, and the record of a staged operation. */
export interface Deaths {
  victimsOf(kind: Run['kind'], step: number): readonly Victim[];
  recordAt(place: number): KeptBytes;
}

/**
 * Returns the parts of the frame: for each run a header and its operations. With `deaths`, the rows
 * that a run deletes come before it, and LSNs for rows that share a tombstone come at the end.
 */
export function* framePartsOf(runs: readonly Run[], deaths: Deaths | undefined): SlicedSteps<FrameParts> {
  const parts: Uint8Array[] = [];
  let room = MOST_BYTES;
  let more = 0;
  for (const run of runs) {
    const { kind, table, steps, pieces } = run;
    if (deaths !== undefined && kind !== 'insert') {
      const before: Uint8Array[] = [];
      for (let from = 0; from < steps.length; from += ROWS_AT_ONCE) {
        const some = steps.subarray(from, from + ROWS_AT_ONCE);
        const dead = room > 0 || kind === 'tombstone' ? deadRows(run, some, deaths) : Array.from(some, () => []);
        if (kind === 'tombstone') for (const records of dead) more += Math.max(0, records.length - 1);
        const bytes = encodeBefore(dead);
        room -= bytes.length;
        before.push(bytes);
        yield;
      }
      const size = before.reduce((sum, { length }) => sum + length, 0);
      parts.push(runHeader(OPERATION.before, table.id, 0, size), ...before);
    }
    const bytes = pieces.reduce((sum, piece) => sum + piece.bytes.length, 0);
    parts.push(runHeader(OPERATION[kind], table.id, steps.length, bytes), ...pieces.map((piece) => piece.bytes));
  }
  if (more > 0) parts.push(runHeader(OPERATION.more, 0, more, 0));
  return { parts, more };
}

/** Returns, for each of these steps of a run, the records of the rows that it deletes. */
function deadRows({ kind, table }: Run, steps: Uint32Array, deaths: Deaths): Uint8Array[][] {
  const victims = Array.from(steps, (step) => deaths.victimsOf(kind, step));
  const stored = recordsOf(
    table,
    victims.flatMap((rows) => rows.filter((victim): victim is RowPlace => typeof victim !== 'number')),
  );
  let next = 0;
  return victims.map((rows) =>
    rows.map((victim) => {
      if (typeof victim !== 'number') return stored[next++]!;
      const { chunk, from, to } = deaths.recordAt(victim);
      return chunk.subarray(from, to);
    }),
  );
}
