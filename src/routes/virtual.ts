// Routes for virtual graphs: they manage specs, list the contents of backends, run queries, and
// copy results into tables.

import { includesRole } from '../access/principal.ts';
import { settingsSentence } from '../config/setting-names.ts';
import { refusal } from '../errors.ts';
import { formatOf, JSON_BODY, jsonReply, jsonTextReply, type Reply, WriteAnswer } from '../http/index.ts';
import { parseJsonObject } from '../http/json-body.ts';
import { check, secondsOf, type v } from '../http/schema.ts';
import type { VirtualGraph, VirtualGraphs } from '../virtual/index.ts';
import { type Call, type Route, validated } from './application.ts';
import { deadlineOf, untilDeadline } from './call-deadline.ts';
import {
  backendList,
  clearedCache,
  compileAnswer,
  compileBody,
  deletedGraph,
  graphBody,
  graphList,
  graphParameters,
  hyperedge,
  introspectAnswer,
  materializeAnswer,
  materializeBody,
  proposeAnswer,
  proposeBody,
  queryAnswer,
  queryBody,
  storedGraph,
} from './schemas/virtual.ts';
import { virtualReply } from './virtual-reply.ts';

/** Returns the virtual graphs of the service. Throws `starting` while they are not ready. */
function graphsOf({ services }: Call): VirtualGraphs {
  if (services.virtual === undefined) throw refusal('starting', 'Virtual graphs are not ready yet. Try again shortly.');
  return services.virtual;
}

/**
 * Wraps a route so that it answers as if it did not exist, whatever the request contains, if the
 * backend library is not installed.
 */
function whereInstalled(route: Route): Route {
  return {
    ...route,
    handler: (call) => {
      graphsOf(call).assertInstalled();
      return route.handler(call);
    },
  };
}

const backends = validated({
  id: 'listVirtualBackends',
  method: 'GET',
  path: '/v1/virtual/backends',
  role: 'readonly',
  summary: 'The types of backends, and which are available here.',
  answers: { 200: backendList },
  errors: [404],
  handler: (_input, call) =>
    jsonReply(200, {
      backends: graphsOf(call)
        .backends()
        .map(({ type, available, description, setting }) => {
          return { type, available, description: `${description} ${settingsSentence([setting])}` };
        }),
    }),
});

const propose = validated({
  id: 'proposeVirtualGraph',
  method: 'POST',
  path: '/v1/virtual/propose',
  role: 'readonly',
  summary: 'Propose a spec from the schema of a backend, with a reason for each edge; `save` stores it.',
  audit: 'virtual.created',
  // Storing a spec is a write. If a request stores nothing, its answer is not kept under the
  // Idempotency-Key.
  idempotent: true,
  body: proposeBody,
  answers: { 200: proposeAnswer },
  errors: [403, 404, 409, 502, 504, 507],
  handler: ({ body }, call) => {
    if (body.save === true && !includesRole(call.caller.role, 'readwrite')) throw call.deny('readwrite');
    return untilDeadline(call, async (signal) => {
      const { backend, id, name, save, use_llm: useLlm, llm_api_key: llmApiKey } = body;
      const request = { backend, id, name, save, useLlm, llmApiKey };
      const answer = await graphsOf(call).propose(request, { signal });
      if (!answer.saved) return jsonReply(200, answer, undefined, { audit: 'none', kept: false });
      return jsonReply(200, answer, undefined, { audit: { statement: `create ${answer.spec.id}` } });
    });
  },
});

const list = validated({
  id: 'listVirtualGraphs',
  method: 'GET',
  path: '/v1/virtual/graphs',
  role: 'readonly',
  summary: 'All virtual graphs in short form, oldest first.',
  answers: { 200: graphList },
  errors: [404],
  handler: (_input, call) => jsonReply(200, { graphs: graphsOf(call).list() }),
});

/**
 * Properties shared by the two routes whose body is a spec. These routes do not use `validated`:
 * the parser of specs checks the body, because it reports all faults at once.
 */
const WITH_SPEC = {
  role: 'readwrite',
  database: true,
  data: true,
  negotiates: false,
  tagged: false,
  rateExempt: false,
  idempotent: true,
  bodyTypes: JSON_BODY,
} as const;

function graphAnswer(call: Call, status: number): WriteAnswer<VirtualGraph> {
  return new WriteAnswer<VirtualGraph>(call.once, status, JSON.stringify, undefined, ({ id }) => ({ id }));
}

const create: Route = {
  ...WITH_SPEC,
  id: 'createVirtualGraph',
  method: 'POST',
  path: '/v1/virtual/graphs',
  summary: 'Store a spec.',
  audit: 'virtual.created',
  schemas: { body: graphBody, answers: { 201: storedGraph } },
  errors: [404, 409],
  handler: async (call): Promise<Reply> => {
    const answer = graphAnswer(call, 201);
    const graph = await graphsOf(call).create(parseJsonObject(call), answer.attach);
    return jsonTextReply(201, answer.body(graph), undefined, { audit: { statement: `create ${graph.id}` } });
  },
};

const replace: Route = {
  ...WITH_SPEC,
  id: 'replaceVirtualGraph',
  method: 'PUT',
  path: '/v1/virtual/graphs/{id}',
  summary: 'Replace a spec. Its version increases, and its cached results are removed.',
  audit: 'virtual.replaced',
  schemas: { parameters: graphParameters, body: graphBody, answers: { 200: storedGraph } },
  errors: [404],
  handler: async (call): Promise<Reply> => {
    const { id } = check(graphParameters, { id: call.parameters[0] }, 'path');
    const answer = graphAnswer(call, 200);
    const graph = await graphsOf(call).replace(id, parseJsonObject(call), answer.attach);
    const statement = `replace ${graph.id} version ${graph.spec_version}`;
    return jsonTextReply(200, answer.body(graph), undefined, { audit: { statement } });
  },
};

const read = validated({
  id: 'getVirtualGraph',
  method: 'GET',
  path: '/v1/virtual/graphs/{id}',
  role: 'readonly',
  summary: 'One spec.',
  parameters: graphParameters,
  answers: { 200: storedGraph },
  errors: [404],
  handler: ({ parameters: { id } }, call) => jsonReply(200, graphsOf(call).get(id)),
});

const remove = validated({
  id: 'deleteVirtualGraph',
  method: 'DELETE',
  path: '/v1/virtual/graphs/{id}',
  role: 'readwrite',
  summary: 'Delete a spec. The data of its backend does not change.',
  audit: 'virtual.deleted',
  idempotent: true,
  parameters: graphParameters,
  answers: { 200: deletedGraph },
  errors: [404],
  handler: async ({ parameters: { id } }, call) => {
    const answer = new WriteAnswer<void>(call.once, 200, () => JSON.stringify({ id, deleted: true }));
    await graphsOf(call).delete(id, answer.attach);
    return jsonTextReply(200, answer.body(), undefined, { audit: { statement: `delete ${id}` } });
  },
});

const clear = validated({
  id: 'clearVirtualCache',
  method: 'DELETE',
  path: '/v1/virtual/graphs/{id}/cache',
  role: 'readwrite',
  summary: 'Remove the cached results of a graph.',
  idempotent: true,
  isLocal: true,
  parameters: graphParameters,
  answers: { 200: clearedCache },
  errors: [404],
  handler: async ({ parameters: { id } }, call) => {
    const here = graphsOf(call).clearCache(id);
    return jsonReply(200, { id, cleared: here + ((await call.services.workers?.clearCache(id)) ?? 0) });
  },
});

const introspect = validated({
  id: 'introspectVirtualGraph',
  method: 'GET',
  path: '/v1/virtual/graphs/{id}/introspect',
  role: 'readonly',
  summary: 'Tables and columns of the backend.',
  parameters: graphParameters,
  answers: { 200: introspectAnswer },
  errors: [404, 502],
  handler: ({ parameters: { id } }, call) =>
    untilDeadline(call, async (signal) => {
      const { tables } = await graphsOf(call).introspect(id, { signal });
      const shown = tables.map(({ name, columns, row_count }) => {
        return { name, columns: columns.map((column) => ({ name: column.name, type: column.type })), row_count };
      });
      return jsonReply(200, { tables: shown });
    }),
});

const compile = validated({
  id: 'compileVirtualQuery',
  method: 'POST',
  path: '/v1/virtual/graphs/{id}/compile',
  role: 'readonly',
  summary: 'The SQL of a query, and its plan; nothing is run.',
  parameters: graphParameters,
  body: compileBody,
  answers: { 200: compileAnswer },
  errors: [404, 502],
  handler: ({ parameters: { id }, body }, call) =>
    untilDeadline(call, async (signal) => jsonReply(200, await graphsOf(call).compile(id, body.query, { signal }))),
});

const query: Route = {
  id: 'queryVirtualGraph',
  method: 'POST',
  path: '/v1/virtual/graphs/{id}/query',
  role: 'readonly',
  summary: 'Run a query. With NDJSON, the answer has one hyperedge per line.',
  database: true,
  data: false,
  negotiates: true,
  tagged: false,
  rateExempt: false,
  idempotent: false,
  bodyTypes: JSON_BODY,
  schemas: { parameters: graphParameters, body: queryBody, answers: { 200: queryAnswer }, row: hyperedge },
  errors: [404, 500, 502, 504],
  handler: runQuery,
};

async function runQuery(call: Call): Promise<Reply> {
  const graphs = graphsOf(call);
  const given = Object.entries(parseJsonObject(call)).filter(([, value]) => value !== null);
  const body: v.InferOutput<typeof queryBody> = check(queryBody, Object.fromEntries(given), 'body');
  const format = formatOf(call.accept);
  const deadline = deadlineOf(call);
  try {
    const { signal } = deadline;
    const { query: text, captured_at, limit, refresh, ordered, times } = body;
    const capturedAt = captured_at === undefined ? undefined : secondsOf(captured_at);
    const running = await graphs.query(
      call.parameters[0]!,
      { query: text, capturedAt, limit, refresh, ordered },
      { signal },
    );
    const reply = await virtualReply(call, running, { format, isoTimes: times === 'iso' }, deadline.end);
    deadline.begun();
    return reply;
  } catch (error) {
    deadline.end();
    throw error;
  }
}

const materialize = validated({
  id: 'materializeVirtualQuery',
  method: 'POST',
  path: '/v1/virtual/graphs/{id}/materialize',
  role: 'readwrite',
  summary:
    'Copy the result of a query into a new table, and its vertices into node tables, for statements and measures.',
  audit: 'table.created',
  idempotent: true,
  parameters: graphParameters,
  body: materializeBody,
  answers: { 201: materializeAnswer },
  errors: [404, 409, 500, 502, 504],
  handler: async ({ parameters: { id }, body }, call) => {
    const { query: text, table, limit, bucket_seconds: bucketSeconds, ids } = body;
    const request = { query: text, table, limit, bucketSeconds, ids };
    const deadline = deadlineOf(call);
    try {
      const { signal, begun } = deadline;
      const made = await graphsOf(call).materialize(id, request, { signal, begun });
      const audit = { table: made.table, statement: `materialize ${id} into ${made.table}` };
      return jsonReply(201, made, undefined, { audit });
    } finally {
      deadline.end();
    }
  },
});

export const virtualRoutes: readonly Route[] = [
  backends,
  propose,
  list,
  create,
  read,
  replace,
  remove,
  clear,
  introspect,
  compile,
  query,
  materialize,
].map(whereInstalled);
