// The page of one node: its attributes, its edges over time, and the nodes it shares edges with.

import { Empty } from '../failure.tsx';
import { named } from '../named.ts';
import { keyText, type NodePlace } from '../node-link.tsx';
import { nodeText, useNodeNames } from '../node-names.ts';
import { useEffect } from '../preact.ts';
import { address, catalogError, isListed, nodeTables, tables } from '../state.ts';
import '../style/node.css';
import '../style/views.css';
import { NodeAttributes } from './node-attributes.tsx';
import { NodeEdges } from './node-edges.tsx';
import { nodeAt } from './node-place.ts';

export function NodeView() {
  const found = nodeAt(address.value, nodeTables.value, tables.value);
  if (!isListed.value || (catalogError.value !== undefined && tables.value.length === 0))
    return <p class="waiting">Looking at the tables ...</p>;
  if (typeof found === 'string')
    return (
      <div class="view">
        <section class="panel" aria-label="Node">
          <Empty title="There is no such node">{found}</Empty>
        </section>
      </div>
    );
  return <NodePage key={address.value} place={found} />;
}

function NodePage({ place }: { place: NodePlace }) {
  const kind = named(nodeTables.value, place.table);
  const names = useNodeNames(place.table);
  const title = typeof place.key === 'number' && kind === undefined ? nodeText(names, place.key) : keyText(place.key);
  useEffect(() => {
    document.title = `${title} - Hedgerow`;
  }, [title]);
  return (
    <div class="view">
      <section class="panel" aria-label="Node">
        <h2 class="node-title">
          <bdi>{title}</bdi>{' '}
          <span class="quiet">{kind === undefined ? `node ${place.key} of ${place.table}` : place.table}</span>
        </h2>
        {kind === undefined ? (
          <p class="quiet">
            {place.table} is a table of numbers: its nodes have no attributes, and a number means a node of this table
            only.
          </p>
        ) : (
          <NodeAttributes place={place} kind={kind} />
        )}
      </section>
      <NodeEdges place={place} isNamed={kind !== undefined} />
    </div>
  );
}
