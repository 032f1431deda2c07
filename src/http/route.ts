// What a route is: a plain value with method, path, role, schemas and handler, read by the router, the guard and the API description.

import type { Database } from '../engine/index.ts';
import type { Logger } from '../observe/log.ts';
import type { AnswerSpace } from './answer-space.ts';
import type { CursorRegistry } from './cursors.ts';
import type { HeadBlock } from './head-block.ts';
import type { Reply } from './reply.ts';
import type { RequestIds } from './request-id.ts';
import type { GenericSchema } from './schema.ts';
import type { SliceQueue } from './slices.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Role = 'none' | 'readonly' | 'readwrite' | 'admin';

/** What every handler may use. One value per running service. */
export interface Services {
  /** Undefined while the database is being opened. */
  database: Database | undefined;
  draining: boolean;
  readonly cursors: CursorRegistry;
  readonly slices: SliceQueue;
  readonly space: AnswerSpace;
  readonly ids: RequestIds;
  readonly head: HeadBlock;
  readonly headWithLsn: HeadBlock;
  readonly log: Logger;
  readonly version: string;
  readonly authDisabled: boolean;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly startedAt: number;
}

/** One request as a handler sees it: nothing of the transport. */
export interface Call {
  readonly services: Services;
  /** The open database. Only routes with `database: false` may meet a service without one, and those must not touch it. */
  readonly database: Database;
  /** Decoded path parameters in the order of the template. */
  readonly parameters: readonly string[];
  /** The query string as it came, without `?`. */
  readonly query: string;
  /** `Accept`, on routes that negotiate. */
  readonly accept: string;
  /** Media type of the body, lower case, without parameters; `application/json` when the client gave none. */
  readonly bodyType: string;
  /** The handler's own copy; empty when there is none. */
  readonly body: Buffer;
  /** Tells long work whether its client has gone. */
  readonly client: { readonly gone: boolean };
}

export type Handler = (call: Call) => Reply | Promise<Reply>;

export interface Route {
  readonly method: Method;
  /** Parameters in braces: `/v1/tables/{name}`. */
  readonly path: string;
  readonly role: Role;
  readonly summary: string;
  /** False: answered even while the database is not open. */
  readonly database: boolean;
  /** Data routes tell the log position they reflect in `X-Hedgerow-LSN`. */
  readonly data: boolean;
  /** The answer's type depends on `Accept`. */
  readonly negotiates: boolean;
  /** Media types of the body; empty: the route takes none. */
  readonly bodyTypes: readonly string[];
  readonly schemas: RouteSchemas;
  readonly handler: Handler;
}

/** Described with valibot; hand-made checks of the hot routes must agree with them (tests do compare). */
export interface RouteSchemas {
  readonly parameters?: GenericSchema;
  readonly query?: GenericSchema;
  readonly body?: GenericSchema;
  /** By status. */
  readonly answers: Readonly<Record<number, GenericSchema>>;
}
