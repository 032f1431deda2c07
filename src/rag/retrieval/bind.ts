// Binds the parts of a question to data: names of nodes, nodes that are in an edge, a window that
// contains edges, predicates of rules, and words that occur in rows.
//
// If no part of a question binds, the question is not answered, because the answer could only be
// about something else. Each word that does not bind is reported.

import type { Snapshot, Table } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';
import type { Steps } from '../../schedule/steps.ts';
import { isEdgeWord, stemOf, stemsOfName } from '../question/general-words.ts';
import { MOST_KEYWORDS } from '../question/keywords.ts';
import type { Ignored, Question, QuestionWindow } from '../question/question.ts';
import type { Understood } from '../question/understand.ts';
import { EdgeReader } from './edge-rows.ts';
import type { KeywordMatch } from './keyword-match.ts';
import type { Member, MemberKeys } from './member-keys.ts';
import { heldSince, rowTest } from './row-test.ts';
import { windowEnds } from './time-ends.ts';

/**
 * Suffix of the name of the table in which an import stores the names of another table's nodes.
 * That table has one edge per node, with the node as its only member and the name in the column
 * NAME_COLUMN.
 */
export const NAMES_SUFFIX = '_nodes';
export const NAME_COLUMN = 'vertex';

export interface BindOptions {
  readonly reader: EdgeReader;
  /** Reads the names of nodes; undefined if no table contains names. */
  readonly names: NameReader | undefined;
  /** Stems of the predicates and names of the rules in use. */
  readonly predicates: ReadonlySet<string>;
  /** Whether the request gives a window in addition to the text. */
  readonly hasOverride: boolean;
  /** The keys of a named table. */
  readonly keys?: MemberKeys | undefined;
}

export interface NameReader {
  readonly reader: EdgeReader;
  /** Id of the column that contains the names. */
  readonly column: number;
}

/** Returns a reader of names, or undefined if the table has no column with names. */
export function nameReaderOf(table: Table, snapshot: Snapshot): NameReader | undefined {
  const { columns } = snapshot.columns;
  const column = columns.find(
    ({ name, type }) => name.toLowerCase() === NAME_COLUMN && kindOfType(type) === 'text',
  )?.id;
  if (column === undefined) return undefined;
  return { reader: new EdgeReader(table, snapshot, { members: true, columns: new Set([column]) }), column };
}

export interface Bound {
  readonly question: Question;
  /**
   * Words that only bind if they occur in a row, and are otherwise ignored. The key is in lower
   * case, the value is the word as written.
   */
  readonly free: ReadonlyMap<string, string>;
  /** Words of which a text index finds some, like `free`. */
  readonly further: ReadonlyMap<string, string>;
  /** Words for edges and names of columns, which bind, but may be words of texts, too. */
  readonly soft: readonly string[];
  /**
   * Names of nodes, by a free word that they contain. The question does not contain any of these
   * names in full.
   */
  readonly near: ReadonlyMap<string, readonly string[]>;
  /** Whether a node, time or condition binds. If so, words only affect the ranking. */
  readonly isNamed: boolean;
  /** Whether a part of the question binds even if no word occurs in a row. */
  readonly binds: boolean;
  /** Whether a window was dropped because it contains no edge. */
  readonly isWindowDropped: boolean;
}

const NO_EDGE_IN_WINDOW = 'No edge of the table is in this window of time; the window is ignored.';
const ONLY_FIRST = `Only the first ${MOST_KEYWORDS} words of this question are looked for.`;
const NO_WORD = 'No node, column or rule has this word, nor any edge that the rest of the question means.';

export function* bind(said: Understood, options: BindOptions): Steps<Bound> {
  const { reader, names, predicates, hasOverride, keys } = options;
  const ignored: Ignored[] = [...said.question.ignored];
  const free = new Map(said.keywords);
  const near = new Map<string, string[]>();
  const named = names === undefined || free.size === 0 ? [] : yield* namedNodes(said, names, free, near);
  const nodes = [...new Set([...said.question.nodes, ...named])].sort((a, b) => a - b);
  let { window } = said.question;
  let isWindowDropped = false;
  if (window !== null && said.relative.length > 0 && !hasOverride && !(yield* holdsEdges(reader, window))) {
    window = said.fixed;
    isWindowDropped = true;
    for (const text of said.relative) ignored.push({ text, reason: NO_EDGE_IN_WINDOW });
  }
  let held = 0;
  for (const node of nodes) {
    if (yield* isHeld(reader, node)) held++;
    else
      ignored.push({
        text: `node ${said.unknownNodes.get(node) ?? keys?.memberOf(node) ?? node}`,
        reason: 'No edge of the table holds this node.',
      });
  }
  const keywords = [...free.keys()];
  const soft: string[] = [];
  let hasPredicate = false;
  let hasColumn = false;
  const columnStems = new Set(reader.snapshot.columns.columns.flatMap(({ name }) => stemsOfName(name)));
  for (const word of keywords) {
    if (said.quoted.has(word)) continue;
    const stem = stemOf(word);
    // In a table of calls, "calls about penguins" does not refer to a predicate `called`.
    const isEdge = isEdgeWord(word, said.question.table);
    const isPredicate = !isEdge && predicates.has(stem);
    if (isPredicate) hasPredicate = true;
    else if (columnStems.has(stem)) hasColumn = true;
    else if (!isEdge) continue;
    if (!isPredicate) soft.push(word);
    free.delete(word);
  }
  const isNamed = hasOverride || window !== null || held > 0 || said.question.filters.length > 0;
  const { top, order } = said.question;
  const saysEdges = said.asksForEdges || said.figure !== null || hasColumn || top !== null || order !== 'score';
  const isGeneral = free.size === 0 && said.further.size === 0 && saysEdges;
  return {
    question: { ...said.question, window, nodes, keywords, ignored },
    free,
    further: said.further,
    soft,
    near,
    isNamed,
    // Named nodes that are in no edge do not justify an answer about other edges.
    binds: isNamed || hasPredicate || (isGeneral && nodes.length === 0),
    isWindowDropped,
  };
}

function* holdsEdges(reader: EdgeReader, window: QuestionWindow): Steps<boolean> {
  return (yield* windowEnds(reader, window)) !== undefined;
}

function* isHeld(reader: EdgeReader, node: number): Steps<boolean> {
  for (const rows of reader.readKeys({ nodes: [node], limit: 1 })) {
    yield;
    if (rows !== null && rows.rows > 0) return true;
  }
  return false;
}

/** Maximum number of names that are shown for a word. */
const MOST_NEAR = 3;

/**
 * Returns the nodes whose names occur in the text as whole words, regardless of case. Longer names
 * take precedence. Removes the words of these names from `free`. For each remaining word, adds some
 * names that contain the word to `near`.
 */
function* namedNodes(
  { question, words }: Understood,
  { reader, column }: NameReader,
  free: Map<string, string>,
  near: Map<string, string[]>,
): Steps<number[]> {
  const text = ` ${plainWords(question.query)} `;
  const firsts = new Set(words.map((word) => plainWords(word).split(' ')[0]!));
  const found: { name: string; node: number }[] = [];
  for (const rows of reader.readKeys({})) {
    yield;
    const vertices = rows?.columns.get(column);
    if (rows === null || vertices?.kind !== 'text') continue;
    const plain = vertices.texts.map((name) => {
      const words = plainWords(name);
      for (const part of words.split(' ')) {
        const known = free.has(part) ? (near.get(part) ?? []) : undefined;
        if (known !== undefined && known.length < MOST_NEAR && !known.includes(name)) near.set(part, [...known, name]);
      }
      return words !== '' && firsts.has(words.split(' ')[0]!) && text.includes(` ${words} `) ? words : undefined;
    });
    for (let row = 0; row < rows.rows; row++) {
      const name = vertices.nulls[row] === 1 ? undefined : plain[vertices.codes[row]!];
      const at = rows.offsets[row]!;
      if (name !== undefined && rows.offsets[row + 1] === at + 1) found.push({ name, node: rows.members[at]! });
    }
  }
  const nodes: number[] = [];
  for (const { name, node } of found.sort((a, b) => b.name.length - a.name.length)) {
    const parts = name.split(' ');
    if (!parts.some((part) => free.has(part)) || nodes.length === MOST_NAMED) continue;
    nodes.push(node);
    for (const { name: other } of found) if (other !== name && ` ${name} `.includes(` ${other} `)) free.delete(other);
  }
  for (const { name } of found) for (const part of name.split(' ')) free.delete(part);
  for (const part of near.keys()) if (!free.has(part)) near.delete(part);
  return nodes;
}

/** Maximum number of nodes whose names are read for an answer. */
const MOST_NODES_NAMED = 500;

/** Reads the names of the members of edges, up to MOST_NODES_NAMED. */
export function* memberNames(
  table: Table,
  edges: readonly { readonly members: readonly Member[] }[],
): Steps<Map<Member, string>> {
  const snapshot = table.snapshot();
  const names = new Map<Member, string>();
  try {
    const known = nameReaderOf(table, snapshot);
    if (known === undefined) return names;
    const nodes = [...new Set(edges.flatMap(({ members }) => members as number[]))].slice(0, MOST_NODES_NAMED);
    for (const node of nodes) {
      for (const rows of known.reader.readKeys({ nodes: [node], limit: 1 })) {
        const column = rows?.columns.get(known.column);
        if (rows !== null && rows.rows > 0 && column?.kind === 'text' && column.nulls[0] === 0)
          names.set(node, column.texts[column.codes[0]!]!);
        yield;
      }
    }
    return names;
  } finally {
    snapshot.release();
  }
}

const MOST_NAMED = 64;

/** Normalises a text to words in lower case with single spaces between them. */
function plainWords(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/'s\b/g, '')
    .replace(/[^\p{L}\p{M}\p{N}_]+/gu, ' ')
    .trim();
}

/**
 * Returns the free words that occur in the window, in rows of the named nodes (in any row if no
 * node is named). Stops once all words were found.
 */
export function* wordsInRows(
  reader: EdgeReader,
  { free, question: { nodes, window } }: Bound,
  keywords: KeywordMatch,
  words: readonly string[],
): Steps<Set<string>> {
  const held = heldSince(window, reader.snapshot.columns);
  const startTs = held === undefined ? (window?.start_ts ?? undefined) : undefined;
  const within = { startTs, endTs: window?.end_ts ?? undefined };
  const found = new Set<string>();
  for (const way of nodes.length === 0 ? [undefined] : nodes.map((node) => [node])) {
    for (const rows of reader.readKeys({ ...within, nodes: way })) {
      yield;
      if (rows === null) continue;
      const bitsOf = keywords.bitsIn(rows);
      const passes = rowTest({ where: [], looked: [], heldSince: held }, rows);
      let bits = 0;
      for (let row = 0; row < rows.rows; row++) if (passes(row)) bits |= bitsOf(row);
      for (const [place, word] of words.entries()) if ((bits >>> place) & 1 && free.has(word)) found.add(word);
      if (found.size === free.size) return found;
    }
  }
  return found;
}

/**
 * Returns whether a question names something that is not in the data, so that an answer that
 * ignored it would answer another question. This is the case if a word that was not found is only
 * part of a node's name. If the question asks for a figure, a capitalised or restricting word that
 * was not found, a window that was dropped, or a part that was not understood, suffices.
 */
export function missesName(
  said: Understood,
  { free, near, isWindowDropped }: Bound,
  found: ReadonlySet<string>,
): boolean {
  // `ignored` contains, for example, a second window or nodes to be excluded.
  if (said.figure !== null && (isWindowDropped || said.question.ignored.length > 0)) return true;
  // Every word restricts a figure, but these are not looked for.
  if (said.figure !== null && said.further.size > 0) return true;
  for (const word of said.restricting) if (free.has(word) && !found.has(word)) return true;
  const hasCase = said.words.some((word) => /^\p{Ll}/u.test(word));
  const isName = (text: string) => hasCase && /^\p{Lu}/u.test(text) && text !== said.words[0];
  for (const [word, text] of free)
    if (!found.has(word) && (near.has(word) || (said.figure !== null && isName(text)))) return true;
  return false;
}

/**
 * Returns the words that do not bind, which `understood` in an answer reports. Returns all words if
 * nothing binds and the question has neither keywords nor nodes, without those already reported.
 * `isIndexed`: whether a text index was searched for all words.
 */
export function ignoredWords(
  said: Understood,
  { free, further, near, question }: Bound,
  found: ReadonlySet<string>,
  { binds, isIndexed }: { readonly binds: boolean; readonly isIndexed: boolean },
): Ignored[] {
  const left = [...free].filter(([word]) => !found.has(word)).map(([, text]) => text);
  const reasonOf = (text: string) => {
    const names = near.get(text.toLowerCase());
    return names === undefined ? NO_WORD : `It is part of names: ${names.join(', ')}. Give the full name.`;
  };
  // What a figure was not computed for is reported already.
  const isUnmet = said.figure !== null && question.ignored.length > 0;
  const told =
    left.length === 0 && !binds && said.keywords.size === 0 && said.question.nodes.length === 0 && !isUnmet
      ? said.words.filter((word) => !question.ignored.some(({ text }) => text.includes(word)))
      : left;
  const ignored = [...new Set(told)].map((text) => ({ text, reason: reasonOf(text) }));
  const unread = [...further].filter(([word]) => !found.has(word)).map(([, text]) => text);
  const reason = isIndexed && said.figure === null ? NO_WORD : ONLY_FIRST;
  return atMost([...ignored, ...unread.map((text) => ({ text, reason }))]);
}

const MOST_TOLD = 64;

/** Returns the first MOST_TOLD one by one, and the others together by their reason. */
function atMost(ignored: readonly Ignored[]): Ignored[] {
  const told = ignored.slice(0, MOST_TOLD);
  const rest = new Map<string, string[]>();
  for (const { text, reason } of ignored.slice(MOST_TOLD)) {
    const texts = rest.get(reason) ?? [];
    texts.push(text);
    rest.set(reason, texts);
  }
  return [...told, ...Array.from(rest, ([reason, texts]) => ({ text: texts.join(' '), reason }))];
}
