// Schemas of statements and their results.

import { described, members, text, times, titled, v } from '../../http/schema.ts';
import { RESULT_TYPES } from '../../query/result-types.ts';
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
    times: times(),
    members: members(),
  }),
  v.examples([
    {
      query:
        'MATCH (e:hyperedges) WHERE $node IN e.members RETURN e.event_ts, e.members ORDER BY e.event_ts DESC LIMIT 10',
      parameters: { node: 7 },
    },
  ]),
);

export const queryQuery = v.object({ members: members() });

export const queryRow = titled(
  described(v.record(v.string(), v.unknown()), 'Values by the names of the columns.'),
  'QueryRow',
);

export const queryAnswer = v.object({
  columns: described(v.array(v.string()), 'Names of the columns in order.'),
  column_types: described(
    v.array(v.picklist(RESULT_TYPES)),
    'Types of the columns in the same order, known from the statement: TIME is `event_ts` and its MIN, MAX and AVG (epoch seconds, or texts with `times: iso`), NODES the members of an edge, EDGE a whole row of a hyperedge table, NODE one of a node table, LIST another list or nested value, NULL a column that is always null.',
  ),
  rows: v.array(queryRow),
  num_tuples: described(count(), 'Rows in this answer.'),
  query_plan: described(v.nullable(planSchema), 'Null if nothing was searched.'),
});
