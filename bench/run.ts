// `npm run bench [part...] [--tiny] [--json FILE]`: runs the parts and prints one table of figures
// and targets.

import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { runAnalytics } from './analytics.ts';
import { runChanges } from './changes.ts';
import { runCompaction } from './compaction.ts';
import { runCore } from './core.ts';
import { loadDataset } from './dataset.ts';
import { runDeadlines } from './deadlines.ts';
import { runFollow } from './follow.ts';
import { runGuard } from './guard.ts';
import { runHttp } from './http.ts';
import { runImport } from './import.ts';
import { runIntervals } from './intervals.ts';
import { runLoad } from './load.ts';
import { runLoop } from './loop.ts';
import { machineLine } from './machine.ts';
import { sinkValue } from './measure.ts';
import { runMemory } from './memory.ts';
import { runNames } from './names.ts';
import { runNodeJoins } from './node-joins.ts';
import type { Part } from './part.ts';
import { runReads } from './reads.ts';
import { runReasoning } from './reasoning.ts';
import { runRecall } from './recall/recall.ts';
import { runRestart } from './restart.ts';
import { type BenchRow, tableOf } from './row.ts';
import { runSearch } from './search.ts';
import { runStatements } from './statements.ts';
import { runTexts } from './texts.ts';
import { runVirtual } from './virtual.ts';
import { runWorkers } from './workers.ts';
import { Workspace } from './workspace.ts';

const PARTS: Readonly<Record<string, Part>> = {
  core: runCore,
  load: runLoad,
  import: runImport,
  reads: runReads,
  compaction: runCompaction,
  names: runNames,
  'node-joins': runNodeJoins,
  statements: runStatements,
  search: runSearch,
  recall: runRecall,
  http: runHttp,
  guard: runGuard,
  deadlines: runDeadlines,
  follow: runFollow,
  intervals: runIntervals,
  changes: runChanges,
  workers: runWorkers,
  loop: runLoop,
  texts: runTexts,
  restart: runRestart,
  memory: runMemory,
  analytics: runAnalytics,
  reasoning: runReasoning,
  virtual: runVirtual,
};

async function run(names: readonly string[], tiny: boolean, jsonFile: string | undefined): Promise<void> {
  const workspace = new Workspace();
  const rows: (BenchRow & { part: string })[] = [];
  const notes: string[] = [];
  try {
    const dataset = loadDataset({ tiny, scratch: workspace.dir });
    const head = `${machineLine(new Date())}\n${dataset.name}, ${dataset.edges.length} edges${tiny ? ' (tiny: the times mean nothing)' : ''}`;
    console.log(head);
    for (const name of names) {
      const start = performance.now();
      try {
        const found = await PARTS[name]!({ tiny, dataset, workspace, note: (message) => notes.push(message) });
        rows.push(...found.map((row) => ({ part: name, ...(tiny ? { ...row, target: '', met: null } : row) })));
      } catch (error) {
        // A failed part must not discard the figures of the other parts, which took minutes.
        notes.push(`${name}: FAILED, ${(error as Error).stack}`);
        process.exitCode = 1;
      }
      console.error(`${name}: ${((performance.now() - start) / 1000).toFixed(0)} s`);
    }
    console.log(`\n${tableOf(rows)}\n`);
    for (const note of notes) console.log(note);
    const judged = rows.filter((row) => row.met !== null);
    console.log(`targets met: ${judged.filter((row) => row.met).length} of ${judged.length} (sink ${sinkValue()})`);
    if (jsonFile !== undefined) writeFileSync(jsonFile, JSON.stringify({ head, rows, notes }, null, 2));
  } finally {
    workspace.dispose();
  }
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { tiny: { type: 'boolean', default: false }, json: { type: 'string' } },
});
const unknown = positionals.filter((name) => !(name in PARTS));
if (unknown.length > 0) {
  console.error(`no such part: ${unknown.join(', ')}; there are ${Object.keys(PARTS).join(', ')}`);
  process.exitCode = 2;
} else {
  await run(positionals.length > 0 ? positionals : Object.keys(PARTS), values.tiny, values.json);
}
