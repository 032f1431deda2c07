// Writes planned edges in parts. Each request is stored completely or not at all. Edges that the
// service refuses are left out and collected; other failures end the import.

import { Hyperedges } from '../../client/hyperedges.ts';
import { HedgerowApiError, type NewHyperedge, type NewTable } from '../../client/index.ts';
import { client, connection } from '../session.ts';
import { dataChanged } from '../state.ts';
import { quoted } from '../statement-words.ts';
import type { PlannedEdge } from './edge-plan.ts';
import type { NodeNumbers } from './node-numbers.ts';
import { openNodes, storeNodes } from './node-table.ts';

const PART_EDGES = 2000;
/** With more refusals than this, the whole file is probably wrong. */
const MOST_REFUSED = 20;

/** The suggested bucket width gives a table at most this many buckets. */
const BUCKETS = 4000;

export interface Target {
  readonly name: string;
  /** Undefined when the table exists. */
  readonly create: NewTable | undefined;
  readonly addColumns: readonly { readonly name: string; readonly type: string }[];
  /** Whether members are numbers, or names in an existing table of nodes, or names in a new one. */
  readonly nodes: 'numbers' | 'named' | 'new names';
}

export interface Refused {
  readonly edge: PlannedEdge;
  readonly reason: string;
}

export interface Progress {
  readonly written: number;
  readonly refused: readonly Refused[];
}

/** One import. It may be stopped and continued; no part is written twice. */
export interface Import {
  readonly edges: readonly PlannedEdge[];
  readonly target: Target;
  /** Distinguishes the requests of this import from those of all others. */
  readonly key: string;
  /** The progress of an earlier call for the same import. */
  readonly before: Progress | undefined;
}

export function newImportKey(): string {
  return `import-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
}

/** Returns the number of edges that have been written or refused. */
export function doneEdges(progress: Progress | undefined): number {
  return progress === undefined ? 0 : progress.written + progress.refused.length;
}

/** Returns whether a stopped import can continue. It cannot if too many rows were refused. */
export function canGoOn(progress: Progress | undefined): boolean {
  return (progress?.refused.length ?? 0) <= MOST_REFUSED;
}

/**
 * Writes the edges. When a part fails, the parts before it stay written and the error is rethrown
 * unchanged. Ends early when `leaving` is aborted.
 */
export async function writeEdges(
  { edges, target, key, before }: Import,
  leaving: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<Progress> {
  let progress: Progress = before ?? { written: 0, refused: [] };
  onProgress(progress);
  const first = doneEdges(before);
  try {
    if (first === 0) await prepare(target);
    const hasNodes = first > 0 || target.nodes === 'named';
    const numbers = target.nodes === 'numbers' ? undefined : await openNodes(target.name, hasNodes);
    for (let start = first; start < edges.length && !leaving.aborted; start += PART_EDGES) {
      const part = edges.slice(start, start + PART_EDGES);
      const { written, refused } = await writePart(part, target.name, numbers, `${key}-${start}`);
      progress = { written: progress.written + written, refused: [...progress.refused, ...refused] };
      onProgress(progress);
      if (!canGoOn(progress))
        throw new Error(`The service refuses one row after the other. The first: ${progress.refused[0]!.reason}`);
    }
    return progress;
  } finally {
    await dataChanged();
  }
}

async function prepare({ name: table, create, addColumns }: Target): Promise<void> {
  if (create !== undefined) await connection().json('createTable', { body: create });
  for (const { name, type } of addColumns)
    await client().query.run(`ALTER TABLE ${quoted(table)} ADD COLUMN ${quoted(name)} ${type}`);
}

/** Writes one part. Stores the names first, so that no edge contains a number without a name. */
async function writePart(
  part: readonly PlannedEdge[],
  table: string,
  numbers: NodeNumbers | undefined,
  key: string,
): Promise<Progress> {
  const numbered = part.map(({ event_ts, members, properties }) => ({
    event_ts,
    members: members.map((node) => (typeof node === 'number' ? node : numbers!.numberOf(node, event_ts))),
    ...properties,
  })) as NewHyperedge[];
  if (numbers !== undefined) await storeNodes(table, numbers.take());
  const refused: Refused[] = [];
  let written = 0;
  await insert(numbered, 0);
  return { written, refused };

  /**
   * Inserts edges. A part with a bad edge is refused as a whole, so its halves are tried, down to
   * the single edge.
   */
  async function insert(edges: readonly NewHyperedge[], first: number): Promise<void> {
    if (edges.length === 0 || refused.length > MOST_REFUSED) return;
    try {
      await new Hyperedges(connection()).insertMany(edges, table, {
        idempotencyKey: `${key}-${first}-${edges.length}`,
      });
      written += edges.length;
    } catch (error) {
      const isRefused = error instanceof HedgerowApiError && (error.statusCode === 400 || error.statusCode === 422);
      if (!isRefused) throw error;
      if (edges.length === 1) {
        refused.push({ edge: part[first]!, reason: error.detail });
        return;
      }
      const half = Math.ceil(edges.length / 2);
      await insert(edges.slice(0, half), first);
      await insert(edges.slice(half), first + half);
    }
  }
}

/** Bucket widths that are easy to read: from the default of ten seconds up to four weeks. */
const WIDTHS = [10, 60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_419_200];

/** Returns the width of a bucket that suits the span of the edges' times. */
export function suggestedBucket(edges: readonly PlannedEdge[]): number {
  let [first, last] = [Infinity, -Infinity];
  for (const { event_ts: ts } of edges) {
    first = Math.min(first, ts);
    last = Math.max(last, ts);
  }
  const least = edges.length === 0 ? 0 : (last - first) / BUCKETS;
  return WIDTHS.find((width) => width >= least) ?? Math.ceil(least);
}
