// Computes the outline around the members of an edge: their convex hull, widened by a margin and
// with round corners.

import type { Point } from './layout.ts';

/** Returns the corners of the convex hull in order (Andrew's monotone chain). */
export function hullOf(points: readonly Point[]): Point[] {
  const sorted = [...points].sort((a, b) => a.x - b.x || a.y - b.y);
  if (sorted.length < 3) return sorted;
  const half = (list: readonly Point[]): Point[] => {
    const chain: Point[] = [];
    for (const point of list) {
      while (chain.length >= 2 && turn(chain.at(-2)!, chain.at(-1)!, point) <= 0) chain.pop();
      chain.push(point);
    }
    chain.pop();
    return chain;
  };
  return [...half(sorted), ...half(sorted.reverse())];
}

function turn(a: Point, b: Point, c: Point): number {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

/**
 * Returns the outline as an SVG path: the sides of the hull, moved outwards by `room` and joined by
 * arcs. One point gives a circle, two points a capsule.
 */
export function outlineOf(points: readonly Point[], room: number): string {
  const corners = hullOf(points);
  const [first] = corners;
  if (first === undefined) return '';
  if (corners.length === 1) {
    const [left, right] = [placeOf(first.x - room, first.y), placeOf(first.x + room, first.y)];
    return `M${left}A${room} ${room} 0 1 1 ${right}A${room} ${room} 0 1 1 ${left}Z`;
  }
  const sides = corners.map((from, at) => sideOf(from, corners[(at + 1) % corners.length]!, room));
  const start = sides[0]!.from;
  const parts = sides.map(({ to }, at) => {
    const next = sides[(at + 1) % sides.length]!.from;
    return `L${to}A${room} ${room} 0 0 1 ${next}`;
  });
  return `M${start}${parts.join('')}Z`;
}

/**
 * Moves a side of the hull outwards. The corners are counterclockwise when y points up, so outwards
 * is to the right of the direction from `from` to `to`.
 */
function sideOf(from: Point, to: Point, room: number): { from: string; to: string } {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.hypot(dx, dy) || 1;
  const [outX, outY] = [(dy / length) * room, (-dx / length) * room];
  return { from: placeOf(from.x + outX, from.y + outY), to: placeOf(to.x + outX, to.y + outY) };
}

function placeOf(x: number, y: number): string {
  return `${x.toFixed(1)} ${y.toFixed(1)}`;
}
