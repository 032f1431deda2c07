// Schemas of indexes on numeric columns.

import { described, tableName, text, titled, v } from '../../http/schema.ts';
import { count } from './rows.ts';

export const indexItem = titled(
  v.object({ table: v.string(), column: v.string(), created_at: described(count(), 'Epoch seconds.') }),
  'Index',
);

export const indexQuery = v.object({ table: v.optional(described(tableName(), 'Default: all tables.')) });

export const indexBody = v.pipe(
  v.object({
    table: v.optional(described(tableName(), 'Default: the primary table.')),
    column: described(text(), 'A numeric column: weight, mean_dist_m, or a user column of type INTEGER or REAL.'),
  }),
  v.examples([{ table: 'hyperedges', column: 'weight' }]),
);

export const indexParameters = v.object({ table: tableName(), column: text() });

export const dropIndexAnswer = v.object({ table: v.string(), column: v.string(), dropped: v.literal(true) });
