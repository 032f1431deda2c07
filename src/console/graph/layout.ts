// Computes the positions of nodes and edges: members are pulled towards their edge, and everything
// else is pushed apart. The same input always gives the same picture.

import { partsOf } from './parts.ts';
import { settle } from './settle.ts';

export interface Point {
  x: number;
  y: number;
}

export interface LayoutEdge {
  readonly key: string;
  readonly members: readonly number[];
}

export interface LayoutInput {
  readonly nodes: readonly number[];
  readonly edges: readonly LayoutEdge[];
  /**
   * Earlier positions: these nodes stay where they are unless they overlap others, and new nodes
   * are placed among them.
   */
  readonly before: ReadonlyMap<number, Point>;
  /** Half of the width of a node, including its name. */
  readonly halfWidth: (node: number) => number;
  /** Desired ratio of width to height of the picture. */
  readonly aspect: number;
}

export interface Placement {
  readonly nodes: ReadonlyMap<number, Point>;
  /** The middle of each edge, by the key of the edge. */
  readonly edges: ReadonlyMap<string, Point>;
}

/** Distance between parts that have no node in common. */
const GAP = 58;
const HALF_HEIGHT = 16;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const SPACING = 46;

export function layOut(input: LayoutInput): Placement {
  const isGrowing = input.nodes.some((node) => input.before.has(node));
  if (isGrowing) return placed(input, startOf(input), input.before);
  const parts = partsOf(input.nodes, input.edges).map((part) => {
    const own = { ...input, ...part };
    return placed(own, startOf(own), new Map());
  });
  return packed(parts, input);
}

/**
 * Returns the starting positions. A node with an earlier position starts there. A new node starts
 * near such nodes in an edge that contains it or, if there are none, on a spiral.
 */
function startOf({ nodes, edges, before }: LayoutInput): Map<number, Point> {
  const near = new Map<number, Point>();
  for (const { members } of edges) {
    const known = members.flatMap((node) => before.get(node) ?? []);
    if (known.length === 0) continue;
    for (const node of members) if (!near.has(node)) near.set(node, middleOf(known));
  }
  return new Map(
    nodes.map((node, index) => {
      const stood = before.get(node);
      if (stood !== undefined) return [node, { ...stood }];
      const from = near.get(node) ?? { x: 0, y: 0 };
      const radius = near.has(node) ? SPACING : SPACING * Math.sqrt(index + 0.5) * 0.8;
      return [
        node,
        { x: from.x + radius * Math.cos(index * GOLDEN_ANGLE), y: from.y + radius * Math.sin(index * GOLDEN_ANGLE) },
      ];
    }),
  );
}

/**
 * Lets the points settle, and returns their positions. The points are the nodes, followed by a hub
 * in the middle of each edge with at least three members, and of pairs that are there repeatedly,
 * with other roles.
 */
function placed(input: LayoutInput, start: ReadonlyMap<number, Point>, fixed: ReadonlyMap<number, Point>): Placement {
  const { nodes, edges } = input;
  const indexOf = new Map(nodes.map((node, index) => [node, index]));
  const points = nodes.map((node) => ({ ...start.get(node)! }));
  const times = new Map<string, number>();
  for (const { members } of edges) times.set(members.join(' '), (times.get(members.join(' ')) ?? 0) + 1);
  const hubs = edges.filter(({ members }) => members.length > 2 || times.get(members.join(' '))! > 1);
  const hubOf = new Map(hubs.map(({ key }, at) => [key, nodes.length + at]));
  for (const { members } of hubs) points.push(middleOf(members.map((node) => points[indexOf.get(node)!]!)));
  settle({
    points,
    nodeCount: nodes.length,
    isFixed: nodes.map((node) => fixed.has(node)),
    halfWidths: nodes.map(input.halfWidth),
    halfHeight: HALF_HEIGHT,
    groups: edges.map(({ key, members }) => ({
      hub: hubOf.get(key),
      members: members.map((node) => indexOf.get(node)!),
    })),
  });
  const middles = edges.map(({ key, members }): [string, Point] => {
    const hub = hubOf.get(key);
    return [key, hub === undefined ? middleOf(members.map((node) => points[indexOf.get(node)!]!)) : points[hub]!];
  });
  return { nodes: new Map(nodes.map((node, index) => [node, points[index]!])), edges: new Map(middles) };
}

function middleOf(points: readonly Point[]): Point {
  const sum = points.reduce((all, { x, y }) => ({ x: all.x + x, y: all.y + y }), { x: 0, y: 0 });
  return { x: sum.x / Math.max(1, points.length), y: sum.y / Math.max(1, points.length) };
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export function boxOf(points: readonly Point[]): Box {
  let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { x, y } of points) {
    left = Math.min(left, x);
    right = Math.max(right, x);
    top = Math.min(top, y);
    bottom = Math.max(bottom, y);
  }
  return points.length === 0
    ? { left: 0, top: 0, width: 0, height: 0 }
    : { left, top, width: right - left, height: bottom - top };
}

/** Packs the parts side by side in rows, the tallest first. The width of nodes counts. */
function packed(parts: readonly Placement[], { aspect, halfWidth }: LayoutInput): Placement {
  const sides = ([node, { x, y }]: [number, Point]) => [
    { x: x - halfWidth(node), y },
    { x: x + halfWidth(node), y },
  ];
  const boxed = parts
    .map((part) => ({ part, box: boxOf([...part.nodes].flatMap(sides)) }))
    .sort((a, b) => b.box.height - a.box.height);
  const area = boxed.reduce((sum, { box }) => sum + (box.width + GAP) * (box.height + GAP), 0);
  const widest = boxed.reduce((most, { box }) => Math.max(most, box.width + GAP), 0);
  const rowWidth = Math.max(widest, Math.sqrt(area * aspect));
  const nodes = new Map<number, Point>();
  const edges = new Map<string, Point>();
  const row = { top: 0, height: 0 };
  const column = { left: 0, width: 0, bottom: 0 };
  for (const { part, box } of boxed) {
    // Small parts are stacked beside a tall one.
    const fitsBelow = column.bottom > row.top && column.bottom + box.height <= row.top + row.height;
    if (!fitsBelow) {
      if (column.width > 0) column.left += column.width + GAP;
      if (column.left > 0 && column.left + box.width > rowWidth) {
        column.left = 0;
        row.top += row.height + GAP;
        row.height = 0;
      }
      column.width = 0;
      column.bottom = row.top;
    }
    const [dx, dy] = [column.left - box.left, column.bottom - box.top];
    for (const [node, point] of part.nodes) nodes.set(node, { x: point.x + dx, y: point.y + dy });
    for (const [key, point] of part.edges) edges.set(key, { x: point.x + dx, y: point.y + dy });
    row.height = Math.max(row.height, column.bottom + box.height - row.top);
    column.width = Math.max(column.width, box.width);
    column.bottom += box.height + GAP;
  }
  return { nodes, edges };
}
