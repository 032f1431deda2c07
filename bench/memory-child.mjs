// Child process of memory.ts: opens a table with a memory budget, reads it, and reports the number
// of rows read and the peak memory of the process.

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
 * Returns the peak resident memory. Linux reports that of this process alone; elsewhere `maxRSS`
 * is used, which also counts the memory that the parent held when it forked.
 */
function peakKilobytes() {
  const status = existsSync('/proc/self/status') ? readFileSync('/proc/self/status', 'utf8') : '';
  return Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? process.resourceUsage().maxRSS);
}
