// Reads the schema of a PostgreSQL database: the tables that this login may select from, with their
// keys and row counts.

import type {
  BackendColumn,
  BackendSchema,
  BackendTable,
  ForeignKey,
  SqlRow,
  SqlValue,
  UniqueKey,
} from '../backend.ts';
import type { Ask } from './ask.ts';
import { kindOfPostgres } from './postgres-values.ts';

/** Time limit in milliseconds for counting the rows of all tables together. */
const COUNT_MS = 2000;
/** Number of rows from which the planner's estimate is used instead of counting. */
const ESTIMATE_FROM = 100_000;

const READABLE = `
  n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname !~ '^pg_(toast|temp)' AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND NOT c.relispartition AND has_schema_privilege(n.oid, 'USAGE')`;
const RELATIONS = `
  SELECT n.nspname, c.relname, pg_catalog.pg_table_is_visible(c.oid), c.reltuples::float8
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${READABLE} AND (has_table_privilege(c.oid, 'SELECT') OR has_any_column_privilege(c.oid, 'SELECT'))
  ORDER BY 1, 2`;
const COLUMNS = `
  SELECT n.nspname, c.relname, a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod), b.typname
  FROM pg_catalog.pg_attribute a JOIN pg_catalog.pg_class c ON c.oid = a.attrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    JOIN pg_catalog.pg_type t ON t.oid = a.atttypid
    JOIN pg_catalog.pg_type b ON b.oid = CASE t.typtype WHEN 'd' THEN t.typbasetype ELSE t.oid END
  WHERE ${READABLE} AND a.attnum > 0 AND NOT a.attisdropped AND has_column_privilege(c.oid, a.attnum, 'SELECT')
  ORDER BY 1, 2, a.attnum`;
const NAMES = (table: string, numbers: string) => `
  ARRAY(SELECT a.attname::text FROM unnest(${numbers}) WITH ORDINALITY AS u(number, place)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = ${table} AND a.attnum = u.number ORDER BY u.place)`;
const CONSTRAINTS = `
  SELECT n.nspname, c.relname, k.contype::text, ${NAMES('k.conrelid', 'k.conkey')},
    (SELECT fn.nspname FROM pg_catalog.pg_class f JOIN pg_catalog.pg_namespace fn ON fn.oid = f.relnamespace WHERE f.oid = k.confrelid),
    (SELECT f.relname FROM pg_catalog.pg_class f WHERE f.oid = k.confrelid), ${NAMES('k.confrelid', 'k.confkey')}
  FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${READABLE} AND k.contype IN ('p', 'u', 'f') AND k.conparentid = 0
  ORDER BY 1, 2, k.conname`;
/** Selects indexes made by CREATE UNIQUE INDEX, on plain columns, that cover all rows. */
const UNIQUE_INDEXES = `
  SELECT n.nspname, c.relname, 'u', ${NAMES('i.indrelid', 'i.indkey::int2[]')}, NULL, NULL, NULL
  FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${READABLE} AND i.indisunique AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = i.indnatts
    AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))
  ORDER BY 1, 2, i.indexrelid::regclass::text`;

export async function readPostgresSchema(ask: Ask, now: () => number, counts: boolean): Promise<BackendSchema> {
  const relations = await ask(RELATIONS);
  const paths = new Map(
    relations.map(([schema, name, visible]) => [keyOf(schema, name), pathOf(schema, name, visible)]),
  );
  const columns = columnsByTable(await ask(COLUMNS));
  const tables: BackendTable[] = [];
  const until = counts ? now() + COUNT_MS : Number.NEGATIVE_INFINITY;
  for (const [schema, name, , estimate] of relations) {
    const path = paths.get(keyOf(schema, name))!;
    const row_count =
      Number(estimate) >= ESTIMATE_FROM ? Math.round(Number(estimate)) : await counted(ask, path, until - now());
    tables.push({ name: path.join('.'), path, columns: columns.get(keyOf(schema, name)) ?? [], row_count });
  }
  return { tables, ...keysOf([...(await ask(CONSTRAINTS)), ...(await ask(UNIQUE_INDEXES))], tables, paths) };
}

/** Returns the bare name if the search path finds the table, otherwise schema and name. */
function pathOf(schema: SqlValue | undefined, name: SqlValue | undefined, visible: SqlValue | undefined): string[] {
  return visible === true ? [String(name)] : [String(schema), String(name)];
}

function keyOf(schema: SqlValue | undefined, name: SqlValue | undefined): string {
  return JSON.stringify([schema, name]);
}

function columnsByTable(rows: readonly SqlRow[]): Map<string, BackendColumn[]> {
  const found = new Map<string, BackendColumn[]>();
  for (const [schema, table, name, type, base] of rows) {
    const columns = found.get(keyOf(schema, table)) ?? [];
    found.set(keyOf(schema, table), columns);
    columns.push({ name: String(name), type: String(type), kind: kindOfPostgres(String(base)) });
  }
  return found;
}

/** Counts the rows of a table. Returns null if this fails or takes longer than `ms`. */
async function counted(ask: Ask, path: readonly string[], ms: number): Promise<number | null> {
  if (ms <= 0) return null;
  const quoted = path.map((part) => `"${part.replaceAll('"', '""')}"`).join('.');
  try {
    const [row] = await ask(`SELECT count(*) FROM ${quoted}`, ms);
    return Number(row![0]);
  } catch {
    return null;
  }
}

/** Returns the keys whose tables and columns may all be read. */
function keysOf(
  rows: readonly SqlRow[],
  tables: readonly BackendTable[],
  paths: ReadonlyMap<string, readonly string[]>,
): { keys: UniqueKey[]; foreignKeys: ForeignKey[] } {
  const keys: UniqueKey[] = [];
  const foreignKeys: ForeignKey[] = [];
  const readable = new Set(
    tables.flatMap(({ name, columns }) => columns.map((column) => JSON.stringify([name, column.name]))),
  );
  const reads = (table: string | undefined, columns: readonly string[]) =>
    table !== undefined && columns.every((column) => readable.has(JSON.stringify([table, column])));
  for (const [schema, name, type, columnNames, targetSchema, target, targetNames] of rows) {
    const table = paths.get(keyOf(schema, name))?.join('.');
    const columns = texts(columnNames);
    if (table === undefined || !reads(table, columns)) continue;
    if (type !== 'f') {
      keys.push({ table, columns });
      continue;
    }
    const references = { table: paths.get(keyOf(targetSchema, target))?.join('.'), columns: texts(targetNames) };
    if (references.table === undefined || !reads(references.table, references.columns)) continue;
    foreignKeys.push({ table, columns, references: { table: references.table, columns: references.columns } });
  }
  return { keys, foreignKeys };
}

function texts(value: SqlValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
