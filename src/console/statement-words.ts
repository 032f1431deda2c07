// Defines the words of the statement language, and how statements write names.

import { bare } from '../formats/bare-statement.ts';
import { COLUMN_TYPE_NAMES } from '../model/column-types.ts';
import { BUILT_IN_COLUMNS, KEY_COLUMNS } from '../model/columns.ts';
import { OPTION_WORDS } from '../model/options.ts';

export { bare };

export const KEYWORDS: readonly string[] = (
  'MATCH HYPEREDGE WHERE RETURN DISTINCT ORDER BY ASC DESC SKIP OFFSET LIMIT AS AND OR NOT IN BETWEEN IS NULL CONTAINS STARTS ENDS WITH MEMBERS ' +
  'TRUE FALSE INSERT INTO VALUES UPDATE SET DELETE FROM CREATE DROP ALTER NODE TABLE IF EXISTS PROPERTIES INTERVALS ADD COLUMN ' +
  'DEFAULT RENAME TO INDEX ON LANGUAGE SHOW INDEXES TABLES COMPACT TTL BEGIN COMMIT ROLLBACK COPY EXPLAIN ANALYZE'
)
  .split(' ')
  .concat('CREATE_NODES', Object.values(OPTION_WORDS), COLUMN_TYPE_NAMES);

export const FUNCTIONS: readonly string[] =
  'COUNT SUM AVG MIN MAX COLLECT size bucket datetime date shared intersects overlaps holds during follows node search score'.split(
    ' ',
  );

export const BUILT_IN_NAMES: readonly string[] = [...KEY_COLUMNS, ...BUILT_IN_COLUMNS.map(({ name }) => name)];

const words = new Set(KEYWORDS);

/** Quotes the name of a table or column for a statement if necessary. */
export function quoted(name: string): string {
  const isPlain = /^[A-Za-z_]\w*$/.test(name) && !words.has(name.toUpperCase());
  return isPlain ? name : `\`${name}\``;
}

const MOST_FOUND = 50;

/** Returns the statement that finds the best edges of a table for some words. */
export function searchStatement(table: string, words: string): string {
  const text = words.replaceAll('\\', '\\\\').replaceAll("'", "''");
  return `MATCH (e:${quoted(table)})\nWHERE search(e, '${text}')\nRETURN *\nORDER BY score(e) DESC\nLIMIT ${MOST_FOUND}`;
}

/**
 * Returns the first word, converted to capitals. It determines the kind of statement. Empty when
 * there is no word.
 */
export function firstWord(statement: string): string {
  return /^\s*(\w+)/.exec(bare(statement))?.[1]?.toUpperCase() ?? '';
}

export function isMatch(statement: string): boolean {
  return firstWord(statement) === 'MATCH';
}

/**
 * Returns the number in the LIMIT at the end of a statement; undefined when there is none or it is
 * a parameter.
 */
export function limitOf(statement: string): number | undefined {
  const found = /\bLIMIT\s+(\d+)\s*(?:\b(?:SKIP|OFFSET)\s+\S+\s*)?;?\s*$/i.exec(bare(statement));
  return found === null ? undefined : Number(found[1]);
}

/** Returns the patterns of a statement in order: aliases with their tables. */
export function patternsOf(statement: string): { readonly alias: string; readonly table: string }[] {
  return [...bare(statement).matchAll(/\(\s*(\w+)\s*:\s*/g)].flatMap((match) => {
    // In the bare text, names in backquotes are blanked out, so the name is read from the statement
    // itself.
    const name = /^(?:`([^`]+)`|(\w+))/.exec(statement.slice(match.index + match[0].length));
    const table = name?.[1] ?? name?.[2];
    return table === undefined ? [] : [{ alias: match[1]!, table }];
  });
}

/** Returns the names of a statement's parameters, in the order in which they first occur. */
export function parametersOf(statement: string): string[] {
  return [...new Set([...bare(statement).matchAll(/\$(\w+)/g)].map(([, name]) => name!))];
}
