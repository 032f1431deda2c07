// Reads the schema of a DuckDB database: tables and views, their columns, keys and row counts.

import type {
  BackendColumn,
  BackendSchema,
  BackendTable,
  ColumnKind,
  ForeignKey,
  SqlRow,
  SqlValue,
  UniqueKey,
} from '../backend.ts';
import type { Ask } from './ask.ts';

/** Time limit in milliseconds for counting the rows of all views together. */
const COUNT_MS = 2000;

const RELATIONS = `
  SELECT schema_name, table_name, estimated_size FROM duckdb_tables() WHERE database_name = current_database() AND NOT internal AND NOT temporary
  UNION ALL
  SELECT schema_name, view_name, NULL FROM duckdb_views() WHERE database_name = current_database() AND NOT internal AND NOT temporary
  ORDER BY ALL`;
const COLUMNS = `
  SELECT schema_name, table_name, column_name, data_type FROM duckdb_columns()
  WHERE database_name = current_database() AND NOT internal ORDER BY schema_name, table_name, column_index`;
const CONSTRAINTS = `
  SELECT schema_name, table_name, constraint_type, constraint_column_names, referenced_table, referenced_column_names
  FROM duckdb_constraints() WHERE database_name = current_database() AND constraint_type IN ('PRIMARY KEY', 'UNIQUE', 'FOREIGN KEY')
  ORDER BY schema_name, table_name, constraint_index`;

const UNIQUE_INDEXES = `
  SELECT schema_name, table_name, CAST(expressions AS VARCHAR[]) FROM duckdb_indexes()
  WHERE database_name = current_database() AND is_unique AND NOT is_primary ORDER BY schema_name, table_name, index_name`;

export async function readDuckDbSchema(ask: Ask, now: () => number, counts: boolean): Promise<BackendSchema> {
  const relations = await ask(RELATIONS);
  const columns = columnsByTable(await ask(COLUMNS));
  const tables: BackendTable[] = [];
  const until = counts ? now() + COUNT_MS : Number.NEGATIVE_INFINITY;
  for (const [schema, table, size] of relations) {
    const name = nameOf(schema, table);
    const path = pathOf(schema, table);
    const row_count = typeof size === 'number' ? size : await counted(ask, path, until - now());
    tables.push({ name, path, columns: columns.get(name) ?? [], row_count });
  }
  const { keys, foreignKeys } = keysOf(await ask(CONSTRAINTS));
  return { tables, keys: [...keys, ...indexKeys(await ask(UNIQUE_INDEXES), columns)], foreignKeys };
}

function columnsByTable(rows: readonly SqlRow[]): Map<string, BackendColumn[]> {
  const found = new Map<string, BackendColumn[]>();
  for (const [schema, table, column, type] of rows) {
    const name = nameOf(schema, table);
    const columns = found.get(name) ?? [];
    found.set(name, columns);
    columns.push({ name: String(column), type: String(type), kind: kindOfDuckDb(String(type)) });
  }
  return found;
}

/**
 * Counts the rows of a table or view. Returns null if counting takes too long or fails, for example
 * because a view reads files that are not accessible.
 */
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

function keysOf(rows: readonly SqlRow[]): { keys: UniqueKey[]; foreignKeys: ForeignKey[] } {
  const keys: UniqueKey[] = [];
  const foreignKeys: ForeignKey[] = [];
  for (const [schema, name, type, columns, target, targetColumns] of rows) {
    const table = nameOf(schema, name);
    if (type !== 'FOREIGN KEY') keys.push({ table, columns: texts(columns) });
    // A DuckDB foreign key stays within its schema.
    else
      foreignKeys.push({
        table,
        columns: texts(columns),
        references: { table: nameOf(schema, target), columns: texts(targetColumns) },
      });
  }
  return { keys, foreignKeys };
}

/**
 * Returns the keys that unique indexes on plain columns form. Ignores indexes on expressions,
 * because they do not make a column unique.
 */
function indexKeys(rows: readonly SqlRow[], columns: ReadonlyMap<string, readonly BackendColumn[]>): UniqueKey[] {
  const keys: UniqueKey[] = [];
  for (const [schema, name, expressions] of rows) {
    const table = nameOf(schema, name);
    const known = new Set(columns.get(table)?.map((column) => column.name));
    const names = texts(expressions).map(unquoted);
    if (names.length > 0 && names.every((column) => known.has(column))) keys.push({ table, columns: names });
  }
  return keys;
}

function unquoted(expression: string): string {
  return /^".*"$/s.test(expression) ? expression.slice(1, -1).replaceAll('""', '"') : expression;
}

function texts(value: SqlValue | undefined): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function pathOf(schema: SqlValue | undefined, table: SqlValue | undefined): string[] {
  return schema === 'main' ? [String(table)] : [String(schema), String(table)];
}

function nameOf(schema: SqlValue | undefined, table: SqlValue | undefined): string {
  return pathOf(schema, table).join('.');
}

const KINDS: readonly [RegExp, ColumnKind][] = [
  [/^(TINYINT|SMALLINT|INTEGER|BIGINT|HUGEINT|UTINYINT|USMALLINT|UINTEGER|UBIGINT|UHUGEINT|BIGNUM)$/, 'integer'],
  [/^DECIMAL\(\d+,\s*\d+\)$/, 'decimal'],
  [/^(FLOAT|DOUBLE)$/, 'real'],
  [/^VARCHAR$|^ENUM\(.*\)$/s, 'text'],
  [/^BOOLEAN$/, 'boolean'],
  [/^TIMESTAMP WITH TIME ZONE$/, 'timestamptz'],
  [/^TIMESTAMP(_S|_MS|_NS)?$/, 'timestamp'],
  [/^DATE$/, 'date'],
  [/^(TIME|TIME_NS|TIME WITH TIME ZONE)$/, 'time'],
  [/^UUID$/, 'uuid'],
];

export function kindOfDuckDb(type: string): ColumnKind {
  return KINDS.find(([pattern]) => !type.endsWith(']') && pattern.test(type))?.[1] ?? 'other';
}
