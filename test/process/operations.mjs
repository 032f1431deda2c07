// Carries out the operations of the ledger on an embedded database and reports each on stdout: `b
// <operation>` before it begins, `a <n> <first ids>` after it was acknowledged, `f <n> <code>
// <message>` if it was refused.

import { Database, InlineRunner, WorkerRunner } from '../../dist/engine/index.js';
import { loadCore } from '../../dist/core/index.js';
import { nodeFs } from '../../dist/storage/node-fs.js';
import { answerKey, changedBy, edgeOf, NOW_SECONDS, ROWS_PER_OPERATION, TTL_SECONDS } from './ledger.mjs';

/**
 * Opens a directory with small files, so that even a short life has log rotations and several
 * segments.
 */
export function openSmall(dir, { inline = false, ...more } = {}) {
  const schedule = (callback, delayMs) => void setTimeout(callback, delayMs).unref();
  return Database.open({
    dir,
    fs: nodeFs,
    runner: inline ? new InlineRunner(nodeFs, loadCore()) : new WorkerRunner(schedule),
    now: () => NOW_SECONDS * 1000 + Math.floor(performance.now()),
    nowUs: () => performance.now() * 1000,
    schedule,
    primaryTable: 'hyperedges',
    maxMembers: 64,
    durability: 'fsync',
    memoryBudgetBytes: 2 ** 22,
    segmentRows: 1000,
    logFileBytes: 2 ** 16,
    slicedOperations: 512,
    ...more,
  });
}

export function say(line) {
  process.stdout.write(`${line}\n`);
}

/** Runs and reports one operation; never rejects. Resolves to true if it was acknowledged. */
export async function carryOut(database, ledger, operation, backupDir) {
  ledger.begin(operation);
  say(`b ${JSON.stringify(operation)}`);
  try {
    const firstIds = await WORK[operation.kind](database, operation, ledger, backupDir);
    ledger.apply(operation.n, firstIds);
    say(`a ${operation.n} ${JSON.stringify(firstIds ?? [])}`);
    return true;
  } catch (error) {
    const stack = error?.name === 'HedgerowError' ? '' : ` ${String(error?.stack).replaceAll('\n', ' | ')}`;
    if (isCertain(error)) ledger.forget(operation.n);
    say(`f ${operation.n} ${error?.code ?? error?.name} ${String(error?.message).replaceAll('\n', ' ')}${stack}`);
    return false;
  }
}

/**
 * Returns whether an error proves that nothing was applied. A full disk does, unless the log has
 * failed as well: then the message asks for a restart.
 */
function isCertain(error) {
  return error?.code === 'disk_full' && !error.message.includes('restart');
}

function attachOf({ n, keyed }) {
  if (!keyed) return undefined;
  return () => ({
    id: answerKey(n),
    bodyHash: 'hash',
    status: 201,
    contentType: 'application/json',
    body: `answer ${n}`,
    at: NOW_SECONDS * 1000,
  });
}

function tagOf(operation, part, index) {
  return operation.n * ROWS_PER_OPERATION + part.start + index;
}

const WORK = {
  async insert(database, operation) {
    const [part] = operation.parts;
    const table = database.table(part.table);
    if (!operation.bulk) {
      const { row } = await table.insert(edgeOf(tagOf(operation, part, 0), part.old), attachOf(operation));
      return [row.id];
    }
    const bulk = table.bulk();
    for (let index = 0; index < part.rows; index++) bulk.add(edgeOf(tagOf(operation, part, index), part.old));
    const { firstId } = await bulk.commit(attachOf(operation));
    return [firstId];
  },
  async delete(database, { table, tag, old }) {
    const { event_ts, members } = edgeOf(tag, old);
    const { matched } = await database.table(table).delete(event_ts, members);
    if (matched !== 1) throw new Error(`a delete of the row with tag ${tag} matched ${matched} rows`);
  },
  async transaction(database, operation, ledger) {
    const transaction = database.begin();
    const firstIds = operation.parts.map((part) => {
      const table = database.table(part.table);
      const rows = Array.from({ length: part.rows }, (_, index) =>
        transaction.insert(table, edgeOf(tagOf(operation, part, index), part.old)),
      );
      return rows[0].id;
    });
    for (const { table, tag, old } of operation.deletes) {
      const { event_ts, members } = edgeOf(tag, old);
      transaction.delete(database.table(table), event_ts, members);
    }
    for (const { table, tag, old } of operation.updates) {
      const { id } = ledger.rowsOf(table).get(tag);
      const edge = edgeOf(tag, old, changedBy(operation.n));
      transaction.updateRow(database.table(table), { eventTs: edge.event_ts, id }, edge);
    }
    await transaction.commit(attachOf(operation));
    return firstIds;
  },
  async createTable(database, { table }) {
    await database.createTable({ name: table });
  },
  async dropTable(database, { table }) {
    await database.dropTable(table);
  },
  async addColumn(database, { n, table, column }) {
    await database.alterTable(table, { kind: 'addColumn', column: { name: column, type: 'INTEGER', default: n } });
  },
  async dropColumn(database, { table, column }) {
    await database.alterTable(table, { kind: 'dropColumn', column });
  },
  async putDocument(database, { n, document }) {
    await database.documents.change([{ store: 'test', id: document, value: { n } }]);
  },
  async removeDocument(database, { document }) {
    await database.documents.change([{ store: 'test', id: document, value: null }]);
  },
  async createIndex(database, { table }) {
    await database.createIndex(table, 'weight');
  },
  async dropIndex(database, { table }) {
    await database.dropIndex(table, 'weight');
  },
  async threshold(database, { table, threshold }) {
    await database.setCompactThreshold(threshold, table);
  },
  async ttl(database, { table }) {
    await database.compact({ table, ttlSeconds: TTL_SECONDS });
  },
  async compact(database, { table }) {
    await database.compact(table === undefined ? {} : { table });
  },
  async backup(database, { n }, _ledger, backupDir) {
    // A backup in the same second and at the same LSN has the same name, and also the same content,
    // so that error is ignored.
    await database.backup({ dir: backupDir, compactFirst: n % 3 === 0 }).catch((error) => {
      if (error.code !== 'backup_exists') throw error;
    });
  },
};
