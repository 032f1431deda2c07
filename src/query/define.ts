// Runs statements that define and maintain: tables, columns, indexes, compaction, and SHOW.

import type { Database } from '../engine/index.ts';
import type { PropertyValue, TableInput } from '../engine/types.ts';
import { HedgerowError } from '../errors.ts';
import { bindExpression } from './binder/expressions.ts';
import { bindTable } from './binder/match.ts';
import type { ParameterValues } from './binder/parameters.ts';
import { Scope } from './binder/scope.ts';
import { constantValue } from './executor/evaluate.ts';
import type {
  AlterTableNode,
  CompactNode,
  CreateTableNode,
  DropTableNode,
  IndexNode,
  ShowNode,
  Statement,
} from './parser/ast.ts';
import { rowsResult, type StatementResult } from './result.ts';

export type DefineNode = Extract<
  Statement,
  {
    kind:
      | 'createTable'
      | 'dropTable'
      | 'alterTable'
      | 'createIndex'
      | 'dropIndex'
      | 'showIndexes'
      | 'showTables'
      | 'compact';
  }
>;

const TABLE_COLUMNS = [
  'name',
  'member_tables',
  'bucket_seconds',
  'compact_threshold',
  'row_count',
  'columns',
  'created_at',
  'primary',
];
const INDEX_COLUMNS = ['table', 'column', 'created_at'];

/** Throws (rejects) what the engine does: `table_exists`, `table_not_found`, `column_exists`, `primary_table`, ... */
export function runDefinition(
  node: DefineNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
): Promise<StatementResult> {
  switch (node.kind) {
    case 'createTable':
      return createTable(node, database);
    case 'dropTable':
      return dropTable(node, text, database);
    case 'alterTable':
      return alterTable(node, text, parameters, database);
    case 'createIndex':
    case 'dropIndex':
      return changeIndex(node, text, database);
    case 'compact':
      return compact(node, text, database);
    default:
      return Promise.resolve(show(node, text, database));
  }
}

async function createTable(node: CreateTableNode, database: Database): Promise<StatementResult> {
  const input: TableInput = {
    name: node.table.name,
    memberTables: node.memberTables.map(({ name }) => name),
    columns: node.properties.map(({ name, type }) => ({ name: name.name, type })),
  };
  if (node.bucketSeconds !== undefined) input.bucketSeconds = node.bucketSeconds;
  if (node.compactThreshold !== undefined) input.compactThreshold = node.compactThreshold;
  try {
    const table = await database.createTable(input);
    return rowsResult([table.item()], TABLE_COLUMNS, database.lastLsn, table.name);
  } catch (error) {
    if (!node.ifNotExists || !(error instanceof HedgerowError) || error.code !== 'table_exists') throw error;
    const table = database.table(node.table.name);
    return rowsResult([table.item()], TABLE_COLUMNS, database.lastLsn, table.name);
  }
}

async function dropTable(node: DropTableNode, text: string, database: Database): Promise<StatementResult> {
  const known = database.tables().find(({ name }) => name.toLowerCase() === node.table.name.toLowerCase());
  if (known === undefined && node.ifExists)
    return rowsResult([{ name: node.table.name, dropped: false }], ['name', 'dropped'], database.lastLsn);
  const { name } = bindTable(database, node.table, text);
  await database.dropTable(name);
  return rowsResult([{ name, dropped: true }], ['name', 'dropped'], database.lastLsn, name);
}

async function alterTable(
  node: AlterTableNode,
  text: string,
  parameters: ParameterValues,
  database: Database,
): Promise<StatementResult> {
  const { name } = bindTable(database, node.table, text);
  const { action } = node;
  switch (action.kind) {
    case 'addColumn': {
      const column = { name: action.column.name.name, type: action.column.type };
      const fallback = action.default && defaultValue(action.default, text, parameters);
      await database.alterTable(name, {
        kind: 'addColumn',
        column: fallback === undefined || fallback === null ? column : { ...column, default: fallback },
      });
      break;
    }
    case 'dropColumn':
      await database.alterTable(name, { kind: 'dropColumn', column: action.column.name });
      break;
    case 'renameTable':
      await database.alterTable(name, { kind: 'renameTable', to: action.to.name });
      break;
    case 'renameColumn':
      await database.alterTable(name, { kind: 'renameColumn', column: action.column.name, to: action.to.name });
  }
  const table = database.table(action.kind === 'renameTable' ? action.to.name : name);
  return rowsResult([table.item()], TABLE_COLUMNS, database.lastLsn, table.name);
}

function defaultValue(
  node: Parameters<typeof bindExpression>[0],
  text: string,
  parameters: ParameterValues,
): PropertyValue {
  const scope = new Scope({ text, patterns: [], parameters });
  const bound = bindExpression(node, scope);
  if (bound.type === 'list') throw scope.error(node, 'a default is a single value, not a list.');
  return constantValue(bound, parameters) as PropertyValue;
}

async function changeIndex(node: IndexNode, text: string, database: Database): Promise<StatementResult> {
  const { name } = bindTable(database, node.table, text);
  if (node.kind === 'createIndex') {
    const item = await database.createIndex(name, node.column.name);
    return rowsResult([item], INDEX_COLUMNS, database.lastLsn, name);
  }
  const item = await database.dropIndex(name, node.column.name);
  return rowsResult([{ ...item, dropped: true }], ['table', 'column', 'dropped'], database.lastLsn, name);
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
  if (node.kind === 'showTables')
    return rowsResult(
      database.tables().map((table) => table.item()),
      TABLE_COLUMNS,
      database.lastLsn,
    );
  const table = node.table && bindTable(database, node.table, text).name;
  return rowsResult(database.indexes(table), INDEX_COLUMNS, database.lastLsn, table);
}
