// Builds a route whose parameters, query and body are checked against its schemas before its
// handler runs.

import type { AuditEvent } from '../observe/observer.ts';
import { parseJsonObject } from './json-body.ts';
import { JSON_BODY, NO_BODY } from './media.ts';
import { queryObject } from './query-text.ts';
import type { Reply } from './reply.ts';
import type { Call, Carried, Method, Role, Route } from './route.ts';
import { check, type GenericSchema, type InferOutput } from './schema.ts';

export interface ValidatedDefinition<
  P extends GenericSchema,
  Q extends GenericSchema,
  B extends GenericSchema,
  S extends Carried = Carried,
> {
  id: string;
  method: Method;
  path: string;
  role: Role;
  summary: string;
  /** Default: true; see Route. */
  database?: boolean;
  /** Default: true if the route has an audit event, that is, if it writes; see Route. */
  data?: boolean;
  /** See Route. */
  answerTypes?: readonly string[];
  /** See Route. */
  events?: boolean;
  /** See Route. */
  isPage?: boolean;
  /** Default: false; see Route. */
  tagged?: boolean;
  /** See Route. */
  audit?: AuditEvent;
  /** See Route. */
  isLocal?: boolean;
  /** See Route. */
  isOfService?: boolean;
  /** Default: false; see Route. */
  rateExempt?: boolean;
  /** Default: false; see Route. */
  unprocessable?: boolean;
  /** Default: false; see Route. */
  idempotent?: boolean;
  /** An object schema with the names of the path template. */
  parameters?: P;
  query?: Q;
  body?: B;
  /** An absent body is taken as `{}`. */
  bodyOptional?: boolean;
  answers: Readonly<Record<number, GenericSchema>>;
  /** See RouteSchemas. */
  row?: GenericSchema;
  /** See Route. */
  errors?: readonly number[];
  handler: (input: Input<P, Q, B>, call: Call<S>) => Reply | Promise<Reply>;
}

export interface Input<P extends GenericSchema, Q extends GenericSchema, B extends GenericSchema> {
  parameters: InferOutput<P>;
  query: InferOutput<Q>;
  body: InferOutput<B>;
}

export function validated<
  P extends GenericSchema,
  Q extends GenericSchema,
  B extends GenericSchema,
  S extends Carried = Carried,
>(definition: ValidatedDefinition<P, Q, B, S>): Route<S> {
  const { parameters, query, body, handler } = definition;
  const names = [...definition.path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
  return {
    id: definition.id,
    method: definition.method,
    path: definition.path,
    role: definition.role,
    summary: definition.summary,
    database: definition.database ?? true,
    // What a write has changed can be waited for, here and at a follower.
    data: definition.data ?? definition.audit !== undefined,
    negotiates: false,
    tagged: definition.tagged ?? false,
    ...(definition.audit === undefined ? {} : { audit: definition.audit }),
    rateExempt: definition.rateExempt ?? false,
    ...(definition.unprocessable === undefined ? {} : { unprocessable: definition.unprocessable }),
    idempotent: definition.idempotent ?? false,
    bodyTypes: body === undefined ? NO_BODY : JSON_BODY,
    schemas: {
      ...(parameters === undefined ? {} : { parameters }),
      ...(query === undefined ? {} : { query }),
      ...(body === undefined ? {} : { body }),
      answers: definition.answers,
      ...(definition.row === undefined ? {} : { row: definition.row }),
    },
    ...(definition.bodyOptional === undefined ? {} : { bodyOptional: definition.bodyOptional }),
    ...(definition.events === undefined ? {} : { events: definition.events }),
    ...(definition.isPage === undefined ? {} : { isPage: definition.isPage }),
    ...(definition.isLocal === undefined ? {} : { isLocal: definition.isLocal }),
    ...(definition.isOfService === undefined ? {} : { isOfService: definition.isOfService }),
    ...(definition.answerTypes === undefined ? {} : { answerTypes: definition.answerTypes }),
    ...(definition.errors === undefined ? {} : { errors: definition.errors }),
    handler: (call) => {
      const input = {
        parameters: parameters && check(parameters, named(names, call.parameters), 'path'),
        query: query && check(query, queryObject(call.query), 'query'),
        body: body && check(body, bodyValue(call, definition.bodyOptional === true), 'body'),
      };
      return handler(input as Input<P, Q, B>, call);
    },
  };
}

function named(names: readonly string[], values: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name, index) => [name, values[index]!]));
}

/** Returns the body object without its nulls: null in a field is the same as omitting the field. */
function bodyValue(call: Call, optional: boolean): Record<string, unknown> {
  if (optional && call.body.length === 0) return {};
  const body = parseJsonObject(call);
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null));
}
