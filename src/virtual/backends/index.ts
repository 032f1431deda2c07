// The backends of virtual graphs: lists the available types and opens sessions.

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
  /** PostgreSQL connection strings by NAME, which is case-insensitive. */
  readonly dsns: ReadonlyMap<string, string>;
  /** Monotonic clock in milliseconds; default: this machine's. */
  readonly now?: (() => number) | undefined;
  /** Options of the DuckDB process: memory, threads, idle times. */
  readonly duckdb?: DuckDbHostOptions | undefined;
  /** Whether a package is installed; default: tries to resolve it. */
  readonly installed?: ((name: string) => boolean) | undefined;
}

export interface BackendTypeItem {
  readonly type: BackendType;
  readonly available: boolean;
  readonly description: string;
  /** The setting that says where its data is. */
  readonly setting: SettingKey;
}

export interface Backends {
  /** Whether the DuckDB package is installed. */
  readonly installed: boolean;
  types(): BackendTypeItem[];
  /**
   * A session for a backend; does not connect yet. Throws `virtual_unavailable` without the
   * package, `backend_failed` for an unknown NAME.
   */
  open(backend: BackendSpec): BackendSession;
  /** Id of the DuckDB process, undefined if none is running; for tests and statistics. */
  duckdbPid(): number | undefined;
  close(): Promise<void>;
}

const FOLDER = 'the folder for virtual graphs';
const DESCRIPTIONS: Readonly<Record<BackendType, string>> = {
  duckdb: `A DuckDB database file below ${FOLDER}, opened read-only.`,
  parquet: `Parquet files below ${FOLDER}: one file or a pattern, one table.`,
  csv: `CSV files below ${FOLDER}, packed by gzip or not: one file or a pattern, one table.`,
  json: `JSON files below ${FOLDER}, an array or one object a line: one file or a pattern, one table.`,
  postgres: 'A PostgreSQL database, or what speaks its protocol, named by the NAME of its connection string.',
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
      // Sessions of files hold no resources. Those of databases hold a few connections and are
      // shared: one per NAME.
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
   * Other callers may use the session too, so it is closed together with all backends, not when one
   * caller closes it.
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
