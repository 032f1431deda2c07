// Understands a question in plain words: window of time, nodes, conditions on columns, how many edges, keywords. Total: any text has a meaning.

import { wellFormed } from '../../model/text.ts';
import { type AskedFigure, readFigure } from './asked-figure.ts';
import { readFilters } from './column-filters.ts';
import { asksForEdges } from './general-words.ts';
import { readKeywords } from './keywords.ts';
import { readNodes } from './named-nodes.ts';
import type { AskedTable, Question, QuestionWindow } from './question.ts';
import { readWindow } from './time-window.ts';
import { readWanted } from './wanted-count.ts';
import { type Reading, tidied, wordsOf } from './words.ts';

/** Of a longer text the beginning is understood. */
export const MOST_UNDERSTOOD = 4000;

const MOST_WRITTEN_DATES = 20;

/** A question, and what binding it to data needs beside it. */
export interface Understood {
  readonly question: Question;
  /** Keywords as they are written, by their lower case. */
  readonly keywords: ReadonlyMap<string, string>;
  /** The window without its relative and year-less parts, and these. */
  readonly fixed: QuestionWindow | null;
  readonly relative: readonly string[];
  readonly figure: AskedFigure | null;
  /** It is empty, or has a word for edges. */
  readonly asksForEdges: boolean;
  /** Any of its nodes is meant, where several are named. */
  readonly hasOr: boolean;
  /** The words of it, as they are written. */
  readonly words: readonly string[];
}

/** What a text asks of a table. "Last 3 days", "today" and "in June" count against `nowMs`; all times are UTC. The work is bounded. */
export function understand(query: string, table: AskedTable, nowMs: number): Question {
  return understood(query, table, nowMs).question;
}

/** As `understand`, with what is not shown. */
export function understood(query: string, table: AskedTable, nowMs: number): Understood {
  const reading = begun(query);
  const nowTs = Math.floor(nowMs / 1000);
  const asksEdges = asksForEdges(reading, table.name);
  const words = reading.words.filter(({ kind }) => kind === 'word').map(({ text }) => text);
  const hasOr = reading.words.some(({ lower }) => lower === 'or');
  // What is said with a name comes first; a number that one part takes is gone for the others.
  const filters = readFilters(reading, table);
  const nodes = readNodes(reading);
  const { window, fixed, relative } = readWindow(reading, nowTs);
  const figure = readFigure(reading, table);
  const { top, order } = readWanted(reading, table);
  const keywords = readKeywords(reading);
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
  return { question, keywords, fixed, relative, figure, asksForEdges: asksEdges, hasOr, words };
}

function begun(query: string): Reading {
  const text = tidied(wellFormed(query.slice(0, MOST_UNDERSTOOD)));
  const ignored: Reading['ignored'] = [];
  if (query.length > MOST_UNDERSTOOD) {
    const reason = `Only the first ${MOST_UNDERSTOOD} characters of a question are understood.`;
    ignored.push({ text: wellFormed(query.slice(MOST_UNDERSTOOD, MOST_UNDERSTOOD + 40)), reason });
  }
  return { text, words: wordsOf(text), ignored, writtenDatesLeft: MOST_WRITTEN_DATES };
}
