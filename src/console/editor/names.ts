// Finds what may come next in a statement: its aliases, keywords, functions, tables after a colon,
// and columns after an alias and a dot.

import type { Table } from '../../client/index.ts';
import { END_COLUMN } from '../../model/columns.ts';
import { BUILT_IN_NAMES, bare, FUNCTIONS, KEYWORDS, patternsOf, quoted } from '../statement-words.ts';

export interface Name {
  readonly label: string;
  readonly type: 'variable' | 'keyword' | 'function' | 'type' | 'property';
  readonly detail?: string;
  /** The text to insert, when it differs from the label. */
  readonly apply?: string;
  /** Ranks the name among others that fit equally well, from -99 (last) to 99 (first). */
  readonly boost?: number;
}

const keywords = KEYWORDS.map((label): Name => ({ label, type: 'keyword' }));
const functions = FUNCTIONS.map((label): Name => ({ label, type: 'function', apply: `${label}(` }));

/**
 * Returns the names for the word that ends at the place, and where that word starts; undefined if
 * nothing is completed there. Unless the user asked for it (`isAsked`), nothing is completed where
 * the statement introduces a new name, when the word is already one of the names, or when it is
 * empty and need not be a table or a column.
 */
export function namesAt(
  text: string,
  place: number,
  tables: readonly Table[],
  isAsked: boolean,
): { readonly start: number; readonly names: readonly Name[] } | undefined {
  const plain = bare(text);
  const start = place - /\w*$/.exec(text.slice(0, place))![0].length;
  // Nothing is completed inside a text, a comment or a name in backquotes. Parameters are named by
  // the writer.
  if (plain[start] !== text[start] || plain[start - 1] === '$') return undefined;
  const first = plain.lastIndexOf(';', start - 1) + 1;
  const end = plain.indexOf(';', start);
  const statement = text.slice(first, end < 0 ? undefined : end);
  const before = plain.slice(first, start).trimEnd();
  const word = text.slice(start, place);
  const isOpen = before.endsWith('.') || awaitsTable(before);
  if (!isAsked && (namesAnew(before) || (word === '' && !isOpen))) return undefined;
  const names = namesAfter(before, statement, tables);
  return !isAsked && isComplete(word, names) ? undefined : { start, names };
}

/** Returns whether the word is one of the names, ignoring case. */
export function isComplete(word: string, names: readonly Name[]): boolean {
  const wanted = word.toLowerCase();
  return names.some(({ label }) => label.toLowerCase() === wanted);
}

function awaitsTable(before: string): boolean {
  return before.endsWith(':') || /\b(INTO|UPDATE|FROM|TABLE|COMPACT|ON|IF( NOT)? +EXISTS)$/i.test(before);
}

/**
 * Returns whether a new name follows: after AS, and at the beginning of a pattern of MATCH or
 * EXISTS.
 */
function namesAnew(before: string): boolean {
  return /\bAS$|\b(?:MATCH|HYPEREDGE|EXISTS\s*\()\s*(?:\([^()]*\)\s*,\s*)*\($/i.test(before);
}

function namesAfter(before: string, statement: string, tables: readonly Table[]): readonly Name[] {
  if (before.endsWith('.')) return columnsOf(before, statement, tables);
  const tableNames = tables.map(({ name }): Name => ({ label: name, type: 'type', apply: quoted(name) }));
  return awaitsTable(before) ? tableNames : [...aliasesOf(statement), ...keywords, ...functions, ...tableNames];
}

/** Returns the aliases of the patterns, with their tables, and of the returned items. */
function aliasesOf(statement: string): Name[] {
  const aliases = new Map(patternsOf(statement).map(({ alias, table }) => [alias, table]));
  for (const [, alias] of bare(statement).matchAll(/\bAS\s+([A-Za-z_]\w*)/gi))
    if (!aliases.has(alias!)) aliases.set(alias!, 'result');
  return [...aliases].map(([label, detail]): Name => ({ label, detail, type: 'variable', boost: 99 }));
}

function columnsOf(before: string, statement: string, tables: readonly Table[]): readonly Name[] {
  const alias = /(\w+)\s*\.$/.exec(before)?.[1];
  const name = patternsOf(statement).find((pattern) => pattern.alias === alias)?.table ?? alias;
  const table = tables.find((item) => item.name.toLowerCase() === name?.toLowerCase());
  const own = (table?.columns ?? []).map(
    (column): Name => ({ label: column.name, type: 'property', detail: column.type, apply: quoted(column.name) }),
  );
  const builtIn = table?.intervals ? [...BUILT_IN_NAMES, END_COLUMN] : BUILT_IN_NAMES;
  return [...builtIn.map((label): Name => ({ label, type: 'property' })), ...own];
}
