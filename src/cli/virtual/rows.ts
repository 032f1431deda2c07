// Turns hyperedges of virtual graphs into rows. In formats for programs, the edges stay unchanged;
// in tables and CSV, each member and each property gets a column.

import type { CompiledVirtualQuery, VirtualHyperedge } from '../../client/index.ts';
import { isoTime } from '../../iso-time.ts';
import type { Times } from '../query/formats.ts';
import type { Row, StatementRunner } from '../run/runner.ts';

/** Number of edges that are written together. */
const BATCH_EDGES = 500;

/** Returns the edges as they arrive. With the `plan` of the query, they are laid out in columns. */
export function edgeRunner(
  edges: AsyncIterable<VirtualHyperedge>,
  plan?: CompiledVirtualQuery['plan'],
): StatementRunner {
  return {
    async run(_statement, _parameters, _signal, times) {
      const batches = batchesOf(edges, times);
      if (plan === undefined) return { columns: [], batches, plan: () => null };
      // Every edge of a query has the same properties.
      const first = await batches.next();
      const layout = layoutOf(plan, first.done === true ? [] : Object.keys(first.value[0]?.properties ?? {}));
      const rows = (async function* () {
        if (first.done !== true) yield first.value.map((edge) => rowOf(edge, layout));
        for await (const batch of batches) yield batch.map((edge) => rowOf(edge, layout));
      })();
      return { columns: Object.keys(rowOf(NO_EDGE, layout)), batches: rows, plan: () => null };
    },
    rows: (_statement, _parameters, _signal, times) => batchesOf(edges, times),
    close: async () => {},
  };
}

/** Returns a runner whose result is these rows, because the output formats read from a runner. */
export function fixedRows(columns: readonly string[], rows: readonly Row[]): StatementRunner {
  async function* batches() {
    if (rows.length > 0) yield rows;
  }
  return { run: async () => ({ columns, batches: batches(), plan: () => null }), rows: batches, close: async () => {} };
}

async function* batchesOf(
  edges: AsyncIterable<VirtualHyperedge>,
  times: Times | undefined,
): AsyncGenerator<readonly (ShownEdge & Row)[], void, undefined> {
  let batch: ShownEdge[] = [];
  for await (const edge of edges) {
    batch.push(times === 'iso' ? withIsoTimes(edge) : edge);
    if (batch.length < BATCH_EDGES) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/** An edge with times as seconds or as ISO 8601. */
type ShownEdge = Omit<VirtualHyperedge, 'event_ts' | 'provenance'> & {
  readonly event_ts: number | string;
  readonly provenance: object;
};

function withIsoTimes(edge: VirtualHyperedge): ShownEdge {
  const { event_ts, provenance } = edge;
  return {
    ...edge,
    event_ts: isoTime(event_ts),
    provenance: { ...provenance, captured_at: isoTime(provenance.captured_at) },
  };
}

interface Layout {
  readonly members: readonly { readonly name: string; readonly column: string }[];
  /**
   * True when the query has a single member; an edge may then hold several nodes for it, as in a
   * group.
   */
  readonly isList: boolean;
  readonly properties: readonly { readonly name: string; readonly column: string }[];
}

const NO_EDGE = { event_ts: 0, members: [], properties: {} };

function layoutOf({ members }: CompiledVirtualQuery['plan'], properties: readonly string[]): Layout {
  const used = new Set(['event_ts']);
  const columnFor = (name: string, before: string): string => {
    let column = name;
    while (used.has(column)) column = `${before}${column}`;
    used.add(column);
    return column;
  };
  return {
    members: members.map(({ name }) => ({ name, column: columnFor(name, 'member.') })),
    isList: members.length === 1,
    properties: properties.map((name) => ({ name, column: columnFor(name, 'property.') })),
  };
}

function rowOf(
  { event_ts, members, properties }: Pick<ShownEdge, 'event_ts' | 'members' | 'properties'>,
  layout: Layout,
): Row {
  const ids = (name: string) =>
    members.filter((member) => member.name === name).map((member) => member.vertex_local_id);
  return Object.fromEntries([
    ['event_ts', event_ts],
    ...layout.members.map(({ name, column }) => [column, layout.isList ? ids(name) : (ids(name)[0] ?? null)]),
    ...layout.properties.map(({ name, column }) => [column, Object.hasOwn(properties, name) ? properties[name] : null]),
  ]) as Row;
}
