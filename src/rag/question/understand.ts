// Understands a question in plain words: its time window, nodes, conditions on columns, number of
// edges and keywords. Every text has a meaning, so there are no errors.
//
// The text is split into words once. Readers then run in a fixed order, the most specific first:
//
//   conditions, nodes, time window, figure, number and order of edges, conditions on words,
//   keywords
//
// Each reader marks the words that it understands as taken, so that later readers skip them. In
// "top 5 events of node 12 since 2024", 12 becomes a node, 2024 the window and 5 the number of
// edges, and no word is left as a keyword. Words that look like a request which cannot be met are
// put aside with a reason (`ignored`).

import { tidied } from '../../model/fold-key.ts';
import { wellFormed } from '../../model/text.ts';
import { finish, type Steps } from '../../schedule/steps.ts';
import { type AskedFigure, readFigure } from './asked-figure.ts';
import { readFilters } from './column-filters.ts';
import { asksForEdges } from './general-words.ts';
import { withJoinedWords } from './joined-words.ts';
import { MOST_KEYWORDS, readKeywords } from './keywords.ts';
import { readNodes } from './named-nodes.ts';
import type { AskedTable, Question, QuestionWindow } from './question.ts';
import { readWindow } from './time-window.ts';
import { readUnmet } from './unmet-words.ts';
import { readWanted } from './wanted-count.ts';
import { readWordConditions, type WordCondition } from './word-conditions.ts';
import { type Reading, wordsOf } from './words.ts';

/** Maximum number of characters that are read. The rest of a text is ignored. */
export const MOST_UNDERSTOOD = 4000;

const MOST_WRITTEN_DATES = 20;

/** A question, with further information that is needed to find its edges. */
export interface Understood {
  readonly question: Question;
  /** The first MOST_KEYWORDS keywords as written, by their lower-case form. */
  readonly keywords: ReadonlyMap<string, string>;
  /** The others, which only a text index can find. */
  readonly further: ReadonlyMap<string, string>;
  /** Those of the keywords that are quoted, so that they name nothing but texts. */
  readonly quoted: ReadonlySet<string>;
  /** The window without the parts that are relative or have no year. */
  readonly fixed: QuestionWindow | null;
  /** The parts of the window that are relative or have no year, as written. */
  readonly relative: readonly string[];
  readonly figure: AskedFigure | null;
  /** Whether the text is empty or has a word for edges. */
  readonly asksForEdges: boolean;
  /**
   * Whether "or" joins the nodes. If it does, a figure is computed from edges with one of the named
   * nodes; if not, from edges with all of them.
   */
  readonly hasOr: boolean;
  /**
   * For a named table, the nodes of the question by mention: each mention means any of its nodes.
   */
  readonly nodeGroups: readonly (readonly number[])[] | undefined;
  /** Integers that are the key of no node, by the negative numbers that stand for them. */
  readonly unknownNodes: ReadonlyMap<number, number>;
  /** Conditions on words, which the data must explain. Only in questions for a figure. */
  readonly wordConditions: readonly WordCondition[];
  /**
   * Keywords that restrict what a figure counts. If one of them occurs in no row, there is no
   * figure.
   */
  readonly restricting: ReadonlySet<string>;
  /** The words of the text, as written. */
  readonly words: readonly string[];
}

/**
 * Returns the question that a text asks about a table. "Last 3 days", "today" and "in June" are
 * relative to `nowMs`. All times are UTC. The work is bounded.
 */
export function understand(query: string, table: AskedTable, nowMs: number): Question {
  return understood(query, table, nowMs).question;
}

/** Understands a text like `understand`, and also returns the information for retrieval. */
export function understood(query: string, table: AskedTable, nowMs: number): Understood {
  return finish(understanding(query, table, nowMs));
}

/** Does the same as `understood`, in steps of a few ms. */
export function* understanding(query: string, table: AskedTable, nowMs: number): Steps<Understood> {
  const first = begun(query);
  const nowTs = Math.floor(nowMs / 1000);
  const asksEdges = asksForEdges(first, table.name);
  const words = first.words.filter(({ kind }) => kind === 'word').map(({ text }) => text);
  // The most specific readers come first, because a number that one reader takes is not available
  // to the others.
  const filters = readFilters(first, table);
  yield undefined;
  const { nodes, spans: mentions, groups, unknown } = readNodes(first, table.named);
  yield undefined;
  const { window, fixed, relative } = yield* readWindow(first, nowTs);
  yield undefined;
  const figure = readFigure(first, table);
  const { top, order } = readWanted(first, table);
  // What is left of numbers, lists and times are words of texts.
  const { reading, spans } = withJoinedWords(first, mentions);
  const { wordConditions, hasOr } =
    figure === null ? { wordConditions: [], hasOr: false } : readWordConditions(reading, spans);
  yield undefined;
  const restricting = figure === null ? new Set<string>() : readUnmet(reading, table, figure);
  const all = [...readKeywords(reading)];
  const keywords = new Map(all.slice(0, MOST_KEYWORDS));
  const { ignored } = reading;
  const question = {
    query,
    table: table.name,
    window,
    nodes,
    filters,
    top,
    order,
    keywords: [...keywords.keys()],
    ignored,
  };
  return {
    question,
    keywords,
    further: new Map(all.slice(MOST_KEYWORDS)),
    quoted: new Set(reading.words.filter(({ kind }) => kind === 'quoted').map(({ lower }) => lower)),
    fixed,
    relative,
    figure,
    asksForEdges: asksEdges,
    hasOr,
    nodeGroups: groups,
    unknownNodes: unknown,
    wordConditions,
    restricting,
    words,
  };
}

/** Splits a text into words, none of which is taken. */
export function begun(query: string): Reading {
  const text = tidied(wellFormed(query.slice(0, MOST_UNDERSTOOD)));
  const ignored: Reading['ignored'] = [];
  if (query.length > MOST_UNDERSTOOD) {
    const reason = `Only the first ${MOST_UNDERSTOOD} characters of a question are understood.`;
    ignored.push({ text: wellFormed(query.slice(MOST_UNDERSTOOD, MOST_UNDERSTOOD + 40)), reason });
  }
  return { text, words: wordsOf(text), ignored, writtenDatesLeft: MOST_WRITTEN_DATES };
}
