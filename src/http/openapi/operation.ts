// Describes one route: parameters, body, and every answer with its schema and headers.

import { JSON_TYPE, NDJSON_TYPE } from '../media.ts';
import type { Route } from '../route.ts';
import type { GenericSchema } from '../schema.ts';
import type { Components } from './components.ts';
import { answerHeaders, requestHeaders } from './headers.ts';
import { answerSchema, bodySchema, type JsonObject, parametersOf } from './json-schema.ts';
import { ERROR_TEXTS, errorStatuses } from './statuses.ts';

export function operationOf(route: Route, tag: string, components: Components): JsonObject {
  const { schemas } = route;
  const parameters = [
    ...parametersOf(schemas.parameters).map((one) => parameter('path', one, components)),
    ...parametersOf(schemas.query).map((one) => parameter('query', one, components)),
    ...requestHeaders(route),
  ];
  return {
    operationId: route.id,
    tags: [tag],
    summary: route.summary,
    ...(route.role === 'none' ? { security: [] } : {}),
    'x-role': route.role,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(schemas.body === undefined ? {} : { requestBody: requestBody(route, schemas.body, components) }),
    responses: responses(route, components),
  };
}

/** An error of this status from a route with the usual headers. */
export function errorResponse(route: Route, status: number): JsonObject {
  return {
    description: ERROR_TEXTS[status],
    headers: answerHeaders(route, status),
    content: { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } },
  };
}

function parameter(
  place: 'path' | 'query',
  { name, required, schema }: ReturnType<typeof parametersOf>[number],
  components: Components,
): JsonObject {
  const { description, ...rest } = schema;
  return {
    name,
    in: place,
    ...(required || place === 'path' ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    schema: components.take(rest),
  };
}

function requestBody(route: Route, schema: GenericSchema, components: Components): JsonObject {
  const body = components.take(bodySchema(schema));
  const content = route.bodyTypes.map((type) => [type, type === NDJSON_TYPE ? ndjson(body) : { schema: body }]);
  return { ...(route.bodyOptional === true ? {} : { required: true }), content: Object.fromEntries(content) };
}

/** OpenAPI 3.1 has no word for a stream of values; the schema of one line stands beside. */
function ndjson(line: JsonObject): JsonObject {
  return { schema: { type: 'string', description: 'One JSON value a line.' }, 'x-line-schema': line };
}

function responses(route: Route, components: Components): JsonObject {
  const good = Object.entries(route.schemas.answers).map(([status, schema]) => [
    status,
    {
      description: status === '201' ? 'Stored.' : route.method === 'GET' ? 'Found.' : 'Done.',
      headers: answerHeaders(route, Number(status)),
      content: content(route, schema, components),
    },
  ]);
  const unchanged = { description: 'Nothing has changed.', headers: answerHeaders(route, 304) };
  const bad = errorStatuses(route).map((status) => [
    status,
    route.rateExempt ? errorResponse(route, status) : { $ref: `#/components/responses/Error${status}` },
  ]);
  return { ...Object.fromEntries(good), ...(route.tagged ? { 304: unchanged } : {}), ...Object.fromEntries(bad) };
}

function content(route: Route, schema: GenericSchema, components: Components): JsonObject {
  const types = route.answerTypes ?? [JSON_TYPE];
  const described = { schema: components.take(answerSchema(schema)) };
  const found: JsonObject = Object.fromEntries(types.map((type) => [type, described]));
  if (route.schemas.row !== undefined) found[NDJSON_TYPE] = ndjson(components.take(answerSchema(route.schemas.row)));
  return found;
}
