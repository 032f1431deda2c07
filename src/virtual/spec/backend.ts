// Parses the backend of a spec: the path of files below the root, or the name of a connection
// string in the settings of the service.

import { choiceAt, type Faults, type Fields, objectAt, type Place, textAt } from './fields.ts';
import { wrongPath } from './path.ts';

/** Types of backends that DuckDB reads from files. */
export const FILE_BACKENDS = ['duckdb', 'parquet', 'csv', 'json'] as const;
/** All types. The type `postgres` includes other servers that use PostgreSQL's protocol. */
export const BACKEND_TYPES = [...FILE_BACKENDS, 'postgres'] as const;
export type BackendType = (typeof BACKEND_TYPES)[number];

export interface FileBackend {
  readonly type: (typeof FILE_BACKENDS)[number];
  /** A file or a pattern for files: a path relative to the root, or an absolute path below it. */
  readonly path: string;
}

export interface DatabaseBackend {
  readonly type: 'postgres';
  /** The name of a connection string in the settings of the service, case-insensitive. */
  readonly dsn: string;
}

export type BackendSpec = FileBackend | DatabaseBackend;

const MAX_DSN = 64;
const LONGEST_PATH_READ = 4096;
/** Fields in which people put secrets, which belong in the settings. */
const SECRET_FIELDS = ['password', 'user', 'url', 'uri', 'connection_string', 'connection', 'host'];

export function backendAt(value: unknown, place: Place, faults: Faults, root: string): BackendSpec | undefined {
  const fields = objectAt(value, place, faults);
  if (fields === undefined) return undefined;
  const type = choiceAt(fields.type, [...place, 'type'], faults, { known: BACKEND_TYPES, what: 'backend type' });
  if (type === undefined) return undefined;
  return type === 'postgres' ? databaseAt(fields, place, faults) : fileAt(type, fields, place, faults, root);
}

function fileAt(
  type: FileBackend['type'],
  fields: Fields,
  place: Place,
  faults: Faults,
  root: string,
): FileBackend | undefined {
  const at = [...place, 'path'];
  const path = textAt(fields.path, at, faults, LONGEST_PATH_READ);
  if (path === undefined) return undefined;
  const wrong = wrongPath(path, type, root);
  if (wrong === undefined) return { type, path };
  faults.add(at, wrong, 'virtualRoot');
  return undefined;
}

/** Parses a database backend. Faults never show the given values, which may contain a password. */
function databaseAt(fields: Fields, place: Place, faults: Faults): DatabaseBackend | undefined {
  for (const name of SECRET_FIELDS.filter((secret) => fields[secret] !== undefined && fields[secret] !== null))
    faults.add([...place, name], 'does not belong here: connections are settings; put the NAME of one in dsn', SETTING);
  const at = [...place, 'dsn'];
  const { dsn } = fields;
  if (typeof dsn === 'string' && /^[A-Za-z0-9_]+$/.test(dsn) && dsn.length <= MAX_DSN)
    return faults.any ? undefined : { type: 'postgres', dsn };
  const form = `the NAME of a database in the settings: letters, digits and _, at most ${MAX_DSN}`;
  faults.add(at, dsn === undefined || dsn === null ? `is missing: it is ${form}` : `must be ${form}`, SETTING);
  return undefined;
}

const SETTING = 'virtualDsn';
