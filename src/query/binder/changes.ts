// Binds statements that change rows: INSERT, UPDATE, DELETE.

import type { Table } from '../../engine/index.ts';
import type { DeleteNode, Expression, InsertNode, NameNode, UpdateNode } from '../parser/ast.ts';
import { shown } from '../shown.ts';
import type {
  BoundDelete,
  BoundExpression,
  BoundInsert,
  BoundInsertRow,
  BoundPattern,
  BoundSet,
  BoundUpdate,
  Field,
} from './bound.ts';
import { conjuncts, InnerPatterns } from './exists.ts';
import { bindCondition, bindExpression, itemTypeOf } from './expressions.ts';
import { bindMemberList } from './nodes.ts';
import { commonType, type ParameterValues } from './parameters.ts';
import { bindTable, type Catalog } from './patterns.ts';
import { fieldType, isTimeField, nameOfField, Scope } from './scope.ts';
import { asTime } from './times.ts';

const NO_AGGREGATES = 'aggregates are allowed in RETURN and ORDER BY of a MATCH only';

export function bindInsert(node: InsertNode, text: string, catalog: Catalog, parameters: ParameterValues): BoundInsert {
  const table = bindTable(catalog, node.table, text);
  const pattern: BoundPattern = { alias: table.name, table, members: undefined };
  const targets = new Scope({ text, patterns: [pattern], parameters });
  // Values cannot refer to columns, because there is no row yet.
  const values = new Scope({ text, patterns: [], parameters, noAggregates: NO_AGGREGATES });
  const fields = bindTargets(node.columns, targets);
  if (table.isOfNodes) requireKey(fields, table, node, targets);
  else requireEdge(fields, table, node, targets);
  const rows = node.rows.map((row) => bindRow(row, fields, values, targets));
  return { kind: 'insert', table, rows, text, columns: node.columns.map(({ name }) => name) };
}

function requireEdge(fields: readonly Field[], table: Table, node: InsertNode, targets: Scope): void {
  if (!fields.some(({ kind }) => kind === 'event_ts'))
    throw targets.error(node.table, 'INSERT must name event_ts among its columns; every edge has one.');
  if (fields.some(({ kind }) => kind === 'members' || kind === 'role')) return;
  const besides = table.roles.isEmpty ? '' : ` or a role (${table.roles.names.join(', ')})`;
  throw targets.error(node.table, `INSERT must name members${besides} among its columns; every edge has one.`);
}

function requireKey(fields: readonly Field[], table: Table, node: InsertNode, targets: Scope): void {
  const { key } = table.definition;
  if (fields.some((field) => field.kind === 'property' && field.id === key)) return;
  const { name } = table.columns.columns.find(({ id }) => id === key)!;
  throw targets.error(node.table, `INSERT must name ${name} among its columns; it is the key of ${table.name}.`);
}

/** Returns the assigned columns. Each may occur only once, and `id` not at all. */
function bindTargets(columns: readonly NameNode[], scope: Scope): Exclude<Field, { kind: 'id' }>[] {
  const seen = new Set<string>();
  return columns.map((column) => {
    const field = scope.findField(0, column.name);
    if (field === undefined) throw scope.unknownColumn(0, column);
    if (field.kind === 'id') throw scope.error(column, 'id is given by the database and cannot be set.');
    const key =
      field.kind === 'property' ? `property ${field.id}` : field.kind === 'role' ? `role ${field.mask}` : field.kind;
    if (seen.has(key)) throw scope.error(column, `column ${shown(column.name)} is given twice.`);
    seen.add(key);
    return field as Exclude<Field, { kind: 'id' }>;
  });
}

function bindRow(
  nodes: readonly Expression[],
  fields: readonly Exclude<Field, { kind: 'id' }>[],
  values: Scope,
  targets: Scope,
): BoundInsertRow {
  let eventTs: BoundExpression | undefined;
  let members: BoundExpression | undefined;
  const properties: { column: string; value: BoundExpression }[] = [];
  const roles: { role: string; value: BoundExpression }[] = [];
  for (const [index, field] of fields.entries()) {
    const value = bindValue(nodes[index]!, field, values, targets);
    if (field.kind === 'event_ts') eventTs = value;
    else if (field.kind === 'members') members = value;
    else if (field.kind === 'role') roles.push({ role: field.name, value });
    else properties.push({ column: field.name, value });
  }
  return { eventTs, members, roles, properties, places: nodes };
}

/**
 * Binds a value and checks that it has the column's type. Null is accepted only for properties, and
 * integers are accepted for reals.
 */
export function bindValue(
  node: Expression,
  field: Exclude<Field, { kind: 'id' }>,
  values: Scope,
  targets: Scope,
): BoundExpression {
  const named = field.kind === 'members' || field.kind === 'role' ? targets.patterns[0]!.table : undefined;
  if (named?.kinds !== undefined) return bindKeys(node, named, values);
  const given = bindExpression(node, values);
  const bound = isTimeField(field) ? asTime(given, node, targets, 'time') : given;
  const name = nameOfField(field);
  if (field.kind === 'members' || field.kind === 'role') {
    const itemType = itemTypeOf(bound);
    if (bound.type !== 'list' || (itemType !== 'integer' && itemType !== 'null'))
      throw targets.error(node, `${shown(name)} takes a list of integers, for instance [1, 2, 3].`);
    return bound;
  }
  const type = fieldType(field);
  if (bound.type === 'null' && field.kind === 'property') return bound;
  const fits = bound.type === type || (type === 'real' && bound.type === 'integer');
  if (!fits || commonType(bound.type, type) === undefined)
    throw targets.error(node, `column ${name} is of type ${type}, and ${shown(bound.text)} is of type ${bound.type}.`);
  return bound;
}

/** Binds the members that are written into a named table. */
function bindKeys(node: Expression, table: Table, values: Scope): BoundExpression {
  const bound = bindMemberList(node, table, table.kinds!, values, 'reference');
  if (bound.type === 'null')
    throw values.error(node, "members takes a list of keys and cannot be null; for instance ['Ada'].");
  return bound;
}

export function bindUpdate(node: UpdateNode, text: string, catalog: Catalog, parameters: ParameterValues): BoundUpdate {
  const { pattern, scope, inner } = tableScope(node.table, text, catalog, parameters);
  const values = scope.with(undefined, NO_AGGREGATES);
  const fields = bindTargets(
    node.sets.map((set) => set.column),
    scope,
  );
  const { key } = pattern.table.definition;
  const sets = node.sets.map((set, index): BoundSet => {
    const field = fields[index]!;
    if (field.kind === 'property' && field.id === key)
      throw scope.error(
        set.column,
        `the key of a node cannot be changed: ${shown(field.name)} stays as it is. Insert a node with the new key instead.`,
      );
    return { field, value: bindValue(set.value, field, values, values), place: set.value };
  });
  return { kind: 'update', text, pattern, inner: inner.patterns, sets, where: bindWhere(node.where, scope) };
}

export function bindDelete(node: DeleteNode, text: string, catalog: Catalog, parameters: ParameterValues): BoundDelete {
  const { pattern, scope, inner } = tableScope(node.table, text, catalog, parameters);
  return { kind: 'delete', text, pattern, inner: inner.patterns, where: bindWhere(node.where, scope) };
}

/** Returns a scope in which columns are written bare or after the table's name. */
function tableScope(
  name: NameNode,
  text: string,
  catalog: Catalog,
  parameters: ParameterValues,
): { pattern: BoundPattern; scope: Scope; inner: InnerPatterns } {
  const table = bindTable(catalog, name, text);
  const pattern: BoundPattern = { alias: table.name, table, members: undefined };
  const patterns = [pattern];
  const inner = new InnerPatterns(patterns, catalog);
  const scope = new Scope({ text, patterns, parameters, bareColumns: true, noAggregates: NO_AGGREGATES, inner });
  return { pattern, scope, inner };
}

function bindWhere(node: Expression | undefined, scope: Scope): BoundExpression[] {
  return node === undefined ? [] : conjuncts(bindCondition(node, scope, 'WHERE'));
}
