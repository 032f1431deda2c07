// Schemas of the feed of changes.

import { described, integerText, tableName, titled, v } from '../../http/schema.ts';
import { count, rowSchema } from './rows.ts';
import { columnBody } from './tables.ts';

export const MOST_WAIT_SECONDS = 60;

export const changesQuery = v.strictObject({
  from_lsn: v.optional(
    described(
      v.pipe(integerText(), v.minValue(0)),
      'Changes after this LSN. Default: all that are still kept. Go on with the `lsn` of the last change.',
    ),
  ),
  table: v.optional(described(tableName(), 'Only changes of this table. Default: of all tables.')),
  limit: v.optional(described(v.pipe(integerText(), v.minValue(1)), 'Maximum number of changes. Default: all.')),
  wait_s: v.optional(
    described(
      v.pipe(integerText(), v.minValue(0), v.maxValue(MOST_WAIT_SECONDS)),
      'If there is no change yet: seconds to wait for one, at most 60. Default: 0.',
    ),
  ),
});

const OPERATIONS = [
  'insert',
  'update',
  'delete',
  'buckets_dropped',
  'table_created',
  'table_altered',
  'table_dropped',
  'index_created',
  'index_dropped',
] as const;

export const change = titled(
  v.object({
    lsn: described(count(), 'Strictly ascending, with gaps.'),
    ts: described(count(), 'Epoch second of the commit.'),
    table: described(v.string(), 'Name of the table after the change.'),
    op: v.picklist(OPERATIONS),
    id: v.optional(described(count(), 'Of insert, update and delete: id of the edge.')),
    before: v.optional(rowSchema),
    row: v.optional(rowSchema),
    before_ts: v.optional(described(count(), 'Of buckets_dropped: all edges before this time were dropped.')),
    columns: v.optional(described(v.array(columnBody), 'Of table_created and table_altered: all columns.')),
    renamed_from: v.optional(described(v.string(), 'Of table_altered: the name until then.')),
    column: v.optional(described(v.nullable(v.string()), 'Of index_created and index_dropped.')),
    commit_end: v.optional(described(v.literal(true), 'Set on the last change of a commit.')),
  }),
  'Change',
);

export const changesAnswer = described(
  v.string(),
  'One change per line as JSON; as server-sent events, one change in the data of each event, its LSN as the id.',
);
