// Completes a line with words of the language, tables, columns, functions and commands of the
// shell.

import { COLUMN_TYPE_NAMES } from '../../model/column-types.ts';
import { OPTION_WORDS } from '../../model/options.ts';
import { FUNCTION_NAMES } from '../../query/language.ts';
import { FORMATS } from '../query/formats.ts';

export interface KnownTable {
  readonly name: string;
  /** Includes built-in columns. */
  readonly columns: readonly string[];
}

export interface Completion {
  readonly candidates: readonly string[];
  /** The end of the line, which a candidate replaces. */
  readonly word: string;
}

const KEYWORDS: readonly string[] = (
  'MATCH HYPEREDGE MEMBERS WHERE RETURN DISTINCT ORDER BY ASC DESC SKIP OFFSET LIMIT AS AND OR NOT IN BETWEEN IS NULL TRUE FALSE CONTAINS STARTS ENDS WITH ' +
  'INSERT INTO VALUES UPDATE SET DELETE FROM CREATE DROP ALTER NODE TABLE INDEX ON IF EXISTS PROPERTIES ' +
  'ADD COLUMN DEFAULT RENAME TO SHOW TABLES INDEXES COMPACT TTL BEGIN COMMIT ROLLBACK COPY EXPLAIN ANALYZE'
)
  .split(' ')
  .concat('CREATE_NODES', Object.values(OPTION_WORDS), COLUMN_TYPE_NAMES);

/** Matches text after which the name of a table must follow. */
const BEFORE_TABLE = /(?::\s*|\b(?:INTO|FROM|UPDATE|TABLE|ON|COMPACT|COPY|IF(?:\s+NOT)?\s+EXISTS)\s+)$/i;

/**
 * Returns the completions. `before` is the unfinished statement up to the cursor, which must be
 * outside of quotes.
 */
export function completionOf(before: string, tables: readonly KnownTable[]): Completion {
  const column = /([A-Za-z_]\w*)\.(\w*)$/.exec(before);
  if (column !== null) return columnsFor(column[1]!, column[2]!, before, tables);
  const word = /\w*$/.exec(before)![0];
  const names = tables.map(({ name }) => name);
  if (BEFORE_TABLE.test(before.slice(0, before.length - word.length))) return matching(names, word);
  if (word === '') return { candidates: [], word };
  const isSmall = word === word.toLowerCase();
  const keywords = KEYWORDS.map((keyword) => (isSmall ? keyword.toLowerCase() : keyword));
  const functions = FUNCTION_NAMES.map((name) => `${isSmall ? name : name.toUpperCase()}(`);
  const columns = tables.flatMap((table) => table.columns);
  return matching([...keywords, ...functions, ...names, ...columns], word);
}

/**
 * Returns the columns that begin with `word`. They are those of the table that has `alias` as its
 * alias or its name, or those of all tables if there is no such table.
 */
function columnsFor(alias: string, word: string, before: string, tables: readonly KnownTable[]): Completion {
  const meant = [...before.matchAll(/\b([A-Za-z_]\w*)\s*:\s*`?([A-Za-z_]\w*)/g)].find(
    (pattern) => pattern[1]!.toLowerCase() === alias.toLowerCase(),
  );
  const name = (meant?.[2] ?? alias).toLowerCase();
  const table = tables.find((one) => one.name.toLowerCase() === name);
  return matching(table?.columns ?? tables.flatMap((one) => one.columns), word);
}

export interface CommandName {
  /** Name with the dot. */
  readonly name: string;
  readonly takes: 'table' | 'format' | 'switch' | 'nothing';
}

/** Returns the completions for a line that begins with a dot. */
export function commandCompletion(
  line: string,
  commands: readonly CommandName[],
  tables: readonly KnownTable[],
): Completion {
  const [, name, gap, word] = /^\s*(\.\w*)(\s*)(\S*)$/.exec(line) ?? [];
  if (name === undefined) return { candidates: [], word: '' };
  if (gap === '')
    return matching(
      commands.map((command) => command.name),
      name,
    );
  switch (commands.find((command) => command.name === name)?.takes) {
    case 'table':
      return matching(
        tables.map((table) => table.name),
        word!,
      );
    case 'format':
      return matching(FORMATS, word!);
    case 'switch':
      return matching(['on', 'off'], word!);
    default:
      return { candidates: [], word: word! };
  }
}

function matching(names: readonly string[], word: string): Completion {
  const lower = word.toLowerCase();
  const candidates = [...new Set(names)].filter((name) => name.toLowerCase().startsWith(lower));
  return { candidates: candidates.sort(), word };
}
