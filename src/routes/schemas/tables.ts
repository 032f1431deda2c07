// Schemas of tables.

import { described, identifier, integerFrom, text, titled, v } from '../../http/schema.ts';
import { COLUMN_TYPE_NAMES } from '../../model/column-types.ts';
import { OPTION_NAMES, type OptionFields, TABLE_OPTIONS, type TableOption } from '../../model/options.ts';
import { MOST_ROLES } from '../../model/shape.ts';
import { count } from './rows.ts';

export const columnItem = v.object({
  name: v.string(),
  type: v.picklist(COLUMN_TYPE_NAMES),
  default: v.optional(
    described(
      v.union([v.number(), v.string(), v.boolean()]),
      'Present if the column has a default and the request has `defaults=true`.',
    ),
  ),
});

export const tablesQuery = v.object({
  defaults: v.optional(
    described(v.picklist(['true', 'false']), 'true: the defaults of columns are included. Default false.'),
  ),
});

/** Returns one schema per option of a table, under the option's name in requests and answers. */
function optionEntries<S>(schemaOf: (option: (typeof TABLE_OPTIONS)[TableOption]) => S): Record<keyof OptionFields, S> {
  const entries = OPTION_NAMES.map((name) => [TABLE_OPTIONS[name].field, schemaOf(TABLE_OPTIONS[name])]);
  return Object.fromEntries(entries) as Record<keyof OptionFields, S>;
}

export const tableItem = titled(
  v.object({
    name: v.string(),
    member_tables: described(v.array(v.string()), 'Names of the kinds of nodes that may be members.'),
    nodes: described(
      v.picklist(['numbers', 'named']),
      'named: the members are nodes of the node tables in `member_tables`; numbers: they are integers.',
    ),
    roles: described(v.array(v.string()), 'The roles that members may have.'),
    intervals: described(v.boolean(), 'Whether the edges have the column `end_ts`.'),
    create_nodes: v.optional(
      described(v.boolean(), 'Only of a named table: whether a key that nobody has used creates its node.'),
    ),
    ...optionEntries((option) => described(count(), option.about)),
    row_count: count(),
    columns: described(v.array(columnItem), 'User columns.'),
    created_at: described(count(), 'Epoch seconds.'),
    primary: described(v.boolean(), 'True for the table that is used if a request names none; it cannot be dropped.'),
  }),
  'Table',
);

export const columnBody = v.object({
  name: identifier(),
  type: v.picklist(
    COLUMN_TYPE_NAMES,
    `must be ${COLUMN_TYPE_NAMES.slice(0, -1).join(', ')} or ${COLUMN_TYPE_NAMES.at(-1)}`,
  ),
  default: v.nullish(v.union([v.number(), text(), v.boolean()], 'must be a number, a string or a boolean')),
});

export const tableBody = titled(
  v.pipe(
    v.object({
      name: identifier(),
      member_tables: v.optional(
        v.array(
          v.pipe(text(), v.minLength(1, 'must not be empty'), v.maxLength(64, 'is longer than 64')),
          'must be a list of names',
        ),
      ),
      roles: v.optional(
        described(v.array(text(), 'must be a list of names'), `Names of roles, at most ${MOST_ROLES}. Default none.`),
      ),
      intervals: v.optional(
        described(v.boolean('must be true or false'), 'true: edges have the column `end_ts`. Default false.'),
      ),
      create_nodes: v.optional(
        described(
          v.boolean('must be true or false'),
          'Of a table whose member_tables are node tables; false: a key that no node has is refused. Default true.',
        ),
      ),
      ...optionEntries((option) => v.optional(described(integerFrom(option.least), option.aboutDefault))),
      columns: v.optional(v.array(columnBody)),
    }),
    v.examples([{ name: 'sightings', member_tables: ['ship'], columns: [{ name: 'speed', type: 'REAL' }] }]),
  ),
  'NewTable',
);

export const tableParameters = v.object({ name: text() });

export const dropTableAnswer = v.object({ name: v.string(), dropped: v.literal(true) });
