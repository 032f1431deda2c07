// Defines the services that the routes use in addition to those of http/: the database, and the
// parts that answer requests about it. Also defines the types of calls and routes with these
// services.

import { randomBytes } from 'node:crypto';
import type { KeyStore } from '../access/keys.ts';
import type { Analytics } from '../analytics/index.ts';
import type { Database } from '../engine/index.ts';
import type * as http from '../http/index.ts';
import { validated as validatedWith } from '../http/index.ts';
import type { GenericSchema } from '../http/schema.ts';
import type { Memory } from '../memory/index.ts';
import type { ProcessMetrics } from '../observe/metrics.ts';
import type { Statements } from '../query/index.ts';
import type { Reasoning } from '../rag/index.ts';
import type { VirtualGraphs } from '../virtual/index.ts';
import { CursorRegistry } from './cursors.ts';

/** The part of the key store that the guard and the key routes use. */
export type Keys = Pick<KeyStore, 'authenticate' | 'isValid' | 'list' | 'create' | 'revoke'>;

/**
 * The parts that answer requests in addition to the database itself. Each is one folder ("room") of
 * src/.
 */
export interface Rooms {
  /** Like the others, undefined while the database is being opened. */
  statements: Statements | undefined;
  analytics: Analytics | undefined;
  reasoning: Reasoning | undefined;
  memory: Memory | undefined;
  virtual: VirtualGraphs | undefined;
}

export interface ServicesOfRoutes extends Rooms {
  /** Undefined while the database is being opened. */
  database: Database | undefined;
  /**
   * Undefined while the database is being opened, and while keys are disabled. The key routes use
   * `requireKeys` (keys.ts).
   */
  keys: Keys | undefined;
  /** Undefined unless this service follows another one. */
  leader: Leader | undefined;
  readonly cursors: CursorRegistry;
  /** The other processes of this service; undefined if it has one process, and in a worker. */
  workers: Workers | undefined;
}

/** The processes that answer reads for this one (src/workers). */
export interface Workers {
  /** Why one of them cannot follow this process; null if all can. */
  readonly problem: string | null;
  readonly list: readonly { readonly pid: number; readonly thread: number }[];
  /** Returns the metrics of each. */
  metrics(): Promise<ProcessMetrics[]>;
  /** Returns an interaction as JSON text; undefined if no worker has it. */
  interaction(id: string, keyId: string | null | undefined): Promise<string | undefined>;
  /** Removes the cached results of a virtual graph; resolves with their number. */
  clearCache(graph: string): Promise<number>;
}

/** The service that this one follows, and how far this one is behind. */
export interface Leader extends http.LeaderPort {
  /** Number of LSNs of the leader that are not visible here, as far as is known. */
  readonly lagLsns: number | undefined;
  /** Why the leader cannot be followed at present; null if it is followed. */
  readonly problem: string | null;
}

export type Call = http.Call<ServicesOfRoutes>;
export type Route = http.Route<ServicesOfRoutes>;
export type Services = http.Services<ServicesOfRoutes>;
export type Service = http.Service<ServicesOfRoutes>;

/** The function `validated` of http/, for handlers that use these services. */
export const validated: <P extends GenericSchema, Q extends GenericSchema, B extends GenericSchema>(
  definition: http.ValidatedDefinition<P, Q, B, ServicesOfRoutes>,
) => Route = validatedWith;

/**
 * Returns the services of a server that is starting. `Service.open` adds the database and the parts
 * that use it.
 */
export function routesApplication(): http.Application<ServicesOfRoutes> {
  return {
    initial: {
      database: undefined,
      leader: undefined,
      workers: undefined,
      keys: undefined,
      statements: undefined,
      analytics: undefined,
      reasoning: undefined,
      memory: undefined,
      virtual: undefined,
      cursors: new CursorRegistry({ now: () => performance.now(), secret: randomBytes(32) }),
    },
    sweep: ({ cursors, database, statements }) => {
      cursors.sweep();
      if (database !== undefined) cursors.relieve(database);
      statements?.sessions.sweep();
    },
    close: async ({ cursors, statements, analytics, virtual }) => {
      cursors.close();
      statements?.close();
      await Promise.all([analytics?.close(), virtual?.close()]);
    },
  };
}
