// Runs the statements about indexes: CREATE, DROP and SHOW.

import type { Attach, Database, IndexItem, Table, TextIndexItem } from '../engine/index.ts';
import { HedgerowError } from '../errors.ts';
import { isLanguage, LANGUAGES, type Language } from '../text/index.ts';
import { bindTable } from './binder/patterns.ts';
import { isError, placedAt, scopeOf } from './defined-names.ts';
import type { IndexNode, ShowNode, TextIndexNode } from './parser/ast.ts';
import { rowsResult, type StatementResult } from './result.ts';
import { shown } from './shown.ts';

const INDEX_COLUMNS = ['table', 'column', 'created_at'];
const TEXT_INDEX_COLUMNS = ['table', 'kind', 'columns', 'language', 'created_at'];
const ALL_INDEX_COLUMNS = ['table', 'kind', 'column', 'columns', 'language', 'created_at'];

export async function changeIndex(
  node: IndexNode,
  text: string,
  database: Database,
  attach: Attach<object> | undefined,
): Promise<StatementResult> {
  const table = bindIndex(node, text, database);
  try {
    if (node.kind === 'createIndex') {
      const item = await database.createIndex(table.name, node.column.name, attach);
      return rowsResult([item], INDEX_COLUMNS, database.lastLsn, table.name);
    }
    const answerOf = (item: object) => ({ ...item, dropped: true });
    const item = await database.dropIndex(table.name, node.column.name, attach && ((item) => attach(answerOf(item))));
    return rowsResult([answerOf(item)], ['table', 'column', 'dropped'], database.lastLsn, table.name);
  } catch (error) {
    if (!isError(error, 'index_not_found')) throw placedAt(text, node.column, error);
    const detail = `table ${table.name} has no index on ${shown(node.column.name)}; SHOW INDEXES lists them.`;
    throw placedAt(text, node.column, new HedgerowError('index_not_found', detail, { cause: error }));
  }
}

export async function changeTextIndex(
  node: TextIndexNode,
  text: string,
  database: Database,
  attach: Attach<object> | undefined,
): Promise<StatementResult> {
  const table = bindTextIndex(node, text, database);
  try {
    if (node.kind === 'createTextIndex') {
      const columns = node.columns.map(({ name }) => name);
      const item = await database.textIndexes.create(table.name, { columns, language: languageOf(node) }, attach);
      return rowsResult([item], TEXT_INDEX_COLUMNS, database.lastLsn, table.name);
    }
    const answerOf = (item: object) => ({ ...item, dropped: true });
    const item = await database.textIndexes.drop(table.name, attach && ((item) => attach(answerOf(item))));
    return rowsResult([answerOf(item)], ['table', 'kind', 'dropped'], database.lastLsn, table.name);
  } catch (error) {
    throw placedAt(text, node.table, error);
  }
}

function languageOf({ language }: TextIndexNode): Language | undefined {
  return language === undefined ? undefined : (language.name.toLowerCase() as Language);
}

/**
 * Binds the names in a statement about a text index. Throws `table_not_found`, `unknown_column` or
 * `invalid_statement`.
 */
export function bindTextIndex(node: TextIndexNode, text: string, database: Database): Table {
  const table = bindTable(database, node.table, text);
  const scope = scopeOf(table, text);
  if (table.isOfNodes)
    throw scope.error(node.table, `${table.name} is a node table; only hyperedge tables have text indexes.`);
  const seen = new Set<string>();
  for (const column of node.columns) {
    const field = scope.findField(0, column.name);
    if (field === undefined) throw scope.unknownColumn(0, column);
    if (field.kind !== 'property' || field.type !== 'TEXT')
      throw scope.error(column, `${column.name} is not a TEXT column; a text index is on TEXT columns.`);
    if (seen.size === seen.add(column.name.toLowerCase()).size)
      throw scope.error(column, `${column.name} is named twice; name each column once.`);
  }
  const { language } = node;
  if (language !== undefined && !isLanguage(language.name.toLowerCase()))
    throw scope.error(language, `${shown(language.name)} is no language; write one of ${LANGUAGES.join(', ')}.`);
  return table;
}

/**
 * Binds the names in a statement about an index. Throws `table_not_found`, `unknown_column`,
 * `invalid_statement`.
 */
export function bindIndex(node: IndexNode, text: string, database: Database): Table {
  const table = bindTable(database, node.table, text);
  if (node.kind === 'dropIndex') return table;
  const scope = scopeOf(table, text);
  const field = scope.findField(0, node.column.name);
  if (field === undefined) throw scope.unknownColumn(0, node.column);
  if (field.kind !== 'property')
    throw scope.error(node.column, `${field.kind} takes no index; only properties that are numbers can have one.`);
  return table;
}

/** Lists the indexes. The columns for text indexes are there only if there is one. */
export function showIndexes(node: ShowNode, text: string, database: Database): StatementResult {
  const table = node.table && bindTable(database, node.table, text).name;
  const numeric = database.indexes(table);
  const texts = database.textIndexes.list(table);
  if (texts.length === 0) return rowsResult(numeric, INDEX_COLUMNS, database.lastLsn, table);
  const rows = [...numeric.map(numericRow), ...texts.map(textRow)];
  return rowsResult(rows, ALL_INDEX_COLUMNS, database.lastLsn, table);
}

function numericRow(item: IndexItem): object {
  return { ...item, kind: 'numeric', columns: null, language: null };
}

function textRow(item: TextIndexItem): object {
  return { ...item, column: null };
}
