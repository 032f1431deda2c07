// Runs the benches in their smallest form. They must still run, and both sides must still return
// the same results (otherwise a part throws). Times are not checked.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runAnalytics } from '../../bench/analytics.ts';
import { runChanges } from '../../bench/changes.ts';
import { runCompaction } from '../../bench/compaction.ts';
import { runCore } from '../../bench/core.ts';
import { type Dataset, loadDataset } from '../../bench/dataset.ts';
import { runFollow } from '../../bench/follow.ts';
import { runGuard } from '../../bench/guard.ts';
import { runHttp } from '../../bench/http.ts';
import { runImport } from '../../bench/import.ts';
import { runIntervals } from '../../bench/intervals.ts';
import { runLoad } from '../../bench/load.ts';
import { runLoop } from '../../bench/loop.ts';
import { alternate, median } from '../../bench/measure.ts';
import { runMemory } from '../../bench/memory.ts';
import type { Part } from '../../bench/part.ts';
import { runReads } from '../../bench/reads.ts';
import { runReasoning } from '../../bench/reasoning.ts';
import { runRecall } from '../../bench/recall/recall.ts';
import { runRestart } from '../../bench/restart.ts';
import { benchRow, tableOf } from '../../bench/row.ts';
import { runSearch } from '../../bench/search.ts';
import { runStatements } from '../../bench/statements.ts';
import { syntheticEdges } from '../../bench/synthetic.ts';
import { runVirtual } from '../../bench/virtual.ts';
import { openDirect } from '../../bench/virtual-direct.ts';
import { runWorkers } from '../../bench/workers.ts';
import { Workspace } from '../../bench/workspace.ts';
import { transportsHere } from '../support/transport.ts';

const duckdb = await openDirect();
duckdb?.close();
if (duckdb === undefined) console.warn('the part virtual gives no rows: @duckdb/node-api is not installed');

describe('parts of the benches', () => {
  let workspace: Workspace;
  let dataset: Dataset;

  beforeAll(() => {
    workspace = new Workspace();
    dataset = loadDataset({ tiny: true, scratch: workspace.dir });
  });
  afterAll(() => workspace.dispose());

  const parts: [string, Part, number][] = [
    ['core', runCore, 30],
    ['load', runLoad, 2],
    ['import', runImport, 7],
    ['reads', runReads, 10],
    ['compaction', runCompaction, 2],
    ['statements', runStatements, 15],
    ['search', runSearch, 7],
    ['recall', runRecall, 5],
    ['http', runHttp, 9 * transportsHere().length + 19],
    ['guard', runGuard, 3],
    ['restart', runRestart, 2],
    ['reasoning', runReasoning, 18],
    ['virtual', runVirtual, duckdb === undefined ? 0 : 10],
    ['follow', runFollow, 8],
    ['intervals', runIntervals, 3],
    ['changes', runChanges, 6],
    ['workers', runWorkers, 13],
    ['loop', runLoop, 60],
    ['memory', runMemory, 1],
    ['analytics', runAnalytics, 12],
  ];
  it.each(parts)('return their rows: %s', async (_, part, rows) => {
    const found = await part({ tiny: true, dataset, workspace, note: () => {} });
    expect(found.length).toBeGreaterThanOrEqual(rows);
    for (const row of found) {
      expect(row.ours, row.name).toBeGreaterThan(0);
      expect(row.ours, row.name).toBeLessThan(Infinity);
      if (row.peer !== null) expect(row.peer, row.name).toBeGreaterThan(0);
    }
  });

  it('share a data set that reads its edges from its file, and again after they were released', () => {
    const { edges } = dataset;
    expect(edges).toEqual(syntheticEdges(edges.length, 1));
    dataset.release();
    expect(dataset.edges).toEqual(edges);
    expect(dataset.edges).not.toBe(edges);
  });
});

describe('the synthetic stream', () => {
  const edges = syntheticEdges(2000, 7);

  it('is the same for the same seed', () => {
    expect(syntheticEdges(2000, 7)).toEqual(edges);
    expect(syntheticEdges(2000, 8)).not.toEqual(edges);
  });

  it('is ordered by time, with ascending members and hubs', () => {
    const degrees = new Map<number, number>();
    for (const [i, { event_ts, members }] of edges.entries()) {
      if (i > 0) expect(event_ts).toBeGreaterThanOrEqual(edges[i - 1]!.event_ts);
      expect(members).toEqual([...new Set(members)].sort((a, b) => a - b));
      for (const member of members) degrees.set(member, (degrees.get(member) ?? 0) + 1);
    }
    const sorted = [...degrees.values()].sort((a, b) => b - a);
    expect(sorted[0]!).toBeGreaterThan(20 * sorted[sorted.length >> 1]!);
  });
});

describe('a row of the table', () => {
  it('compares the ratio or our own figure with the target', () => {
    const figures = { name: 'x', unit: 'rows/s', ours: 30, peer: 10 };
    expect(benchRow({ ...figures, target: { ratioAtLeast: 3 } })).toMatchObject({
      ratio: 3,
      target: 'ratio >= 3',
      met: true,
    });
    expect(benchRow({ ...figures, target: { ratioAtMost: 1.5 } })).toMatchObject({ met: false });
    expect(benchRow({ name: 'x', unit: 'MB', ours: 251, target: { oursAtMost: 250 } })).toMatchObject({
      peer: null,
      met: false,
    });
    expect(benchRow(figures)).toMatchObject({ target: '', met: null });
  });

  it('is printed in aligned columns', () => {
    const rows = [
      benchRow({ name: 'short', unit: 'rows/s', ours: 1234567, peer: 1000, target: { ratioAtLeast: 10 } }),
      benchRow({ name: 'a longer name', unit: 'ms', ours: 1.5 }),
    ];
    expect(tableOf(rows)).toBe(
      [
        'what                ours   peer  unit      ratio  target',
        'short          1,234,567  1,000  rows/s  1234.57  ratio >= 10  met',
        'a longer name       1.50      -  ms            -',
      ].join('\n'),
    );
  });
});

describe('alternate', () => {
  it('runs the sides in turn, reverses the order every round, and returns medians', async () => {
    const order: string[] = [];
    const side = (name: string, costs: number[]) => () => {
      order.push(name);
      return costs.shift()!;
    };
    expect(await alternate(3, [side('a', [9, 1, 5]), side('b', [2, 4, 3])])).toEqual([5, 3]);
    expect(order.join('')).toBe('abbaab');
    expect(median([4, 1, 3, 2])).toBe(2.5);
  });
});
