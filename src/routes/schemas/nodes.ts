// Schemas of node tables and of nodes.

import { described, identifier, integerText, tableName, text, titled, v } from '../../http/schema.ts';
import { count, nodeKey, scalar } from './rows.ts';
import { columnBody, columnItem } from './tables.ts';

const KEY_TYPES = ['TEXT', 'INTEGER'] as const;

export const nodeTableItem = titled(
  v.object({
    name: v.string(),
    key: described(v.object({ name: v.string(), type: v.picklist(KEY_TYPES) }), 'The column that holds the keys.'),
    columns: described(v.array(columnItem), 'The attributes.'),
    row_count: described(count(), 'Number of nodes.'),
    created_at: described(count(), 'Epoch seconds.'),
  }),
  'NodeTable',
);

export const nodeTableBody = titled(
  v.pipe(
    v.object({
      name: identifier(),
      key: described(
        v.object({ name: identifier(), type: v.picklist(KEY_TYPES, 'must be TEXT or INTEGER') }),
        'The column that holds the keys: a text of 1 to 512 bytes without control characters, compared by code point, or an integer.',
      ),
      columns: v.optional(described(v.array(columnBody), 'The attributes.')),
    }),
    v.examples([
      {
        name: 'Person',
        key: { name: 'name', type: 'TEXT' },
        columns: [
          { name: 'born', type: 'INTEGER' },
          { name: 'city', type: 'TEXT' },
        ],
      },
    ]),
  ),
  'NewNodeTable',
);

export const nodeTableParameters = v.object({ name: text() });

const keyParameter = described(text(), 'Key of the node, percent-encoded; an INTEGER key in digits.');
export const nodesParameters = v.object({ table: described(text(), 'Name of the node table.') });
export const nodeParameters = v.object({ ...nodesParameters.entries, key: keyParameter });

/** A node in any answer: its key and its attributes, under the names of the columns. */
export const nodeRow = titled(v.record(v.string(), scalar), 'Node');

/** The body of a write: the columns of a node by name. */
export const nodeBody = titled(
  v.pipe(v.record(text(), scalar), v.examples([{ name: 'Ada', born: 1815, city: 'London' }])),
  'NewNode',
);

export const nodesQuery = v.object({
  limit: v.optional(
    described(
      v.pipe(integerText(), v.minValue(1)),
      'Maximum number of nodes in one answer. Default: all nodes, as a stream.',
    ),
  ),
  cursor: v.optional(
    described(text(), '`next_cursor` of the previous page. All pages show one state of the node table.'),
  ),
});

export const nodesAnswer = titled(
  v.object({
    table: v.string(),
    nodes: described(v.array(nodeRow), 'By key: texts by code point, integers by value.'),
    num_tuples: described(count(), 'Nodes in this answer.'),
    next_cursor: described(v.nullable(v.string()), 'Cursor of the next page; null if there is none.'),
  }),
  'Nodes',
);

export const writtenNodes = titled(
  v.object({
    table: tableName(),
    inserted: described(count(), 'Nodes that are new.'),
    replaced: described(count(), 'Nodes that existed, or that an earlier line of the body created.'),
  }),
  'WrittenNodes',
);

export const deletedNode = titled(
  v.object({ table: tableName(), key: nodeKey(), deleted: v.literal(true) }),
  'DeletedNode',
);
