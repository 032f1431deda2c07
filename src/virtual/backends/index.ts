// Lists the types of backends for virtual graphs, and opens sessions on backends.

import { createRequire } from 'node:module';
import { HedgerowError, refusal, type SettingKey } from '../../errors.ts';
import type { BackendSession } from '../backend.ts';
import { BACKEND_TYPES, type BackendSpec, type BackendType } from '../spec/spec.ts';
import { absent } from './duckdb-child.ts';
import { DuckDbHost, type DuckDbHostOptions } from './duckdb-host.ts';
import { DUCKDB_PACKAGE } from './duckdb-messages.ts';
import { openDuckDbSession } from './duckdb-session.ts';
import { openPostgresSession } from './postgres-session.ts';

export interface BackendsOptions {
  /** Absolute path of the folder that contains the files of backends. */
  readonly root: string;
  /** PostgreSQL connection strings, each under a name that is case-insensitive. */
  readonly dsns: ReadonlyMap<string, string>;
  /** Returns the milliseconds of a monotonic clock. Default: the clock of this machine. */
  readonly now?: (() => number) | undefined;
  /** Options of the DuckDB process: memory, threads, idle times. */
  readonly duckdb?: DuckDbHostOptions | undefined;
  /** Returns whether a package is installed. By default it tries to resolve the package. */
  readonly installed?: ((name: string) => boolean) | undefined;
}

export interface BackendTypeItem {
  readonly type: BackendType;
  readonly available: boolean;
  readonly description: string;
  /** The setting that gives the place of the data. */
  readonly setting: SettingKey;
}

export interface Backends {
  /** Whether the DuckDB package is installed. */
  readonly installed: boolean;
  types(): BackendTypeItem[];
  /**
   * Returns a session for a backend, without connecting yet. Throws `virtual_unavailable` if the
   * package is missing and `backend_failed` if the name of a connection string is unknown.
   */
  open(backend: BackendSpec): BackendSession;
  /** Returns the id of the DuckDB process, or undefined if none is running. For tests. */
  duckdbPid(): number | undefined;
  close(): Promise<void>;
}

const FOLDER = 'the folder for virtual graphs';
const DESCRIPTIONS: Readonly<Record<BackendType, string>> = {
  duckdb: `A DuckDB database file below ${FOLDER}, opened read-only.`,
  parquet: `Parquet files below ${FOLDER}: one file or a pattern, one table.`,
  csv: `CSV files below ${FOLDER}, compressed with gzip or not: one file or a pattern, one table.`,
  json: `JSON files below ${FOLDER}, an array or one object per line: one file or a pattern, one table.`,
  postgres: 'A database of PostgreSQL or a compatible server, identified by the NAME of its connection string.',
};

export function openBackends(options: BackendsOptions): Backends {
  const { root, dsns, now = () => performance.now() } = options;
  const installed = (options.installed ?? isInstalled)(DUCKDB_PACKAGE);
  const host = new DuckDbHost(options.duckdb);
  const addresses = new Map([...dsns].map(([name, address]) => [name.toUpperCase(), address]));
  const sessions = new Map<string, BackendSession>();
  let closed = false;

  function start(backend: BackendSpec): BackendSession {
    if (backend.type !== 'postgres') return openDuckDbSession({ root, backend, host, now });
    const name = backend.dsn.toUpperCase();
    const address = addresses.get(name);
    if (address === undefined) throw unknownName(backend.dsn);
    return openPostgresSession({ name, address, now });
  }

  return {
    installed,
    types: () =>
      BACKEND_TYPES.map((type) => {
        return {
          type,
          available: type === 'postgres' || installed,
          description: DESCRIPTIONS[type],
          setting: type === 'postgres' ? 'virtualDsn' : 'virtualRoot',
        };
      }),
    open(backend) {
      if (closed) throw refusal('draining', 'The service is stopping. Try again when it has started.');
      if (backend.type !== 'postgres' && !installed) throw absent();
      // A session on files holds no resources. A session on a database holds a few connections, so
      // all callers that use the same connection string share one session.
      if (backend.type !== 'postgres') return start(backend);
      const key = backend.dsn.toUpperCase();
      const found = sessions.get(key) ?? shared(start(backend));
      sessions.set(key, found);
      return found;
    },
    duckdbPid: () => host.pid,
    async close() {
      closed = true;
      const ending = [...sessions.values()].map((session) => session.close());
      sessions.clear();
      await Promise.all([host.close(), ...ending]);
    },
  };

  /**
   * Returns a session that its callers cannot close, because other callers may be using it. It is
   * closed together with all backends.
   */
  function shared(session: BackendSession): BackendSession {
    const { close } = session;
    return { ...session, close: () => (closed ? close() : Promise.resolve()) };
  }
}

function unknownName(name: string): HedgerowError {
  return new HedgerowError(
    'backend_failed',
    `The service was given no database ${name}: set its connection string and start the service again.`,
    { fields: { settings: [`virtualDsn.${name}`] } },
  );
}

function isInstalled(name: string): boolean {
  try {
    createRequire(import.meta.url).resolve(name);
    return true;
  } catch {
    return false;
  }
}
