// Writes a bipartite graph as GEXF 1.2 (http://www.gexf.net/1.2draft), the newest version that
// NetworkX 2.8 reads. The graph is dynamic: hyperedges and their incidences have a start and an end
// in seconds since 1970. Of the formats of times, `double` is the one that Gephi and NetworkX both
// read as numbers. Nodes are written as the rows arrive. The edges must follow all nodes, so they
// wait in a temporary file.

import { AsideFile } from './aside-file.ts';
import type { BipartiteGraph, GraphNode, Incidence } from './bipartite-graph.ts';
import type { Attribute, AttributeValue } from './graph-attributes.ts';
import type { Interval } from './interval.ts';
import { idText, xmlText } from './xml-text.ts';

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<gexf xmlns="http://www.gexf.net/1.2draft" version="1.2">
<meta><creator>Hedgerow</creator></meta>
<graph mode="dynamic" defaultedgetype="undirected" timeformat="double">
`;

/** The only attribute of edges. */
const ROLE: Attribute = { name: 'role', type: 'string' };

export async function* gexfBytes({ attributes, hasRoles, parts }: BipartiteGraph): AsyncGenerator<Uint8Array> {
  const edges = await AsideFile.create();
  try {
    const ofEdges = hasRoles ? attributesElement('edge', [ROLE]) : '';
    yield Buffer.from(`${HEAD}${attributesElement('node', attributes)}${ofEdges}<nodes>\n`);
    let number = 0;
    for await (const { nodes, incidences } of parts) {
      if (nodes.length > 0) yield Buffer.from(nodes.map(nodeElement).join(''));
      const first = number;
      number += incidences.length;
      await edges.append(incidences.map((incidence, index) => edgeElement(first + index, incidence)).join(''));
    }
    yield Buffer.from('</nodes>\n<edges>\n');
    yield* edges.read();
    yield Buffer.from('</edges>\n</graph>\n</gexf>\n');
  } finally {
    await edges.remove();
  }
}

function attributesElement(of: 'node' | 'edge', attributes: readonly Attribute[]): string {
  const all = attributes.map(
    ({ name, type }, index) => `<attribute id="${keyOf(index)}" title="${xmlText(name)}" type="${type}"/>\n`,
  );
  return `<attributes class="${of}" mode="static">\n${all.join('')}</attributes>\n`;
}

function keyOf(attribute: number): string {
  return `v${attribute}`;
}

function nodeElement({ id, label, values, interval }: GraphNode): string {
  const during = interval === undefined ? '' : duringText(interval);
  return `<node id="${idText(id)}" label="${xmlText(label)}"${during}><attvalues>${values.map(valueElement).join('')}</attvalues></node>\n`;
}

function valueElement([attribute, text]: AttributeValue): string {
  return `<attvalue for="${keyOf(attribute)}" value="${xmlText(text)}"/>`;
}

function edgeElement(number: number, { hyperedge, member, interval, role }: Incidence): string {
  const head = `<edge id="${number}" source="${hyperedge}" target="${idText(member)}"${duringText(interval)}`;
  return role === undefined ? `${head}/>\n` : `${head}><attvalues>${valueElement([0, role])}</attvalues></edge>\n`;
}

function duringText({ start, end }: Interval): string {
  return end === undefined ? ` start="${start}"` : ` start="${start}" end="${end}"`;
}
