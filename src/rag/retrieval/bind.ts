// Binds a question to data: names of nodes, nodes that are in some edge, a window that contains
// edges, predicates of rules, words in rows.
//
// A question of which nothing binds is not answered, because the answer could only be about
// something else. Each word that binds to nothing is reported.

import type { Snapshot, Table } from '../../engine/index.ts';
import { kindOfType } from '../../model/column-types.ts';
import type { Steps } from '../../schedule/steps.ts';
import { isEdgeWord, stemOf, stemsOfName } from '../question/general-words.ts';
import type { Ignored, Question, QuestionWindow } from '../question/question.ts';
import type { Understood } from '../question/understand.ts';
import { EdgeReader } from './edge-rows.ts';
import type { KeywordMatch } from './keyword-match.ts';
import { timeEnds } from './time-ends.ts';

/**
 * An import keeps the names of a table's nodes in a table with this suffix: one edge per node, with
 * the node as its only member and its name in the column NAME_COLUMN.
 */
export const NAMES_SUFFIX = '_nodes';
export const NAME_COLUMN = 'vertex';

export interface BindOptions {
  readonly reader: EdgeReader;
  /** Undefined if no table names the nodes. */
  readonly names: NameReader | undefined;
  /** Stems of the predicates and names of the rules in use. */
  readonly predicates: ReadonlySet<string>;
  /** Whether the request gives a window in addition to the text. */
  readonly hasOverride: boolean;
}

export interface NameReader {
  readonly reader: EdgeReader;
  /** Id of the column with the names. */
  readonly column: number;
}

/** Undefined if the table has no column of names. */
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
  /** Words that must occur in rows, or else are ignored; spelling by lower-case form. */
  readonly free: ReadonlyMap<string, string>;
  /**
   * For those of the words that are part of node names the question does not give in full: some of
   * these names.
   */
  readonly near: ReadonlyMap<string, readonly string[]>;
  /** Whether a node, time or condition binds; words then only affect ranking. */
  readonly isNamed: boolean;
  /** Whether something binds even if no word occurs in a row. */
  readonly binds: boolean;
}

const NO_EDGE_IN_WINDOW = 'No edge of the table lies in this time; it is left out.';
const NO_WORD = 'No node, column, rule or row of the table has this word.';

export function* bind(said: Understood, options: BindOptions): Steps<Bound> {
  const { reader, names, predicates, hasOverride } = options;
  const ignored: Ignored[] = [...said.question.ignored];
  const free = new Map(said.keywords);
  const near = new Map<string, string[]>();
  const named = names === undefined || free.size === 0 ? [] : yield* namedNodes(said, names, free, near);
  const nodes = [...new Set([...said.question.nodes, ...named])].sort((a, b) => a - b);
  let { window } = said.question;
  if (window !== null && said.relative.length > 0 && !hasOverride && !(yield* holdsEdges(reader, window))) {
    window = said.fixed;
    for (const text of said.relative) ignored.push({ text, reason: NO_EDGE_IN_WINDOW });
  }
  let held = 0;
  for (const node of nodes) {
    if (yield* isHeld(reader, node)) held++;
    else ignored.push({ text: `node ${node}`, reason: 'No edge of the table holds this node.' });
  }
  const keywords = [...free.keys()];
  let hasPredicate = false;
  let hasColumn = false;
  const columnStems = new Set(reader.snapshot.columns.columns.flatMap(({ name }) => stemsOfName(name)));
  for (const word of keywords) {
    const stem = stemOf(word);
    // "calls about penguins" asked of a table of calls does not refer to a predicate `called`.
    const isEdge = isEdgeWord(word, said.question.table);
    if (!isEdge && predicates.has(stem)) hasPredicate = true;
    else if (columnStems.has(stem)) hasColumn = true;
    else if (!isEdge) continue;
    free.delete(word);
  }
  const isNamed = hasOverride || window !== null || held > 0 || said.question.filters.length > 0;
  const { top, order } = said.question;
  const saysEdges = said.asksForEdges || said.figure !== null || hasColumn || top !== null || order !== 'score';
  const isGeneral = free.size === 0 && saysEdges;
  return {
    question: { ...said.question, window, nodes, keywords, ignored },
    free,
    near,
    isNamed,
    // Named nodes that are in no edge do not justify an answer about other edges.
    binds: isNamed || hasPredicate || (isGeneral && nodes.length === 0),
  };
}

function* holdsEdges(reader: EdgeReader, window: QuestionWindow): Steps<boolean> {
  return (yield* timeEnds(reader, window.start_ts ?? undefined, window.end_ts ?? undefined)) !== undefined;
}

function* isHeld(reader: EdgeReader, node: number): Steps<boolean> {
  for (const rows of reader.readKeys({ nodes: [node], limit: 1 })) {
    yield;
    if (rows !== null && rows.rows > 0) return true;
  }
  return false;
}

/** Maximum number of names shown for a word that is part of them. */
const MOST_NEAR = 3;

/**
 * Nodes whose names occur in the text as whole words, ignoring case, longest first; their words are
 * removed from `free`. For words that are left, `near` receives some names that contain them.
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

/** Maximum number of nodes named in an answer. */
const MOST_NODES_NAMED = 500;

/** Names of the members of the first edges. */
export function* memberNames(
  table: Table,
  edges: readonly { readonly members: readonly number[] }[],
): Steps<Map<number, string>> {
  const snapshot = table.snapshot();
  const names = new Map<number, string>();
  try {
    const known = nameReaderOf(table, snapshot);
    if (known === undefined) return names;
    const nodes = [...new Set(edges.flatMap(({ members }) => members))].slice(0, MOST_NODES_NAMED);
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

/** Normalises to lower case with single spaces. */
function plainWords(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/'s\b/g, '')
    .replace(/[^\p{L}\p{M}\p{N}_]+/gu, ' ')
    .trim();
}

/**
 * Which of the words occur in rows of the named nodes and the window; stops once all were found.
 */
export function* wordsInRows(
  reader: EdgeReader,
  { free, question: { nodes, window } }: Bound,
  keywords: KeywordMatch,
  words: readonly string[],
): Steps<Set<string>> {
  const within = { startTs: window?.start_ts ?? undefined, endTs: window?.end_ts ?? undefined };
  const found = new Set<string>();
  for (const way of nodes.length === 0 ? [undefined] : nodes.map((node) => [node])) {
    for (const rows of reader.readKeys({ ...within, nodes: way })) {
      yield;
      if (rows === null) continue;
      const bitsOf = keywords.bitsIn(rows);
      let bits = 0;
      for (let row = 0; row < rows.rows; row++) bits |= bitsOf(row);
      for (const [place, word] of words.entries()) if ((bits >>> place) & 1 && free.has(word)) found.add(word);
      if (found.size === free.size) return found;
    }
  }
  return found;
}

/**
 * Whether a question names somebody or something that is not in the data: a part of a name or, if a
 * figure is asked for, any word written like a name or a month, and anything that could not be
 * understood. Ignoring it would answer another question.
 */
export function missesName(said: Understood, { free, near }: Bound, found: ReadonlySet<string>): boolean {
  // A second window, nodes to be excluded and the like were put aside when the text was read.
  if (said.figure !== null && said.question.ignored.length > 0) return true;
  const hasCase = said.words.some((word) => /^\p{Ll}/u.test(word));
  const isName = (text: string) => hasCase && /^\p{Lu}/u.test(text) && text !== said.words[0];
  for (const [word, text] of free)
    if (!found.has(word) && (near.has(word) || (said.figure !== null && isName(text)))) return true;
  return false;
}

/**
 * The words that bind to nothing, as reported in `understood`; all words if the question has
 * neither keywords nor nodes and nothing binds.
 */
export function ignoredWords(
  said: Understood,
  { free, near }: Bound,
  found: ReadonlySet<string>,
  binds: boolean,
): Ignored[] {
  const left = [...free].filter(([word]) => !found.has(word)).map(([, text]) => text);
  const reasonOf = (text: string) => {
    const names = near.get(text.toLowerCase());
    return names === undefined
      ? NO_WORD
      : `It is part of names: ${names.join(', ')}. Say the whole name that is meant.`;
  };
  const told =
    left.length === 0 && !binds && said.keywords.size === 0 && said.question.nodes.length === 0 ? said.words : left;
  return [...new Set(told)].slice(0, MOST_TOLD).map((text) => ({ text, reason: reasonOf(text) }));
}

const MOST_TOLD = 64;
