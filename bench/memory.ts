// Measures the resident memory of a process that reads a table with a memory budget of 16 MB.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { drawNodes, drawWindows, type Edge } from './dataset.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const CHILD = fileURLToPath(new URL('memory-child.mjs', import.meta.url));
const BUDGET_MB = 16;
const LIMIT_MB = 250;

export async function runMemory({ tiny, dataset, workspace }: PartOptions): Promise<BenchRow[]> {
  const { edges } = dataset;
  const count = tiny ? 20 : 1000;
  const windows = drawWindows(edges, count, 0.001, 31);
  const nodes = drawNodes(edges, count, 32);
  const job = workspace.fresh('memory-job');
  const dir = workspace.copy(await workspace.compacted(edges));
  writeFileSync(job, JSON.stringify({ dir, budgetMb: BUDGET_MB, windows, nodes }));
  const answer = execFileSync(process.execPath, [CHILD, job], { encoding: 'utf8' });
  const { peakMb, rows } = JSON.parse(answer) as { peakMb: number; rows: number };
  workspace.remove(dir);
  const wanted = edges.length + inWindows(edges, windows) + ofNodes(edges, nodes);
  if (rows !== wanted) throw new Error(`the child read ${rows} rows, not ${wanted}`);
  return [
    benchRow({
      name: `peak memory, budget ${BUDGET_MB} MB: windows, lookups, a full scan`,
      unit: 'MB',
      ours: peakMb,
      target: { oursAtMost: LIMIT_MB },
    }),
  ];
}

function inWindows(edges: readonly Edge[], windows: readonly { startTs: number; endTs: number }[]): number {
  const times = Float64Array.from(edges, (edge) => edge.event_ts);
  const below = (time: number) => {
    let low = 0;
    let high = times.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (times[middle]! < time) low = middle + 1;
      else high = middle;
    }
    return low;
  };
  return windows.reduce((sum, { startTs, endTs }) => sum + below(endTs + 1) - below(startTs), 0);
}

function ofNodes(edges: readonly Edge[], nodes: readonly number[]): number {
  const degrees = new Map<number, number>();
  for (const { members } of edges) for (const member of members) degrees.set(member, (degrees.get(member) ?? 0) + 1);
  return nodes.reduce((sum, node) => sum + (degrees.get(node) ?? 0), 0);
}
