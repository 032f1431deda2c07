// Times a restart, from the start of a process to an open table, with all edges still in the log
// and with all edges compacted.

import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { alternate } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';
import type { Workspace } from './workspace.ts';

const CHILD = fileURLToPath(new URL('restart-child.mjs', import.meta.url));
const LIMIT_MS = 2000;

export async function runRestart({ tiny, dataset, workspace }: PartOptions): Promise<BenchRow[]> {
  const { edges } = dataset;
  const dirs = [await workspace.logged(edges), await workspace.compacted(edges)];
  const [logged, compacted] = await alternate(
    tiny ? 1 : 5,
    dirs.map((dir) => () => restart(workspace, dir, edges.length)),
    !tiny,
  );
  const row = (name: string, ours: number) => benchRow({ name, unit: 'ms', ours, target: { oursAtMost: LIMIT_MS } });
  return [row('restart after a crash, all edges in the log', logged!), row('restart after compaction', compacted!)];
}

/**
 * Returns the milliseconds from the start of Node to the first answer, on a copy of the directory.
 */
function restart(workspace: Workspace, dir: string, edges: number): number {
  const copy = workspace.copy(dir);
  const { ms, rows } = JSON.parse(execFileSync(process.execPath, [CHILD, copy], { encoding: 'utf8' })) as Answer;
  workspace.remove(copy);
  if (rows !== edges) throw new Error(`${rows} of ${edges} edges are there after the restart`);
  return ms;
}

interface Answer {
  ms: number;
  rows: number;
}
