// Opens a directory and repeatedly backs it up while inserting rows, until the process is killed.
// Reports on stdout: `ready`, `begin` (a backup begins), `made <lsn> <path>`.
//
// node backer.mjs DIR BACKUP_DIR

import { Database, WorkerRunner } from '../../dist/engine/index.js';
import { nodeFs } from '../../dist/storage/node-fs.js';

const [dir, backupDir] = process.argv.slice(2);
const PAUSE_MS = 5;
const AT_ONCE = 10;

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
  memoryBudgetBytes: 2 ** 26,
  segmentRows: 2000,
  logFileBytes: 2 ** 18,
});
process.stdout.write('ready\n');

async function write() {
  for (let i = 0; ; i++) {
    const inserts = Array.from({ length: AT_ONCE }, (_, k) => database.table().insert({ event_ts: i, members: [k, 100 + i] }));
    await Promise.all(inserts);
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  }
}

async function backUp() {
  for (let i = 0; ; i++) {
    process.stdout.write('begin\n');
    const { path, lsn } = await database.backup({ dir: backupDir, compactFirst: i % 3 === 2 });
    process.stdout.write(`made ${lsn} ${path}\n`);
  }
}

await Promise.race([write(), backUp()]);
