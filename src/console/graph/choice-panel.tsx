// The panel beside the picture: shows what is pinned and its stored edges, and fetches more edges
// of a node on request.

import { EdgeTag } from '../edge-tag.tsx';
import { countText } from '../format.ts';
import { NodeLink, placeOf } from '../node-link.tsx';
import { type NodeNames, nodeText } from '../node-names.ts';
import { useState } from '../preact.ts';
import type { DrawnNodes } from './drawn-nodes.ts';
import type { FoundEdge } from './found-edges.ts';
import { type Choice, type Graph, holds } from './graph-model.ts';
import type { NodeLooks } from './node-looks.ts';
import { membersWithRoles, spanText } from './role-words.ts';

interface Props {
  readonly graph: Graph;
  readonly pinned: Choice | undefined;
  readonly names: NodeNames;
  readonly table: string;
  readonly looks: NodeLooks;
  readonly roleNames: readonly string[];
  readonly nodes: DrawnNodes;
  readonly onPin: (choice: Choice | undefined) => void;
  /** Fetches the edges of a node. Undefined if the picture has no room for more. */
  readonly onExpand: ((node: number) => Promise<void>) | undefined;
}

const MOST_LISTED = 12;
const MOST_MEMBERS = 24;

export function ChoicePanel(props: Props) {
  const { graph, pinned, names, onPin } = props;
  const edges = graph.drawn
    .filter((drawn) => holds(drawn, pinned))
    .flatMap((drawn) => drawn.edges)
    .filter(({ members }) => pinned?.kind !== 'node' || members.includes(pinned.node))
    .sort((a, b) => (b.ts ?? 0) - (a.ts ?? 0));
  const node = pinned?.kind === 'node' ? pinned.node : undefined;
  return (
    <div class="choice-panel">
      <label>
        Node{' '}
        <select
          value={node ?? ''}
          onChange={({ currentTarget: { value } }) =>
            onPin(value === '' ? undefined : { kind: 'node', node: Number(value) })
          }
        >
          <option value="">none pinned</option>
          {graph.nodes.map((each) => (
            <option key={each} value={each}>
              {nodeText(names, each)}
            </option>
          ))}
        </select>
      </label>
      {pinned === undefined && (
        <p class="quiet">
          Choose a node here, or a node or an edge in the picture, to pin it and see its stored edges.
        </p>
      )}
      {node !== undefined && <NodeWords {...props} node={node} />}
      {pinned?.kind === 'edge' && <p class="choice-title">{countText(edges.length, 'edge')} in this shape</p>}
      {pinned !== undefined && <Edges {...props} edges={edges} />}
    </div>
  );
}

function NodeWords({ graph, node, names, nodes, table, looks, onExpand }: Props & { node: number }) {
  const [isBusy, setBusy] = useState(false);
  const expand = async () => {
    setBusy(true);
    await onExpand?.(node);
    setBusy(false);
  };
  return (
    <>
      <p class="choice-title">
        <NodeLink place={placeOf(nodes.nodeOf(node), table)} text={nodeText(names, node)} />
        {node >= 0 && names.has(node) && <span class="quiet"> node {node}</span>}
      </p>
      <p class="quiet">In {countText(graph.degree.get(node) ?? 0, 'edge')} of this result.</p>
      {looks.wordsOf(node).map((words) => (
        <p key={words} class="choice-members">
          {words}
        </p>
      ))}
      {onExpand !== undefined && (
        <button type="button" disabled={isBusy} onClick={expand}>
          {isBusy ? 'Fetching ...' : 'Expand: fetch its edges'}
        </button>
      )}
    </>
  );
}

function Edges({ edges, names, table, roleNames }: Props & { edges: readonly FoundEdge[] }) {
  return (
    <>
      <ul class="plain-list">
        {edges.slice(0, MOST_LISTED).map((edge, at) => (
          <li key={edge.id ?? `at ${at}`}>
            {edge.id === undefined ? 'edge' : <EdgeTag table={table} id={edge.id} />}{' '}
            <span class="quiet">{edge.ts !== undefined && <time>{spanText(edge)}</time>}</span>
            <span class="choice-members">{membersWithRoles(edge, names, roleNames, MOST_MEMBERS)}</span>
          </li>
        ))}
      </ul>
      {edges.length > MOST_LISTED && <p class="quiet">and {countText(edges.length - MOST_LISTED, 'more', 'more')}</p>}
    </>
  );
}
