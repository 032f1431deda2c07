// Starts a private PostgreSQL 15 for one test, on a free loopback port and in a temporary folder
// that is removed at the end.

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';

const BIN = '/usr/lib/postgresql/15/bin';
const USER = 'hedgerow';
const PASSWORD = 'let-me-in-15';
const START_MS = 30_000;

export interface TestPostgres {
  /** Connection string, including the password. */
  readonly address: string;
  readonly host: string;
  readonly port: number;
  readonly password: string;
  /** Runs statements as the superuser. Returns the rows of the last statement. */
  run(sql: string): Promise<unknown[][]>;
  /** Stops the server as a crash would. */
  kill(): Promise<void>;
  /** Starts the server again on the same port, after `kill`. */
  start(): Promise<void>;
  /** Stops the server and removes its files. */
  stop(): Promise<void>;
  /**
   * Starts a standby, and has commits wait for it. Its own commits wait for nobody once it was
   * promoted.
   */
  standby(): Promise<TestStandby>;
}

export interface TestStandby extends TestPostgres {
  /** Makes it a primary. */
  promote(): Promise<void>;
}

export interface PostgresSettings {
  /** Settings of the server, such as `max_connections=50`, besides those of every test. */
  readonly settings?: readonly string[];
}

/** Starts a server. If PostgreSQL 15 is missing, prints the reason and returns undefined. */
export async function startPostgres({ settings = [] }: PostgresSettings = {}): Promise<TestPostgres | undefined> {
  const reason = await missing();
  if (reason !== undefined) {
    process.stdout.write(`skipped: ${reason}\n`);
    return undefined;
  }
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-postgres-'));
  const owner = await ownerIds();
  if (owner !== undefined) {
    await chmod(folder, 0o755);
    await chown(folder, owner.uid, owner.gid);
  }
  const data = join(folder, 'data');
  const passwordFile = join(folder, 'password');
  await asOwner(owner, '/bin/sh', ['-c', `umask 077; printf %s ${PASSWORD} > '${passwordFile}'`], folder);
  const init = [
    '-D',
    data,
    '-U',
    USER,
    '-A',
    'scram-sha-256',
    `--pwfile=${passwordFile}`,
    '-E',
    'UTF8',
    '--locale=C',
    '-N',
  ];
  await asOwner(owner, join(BIN, 'initdb'), init, folder);
  return serve(owner, folder, data, settings);
}

/** Starts the server of a data directory. */
async function serve(
  owner: Owner | undefined,
  folder: string,
  data: string,
  settings: readonly string[],
): Promise<TestPostgres> {
  const port = await freePort();
  const address = `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`;
  let server = await launch(owner, data, port, folder, address, settings);
  const end = async (signal: NodeJS.Signals) => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const gone = new Promise((resolve) => server.once('exit', resolve));
    server.kill(signal);
    await gone;
  };
  return {
    address,
    host: '127.0.0.1',
    port,
    password: PASSWORD,
    run: (sql) => runSql(address, sql),
    kill: () => end('SIGQUIT'), // Stops all its processes immediately, without a checkpoint.
    async start() {
      server = await launch(owner, data, port, folder, address, settings);
    },
    async stop() {
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
    standby: () => startStandby(owner, address, settings),
  };
}

async function startStandby(
  owner: Owner | undefined,
  primary: string,
  settings: readonly string[],
): Promise<TestStandby> {
  const folder = await mkdtemp(join(tmpdir(), 'hedgerow-standby-'));
  if (owner !== undefined) {
    await chmod(folder, 0o755);
    await chown(folder, owner.uid, owner.gid);
  }
  const data = join(folder, 'data');
  await asOwner(
    owner,
    join(BIN, 'pg_basebackup'),
    ['-d', primary, '-D', data, '-R', '-X', 'stream', '-c', 'fast'],
    folder,
  );
  const standby = await serve(owner, folder, data, settings);
  const isThere = "SELECT count(*) FROM pg_stat_replication WHERE state = 'streaming'";
  while (Number((await runSql(primary, isThere))[0]![0]) === 0) await new Promise((resolve) => setTimeout(resolve, 50));
  const waiting = await waitForNobody(primary);
  await runSql(primary, "ALTER SYSTEM SET synchronous_standby_names = '*'");
  await runSql(primary, 'SELECT pg_reload_conf()');
  await waiting.commit;
  return {
    ...standby,
    async promote() {
      await standby.run('SELECT pg_promote()');
    },
  };
}

/**
 * Has every commit wait for a standby that is not there, from the return on. Returns a commit that
 * waits, to be awaited once commits wait for nobody again or for a standby that is there.
 *
 * A reload takes effect later than it returns: commits wait once the checkpointer has read the
 * settings too (`SyncRepUpdateSyncStandbysDefined`), so commits are made until one waits.
 */
export async function waitForNobody(address: string): Promise<{ readonly commit: Promise<unknown> }> {
  await runSql(address, "ALTER SYSTEM SET synchronous_standby_names = 'nobody'");
  await runSql(address, 'SELECT pg_reload_conf()');
  const waiting = "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' AND query LIKE '%emit_message%'";
  for (;;) {
    let ended = false;
    const commit = runSql(address, "SELECT pg_logical_emit_message(true, 'a commit', 'that waits')").finally(() => {
      ended = true;
    });
    commit.catch(() => undefined); // The server may be stopped before.
    while (!ended) if (Number((await runSql(address, waiting))[0]![0]) > 0) return { commit };
  }
}

interface Owner {
  readonly uid: number;
  readonly gid: number;
}

async function missing(): Promise<string | undefined> {
  if (!existsSync(join(BIN, 'initdb')))
    return `PostgreSQL 15 is not installed (${BIN}; Debian: apt-get install postgresql-15)`;
  const root = process.getuid?.() === 0;
  if (root && (await ownerIds().catch(() => undefined)) === undefined)
    return 'PostgreSQL does not run as root and there is no user postgres';
  return undefined;
}

/**
 * Returns the ids of the user `postgres` if this process is root, as which PostgreSQL cannot run.
 */
async function ownerIds(): Promise<Owner | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const read = async (flag: string) => Number((await promisify(execFile)('id', [flag, 'postgres'])).stdout);
  return { uid: await read('-u'), gid: await read('-g') };
}

async function asOwner(owner: Owner | undefined, command: string, args: string[], cwd: string): Promise<void> {
  await promisify(execFile)(command, args, { ...owner, cwd, env: { PATH: '/usr/bin:/bin', TZ: 'UTC' } });
}

async function launch(
  owner: Owner | undefined,
  data: string,
  port: number,
  folder: string,
  address: string,
  more: readonly string[],
): Promise<ChildProcess> {
  const settings = [
    'fsync=off',
    'shared_buffers=16MB',
    'max_connections=20',
    `unix_socket_directories=${folder}`,
    'listen_addresses=127.0.0.1',
    ...more,
  ];
  const args = ['-D', data, '-p', String(port), ...settings.flatMap((setting) => ['-c', setting])];
  const server = spawn(join(BIN, 'postgres'), args, { ...owner, cwd: folder, env: { TZ: 'UTC' }, stdio: 'ignore' });
  const until = Date.now() + START_MS;
  for (;;) {
    try {
      await runSql(address, 'SELECT 1');
      return server;
    } catch (error) {
      if (Date.now() > until || server.exitCode !== null) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

async function runSql(address: string, sql: string): Promise<unknown[][]> {
  const client = new pg.Client({ connectionString: address });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const result = await client.query({ text: sql, rowMode: 'array' });
    const last = Array.isArray(result) ? result.at(-1) : result;
    return last.rows as unknown[][];
  } finally {
    await client.end();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}
