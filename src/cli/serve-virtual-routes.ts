// Defines the routes of `hedgerow serve-virtual`: virtual graphs without keys and without a
// database, the probes, and the description of these routes.

import { refusal } from '../errors.ts';
import { buildDocument, contentReply, JSON_TYPE, jsonTextReply } from '../http/index.ts';
import type { Call, Route } from '../routes/application.ts';
import { descriptionRoutes } from '../routes/description.ts';
import { TAGS } from '../routes/description-texts.ts';
import { EXAMPLES } from '../routes/examples/index.ts';
import { healthRoutes } from '../routes/health.ts';
import { OPERATION_TEXTS } from '../routes/operation-texts.ts';
import { virtualRoutes } from '../routes/virtual.ts';

const INTRODUCTION = `Hypergraphs over tables that live elsewhere: DuckDB, Parquet, CSV, JSON, PostgreSQL.

This is the app for development: it asks for no key, listens on this machine only, keeps its specs as files, and has no tables to materialize into.

**Errors.** All answers with a status of 400 or above have the same form of body: \`detail\` is a sentence that says what to do, \`code\` is stable.`;

/** Copies results into tables, which this service does not have. */
const NEEDS_TABLES = 'materializeVirtualQuery';

/**
 * Adapts a route: it requires no key, and no answer is stored for an Idempotency-Key, because there
 * is no write-ahead log.
 */
function alone(route: Route): Route {
  const errors = (route.errors ?? []).filter((status) => status !== 403 && status !== 507);
  return { ...route, role: 'none', database: false, idempotent: false, errors };
}

export const standaloneRoutes: readonly Route[] = [
  ...virtualRoutes.filter(({ id }) => id !== NEEDS_TABLES).map(alone),
  ...healthRoutes.filter(({ id }) => id === 'getLive'),
  ...healthRoutes.filter(({ id }) => id === 'getReady').map((route) => ({ ...route, handler: ready })),
  ...descriptionRoutes.map((route) => (route.id === 'getOpenapi' ? { ...route, handler: openapi } : route)),
];

function ready({ services }: Call) {
  if (services.draining) throw refusal('draining', 'The server is shutting down.');
  if (services.virtual === undefined) throw refusal('starting', 'The service is still starting.');
  return jsonTextReply(200, '{"status":"ready"}');
}

function openapi({ services }: Call) {
  const { routes, version } = services;
  const tags = TAGS.filter(({ name }) => name === 'Virtual graphs' || name === 'Service');
  const document = buildDocument({
    routes,
    tags,
    version,
    introduction: INTRODUCTION,
    operations: OPERATION_TEXTS,
    examples: EXAMPLES,
  });
  const { securitySchemes: _none, ...components } = document.components as Record<string, unknown>;
  const text = JSON.stringify({ ...document, security: [], components });
  return contentReply(200, JSON_TYPE, text, [['Cache-Control', 'no-cache']]);
}
