// Walks the tokens of a query, and remembers what would have been accepted at the current token for
// the error message.

import type { HedgerowError } from '../../errors.ts';
import type { Name } from './ast.ts';
import { tokenize } from './lexer.ts';
import { errorAt, type Token, unexpected } from './token.ts';

export class TokenStream {
  readonly text: string;
  readonly #tokens: readonly Token[];
  #at = 0;
  /** What the parser tried to accept at the current token without success. */
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

  /** A word (keywords included) or a name in backquotes. `what` completes "expected ...". */
  expectName(what: string): Name {
    const { kind, value, start } = this.current;
    if (kind !== 'word' && kind !== 'name') throw this.fail(what);
    this.next();
    return { name: value, start };
  }

  /** The error that the current token is none of those expected. */
  fail(...what: string[]): HedgerowError {
    return unexpected(this.text, this.current, [...this.#expected, ...what]);
  }

  /** An error about the meaning of the token at `offset`. */
  failAt(offset: number, detail: string): HedgerowError {
    return errorAt(this.text, offset, detail);
  }
}
