// Compiles a query over a virtual graph to one SELECT, together with its plan and a description of
// the result columns.
//
// A query names one edge label of the spec. The compiler resolves every name against the backend's
// schema, then writes the SELECT for the shape of that edge:
//
//   row:   SELECT event_ts, members.., properties.. FROM table WHERE row conditions
//   group: SELECT event_ts, keys.., array_agg(DISTINCT member) FROM table WHERE row conditions
//          GROUP BY keys HAVING group conditions
//
// Every literal is bound as a parameter, and every identifier is quoted. Every column is converted
// to a type that the wire format represents exactly. ORDER BY covers all columns except the list of
// members, so that a LIMIT always selects the same edges.

import type { BackendColumn, BackendSchema, ColumnKind, Dialect, SqlStatement } from '../backend.ts';
import { quoted } from '../identifiers.ts';
import { parseQuery } from '../language/parser.ts';
import type { VirtualSpec } from '../spec/spec.ts';
import { type ConditionSql, conditionsSql } from './conditions.ts';
import { columnSql, DIALECTS, groupableSql, type SqlDialect, tableSql, wireSql } from './dialect.ts';
import { type NamedEdge, namedEdge } from './names.ts';
import { leastTimeSql, type OperandContext, secondsSql } from './operands.ts';
import type { QueryPlan } from './plan.ts';
import { planOf } from './plan.ts';

export type { QueryPlan } from './plan.ts';

export interface CompileOptions {
  readonly dialect: Dialect;
  /** Replaces the query's LIMIT. */
  readonly limit?: number | undefined;
  /**
   * Whether to order the edges by time, then by every other column; default true. Always true with
   * a LIMIT. Turning it off avoids sorting the whole of a long result.
   */
  readonly isOrdered?: boolean | undefined;
}

/** Describes the columns of a result row. Column 0 is the time in seconds. */
export interface RowReading {
  readonly edgeLabel: string;
  readonly shape: 'row' | 'group';
  /**
   * For the shape `row`, the members in columns 1 to n. For the shape `group`, one member, whose
   * values are the list in the last column.
   */
  readonly members: readonly ReadMember[];
  /**
   * The properties follow the members in the shape `row`, and start at column 1 in the shape
   * `group`.
   */
  readonly properties: readonly { readonly name: string; readonly kind: ColumnKind }[];
}

export interface ReadMember {
  readonly name: string;
  readonly role: string;
  readonly nodeLabel: string;
  readonly kind: ColumnKind;
}

export interface CompiledQuery {
  readonly statement: SqlStatement;
  readonly plan: QueryPlan;
  readonly reading: RowReading;
  /** The effective LIMIT. */
  readonly limit: number | undefined;
}

/**
 * Compiles the text of a query. Throws `syntax_error`, `invalid_statement`, `unknown_column` or
 * `invalid_input`, all with status 400.
 */
export function compileQuery(
  text: string,
  spec: VirtualSpec,
  schema: BackendSchema,
  options: CompileOptions,
): CompiledQuery {
  const query = parseQuery(text);
  const edge = namedEdge(query, spec, schema);
  const parameters: (number | string | boolean)[] = [];
  const context: OperandContext = { dialect: DIALECTS[options.dialect], parameters, text };
  const conditions = conditionsSql(query, edge, context);
  const limit = options.limit ?? query.limit;
  const parts = { edge, conditions, dialect: context.dialect, limit };
  const { sql, columns } = edge.spec.shape === 'row' ? rowSelect(parts) : groupSelect(parts);
  const order = (options.isOrdered ?? true) || limit !== undefined ? [`ORDER BY ${ordinals(columns)}`] : [];
  const end = limit === undefined ? [] : [`LIMIT ${limit}`];
  return {
    statement: { sql: [...sql, ...order, ...end].join('\n'), parameters },
    plan: planOf(query, edge),
    reading: readingOf(edge),
    limit,
  };
}

interface SelectParts {
  readonly edge: NamedEdge;
  readonly conditions: ConditionSql;
  readonly dialect: SqlDialect;
  readonly limit: number | undefined;
}

/** The lines of a SELECT, and the number of leading columns to order by. */
interface Select {
  readonly sql: readonly string[];
  readonly columns: number;
}

function rowSelect({ edge, conditions, dialect, limit }: SelectParts): Select {
  const ts = dialect.base(edge.ts);
  const others = [...edge.members.map(({ column }) => column), ...edge.properties];
  const wires = others.map((column) => selected(column, dialect));
  const where = [...conditions.rows];
  // Rows that do not become edges must not count towards the limit. Without a limit they are read
  // and counted as skipped.
  if (limit !== undefined) {
    where.push(edge.ts.kind === 'integer' ? `${ts} IS NOT NULL` : `isfinite(${ts})`);
    where.push(`(${edge.members.map(({ column }) => `${columnSql(column)} IS NOT NULL`).join(' OR ')})`);
  }
  const select = [`${secondsSql(edge.ts, ts, dialect)} AS "event_ts"`, ...wires];
  return { sql: [...head(select, edge), ...clause('WHERE', where)], columns: select.length };
}

function groupSelect({ edge, conditions, dialect, limit }: SelectParts): Select {
  const { column } = edge.members[0]!;
  const member = dialect.base(column);
  const ts = secondsSql(edge.ts, leastTimeSql(edge.ts, dialect), dialect);
  const having = [...conditions.groups];
  if (limit !== undefined) having.push(`${leastTimeSql(edge.ts, dialect)} IS NOT NULL`, `count(${member}) > 0`);
  const keys = edge.properties.map((key) => groupableSql(key, dialect));
  // Converted columns are expressions over grouped columns, so they need no GROUP BY of their own.
  const wires = edge.properties.map((key) => selected(key, dialect));
  const text =
    column.kind === 'real' ? wireSql(column, dialect) : `CAST(${wireSql(column, dialect)} AS ${dialect.types.text})`;
  const members = `array_agg(DISTINCT ${text}) FILTER (WHERE ${member} IS NOT NULL) AS "members"`;
  const sql = [
    ...head([`${ts} AS "event_ts"`, ...wires, members], edge),
    ...clause('WHERE', conditions.rows),
    `GROUP BY ${keys.join(', ')}`,
    ...clause('HAVING', having),
  ];
  return { sql, columns: 1 + wires.length };
}

/** Returns the SQL of a result column, which has the column's name even if it is an expression. */
function selected(column: BackendColumn, dialect: SqlDialect): string {
  const sql = wireSql(column, dialect);
  return sql === columnSql(column) ? sql : `${sql} AS ${quoted(column.name)}`;
}

function head(select: readonly string[], { table }: NamedEdge): string[] {
  return [`SELECT ${select.join(', ')}`, `FROM ${tableSql(table)}`];
}

function clause(word: 'WHERE' | 'HAVING', conditions: readonly string[]): string[] {
  return conditions.length === 0 ? [] : [`${word} ${conditions.join('\n  AND ')}`];
}

function ordinals(count: number): string {
  return Array.from({ length: count }, (_, index) => index + 1).join(', ');
}

function readingOf({ spec, members, properties }: NamedEdge): RowReading {
  return {
    edgeLabel: spec.label,
    shape: spec.shape,
    members: members.map(({ spec: { name, role, node_label }, column }) => ({
      name,
      role,
      nodeLabel: node_label,
      kind: column.kind,
    })),
    properties: properties.map(({ name, kind }) => ({ name, kind })),
  };
}
