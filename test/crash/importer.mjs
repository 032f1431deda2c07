// Imports batches into a directory, several at once, until the process is killed. Reports on stdout
// what was acknowledged: `ready`, `b <batch> <last id>`, `d <batch whose edges were deleted>`, `c`
// (a compaction begins), `e` (it ended).
//
// node importer.mjs DIR FIRST_BATCH COMPACT_EVERY (batches; 0: never)

import { Database, WorkerRunner } from '../../dist/engine/index.js';
import { nodeFs } from '../../dist/storage/node-fs.js';
import { batchRows, deletedAfter, edgeOf, isDeleted } from './edges.mjs';

const [dir, first, compactEvery] = process.argv.slice(2);
const MOST_BATCHES = 400;
const AT_ONCE = 4;

const schedule = (callback, delayMs) => void setTimeout(callback, delayMs).unref();
const database = await Database.open({
  dir,
  fs: nodeFs,
  runner: new WorkerRunner(schedule),
  now: () => Date.now(),
  nowUs: () => performance.now() * 1000,
  schedule,
  primaryTable: 'hyperedges',
  maxMembers: 64,
  durability: 'fsync',
  memoryBudgetBytes: 2 ** 22,
  segmentRows: 2000,
  logFileBytes: 2 ** 18,
});
const table = database.table();
let next = Number(first);
let compacting = false;
process.stdout.write('ready\n');

async function importBatch(batch) {
  const bulk = table.bulk();
  for (let index = 0; index < batchRows(batch); index++) bulk.add(edgeOf(batch, index));
  const { lastId } = await bulk.commit();
  process.stdout.write(`b ${batch} ${lastId}\n`);
  const gone = deletedAfter(batch);
  if (gone === null || gone < Number(first)) return;
  const transaction = database.begin();
  for (let index = 0; index < batchRows(gone); index++) {
    const edge = edgeOf(gone, index);
    if (isDeleted(index)) transaction.delete(table, edge.event_ts, edge.members);
  }
  await transaction.commit();
  process.stdout.write(`d ${gone}\n`);
}

async function compact() {
  compacting = true;
  process.stdout.write('c\n');
  await database.compact({});
  process.stdout.write('e\n');
  compacting = false;
}

async function lane() {
  while (next < Number(first) + MOST_BATCHES) {
    const batch = next++;
    await importBatch(batch);
    if (Number(compactEvery) > 0 && batch % Number(compactEvery) === 0 && !compacting) void compact();
  }
}

await Promise.all(Array.from({ length: AT_ONCE }, lane));
process.stdout.write('done\n');
// Waits to be killed.
setInterval(() => undefined, 1000);
