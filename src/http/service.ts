// Puts the parts of http/ together: services, router, dispatcher and the listening server.

import { randomBytes } from 'node:crypto';
import type { Database } from '../engine/index.ts';
import type { Logger } from '../observe/log.ts';
import { AnswerSpace } from './answer-space.ts';
import { CursorRegistry } from './cursors.ts';
import { Dispatcher } from './dispatch.ts';
import { HeadBlock } from './head-block.ts';
import { RequestIds } from './request-id.ts';
import type { Route, Services } from './route.ts';
import { Router } from './router.ts';
import { type HttpServer, listen } from './server.ts';
import { SliceQueue } from './slices.ts';

const SWEEP_MS = 30_000;

export interface ServiceOptions {
  routes: readonly Route[];
  host: string;
  port: number;
  maxBodyBytes: number;
  version: string;
  authDisabled: boolean;
  log: Logger;
}

export interface Service {
  readonly host: string;
  readonly port: number;
  /** From now on data routes are answered. */
  open(database: Database): void;
  /** Refuses new work, lets running requests end; the database stays open. */
  close(graceMs?: number): Promise<void>;
}

/** Listens at once; routes that need the database answer 503 until `open`. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const ids = new RequestIds(randomBytes(6).toString('base64url'));
  const now = () => performance.now();
  const services: Services = {
    database: undefined,
    draining: false,
    cursors: new CursorRegistry({ now, secret: randomBytes(32) }),
    slices: new SliceQueue(now),
    space: new AnswerSpace(),
    ids,
    head: new HeadBlock(ids.prefix, false),
    headWithLsn: new HeadBlock(ids.prefix, true),
    log: options.log,
    version: options.version,
    authDisabled: options.authDisabled,
    now,
    startedAt: now(),
  };
  const dispatcher = new Dispatcher({
    services,
    router: new Router(options.routes),
    maxBodyBytes: options.maxBodyBytes,
  });
  const server: HttpServer = await listen(dispatcher, options.host, options.port);
  const sweep = setInterval(() => services.cursors.sweep(), SWEEP_MS).unref();
  return {
    host: server.host,
    port: server.port,
    open: (database) => {
      services.database = database;
    },
    close: async (graceMs = 10_000) => {
      services.draining = true;
      clearInterval(sweep);
      await server.close(graceMs);
      services.cursors.close();
    },
  };
}
