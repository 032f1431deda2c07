// A cursor over the tokens of a statement. For error messages, it records what would have been
// accepted at the current token.

import type { HedgerowError } from '../../errors.ts';
import { tokenize } from '../lexer/lexer.ts';
import type { Token } from '../lexer/token.ts';
import { MAX_NESTING, MAX_OPERANDS } from '../limits.ts';
import { errorAt, unexpected } from '../syntax-error.ts';
import type { NameNode, ParameterNode } from './ast.ts';

/** Puts symbols in quotes, but not words and descriptions. */
function quoted(expected: string): string {
  return /^[A-Za-z]/.test(expected) ? expected : `"${expected}"`;
}

export class TokenStream {
  readonly text: string;
  /** Names of the parameters consumed so far. */
  readonly parameters = new Set<string>();
  readonly #tokens: readonly Token[];
  #at = 0;
  /**
   * The alternatives that were tried at the current token without success: the first `#missed`
   * entries. The array is reused for the next token.
   */
  readonly #expected: string[] = [];
  #missed = 0;
  #depth = 0;
  #operands = 0;

  /** `tokens` are the tokens of the text, if they are known already. */
  constructor(text: string, tokens: readonly Token[] = tokenize(text)) {
    this.text = text;
    this.#tokens = tokens;
  }

  get current(): Token {
    return this.#tokens[this.#at]!;
  }

  /** End of the token before the current one. */
  get lastEnd(): number {
    return this.#at === 0 ? 0 : this.#tokens[this.#at - 1]!.end;
  }

  ahead(count: number): Token {
    return this.#tokens[Math.min(this.#at + count, this.#tokens.length - 1)]!;
  }

  next(): Token {
    const token = this.current;
    if (token.kind !== 'end') this.#at += 1;
    this.#missed = 0;
    return token;
  }

  /** Consumes the keyword if it is the current token. */
  acceptWord(word: string): boolean {
    if (this.current.upper === word) {
      this.next();
      return true;
    }
    this.expecting(word);
    return false;
  }

  acceptSymbol(symbol: string): boolean {
    const token = this.current;
    if (token.kind === 'symbol' && token.value === symbol) {
      this.next();
      return true;
    }
    this.expecting(symbol);
    return false;
  }

  /** Consumes the current token if it is one of the symbols. */
  acceptSymbolOf<T extends string>(symbols: readonly T[]): T | undefined {
    const { kind, value } = this.current;
    if (kind === 'symbol' && (symbols as readonly string[]).includes(value)) {
      this.next();
      return value as T;
    }
    for (const symbol of symbols) this.expecting(symbol);
    return undefined;
  }

  expectWord(word: string): void {
    if (!this.acceptWord(word)) throw this.fail();
  }

  expectSymbol(symbol: string): void {
    if (!this.acceptSymbol(symbol)) throw this.fail();
  }

  /**
   * Consumes a name: a word (even a keyword), or a name in backquotes. `what` completes "expected
   * ...".
   */
  expectName(what: string): NameNode {
    const token = this.current;
    if (token.kind !== 'word' && token.kind !== 'name') throw this.fail(what);
    this.next();
    return { name: token.value, start: token.start, end: token.end };
  }

  /** Consumes the current token as the parameter with this name. */
  takeParameter(name: string): ParameterNode {
    const { start, end } = this.next();
    this.parameters.add(name);
    return { kind: 'parameter', name, start, end };
  }

  /** Consumes an integer of 0 or more. */
  expectInteger(): number {
    const token = this.current;
    if (token.kind !== 'integer') throw this.fail('an integer');
    this.next();
    return Number(token.value);
  }

  /** Whether the current token can be a name. */
  get isName(): boolean {
    return this.current.kind === 'word' || this.current.kind === 'name';
  }

  /** Records an alternative for the error message without testing for it. */
  expecting(what: string): void {
    this.#expected[this.#missed++] = what;
  }

  /** Returns the error that the current token is not one of the alternatives that were tried. */
  fail(what?: string): HedgerowError {
    if (what !== undefined) this.expecting(what);
    return unexpected(this.text, this.current, this.#expected.slice(0, this.#missed).map(quoted));
  }

  failAt(offset: number, detail: string): HedgerowError {
    return errorAt(this.text, offset, detail);
  }

  /** Whether a call of `nested` is running. */
  get isNested(): boolean {
    return this.#depth > 0;
  }

  /** Returns a position for `rewind`. */
  mark(): number {
    return this.#at;
  }

  rewind(mark: number): void {
    this.#at = mark;
    this.#missed = 0;
  }

  /**
   * Must be called for every operand that is not a plain value. Throws `syntax_error` if there are
   * too many operands to parse in one step.
   */
  countOperand(): void {
    this.#operands += 1;
    if (this.#operands > MAX_OPERANDS)
      throw this.failAt(
        this.current.start,
        `the statement has more than ${MAX_OPERANDS} operands; give long lists as plain values or a parameter, or split the statement.`,
      );
  }

  /**
   * Runs `read` one level deeper. An error in `read` ends the parse, so the depth is not restored.
   * `at` is the place of the error if this is too deep.
   */
  nested<T>(read: () => T, at = this.current.start): T {
    this.#depth += 1;
    if (this.#depth > MAX_NESTING)
      throw this.failAt(at, `this is nested in more than ${MAX_NESTING} parentheses, lists or calls.`);
    const result = read();
    this.#depth -= 1;
    return result;
  }
}
