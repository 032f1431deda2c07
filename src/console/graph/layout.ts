// Where nodes stand: members of an edge pull together, all nodes push apart. The same input gives the same picture.

export interface Point {
  x: number;
  y: number;
}

export interface LayoutInput {
  readonly nodes: readonly number[];
  readonly edges: readonly { readonly members: readonly number[] }[];
  /** Where nodes stood before; the others begin on a spiral. */
  readonly before: ReadonlyMap<number, Point>;
}

const SPACING = 46;
/** Nodes that lie further apart leave each other alone, so that the picture stays dense enough to read. */
const FAR = 150;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
/** Pairs of nodes that are looked at in all; more nodes get fewer rounds. */
const MOST_PAIR_VISITS = 40_000_000;

export function layOut({ nodes, edges, before }: LayoutInput): Map<number, Point> {
  const indexOf = new Map(nodes.map((node, index) => [node, index]));
  const xs = new Float64Array(nodes.length);
  const ys = new Float64Array(nodes.length);
  for (const [index, node] of nodes.entries()) {
    const known = before.get(node);
    const radius = SPACING * Math.sqrt(index + 0.5) * 0.8;
    xs[index] = known?.x ?? radius * Math.cos(index * GOLDEN_ANGLE);
    ys[index] = known?.y ?? radius * Math.sin(index * GOLDEN_ANGLE);
  }
  const groups = edges.map(({ members }) => Int32Array.from(members.map((node) => indexOf.get(node)!)));
  const rounds = Math.max(30, Math.min(260, Math.floor(MOST_PAIR_VISITS / Math.max(1, nodes.length ** 2 / 2))));
  const forces = { x: new Float64Array(nodes.length), y: new Float64Array(nodes.length) };
  for (let round = 0; round < rounds; round++) {
    forces.x.fill(0);
    forces.y.fill(0);
    pushApart(xs, ys, forces);
    pullTogether(groups, xs, ys, forces);
    const heat = SPACING * 0.6 * (1 - round / rounds) + 0.5;
    step(xs, ys, forces, heat);
  }
  return new Map(nodes.map((node, index) => [node, { x: xs[index]!, y: ys[index]! }]));
}

interface Forces {
  readonly x: Float64Array;
  readonly y: Float64Array;
}

function pushApart(xs: Float64Array, ys: Float64Array, forces: Forces): void {
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
      const strength = (SPACING * SPACING) / Math.max(square, 16);
      forces.x[a]! += dx * strength;
      forces.y[a]! += dy * strength;
      forces.x[b]! -= dx * strength;
      forces.y[b]! -= dy * strength;
    }
  }
}

/** Each member is drawn to the middle of its edge. Large edges pull less, or everything would end in one heap. */
function pullTogether(groups: readonly Int32Array[], xs: Float64Array, ys: Float64Array, forces: Forces): void {
  for (const members of groups) {
    let [x, y] = [0, 0];
    for (const index of members) {
      x += xs[index]!;
      y += ys[index]!;
    }
    x /= members.length;
    y /= members.length;
    const strength = 0.55 / Math.sqrt(members.length);
    for (const index of members) {
      forces.x[index]! += (x - xs[index]!) * strength;
      forces.y[index]! += (y - ys[index]!) * strength;
    }
  }
}

/** Moves by at most `heat`; a slight pull to the middle keeps parts without common nodes in sight. */
function step(xs: Float64Array, ys: Float64Array, forces: Forces, heat: number): void {
  for (let index = 0; index < xs.length; index++) {
    const dx = forces.x[index]! - xs[index]! * 0.03;
    const dy = forces.y[index]! - ys[index]! * 0.03;
    const length = Math.hypot(dx, dy);
    const scale = length > heat ? heat / length : 1;
    xs[index]! += dx * scale;
    ys[index]! += dy * scale;
  }
}

/** The corners of the least convex shape around points, in order (Andrew's monotone chain). */
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
