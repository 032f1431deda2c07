// Builds the description of the API (OpenAPI 3.1) from the route table.

import { STATUS_OF_CODE } from '../../errors.ts';
import { finish, type Steps } from '../../schedule/steps.ts';
import type { Route } from '../route.ts';
import { Components } from './components.ts';
import { ANSWER_HEADERS, REQUEST_HEADERS } from './headers.ts';
import type { JsonObject } from './json-schema.ts';
import { type BodyExamples, errorResponse, operationOf } from './operation.ts';
import { errorStatuses } from './statuses.ts';

/**
 * A group of routes and the path prefixes that belong to it; a path belongs to the first group with
 * a matching prefix.
 */
export interface Tag {
  readonly name: string;
  readonly description: string;
  readonly paths: readonly string[];
}

export interface Description {
  readonly routes: readonly Route[];
  readonly tags: readonly Tag[];
  readonly version: string;
  /** Markdown. */
  readonly introduction: string;
  /** Texts about operations in addition to their summaries, by id; Markdown. */
  readonly operations: Readonly<Record<string, string>>;
  /** Example request and answer bodies, by operation id. */
  readonly examples: Readonly<Record<string, BodyExamples>>;
}

/**
 * Returns the document as a plain value, describing one route a step. Throws if a route has no tag,
 * or if two different schemas have the same name.
 */
export function* documentSteps({
  routes,
  tags,
  version,
  introduction,
  operations,
  examples,
}: Description): Steps<JsonObject> {
  const components = new Components();
  const paths: Record<string, JsonObject> = {};
  for (const route of routes) {
    paths[route.path] ??= {};
    paths[route.path]![route.method.toLowerCase()] = operationOf(route, components, {
      tag: tagOf(route, tags),
      description: operations[route.id],
      examples: examples[route.id] ?? {},
    });
    yield;
  }
  const statuses = new Set(routes.flatMap((route) => (route.rateExempt ? [] : errorStatuses(route))));
  const responses = Object.fromEntries(
    [...statuses].sort().map((status) => [`Error${status}`, usualError(routes, status)]),
  );
  const text = JSON.stringify([paths, responses]);
  yield;
  return {
    openapi: '3.1.1',
    info: { title: 'Hedgerow', version, description: introduction, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags: tags.map(({ name, description }) => ({ name, description })),
    paths,
    components: {
      schemas: { ...components.schemas(), Error: ERROR },
      responses,
      parameters: referred(text, 'parameters', REQUEST_HEADERS),
      headers: referred(text, 'headers', ANSWER_HEADERS),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same key as `Authorization: Bearer`.' },
      },
    },
  };
}

/** Returns the document of `documentSteps` without pauses. */
export function buildDocument(description: Description): JsonObject {
  return finish(documentSteps(description));
}

/**
 * Returns the components that the text refers to: an API of a few routes does not need the others.
 */
function referred(text: string, kind: string, all: Readonly<Record<string, JsonObject>>): JsonObject {
  return Object.fromEntries(Object.entries(all).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`)));
}

function tagOf(route: Route, tags: readonly Tag[]): string {
  const tag = tags.find(({ paths }) => paths.some((path) => route.path === path || route.path.startsWith(`${path}/`)));
  if (tag === undefined) throw new Error(`${route.path} belongs to no tag of the API description`);
  return tag.name;
}

/** Returns the description of an error, which is the same for all routes under the rate limit. */
function usualError(routes: readonly Route[], status: number): JsonObject {
  return errorResponse(routes.find((route) => !route.rateExempt)!, status);
}

/** The schema of the body of all errors. */
const ERROR: JsonObject = {
  type: 'object',
  description: 'What went wrong. Every status of 400 and above has this body, and so has 307.',
  required: ['detail', 'code', 'status', 'request_id'],
  properties: {
    detail: { type: 'string', description: 'A sentence that says what to do.' },
    code: { type: 'string', enum: Object.keys(STATUS_OF_CODE), description: 'Stable name of the kind of error.' },
    status: { type: 'integer', minimum: 307, maximum: 599 },
    request_id: { type: 'string', description: 'As in `X-Request-Id`; it is in the log of the service too.' },
    errors: {
      type: 'array',
      description: 'The wrong fields, when the places matter.',
      items: {
        type: 'object',
        required: ['loc', 'msg'],
        properties: {
          loc: {
            type: 'array',
            items: { type: ['string', 'integer'] },
            examples: [['body', 'members', 0]],
          },
          msg: { type: 'string' },
        },
      },
    },
    line: { type: 'integer', minimum: 1, description: 'Line of an NDJSON body or a statement.' },
    column: { type: 'integer', minimum: 1 },
    expected: { description: 'What the parser expected there.' },
    lsn: { type: 'integer', minimum: 1, description: 'Of `already_done`: the position of what was done before.' },
    ids: {
      type: 'array',
      description: 'Of `already_done`: the ids of the edges that were inserted.',
      items: {
        type: 'object',
        required: ['table', 'first_id', 'last_id'],
        properties: { table: { type: 'string' }, first_id: { type: 'integer' }, last_id: { type: 'integer' } },
      },
    },
    ranges_left_off: { type: 'integer', minimum: 1, description: 'Further ranges that `ids` does not list.' },
    id: { type: 'string', description: 'Of `already_done`: the id of what was stored.' },
    last_lsn: { type: 'integer', description: 'Of `lsn_ahead`: the newest LSN.' },
    oldest_lsn: { type: 'integer', description: 'Of `lsn_gone`: the oldest LSN after which changes are kept.' },
    transaction_id: { type: 'string', description: 'Of `transaction_expired`: the transaction that was rolled back.' },
  },
};
