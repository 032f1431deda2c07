// Writes planned edges in parts, each of them whole or not at all; what the service refuses is told apart from the rest.

import { HedgerowApiError, type NewHyperedge, type NewTable } from '../../client/index.ts';
import { client } from '../session.ts';
import { dataChanged } from '../state.ts';
import { quoted } from '../statement-words.ts';
import type { PlannedEdge } from './edge-plan.ts';
import type { NodeNumbers } from './node-numbers.ts';
import { openNodes, storeNodes } from './node-table.ts';

const PART_EDGES = 2000;
/** With more refusals than this something is wrong with all of the file. */
const MOST_REFUSED = 20;

/** So many buckets a table should have, more or less. */
const BUCKETS = 4000;

export interface Target {
  readonly name: string;
  /** Undefined: it is there. */
  readonly create: NewTable | undefined;
  readonly addColumns: readonly { readonly name: string; readonly type: string }[];
  /** Whether members are names, and whether their table is there already. */
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

/** A failure leaves the parts before it written; the error is thrown as it came. Ends early once `leaving` is aborted. */
export async function writeEdges(
  edges: readonly PlannedEdge[],
  target: Target,
  leaving: AbortSignal,
  onProgress: (progress: Progress) => void,
): Promise<void> {
  let progress: Progress = { written: 0, refused: [] };
  onProgress(progress);
  try {
    if (target.create !== undefined) await client().tables.create(target.create);
    for (const { name, type } of target.addColumns)
      await client().query.run(`ALTER TABLE ${quoted(target.name)} ADD COLUMN ${quoted(name)} ${type}`);
    const numbers = target.nodes === 'numbers' ? undefined : await openNodes(target.name, target.nodes === 'named');
    for (let start = 0; start < edges.length && !leaving.aborted; start += PART_EDGES) {
      const part = edges.slice(start, start + PART_EDGES);
      const { written, refused } = await writePart(part, target.name, numbers);
      progress = { written: progress.written + written, refused: [...progress.refused, ...refused] };
      onProgress(progress);
      if (progress.refused.length > MOST_REFUSED)
        throw new Error(`The service refuses one row after the other. The first: ${progress.refused[0]!.reason}`);
    }
  } finally {
    await dataChanged();
  }
}

/** Names come first, so that no edge holds a number without one. */
async function writePart(
  part: readonly PlannedEdge[],
  table: string,
  numbers: NodeNumbers | undefined,
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

  /** A part with a bad edge is refused as a whole: its halves are tried, down to the edge itself. */
  async function insert(edges: readonly NewHyperedge[], first: number): Promise<void> {
    if (edges.length === 0 || refused.length > MOST_REFUSED) return;
    try {
      await client().hyperedges.insertMany(edges, table);
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

/** Ten seconds, as a table has by default, up to four weeks: widths that people can read. */
const WIDTHS = [10, 60, 300, 900, 3600, 10_800, 21_600, 43_200, 86_400, 604_800, 2_419_200];

/** Width of a bucket that suits the stretch of time. */
export function suggestedBucket(edges: readonly PlannedEdge[]): number {
  let [first, last] = [Infinity, -Infinity];
  for (const { event_ts: ts } of edges) {
    first = Math.min(first, ts);
    last = Math.max(last, ts);
  }
  const least = edges.length === 0 ? 0 : (last - first) / BUCKETS;
  return WIDTHS.find((width) => width >= least) ?? Math.ceil(least);
}
