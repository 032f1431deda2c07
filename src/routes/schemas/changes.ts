// Schemas of the feed of changes.

import { described, integerText, tableName, titled, v } from '../../http/schema.ts';
import { nodeRow } from './nodes.ts';
import { changedRow, count } from './rows.ts';
import { columnBody } from './tables.ts';

export const MOST_WAIT_SECONDS = 60;

export const changesQuery = v.object({
  from_lsn: v.optional(
    described(
      v.pipe(integerText(), v.minValue(0)),
      'Changes after this LSN. Default: all that are still kept. Go on with the `lsn` of the last change.',
    ),
  ),
  table: v.optional(described(tableName(), 'Only changes of this table or node table. Default: of all tables.')),
  limit: v.optional(described(v.pipe(integerText(), v.minValue(1)), 'Maximum number of changes. Default: all.')),
  wait_s: v.optional(
    described(
      v.pipe(integerText(), v.minValue(0), v.maxValue(MOST_WAIT_SECONDS)),
      'If there is no change yet: seconds to wait for one, at most 60. Default: 0.',
    ),
  ),
});

const common = {
  lsn: described(count(), 'Strictly ascending, with gaps.'),
  ts: described(count(), 'Epoch second of the commit.'),
  table: described(v.string(), 'Name of the table after the change.'),
  commit_end: v.optional(described(v.literal(true), 'Set on the last change of a commit.')),
};
const edge = { ...common, id: described(count(), 'Id of the edge.') };
const columns = described(v.array(columnBody), 'All columns after the change, the built-in ones too.');
const node = { ...common, id: described(count(), 'Internal number of the node.') };
const nodeColumns = described(v.array(columnBody), 'All columns after the change; the first one is the key.');
const column = described(v.nullable(v.string()), 'The indexed column; null if the table no longer has it.');
const BEFORE =
  '`before` is the edge before the change; missing if one commit deletes or changes more than 128 MB of edges.';

const kind = described(v.literal('text'), 'The text index of the table. An index of numbers has `column` instead.');

/** The descriptions of whole edges are those of the objects: a named schema cannot have two. */
export const change = titled(
  v.variant('op', [
    described(v.object({ ...edge, op: v.literal('insert'), row: changedRow }), '`row` is the new edge.'),
    described(
      v.object({ ...edge, op: v.literal('update'), before: v.optional(changedRow), row: changedRow }),
      `\`row\` is the edge after the change. ${BEFORE}`,
    ),
    described(v.object({ ...edge, op: v.literal('delete'), before: v.optional(changedRow) }), BEFORE),
    v.object({
      ...common,
      op: v.literal('buckets_dropped'),
      before_ts: described(count(), 'All edges before this time were dropped.'),
    }),
    v.object({
      ...common,
      op: v.literal('table_created'),
      roles: v.optional(described(v.array(v.string()), 'The roles that members may have, if there are any.')),
      columns,
    }),
    v.object({
      ...common,
      op: v.literal('table_altered'),
      columns,
      renamed_from: v.optional(described(v.string(), 'The name until then, if it was changed.')),
    }),
    v.object({ ...common, op: v.literal('table_dropped') }),
    v.object({ ...node, op: v.literal('node_inserted'), row: nodeRow }),
    v.object({ ...node, op: v.literal('node_updated'), before: v.optional(nodeRow), row: nodeRow }),
    v.object({ ...node, op: v.literal('node_deleted'), before: v.optional(nodeRow) }),
    v.object({ ...common, op: v.literal('node_table_created'), columns: nodeColumns }),
    v.object({
      ...common,
      op: v.literal('node_table_altered'),
      columns: nodeColumns,
      renamed_from: v.optional(described(v.string(), 'The name until then, if it was changed.')),
    }),
    v.object({ ...common, op: v.literal('node_table_dropped') }),
    v.object({ ...common, op: v.literal('index_created'), column }),
    v.object({ ...common, op: v.literal('index_dropped'), column }),
    v.object({ ...common, op: v.literal('index_created'), kind, columns: v.array(v.string()), language: v.string() }),
    v.object({ ...common, op: v.literal('index_dropped'), kind }),
  ]),
  'Change',
);

export const changesAnswer = described(
  v.string(),
  'One change per line as JSON; as server-sent events, one change in the data of each event, its LSN as the id.',
);
