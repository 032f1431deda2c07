// Moves points until they come to rest: a force-directed layout.
//
// Each round computes a force on every point. Points that are closer than `FAR` push each other
// apart. A spring holds the two members of a pair near each other. Larger edges have a hub, a point
// in their middle, and springs hold their members near it. Then each point that is not fixed moves
// along its force, but by no more than the heat, which falls from round to round so that the points
// come to rest. At the end, nodes that still overlap are moved apart, even if they are fixed.

import type { Point } from './layout.ts';

export interface Group {
  /** Index of the point in the middle of the edge; undefined for most pairs. */
  readonly hub: number | undefined;
  readonly members: readonly number[];
}

export interface SettleInput {
  /** The nodes first, then the hubs; changed in place. */
  readonly points: readonly Point[];
  readonly nodeCount: number;
  /** By node, like `halfWidths`. */
  readonly isFixed: readonly boolean[];
  readonly halfWidths: readonly number[];
  readonly halfHeight: number;
  readonly groups: readonly Group[];
}

/** Lengths of springs at rest. */
const PAIR_LENGTH = 54;
const HUB_LENGTH = 30;
/**
 * Points further apart than this do not affect each other, so that the picture stays dense enough
 * to read.
 */
const FAR = 190;
const PUSH = 1150;
/** A hub pushes less than a node, because at most a small square is drawn there. */
const HUB_WEIGHT = 0.35;
const PULL_TO_MIDDLE = 0.035;
/** Pairs of points to visit in all rounds together. More points get fewer rounds, at least 30. */
const MOST_PAIR_VISITS = 40_000_000;
const HEAT = 34;

export function settle(input: SettleInput): void {
  const { points, nodeCount } = input;
  const xs = Float64Array.from(points, ({ x }) => x);
  const ys = Float64Array.from(points, ({ y }) => y);
  const forces = { x: new Float64Array(xs.length), y: new Float64Array(xs.length) };
  const rounds = Math.max(30, Math.min(320, Math.floor(MOST_PAIR_VISITS / Math.max(1, xs.length ** 2 / 2))));
  for (let round = 0; round < rounds; round++) {
    forces.x.fill(0);
    forces.y.fill(0);
    pushApart(xs, ys, nodeCount, forces);
    for (const group of input.groups) pull(group, xs, ys, forces);
    step(xs, ys, forces, HEAT * (1 - round / rounds) + 0.4, input.isFixed);
  }
  for (let round = 0; round < 40; round++) if (!makeRoom(xs, ys, input)) break;
  for (const [index, point] of points.entries()) {
    point.x = xs[index]!;
    point.y = ys[index]!;
  }
}

interface Forces {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

function pushApart(xs: Float64Array, ys: Float64Array, nodeCount: number, forces: Forces): void {
  for (let a = 0; a < xs.length; a++) {
    for (let b = a + 1; b < xs.length; b++) {
      let dx = xs[a]! - xs[b]!;
      let dy = ys[a]! - ys[b]!;
      const square = dx * dx + dy * dy;
      if (square > FAR * FAR) continue;
      if (square < 1e-6) {
        dx = 0.01 * (1 + (a % 7));
        dy = 0.01 * (1 + (b % 5));
      }
      const weight = (a < nodeCount ? 1 : HUB_WEIGHT) * (b < nodeCount ? 1 : HUB_WEIGHT);
      const strength = (PUSH * weight) / Math.max(square, 36);
      forces.x[a]! += dx * strength;
      forces.y[a]! += dy * strength;
      forces.x[b]! -= dx * strength;
      forces.y[b]! -= dy * strength;
    }
  }
}

/**
 * Pulls the members of an edge. Larger edges pull each member less, so that not all nodes end in
 * one heap.
 */
function pull({ hub, members }: Group, xs: Float64Array, ys: Float64Array, forces: Forces): void {
  if (hub === undefined) {
    if (members.length === 2) spring(members[0]!, members[1]!, PAIR_LENGTH, 0.3, xs, ys, forces);
    return;
  }
  const length = HUB_LENGTH * Math.sqrt(members.length / 3);
  for (const member of members) spring(member, hub, length, 0.9 / Math.sqrt(members.length), xs, ys, forces);
}

function spring(
  a: number,
  b: number,
  length: number,
  strength: number,
  xs: Float64Array,
  ys: Float64Array,
  forces: Forces,
): void {
  const dx = xs[b]! - xs[a]!;
  const dy = ys[b]! - ys[a]!;
  const distance = Math.hypot(dx, dy) || 1;
  const force = (strength * (distance - length)) / distance;
  forces.x[a]! += dx * force;
  forces.y[a]! += dy * force;
  forces.x[b]! -= dx * force;
  forces.y[b]! -= dy * force;
}

/** Moves points by at most `heat`. A slight pull to the middle keeps loose points in sight. */
function step(xs: Float64Array, ys: Float64Array, forces: Forces, heat: number, isFixed: readonly boolean[]): void {
  for (let index = 0; index < xs.length; index++) {
    if (isFixed[index] === true) continue;
    const dx = forces.x[index]! - xs[index]! * PULL_TO_MIDDLE;
    const dy = forces.y[index]! - ys[index]! * PULL_TO_MIDDLE;
    const length = Math.hypot(dx, dy);
    const scale = length > heat ? heat / length : 1;
    xs[index]! += dx * scale;
    ys[index]! += dy * scale;
  }
}

/** Moves overlapping nodes apart in the shorter direction. Returns false when none overlapped. */
function makeRoom(xs: Float64Array, ys: Float64Array, { nodeCount, halfWidths, halfHeight }: SettleInput): boolean {
  let hasMoved = false;
  for (let a = 0; a < nodeCount; a++) {
    for (let b = a + 1; b < nodeCount; b++) {
      const dx = xs[b]! - xs[a]!;
      const dy = ys[b]! - ys[a]!;
      const overX = halfWidths[a]! + halfWidths[b]! + 4 - Math.abs(dx);
      const overY = 2 * halfHeight + 4 - Math.abs(dy);
      if (overX <= 0 || overY <= 0) continue;
      hasMoved = true;
      if (overX < overY) {
        const shift = (dx < 0 ? -overX : overX) / 2;
        xs[a]! -= shift;
        xs[b]! += shift;
      } else {
        const shift = (dy < 0 ? -overY : overY) / 2;
        ys[a]! -= shift;
        ys[b]! += shift;
      }
    }
  }
  return hasMoved;
}
