// Schemas of batches: the request and the answer with the result of each operation.

import { described, members, text, times, v } from '../../http/schema.ts';
import { count } from './rows.ts';

export const batchBody = v.pipe(
  v.object({
    operations: v.pipe(
      v.array(
        v.looseObject({
          type: described(
            text(),
            '`insert` and `delete` take the same fields as the routes that insert and delete edges. `query` takes a statement in `cypher` and its `parameters`.',
          ),
        }),
      ),
      v.minLength(1),
    ),
    times: times(),
    members: members(),
  }),
  v.examples([
    {
      operations: [
        { type: 'insert', event_ts: 1_700_000_000, members: [1, 2] },
        { type: 'delete', event_ts: 1_600_000_000, members: [3] },
      ],
    },
  ]),
);

const result = v.object({
  op: described(count(), 'Index of the operation, from 0.'),
  type: v.nullable(v.string()),
  success: v.boolean(),
  id: v.optional(described(count(), 'Insert: id of the new edge.')),
  matched: v.optional(described(count(), 'Delete: number of edges removed.')),
  rows: v.optional(described(v.array(v.record(v.string(), v.unknown())), 'Query: the rows of its result.')),
  error: v.optional(v.string()),
});

export const batchAnswer = v.object({
  committed: described(v.boolean(), 'False if an operation failed; then nothing was applied.'),
  ops_total: count(),
  ops_success: count(),
  error: v.optional(v.string()),
  results: described(v.array(result), 'Results of the operations, up to and including one that failed.'),
});
