// Schemas of GET /v1/rag/parse, whose answer shows how a question was understood.

import { answeredTime, described, integer, text, times, v } from '../../http/schema.ts';

const MOST_QUESTION_CHARACTERS = 10_000;

/**
 * Returns the schema of a question's text, with the same length limit for all routes that take a
 * question.
 */
export function question() {
  const most = `must have at most ${MOST_QUESTION_CHARACTERS} characters; ask a shorter question`;
  return v.pipe(text(), v.maxLength(MOST_QUESTION_CHARACTERS, most));
}

export const parseQuery = v.object({
  query: described(question(), 'A question in plain words, as POST /v1/rag/query takes it.'),
  table: v.optional(text()),
  times: times(),
});

const value = v.nullable(v.union([v.number(), v.string(), v.boolean()]));

const filter = v.object({
  column: v.string(),
  op: v.picklist(['=', '!=', '<', '<=', '>', '>=', 'in', 'contains']),
  value: described(v.union([value, v.array(value)]), 'A list with `in`. Texts compare without case.'),
});

export const parseAnswer = v.object({
  query: v.string(),
  table: v.string(),
  window: described(
    v.nullable(v.object({ start_ts: v.nullable(answeredTime()), end_ts: v.nullable(answeredTime()) })),
    'Epoch seconds, or texts with `times=iso`, both included; null does not bound. Relative and year-less times count from the newest edge of the table, in UTC.',
  ),
  nodes: described(v.array(integer()), 'Ascending. Edges that hold any of them are meant.'),
  filters: described(v.array(filter), 'All must hold.'),
  top: described(v.nullable(integer()), 'Maximum number of edges; null if the text sets none.'),
  order: described(v.picklist(['score', 'newest', 'oldest']), 'Best first, or by time alone.'),
  keywords: described(v.array(v.string()), 'Lower case; they only rank.'),
  ignored: described(
    v.array(v.object({ text: v.string(), reason: v.string() })),
    'Parts of the text that were not taken, and each word that binds to nothing: no node, column, rule or row has it.',
  ),
});
