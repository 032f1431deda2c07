// The health routes: two probes, and the statistics of the service.

import { refusal } from '../errors.ts';
import { jsonReply, jsonTextReply } from '../http/index.ts';
import { type Leader, type Route, validated } from './application.ts';
import { healthAnswer, liveAnswer, readyAnswer } from './schemas/health.ts';

const LIVE = '{"status":"live"}';
const READY = '{"status":"ready"}';
/**
 * Milliseconds that a request waits for a new count of the distinct nodes before it returns the
 * previous count.
 */
const NODES_WAIT_MS = 100;

const live = validated({
  id: 'getLive',
  method: 'GET',
  path: '/health/live',
  role: 'none',
  summary: 'The process runs.',
  database: false,
  rateExempt: true,
  answers: { 200: liveAnswer },
  handler: () => jsonTextReply(200, LIVE),
});

const ready = validated({
  id: 'getReady',
  method: 'GET',
  path: '/health/ready',
  role: 'none',
  summary: 'The indexes are loaded and requests are served.',
  database: false,
  rateExempt: true,
  answers: { 200: readyAnswer },
  errors: [503],
  handler: (_input, { services }) => {
    if (services.draining) throw refusal('draining', 'The server is shutting down.');
    if (services.database === undefined) throw refusal('starting', 'The database is still being opened.');
    return jsonTextReply(200, READY);
  },
});

const health = validated({
  id: 'getHealth',
  method: 'GET',
  path: '/health',
  role: 'readonly',
  summary: 'Statistics of the service and its data.',
  isOfService: true,
  answers: { 200: healthAnswer },
  handler: async (_input, { services, database }) => {
    const { leader } = services;
    const engine = await database.statistics.gatherHealth(NODES_WAIT_MS);
    const isWhole =
      engine.log_failed === null &&
      (leader === undefined || leader.problem === null) &&
      (services.workers?.problem ?? null) === null &&
      engine.answers_damaged_until === null &&
      Object.keys(engine.corrupt_tables).length === 0;
    return jsonReply(200, {
      status: isWhole ? 'ok' : 'degraded',
      version: services.version,
      ...engine,
      ...roleOf(leader),
      ...(services.workers === undefined
        ? { workers: [] }
        : { workers: services.workers.list, follow_problem: services.workers.problem }),
      uptime_seconds: Math.round(services.now() - services.startedAt) / 1000,
      auth_disabled: services.authDisabled,
      transport: services.transport,
    });
  },
});

function roleOf(leader: Leader | undefined) {
  if (leader === undefined) return { role: 'leader', leader: null, lag_lsn: 0, lag_ms: 0, follow_problem: null };
  const { url, lagLsns, lagMs, problem } = leader;
  return {
    role: 'follower',
    leader: url ?? null,
    lag_lsn: lagLsns ?? null,
    lag_ms: Number.isFinite(lagMs) ? Math.round(lagMs) : null,
    follow_problem: problem,
  };
}

export const healthRoutes: readonly Route[] = [live, ready, health];
