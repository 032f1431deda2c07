// Health: the two probes, and the statistics of the service.

import { HedgerowError } from '../errors.ts';
import { jsonReply, jsonTextReply } from '../http/reply.ts';
import type { Route } from '../http/route.ts';
import { v } from '../http/schema.ts';
import { validated } from '../http/validated.ts';

const LIVE = '{"status":"live"}';
const READY = '{"status":"ready"}';

const live = validated({
  method: 'GET',
  path: '/health/live',
  role: 'none',
  summary: 'The process runs.',
  database: false,
  answers: { 200: v.object({ status: v.literal('live') }) },
  handler: () => jsonTextReply(200, LIVE),
});

const ready = validated({
  method: 'GET',
  path: '/health/ready',
  role: 'none',
  summary: 'The indexes are loaded and requests are served.',
  database: false,
  answers: { 200: v.object({ status: v.literal('ready') }) },
  handler: (_input, { services }) => {
    if (services.draining) throw new HedgerowError('draining', 'The server is shutting down.');
    if (services.database === undefined) throw new HedgerowError('starting', 'The database is still being opened.');
    return jsonTextReply(200, READY);
  },
});

const health = validated({
  method: 'GET',
  path: '/health',
  role: 'readonly',
  summary: 'Statistics of the service and its data.',
  answers: {
    200: v.looseObject({
      status: v.picklist(['ok', 'degraded']),
      version: v.string(),
      db_dir: v.string(),
      total_records: v.number(),
      bucket_count: v.number(),
      bucket_seconds: v.number(),
      node_count: v.number(),
      wal_pending: v.number(),
      uptime_seconds: v.number(),
      auth_disabled: v.boolean(),
    }),
  },
  handler: (_input, { services, database }) => {
    const engine = database.health();
    const isWhole = engine.log_failed === null && Object.keys(engine.corrupt_tables).length === 0;
    return jsonReply(200, {
      status: isWhole ? 'ok' : 'degraded',
      version: services.version,
      ...engine,
      uptime_seconds: Math.round(services.now() - services.startedAt) / 1000,
      auth_disabled: services.authDisabled,
    });
  },
});

export const healthRoutes: readonly Route[] = [live, ready, health];
