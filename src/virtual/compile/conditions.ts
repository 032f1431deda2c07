// Compiles the conditions of a query to SQL: conditions on rows (WHERE) and on whole groups
// (HAVING).

import { shown } from '../identifiers.ts';
import type { Condition, Query, Subject } from '../language/ast.ts';
import { errorAt } from '../language/token.ts';
import { tableSql } from './dialect.ts';
import { findColumn, findMember, type NamedEdge } from './names.ts';
import {
  columnOperand,
  integerOperand,
  leastTimeSql,
  type Operand,
  type OperandContext,
  timeOperand,
} from './operands.ts';
import { isTime, placeOf } from './plan.ts';

export interface ConditionSql {
  /** Conditions of WHERE. */
  readonly rows: readonly string[];
  /** Conditions of HAVING. */
  readonly groups: readonly string[];
}

export function conditionsSql(query: Query, edge: NamedEdge, context: OperandContext): ConditionSql {
  const rows: string[] = [];
  const groups: string[] = [];
  for (const condition of query.conditions) {
    const { operand, of } = subjectOf(query, condition, edge, context);
    const sql = conditionSql(condition, operand);
    // For a group, a condition on m.id asks whether any member meets it. The result still contains
    // all members of such a group.
    if (of === 'any') {
      groups.push(`bool_or(${sql})`);
      rows.push(...groupsHolding(condition, sql, edge, context));
    } else (of === 'row' ? rows : groups).push(sql);
  }
  return { rows, groups };
}

/**
 * Returns a condition that restricts the scan to groups that contain one of the given members, so
 * that the members of other groups are not collected. A key with a null never equals another key
 * in SQL, so the condition keeps all rows with such a key and leaves the decision to HAVING.
 */
function groupsHolding(
  { operator }: Condition,
  sql: string,
  { table, properties }: NamedEdge,
  { dialect }: OperandContext,
): string[] {
  if (operator !== '=' && operator !== 'IN') return [];
  if (properties.some(({ kind }) => kind === 'other')) return [];
  const keys = properties.map((column) => dialect.base(column));
  const key = keys.length === 1 ? keys[0]! : `(${keys.join(', ')})`;
  const found = `SELECT ${keys.join(', ')} FROM ${tableSql(table)} WHERE ${sql}`;
  return [`(${key} IN (${found}) OR ${keys.map((column) => `${column} IS NULL`).join(' OR ')})`];
}

function conditionSql({ operator, literals }: Condition, operand: Operand): string {
  if (operator === 'IN') return operand.among(literals);
  if (operator !== 'BETWEEN') return operand.compare(operator, literals[0]!);
  return `(${operand.compare('>=', literals[0]!)} AND ${operand.compare('<=', literals[1]!)})`;
}

/**
 * The operand of a condition. `of` is `row` or `group` if the condition must hold for a row or for
 * a whole group, and `any` if it must hold for at least one row in a group.
 */
interface Compared {
  readonly operand: Operand;
  readonly of: 'row' | 'group' | 'any';
}

function subjectOf(query: Query, condition: Condition, edge: NamedEdge, context: OperandContext): Compared {
  const { subject } = condition;
  const isGroup = edge.spec.shape === 'group';
  switch (placeOf(query, condition)) {
    case 'size':
      checkAlias(query, subject);
      return {
        operand: integerOperand(sizeSql(edge, context), 'size(..) is a number of members', context),
        of: isGroup ? 'group' : 'row',
      };
    case 'member':
      return { operand: memberOperand(query, subject, edge, context), of: isGroup ? 'any' : 'row' };
    case 'edge':
      if (!isTime(condition)) return { operand: propertyOperand(query, subject, edge, context), of: 'row' };
      return {
        operand: timeOperand(
          edge.ts,
          isGroup ? leastTimeSql(edge.ts, context.dialect) : context.dialect.base(edge.ts),
          context,
        ),
        of: isGroup ? 'group' : 'row',
      };
  }
}

function propertyOperand(query: Query, { field }: Subject, edge: NamedEdge, context: OperandContext): Operand {
  const column = findColumn(query, field!, edge);
  return columnOperand(column, `${query.alias.name}.${column.name}`, context);
}

function memberOperand(query: Query, { owner, field }: Subject, edge: NamedEdge, context: OperandContext): Operand {
  const { name } = findMember(query, owner, edge.spec);
  if (query.members.length > 0) checkPattern(query, owner.start, name);
  const { column } = edge.members.find((member) => member.spec.name === name)!;
  if (field!.name.toLowerCase() === 'id') return columnOperand(column, `${name}.id`, context);
  const detail = `a member has only an id: write ${name}.id, or ${query.alias.name}.${field!.name} for a column of the edge.`;
  throw errorAt(query.text, field!.start, detail, undefined, 'unknown_column');
}

/** Throws if the pattern names some members, but not the member of a condition. */
function checkPattern({ members, text }: Query, start: number, name: string): void {
  if (members.some(({ member }) => member.name.toLowerCase() === name.toLowerCase())) return;
  throw errorAt(
    text,
    start,
    `the pattern does not name the member ${name}; add it to the braces.`,
    undefined,
    'invalid_statement',
  );
}

function checkAlias({ alias, text }: Query, { owner }: Subject): void {
  if (owner.name.toLowerCase() === alias.name.toLowerCase()) return;
  const detail = `size(..) takes the edge, which is called ${alias.name} here, not ${shown(owner.name)}.`;
  throw errorAt(text, owner.start, detail, undefined, 'invalid_statement');
}

/**
 * Returns the SQL for the number of members of an edge: the member columns of a row that are not
 * null, or the distinct values in a group.
 */
function sizeSql({ spec, members }: NamedEdge, { dialect }: OperandContext): string {
  const columns = members.map(({ column }) =>
    column.kind === 'other' ? dialect.asText(dialect.base(column)) : dialect.base(column),
  );
  if (spec.shape === 'group') return `count(DISTINCT ${columns[0]})`;
  return `(${columns.map((sql) => `CASE WHEN ${sql} IS NULL THEN 0 ELSE 1 END`).join(' + ')})`;
}
