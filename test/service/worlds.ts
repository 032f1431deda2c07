// Starts services ("worlds") in every state that an API answer can come from: healthy, starting,
// overloaded, limited, with a full disk, with a damaged table, ...

import { randomBytes } from 'node:crypto';
import { KeyStore } from '../../src/access/keys.ts';
import type { KeyRole } from '../../src/access/principal.ts';
import type { Database, LogHistory } from '../../src/engine/index.ts';
import { type ServiceOptions, startService } from '../../src/http/service.ts';
import { DEFAULT_HISTORY } from '../../src/limits.ts';
import { SILENT } from '../../src/observe/log.ts';
import { UNOBSERVED } from '../../src/observe/observer.ts';
import { type CursorRegistry, routes, routesApplication, type ServicesOfRoutes } from '../../src/routes/index.ts';
import { type RoomOptions, roomsOf } from '../support/rooms.ts';
import { openSim } from '../support/sim-engine.ts';
import { type OperationKind, SimFs } from '../support/sim-fs.ts';
import { testTransport } from '../support/transport.ts';
import { type Answered, type Sent, send } from './valid-requests.ts';

export interface World {
  readonly url: string;
  readonly disk: GatedFs;
  readonly database: Database;
  readonly cursors: CursorRegistry;
  /** Sends the request with a key of the role. With `none` no key is sent. */
  as(role: KeyRole | 'none', request: Sent): Promise<Answered>;
  close(): Promise<void>;
}

/** A simulated disk whose syncs can be held. */
export class GatedFs extends SimFs {
  #gate: Promise<void> | undefined;
  #arrived: (() => void) | undefined;

  /**
   * Holds every sync from now on until `release` is called. `arrived` resolves when the first sync
   * waits.
   */
  hold(): { arrived: Promise<void>; release: () => void } {
    let release = () => {};
    this.#gate = new Promise((resolve) => {
      release = resolve;
    });
    const arrived = new Promise<void>((resolve) => {
      this.#arrived = resolve;
    });
    return {
      arrived,
      release: () => {
        this.#gate = undefined;
        release();
      },
    };
  }

  override async perform(kind: OperationKind, path: string, effects: Parameters<SimFs['perform']>[2]): Promise<void> {
    if (kind === 'datasync' && this.#gate !== undefined) {
      this.#arrived?.();
      await this.#gate;
    }
    return super.perform(kind, path, effects);
  }
}

export interface WorldOptions extends Partial<Omit<ServiceOptions<ServicesOfRoutes>, 'routes' | 'application'>> {
  /** Whether the database is attached (default true). */
  open?: boolean;
  disk?: GatedFs;
  rooms?: RoomOptions;
  /** How long changes are kept. Default: as the service does by default. */
  history?: LogHistory;
  /** The service that this one follows. Nothing comes from it. */
  leader?: ServicesOfRoutes['leader'];
}

export async function startWorld({
  open = true,
  disk = new GatedFs(1),
  rooms = {},
  history = DEFAULT_HISTORY,
  leader,
  ...options
}: WorldOptions = {}): Promise<World> {
  const schedule = (callback: () => void, delayMs: number) => void setTimeout(callback, delayMs).unref();
  const engineOptions = { core: 'release', schedule, history } as const;
  let database = await openSim(disk, engineOptions);
  const keyOptions = { now: () => Date.now(), randomBytes };
  let { keys } = await KeyStore.open({ ...keyOptions, documents: database.documents, bootstrapKey: 'bootstrap' });
  const plain: Record<KeyRole, string> = {
    admin: 'bootstrap',
    readwrite: (await keys.create({ role: 'readwrite' })).plaintext_key,
    readonly: (await keys.create({ role: 'readonly' })).plaintext_key,
  };
  if (leader !== undefined) {
    await database.close();
    database = await openSim(disk, { ...engineOptions, follows: true });
    keys = KeyStore.follow({ ...keyOptions, documents: database.documents });
  }
  const application = routesApplication();
  const service = await startService({
    routes,
    application,
    host: '127.0.0.1',
    port: 0,
    maxBodyBytes: 2 ** 20,
    version: '1.2.3',
    authDisabled: false,
    rateLimitQpm: 0,
    corsOrigins: [],
    publicHosts: ['x', 'y'],
    queryTimeoutMs: 30_000,
    backupRoot: '/db/backups',
    pageFile: () => new TextEncoder().encode('/* a file of the page */'),
    consoleFile: () => new TextEncoder().encode('/* a file of the console */'),
    observer: UNOBSERVED,
    log: SILENT,
    transport: testTransport(),
    ...options,
  });
  if (open) {
    const usedKeys = options.authDisabled === true ? undefined : keys;
    service.open({ database, leader, keys: usedKeys, ...roomsOf(database, rooms) });
  }
  const url = `http://127.0.0.1:${service.port}`;
  return {
    url,
    disk,
    database,
    cursors: application.initial.cursors,
    as: (role, request) =>
      send(url, {
        ...request,
        headers: { ...(role === 'none' ? {} : { 'x-api-key': plain[role] }), ...request.headers },
      }),
    close: async () => {
      await service.close(1000);
      await database.close().catch(() => {});
    },
  };
}

/** Returns a disk on which the primary table has a segment with changed bytes. */
export async function damagedDisk(): Promise<GatedFs> {
  const disk = new GatedFs(1);
  const database = await openSim(disk, { core: 'release' });
  for (let ts = 0; ts < 20; ts++) await database.table().insert({ event_ts: ts, members: [1, ts] });
  await database.compact({});
  await database.close();
  const folder = '/db/tables/1';
  for (const name of disk.list(folder)) {
    disk.edit(`${folder}/${name}`, (bytes) => {
      for (let at = bytes.length >> 1; at < bytes.length; at++) bytes[at]! ^= 0xff;
    });
  }
  return disk;
}
