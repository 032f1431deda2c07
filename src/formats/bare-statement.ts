// Blanks out the comments and the quoted parts of a statement.

/**
 * Returns a text of the same length in which comments are replaced by spaces, and quoted texts and
 * backquoted names by underscores. A search in the result therefore finds only parts of the
 * statement itself.
 */
export function bare(statement: string): string {
  return statement.replaceAll(
    /\/\*[\s\S]*?(?:\*\/|$)|\/\/[^\n]*|'(?:[^'\\]|\\.|'')*'?|"(?:[^"\\]|\\.|"")*"?|`[^`]*`?/g,
    (part) => part.replaceAll(/[^\n]/g, part.startsWith('/') ? ' ' : '_'),
  );
}
