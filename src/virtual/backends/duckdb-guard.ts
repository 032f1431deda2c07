// Allows one plain SELECT and nothing else. Only compiled SQL is expected here, so this is the last
// line of defence before DuckDB.

import type { Connection, Library } from './duckdb-library.ts';

/** Table functions that produce rows without reading anything. */
const HARMLESS_TABLES: ReadonlySet<string> = new Set(['unnest', 'range', 'generate_series']);
/** Functions that reveal or change the state of the process. */
const FORBIDDEN: ReadonlySet<string> = new Set(
  (
    'current_setting getenv getvariable set_config setseed write_log sleep_ms pg_sleep nextval currval setval current_query ' +
    'current_query_id current_schemas in_search_path which_secret query query_table json_execute_serialized_sql json_serialize_sql ' +
    'json_deserialize_sql json_serialize_plan pg_conf_load_time txid_current stats'
  ).split(' '),
);
const SYSTEM_SCHEMAS: ReadonlySet<string> = new Set(['information_schema', 'pg_catalog']);
const SYSTEM_CATALOGS: ReadonlySet<string> = new Set(['system', 'temp']);
const MAX_SQL_CHARACTERS = 1_000_000;

/** Returns the reason why a statement is refused, or undefined if it may run. */
export type Guard = (sql: string) => Promise<string | undefined>;

/**
 * Returns a guard that parses statements in a separate empty database, so that definitions in the
 * files being read cannot interfere.
 */
export async function openGuard({ DuckDBInstance }: Library): Promise<Guard> {
  const instance = await DuckDBInstance.create(':memory:', { threads: '1', enable_external_access: 'false' });
  const connection = await instance.connect();
  const views = await systemViews(connection);
  const parse = await connection.prepare('SELECT json_serialize_sql($1::VARCHAR)');
  let last: Promise<unknown> = Promise.resolve();
  const parsed = async (sql: string) => {
    parse.bindVarchar(1, sql);
    return JSON.parse(String((await parse.runAndReadAll()).getRows()[0]![0])) as ParsedSql;
  };
  const guard: Guard = async (sql) => {
    if (sql.length > MAX_SQL_CHARACTERS) return `the SQL has more than ${MAX_SQL_CHARACTERS} characters`;
    if (!/^\s*(SELECT|WITH)\b/i.test(sql)) return 'only a SELECT is run';
    const turn = last.then(() => parsed(sql));
    last = turn.catch(() => undefined);
    return faultOf(await turn, views);
  };
  return guard;
}

interface ParsedSql {
  error: boolean;
  error_message?: string;
  statements?: unknown[];
}

function faultOf({ error, error_message, statements = [] }: ParsedSql, views: ReadonlySet<string>): string | undefined {
  if (error) return `the SQL is not a SELECT that can be read (${error_message ?? 'no reason given'})`;
  if (statements.length !== 1) return 'only one statement is run';
  return faultBelow(statements[0], views);
}

function faultBelow(node: unknown, views: ReadonlySet<string>): string | undefined {
  // Uses an explicit stack instead of recursion, because SQL may be nested to any depth.
  const open: unknown[] = [node];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next !== 'object' || next === null) continue;
    const fault = Array.isArray(next) ? undefined : faultAt(next as Record<string, unknown>, views);
    if (fault !== undefined) return fault;
    for (const child of Object.values(next)) if (typeof child === 'object' && child !== null) open.push(child);
  }
  return undefined;
}

function faultAt(node: Record<string, unknown>, views: ReadonlySet<string>): string | undefined {
  const name = (key: string) => String(node[key] ?? '').toLowerCase();
  if (node.type === 'SHOW_REF') return 'SHOW, DESCRIBE and SUMMARIZE are not run';
  if (node.type === 'TABLE_FUNCTION') {
    const called = String((node.function as Record<string, unknown> | undefined)?.function_name ?? '').toLowerCase();
    return HARMLESS_TABLES.has(called) ? undefined : `the table function ${called} is not run`;
  }
  if (node.class === 'FUNCTION' && FORBIDDEN.has(name('function_name'))) {
    return `the function ${name('function_name')} is not run`;
  }
  if (node.type !== 'BASE_TABLE') return undefined;
  const system = SYSTEM_SCHEMAS.has(name('schema_name')) || SYSTEM_CATALOGS.has(name('catalog_name'));
  const bare = name('schema_name') === '' || name('schema_name') === 'main';
  if (system || (bare && views.has(name('table_name')))) return `the system table ${name('table_name')} is not read`;
  return undefined;
}

async function systemViews(connection: Connection): Promise<Set<string>> {
  const views = await connection.runAndReadAll(
    "SELECT DISTINCT lower(view_name) FROM duckdb_views() WHERE internal AND schema_name IN ('main', 'pg_catalog')",
  );
  return new Set(views.getRows().map(([name]) => String(name)));
}
