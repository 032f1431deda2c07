// The backends of virtual graphs: which there are, and a session for one of them.

import { createRequire } from 'node:module';
import { HedgerowError, refusal } from '../../errors.ts';
import type { BackendSession } from '../backend.ts';
import { BACKEND_TYPES, type BackendSpec, type BackendType } from '../spec/spec.ts';
import { absent } from './duckdb-child.ts';
import { DuckDbHost, type DuckDbHostOptions } from './duckdb-host.ts';
import { DUCKDB_PACKAGE } from './duckdb-messages.ts';
import { openDuckDbSession } from './duckdb-session.ts';
import { openPostgresSession } from './postgres-session.ts';

export interface BackendsOptions {
  /** Absolute path of the folder that files of backends lie in. */
  readonly root: string;
  /** Addresses of PostgreSQL databases by NAME, compared without case. */
  readonly dsns: ReadonlyMap<string, string>;
  /** Milliseconds, for times that pass; default: this machine's. */
  readonly now?: (() => number) | undefined;
  /** The DuckDB process: its memory, threads, idle times. */
  readonly duckdb?: DuckDbHostOptions | undefined;
  /** Whether a package is there; default: looks for it. */
  readonly installed?: ((name: string) => boolean) | undefined;
}

export interface BackendTypeItem {
  readonly type: BackendType;
  readonly available: boolean;
  readonly description: string;
}

export interface Backends {
  /** Whether DuckDB's package is installed. */
  readonly installed: boolean;
  types(): BackendTypeItem[];
  /** The one session of a backend; opens nothing yet. Throws `virtual_unavailable` without the package, `backend_failed` for an unknown NAME. */
  open(backend: BackendSpec): BackendSession;
  /** Processes and connections that run now, for tests and statistics. */
  duckdbPid(): number | undefined;
  close(): Promise<void>;
}

const DESCRIPTIONS: Readonly<Record<BackendType, string>> = {
  duckdb: 'A DuckDB database file below HEDGEROW_VIRTUAL_ROOT, opened read-only.',
  parquet: 'Parquet files below HEDGEROW_VIRTUAL_ROOT: one file or a pattern, one table.',
  csv: 'CSV files below HEDGEROW_VIRTUAL_ROOT, packed by gzip or not: one file or a pattern, one table.',
  json: 'JSON files below HEDGEROW_VIRTUAL_ROOT, an array or one object a line: one file or a pattern, one table.',
  postgres: 'A PostgreSQL database, or what speaks its protocol, named by the NAME of HEDGEROW_VIRTUAL_DSN_<NAME>.',
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
        };
      }),
    open(backend) {
      if (closed) throw refusal('draining', 'The service is stopping. Try again when it has started.');
      if (backend.type !== 'postgres' && !installed) throw absent();
      // Sessions of files hold nothing, those of databases a few connections: as many as there are names.
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

  /** Others may use it too: it ends with all backends, not when one of them is done with it. */
  function shared(session: BackendSession): BackendSession {
    const { close } = session;
    return { ...session, close: () => (closed ? close() : Promise.resolve()) };
  }
}

function unknownName(name: string): HedgerowError {
  return new HedgerowError(
    'backend_failed',
    `The service was given no database ${name}: set HEDGEROW_VIRTUAL_DSN_${name.toUpperCase()} and start it again.`,
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
