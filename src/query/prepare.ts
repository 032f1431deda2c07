// Reads a statement once: its tree, its kind, and the role that its kind needs (contract section 4).

import type { Statement } from './parser/ast.ts';
import { parseStatement } from './parser/parser.ts';

export type StatementRole = 'readonly' | 'readwrite' | 'admin';

/** What an audit line says of a statement: what it does when it is done. */
export type StatementEffect = 'read' | 'write' | 'define' | 'compact' | 'transaction' | 'copy';

export interface Prepared {
  readonly text: string;
  readonly statement: Statement;
  readonly role: StatementRole;
  readonly effect: StatementEffect;
}

/** Statements that are kept read, and the longest that is. */
const KEPT_STATEMENTS = 1000;
const LONGEST_KEPT = 4096;

/** Parsed statements by their text, the one used longest ago goes first. */
export class StatementCache {
  readonly #kept = new Map<string, Prepared>();

  /** Throws `syntax_error`. */
  prepare(text: string): Prepared {
    const known = this.#kept.get(text);
    if (known !== undefined) {
      this.#kept.delete(text);
      this.#kept.set(text, known);
      return known;
    }
    const statement = parseStatement(text);
    const prepared = { text, statement, role: roleOf(statement), effect: effectOf(statement) };
    if (text.length > LONGEST_KEPT) return prepared;
    this.#kept.set(text, prepared);
    if (this.#kept.size > KEPT_STATEMENTS) this.#kept.delete(this.#kept.keys().next().value!);
    return prepared;
  }
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
