// Parses a statement and determines the role that is needed to run it.

import { tokenizing } from './lexer/lexer.ts';
import type { Token } from './lexer/token.ts';
import type { Statement } from './parser/ast.ts';
import { readStatement } from './parser/parser.ts';

export type StatementRole = 'readonly' | 'readwrite' | 'admin';

/** What a statement does when it is executed, for the audit log. */
export type StatementEffect = 'read' | 'write' | 'define' | 'compact' | 'transaction' | 'copy';

export interface Prepared {
  readonly text: string;
  readonly statement: Statement;
  /** Names of the parameters used in the text. */
  readonly parameters: readonly string[];
  readonly role: StatementRole;
  readonly effect: StatementEffect;
}

/** Does the same as `prepareText` for long texts: yields null between steps of a few ms. */
export function* preparing(text: string): Generator<null, Prepared, void> {
  const tokens = yield* tokenizing(text, true);
  yield null;
  return prepareText(text, tokens);
}

/** Parses a statement. Throws `syntax_error`. */
export function prepareText(text: string, tokens?: readonly Token[]): Prepared {
  const { statement, parameters } = readStatement(text, tokens);
  return { text, statement, parameters, role: roleOf(statement), effect: effectOf(statement) };
}

/**
 * Returns the role that a statement needs. EXPLAIN never executes its statement, so it only reads;
 * ANALYZE needs the role of its statement.
 */
export function roleOf(statement: Statement): StatementRole {
  switch (effectOf(statement)) {
    case 'read':
      return 'readonly';
    case 'define':
    case 'copy':
      return 'admin';
    default:
      return 'readwrite';
  }
}

export function effectOf(statement: Statement): StatementEffect {
  switch (statement.kind) {
    case 'match':
    case 'showIndexes':
    case 'showTables':
    case 'showNodeTables':
    case 'explain':
      return 'read';
    case 'analyze':
      return effectOf(statement.statement);
    case 'insert':
    case 'update':
    case 'delete':
      return 'write';
    case 'compact':
      return 'compact';
    case 'begin':
    case 'commit':
    case 'rollback':
      return 'transaction';
    case 'copyFrom':
    case 'copyTo':
      return 'copy';
    case 'createTable':
    case 'createNodeTable':
    case 'dropTable':
    case 'dropNodeTable':
    case 'alterTable':
    case 'alterNodeTable':
    case 'createIndex':
    case 'dropIndex':
    case 'createTextIndex':
    case 'dropTextIndex':
      return 'define';
  }
}
