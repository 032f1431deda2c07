// Understands a question in plain words: window of time, nodes, conditions on columns, how many edges, keywords. Total: any text has a meaning.

import { readFilters } from './column-filters.ts';
import { readKeywords } from './keywords.ts';
import { readNodes } from './named-nodes.ts';
import type { AskedTable, Question } from './question.ts';
import { readWindow } from './time-window.ts';
import { readWanted } from './wanted-count.ts';
import { type Reading, tidied, wordsOf } from './words.ts';

/** Of a longer text the beginning is understood. */
export const MOST_UNDERSTOOD = 4000;

const MOST_WRITTEN_DATES = 20;

/** What a text asks of a table. "Last 3 days" and "today" count against `nowMs`; all times are UTC. The work is bounded. */
export function understand(query: string, table: AskedTable, nowMs: number): Question {
  const reading = begun(query);
  const nowTs = Math.floor(nowMs / 1000);
  // What is said with a name comes first; a number that one part takes is gone for the others.
  const filters = readFilters(reading, table);
  const nodes = readNodes(reading);
  const window = readWindow(reading, nowTs);
  const { top, order } = readWanted(reading);
  const keywords = readKeywords(reading);
  return { query, table: table.name, window, nodes, filters, top, order, keywords, ignored: reading.ignored };
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

/** Without halves of characters. */
function wellFormed(text: string): string {
  return Buffer.from(text).toString();
}
