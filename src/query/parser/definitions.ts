// Parses definitions: CREATE, DROP and ALTER statements.

import { typesByWord } from '../../model/column-types.ts';
import { OPTION_NAMES, OPTION_WORDS, TABLE_OPTIONS, type TableOption } from '../../model/options.ts';
import type {
  AlterAction,
  AlterTableNode,
  ColumnTypeNode,
  CreateNodeTableNode,
  CreateTableNode,
  DropTableNode,
  IndexNode,
  NameNode,
  TextIndexNode,
} from './ast.ts';
import { parseExpression } from './expressions.ts';
import type { TokenStream } from './token-stream.ts';

export function parseCreate(stream: TokenStream): CreateTableNode | CreateNodeTableNode | IndexNode | TextIndexNode {
  const { start } = stream.next();
  if (stream.acceptWord('INDEX')) return indexNode(stream, 'createIndex', start);
  if (stream.acceptWord('TEXT')) return textIndexNode(stream, 'createTextIndex', start);
  if (stream.acceptWord('NODE')) return nodeTable(stream, start);
  stream.expectWord('HYPEREDGE');
  stream.expectWord('TABLE');
  const ifNotExists = acceptIf(stream, true);
  const table = stream.expectName('a table name');
  const memberTables = nameList(stream, 'the name of a member table');
  let properties: ColumnTypeNode[] | undefined;
  let roles: NameNode[] | undefined;
  let intervals = false;
  let createNodes: boolean | undefined;
  const options: { [name in TableOption]?: number } = {};
  while (true) {
    if (properties === undefined && stream.acceptWord('PROPERTIES')) properties = columnTypes(stream);
    else if (roles === undefined && stream.acceptWord('ROLES')) roles = nameList(stream, 'the name of a role');
    else if (!intervals && stream.acceptWord('INTERVALS')) intervals = true;
    else if (createNodes === undefined && stream.acceptWord('CREATE_NODES')) createNodes = trueOrFalse(stream);
    else {
      const name = OPTION_NAMES.find((each) => options[each] === undefined && stream.acceptWord(OPTION_WORDS[each]));
      if (name === undefined) break;
      options[name] = optionValue(stream, name);
    }
  }
  return {
    kind: 'createTable',
    table,
    ifNotExists,
    memberTables,
    roles: roles ?? [],
    intervals,
    createNodes,
    properties: properties ?? [],
    ...options,
    start,
    end: stream.lastEnd,
  };
}

/** Reads what follows CREATE NODE. */
function nodeTable(stream: TokenStream, start: number): CreateNodeTableNode {
  stream.expectWord('TABLE');
  const ifNotExists = acceptIf(stream, true);
  const table = stream.expectName('a table name');
  stream.expectSymbol('(');
  const key = columnType(stream);
  stream.expectSymbol(')');
  const properties = stream.acceptWord('PROPERTIES') ? columnTypes(stream) : [];
  return { kind: 'createNodeTable', table, ifNotExists, key, properties, start, end: stream.lastEnd };
}

function trueOrFalse(stream: TokenStream): boolean {
  if (stream.acceptWord('TRUE')) return true;
  stream.expectWord('FALSE');
  return false;
}

function optionValue(stream: TokenStream, name: TableOption): number {
  const { start } = stream.current;
  const { least } = TABLE_OPTIONS[name];
  const value = stream.expectInteger();
  if (value < least) throw stream.failAt(start, `${OPTION_WORDS[name]} takes an integer of ${least} or more.`);
  return value;
}

/**
 * Reads IF NOT EXISTS (if `not` is true) or IF EXISTS, and returns whether it is there. A table may
 * be named `if`; then neither NOT nor EXISTS follows.
 */
function acceptIf(stream: TokenStream, not: boolean): boolean {
  const second = stream.ahead(1).upper;
  if (stream.current.upper !== 'IF' || (second !== 'NOT' && second !== 'EXISTS')) {
    stream.expecting(not ? 'IF NOT EXISTS' : 'IF EXISTS');
    return false;
  }
  stream.next();
  if (not) stream.expectWord('NOT');
  stream.expectWord('EXISTS');
  return true;
}

function nameList(stream: TokenStream, what: string): NameNode[] {
  stream.expectSymbol('(');
  const names: NameNode[] = [];
  if (stream.acceptSymbol(')')) return names;
  do names.push(stream.expectName(what));
  while (stream.acceptSymbol(','));
  stream.expectSymbol(')');
  return names;
}

function columnTypes(stream: TokenStream): ColumnTypeNode[] {
  stream.expectSymbol('(');
  const columns: ColumnTypeNode[] = [];
  do columns.push(columnWithDefault(stream));
  while (stream.acceptSymbol(','));
  stream.expectSymbol(')');
  return columns;
}

function columnWithDefault(stream: TokenStream): ColumnTypeNode {
  const column = columnType(stream);
  return stream.acceptWord('DEFAULT') ? { ...column, default: parseExpression(stream) } : column;
}

function columnType(stream: TokenStream): ColumnTypeNode {
  const name = stream.expectName('a column name');
  const type = TYPES.get(stream.current.upper);
  if (type === undefined) {
    for (const word of TYPES.keys()) stream.expecting(word);
    throw stream.fail();
  }
  stream.next();
  return { name, type };
}

/** Types by their names and synonyms. */
const TYPES = typesByWord();

export function parseDrop(stream: TokenStream): DropTableNode | IndexNode | TextIndexNode {
  const { start } = stream.next();
  if (stream.acceptWord('INDEX')) return indexNode(stream, 'dropIndex', start);
  if (stream.acceptWord('TEXT')) return textIndexNode(stream, 'dropTextIndex', start);
  const kind = stream.acceptWord('NODE') ? 'dropNodeTable' : 'dropTable';
  if (kind === 'dropTable') stream.expectWord('HYPEREDGE');
  stream.expectWord('TABLE');
  const ifExists = acceptIf(stream, false);
  const table = stream.expectName('a table name');
  return { kind, table, ifExists, start, end: stream.lastEnd };
}

function indexNode(stream: TokenStream, kind: IndexNode['kind'], start: number): IndexNode {
  stream.expectWord('ON');
  const table = stream.expectName('a table name');
  stream.expectSymbol('(');
  const column = stream.expectName('a column name');
  stream.expectSymbol(')');
  return { kind, table, column, start, end: stream.lastEnd };
}

/** Reads what follows CREATE TEXT or DROP TEXT. */
function textIndexNode(stream: TokenStream, kind: TextIndexNode['kind'], start: number): TextIndexNode {
  stream.expectWord('INDEX');
  stream.expectWord('ON');
  const table = stream.expectName('a table name');
  const isNew = kind === 'createTextIndex';
  const columns = isNew ? nameList(stream, 'the name of a TEXT column') : [];
  const language = isNew && stream.acceptWord('LANGUAGE') ? stream.expectName('a language') : undefined;
  return { kind, table, columns, language, start, end: stream.lastEnd };
}

export function parseAlter(stream: TokenStream): AlterTableNode {
  const { start } = stream.next();
  const kind = stream.acceptWord('NODE') ? 'alterNodeTable' : 'alterTable';
  stream.expectWord('TABLE');
  const table = stream.expectName('a table name');
  const action = alterAction(stream);
  return { kind, table, action, start, end: stream.lastEnd };
}

function alterAction(stream: TokenStream): AlterAction {
  if (stream.acceptWord('ADD')) {
    stream.expectWord('COLUMN');
    const column = columnType(stream);
    const fallback = stream.acceptWord('DEFAULT') ? parseExpression(stream) : undefined;
    return { kind: 'addColumn', column, default: fallback };
  }
  if (stream.acceptWord('DROP')) {
    stream.expectWord('COLUMN');
    return { kind: 'dropColumn', column: stream.expectName('a column name') };
  }
  stream.expectWord('RENAME');
  if (stream.acceptWord('TO')) return { kind: 'renameTable', to: stream.expectName('a table name') };
  stream.expectWord('COLUMN');
  const column = stream.expectName('a column name');
  stream.expectWord('TO');
  return { kind: 'renameColumn', column, to: stream.expectName('a column name') };
}
