// Opens a PostgreSQL database as a backend. Each SELECT runs in a read-only transaction. Error
// messages contain the name of the connection string, its host, and the server's message with the
// password masked, but no other part of the connection string.

import { HedgerowError, refusal, type SettingKey } from '../../errors.ts';
import type { BackendSession, QueryOptions, RowBatch, SqlStatement } from '../backend.ts';
import { asking } from './ask.ts';
import { isConnectionError, openPostgres } from './postgres-client.ts';
import { readPostgresSchema } from './postgres-schema.ts';

export interface PostgresSessionOptions {
  /** The name by which `backend.dsn` of a spec refers to the connection string. */
  readonly name: string;
  /** The connection string. */
  readonly address: string;
  readonly now: () => number;
}

export function openPostgresSession({ name, address, now }: PostgresSessionOptions): BackendSession {
  const where = whereOf(name, address);
  const clients = openPostgres({ address });

  async function* run(statement: SqlStatement, options: QueryOptions): AsyncGenerator<RowBatch> {
    const started = performance.now();
    try {
      yield* clients.run(statement, options);
    } catch (error) {
      // A caller that aborts the query gets its own reason back unchanged.
      if (options.signal?.aborted === true && error === options.signal.reason) throw error;
      throw explained(error, { name, where, address, waitedMs: performance.now() - started });
    }
  }

  async function* query(statement: SqlStatement, options: QueryOptions): AsyncGenerator<RowBatch> {
    if (!/^\s*(SELECT|WITH)\b/i.test(statement.sql)) {
      throw refusal('invalid_statement', 'The statement was not run: only a SELECT is run.');
    }
    if (statement.parameters.some((value) => typeof value === 'string' && value.includes('\0'))) {
      throw refusal(
        'invalid_input',
        'The query holds a text with a NUL character, which PostgreSQL does not allow in texts: leave it out.',
      );
    }
    yield* run(statement, options);
  }

  return {
    dialect: 'postgres',
    query,
    schema: (options = {}) =>
      asking(
        options,
        (sql, limits) => run({ sql, parameters: [] }, limits),
        (ask) => readPostgresSchema(ask, now, options.counts ?? true),
      ),
    fingerprint: async () => '',
    close: () => clients.close(),
  };
}

/** Describes a database without secrets, like `The database WAREHOUSE (host db.example.com)`. */
function whereOf(name: string, address: string): string {
  try {
    const { hostname } = new URL(address);
    return `The database ${name}${hostname === '' ? '' : ` (host ${decodeURIComponent(hostname)})`}`;
  } catch {
    return `The database ${name}`;
  }
}

interface Circumstances {
  readonly name: string;
  readonly where: string;
  readonly address: string;
  readonly waitedMs: number;
}

function explained(error: unknown, { name, where, address, waitedMs }: Circumstances): unknown {
  if (error instanceof HedgerowError) return error;
  const { code = '', message = '' } = error as { code?: string; message?: string };
  if (code === '57014') {
    return refusal(
      'timeout',
      `${where} did not answer within ${Math.round(waitedMs)} ms: ask for less (WHERE, LIMIT), or allow more time.`,
    );
  }
  const setting = `virtualDsn.${name}` as const;
  if (/^28/.test(code))
    return failure(`${where} refused the login: check the user and the password in its connection string.`, setting);
  if (code === '3D000') {
    return failure(`${where} is not there: the server has no database of the name in its connection string.`, setting);
  }
  if (code === 'ERR_INVALID_URL') {
    return failure(
      `${where} has an address that cannot be read: write it as postgres://user:password@host:port/database.`,
      setting,
    );
  }
  if (isConnectionError(error) || code === '53300' || /^(CERT|DEPTH|SELF|UNABLE|ERR_TLS)/.test(code)) {
    return failure(
      `${where} cannot be reached${code === '' ? '' : ` (${code})`}: check that it runs and takes connections, then try again.`,
    );
  }
  if (code === '' || !/^[0-9A-Z]{5}$/.test(code)) return error;
  return failure(`${where} answered: ${shown(message, address).replace(/[.!?]*$/, '')} (${code}).`);
}

function failure(detail: string, setting?: SettingKey): HedgerowError {
  return refusal('backend_failed', detail, setting === undefined ? {} : { fields: { settings: [setting] } });
}

/** Returns the first 300 characters of the message's first line, with the password masked. */
function shown(message: string, address: string): string {
  let text = message.split('\n', 1)[0]!.slice(0, 300);
  for (const secret of secretsOf(address)) text = text.replaceAll(secret, '***');
  return text;
}

function secretsOf(address: string): string[] {
  try {
    const { password } = new URL(address);
    return [password, decodeURIComponent(password)].filter((secret) => secret.length > 3);
  } catch {
    return [address];
  }
}
