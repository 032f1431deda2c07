// Parses one statement. Its first word determines its kind. A semicolon may end the statement, and
// nothing else may follow.

import type { HedgerowError } from '../../errors.ts';
import type { Token } from '../lexer/token.ts';
import { errorAt } from '../syntax-error.ts';
import type { NameNode, Statement } from './ast.ts';
import { parseCopy, parseDelete, parseInsert, parseUpdate } from './changes.ts';
import { parseAlter, parseCreate, parseDrop } from './definitions.ts';
import { parseMatch } from './match.ts';
import { TokenStream } from './token-stream.ts';

/**
 * Returns the syntax tree of `text`. Throws `syntax_error` with the line, the column, what was
 * found and what was expected. The time is linear in the length of the text.
 */
export function parseStatement(text: string): Statement {
  return readStatement(text).statement;
}

/**
 * Does the same as `parseStatement`, and also returns the distinct names of the parameters.
 * `tokens` are the tokens of the text, if they are known already.
 */
export function readStatement(
  text: string,
  tokens?: readonly Token[],
): { statement: Statement; parameters: readonly string[] } {
  const stream = new TokenStream(text, tokens);
  const statement = anyStatement(stream);
  stream.acceptSymbol(';');
  if (stream.current.kind === 'end') return { statement, parameters: [...stream.parameters] };
  if (stream.lastEnd > 0 && text[stream.lastEnd - 1] === ';')
    throw stream.failAt(stream.current.start, 'one statement at a time; send what follows the semicolon on its own.');
  throw stream.fail('the end of the statement');
}

const READERS: Readonly<Record<string, (stream: TokenStream) => Statement>> = {
  MATCH: parseMatch,
  INSERT: parseInsert,
  UPDATE: parseUpdate,
  DELETE: parseDelete,
  CREATE: parseCreate,
  DROP: parseDrop,
  ALTER: parseAlter,
  SHOW: parseShow,
  COMPACT: parseCompact,
  BEGIN: (stream) => parseTransaction(stream, 'begin'),
  COMMIT: (stream) => parseTransaction(stream, 'commit'),
  ROLLBACK: (stream) => parseTransaction(stream, 'rollback'),
  COPY: parseCopy,
  EXPLAIN: (stream) => parseExplain(stream, 'explain'),
  ANALYZE: (stream) => parseExplain(stream, 'analyze'),
};

function anyStatement(stream: TokenStream): Statement {
  const reader = Object.hasOwn(READERS, stream.current.upper) ? READERS[stream.current.upper] : undefined;
  if (reader !== undefined) return reader(stream);
  if (stream.current.upper === 'SELECT') throw selectHint(stream);
  for (const word of Object.keys(READERS)) stream.expecting(word);
  throw stream.fail();
}

/** Finds the table of a SELECT in its first `LOOKED_AT` characters. */
const FROM = /\bFROM\s+[`"]?([A-Za-z_]\w{0,63})/i;
const LOOKED_AT = 2000;

/**
 * Returns the error for a SELECT. It shows how to write the SELECT as a MATCH of the same table.
 */
function selectHint(stream: TokenStream): HedgerowError {
  const { text, current } = stream;
  const start = text.slice(current.start, current.start + LOOKED_AT);
  const table = FROM.exec(start)?.[1] ?? 'hyperedges';
  const items = /\bCOUNT\s*\(/i.test(start) ? 'COUNT(*) AS n' : 'e.event_ts, e.members LIMIT 10';
  return errorAt(
    text,
    current.start,
    `there is no SELECT here; rows are read with MATCH and RETURN, for instance: MATCH (e:${table}) WHERE e.event_ts >= "2024-05-02" RETURN ${items}. Columns follow an alias (e.weight), ORDER BY and LIMIT come last, and items beside an aggregate group by themselves.`,
    ['MATCH'],
  );
}

function parseShow(stream: TokenStream): Statement {
  const { start } = stream.next();
  if (stream.acceptWord('TABLES')) return { kind: 'showTables', table: undefined, start, end: stream.lastEnd };
  if (stream.acceptWord('NODE')) {
    stream.expectWord('TABLES');
    return { kind: 'showNodeTables', table: undefined, start, end: stream.lastEnd };
  }
  stream.expectWord('INDEXES');
  const table = stream.acceptWord('ON') ? stream.expectName('a table name') : undefined;
  return { kind: 'showIndexes', table, start, end: stream.lastEnd };
}

function parseCompact(stream: TokenStream): Statement {
  const { start } = stream.next();
  let table: NameNode | undefined;
  const isTtl = stream.current.upper === 'TTL' && stream.ahead(1).kind === 'integer';
  if (stream.isName && !isTtl) table = stream.expectName('a table name');
  else stream.expecting('a table name');
  const ttlSeconds = stream.acceptWord('TTL') ? stream.expectInteger() : undefined;
  return { kind: 'compact', table, ttlSeconds, start, end: stream.lastEnd };
}

function parseTransaction(stream: TokenStream, kind: 'begin' | 'commit' | 'rollback'): Statement {
  const { start, end } = stream.next();
  return { kind, start, end };
}

function parseExplain(stream: TokenStream, kind: 'explain' | 'analyze'): Statement {
  const { start, upper } = stream.next();
  if (stream.current.upper === 'EXPLAIN' || stream.current.upper === 'ANALYZE') {
    // Other databases write EXPLAIN ANALYZE.
    const advice =
      stream.current.upper === 'ANALYZE' ? ' Write ANALYZE alone: it runs the statement and shows its plan.' : '';
    const what = `${upper} takes a statement that is not itself an EXPLAIN or ANALYZE.${advice}`;
    throw stream.failAt(stream.current.start, what);
  }
  const statement = anyStatement(stream);
  return { kind, statement, start, end: stream.lastEnd };
}
