import { describe, expect, test } from 'vitest';
import { edgesOf, graphOf, MOST_DRAWN } from '../../src/console/graph/graph-model.ts';
import { hullOf, layOut } from '../../src/console/graph/layout.ts';

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

  test('draws equal member sets once, and an edge that comes twice as one', () => {
    const edge = (id: number, members: number[]) => ({ id, ts: id, members });
    const graph = graphOf([edge(1, [1, 2]), edge(2, [1, 2]), edge(3, [2, 3]), edge(3, [2, 3])]);
    expect([graph.kind, graph.edgeCount, graph.drawn.length, graph.nodes]).toEqual(['edges', 3, 2, [1, 2, 3]]);
    expect(graph.degree.get(2)).toBe(3);
  });

  test('goes over to stretches of time when there are too many', () => {
    const edges = Array.from({ length: MOST_DRAWN + 1 }, (_, id) => ({ id, ts: id, members: [id, id + 1] }));
    const graph = graphOf(edges);
    expect(graph.kind).toBe('buckets');
    expect(graph.drawn.length).toBe(24);
    expect(graph.drawn.reduce((sum, { edges: behind }) => sum + behind.length, 0)).toBe(edges.length);
    expect(graph.nodes.length + graph.nodesLeftOut).toBe(MOST_DRAWN + 2);
    expect(graph.drawn.every(({ members }) => members.every((node) => graph.nodes.includes(node)))).toBe(true);
  });
});

describe('the layout', () => {
  const input = { nodes: [1, 2, 3, 4, 5], edges: [{ members: [1, 2, 3] }, { members: [4, 5] }], before: new Map() };

  test('is the same every time, and puts members nearer than others', () => {
    const points = layOut(input);
    expect(layOut(input)).toEqual(points);
    const distance = (a: number, b: number) =>
      Math.hypot(points.get(a)!.x - points.get(b)!.x, points.get(a)!.y - points.get(b)!.y);
    expect(distance(4, 5)).toBeLessThan(distance(4, 1));
    expect(distance(1, 2)).toBeGreaterThan(10);
  });

  test('bears nodes in one place, and none at all', () => {
    const before = new Map(input.nodes.map((node) => [node, { x: 0, y: 0 }]));
    for (const { x, y } of layOut({ ...input, before }).values()) expect(Number.isFinite(x + y)).toBe(true);
    expect(layOut({ nodes: [], edges: [], before: new Map() }).size).toBe(0);
  });

  test('hulls leave out what lies within', () => {
    const corners = [
      { x: 0, y: 0 },
      { x: 4, y: 0 },
      { x: 4, y: 4 },
      { x: 0, y: 4 },
    ];
    expect(new Set(hullOf([...corners, { x: 2, y: 2 }, { x: 2, y: 0 }]))).toEqual(new Set(corners));
    expect(hullOf([{ x: 1, y: 1 }])).toEqual([{ x: 1, y: 1 }]);
  });
});
