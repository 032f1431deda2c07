// Runs definitions and maintenance: statements about tables, columns, indexes and compaction, and
// SHOW.

import {
  type AlterAction,
  type Attach,
  type Database,
  KEY_TYPES,
  type KeyType,
  type NodeTableInput,
  type NodeTableItem,
  type PropertyValue,
  type Table,
  type TableInput,
  type TableItem,
} from '../engine/index.ts';
import { BUILT_IN_COLUMNS, checkValue, IDENTIFIER, RESERVED_NAMES } from '../model/columns.ts';
import { OPTION_FIELDS, optionsOf } from '../model/options.ts';
import { SHAPE_FIELDS } from '../model/shape.ts';
import { bindValue } from './binder/changes.ts';
import type { ParameterValues } from './binder/parameters.ts';
import { bindTable } from './binder/patterns.ts';
import { Scope } from './binder/scope.ts';
import { bindIndex, bindTextIndex, changeIndex, changeTextIndex, showIndexes } from './define-indexes.ts';
import { isError, placedAt, scopeOf } from './defined-names.ts';
import { constantValue } from './executor/values/evaluate.ts';
import type {
  AlterAction as AlterNode,
  AlterTableNode,
  ColumnTypeNode,
  CompactNode,
  CreateNodeTableNode,
  CreateTableNode,
  DropTableNode,
  Expression,
  NameNode,
  ShowNode,
  Span,
  Statement,
} from './parser/ast.ts';
import { pagedResult, rowsResult, type StatementResult } from './result.ts';
import { shown } from './shown.ts';
import { errorAt } from './syntax-error.ts';

export type DefineNode = Extract<
  Statement,
  {
    kind:
      | 'createTable'
      | 'createNodeTable'
      | 'dropTable'
      | 'dropNodeTable'
      | 'alterTable'
      | 'alterNodeTable'
      | 'createIndex'
      | 'dropIndex'
      | 'createTextIndex'
      | 'dropTextIndex'
      | 'showIndexes'
      | 'showTables'
      | 'showNodeTables'
      | 'compact';
  }
>;

const TABLE_COLUMNS = [
  'name',
  'member_tables',
  ...SHAPE_FIELDS,
  ...OPTION_FIELDS,
  'row_count',
  'columns',
  'created_at',
  'primary',
];
const NODE_TABLE_COLUMNS = ['name', 'key', 'columns', 'row_count', 'created_at'];

/**
 * Runs a definition. Rejects with the engine's errors, to which line and column are added:
 * `table_exists`, `table_not_found`, `column_exists`, `primary_table`, ...
 */
export function runDefinition(
  node: DefineNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
  attach?: Attach<object>,
): Promise<StatementResult> {
  switch (node.kind) {
    case 'createTable':
      return createTable(node, text, parameters, database, attach);
    case 'createNodeTable':
      return createNodeTable(node, text, parameters, database, attach);
    case 'dropTable':
    case 'dropNodeTable':
      return dropTable(node, text, database, attach);
    case 'alterTable':
    case 'alterNodeTable':
      return alterTable(node, text, parameters, database, attach);
    case 'createIndex':
    case 'dropIndex':
      return changeIndex(node, text, database, attach);
    case 'createTextIndex':
    case 'dropTextIndex':
      return changeTextIndex(node, text, database, attach);
    case 'compact':
      return compact(node, text, database);
    default:
      return Promise.resolve(show(node, text, database));
  }
}

/**
 * The row that a definition answers with. If `attach` is given, the row is captured when the engine
 * logs the change, so that the answer equals the one stored in the log frame.
 */
class AnsweredRow<T extends object> {
  row: object | undefined;
  /** Passed to the engine; undefined if the caller passed no `attach`. */
  readonly attach: Attach<T> | undefined;

  constructor(attach: Attach<object> | undefined, rowOf: (outcome: T) => object) {
    if (attach === undefined) return;
    this.attach = (outcome) => {
      this.row = rowOf(outcome);
      return attach(this.row);
    };
  }
}

async function createTable(
  node: CreateTableNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
  attach: Attach<object> | undefined,
): Promise<StatementResult> {
  const input: TableInput = {
    ...optionsOf(node),
    name: node.table.name,
    memberTables: node.memberTables.map(({ name }) => name),
    roles: node.roles.map(({ name }) => name),
    intervals: node.intervals,
    createNodes: node.createNodes,
    columns: columnsOf(node.properties, text, parameters),
  };
  const answered = new AnsweredRow<TableItem>(attach, (item) => item);
  try {
    const table = await database.createTable(input, answered.attach);
    return rowsResult([answered.row ?? table.item()], TABLE_COLUMNS, database.lastLsn, table.name);
  } catch (error) {
    if (!node.ifNotExists || !isError(error, 'table_exists')) throw placedAt(text, wrongName(node, error), error);
    const table = bindOwnTable(node, text, database);
    return rowsResult([table.item()], TABLE_COLUMNS, database.lastLsn, table.name);
  }
}

async function createNodeTable(
  node: CreateNodeTableNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
  attach: Attach<object> | undefined,
): Promise<StatementResult> {
  const { name, type } = node.key;
  if (!(KEY_TYPES as readonly string[]).includes(type))
    throw errorAt(
      text,
      name.start,
      `the key ${shown(name.name)} is ${KEY_TYPES.join(' or ')}, not ${type}.`,
      undefined,
      'invalid_statement',
    );
  const input: NodeTableInput = {
    name: node.table.name,
    key: { name: name.name, type: type as KeyType },
    columns: columnsOf(node.properties, text, parameters),
  };
  const answered = new AnsweredRow<NodeTableItem>(attach, (item) => item);
  try {
    const table = await database.nodes.createTable(input, answered.attach);
    return rowsResult([answered.row ?? database.nodes.item(table)], NODE_TABLE_COLUMNS, database.lastLsn, table.name);
  } catch (error) {
    if (!node.ifNotExists || !isError(error, 'table_exists')) throw placedAt(text, wrongNodeName(node, error), error);
    const table = bindOwnTable(node, text, database);
    return rowsResult([database.nodes.item(table)], NODE_TABLE_COLUMNS, database.lastLsn, table.name);
  }
}

/** Does for a node table the same as `wrongName`. */
function wrongNodeName({ table, key, properties }: CreateNodeTableNode, error: unknown): Span | undefined {
  if (isError(error, 'table_exists')) return table;
  const names = [key, ...properties].map(({ name }) => name);
  if (isError(error, 'column_exists')) {
    const seen = new Set<string>();
    return names.find(({ name }) => seen.size === seen.add(name.toLowerCase()).size);
  }
  return [table, ...names].find(({ name }) => !IDENTIFIER.test(name));
}

/** Returns new columns with their defaults. */
function columnsOf(
  nodes: readonly ColumnTypeNode[],
  text: string,
  parameters: ParameterValues,
): NonNullable<TableInput['columns']> {
  return nodes.map((node) => {
    const { name, type } = node;
    if (node.default === undefined) return { name: name.name, type };
    return { name: name.name, type, default: defaultOf(node, node.default, text, parameters) };
  });
}

/**
 * Returns the table that a statement about hyperedge tables, or about node tables, names. Throws
 * `table_not_found`, or `invalid_statement` if it is of the other sort.
 */
function bindOwnTable({ kind, table: name }: Named, text: string, database: Database): Table {
  const table = bindTable(database, name, text);
  const ofNodes = kind === 'createNodeTable' || kind === 'dropNodeTable' || kind === 'alterNodeTable';
  if (table.isOfNodes === ofNodes) return table;
  throw errorAt(text, name.start, wrongSort(kind, table), undefined, 'invalid_statement');
}

type Named = CreateTableNode | CreateNodeTableNode | DropTableNode | AlterTableNode;

function wrongSort(kind: Named['kind'], { name, isOfNodes }: Table): string {
  const is = isOfNodes ? 'a node table' : 'a hyperedge table';
  const written = isOfNodes ? WORDS_OF_NODES : WORDS_OF_EDGES;
  if (kind === 'createTable' || kind === 'createNodeTable') return `${name} exists and is ${is}; take another name.`;
  const isDrop = kind === 'dropTable' || kind === 'dropNodeTable';
  return `${name} is ${is}; write ${isDrop ? written.drop : written.alter} ${name}.`;
}

const WORDS_OF_NODES = { drop: 'DROP NODE TABLE', alter: 'ALTER NODE TABLE' };
const WORDS_OF_EDGES = { drop: 'DROP HYPEREDGE TABLE', alter: 'ALTER TABLE' };

/**
 * Returns the position of the name that the engine refused, or undefined if the fault is not a
 * name.
 */
function wrongName(node: CreateTableNode, error: unknown): Span | undefined {
  if (isError(error, 'table_exists')) return node.table;
  if (isError(error, 'column_exists')) {
    const seen = new Set(RESERVED_NAMES);
    const names = [...node.properties.map(({ name }) => name), ...node.roles];
    return names.find(({ name }) => seen.size === seen.add(name.toLowerCase()).size);
  }
  return [node.table, ...node.memberTables, ...node.roles, ...node.properties.map(({ name }) => name)].find(
    ({ name }) => !IDENTIFIER.test(name),
  );
}

async function dropTable(
  node: DropTableNode,
  text: string,
  database: Database,
  attach: Attach<object> | undefined,
): Promise<StatementResult> {
  const lower = node.table.name.toLowerCase();
  const known = [...database.tables(), ...database.nodes.tables()].some(({ name }) => name.toLowerCase() === lower);
  if (!known && node.ifExists)
    return rowsResult([{ name: node.table.name, dropped: false }], ['name', 'dropped'], database.lastLsn);
  const { name, isOfNodes } = bindOwnTable(node, text, database);
  const answer = attach && ((dropped: { name: string }) => attach({ ...dropped, dropped: true }));
  try {
    await (isOfNodes ? database.nodes.dropTable(name, answer) : database.dropTable(name, answer));
  } catch (error) {
    throw placedAt(text, node.table, error);
  }
  return rowsResult([{ name, dropped: true }], ['name', 'dropped'], database.lastLsn, name);
}

async function alterTable(
  node: AlterTableNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
  attach: Attach<object> | undefined,
): Promise<StatementResult> {
  const { table, action } = bindAlter(node, text, parameters, database);
  const answered = new AnsweredRow<TableItem | NodeTableItem>(attach, (item) => item);
  const { isOfNodes, name } = table;
  try {
    if (isOfNodes) await database.nodes.alterTable(name, action, answered.attach);
    else await database.alterTable(name, action, answered.attach);
  } catch (error) {
    throw placedAt(text, isError(error, 'primary_table') ? node.table : newName(node.action), error);
  }
  const item = answered.row ?? (isOfNodes ? database.nodes.item(table) : table.item());
  return rowsResult([item], isOfNodes ? NODE_TABLE_COLUMNS : TABLE_COLUMNS, database.lastLsn, table.name);
}

/** Returns the position of the name that the engine may still refuse after binding. */
function newName(action: AlterNode): Span {
  if (action.kind === 'dropColumn') return action.column;
  return action.kind === 'addColumn' ? action.column.name : action.to;
}

/**
 * Binds the names in ALTER TABLE. Throws `table_not_found`, `unknown_column`, `invalid_statement`.
 */
function bindAlter(
  node: AlterTableNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
): { table: Table; action: AlterAction } {
  const table = bindOwnTable(node, text, database);
  const { action } = node;
  switch (action.kind) {
    case 'addColumn': {
      const { name, type } = action.column;
      const value = action.default && defaultOf(action.column, action.default, text, parameters);
      return { table, action: { kind: 'addColumn', column: { name: name.name, type, default: value ?? null } } };
    }
    case 'dropColumn':
      return { table, action: { kind: 'dropColumn', column: ownColumn(action.column, 'dropped', table, text) } };
    case 'renameColumn': {
      const column = ownColumn(action.column, 'renamed', table, text);
      return { table, action: { kind: 'renameColumn', column, to: action.to.name } };
    }
    case 'renameTable':
      return { table, action: { kind: 'renameTable', to: action.to.name } };
  }
}

/** Returns the name of a user-defined column; throws for built-in columns. */
function ownColumn(column: NameNode, done: string, table: Table, text: string): string {
  const scope = scopeOf(table, text);
  const field = scope.findField(0, column.name);
  if (field === undefined) throw scope.unknownColumn(0, column);
  if (table.isOfNodes) return (field as { name: string }).name;
  if (field.kind !== 'property' || BUILT_IN_COLUMNS.some(({ id }) => id === field.id))
    throw scope.error(column, `column ${shown(column.name)} is built in; it cannot be ${done}.`);
  return field.name;
}

function defaultOf(
  { name, type }: ColumnTypeNode,
  node: Expression,
  text: string,
  parameters: ParameterValues,
): PropertyValue {
  const scope = new Scope({ text, patterns: [], parameters });
  const field = { kind: 'property', id: 0, name: name.name, type } as const;
  const bound = bindValue(node, field, scope, scope);
  const value = constantValue(bound, parameters) as PropertyValue;
  try {
    if (value !== null) checkValue(field, value);
    return value;
  } catch (error) {
    throw placedAt(text, node, error);
  }
}

/**
 * Binds the names in the statement without changing anything. Throws `table_not_found`,
 * `unknown_column`, `invalid_statement`.
 */
export function bindDefinition(
  node: DefineNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
): { table?: string } {
  switch (node.kind) {
    case 'createTable':
    case 'createNodeTable':
      columnsOf(node.properties, text, parameters);
      return { table: node.table.name };
    case 'dropTable':
    case 'dropNodeTable':
      return { table: node.ifExists ? node.table.name : bindOwnTable(node, text, database).name };
    case 'alterTable':
    case 'alterNodeTable':
      return { table: bindAlter(node, text, parameters, database).table.name };
    case 'createIndex':
    case 'dropIndex':
      return { table: bindIndex(node, text, database).name };
    case 'createTextIndex':
    case 'dropTextIndex':
      return { table: bindTextIndex(node, text, database).name };
    default:
      return node.table === undefined ? {} : { table: bindTable(database, node.table, text).name };
  }
}

async function compact(node: CompactNode, text: string, database: Database): Promise<StatementResult> {
  const table = node.table && bindTable(database, node.table, text).name;
  const result = await database.compact({
    ...(table === undefined ? {} : { table }),
    ...(node.ttlSeconds === undefined ? {} : { ttlSeconds: node.ttlSeconds }),
  });
  const row = { operation: 'COMPACT', ...result };
  return rowsResult([row], Object.keys(row), database.lastLsn, table);
}

function show(node: ShowNode, text: string, database: Database): StatementResult {
  if (node.kind === 'showNodeTables') {
    const pages = nodeTablePages(database);
    return pagedResult(pages, NODE_TABLE_COLUMNS, database.lastLsn);
  }
  if (node.kind === 'showTables') return pagedResult(tablePages(database.tables()), TABLE_COLUMNS, database.lastLsn);
  return showIndexes(node, text, database);
}

/** Number of rows of SHOW TABLES that one step makes. Such a step takes less than a millisecond. */
const PAGE_TABLES = 256;

function* nodeTablePages({ nodes }: Database): Generator<readonly NodeTableItem[]> {
  const tables = nodes.tables();
  for (let at = 0; at < tables.length; at += PAGE_TABLES)
    yield tables.slice(at, at + PAGE_TABLES).map((table) => nodes.item(table));
}

function* tablePages(tables: readonly Table[]): Generator<readonly TableItem[]> {
  for (let at = 0; at < tables.length; at += PAGE_TABLES)
    yield tables.slice(at, at + PAGE_TABLES).map((table) => table.item());
}
