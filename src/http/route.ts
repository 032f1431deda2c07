// A route: a plain value with method, path, role, schemas and handler, read by the router, the
// guard and the API description.

import type { Principal } from '../access/principal.ts';
import type { HedgerowError } from '../errors.ts';
import type { Logger } from '../observe/log.ts';
import type { AuditEvent, Observer } from '../observe/observer.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { AnswerSpace } from './answer/answer-space.ts';
import type { DatabasePort } from './database-port.ts';
import type { EntityTag, EntityTags } from './entity-tag.ts';
import type { LeaderPort } from './leader.ts';
import type { Once } from './once.ts';
import type { Reply } from './reply.ts';
import type { GenericSchema } from './schema.ts';
import type { TransportFacts } from './transport.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
export type Role = 'none' | 'readonly' | 'readwrite' | 'admin';

/**
 * The services of the application that http/ itself uses; it passes the others to the handlers
 * only.
 */
export interface Carried {
  /** Undefined while the database is being opened. */
  database: DatabasePort | undefined;
  /** Undefined unless this service follows another one. */
  leader: LeaderPort | undefined;
  /** Undefined while the database is being opened, and while keys are disabled. */
  keys: { authenticate(key: string): Principal | undefined } | undefined;
}

/** The services that http/ offers to every handler; one value per running service. */
export interface HttpServices {
  draining: boolean;
  /** Every route of the service. */
  readonly routes: readonly Route[];
  readonly observer: Observer;
  readonly scheduler: Scheduler;
  readonly space: AnswerSpace;
  readonly tags: EntityTags;
  readonly log: Logger;
  readonly version: string;
  /** True if keys are disabled. */
  readonly authDisabled: boolean;
  /** The HTTP implementation, and why it was chosen. */
  readonly transport: TransportFacts;
  /** Absolute path below which backups are written. */
  readonly backupRoot: string;
  /** The bytes of a file of the page at /docs; undefined if it does not exist. */
  readonly pageFile: (name: string) => Uint8Array | undefined;
  /** The bytes of a built file of the console at /; undefined if it does not exist. */
  readonly consoleFile: (name: string) => Uint8Array | undefined;
  /** Time in milliseconds until a read's answer must have begun; 0 means no limit. */
  readonly queryTimeoutMs: number;
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly startedAt: number;
}

/** All services that a handler may use: those of http/, and the services `S` of the application. */
export type Services<S extends Carried> = HttpServices & S;

/**
 * One request as a handler sees it, independent of the transport. `S` is the type of the
 * application's services, which http/ passes on without using them (except those in `Carried`).
 */
export interface Call<S extends Carried = Carried> {
  readonly services: Services<S>;
  /**
   * The open database. Only routes with `database: false` may run without one, and those must not
   * use it.
   */
  readonly database: NonNullable<S['database']>;
  /** Decoded path parameters in the order of the template. */
  readonly parameters: readonly string[];
  /** The query string as received, without `?`. */
  readonly query: string;
  /** Accept header, on routes that negotiate. */
  readonly accept: string;
  /** Last-Event-ID header, on routes with `events`; empty if absent. */
  readonly lastEventId: string;
  /**
   * Media type of the body, lower case, without parameters; `application/json` if the client sent
   * none.
   */
  readonly bodyType: string;
  /** The handler's own copy; empty if there is no body. */
  readonly body: Buffer;
  /** The value of a long JSON body, which is parsed before the handler runs. */
  readonly parsed: { readonly value: unknown } | undefined;
  /** `gone` becomes true when the client has disconnected, so that long-running work can stop. */
  readonly client: { readonly gone: boolean };
  /** The caller. On routes of role `none`, a caller without a valid key has the role `none`. */
  readonly caller: Principal;
  readonly requestId: string;
  /** X-Session-Id header, on routes with sessions; if empty, the key itself is the session. */
  readonly sessionId: string;
  /**
   * Set if the request has an Idempotency-Key: passed to the engine's `attach`, so that the answer
   * is stored in the write's own frame.
   */
  readonly once: Once | undefined;
  /**
   * The time by which a read must have begun its answer, on the clock of `services.now`; Infinity
   * means no limit.
   */
  readonly deadlineMs: number;
  /**
   * Returns the error for a caller whose role is too low for what the body asks for, and writes a
   * line of the audit log.
   */
  deny(needed: Role): HedgerowError;
  /**
   * Returns true if the client already has the answer with this tag: then answer `notModified(tag)`
   * without doing the work. Only for tagged routes.
   */
  holds(tag: EntityTag | undefined): tag is EntityTag;
}

/**
 * `S` is the type of the services that the handler needs. The types of `startService` ensure that
 * routes and services fit; the rest of http/ reads routes as `Route<Carried>`.
 */
export interface Route<S extends Carried = Carried> {
  /** The route's name in the API description: stable, unique, camelCase, beginning with a verb. */
  readonly id: string;
  readonly method: Method;
  /** Path template with parameters in braces: `/v1/tables/{name}`. */
  readonly path: string;
  readonly role: Role;
  readonly summary: string;
  /** False if the route is answered even while the database is not open. */
  readonly database: boolean;
  /** True if answers report the log position that they reflect, in `X-Hedgerow-LSN`. */
  readonly data: boolean;
  /** True if the answer's type depends on `Accept`. */
  readonly negotiates: boolean;
  /** True if an absent body is taken as `{}`. */
  readonly bodyOptional?: boolean;
  /** Media types of answers under 400; by default JSON, plus NDJSON where the route negotiates. */
  readonly answerTypes?: readonly string[];
  /**
   * True for a page for people, or one of its files: where no key is needed, a link on another site
   * may open it. Default: false.
   */
  readonly isPage?: boolean;
  /** True if answers have an `ETag` and `If-None-Match` is evaluated. */
  readonly tagged: boolean;
  /** Audit event for answers under 400; `reply.facts.audit.event` may override it. */
  readonly audit?: AuditEvent;
  /**
   * True if the route can answer with server-sent events: then `Accept` and `Last-Event-ID` are
   * evaluated.
   */
  readonly events?: boolean;
  /** True if `X-Session-Id` is evaluated. */
  readonly sessions?: boolean;
  /**
   * True for a route that changes nothing in the database although its role may write: a follower
   * answers it too.
   */
  readonly isLocal?: boolean;
  /**
   * True for a route that reads and answers for the whole service: if several processes serve one
   * port (src/workers), the leading one answers.
   */
  readonly isOfService?: boolean;
  /** True for the probes: neither the rate limit nor the load limits apply to them. */
  readonly rateExempt: boolean;
  /** True if invalid input is answered with 422 instead of 400, as for rules, reasoning and RAG. */
  readonly unprocessable?: boolean;
  /** True for a write whose answer may be repeated for an Idempotency-Key. */
  readonly idempotent: boolean;
  /** Media types of the body; empty if the route takes none. */
  readonly bodyTypes: readonly string[];
  readonly schemas: RouteSchemas;
  /**
   * Statuses of 400 and above with which the handler may answer, in addition to those that follow
   * from the properties above (openapi/statuses.ts).
   */
  readonly errors?: readonly number[];
  // Declared as a method and not as a property, so that the types let the dispatcher take a route
  // whose handler needs more services.
  handler(call: Call<S>): Reply | Promise<Reply>;
}

/**
 * Described with valibot; the hand-written checks of the hot routes must agree with these schemas
 * (tests compare them).
 */
export interface RouteSchemas {
  readonly parameters?: GenericSchema;
  readonly query?: GenericSchema;
  readonly body?: GenericSchema;
  /** By status. */
  readonly answers: Readonly<Record<number, GenericSchema>>;
  /** One line of an NDJSON answer, on routes that negotiate. */
  readonly row?: GenericSchema;
}
