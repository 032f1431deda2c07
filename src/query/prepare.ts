// Reads a statement once: its tree, its kind, and the role that its kind needs (contract section 4).

import { tokenizing } from './lexer/lexer.ts';
import type { Token } from './lexer/token.ts';
import type { Statement } from './parser/ast.ts';
import { readStatement } from './parser/parser.ts';

export type StatementRole = 'readonly' | 'readwrite' | 'admin';

/** What an audit line says of a statement: what it does when it is done. */
export type StatementEffect = 'read' | 'write' | 'define' | 'compact' | 'transaction' | 'copy';

export interface Prepared {
  readonly text: string;
  readonly statement: Statement;
  /** Names of the parameters that stand in it. */
  readonly parameters: readonly string[];
  readonly role: StatementRole;
  readonly effect: StatementEffect;
}

/** As `prepareText`, for long texts: pauses with null between steps of some ten ms. */
export function* preparing(text: string): Generator<null, Prepared, void> {
  const tokens = yield* tokenizing(text);
  yield null;
  return prepareText(text, tokens);
}

/** Throws `syntax_error`. */
export function prepareText(text: string, tokens?: readonly Token[]): Prepared {
  const { statement, parameters } = readStatement(text, tokens);
  return { text, statement, parameters, role: roleOf(statement), effect: effectOf(statement) };
}

/** EXPLAIN never executes, so it only reads; ANALYZE takes its statement's role. */
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
    default:
      return 'define';
  }
}
