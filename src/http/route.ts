// What a route is: a plain value with method, path, role, schemas and handler, read by the router, the guard and the API description.

import type { KeyStore } from '../access/keys.ts';
import type { Principal } from '../access/principal.ts';
import type { Analytics } from '../analytics/index.ts';
import type { Database } from '../engine/index.ts';
import type { HedgerowError } from '../errors.ts';
import type { Logger } from '../observe/log.ts';
import type { AuditEvent, Observer } from '../observe/observer.ts';
import type { Statements } from '../query/index.ts';
import type { Reasoning } from '../rag/index.ts';
import type { Scheduler } from '../schedule/scheduler.ts';
import type { VirtualGraphs } from '../virtual/index.ts';
import type { AnswerSpace } from './answer-space.ts';
import type { CursorRegistry } from './cursors.ts';
import type { EntityTag, EntityTags } from './entity-tag.ts';
import type { Once } from './once.ts';
import type { Reply } from './reply.ts';
import type { GenericSchema } from './schema.ts';
import type { TransportFacts } from './transport.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type Role = 'none' | 'readonly' | 'readwrite' | 'admin';

/** What the guard and the key routes use of the key store. */
export type Keys = Pick<KeyStore, 'authenticate' | 'list' | 'create' | 'revoke'>;

/** What every handler may use. One value per running service. */
export interface Services {
  /** Undefined while the database is being opened. */
  database: Database | undefined;
  /** Undefined while the database is being opened, and when no keys are asked for. Handlers take it through `requireKeys` (guard.ts). */
  keys: Keys | undefined;
  /** Undefined while the database is being opened. */
  statements: Statements | undefined;
  /** Undefined while the database is being opened. */
  analytics: Analytics | undefined;
  /** Undefined while the database is being opened. */
  reasoning: Reasoning | undefined;
  /** Undefined while the database is being opened. */
  virtual: VirtualGraphs | undefined;
  draining: boolean;
  /** Every route of the service. */
  readonly routes: readonly Route[];
  readonly observer: Observer;
  readonly cursors: CursorRegistry;
  readonly scheduler: Scheduler;
  readonly space: AnswerSpace;
  readonly tags: EntityTags;
  readonly log: Logger;
  readonly version: string;
  /** Nobody needs a key. */
  readonly authDisabled: boolean;
  /** What speaks HTTP, and why. */
  readonly transport: TransportFacts;
  /** Absolute path below which backups are written. */
  readonly backupRoot: string;
  /** The bytes of a file of the page at /docs; undefined when it is not there. */
  readonly pageFile: (name: string) => Uint8Array | undefined;
  /** The bytes of a built file of the console at /; undefined when it is not there. */
  readonly consoleFile: (name: string) => Uint8Array | undefined;
  /** Time until a read's answer must have begun; 0: no limit. */
  readonly queryTimeoutMs: number;
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
  /** The value of a long JSON body, which is parsed before the handler runs. */
  readonly parsed: { readonly value: unknown } | undefined;
  /** Tells long work whether its client has gone. */
  readonly client: { readonly gone: boolean };
  /** Who asks. On routes of role `none` a caller without a valid key has the role `none`. */
  readonly caller: Principal;
  readonly requestId: string;
  /** `X-Session-Id`, on routes with sessions; empty: the key itself is the session. */
  readonly sessionId: string;
  /** Set when the request carries an Idempotency-Key: goes into the engine's `attach`, so that the answer is stored in the write's own frame. */
  readonly once: Once | undefined;
  /** When a read must have begun its answer, on the clock of `services.now`; Infinity: no limit. */
  readonly deadlineMs: number;
  /** The error for a caller whose role is too low for what the body asks; stands in the audit log from now on. */
  deny(needed: Role): HedgerowError;
  /** True when the client says it holds the answer with this tag: answer `notModified(tag)` without doing the work. Only on tagged routes. */
  holds(tag: EntityTag | undefined): tag is EntityTag;
}

export type Handler = (call: Call) => Reply | Promise<Reply>;

export interface Route {
  /** Its name in the API description: stable and unique, camelCase, a verb first. */
  readonly id: string;
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
  /** An absent body is taken as `{}`. */
  readonly bodyOptional?: boolean;
  /** Media types of answers under 400; default JSON, and NDJSON besides where the route negotiates. */
  readonly answerTypes?: readonly string[];
  /** A page for people, or a file of it: where no key is needed, a link on another site may open it. Default false. */
  readonly isPage?: boolean;
  /** Answers carry an `ETag` and `If-None-Match` is looked at. */
  readonly tagged: boolean;
  /** Event of the audit log for answers under 400; `reply.facts.audit.event` may name another. */
  readonly audit?: AuditEvent;
  /** Looks at `X-Session-Id`. */
  readonly sessions?: boolean;
  /** Neither counted nor limited: the probes. */
  readonly rateExempt: boolean;
  /** What is invalid answers 422 instead of 400 (contract section 1: rules, reasoning, RAG). */
  readonly unprocessable?: boolean;
  /** A write whose answer may be replayed for an Idempotency-Key. */
  readonly idempotent: boolean;
  /** Media types of the body; empty: the route takes none. */
  readonly bodyTypes: readonly string[];
  readonly schemas: RouteSchemas;
  /** Statuses of 400 and above that the handler may answer, besides those that follow from the facts above (openapi/statuses.ts). */
  readonly errors?: readonly number[];
  readonly handler: Handler;
}

/** Described with valibot; hand-made checks of the hot routes must agree with them (tests do compare). */
export interface RouteSchemas {
  readonly parameters?: GenericSchema;
  readonly query?: GenericSchema;
  readonly body?: GenericSchema;
  /** By status. */
  readonly answers: Readonly<Record<number, GenericSchema>>;
  /** One line of an NDJSON answer, on routes that negotiate. */
  readonly row?: GenericSchema;
}
