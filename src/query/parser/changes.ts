// Parses INSERT, UPDATE, DELETE and COPY.

import { shown, shownName } from '../shown.ts';
import type {
  CopyFromNode,
  CopyToNode,
  DeleteNode,
  Expression,
  InsertNode,
  LiteralNode,
  NameNode,
  ParameterNode,
  UpdateNode,
} from './ast.ts';
import { parseExpression, parseRowValue, textOrParameter } from './expressions.ts';
import { parseMatch } from './match.ts';
import type { TokenStream } from './token-stream.ts';

export function parseInsert(stream: TokenStream): InsertNode {
  const { start } = stream.next();
  stream.expectWord('INTO');
  const table = stream.expectName('a table name');
  stream.expectSymbol('(');
  const columns: NameNode[] = [];
  do columns.push(stream.expectName('a column name'));
  while (stream.acceptSymbol(','));
  stream.expectSymbol(')');
  stream.expectWord('VALUES');
  const rows: Expression[][] = [];
  do rows.push(tuple(stream, columns.length));
  while (stream.acceptSymbol(','));
  return { kind: 'insert', table, columns, rows, start, end: stream.lastEnd };
}

function tuple(stream: TokenStream, columns: number): Expression[] {
  const { start } = stream.current;
  stream.expectSymbol('(');
  const values: Expression[] = [];
  do values.push(parseRowValue(stream));
  while (stream.acceptSymbol(','));
  stream.expectSymbol(')');
  if (values.length !== columns)
    throw stream.failAt(start, `this row has ${values.length} values, but ${columns} columns are named.`);
  return values;
}

export function parseUpdate(stream: TokenStream): UpdateNode {
  const { start } = stream.next();
  const table = stream.expectName('a table name');
  stream.expectWord('SET');
  const sets: { column: NameNode; value: Expression }[] = [];
  do {
    const column = columnOf(stream, table);
    stream.expectSymbol('=');
    sets.push({ column, value: parseExpression(stream) });
  } while (stream.acceptSymbol(','));
  const where = stream.acceptWord('WHERE') ? parseExpression(stream) : undefined;
  return { kind: 'update', table, sets, where, start, end: stream.lastEnd };
}

/** Reads a column that is written bare or as `T.col`. */
function columnOf(stream: TokenStream, table: NameNode): NameNode {
  const name = stream.expectName('a column name');
  if (!stream.acceptSymbol('.')) return name;
  if (name.name.toLowerCase() !== table.name.toLowerCase())
    throw stream.failAt(name.start, `${shownName(name.name)} is not the table that is updated, ${shown(table.name)}.`);
  return stream.expectName('a column name');
}

export function parseDelete(stream: TokenStream): DeleteNode {
  const { start } = stream.next();
  stream.expectWord('FROM');
  const table = stream.expectName('a table name');
  const where = stream.acceptWord('WHERE') ? parseExpression(stream) : undefined;
  return { kind: 'delete', table, where, start, end: stream.lastEnd };
}

export function parseCopy(stream: TokenStream): CopyFromNode | CopyToNode {
  const { start } = stream.next();
  const source = copySource(stream);
  if (source.kind === 'match') {
    stream.expectWord('TO');
    return { kind: 'copyTo', source: source.match, file: fileName(stream), start, end: stream.lastEnd };
  }
  if (stream.acceptWord('FROM'))
    return { kind: 'copyFrom', table: source.table, file: fileName(stream), start, end: stream.lastEnd };
  stream.expectWord('TO');
  return { kind: 'copyTo', source: source.table, file: fileName(stream), start, end: stream.lastEnd };
}

/** Reads a MATCH, with or without parentheses, or a table. */
function copySource(
  stream: TokenStream,
): { kind: 'match'; match: ReturnType<typeof parseMatch> } | { kind: 'table'; table: NameNode } {
  if (stream.acceptSymbol('(')) {
    const match = parseMatch(stream);
    stream.expectSymbol(')');
    return { kind: 'match', match };
  }
  const follows = stream.ahead(1);
  const isTable = stream.current.upper !== 'MATCH' || follows.upper === 'TO' || follows.upper === 'FROM';
  if (!isTable) return { kind: 'match', match: parseMatch(stream) };
  stream.expecting('MATCH');
  return { kind: 'table', table: stream.expectName('a table name') };
}

function fileName(stream: TokenStream): LiteralNode | ParameterNode {
  const { kind } = stream.current;
  if (kind !== 'text' && kind !== 'parameter') throw stream.fail("a 'file'");
  return textOrParameter(stream);
}
