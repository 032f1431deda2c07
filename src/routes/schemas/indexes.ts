// Schemas of indexes on numeric columns and of text indexes.

import { described, tableName, text, titled, v } from '../../http/schema.ts';
import { LANGUAGES } from '../../text/index.ts';
import { count } from './rows.ts';

const createdAt = described(count(), 'Epoch seconds.');

export const numericIndexItem = titled(
  v.object({ table: v.string(), column: v.string(), created_at: createdAt }),
  'NumericIndex',
);

export const textIndexItem = titled(
  v.object({
    table: v.string(),
    kind: v.literal('text'),
    columns: v.array(v.string()),
    language: v.picklist(LANGUAGES),
    created_at: createdAt,
  }),
  'TextIndex',
);

export const indexItem = titled(v.union([numericIndexItem, textIndexItem]), 'Index');

export const indexQuery = v.object({ table: v.optional(described(tableName(), 'Default: all tables.')) });

/** Either `column`, or `kind` and `columns`. */
export const indexBody = v.pipe(
  v.object({
    table: v.optional(described(tableName(), 'Default: the primary table.')),
    column: v.optional(
      described(text(), 'A numeric column: weight, mean_dist_m, or a user column of type INTEGER or REAL.'),
    ),
    kind: v.optional(
      described(
        v.literal('text', 'must be text, or left out for an index on a numeric column'),
        'For a text index, which has `columns` in place of `column`.',
      ),
    ),
    columns: v.optional(
      described(v.array(text(), 'must be an array of names of TEXT columns'), 'TEXT columns of a text index.'),
    ),
    language: v.optional(
      described(
        v.picklist(LANGUAGES, `must be one of ${LANGUAGES.join(', ')}`),
        'How the words of a text index are stemmed; default none.',
      ),
    ),
  }),
  v.examples([
    { table: 'hyperedges', column: 'weight' },
    { table: 'hyperedges', kind: 'text', columns: ['formation'], language: 'english' },
  ]),
);

export const indexParameters = v.object({ table: tableName(), column: text() });

export const dropIndexAnswer = v.object({ table: v.string(), column: v.string(), dropped: v.literal(true) });

export const textIndexParameters = v.object({ table: tableName() });

export const dropTextIndexAnswer = v.union([
  v.object({ table: v.string(), kind: v.literal('text'), dropped: v.literal(true) }),
  dropIndexAnswer,
]);
