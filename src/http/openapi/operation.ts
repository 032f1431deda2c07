// Describes one route: its parameters, body, and every answer with its schema and headers.

import { type AnswerFormat, FORMATS, formatOf } from '../answer/format.ts';
import { JSON_TYPE, NDJSON_TYPE } from '../media.ts';
import type { Route } from '../route.ts';
import type { GenericSchema } from '../schema.ts';
import type { Components } from './components.ts';
import { answerHeaders, requestHeaders } from './headers.ts';
import { answerSchema, bodySchema, type JsonObject, parametersOf } from './json-schema.ts';
import { ERROR_TEXTS, errorExample, errorStatuses } from './statuses.ts';

/** Example bodies of one operation. */
export interface BodyExamples {
  /** JSON request body; schemas may have examples of their own. */
  readonly body?: unknown;
  /** JSON body of the answer under 400. */
  readonly answer?: unknown;
  /** Bodies of text answers, by media type. */
  readonly texts?: Readonly<Record<string, string>>;
  /** Lines of an NDJSON request and of an NDJSON answer. */
  readonly bodyLines?: readonly unknown[];
  readonly answerLines?: readonly unknown[];
}

interface OperationTexts {
  readonly tag: string;
  readonly description: string | undefined;
  readonly examples: BodyExamples;
}

export function operationOf(
  route: Route,
  components: Components,
  { tag, description, examples }: OperationTexts,
): JsonObject {
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
    ...(description === undefined ? {} : { description }),
    ...(route.role === 'none' ? { security: [] } : {}),
    'x-role': route.role,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(schemas.body === undefined ? {} : { requestBody: requestBody(route, schemas.body, components, examples) }),
    responses: responses(route, components, examples),
  };
}

/** Returns the description of an error response with this status and the headers of the route. */
export function errorResponse(route: Route, status: number): JsonObject {
  return {
    description: ERROR_TEXTS[status],
    headers: answerHeaders(route, status),
    content: {
      [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' }, example: errorExample(status) },
    },
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

function requestBody(route: Route, schema: GenericSchema, components: Components, given: BodyExamples): JsonObject {
  const { examples = [], ...described } = bodySchema(schema);
  const body = components.take(described);
  const shown = given.body ?? (examples as unknown[])[0];
  const content = route.bodyTypes.map((type) => [
    type,
    type === NDJSON_TYPE
      ? {
          ...linesSchema(body, formatOf(type)),
          ...(given.bodyLines === undefined ? {} : { example: linesOf(given.bodyLines) }),
        }
      : { schema: body, ...(shown === undefined ? {} : { example: shown }) },
  ]);
  return { ...(route.bodyOptional === true ? {} : { required: true }), content: Object.fromEntries(content) };
}

/**
 * OpenAPI 3.1 cannot describe a stream of values: for a generated client the body is a string, one
 * JSON value per line. The schema of a line is given beside it; it is a component, so that clients
 * have a type for what they parse.
 */
function linesSchema(line: JsonObject, { mediaType, describeLines }: AnswerFormat): JsonObject {
  if (typeof line.$ref !== 'string') throw new Error(`a line of ${mediaType} needs a titled schema`);
  const description = describeLines(line.$ref.split('/').at(-1)!);
  return { schema: { type: 'string', contentMediaType: mediaType, description }, 'x-line-schema': line };
}

function linesOf(values: readonly unknown[]): string {
  return values.map((value) => `${JSON.stringify(value)}\n`).join('');
}

function responses(route: Route, components: Components, examples: BodyExamples): JsonObject {
  const good = Object.entries(route.schemas.answers).map(([status, schema]) => [
    status,
    {
      description: status === '201' ? 'Stored.' : route.method === 'GET' ? 'Found.' : 'Done.',
      headers: answerHeaders(route, Number(status)),
      content: content(route, schema, components, examples),
    },
  ]);
  const unchanged = { description: 'Nothing has changed.', headers: answerHeaders(route, 304) };
  const bad = errorStatuses(route).map((status) => [
    status,
    route.rateExempt ? errorResponse(route, status) : { $ref: `#/components/responses/Error${status}` },
  ]);
  return { ...Object.fromEntries(good), ...(route.tagged ? { 304: unchanged } : {}), ...Object.fromEntries(bad) };
}

function content(route: Route, schema: GenericSchema, components: Components, examples: BodyExamples): JsonObject {
  const types = route.answerTypes ?? [JSON_TYPE];
  const described = { schema: components.take(answerSchema(schema)) };
  const { answer, texts, answerLines } = examples;
  const exampleOf = (type: string) => (type === JSON_TYPE ? answer : texts?.[type]);
  const found: JsonObject = Object.fromEntries(
    types.map((type) => {
      const example = exampleOf(type);
      return [type, { ...described, ...(example === undefined ? {} : { example }) }];
    }),
  );
  if (route.schemas.row !== undefined) {
    const example = answerLines === undefined ? {} : { example: linesOf(answerLines) };
    const line = components.take(answerSchema(route.schemas.row));
    for (const format of FORMATS.filter(({ rows }) => rows === 'ndjson'))
      found[format.mediaType] = { ...linesSchema(line, format), ...example };
  }
  return found;
}
