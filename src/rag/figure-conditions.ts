// Writes the WHERE conditions that select the edges that a question for a figure means.
//
// An edge must have all words of the question. In a table with a text index, words are searches of
// the index, which are exact for any number of rows:
//
//   search(e, '+kumquat +"travel costs"')
//
// A word may also be in a text column that the index does not have, and tables may have no index.
// Statements compare texts exactly, but questions ignore case and English endings. So the texts of
// such a column that have the word are read first, and the condition lists them.

import type { Table } from '../engine/index.ts';
import { kindOfType } from '../model/column-types.ts';
import { builtInType } from '../model/columns.ts';
import { analyzerOf, MAX_PARTS_TERMS } from '../text/index.ts';
import { batchesOf, type ComputeTools, literal, quoted, rowsOf } from './figure-statements.ts';
import type { Filter, FilterValue, Ignored } from './question/question.ts';
import { ENDINGS, holdsWord, keywordStem } from './retrieval/keyword-match.ts';
import type { MemberKeys } from './retrieval/member-keys.ts';
import type { Retrieval } from './retrieval/retrieve.ts';

/**
 * Maximum number of texts that a condition lists. If it would have to list more, no figure is
 * computed.
 */
const MOST_TEXTS = 200;
/**
 * If more texts than this match a word, the condition uses CONTAINS instead of listing them,
 * provided that CONTAINS selects the same texts.
 */
const FEW_TEXTS = 8;
const MOST_DISTINCT = 100_000;

const TOO_MANY = `More than ${MOST_TEXTS} different texts of the column match, too many for a statement to list.`;

/** The conditions, or the part of the question that no statement can express. */
export type Conditions =
  | {
      /** Joined by AND; empty if there are none. */
      readonly where: string;
      /** Words that bound to no row but that the text index finds, and that are in `where`. */
      readonly indexed: ReadonlySet<string>;
    }
  | { readonly unmet: Ignored };

/**
 * Returns the conditions. If the question names several nodes, an edge must contain all of them. If
 * "or" joins the nodes, one of them is enough.
 */
export async function conditions(retrieval: Retrieval, tools: ComputeTools): Promise<Conditions> {
  const { question, hasOr } = retrieval;
  const parts: string[] = [];
  const groups = retrieval.said.nodeGroups ?? question.nodes.map((node) => [node]);
  const held = groups.map((nodes) => heldCondition(nodes, hasOr, tools.keys));
  if (held.length > 0) parts.push(hasOr ? `(${held.join(' OR ')})` : held.join(' AND '));
  const window = windowCondition(question.window, tools.table);
  if (window !== '') parts.push(window);
  const { columns } = tools.table.item();
  for (const filter of question.filters) {
    const type = columns.find(({ name }) => name === filter.column)?.type ?? builtInType(filter.column);
    const isText = type !== undefined && kindOfType(type) === 'text';
    const part = isText && filter.value !== null ? await textCondition(filter, tools) : plainCondition(filter);
    if (part === undefined) return { unmet: { text: filter.column, reason: TOO_MANY } };
    parts.push(part);
  }
  const words = await wordConditions(retrieval, tools);
  if ('unmet' in words) return words;
  return { where: [...parts, ...words.parts].join(' AND '), indexed: words.indexed };
}

/** Returns the condition that an edge has one of the nodes. */
function heldCondition(nodes: readonly number[], isInOr: boolean, keys: MemberKeys | undefined): string {
  const parts = nodes.map((node) => {
    const known = keys?.nodes.nodeOf(node);
    if (keys !== undefined && known === undefined) return 'false';
    if (known === undefined) return `${node} IN e.members`;
    const key = literal(known.key);
    return `${keys!.kinds.length > 1 ? `node(${quoted(known.kind)}, ${key})` : key} IN e.members`;
  });
  return parts.length > 1 && !isInOr ? `(${parts.join(' OR ')})` : parts.join(' OR ');
}

/** In a table with intervals, edges are meant that hold in the window. */
export function windowCondition(window: Retrieval['question']['window'], table: Table): string {
  const parts: string[] = [];
  const start = window?.start_ts;
  if (start != null && hasIntervals(table))
    parts.push(`(e.event_ts >= ${start} OR e.end_ts IS NULL OR e.end_ts > ${start})`);
  else if (start != null) parts.push(`e.event_ts >= ${start}`);
  if (window?.end_ts != null) parts.push(`e.event_ts <= ${window.end_ts}`);
  return parts.join(' AND ');
}

/** Returns whether the edges of a table have ends. */
export function hasIntervals({ columns }: Table): boolean {
  return columns.end !== undefined;
}

function plainCondition({ column, op, value }: Filter): string | undefined {
  const name = `e.${quoted(column)}`;
  if (value === null) return op === '=' ? `${name} IS NULL` : `${name} IS NOT NULL`;
  if (op === 'contains') return undefined;
  if (op === 'in') return `${name} IN [${(value as readonly FilterValue[]).map(literal).join(', ')}]`;
  return `${name} ${op === '!=' ? '<>' : op} ${literal(value as FilterValue)}`;
}

/**
 * Returns a condition on a text column. Statements compare texts exactly, but questions ignore
 * case, so the condition lists all stored texts that match.
 */
async function textCondition({ column, op, value }: Filter, tools: ComputeTools): Promise<string | undefined> {
  const wanted = (Array.isArray(value) ? value : [value]).map((one) => String(one).toLowerCase());
  const isMeant = (text: string) =>
    op === 'contains' ? text.includes(wanted[0]!) : op === '!=' ? text !== wanted[0] : wanted.includes(text);
  const found = await everyStoredText(column, isMeant, tools);
  return found && `e.${quoted(column)} IN [${found.texts.map(literal).join(', ')}]`;
}

interface WordConditions {
  readonly parts: readonly string[];
  readonly indexed: ReadonlySet<string>;
}

/** Returns the conditions that an edge has all words of a question that bound to rows. */
async function wordConditions(
  { question, said, foundWords }: Retrieval,
  tools: ComputeTools,
): Promise<WordConditions | { unmet: Ignored }> {
  const { indexed: inIndex, others } = textColumnsOf(tools.table);
  const left = new Set(question.ignored.map(({ text }) => text));
  const parts: string[] = [];
  const indexed = new Set<string>();
  /** Parts of one search, all of which must be found, and the number of their terms. */
  let must: { readonly parts: string[]; terms: number } = { parts: [], terms: 0 };
  const searches = [must];
  for (const word of question.keywords) {
    const isFound = foundWords.has(word);
    const written = said.keywords.get(word);
    // The index folds diacritics, so it may find a word that no row has in this spelling.
    if (!isFound && (written === undefined || !left.has(written))) continue;
    const found = inIndex.length === 0 ? undefined : await searchOf(word, tools);
    if (!isFound && found === undefined) continue;
    if (!isFound) indexed.add(word);
    const columns = found === undefined && !hasTerms(word, tools.table) ? [...inIndex, ...others] : others;
    const listed = isFound ? await listedConditions(word, columns, tools) : [];
    if (listed === undefined) return { unmet: { text: written ?? word, reason: TOO_MANY } };
    if (listed.length > 0 || found === undefined || found.forms.length > 1) {
      parts.push(anyOf([...(found === undefined ? [] : [searchText(found.forms)]), ...listed]));
      continue;
    }
    if (must.terms + found.terms > MAX_PARTS_TERMS) {
      must = { parts: [], terms: 0 };
      searches.push(must);
    }
    must.parts.push(`+${found.forms[0]}`);
    must.terms += found.terms;
  }
  const searched = searches.flatMap((search) => (search.parts.length > 0 ? [searchText(search.parts)] : []));
  return { parts: [...searched, ...parts], indexed };
}

function anyOf(parts: readonly string[]): string {
  return parts.length === 0 ? 'false' : parts.length === 1 ? parts[0]! : `(${parts.join(' OR ')})`;
}

function searchText(parts: readonly string[]): string {
  return `search(e, ${literal(parts.join(' '))})`;
}

/** Returns the names of the text columns: those of the text index, and the others. */
function textColumnsOf(table: Table): { readonly indexed: readonly string[]; readonly others: readonly string[] } {
  const { text } = table.definition;
  const indexed = text?.columns.flatMap((id) => table.columns.withId(id)?.name ?? []) ?? [];
  const all = table.item().columns.flatMap(({ name, type }) => (kindOfType(type) === 'text' ? [name] : []));
  return { indexed, others: [...new Set(['formation', ...all])].filter((name) => !indexed.includes(name)) };
}

/** What a search looks for. */
interface WordSearch {
  /** Forms of a word, any of which an edge must have, as a search is written. */
  readonly forms: readonly string[];
  /** Number of terms of the longest form. */
  readonly terms: number;
}

function hasTerms(word: string, { definition: { text } }: Table): boolean {
  return text !== undefined && analyzerOf(text.language).terms(word).length > 0;
}

/**
 * Returns the forms of a keyword that the text index finds; undefined if it finds none. A keyword
 * of several words is a phrase. An index without a language has words as they are, so that the
 * English endings of keywords are forms of their own.
 */
async function searchOf(word: string, tools: ComputeTools): Promise<WordSearch | undefined> {
  const { language } = tools.table.definition.text!;
  const analyzer = analyzerOf(language);
  const terms = analyzer.terms(word).length;
  const stem = keywordStem(word);
  const forms =
    terms === 1 && language === 'none' ? new Set([word, ...ENDINGS.map((ending) => `${stem}${ending}`)]) : [word];
  const found = new Map<string, string>();
  for (const form of forms) {
    const key = analyzer.terms(form).join(' ');
    if (key === '' || found.has(key)) continue;
    const written = PLAIN_WORD.test(form) ? form : `"${form.replaceAll('"', ' ')}"`;
    const statement = `MATCH (e:${quoted(tools.table.name)}) WHERE ${searchText([written])} RETURN e.id AS id LIMIT 1`;
    if ((await rowsOf(statement, tools)).length > 0) found.set(key, written);
  }
  return found.size === 0 ? undefined : { forms: [...found.values()], terms };
}

/** Matches what a search reads as one word, without quotation marks. */
const PLAIN_WORD = /^[\p{L}\p{M}\p{N}_]+$/u;

/**
 * Returns for each column whose texts have a word the condition that selects these; undefined if
 * too many texts have it.
 */
async function listedConditions(
  word: string,
  columns: readonly string[],
  tools: ComputeTools,
): Promise<string[] | undefined> {
  const parts: string[] = [];
  const stem = keywordStem(word);
  for (const column of columns) {
    const found = await everyStoredText(column, (text) => holdsWord(text, stem), tools, stem);
    if (found === undefined) return undefined;
    const { texts, isPart } = found;
    const name = `e.${quoted(column)}`;
    if (isPart && texts.length > FEW_TEXTS) parts.push(`${name} CONTAINS ${literal(stem)}`);
    else if (texts.length > 0) parts.push(`${name} IN [${texts.map(literal).join(', ')}]`);
  }
  return parts;
}

interface StoredTexts {
  readonly texts: string[];
  readonly isPart: boolean;
}

/**
 * Returns the texts in a column for which `passes` returns true. `passes` is called with each text
 * in lower case. Returns undefined if there are too many texts to list or to read. `isPart` in the
 * result means that the texts that pass are exactly those that contain `part`. In that case the
 * list may be incomplete.
 */
export async function storedTexts(
  column: string,
  passes: (text: string) => boolean,
  tools: Pick<ComputeTools, 'table' | 'statements' | 'runner'>,
  part?: string,
): Promise<StoredTexts | undefined> {
  const found = await passing(distinctTexts(column, tools.table, MOST_DISTINCT + 1), passes, tools, part);
  return found === undefined || found.seen > MOST_DISTINCT ? undefined : found;
}

/** Returns the same, but also of a column with any number of different texts. */
async function everyStoredText(
  column: string,
  passes: (text: string) => boolean,
  tools: Pick<ComputeTools, 'table' | 'statements' | 'runner'>,
  part?: string,
): Promise<StoredTexts | undefined> {
  const found = await passing(distinctTexts(column, tools.table, MOST_DISTINCT + 1), passes, tools, part);
  if (found === undefined || found.seen <= MOST_DISTINCT) return found;
  // So many different texts would fill memory. Equal texts are read again instead.
  const name = `e.${quoted(column)}`;
  const all = `MATCH (e:${quoted(tools.table.name)}) WHERE ${name} IS NOT NULL RETURN ${name} AS text`;
  return passing(all, passes, tools, part);
}

function distinctTexts(column: string, table: Table, limit: number): string {
  const name = `e.${quoted(column)}`;
  return `MATCH (e:${quoted(table.name)}) WHERE ${name} IS NOT NULL RETURN DISTINCT ${name} AS text LIMIT ${limit}`;
}

/** Reads the texts that a statement returns, and keeps those that pass. */
async function passing(
  statement: string,
  passes: (text: string) => boolean,
  tools: Pick<ComputeTools, 'statements' | 'runner'>,
  part: string | undefined,
): Promise<(StoredTexts & { readonly seen: number }) | undefined> {
  const texts = new Set<string>();
  let seen = 0;
  let isPart = part !== undefined;
  for await (const batch of batchesOf(statement, tools)) {
    seen += batch.length;
    for (const row of batch) {
      const text = String(row.text);
      const isMeant = passes(text.toLowerCase());
      isPart &&= isMeant === text.includes(part!);
      if (isMeant && texts.size <= MOST_TEXTS) texts.add(text);
    }
    if (texts.size > MOST_TEXTS && !isPart) return undefined;
  }
  return { texts: [...texts].sort(), isPart, seen };
}
