// Reads the tokens of a query one after the other. For error messages, it remembers which tokens
// would have been accepted in place of the current one.

import type { HedgerowError } from '../../errors.ts';
import type { Name } from './ast.ts';
import { tokenize } from './lexer.ts';
import { errorAt, type Token, unexpected } from './token.ts';

export class TokenStream {
  readonly text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  /** The tokens that the parser tried to accept in place of the current one. */
  #expected: string[] = [];

  constructor(text: string) {
    this.text = text;
    this.#tokens = tokenize(text);
  }

  get current(): Token {
    return this.#tokens[this.#at]!;
  }

  next(): Token {
    const token = this.current;
    if (token.kind !== 'end') this.#at += 1;
    this.#expected = [];
    return token;
  }

  acceptWord(word: string): boolean {
    if (this.current.upper === word) {
      this.next();
      return true;
    }
    this.#expected.push(word);
    return false;
  }

  acceptSymbol(symbol: string): boolean {
    if (this.isSymbol(symbol)) {
      this.next();
      return true;
    }
    this.#expected.push(`"${symbol}"`);
    return false;
  }

  isSymbol(symbol: string): boolean {
    return this.current.kind === 'symbol' && this.current.value === symbol;
  }

  expectWord(word: string): void {
    if (!this.acceptWord(word)) throw this.fail();
  }

  expectSymbol(symbol: string): void {
    if (!this.acceptSymbol(symbol)) throw this.fail();
  }

  /**
   * Reads a word, which may be a keyword, or a name in backquotes. `what` completes the message
   * "expected ...".
   */
  expectName(what: string): Name {
    const { kind, value, start } = this.current;
    if (kind !== 'word' && kind !== 'name') throw this.fail(what);
    this.next();
    return { name: value, start };
  }

  /** Returns an error which says that the current token is not one of those expected. */
  fail(...what: string[]): HedgerowError {
    return unexpected(this.text, this.current, [...this.#expected, ...what]);
  }

  /** Returns an error about the meaning of the token at `offset`. */
  failAt(offset: number, detail: string): HedgerowError {
    return errorAt(this.text, offset, detail);
  }
}
