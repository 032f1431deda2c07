// Child of memory.ts: opens a table under a memory budget, reads, says how many rows it read and the most memory it held.

import { readFileSync } from 'node:fs';
import { openDatabase } from 'hedgerow';

const { dir, budgetMb, windows, nodes } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const database = await openDatabase({ dir, memoryBudgetMb: budgetMb });
const table = database.table();
let rows = 0;

/** Reads to the end as a server does: a slice, then room for others. */
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
process.stdout.write(JSON.stringify({ rows, peakMb: process.resourceUsage().maxRSS / 1024 }));
await database.close();
