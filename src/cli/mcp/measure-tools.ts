// Defines the tools that compute measures of a table.

import { described, integer, text, v } from '../../http/schema.ts';
import { largestFirst, rowsOf } from '../analyze/rows.ts';
import type { Row } from '../run/runner.ts';
import { object, oneTable, rowLimit, secondsOf, values } from './arguments.ts';
import { fitting } from './bounded.ts';
import { NodeNames } from './names.ts';
import { answer, hint, more, row } from './outputs.ts';
import { type Tool, tool } from './tool.ts';

const measures = tool({
  name: 'measures',
  title: 'List measures',
  description:
    'The measures of a table as a hypergraph (centralities, clustering, components, temporal ones). Name one to get the schema of its parameters and its result.',
  input: object({ measure: v.optional(described(text(), 'Name of one measure, to get its full description.')) }),
  output: answer({
    measures: v.array(
      v.strictObject({
        measure: text(),
        about: text(),
        params: described(
          v.union([v.array(text()), v.looseObject({})]),
          'Names of the parameters; for a named measure, their JSON Schema.',
        ),
        source: v.optional(described(text(), 'For a named measure: where it is defined.')),
        result: v.optional(described(v.looseObject({}), 'For a named measure: JSON Schema of its result.')),
      }),
    ),
    hint: hint(),
  }),
  run: async ({ measure }, { client }, signal) => {
    const all = await client.analytics.list({ signal });
    const one = all.find((item) => item.measure === measure?.toLowerCase());
    if (one !== undefined) {
      const { measure: name, about, params, source, result } = one;
      return { measures: [{ measure: name, about, params, source, result }] };
    }
    return {
      ...(measure === undefined
        ? {}
        : { hint: `There is no measure ${JSON.stringify(measure.slice(0, 100))}; these are all.` }),
      measures: all.map(({ measure: name, about, params }) => ({
        measure: name,
        about,
        params: Object.keys((params.properties as object | undefined) ?? {}),
      })),
    };
  },
});

const runMeasure = tool({
  name: 'run_measure',
  title: 'Compute a measure',
  description:
    'Compute a measure of a table seen as a hypergraph, over all times or in a window: put start_ts and end_ts (epoch seconds or ISO 8601) into params. node_id, source and target accept names of nodes too; in a table of named nodes they are keys, as in its results (Kind:key if the members have several kinds). node_degree, pagerank, betweenness, closeness and s_distance of a table with roles (list_tables) are directed if params has from and to, two roles. Values by node or edge are sorted, the largest first. The tool measures lists all measures; most used: node_degree, pagerank, betweenness, s_connected_components, modularity (communities), temporal_activity. A large table may take long: use a window.',
  input: object({
    table: oneTable(),
    measure: described(text(), 'Name of the measure, as listed by the tool measures.'),
    params: values(
      'Parameters of the measure by name, as in {"top": 10, "start_ts": 1704067200, "end_ts": 1704153599}.',
    ),
    limit: rowLimit('rows of the result'),
  }),
  output: answer({
    measure: text(),
    table: text(),
    definition: described(text(), 'The variant that was computed.'),
    basis: described(v.nullable(text()), 'events: every edge counts; distinct: edges with equal members count once.'),
    params: described(v.looseObject({}), 'The parameters as applied.'),
    rows: described(
      v.array(row),
      'For values by node or edge: id (in a table of named nodes the key) and value, and name if names of nodes are stored. For other results: as described by the tool measures.',
    ),
    rows_total: integer(),
    more: more(),
    hint: hint(),
  }),
  run: async ({ table, measure, params, limit }, { client }, signal) => {
    const names = await NodeNames.open(client, table, signal);
    const given = await plainParams(
      params,
      names,
      async () => (await client.tables.get(names.of, { signal })).nodes === 'named',
    );
    const answered = await client.analytics.run(table, measure.trim().toLowerCase(), given, { signal });
    const rows = largestFirst(rowsOf(answered.result, answered.measure), answered.result);
    const shown = fitting(await withNames(rows.slice(0, limit), answered, names));
    const more = shown.length < rows.length;
    const hint = 'There are more rows: raise limit, or narrow the window with start_ts and end_ts in params.';
    const { definition, basis } = answered;
    const facts = { measure: answered.measure, table: answered.table, definition, basis, params: answered.params };
    return { ...facts, rows: shown, rows_total: rows.length, more, ...(more ? { hint } : {}) };
  },
});

/** Parameters whose value is a node, or an edge if the parameter `on` is `edges`. */
const NODE_PARAMETERS: ReadonlySet<string> = new Set(['node_id', 'source', 'target']);
/** Measures whose results are by node, unless a parameter selects edges. */
const BY_NODE: ReadonlySet<string> = new Set([
  'node_degree',
  'isolated_nodes',
  'pagerank',
  'closeness',
  'harmonic_centrality',
  'betweenness',
  'temporal_coreness',
  'zhou_clustering',
  'pairwise_clustering',
  's_adjacency',
  's_distance',
  's_connected_components',
]);

/**
 * Replaces names of nodes by their numbers, except in a table of named nodes, and times by epoch
 * seconds.
 */
async function plainParams(
  params: Record<string, unknown>,
  names: NodeNames,
  isNamed: () => Promise<boolean>,
): Promise<Record<string, unknown>> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(params)) {
    if (typeof value === 'string' && NODE_PARAMETERS.has(name))
      plain[name] = (await isNamed()) ? value : await names.nodeOf(value);
    else if (typeof value === 'string' && name === 'start_ts') plain[name] = secondsOf(value, name, 'first');
    else if (typeof value === 'string' && name === 'end_ts') plain[name] = secondsOf(value, name, 'last');
    else plain[name] = value;
  }
  return plain;
}

interface Computed {
  readonly measure: string;
  readonly params: Readonly<Record<string, unknown>>;
}

async function withNames(
  rows: readonly Row[],
  { measure, params }: Computed,
  names: NodeNames,
): Promise<readonly Row[]> {
  const isByNode = BY_NODE.has(measure) && params.on !== 'edges' && params.projection !== 'line';
  if (!isByNode || names.table === undefined) return rows;
  const nodes = rows.flatMap(({ id, a, b, members }) => [id, a, b, ...(Array.isArray(members) ? members : [])]);
  const byNumber = await names.namesOf(nodes.filter((node): node is number => typeof node === 'number'));
  const nameOf = (node: unknown) => byNumber.get(node as number) ?? null;
  return rows.map((one) => ({
    ...one,
    ...('id' in one ? { name: nameOf(one.id) } : {}),
    ...('a' in one ? { a_name: nameOf(one.a), b_name: nameOf(one.b) } : {}),
    ...(Array.isArray(one.members) ? { names: one.members.map(nameOf) } : {}),
  }));
}

export const MEASURE_TOOLS: readonly Tool[] = [measures, runMeasure];
