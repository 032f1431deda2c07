// A statement without what only looks like parts of it.

/**
 * The same text with everything inside comments, texts and backquotes blanked out: what is found in
 * it is found in the statement itself.
 */
export function bare(statement: string): string {
  return statement.replaceAll(
    /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?|`[^`]*`?/g,
    (part) => part.replaceAll(/[^\n]/g, part.startsWith('/') ? ' ' : '_'),
  );
}
