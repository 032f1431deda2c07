// Schemas of requests that write edges, and of their answers.

import {
  answeredTime,
  described,
  finite,
  integer,
  members,
  tableName,
  text,
  time,
  times,
  titled,
  v,
} from '../../http/schema.ts';
import { count, member, rowEntries, scalar } from './rows.ts';

/** A member of a table of numbers, or of a named table. */
const givenMember = () =>
  v.union([integer(), text(), v.object({ kind: v.optional(text()), key: v.union([integer(), text()]) })]);

const memberItem = v.object({
  node: integer(),
  role: described(v.nullish(v.union([text(), v.array(text())])), 'A role of the table, or a list of them.'),
});

const keyEntries = {
  event_ts: described(
    time(),
    'Epoch seconds, or a time in ISO 8601 such as 2024-05-02T10:00:00Z (UTC without a zone; a date is its first second).',
  ),
  members: described(
    v.union([
      v.pipe(v.array(v.union([givenMember(), memberItem])), v.minLength(1)),
      // An empty list is an empty record too, for valibot.
      v.pipe(
        v.record(text(), v.array(givenMember())),
        v.check((lists) => Object.values(lists).some((list) => list.length > 0)),
      ),
    ]),
    'Node ids, as a set: repetitions and order do not matter. In a named table: keys of nodes, or objects with kind and key, which are needed if the table has several kinds. In a table with roles: an object that maps roles to lists, or a list whose items may be `{node, role}`, in a named table `{kind, key, role}`.',
  ),
  table: described(v.nullish(tableName()), 'Default: the primary table.'),
};

const endEntry = described(
  v.nullish(v.unknown()),
  'Tables with intervals: when the edge ends, as epoch seconds or ISO 8601, not before event_ts; null: it still holds.',
);

/** The body of an insert. Values of user columns may also be given at the top level. */
export const edgeBody = titled(
  v.pipe(
    v.looseObject({
      ...keyEntries,
      weight: v.nullish(finite()),
      mean_dist_m: v.nullish(finite()),
      formation: v.nullish(text()),
      end_ts: endEntry,
      properties: described(v.nullish(v.record(text(), v.unknown())), 'Values of user columns, by name.'),
    }),
    v.examples([{ event_ts: 1_700_000_000, members: [12, 40, 7], weight: 0.5, formation: 'convoy' }]),
  ),
  'NewHyperedge',
);

/** The body of a change: only what is named changes, and null clears it. */
export const patchBody = titled(
  v.pipe(
    v.looseObject({
      table: keyEntries.table,
      end_ts: endEntry,
      weight: v.nullish(finite()),
      mean_dist_m: v.nullish(finite()),
      formation: v.nullish(text()),
      properties: described(v.optional(v.record(text(), v.unknown())), 'New values of columns, by name; null clears.'),
    }),
    v.examples([{ weight: 0.9, formation: null }]),
  ),
  'HyperedgeChange',
);

export const patchQuery = v.object({
  table: v.optional(described(tableName(), 'The table, if the body names none. Default: the primary table.')),
  times: times(),
});

export const edgeKeyBody = v.pipe(
  v.object(keyEntries),
  v.examples([{ event_ts: 1_700_000_000, members: [7, 12, 40] }]),
);

export const insertQuery = v.object({
  table: v.optional(described(tableName(), 'The table for an edge, or for lines, that name no table.')),
  times: times(),
  members: members(),
});

export const deleteQuery = v.object({ times: times(), members: members() });

export const insertAnswer = titled(v.objectWithRest({ table: v.string(), ...rowEntries }, scalar), 'InsertedHyperedge');

const insertedEntries = {
  inserted: count(),
  first_id: v.nullable(count()),
  last_id: v.nullable(count()),
};

export const bulkInsertAnswer = titled(
  v.object({
    table: v.string(),
    ...insertedEntries,
    tables: described(
      v.optional(v.record(v.string(), v.object(insertedEntries))),
      'Only if lines named other tables: the same figures for each table.',
    ),
  }),
  'InsertedHyperedges',
);

export const deleteAnswer = v.object({
  deleted: v.boolean(),
  matched: described(count(), 'Edges removed.'),
  table: v.string(),
  event_ts: answeredTime(),
  members: described(v.array(v.nullable(member())), 'null for a key that no node has, with `members=numbers`.'),
});
