import { describe, expect, test } from 'vitest';
import { DrawnNodes } from '../../src/console/graph/drawn-nodes.ts';
import { edgesOf, type FoundEdge } from '../../src/console/graph/found-edges.ts';
import { type DrawnEdge, graphOf, hullsAreClear, MOST_DRAWN } from '../../src/console/graph/graph-model.ts';
import { huesOf } from '../../src/console/graph/hues.ts';
import { hullOf, outlineOf } from '../../src/console/graph/hull.ts';
import { layOut, type Point } from '../../src/console/graph/layout.ts';

/** Returns an edge without an end and without roles. */
function found(edge: Pick<FoundEdge, 'id' | 'ts' | 'members'>): FoundEdge {
  return { ...edge, end: undefined, roles: undefined };
}

describe('the graph of a result', () => {
  test('takes edges from whole rows, from row objects and from named columns', () => {
    expect(
      edgesOf([
        { id: 1, event_ts: 5, members: [1, 2] },
        { a: { id: 2, event_ts: 6, members: [2, 3] }, b: 7 },
        { 'a.id': 3, 'a.event_ts': 7, 'a.members': [4], 'b.members': [5] },
        { count: 3, members: ['x'] },
      ]),
    ).toEqual([
      { id: 1, ts: 5, members: [1, 2] },
      { id: 2, ts: 6, members: [2, 3] },
      { id: 3, ts: 7, members: [4] },
      { id: undefined, ts: undefined, members: [5] },
    ]);
  });

  test('takes edges of named tables, whose nodes have numbers below 0 and their keys as names', () => {
    const nodes = new DrawnNodes();
    const person = (key: string) => ({ kind: 'Person', key });
    const rows = [
      { id: 1, event_ts: 5, members: ['Ada', 'Grace'] },
      { 'c.event_ts': 6, 'c.members': ['Grace', 'Ada', 'Alan'] },
      { id: 3, event_ts: 7, members: [person('Ada'), person('Grace')] },
      { id: 4, event_ts: 8, members: [7, 8] },
      { id: 5, event_ts: 9, members: ['Ada', null] },
    ];
    expect(edgesOf(rows, nodes).map(({ members }) => members)).toEqual([
      [-1, -2],
      [-2, -1, -3],
      [-4, -5],
      [7, 8],
    ]);
    expect([-1, -4, 7].map((node) => nodes.nodeOf(node))).toEqual([{ key: 'Ada' }, person('Ada'), { key: 7 }]);
    expect([...nodes.names(new Map([[7, 'seven']]))].slice(0, 3)).toEqual([
      [7, 'seven'],
      [-1, 'Ada'],
      [-2, 'Grace'],
    ]);
  });

  test('draws equal member sets once, and a repeated edge once', () => {
    const edge = (id: number, members: number[]) => found({ id, ts: id, members });
    const graph = graphOf([edge(1, [1, 2]), edge(2, [1, 2]), edge(3, [2, 3]), edge(3, [2, 3])]);
    expect([graph.kind, graph.edgeCount, graph.drawn.length, graph.nodes]).toEqual(['edges', 3, 2, [1, 2, 3]]);
    expect(graph.degree.get(2)).toBe(3);
  });

  test('has hulls only when they do not overlap', () => {
    const isClear = (...members: number[][]) =>
      hullsAreClear(graphOf(members.map((list, id) => found({ id, ts: id, members: list }))));
    expect(isClear([1, 2, 3], [3, 4, 5], [5, 6, 1])).toBe(true);
    // Many shapes with few nodes.
    const triples = [0, 1, 2, 3, 4].flatMap((a) => [0, 1, 2, 3, 4].flatMap((b) => (a < b ? [[a, b, 5]] : [])));
    expect(isClear(...triples)).toBe(false);
    // Many shapes without common nodes.
    const apart = (count: number) => Array.from({ length: count }, (_, at) => [3 * at, 3 * at + 1, 3 * at + 2]);
    expect([isClear(...apart(20)), isClear(...apart(21))]).toEqual([true, false]);
    // All shapes around one node.
    expect(isClear(...Array.from({ length: 9 }, (_, at) => [0, 2 * at + 1, 2 * at + 2]))).toBe(false);
    expect(isClear(...Array.from({ length: 100 }, (_, at) => [at, at + 1]))).toBe(true);
  });

  test('switches to time ranges when there are too many edges', () => {
    const edges = Array.from({ length: MOST_DRAWN + 1 }, (_, id) => found({ id, ts: id, members: [id, id + 1] }));
    const graph = graphOf(edges);
    expect(graph.kind).toBe('buckets');
    expect(graph.drawn.length).toBe(24);
    expect(graph.drawn.reduce((sum, { edges: behind }) => sum + behind.length, 0)).toBe(edges.length);
    expect(graph.nodes.length + graph.nodesLeftOut).toBe(MOST_DRAWN + 2);
    expect(graph.drawn.every(({ members }) => members.every((node) => graph.nodes.includes(node)))).toBe(true);
  });
});

const WIDE = 30;

/** Returns the input of the layout for edges with these members. */
function input(...members: number[][]) {
  return {
    nodes: [...new Set(members.flat())],
    edges: members.map((list) => ({ key: list.join(' '), members: list })),
    before: new Map<number, Point>(),
    halfWidth: () => WIDE,
    aspect: 1.25,
  };
}

describe('the layout', () => {
  const some = input([1, 2, 3], [3, 4], [5, 6]);

  test('is deterministic, and places members nearer than other nodes', () => {
    const { nodes, edges } = layOut(some);
    expect(layOut(some)).toEqual({ nodes, edges });
    const distance = (a: number, b: number) =>
      Math.hypot(nodes.get(a)!.x - nodes.get(b)!.x, nodes.get(a)!.y - nodes.get(b)!.y);
    expect(distance(5, 6)).toBeLessThan(distance(5, 1));
    expect(distance(3, 4)).toBeLessThan(distance(3, 5));
    expect([...edges.keys()]).toEqual(expect.arrayContaining(['1 2 3', '3 4', '5 6']));
  });

  test('places no node over another node or a name', () => {
    const groups = Array.from({ length: 40 }, (_, at) => [at % 30, (at * 7 + 1) % 30, (at * 11 + 2) % 30]);
    const points = [...layOut(input(...groups.map((list) => [...new Set(list)]))).nodes.values()];
    expect(points.length).toBe(30);
    const clashes = points.flatMap((a, at) =>
      points.slice(at + 1).filter((b) => Math.abs(a.x - b.x) < 2 * WIDE - 1 && Math.abs(a.y - b.y) < 30),
    );
    expect(clashes).toEqual([]);
  });

  test('places nodes that are alone in their edges side by side', () => {
    const points = [...layOut(input([1], [2], [3], [4, 5])).nodes.values()];
    const clashes = points.flatMap((a, at) =>
      points.slice(at + 1).filter((b) => Math.abs(a.x - b.x) < 2 * WIDE && Math.abs(a.y - b.y) < 30),
    );
    expect(clashes).toEqual([]);
  });

  test('keeps nodes in place when others are added', () => {
    const before = layOut(some).nodes;
    const after = layOut({ ...input([1, 2, 3], [3, 4], [5, 6], [4, 7, 8]), before }).nodes;
    for (const node of [1, 2, 3, 5, 6]) {
      const [old, now] = [before.get(node)!, after.get(node)!];
      expect(Math.hypot(old.x - now.x, old.y - now.y)).toBeLessThan(2 * WIDE);
    }
    expect(after.has(8)).toBe(true);
  });

  test('handles nodes at the same position, and no nodes at all', () => {
    const before = new Map(some.nodes.map((node) => [node, { x: 0, y: 0 }]));
    for (const { x, y } of layOut({ ...some, before }).nodes.values()) expect(Number.isFinite(x + y)).toBe(true);
    expect(layOut(input()).nodes.size).toBe(0);
  });
});

describe('a hull', () => {
  test('ignores points inside it', () => {
    const corners = [
      { x: 0, y: 0 },
      { x: 4, y: 0 },
      { x: 4, y: 4 },
      { x: 0, y: 4 },
    ];
    expect(new Set(hullOf([...corners, { x: 2, y: 2 }, { x: 2, y: 0 }]))).toEqual(new Set(corners));
    expect(hullOf([{ x: 1, y: 1 }])).toEqual([{ x: 1, y: 1 }]);
  });

  test('has a margin around one, two and three members', () => {
    const [a, b, c] = [
      { x: 0, y: 0 },
      { x: 100, y: 0 },
      { x: 0, y: 100 },
    ];
    for (const points of [[a], [a, b], [a, b, c]]) {
      const places = [...outlineOf(points, 10).matchAll(/[ML](-?[\d.]+) (-?[\d.]+)/g)];
      const xs = places.map(([, x]) => Number(x));
      expect(Math.min(...xs), `${points.length} points`).toBeLessThanOrEqual(0);
      for (const [, x, y] of places) {
        const nearest = Math.min(...points.map((point) => Math.hypot(point.x - Number(x), point.y - Number(y))));
        expect(nearest).toBeCloseTo(10, 0);
      }
    }
    expect(outlineOf([], 10)).toBe('');
  });

  test('differs in colour from hulls that share its nodes, and does not exist for a pair', () => {
    const edge = (...members: number[]): DrawnEdge => ({
      key: members.join(' '),
      members,
      roles: undefined,
      edges: [],
    });
    const hues = huesOf([edge(1, 2, 3), edge(3, 4, 5), edge(5, 6, 1), edge(1, 2)]);
    expect(new Set(hues.values()).size).toBe(3);
    expect(hues.has('1 2')).toBe(false);
  });
});
