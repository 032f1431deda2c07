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
  query: described(question(), 'A question in plain words, as for POST /v1/rag/query.'),
  table: v.optional(text()),
  times: times(),
});

const value = v.nullable(v.union([v.number(), v.string(), v.boolean()]));

const filter = v.object({
  column: v.string(),
  op: v.picklist(['=', '!=', '<', '<=', '>', '>=', 'in', 'contains']),
  value: described(v.union([value, v.array(value)]), 'A list for `in`. Texts are compared regardless of case.'),
});

/** A node: a number or, in a named table, its key, with its kind if there are several. */
export const shownNode = v.union([
  integer(),
  v.string(),
  v.object({ kind: v.string(), key: v.union([v.string(), integer()]) }),
]);

export const parseAnswer = v.object({
  query: v.string(),
  table: v.string(),
  window: described(
    v.nullable(v.object({ start_ts: v.nullable(answeredTime()), end_ts: v.nullable(answeredTime()) })),
    'Epoch seconds, or texts with `times=iso`, both included; null means no bound. Times that are relative or have no year refer to the time of the newest edge of the table, in UTC.',
  ),
  nodes: described(
    v.array(shownNode),
    'Ascending by number; in a named table keys, or objects with kind and key. An edge qualifies if it contains any of them.',
  ),
  filters: described(v.array(filter), 'All must hold.'),
  top: described(v.nullable(integer()), 'Maximum number of edges; null if the text does not state it.'),
  order: described(v.picklist(['score', 'newest', 'oldest']), 'Best first (`score`), or by time only.'),
  keywords: described(
    v.array(v.string()),
    'In lower case. They affect the ranking; if nothing else restricts the edges, an edge must contain one.',
  ),
  ignored: described(
    v.array(v.object({ text: v.string(), reason: v.string() })),
    'Parts of the text that were not understood, and words that occur in no node name, column, rule or row.',
  ),
});
