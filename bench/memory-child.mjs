// Child of memory.ts: opens a table under a memory budget, reads it, and reports the number of rows
// read and its peak memory.

import { existsSync, readFileSync } from 'node:fs';
import { openDatabase } from 'hedgerow';

const { dir, budgetMb, windows, nodes } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const database = await openDatabase({ dir, memoryBudgetMb: budgetMb });
const table = database.table();
let rows = 0;

/** Reads to the end as a server does: one slice per event loop turn. */
async function read(request) {
  const scan = table.scan({ ...request, format: 'json' });
  while (scan.next() !== null) await new Promise((resolve) => setImmediate(resolve));
  rows += scan.rows;
}

for (let i = 0; i < windows.length; i++) {
  await read(windows[i]);
  await read({ nodes: [nodes[i]] });
}
await read({});
process.stdout.write(JSON.stringify({ rows, peakMb: peakKilobytes() / 1024 }));
await database.close();

/**
 * Peak of this process alone, where Linux reports it: `maxRSS` also counts what the parent held
 * when it forked.
 */
function peakKilobytes() {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}
