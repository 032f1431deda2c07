// Runs one phase of a database's life, so that failures of its system calls can be injected. Marks
// the beginning and the end of the phase in the system call trace, and reports like writer.mjs. A
// mark is a lookup of a file that does not exist.
//
// node phases.mjs '{"phase","dir","expected","backups","target"?}'
// `target` is the directory of a restore.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { Ledger, PRIMARY } from './ledger.mjs';
import { carryOut, openSmall, say } from './operations.mjs';
import { loadCore, makeChecksum } from '../../dist/core/index.js';
import { restoreBackup } from '../../dist/engine/backup/restore.js';
import { nodeFs } from '../../dist/storage/node-fs.js';

const task = JSON.parse(process.argv[2]);
const ledger = new Ledger(JSON.parse(readFileSync(task.expected, 'utf8')));
const mark = (what) => existsSync(`/hedgerow-mark-${what}`);

function inserts(count, rows) {
  return Array.from({ length: count }, () => ({ kind: 'insert', bulk: rows > 1, keyed: false, parts: [{ table: PRIMARY, start: 0, rows, old: false }] }));
}

const WORK = {
  commit: () => inserts(3, 5),
  commits: () => inserts(60, 1),
  /** Inserts more than fits in a log file of 64 KB. */
  rotation: () => inserts(4, 500),
  transaction: () => [
    { kind: 'transaction', keyed: true, deletes: [], updates: [], parts: [{ table: PRIMARY, start: 0, rows: 600, old: false }] },
  ],
  compaction: () => [{ kind: 'compact' }],
  ttl: () => [{ kind: 'ttl', table: PRIMARY }],
  alter: () => [
    { kind: 'addColumn', table: PRIMARY, column: `c${ledger.next}` },
    { kind: 'createTable', table: `t${ledger.next + 1}` },
    { kind: 'dropTable', table: `t${ledger.next + 1}` },
    { kind: 'createIndex', table: PRIMARY },
    { kind: 'putDocument', document: `d${ledger.next + 4}` },
  ],
  backup: () => [{ kind: 'backup' }],
};

async function restore() {
  const core = loadCore();
  const file = `${task.backups}/${readdirSync(task.backups).filter((name) => name.endsWith('.tar.gz')).sort()[0]}`;
  const idle = { progress: () => undefined, checkStopped: () => undefined };
  mark('begin');
  try {
    await restoreBackup({ fs: nodeFs, crc32c: makeChecksum(core.instantiate()), core, file, dir: task.target, ...idle });
    say('restored');
  } catch (error) {
    say(`refused ${error.code ?? error.name} ${String(error.message).replaceAll('\n', ' ')}`);
  }
  mark('end');
}

async function work() {
  let database;
  if (task.phase === 'open') mark('begin');
  try {
    database = await openSmall(task.dir, { inline: true });
  } catch (error) {
    say(`closed ${error.code ?? error.name} ${String(error.message).replaceAll('\n', ' ')}`);
    mark('end');
    return;
  }
  if (task.phase !== 'open') mark('begin');
  for (const operation of WORK[task.phase]?.() ?? []) {
    const n = ledger.next;
    const isGone = operation.kind === 'dropTable' && !ledger.tables.has(operation.table);
    if (!isGone) await carryOut(database, ledger, { n, ...operation }, task.backups);
  }
  if (task.phase !== 'close' && task.phase !== 'open') mark('end');
  await database.close().catch((error) => say(`unclean ${error.code ?? error.name} ${error.message}`));
  mark('end');
}

await (task.phase === 'restore' ? restore() : work());
say('ended');
process.exit(0);
