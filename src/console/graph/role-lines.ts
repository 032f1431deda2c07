// Computes the lines and marks that show roles. All positions are in units of the picture.

import type { Point } from './layout.ts';

/** Distance between a node and a line that ends at it. */
const ROOM = 2;
const HEAD = 9;
const BEND = 16;
const LOOP = 30;
/** Distance between the marks of one member. */
const MARK_STEP = 11;
/** Height of the name below a node. */
const NAME = 16;

/** A line with its two ends, and the points from which the line arrives there. */
export interface RoleLine {
  readonly path: string;
  readonly start: Point;
  readonly end: Point;
  readonly towardsStart: Point;
  readonly towardsEnd: Point;
}

/** Returns the point at a distance from `from`, in the direction of `to`. */
export function onTheWay(from: Point, to: Point, distance: number): Point {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy);
  // Where there is no direction, the point is to the upper right.
  if (length === 0) return { x: from.x + distance * Math.SQRT1_2, y: from.y - distance * Math.SQRT1_2 };
  return { x: from.x + (dx / length) * distance, y: from.y + (dy / length) * distance };
}

/**
 * Returns the line between two nodes with these radii. It bends to the right of the direction from
 * `a` to `b` if `bend` is 1, to the left if it is -1: lines in opposite directions are then apart.
 */
export function lineBetween(a: Point, b: Point, radii: readonly [number, number], bend: -1 | 0 | 1): RoleLine {
  const length = Math.hypot(b.x - a.x, b.y - a.y) || 1;
  const turn = (bend * BEND) / length;
  const control = { x: (a.x + b.x) / 2 - (b.y - a.y) * turn, y: (a.y + b.y) / 2 + (b.x - a.x) * turn };
  const start = onTheWay(a, control, radii[0] + ROOM);
  const end = onTheWay(b, control, radii[1] + ROOM);
  const path = `M${textOf(start)}Q${textOf(control)} ${textOf(end)}`;
  return { path, start, end, towardsStart: control, towardsEnd: control };
}

/** Returns a line from a node to itself, above it. */
export function loopAt(node: Point, radius: number): RoleLine {
  const at = (side: number, distance: number) => ({
    x: node.x + side * distance * Math.sin(0.6),
    y: node.y - distance * Math.cos(0.6),
  });
  const [start, end] = [at(-1, radius + ROOM), at(1, radius + ROOM)];
  const [one, other] = [at(-1.4, radius + LOOP), at(1.4, radius + LOOP)];
  const path = `M${textOf(start)}C${textOf(one)} ${textOf(other)} ${textOf(end)}`;
  return { path, start, end, towardsStart: one, towardsEnd: other };
}

/** Returns the line from a node to the middle of an edge. */
export function spokeOf(node: Point, radius: number, middle: Point): RoleLine {
  const start = onTheWay(node, middle, radius + ROOM);
  const path = `M${textOf(start)}L${textOf(middle)}`;
  return { path, start, end: middle, towardsStart: middle, towardsEnd: start };
}

/** Returns the head of an arrow with its tip at `tip`, as a path. */
export function headAt(tip: Point, from: Point): string {
  const back = onTheWay(tip, from, HEAD);
  const [dx, dy] = [(back.y - tip.y) * 0.45, (tip.x - back.x) * 0.45];
  return `M${textOf(tip)}L${textOf({ x: back.x + dx, y: back.y + dy })}L${textOf({ x: back.x - dx, y: back.y - dy })}Z`;
}

/** Returns the place of the dot that marks where an arrow begins, beyond a head if there is one. */
export function dotAt(tip: Point, from: Point, hasHead: boolean): Point {
  return onTheWay(tip, from, hasHead ? HEAD + 3 : 2);
}

/**
 * Returns the places of a member's marks, on the way from the node to the middle of the edge, and
 * beyond the name below the node.
 */
export function markPlaces(node: Point, radius: number, middle: Point, count: number): Point[] {
  const isBelow = middle.y - node.y > 0.6 * Math.hypot(middle.x - node.x, middle.y - node.y);
  const nearest = radius + 6 + (isBelow ? NAME : 0);
  return Array.from({ length: count }, (_, at) => onTheWay(node, middle, nearest + MARK_STEP * at));
}

/** Four shapes, filled or hollow. Of 16 roles, those with the same shape have different hues. */
export function markOf(bit: number, { x, y }: Point): { readonly path: string; readonly look: string } {
  const look = `role-mark hue-${bit % 6}${Math.floor(bit / 4) % 2 === 0 ? '' : ' role-hollow'}`;
  const corners = SHAPES[bit % SHAPES.length]!;
  const path = corners.map(([dx, dy], at) => `${at === 0 ? 'M' : 'L'}${textOf({ x: x + dx, y: y + dy })}`);
  return { path: `${path.join('')}Z`, look };
}

const SHAPES: readonly (readonly (readonly [number, number])[])[] = [
  Array.from({ length: 12 }, (_, at) => [4.2 * Math.cos((at * Math.PI) / 6), 4.2 * Math.sin((at * Math.PI) / 6)]),
  [
    [-3.8, -3.8],
    [3.8, -3.8],
    [3.8, 3.8],
    [-3.8, 3.8],
  ],
  [
    [0, -5],
    [4.8, 3.6],
    [-4.8, 3.6],
  ],
  [
    [0, -5.4],
    [5.4, 0],
    [0, 5.4],
    [-5.4, 0],
  ],
];

function textOf({ x, y }: Point): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
