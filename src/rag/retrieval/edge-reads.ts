// Reads the edges that a search has chosen, with few reads: where they are dense, a read covers a
// range of rows.

import type { ScanBounds } from '../../engine/index.ts';
import { type HedgerowError, refusal } from '../../errors.ts';
import type { Steps } from '../../schedule/steps.ts';
import { type EdgeReader, type EdgeRows, edgeOf } from './edge-rows.ts';
import type { MemberKeys } from './member-keys.ts';
import type { RetrievedEdge } from './retrieved-edge.ts';

/** The key of an edge. */
export interface EdgeKey {
  readonly id: number;
  readonly eventTs: number;
}

/** An edge that was chosen: its score and, if it is known already, what matched. */
export interface ChosenEdge extends EdgeKey {
  readonly score: number;
  readonly why?: readonly string[];
}

/**
 * Maximum number of unwanted rows that are read per wanted row. Reading one row separately takes as
 * long as reading this number of rows in a range.
 */
const MOST_BETWEEN = 48;
/** Maximum number of rows read at once. */
const MOST_AT_ONCE = 8192;

/** Reads the edges with all columns. Returns them in the given order. */
export function* wholeEdges(
  reader: EdgeReader,
  nodes: readonly number[] | undefined,
  chosen: readonly ChosenEdge[],
  keys: MemberKeys | undefined,
): Steps<RetrievedEdge[]> {
  const found = new Map<number, RetrievedEdge>();
  const byId = new Map(chosen.map((one) => [one.id, one]));
  let letters = 0;
  for (const rows of rowsOf(reader, 'readWhole', nodes, chosen)) {
    if (rows === null || rows.rows > MOST_BETWEEN) yield;
    for (let row = 0; row < (rows?.rows ?? 0); row++) {
      const one = byId.get(rows!.ids[row]!);
      if (one === undefined) continue;
      const edge = edgeOf(rows!, row, one, reader.snapshot, keys);
      letters += lettersOf(edge);
      if (letters > MOST_LETTERS) throw tooLong(chosen.length);
      found.set(edge.edge_id, edge);
    }
  }
  return chosen.map(({ id }) => found.get(id)!);
}

/** Characters of texts that are visited in one step. Dividing them into words takes about 2 ms. */
const STEP_LETTERS = 50_000;

/**
 * Calls `visit` with each of some edges, in no certain order, as a row with the columns that the
 * reader reads for a search. `visit` returns the number of characters that it has read.
 */
export function* visitEdges(
  reader: EdgeReader,
  edges: readonly EdgeKey[],
  visit: (rows: EdgeRows, row: number) => number,
): Steps<void> {
  let letters = 0;
  const wanted = new Set(edges.map(({ id }) => id));
  for (const rows of rowsOf(reader, 'readKeys', undefined, edges)) {
    if (rows === null || rows.rows > MOST_BETWEEN) yield;
    for (let row = 0; row < (rows?.rows ?? 0); row++) {
      if (!wanted.has(rows!.ids[row]!)) continue;
      letters += visit(rows!, row);
      if (letters < STEP_LETTERS) continue;
      letters = 0;
      yield;
    }
  }
}

/** Yields rows that contain all of the edges, and null between steps. */
function* rowsOf(
  reader: EdgeReader,
  read: 'readKeys' | 'readWhole',
  nodes: readonly number[] | undefined,
  edges: readonly EdgeKey[],
): Generator<EdgeRows | null, void, void> {
  const byTime = [...edges].sort((a, b) => a.eventTs - b.eventTs || a.id - b.id);
  for (const bounds of readsOf(reader, nodes, byTime)) {
    if (bounds === undefined) yield null;
    else yield* reader[read](bounds);
  }
}

/**
 * Maximum number of characters in the texts of all edges of a question. These texts are in memory
 * several times, for example as part of the answer.
 */
const MOST_LETTERS = 8 * 2 ** 20;

/** Returns the number of characters in the texts of an edge. */
export function lettersOf({ formation, properties }: RetrievedEdge): number {
  let letters = formation?.length ?? 0;
  for (const name in properties) {
    const value = properties[name];
    if (typeof value === 'string') letters += value.length;
  }
  return letters;
}

function tooLong(edges: number): HedgerowError {
  return refusal(
    'query_too_large',
    `The texts of the ${edges} edges that the question means hold more than ${MOST_LETTERS / 2 ** 20} million letters. Ask for fewer edges (top_k), or narrow the window.`,
  );
}

/** Number of reads in one step, which takes about a millisecond. */
const STEP_READS = 16;

/**
 * Yields a small number of reads that cover all candidates, and undefined after a few reads. Where
 * candidates are dense, a read covers a range of rows, otherwise a single row. Ranges are halved
 * until the estimated number of rows per candidate is small enough.
 */
function* readsOf(
  { table, snapshot }: EdgeReader,
  nodes: readonly number[] | undefined,
  byTime: readonly EdgeKey[],
): Generator<ScanBounds | undefined, void, void> {
  const parts = byTime.length === 0 ? [] : [byTime];
  for (let looks = 1; parts.length > 0; looks++) {
    const part = parts.pop()!;
    const [first, last] = [part[0]!, part.at(-1)!];
    const bounds = { startTs: first.eventTs, endTs: last.eventTs, nodes };
    if (part.length === 1) yield { ...bounds, after: { eventTs: first.eventTs, id: first.id - 1 }, limit: 1 };
    else if (table.estimate(bounds, snapshot).rows <= Math.min(MOST_AT_ONCE, MOST_BETWEEN * part.length)) yield bounds;
    else parts.push(part.slice(part.length >> 1), part.slice(0, part.length >> 1));
    if (looks % STEP_READS === 0) yield undefined;
  }
}
