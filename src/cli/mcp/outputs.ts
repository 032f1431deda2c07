// Schemas of the answers of tools.

import { described, finite, integer, text, v } from '../../http/schema.ts';

/** Schema of an answer that contains only these fields. */
export const answer = <E extends v.ObjectEntries>(entries: E) => v.strictObject(entries);

export const hint = () => v.optional(described(text(), 'What to do to get the rest or a better answer.'));
export const more = () => described(v.boolean(), 'True if there are more than these.');
export const time = () =>
  described(v.nullable(text()), 'UTC, ISO 8601. Null if there is no time, or if the calendar does not reach it.');
export const seconds = () => described(integer(), 'Epoch seconds, UTC.');
const scalar = v.nullable(v.union([v.number(), v.string(), v.boolean()]));

/**
 * Schema of the members of an edge. When a row is too long to be shown, its lists and texts are
 * cut. The last item of a cut list is then a text that states how many items are missing.
 */
const node = v.union([integer(), text(), v.strictObject({ kind: text(), key: v.union([integer(), text()]) })]);
const members = () =>
  described(v.array(node), 'Keys of nodes in a table whose nodes are "named"; else numbers, ascending.');
const memberNames = () =>
  v.optional(
    described(v.array(v.nullable(text())), 'Names of the members in the same order; left out if no names are stored.'),
  );

const nodeList = v.array(node);
const roleLists = () =>
  v.optional(described(v.record(text(), nodeList), 'Members by role; only of a table with roles.'));

/**
 * Schema of an edge; the columns of its table are further fields. In a row of a statement its roles
 * are such fields too.
 */
export const edge = v.objectWithRest(
  {
    id: described(integer(), 'Id of the edge, for statements: WHERE e.id = ...'),
    event_ts: seconds(),
    time: time(),
    members: members(),
    names: memberNames(),
    roles: roleLists(),
    weight: v.nullable(finite()),
    mean_dist_m: v.nullable(finite()),
    formation: v.nullable(text()),
  },
  v.union([scalar, nodeList]),
);

export const citedEdge = v.strictObject({
  edge_id: integer(),
  hedge_tag: described(text(), 'Tag with which the answer cites the edge.'),
  event_ts: seconds(),
  time: time(),
  end_ts: described(v.optional(v.nullable(seconds())), 'Only in tables with intervals: the end; null while it holds.'),
  end_time: v.optional(time()),
  members: members(),
  names: memberNames(),
  roles: roleLists(),
  weight: v.nullable(finite()),
  mean_dist_m: v.nullable(finite()),
  formation: v.nullable(text()),
  properties: described(v.looseObject({}), "User columns of the edge's table."),
  why: described(v.array(text()), 'What of the question matched: words, nodes, context, time, conditions, recency.'),
});

/** Schema of a row of a statement or measure, whose fields are not known in advance. */
export const row = v.looseObject({});

export const names = () =>
  v.optional(described(v.record(text(), text()), 'Names of nodes by their numbers, if names are stored.'));

export const columns = v.array(v.union([v.strictObject({ name: text(), type: text() }), text()]));

export const namesPlace = v.strictObject({
  table: described(
    text(),
    'Table with a row for each named node: the number of the node is the only member, and its name is in the column.',
  ),
  column: text(),
  count: described(integer(), 'Number of rows, about that of the nodes with a name.'),
});

export const fact = {
  fact: text(),
  predicate: text(),
  args: v.array(v.union([v.number(), v.string(), v.boolean()])),
  confidence: finite(),
};

export const understood = v.strictObject({
  start_ts: v.nullable(integer()),
  start_time: time(),
  end_ts: v.nullable(integer()),
  end_time: time(),
  nodes: v.array(v.union([integer(), text(), v.looseObject({})])),
  filters: v.array(v.looseObject({})),
  ignored: described(v.array(v.looseObject({})), 'Parts of the text that were ignored, with the reasons.'),
});
