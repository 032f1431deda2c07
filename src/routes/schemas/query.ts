// Statements as they are sent, and what they answer.

import { described, text, v } from '../../http/schema.ts';
import { count, planSchema } from './rows.ts';

export const queryBody = v.pipe(
  v.object({
    query: described(text(), 'One statement.'),
    parameters: v.optional(
      described(
        v.record(v.string(), v.unknown()),
        'Values of the `$name`s in the statement: numbers, texts, booleans, nulls, and lists of these.',
      ),
    ),
  }),
  v.examples([
    {
      query:
        'MATCH (e:hyperedges) WHERE $node IN e.members RETURN e.event_ts, e.members ORDER BY e.event_ts DESC LIMIT 10',
      parameters: { node: 7 },
    },
  ]),
);

export const queryRow = described(v.record(v.string(), v.unknown()), 'Values by the names of the columns.');

export const queryAnswer = v.object({
  columns: described(v.array(v.string()), 'Names of the columns in order.'),
  rows: v.array(queryRow),
  num_tuples: described(count(), 'Rows in this answer.'),
  query_plan: described(v.nullable(planSchema), 'Null when nothing was searched.'),
});
