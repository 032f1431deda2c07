// Writes a bipartite graph as GraphML (http://graphml.graphdrawing.org/xmlns). Nodes and edges are
// written as the rows arrive; a node precedes its edges.

import type { BipartiteGraph, GraphNode, Incidence } from './bipartite-graph.ts';
import type { Attribute, AttributeValue } from './graph-attributes.ts';
import { tokenId, xmlText } from './xml-text.ts';

const HEAD = `<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
`;

/** GraphML has no labels of its own; programs show an attribute of this name. */
const LABEL = 'label';
/** The only attribute of edges. */
const ROLE = 'role';

export async function* graphmlBytes({ attributes, hasRoles, parts }: BipartiteGraph): AsyncGenerator<Uint8Array> {
  const keys = [keyElement(LABEL, 'node', { name: LABEL, type: 'string' })];
  attributes.forEach((attribute, index) => {
    keys.push(keyElement(keyOf(index), 'node', attribute));
  });
  if (hasRoles) keys.push(keyElement(ROLE, 'edge', { name: ROLE, type: 'string' }));
  yield Buffer.from(`${HEAD}${keys.join('')}<graph edgedefault="undirected">\n`);
  for await (const { nodes, incidences } of parts)
    if (nodes.length > 0) yield Buffer.from(nodes.map(nodeElement).join('') + incidences.map(edgeElement).join(''));
  yield Buffer.from('</graph>\n</graphml>\n');
}

/** Not `d<index>`: Gephi takes `d3` for the labels that yEd writes. */
function keyOf(attribute: number): string {
  return `v${attribute}`;
}

function keyElement(id: string, of: 'node' | 'edge', { name, type }: Attribute): string {
  return `<key id="${id}" for="${of}" attr.name="${xmlText(name)}" attr.type="${type}"/>\n`;
}

function nodeElement({ id, label, values }: GraphNode): string {
  return `<node id="${tokenId(id)}"><data key="${LABEL}">${xmlText(label)}</data>${values.map(dataElement).join('')}</node>\n`;
}

function dataElement([attribute, text]: AttributeValue): string {
  return `<data key="${keyOf(attribute)}">${xmlText(text)}</data>`;
}

function edgeElement({ hyperedge, member, role }: Incidence): string {
  const head = `<edge source="${hyperedge}" target="${tokenId(member)}"`;
  return role === undefined ? `${head}/>\n` : `${head}><data key="${ROLE}">${xmlText(role)}</data></edge>\n`;
}
