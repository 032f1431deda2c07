// Writes planned edges in parts, each of them whole or not at all; what the service refuses is kept
// apart from other failures.

import { Hyperedges } from '../../client/hyperedges.ts';
import { HedgerowApiError, type NewHyperedge, type NewTable } from '../../client/index.ts';
import { client, connection } from '../session.ts';
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

/** One import. It may be stopped and continued: no part is written twice. */
export interface Import {
  readonly edges: readonly PlannedEdge[];
  readonly target: Target;
  /** Tells its requests from those of all others. */
  readonly key: string;
  /** What an earlier call has done of it. */
  readonly before: Progress | undefined;
}

export function newImportKey(): string {
  return `import-${crypto.getRandomValues(new Uint32Array(4)).join('-')}`;
}

/** Edges that are written or refused. */
export function doneEdges(progress: Progress | undefined): number {
  return progress === undefined ? 0 : progress.written + progress.refused.length;
}

/** Whether an import that has stopped can continue: not where one row after another is refused. */
export function canGoOn(progress: Progress | undefined): boolean {
  return (progress?.refused.length ?? 0) <= MOST_REFUSED;
}

/**
 * A failure leaves the parts before it written; the error is thrown as it came. Ends early once
 * `leaving` is aborted.
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
  if (create !== undefined) await client().tables.create(create);
  for (const { name, type } of addColumns)
    await client().query.run(`ALTER TABLE ${quoted(table)} ADD COLUMN ${quoted(name)} ${type}`);
}

/** Names come first, so that no edge holds a number without one. */
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
   * A part with a bad edge is refused as a whole: its halves are tried, down to the edge itself.
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
