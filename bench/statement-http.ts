// Measures statements over HTTP with wrk: requests per second of `POST /v1/query` against the node
// route, with the same nodes and windows.

import type { Edge } from './dataset.ts';
import {
  answerSizes,
  driver,
  hasWrk,
  type Kind,
  MAIN,
  nodesOf,
  REQUESTS,
  ROWS,
  startServer,
  untilReady,
} from './http-load.ts';
import { alternate } from './measure.ts';
import type { PartOptions } from './part.ts';
import { type BenchRow, benchRow } from './row.ts';

const TEXT = 'MATCH (he:hyperedges) WHERE $n IN he.members AND he.event_ts BETWEEN $a AND $b RETURN *';

export async function runStatementHttp({ tiny, dataset, workspace, note }: PartOptions): Promise<BenchRow[]> {
  if (!tiny && !hasWrk()) {
    note('statements: no rows over HTTP, wrk is not installed (apt install wrk)');
    return [];
  }
  const kinds = statementKinds(dataset.edges, tiny);
  const dir = workspace.copy(await workspace.compacted(dataset.edges));
  dataset.release();
  const server = await startServer(MAIN, ['serve', '--data', dir, '--port', '0']);
  try {
    await untilReady(server);
    await compareAnswers(server.url, kinds);
    const [size] = await answerSizes(server, kinds);
    const sides = kinds.map((kind) => driver(server, kind, workspace, tiny));
    const [ours, peer] = await alternate(tiny ? 1 : 9, sides, !tiny);
    return [
      benchRow({
        name: `http statement for a node in a window, ${ROWS} edges (${size} bytes), beside the node route`,
        unit: 'requests/s',
        ours: ours!,
        peer: peer!,
        target: { ratioAtLeast: 0.6 },
      }),
    ];
  } finally {
    await server.stop();
    workspace.remove(dir);
  }
}

/**
 * Returns the requests of the statement and of the route, for nodes with `ROWS` edges and windows
 * that contain all these edges.
 */
export function statementKinds(edges: readonly Edge[], tiny: boolean): [statement: Kind, route: Kind] {
  const windows = new Map(nodesOf(edges, tiny ? 20 : REQUESTS).map((node) => [node, { a: Infinity, b: -Infinity }]));
  for (const { event_ts, members } of edges)
    for (const node of members) {
      const window = windows.get(node);
      if (window === undefined) continue;
      window.a = Math.min(window.a, event_ts);
      window.b = Math.max(window.b, event_ts);
    }
  const all = [...windows];
  return [
    {
      name: 'statement',
      method: 'POST',
      path: '/v1/query',
      lines: all.map(([n, { a, b }]) => JSON.stringify({ query: TEXT, parameters: { n, a, b } })),
    },
    {
      name: 'node route',
      method: 'GET',
      lines: all.map(([node, { a, b }]) => `/v1/hyperedges/node/${node}?start_ts=${a}&end_ts=${b}`),
    },
  ];
}

/** Throws unless both return the same edges for the first few requests. */
async function compareAnswers(url: string, [statement, route]: [Kind, Kind]): Promise<void> {
  for (const [index, body] of statement.lines.slice(0, 10).entries()) {
    const headers = { 'Content-Type': 'application/json' };
    const answer = await fetch(`${url}${statement.path}`, { method: 'POST', body, headers });
    const { rows } = (await answer.json()) as { rows: { id: number }[] };
    const { hyperedges } = (await (await fetch(url + route.lines[index]!)).json()) as { hyperedges: { id: number }[] };
    const text = (edges: { id: number }[]) => JSON.stringify([...edges].sort((x, y) => x.id - y.id));
    if (rows.length === 0 || text(rows) !== text(hyperedges))
      throw new Error(`the answers differ for ${body}: ${text(rows)} and ${text(hyperedges)}`);
  }
}
