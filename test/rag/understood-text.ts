// Writes the understood meaning of a question in one readable line, for comparison in tests.

import type { Question } from '../../src/rag/question/question.ts';

/** The time at which the questions are asked: Wednesday, 2024-05-15 12:34:56 UTC. */
export const NOW_MS = Date.UTC(2024, 4, 15, 12, 34, 56);

export const ASKED_TABLE = {
  name: 'contacts',
  columns: [
    { name: 'Speed', type: 'REAL' },
    { name: 'count_of_boats', type: 'INTEGER' },
    { name: 'subject', type: 'TEXT' },
    { name: 'urgent', type: 'BOOLEAN' },
  ],
} as const;

export function understoodText(question: Question): string {
  const { window, nodes, filters, top, order, keywords, ignored } = question;
  const parts = [
    ...(window === null
      ? []
      : [`time ${timeText(window.start_ts)} .. ${timeText(window.end_ts)}`.replace(/ +/g, ' ').trim()]),
    ...(nodes.length === 0 ? [] : [`nodes ${nodes.join(' ')}`]),
    ...filters.map(({ column, op, value }) => `${column} ${op} ${JSON.stringify(value)}`),
    ...(top === null ? [] : [`top ${top}`]),
    ...(order === 'score' ? [] : [order]),
    ...(keywords.length === 0 ? [] : [`words ${keywords.map((word) => JSON.stringify(word)).join(' ')}`]),
    ...ignored.map(({ text, reason }) => `ignored ${JSON.stringify(text)}: ${reason}`),
  ];
  return parts.length === 0 ? 'nothing' : parts.join('; ');
}

function timeText(ts: number | null): string {
  return ts === null ? '' : new Date(ts * 1000).toISOString().replace('.000Z', 'Z');
}
