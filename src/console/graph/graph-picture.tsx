// The picture of a hypergraph as SVG: hulls below, nodes above; what belongs to the node looked at stands out.

import { countText, timeText } from '../format.ts';
import { useState } from '../preact.ts';
import type { DrawnEdge, Graph } from './graph-model.ts';
import { hullOf, type Point } from './layout.ts';

interface Props {
  readonly graph: Graph;
  readonly points: ReadonlyMap<number, Point>;
  readonly pinned: number | undefined;
  readonly onPin: (node: number | undefined) => void;
}

/** Colours of hulls, in turn; the style sheet has them for both themes. */
const HUES = 6;
/** With more nodes only those looked at have their number written beside them. */
const MOST_LABELLED = 160;

export function GraphPicture({ graph, points, pinned, onPin }: Props) {
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const looked = hovered ?? pinned;
  const near = new Set<number>();
  for (const { members } of graph.drawn) {
    if (looked !== undefined && members.includes(looked)) for (const node of members) near.add(node);
  }
  // Large hulls lie below small ones, or they would hide them.
  const drawn = [...graph.drawn].sort((a, b) => b.members.length - a.members.length);
  return (
    <svg
      class={looked === undefined ? 'picture' : 'picture picture-looked'}
      viewBox={viewBoxOf(points)}
      role="img"
      aria-label={`Hypergraph of ${countText(graph.nodes.length, 'node')} and ${countText(graph.edgeCount, 'edge')}. Choose nodes in the list beside it.`}
      onMouseLeave={() => setHovered(undefined)}
    >
      {drawn.map((edge) => (
        <Hull key={edge.key} edge={edge} points={points} looked={looked} />
      ))}
      {graph.nodes.map((node) => {
        const { x, y } = points.get(node)!;
        const isNear = near.has(node);
        return (
          // biome-ignore lint/a11y/noStaticElementInteractions: the list beside the picture is the way by key.
          <g
            key={node}
            class={`node${isNear ? ' node-near' : ''}${node === pinned ? ' node-pinned' : ''}`}
            transform={`translate(${x.toFixed(1)} ${y.toFixed(1)})`}
            data-node={node}
            onMouseEnter={() => setHovered(node)}
            onClick={() => onPin(node === pinned ? undefined : node)}
          >
            <circle r={radiusOf(graph.degree.get(node) ?? 1)} />
            {(graph.nodes.length <= MOST_LABELLED || isNear) && <text y="3.5">{node}</text>}
          </g>
        );
      })}
    </svg>
  );
}

function radiusOf(degree: number): number {
  return Math.min(20, 8 + 2 * Math.log2(1 + degree));
}

function viewBoxOf(points: ReadonlyMap<number, Point>): string {
  const all = [...points.values()];
  const [xs, ys] = [all.map(({ x }) => x), all.map(({ y }) => y)];
  const [left, top] = [Math.min(...xs) - 34, Math.min(...ys) - 34];
  const [width, height] = [Math.max(...xs) - left + 34, Math.max(...ys) - top + 34];
  // A few nodes are not blown up to the whole frame.
  const [wide, high] = [Math.max(width, 420), Math.max(height, 280)];
  return [left - (wide - width) / 2, top - (high - height) / 2, wide, high].map((value) => value.toFixed(0)).join(' ');
}

function Hull({ edge, points, looked }: { edge: DrawnEdge; points: Props['points']; looked: number | undefined }) {
  const corners = hullOf(edge.members.map((node) => points.get(node)!));
  const isNear = looked !== undefined && edge.members.includes(looked);
  const path = corners.map(({ x, y }, at) => `${at === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join('');
  const name = `hull hull-${(edge.members[0]! >>> 0) % HUES}${edge.members.length === 2 ? ' hull-pair' : ''}${isNear ? ' hull-near' : ''}`;
  return (
    <path class={name} d={`${path}${corners.length === 1 ? 'h0.1' : 'Z'}`}>
      <title>{titleOf(edge)}</title>
    </path>
  );
}

export function titleOf({ edges, members }: DrawnEdge): string {
  const times = edges.flatMap(({ ts }) => (ts === undefined ? [] : [ts]));
  const when = times.length === 0 ? '' : `, ${timeText(Math.min(...times))} to ${timeText(Math.max(...times))}`;
  return `${countText(edges.length, 'edge')} of ${countText(members.length, 'node')}${when}`;
}
