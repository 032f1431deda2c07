// Manages the databases that are open in the DuckDB process. Each has a locked configuration and no
// access to other files. A database file is opened read-only.

import type { Connection, Instance, Library } from './duckdb-library.ts';
import type { DuckDbLimits, DuckDbSource, FileFormat } from './duckdb-messages.ts';
import { type HeldFiles, holdFiles } from './held-files.ts';

const MOST_IDLE = 3;
/**
 * If the CSV or JSON files of a source have at most this many bytes in total, all their rows are
 * read to infer the column types, otherwise 200,000 rows.
 */
const SAMPLE_ALL_BYTES = 64 * 2 ** 20;

interface Opened {
  readonly instance: Instance;
  readonly held: HeldFiles;
}

interface OpenDatabase {
  readonly opened: Promise<Opened>;
  users: number;
  timer: NodeJS.Timeout | undefined;
}

export interface Databases {
  /**
   * Calls `work` with a new connection. Rejects with the reason if the source cannot be opened or
   * `work` rejects.
   */
  use<T>(source: DuckDbSource, work: (connection: Connection) => Promise<T>): Promise<T>;
}

export function openDatabases(library: Library, limits: DuckDbLimits): Databases {
  const open = new Map<string, OpenDatabase>();

  function close(key: string): void {
    const found = open.get(key);
    if (found === undefined || found.users > 0) return;
    open.delete(key);
    clearTimeout(found.timer);
    found.opened
      .then(({ instance, held }) => {
        instance.closeSync();
        return held.close();
      })
      .catch(() => undefined);
  }

  function enter(source: DuckDbSource): OpenDatabase {
    let found = open.get(source.key);
    if (found === undefined) {
      found = { opened: openSource(library, limits, source), users: 0, timer: undefined };
      open.set(source.key, found);
    }
    clearTimeout(found.timer);
    found.users++;
    return found;
  }

  function leave(key: string, found: OpenDatabase, failed: boolean): void {
    found.users--;
    if (found.users > 0) return;
    // Opening failed. Removing the database lets the next caller try again.
    if (failed) {
      close(key);
      return;
    }
    found.timer = setTimeout(() => close(key), limits.keepOpenMs);
    const idle = [...open].filter(([, { users }]) => users === 0).map(([other]) => other);
    for (const other of idle.slice(0, Math.max(0, idle.length - MOST_IDLE))) close(other);
  }

  return {
    async use(source, work) {
      const found = enter(source);
      let failed = true;
      let connection: Connection | undefined;
      try {
        const { instance, held } = await found.opened;
        connection = await instance.connect();
        failed = false;
        try {
          return await work(connection);
        } catch (error) {
          throw new Error(held.shown(error instanceof Error ? error.message : String(error)));
        }
      } finally {
        connection?.closeSync();
        leave(source.key, found, failed);
      }
    },
  };
}

async function openSource(library: Library, limits: DuckDbLimits, source: DuckDbSource): Promise<Opened> {
  const held = await holdFiles(source, limits.spillFolder, limits.spillMb * 2 ** 20);
  try {
    return { instance: await openInstance(library, limits, source, held.paths), held };
  } catch (error) {
    await held.close();
    throw new Error(held.shown(error instanceof Error ? error.message : String(error)));
  }
}

async function openInstance(
  library: Library,
  limits: DuckDbLimits,
  { opened }: DuckDbSource,
  paths: readonly string[],
): Promise<Instance> {
  const database = opened.kind === 'database';
  const instance = await library.DuckDBInstance.create(database ? paths[0]! : ':memory:', {
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_persistent_secrets: 'false',
    memory_limit: `${limits.memoryMb}MB`,
    threads: String(limits.threads),
    temp_directory: limits.spillFolder,
    max_temp_directory_size: `${limits.spillMb}MB`,
    // These must be the last settings: some of the others cannot be changed after them.
    ...(database ? { access_mode: 'READ_ONLY', enable_external_access: 'false' } : {}),
  });
  try {
    const connection = await instance.connect();
    if (opened.kind === 'files') await connection.run(viewSql(opened, paths));
    for (const setting of settings(database ? [] : paths)) await connection.run(setting);
    connection.closeSync();
    return instance;
  } catch (error) {
    instance.closeSync();
    throw error;
  }
}

/**
 * Returns the statements that set the time zone to UTC, forbid access to all files except `paths`,
 * and lock the settings. The files of a view stay allowed because each query reads them again.
 */
function settings(paths: readonly string[]): string[] {
  return [
    "SET TimeZone = 'UTC'",
    ...(paths.length === 0 ? [] : [`SET allowed_paths = [${paths.map(literal).join(', ')}]`]),
    'SET enable_external_access = false',
    'SET lock_configuration = true',
  ];
}

function viewSql(
  { format, table, bytes }: { format: FileFormat; table: string; bytes: number },
  paths: readonly string[],
): string {
  const several = paths.length > 1 ? ', union_by_name = true' : '';
  const sample = format === 'parquet' ? '' : `, sample_size = ${bytes <= SAMPLE_ALL_BYTES ? -1 : 200_000}`;
  return `CREATE VIEW ${identifier(table)} AS SELECT * FROM read_${format}([${paths.map(literal).join(', ')}]${several}${sample})`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

function identifier(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
