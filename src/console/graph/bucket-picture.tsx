// The picture for more edges than can be drawn one by one. Time runs from left to right in equal
// stretches. Each of the busiest nodes has a lane, with a dot for each stretch in which it has
// edges.

import { countText, timeText } from '../format.ts';
import { type NodeNames, nodeText } from '../node-names.ts';
import { useMemo, useState } from '../preact.ts';
import { Scrolling } from '../scrolling.tsx';
import type { TimeWindow } from '../state.ts';
import { BUCKETS, type Choice, type DrawnEdge, type Graph } from './graph-model.ts';
import type { NodeLooks } from './node-looks.ts';

interface Props {
  readonly graph: Graph;
  readonly names: NodeNames;
  readonly looks: NodeLooks;
  /** The look whose nodes are highlighted. */
  readonly marked: string | undefined;
  readonly pinned: Choice | undefined;
  readonly onPin: (choice: Choice | undefined) => void;
  /** Called to show a single stretch of time. */
  readonly onStretch: (window: TimeWindow) => void;
}

const LANE = 18;
const STEP = 30;
const TOP = 26;
const LARGEST_DOT = 8;
const LONGEST_NAME = 18;
const CHARACTER = 6.4;
/** A date is drawn above one stretch in this many. */
const DATE_STEP = 4;

interface Column {
  readonly edge: DrawnEdge;
  readonly x: number;
  /** Number of edges of each node in this stretch of time. */
  readonly counts: ReadonlyMap<number, number>;
  readonly window: TimeWindow | undefined;
}

export function BucketPicture({ graph, names, looks, marked, pinned, onPin, onStretch }: Props) {
  const [hovered, setHovered] = useState<number | undefined>(undefined);
  const looked = hovered ?? (pinned?.kind === 'node' ? pinned.node : undefined);
  const texts = graph.nodes.map((node) => shortened(nodeText(names, node)));
  const left = 16 + CHARACTER * Math.max(3, ...texts.map(({ length }) => length));
  const columns = useMemo(() => graph.drawn.map((edge) => columnOf(graph, edge, left)), [graph, left]);
  const most = Math.max(1, ...columns.flatMap(({ counts }) => graph.nodes.map((node) => counts.get(node) ?? 0)));
  const laneOf = new Map(graph.nodes.map((node, at) => [node, TOP + LANE * (at + 0.5)]));
  const width = left + STEP * BUCKETS + 8;
  const dotLookOf = (node: number) => {
    const look = looks.colouring?.lookOf(node) ?? '';
    return `${node === looked ? 'dot-near ' : ''}${marked !== undefined && look === marked ? 'node-marked ' : ''}${look}`;
  };
  return (
    <Scrolling label="Picture" height="whole">
      <svg
        class={`picture-tall${looked === undefined ? '' : ' picture-looked'}${looks.colouring === undefined ? '' : ' picture-coloured'}${marked === undefined ? '' : ' picture-marked'}`}
        viewBox={`0 0 ${width.toFixed(0)} ${TOP + graph.nodes.length * LANE + 6}`}
        role="img"
        aria-label={`${countText(graph.edgeCount, 'edge')} over time, for the ${graph.nodes.length} busiest nodes. Choose nodes in the list beside it.`}
        onMouseLeave={() => setHovered(undefined)}
      >
        {graph.nodes.map((node, at) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: keyboards use the list.
          <g
            key={node}
            class={`node${looked === node ? ' node-near' : ''}${pinned?.kind === 'node' && pinned.node === node ? ' node-pinned' : ''}`}
            data-node={node}
            transform={`translate(0 ${laneOf.get(node)})`}
            onMouseEnter={() => setHovered(node)}
            onClick={() => onPin(pinned?.kind === 'node' && node === pinned.node ? undefined : { kind: 'node', node })}
          >
            <rect class={`lane${at % 2 === 0 ? ' lane-even' : ''}`} y={-LANE / 2} width={width} height={LANE} />
            <text class="lane-name" x={left - 8} y="3.5">
              {texts[at]}
            </text>
          </g>
        ))}
        {columns.map((column) => (
          <Stretch
            key={column.edge.key}
            column={column}
            laneOf={laneOf}
            most={most}
            dotLookOf={dotLookOf}
            onStretch={onStretch}
          />
        ))}
        <Dates graph={graph} left={left} />
      </svg>
    </Scrolling>
  );
}

function shortened(text: string): string {
  return text.length > LONGEST_NAME ? `${text.slice(0, LONGEST_NAME - 1)}…` : text;
}

function columnOf({ stretches }: Graph, edge: DrawnEdge, left: number): Column {
  const counts = new Map<number, number>();
  for (const { members } of edge.edges) for (const node of members) counts.set(node, (counts.get(node) ?? 0) + 1);
  const at = Number(edge.key);
  const window =
    stretches === undefined || at < 0
      ? undefined
      : {
          start: Math.floor(stretches.first + at * stretches.width),
          end: Math.ceil(stretches.first + (at + 1) * stretches.width) - 1,
        };
  return { edge, x: left + STEP * (at + 0.5), counts, window };
}

function Dates({ graph: { stretches }, left }: { graph: Graph; left: number }) {
  if (stretches === undefined) return null;
  const isShort = stretches.width * BUCKETS < 3 * 86_400;
  return (
    <g class="times">
      {Array.from({ length: BUCKETS / DATE_STEP }, (_, index) => index * DATE_STEP).map((at) => {
        const text = timeText(Math.floor(stretches.first + at * stretches.width));
        return (
          <text key={at} x={left + STEP * at} y="15">
            {isShort ? text.slice(5, 16) : text.slice(0, 10)}
          </text>
        );
      })}
    </g>
  );
}

interface StretchProps {
  readonly column: Column;
  readonly laneOf: ReadonlyMap<number, number>;
  readonly most: number;
  /** Returns the classes of the dots of a node. */
  readonly dotLookOf: (node: number) => string;
  readonly onStretch: Props['onStretch'];
}

/** Draws one stretch of time: a dot for each active node, and a line that joins them. */
function Stretch({ column: { edge, x, counts, window }, laneOf, most, dotLookOf, onStretch }: StretchProps) {
  const lanes = edge.members.map((node) => laneOf.get(node)!);
  if (lanes.length === 0) return null;
  const top = Math.min(...lanes);
  const bottom = Math.max(...lanes);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: keyboards use the time fields.
    <g
      class="stretch"
      onClick={() => {
        if (window !== undefined) onStretch(window);
      }}
    >
      <title>{stretchTitle(edge, window)}</title>
      <rect class="stretch-reach" x={x - 5} y={top - LANE / 2} width="10" height={bottom - top + LANE} />
      <line x1={x} x2={x} y1={top} y2={bottom} />
      {edge.members.map((node) => (
        <circle
          key={node}
          class={dotLookOf(node)}
          cx={x}
          cy={laneOf.get(node)!}
          r={1.5 + (LARGEST_DOT - 1.5) * Math.sqrt((counts.get(node) ?? 0) / most)}
        />
      ))}
    </g>
  );
}

function stretchTitle(edge: DrawnEdge, window: TimeWindow | undefined): string {
  const count = countText(edge.edges.length, 'edge');
  if (window === undefined) return `${count} without a time`;
  return `${count}, ${timeText(window.start)} to ${timeText(window.end)}. Choose it to look at this stretch alone.`;
}
