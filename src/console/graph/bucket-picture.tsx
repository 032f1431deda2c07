// Too many edges to draw each: time from left to right, a lane for each of the busiest nodes, a dot where it is active.

import { countText, timeText } from '../format.ts';
import { useMemo, useState } from '../preact.ts';
import { BUCKETS, type DrawnEdge, type Graph } from './graph-model.ts';
import { titleOf } from './graph-picture.tsx';

interface Props {
  readonly graph: Graph;
  readonly pinned: number | undefined;
  readonly onPin: (node: number | undefined) => void;
}

const LANE = 17;
const STEP = 30;
const LEFT = 64;
const LARGEST_DOT = 8;

interface Column {
  readonly edge: DrawnEdge;
  readonly x: number;
  /** Edges of each node in this stretch of time. */
  readonly counts: ReadonlyMap<number, number>;
}

export function BucketPicture({ graph, pinned, onPin }: Props) {
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const looked = hovered ?? pinned;
  const columns = useMemo(() => graph.drawn.map(columnOf), [graph]);
  const most = Math.max(1, ...columns.flatMap(({ counts }) => graph.nodes.map((node) => counts.get(node) ?? 0)));
  const laneOf = new Map(graph.nodes.map((node, at) => [node, 14 + at * LANE]));
  const bottom = 14 + graph.nodes.length * LANE;
  const times = graph.drawn.flatMap(({ edges }) => edges.flatMap(({ ts }) => ts ?? []));
  const first = times.reduce((least, ts) => Math.min(least, ts), Infinity);
  const last = times.reduce((greatest, ts) => Math.max(greatest, ts), -Infinity);
  return (
    <svg
      class={looked === undefined ? 'picture picture-tall' : 'picture picture-tall picture-looked'}
      viewBox={`0 0 ${LEFT + STEP * (BUCKETS + 1)} ${bottom + 20}`}
      role="img"
      aria-label={`${countText(graph.edgeCount, 'edge')} over time, for the ${graph.nodes.length} busiest nodes. Choose nodes in the list beside it.`}
      onMouseLeave={() => setHovered(undefined)}
    >
      {columns.map((column) => (
        <Stretch key={column.edge.key} column={column} laneOf={laneOf} most={most} looked={looked} />
      ))}
      {graph.nodes.map((node) => (
        // biome-ignore lint/a11y/noStaticElementInteractions: the list beside the picture is the way by key.
        <g
          key={node}
          class={`node${looked === node ? ' node-near' : ''}${pinned === node ? ' node-pinned' : ''}`}
          data-node={node}
          transform={`translate(24 ${laneOf.get(node)})`}
          onMouseEnter={() => setHovered(node)}
          onClick={() => onPin(node === pinned ? undefined : node)}
        >
          <rect class="lane" x="-24" y={-LANE / 2} width={LEFT + STEP * (BUCKETS + 1)} height={LANE} />
          <text y="3.5">{node}</text>
        </g>
      ))}
      {times.length > 0 && (
        <g class="times">
          <text x={LEFT - STEP / 2} y={bottom + 12}>
            {timeText(first).slice(0, 10)}
          </text>
          <text x={LEFT + STEP * (BUCKETS + 0.5)} y={bottom + 12} text-anchor="end">
            {timeText(last).slice(0, 10)}
          </text>
        </g>
      )}
    </svg>
  );
}

function columnOf(edge: DrawnEdge): Column {
  const counts = new Map<number, number>();
  for (const { members } of edge.edges) for (const node of members) counts.set(node, (counts.get(node) ?? 0) + 1);
  return { edge, x: LEFT + STEP * (Number(edge.key) + 0.5), counts };
}

interface StretchProps {
  readonly column: Column;
  readonly laneOf: ReadonlyMap<number, number>;
  readonly most: number;
  readonly looked: number | undefined;
}

/** The line joins what is active together, as a hyperedge of the whole stretch. */
function Stretch({ column: { edge, x, counts }, laneOf, most, looked }: StretchProps) {
  const lanes = edge.members.map((node) => laneOf.get(node)!);
  if (lanes.length === 0) return null;
  const isNear = looked !== undefined && edge.members.includes(looked);
  return (
    <g class={`stretch${isNear ? ' stretch-near' : ''}`}>
      <title>{titleOf(edge)}</title>
      <line x1={x} x2={x} y1={Math.min(...lanes)} y2={Math.max(...lanes)} />
      {edge.members.map((node) => (
        <circle
          key={node}
          class={node === looked ? 'dot-near' : undefined}
          cx={x}
          cy={laneOf.get(node)!}
          r={1.5 + (LARGEST_DOT - 1.5) * Math.sqrt((counts.get(node) ?? 0) / most)}
        />
      ))}
    </g>
  );
}
