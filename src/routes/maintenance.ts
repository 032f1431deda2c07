// Maintenance routes: run a compaction, set the threshold for automatic compaction, and read the
// state of the write-ahead log.

import type { WalStatus } from '../engine/index.ts';
import { jsonReply, jsonTextReply, type Reply, type ReplyFacts, WriteAnswer } from '../http/index.ts';
import { type Route, validated } from './application.ts';
import { autocompactAnswer, autocompactBody, compactAnswer, compactBody, walAnswer } from './schemas/maintenance.ts';

const compact = validated({
  id: 'compactHyperedges',
  method: 'POST',
  path: '/v1/hyperedges/compact',
  role: 'readwrite',
  summary: 'Compact one table or all; answers when it is done.',
  data: true,
  audit: 'compaction.run',
  idempotent: true,
  body: compactBody,
  bodyOptional: true,
  answers: { 200: compactAnswer },
  errors: [404, 500],
  handler: async ({ body }, { database }) => {
    const table = body.table === undefined ? null : database.table(body.table).name;
    const { tables, ...figures } = await database.compact({
      ...(table === null ? {} : { table }),
      ...(body.ttl_seconds === undefined ? {} : { ttlSeconds: body.ttl_seconds }),
    });
    const answer = { compacted: true, table, tables, ttl_seconds: body.ttl_seconds ?? null, ...figures };
    return jsonReply(200, answer, undefined, tableFacts(table));
  },
});

const autocompact = validated({
  id: 'setAutocompact',
  method: 'POST',
  path: '/v1/autocompact',
  role: 'readwrite',
  summary: 'Set the number of log entries at which a compaction starts automatically; 0 turns it off.',
  audit: 'table.altered',
  idempotent: true,
  body: autocompactBody,
  answers: { 200: autocompactAnswer },
  errors: [404],
  handler: async ({ body }, { database, once }) => {
    const table = body.table === undefined ? null : database.table(body.table).name;
    const answer = new WriteAnswer<void>(once, 200, () =>
      JSON.stringify({ threshold: body.threshold, table, applied: true }),
    );
    await database.setCompactThreshold(body.threshold, table ?? undefined, answer.attach);
    return jsonTextReply(200, answer.body(), undefined, tableFacts(table));
  },
});

/**
 * Returns the audit details of a change to one table. Null means all tables; then no table is
 * recorded.
 */
function tableFacts(table: string | null): ReplyFacts | undefined {
  return table === null ? undefined : { audit: { table } };
}

const wal = validated({
  id: 'getWal',
  method: 'GET',
  path: '/v1/wal',
  role: 'readonly',
  summary: 'Entries and bytes in the write-ahead log.',
  isOfService: true,
  answers: { 200: walAnswer },
  handler: async (_input, { database }) => walReply(await database.statistics.gatherWal()),
});

export const maintenanceRoutes: readonly Route[] = [compact, autocompact, wal];

/** Number of tables per chunk of an answer, so that a chunk takes less than a millisecond. */
const PAGE_TABLES = 256;

/** Streams the answer if there are many tables: with 50,000 tables the answer has 2 MB. */
function walReply(wal: WalStatus): Reply {
  const names = Object.keys(wal.tables);
  if (names.length <= PAGE_TABLES) return jsonReply(200, wal);
  const head = JSON.stringify({ ...wal, tables: {} }).slice(0, -2);
  let at = 0;
  const next = (): Uint8Array | null => {
    if (at >= names.length) return null;
    const page = names
      .slice(at, at + PAGE_TABLES)
      .map((name) => `${JSON.stringify(name)}:${JSON.stringify(wal.tables[name])}`);
    const text = `${at === 0 ? head : ','}${page.join(',')}`;
    at += PAGE_TABLES;
    return Buffer.from(at >= names.length ? `${text}}}` : text);
  };
  return { ...jsonTextReply(200, ''), source: { next, close: () => undefined } };
}
