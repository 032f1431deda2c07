// The picture of a hypergraph: hulls around the members of edges, or a square for each edge with
// lines to its members.

import { countText } from '../format.ts';
import { type NodeNames, nodeText } from '../node-names.ts';
import { useMemo, useState } from '../preact.ts';
import { type Choice, type DrawnEdge, type Graph, holds, isSame } from './graph-model.ts';
import { huesOf } from './hues.ts';
import { outlineOf } from './hull.ts';
import { boxOf, type Placement, type Point } from './layout.ts';
import type { NodeLooks } from './node-looks.ts';
import { isArrow, RoleMarks } from './role-marks.tsx';
import { membersWithRoles, whenText } from './role-words.ts';
import { type Box, ZoomFrame } from './zoom-frame.tsx';

export type Form = 'hulls' | 'links';

interface Props {
  readonly graph: Graph;
  readonly placement: Placement;
  readonly names: NodeNames;
  readonly form: Form;
  readonly looks: NodeLooks;
  /** The look whose nodes are highlighted. */
  readonly marked: string | undefined;
  /** The roles of the table; empty if it has none. */
  readonly roleNames: readonly string[];
  readonly pinned: Choice | undefined;
  readonly onPin: (choice: Choice | undefined) => void;
}

/**
 * With more nodes than this, only these show names: the `BUSIEST`, the members of the edge that is
 * hovered over or pinned, and a node that is, with its neighbours.
 */
const MOST_LABELLED = 160;
const BUSIEST = 40;
const INSIDE_LENGTH = 3;
const LABEL_LENGTH = 16;
const MOST_IN_CAPTION = 12;

export function GraphPicture(props: Props) {
  const { graph, placement, names, form, looks, marked, roleNames, pinned, onPin } = props;
  const { radiusOf } = looks;
  const [hovered, setHovered] = useState<Choice | undefined>(undefined);
  const looked = hovered ?? pinned;
  const near = new Set<number>();
  for (const edge of graph.drawn) if (holds(edge, looked)) for (const node of edge.members) near.add(node);
  if (looked?.kind === 'node') near.add(looked.node);
  // Large hulls are drawn before small ones, so that they do not hide the small ones.
  const drawn = useMemo(() => [...graph.drawn].sort((a, b) => b.members.length - a.members.length), [graph]);
  const hues = useMemo(() => huesOf(drawn), [drawn]);
  const labelled = useMemo(() => labelledNodes(graph), [graph]);
  const insideText = (node: number) =>
    isInside(names, looks, nodeText(names, node)) ? nodeText(names, node) : undefined;
  const isLabelled = (node: number) => labelled.has(node) || near.has(node);
  const content = useMemo(() => contentOf(placement), [placement]);
  const at = (choice: Choice) => ({
    onMouseEnter: () => setHovered(choice),
    onMouseLeave: () => setHovered(undefined),
    onClick: () => onPin(isSame(choice, pinned) ? undefined : choice),
  });
  const lookOf = (node: number) => {
    const look = looks.colouring?.lookOf(node) ?? '';
    return `${near.has(node) ? ' node-near' : ''}${marked !== undefined && look === marked ? ' node-marked' : ''} ${look}`;
  };
  const isPinned = (node: number) => pinned?.kind === 'node' && node === pinned.node;
  return (
    <ZoomFrame
      content={content}
      focus={pinned?.kind === 'node' ? placement.nodes.get(pinned.node) : undefined}
      pictureClass={pictureClassOf(props, looked)}
      label={`Hypergraph of ${countText(graph.nodes.length, 'node')} and ${countText(graph.edgeCount, 'edge')}. Choose nodes in the list beside it, or read it as a list below.`}
      caption={captionOf(props, looked)}
      onBackground={() => onPin(undefined)}
    >
      {drawn.map((edge) => {
        const hue = hues.get(edge.key);
        const name = `${hue === undefined ? 'edge-pair' : `edge-many hue-${hue}`}${holds(edge, looked) ? ' edge-near' : ''}`;
        return (
          <g key={edge.key} class={name} {...at({ kind: 'edge', key: edge.key })}>
            <Shape edge={edge} placement={placement} form={form} radiusOf={radiusOf} roleNames={roleNames} />
          </g>
        );
      })}
      {graph.nodes.map((node) => (
        <g
          key={node}
          class={`node${lookOf(node)}${isPinned(node) ? ' node-pinned' : ''}`}
          transform={translation(placement.nodes.get(node)!)}
          data-node={node}
          {...at({ kind: 'node', node })}
        >
          <circle r={radiusOf(node)} />
          {isLabelled(node) && insideText(node) !== undefined && <text y="3.8">{insideText(node)}</text>}
        </g>
      ))}
      {graph.nodes
        .filter((node) => isLabelled(node) && insideText(node) === undefined)
        .map((node) => (
          <Name
            key={node}
            text={nodeText(names, node)}
            place={placement.nodes.get(node)!}
            radius={radiusOf(node)}
            look={`node-name${lookOf(node)}${isPinned(node) ? ' name-pinned' : ''}`}
          />
        ))}
    </ZoomFrame>
  );
}

/**
 * With more highlighted hulls than this (or, if nothing is highlighted, four times as many hulls),
 * hulls are drawn fainter, because overlaps would be too dark.
 */
const MANY_HULLS = 10;

function pictureClassOf({ graph, names, looks, marked }: Props, looked: Choice | undefined): string {
  const hulls = graph.drawn.filter((edge) => edge.members.length > 2 && (looked === undefined || holds(edge, looked)));
  const dense = hulls.length > (looked === undefined ? 4 * MANY_HULLS : MANY_HULLS);
  const parts = {
    'picture-dense': dense,
    'picture-looked': looked !== undefined,
    'picture-named': names.size > 0,
    'picture-coloured': looks.colouring !== undefined,
    'picture-marked': marked !== undefined,
  };
  return ['picture', ...Object.entries(parts).flatMap(([name, isSet]) => (isSet ? [name] : []))].join(' ');
}

/** Returns a function that returns half the width of a node, including its label. */
export function halfWidthOf(names: NodeNames, looks: NodeLooks): (node: number) => number {
  return (node) => {
    const text = nodeText(names, node);
    const radius = looks.radiusOf(node);
    return isInside(names, looks, text) ? radius : Math.max(radius, Math.min(LABEL_LENGTH, text.length) * 3.2);
  };
}

interface NameProps {
  readonly text: string;
  readonly place: Point;
  readonly radius: number;
  readonly look: string;
}

/**
 * Draws a label under its node. Labels are drawn after all nodes, so that no node hides them. Only
 * short numbers are drawn inside their nodes.
 */
function Name({ text, place, radius, look }: NameProps) {
  return (
    <g class={look} transform={translation(place)}>
      <text class="label-below" y={radius + 11}>
        {text.length > LABEL_LENGTH ? `${text.slice(0, LABEL_LENGTH - 1)}…` : text}
      </text>
    </g>
  );
}

/** Texts are not written on colours, or into small nodes. */
function isInside(names: NodeNames, { colouring, sizing }: NodeLooks, text: string): boolean {
  return names.size === 0 && colouring === undefined && sizing === undefined && text.length <= INSIDE_LENGTH;
}

function labelledNodes({ nodes, degree }: Graph): ReadonlySet<number> {
  if (nodes.length <= MOST_LABELLED) return new Set(nodes);
  return new Set([...nodes].sort((a, b) => degree.get(b)! - degree.get(a)!).slice(0, BUSIEST));
}

function translation({ x, y }: Point): string {
  return `translate(${x.toFixed(1)} ${y.toFixed(1)})`;
}

/**
 * Returns the box of everything that is drawn, with room for hulls and names. A minimum size keeps
 * a few nodes from being enlarged to the whole frame. Squares of edges may be outside the area of
 * the nodes, so they are counted too.
 */
function contentOf({ nodes, edges }: Placement): Box {
  const { left, top, width, height } = boxOf([...nodes.values(), ...edges.values()]);
  const [wide, high] = [Math.max(width + 84, 380), Math.max(height + 84, 300)];
  return { left: left - (wide - width) / 2, top: top - (high - height) / 2, width: wide, height: high };
}

interface ShapeProps {
  readonly edge: DrawnEdge;
  readonly placement: Placement;
  readonly form: Form;
  readonly radiusOf: (node: number) => number;
  readonly roleNames: readonly string[];
}

function Shape(props: ShapeProps) {
  const { edge, form, roleNames } = props;
  const hasLines = form === 'links';
  return (
    <>
      {hasLines ? <Links {...props} /> : !isArrow(edge, roleNames) && <Hull {...props} />}
      {roleNames.length > 0 && <RoleMarks {...props} hasLines={hasLines} width={lineWidth(edge)} />}
    </>
  );
}

function Hull({ edge, placement }: ShapeProps) {
  const points = edge.members.map((node) => placement.nodes.get(node)!);
  const [a, b] = points;
  if (points.length === 2) {
    return (
      <>
        <line class="edge-reach" x1={a!.x} y1={a!.y} x2={b!.x} y2={b!.y} />
        <line x1={a!.x} y1={a!.y} x2={b!.x} y2={b!.y} stroke-width={lineWidth(edge)} />
      </>
    );
  }
  return <path class="hull" d={outlineOf(points, 17 + 1.3 * Math.min(10, points.length))} />;
}

function Links({ edge, placement }: ShapeProps) {
  const middle = placement.edges.get(edge.key)!;
  const half = Math.min(9, 4 + Math.log2(edge.edges.length));
  return (
    <>
      {edge.members.map((node) => {
        const { x, y } = placement.nodes.get(node)!;
        return <line key={node} class="link" x1={middle.x} y1={middle.y} x2={x} y2={y} />;
      })}
      <rect class="edge-square" x={middle.x - half} y={middle.y - half} width={2 * half} height={2 * half} rx="2" />
    </>
  );
}

/** Returns the width of a line, which is wider if the same members occur in more edges. */
function lineWidth({ edges }: DrawnEdge): string {
  return Math.min(7, 1.6 + 0.9 * Math.log2(edges.length)).toFixed(1);
}

function captionOf({ graph, names, looks, roleNames }: Props, looked: Choice | undefined): string {
  if (looked === undefined) return 'Drag to move; Ctrl and wheel, or two fingers, to zoom.';
  if (looked.kind === 'node') {
    const degree = `in ${countText(graph.degree.get(looked.node) ?? 0, 'edge')}`;
    return `${nodeText(names, looked.node)}: ${[degree, ...looks.wordsOf(looked.node)].join('; ')}`;
  }
  const edge = graph.drawn.find(({ key }) => key === looked.key);
  return edge === undefined ? '' : `${membersWithRoles(edge, names, roleNames, MOST_IN_CAPTION)} — ${whenText(edge)}`;
}
