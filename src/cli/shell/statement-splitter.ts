// Splits typed text or a script into statements, at semicolons outside of quotes and comments.

export interface Piece {
  /** The statement without its semicolon and without blanks around it. */
  readonly text: string;
  /** 1-based line of the input on which the statement begins. */
  readonly line: number;
}

type State = 'plain' | "'" | '"' | '`' | 'line comment' | 'block comment';

export class StatementSplitter {
  #state: State = 'plain';
  #text = '';
  /** Line of the next character; `#startLine` is the line on which the current statement begins. */
  #line = 1;
  #startLine = 1;
  /** True when the current statement contains more than blanks and comments. */
  #hasContent = false;
  /** True when the next character is escaped, because a backslash in quotes precedes it. */
  #escaped = false;

  /**
   * Adds text, which continues where the previous call ended, and returns the statements that end
   * in it. The text must end at a line end, because a token of two characters must not be cut in
   * two.
   */
  add(text: string): Piece[] {
    const pieces: Piece[] = [];
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const character = text[at]!;
      if (this.#state === 'plain' && character === ';') {
        this.#text += text.slice(from, at);
        from = at + 1;
        const piece = this.#take();
        if (piece !== undefined) pieces.push(piece);
        this.#startLine = this.#line;
      } else {
        at += this.#step(character, text[at + 1]);
      }
      if (character === '\n') this.#line++;
    }
    this.#text += text.slice(from);
    return pieces;
  }

  /** Returns the rest at the end of the input; undefined when it is only blanks and comments. */
  end(): Piece | undefined {
    return this.#take();
  }

  /** True when the current statement contains at most blanks and complete comments. */
  get isEmpty(): boolean {
    return !this.#hasContent && this.#state !== 'block comment';
  }

  /** True inside a text, a name in backquotes or a comment. */
  get isQuoted(): boolean {
    return this.#state !== 'plain';
  }

  /** The unfinished statement. */
  get text(): string {
    return this.#text;
  }

  /** Discards the unfinished statement. */
  clear(): void {
    this.#take();
    this.#startLine = this.#line;
  }

  /** Processes one character; returns 1 when the next character belongs to it. */
  #step(character: string, next: string | undefined): 0 | 1 {
    if (this.#escaped) {
      this.#escaped = false;
      return 0;
    }
    switch (this.#state) {
      case 'plain':
        return this.#plain(character, next);
      case 'line comment':
        if (character === '\n') this.#state = 'plain';
        return 0;
      case 'block comment':
        if (character !== '*' || next !== '/') return 0;
        this.#state = 'plain';
        return 1;
      default:
        // A doubled quote ends one text and begins another, which makes no difference to where the
        // statement ends.
        if (character === this.#state) this.#state = 'plain';
        else if (character === '\\' && this.#state !== '`') this.#escaped = true;
        return 0;
    }
  }

  #plain(character: string, next: string | undefined): 0 | 1 {
    if (character === '/' && (next === '/' || next === '*')) {
      this.#state = next === '/' ? 'line comment' : 'block comment';
      return 1;
    }
    if (character === "'" || character === '"' || character === '`') this.#state = character;
    if (!/\s/.test(character)) this.#hasContent = true;
    return 0;
  }

  #take(): Piece | undefined {
    const whole = this.#text;
    const piece = this.#hasContent ? { text: whole.trim(), line: this.#startLine + leadingLines(whole) } : undefined;
    this.#text = '';
    this.#state = 'plain';
    this.#hasContent = false;
    this.#escaped = false;
    return piece;
  }
}

function leadingLines(text: string): number {
  const blank = text.slice(0, text.length - text.trimStart().length);
  return blank.split('\n').length - 1;
}

/**
 * Returns the first word of a statement in capitals, skipping comments; empty when the statement
 * does not begin with a word.
 */
export function firstWord(statement: string): string {
  const [, word = ''] = /^(?:\s|\/\/[^\n]*(?:\n|$)|\/\*(?:[^*]|\*(?!\/))*\*\/)*([A-Za-z]+)/.exec(statement) ?? [];
  return word.toUpperCase();
}

/**
 * Returns an equivalent statement on one line: removes line comments, replaces line breaks in texts
 * by escapes such as `\n`, and other line breaks by blanks. Returns undefined when that is not
 * possible, because a name in backquotes contains a line break.
 */
export function onOneLine(statement: string): string | undefined {
  let line = '';
  const parts =
    statement.match(/\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^'\\]|\\[\s\S])*'|"(?:[^"\\]|\\[\s\S])*"|`[^`]*`|[\s\S]/g) ?? [];
  for (const part of parts) {
    if (part.startsWith('//')) continue;
    if (!part.includes('\n') && !part.includes('\r')) line += part;
    else if (part.startsWith("'") || part.startsWith('"')) line += part.replaceAll('\n', '\\n').replaceAll('\r', '\\r');
    else if (part.startsWith('`')) return undefined;
    else line += part.startsWith('/*') ? part.replace(/\s*[\r\n]\s*/g, ' ') : ' ';
  }
  return line.replace(/ {2,}$/, '').trim();
}
