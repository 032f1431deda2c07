// Writes edges as a HIF document (v0.1). Incidences are written as the rows arrive. The edges with
// their attributes must follow all incidences, so they wait in a temporary file.

import type { Row } from '../run/runner.ts';
import { AsideFile } from './aside-file.ts';
import { checkEdgeColumns, type Edges, membersOf } from './edge-rows.ts';

/** Yields the document. It has no list of nodes; the nodes are those that the incidences name. */
export async function* hifBytes({ columns, batches, areEdges }: Edges): AsyncGenerator<Uint8Array> {
  checkEdgeColumns(columns, 'HIF');
  const edges = await AsideFile.create();
  try {
    yield Buffer.from('{"network-type":"undirected","metadata":{"written-by":"Hedgerow"},\n"incidences":[');
    yield* incidences(batches, areEdges, edges);
    yield Buffer.from('\n],\n"edges":[');
    yield* edges.read();
    yield Buffer.from('\n]}\n');
  } finally {
    await edges.remove();
  }
}

async function* incidences(
  batches: AsyncIterable<readonly Row[]>,
  areEdges: boolean,
  edges: AsideFile,
): AsyncGenerator<Uint8Array> {
  let number = 0;
  let before = '\n';
  for await (const batch of batches) {
    let nodes = '';
    let attributes = '';
    for (const row of batch) {
      const members = membersOf(row, number, 'HIF');
      const { id, ...others } = row;
      const edge = areEdges ? Number(id) : number;
      attributes += `${number === 0 ? '\n' : ',\n'}${edgeText(edge, areEdges ? others : row)}`;
      number++;
      for (const node of members) {
        nodes += `${before}{"edge":${edge},"node":${node}}`;
        before = ',\n';
      }
    }
    await edges.append(attributes);
    if (nodes !== '') yield Buffer.from(nodes);
  }
}

function edgeText(edge: number, { members: _members, weight, ...others }: Row): string {
  // Null values are left out, because in HIF a missing attribute means the same.
  const attrs = Object.fromEntries(Object.entries(others).filter(([, value]) => value !== null && value !== undefined));
  if (typeof weight === 'number')
    return `{"edge":${edge},"weight":${JSON.stringify(weight)},"attrs":${JSON.stringify(attrs)}}`;
  const all = weight === null || weight === undefined ? attrs : { ...attrs, weight };
  return `{"edge":${edge},"attrs":${JSON.stringify(all)}}`;
}
