// Benchmarks a compaction after new edges arrive in the newest hour. Its cost should depend on the
// change, not on the size of the table.

import { openDatabase } from 'hedgerow';
import { randomFrom } from '../test/core/support/random.ts';
import { drawNodes, type Edge } from './dataset.ts';
import { alternate, timed } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import { insertEdges, loadHedgerow } from './stores.ts';
import type { Workspace } from './workspace.ts';

const SEGMENT_ROWS = 65_536;

export async function runCompaction({ tiny, dataset, workspace }: PartOptions): Promise<BenchRow[]> {
  const added = newestHour(dataset.edges, tiny ? 100 : 10_000);
  const dirs = await makeTables(dataset.edges, workspace);
  dataset.release();
  const [whole, ofTenth, ofAligned] = await alternate(
    tiny ? 1 : 9,
    dirs.map((dir) => () => compactCopy(workspace, dir, added)),
    !tiny,
  );
  const row = (name: string, peer: number) =>
    benchRow({ name, unit: 'ms', ours: whole!, peer, target: { ratioAtMost: 1.5 } });
  return [
    row('compaction of new edges, whole file beside its newest tenth', ofTenth!),
    row('compaction of new edges, whole file beside its last segments', ofAligned!),
  ];
}

/**
 * Makes three tables. The first contains the whole file, the second its newest tenth. The third
 * also contains about a tenth, but begins at a segment boundary of the first, so that the last
 * segments of the first and third table contain the same edges.
 */
async function makeTables(edges: readonly Edge[], workspace: Workspace): Promise<string[]> {
  const tenth = edges.slice(Math.floor(edges.length * 0.9));
  const aligned = edges.slice(Math.round((edges.length * 0.9) / SEGMENT_ROWS) * SEGMENT_ROWS);
  return [
    await workspace.compacted(edges),
    await tableOf(workspace, tenth),
    await tableOf(workspace, aligned.length < edges.length ? aligned : tenth),
  ];
}

/** Returns new edges in the hour before the last edge; their nodes are drawn by degree. */
function newestHour(edges: readonly Edge[], count: number): Edge[] {
  const random = randomFrom(21);
  const newest = edges[edges.length - 1]!.event_ts;
  const nodes = drawNodes(edges, count * 2, 22);
  return Array.from({ length: count }, (_, i) => ({
    event_ts: newest - random.below(3600),
    members: [...new Set([nodes[i * 2]!, nodes[i * 2 + 1]!])].sort((a, b) => a - b),
  }));
}

async function tableOf(workspace: Workspace, edges: readonly Edge[]): Promise<string> {
  const dir = workspace.fresh('part');
  await (await loadHedgerow(dir, edges)).close();
  return dir;
}

/**
 * Returns the milliseconds of the compaction alone, without opening the table, inserting the edges
 * and starting the compaction thread.
 */
async function compactCopy(workspace: Workspace, dir: string, added: readonly Edge[]): Promise<number> {
  const copy = workspace.copy(dir);
  const database = await openDatabase({ dir: copy });
  await insertEdges(database, added.slice(0, 1));
  await database.compact();
  await insertEdges(database, added.slice(1));
  const table = database.table();
  const before = table.rowCount;
  const ms = await timed(() => database.compact());
  const pending = database.wal().pending;
  if (table.rowCount !== before || pending !== 0)
    throw new Error(`compaction left ${table.rowCount} of ${before} edges`);
  await database.close();
  workspace.remove(copy);
  return ms;
}
