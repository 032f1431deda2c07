import { describe, expect, test } from 'vitest';
import { DrawnNodes } from '../../src/console/graph/drawn-nodes.ts';
import { edgesOf } from '../../src/console/graph/found-edges.ts';
import { graphOf } from '../../src/console/graph/graph-model.ts';
import { layOut } from '../../src/console/graph/layout.ts';
import {
  dotAt,
  headAt,
  lineBetween,
  loopAt,
  markOf,
  markPlaces,
  onTheWay,
  spokeOf,
} from '../../src/console/graph/role-lines.ts';
import { membersWithRoles, rolesIn, spanText, whenText } from '../../src/console/graph/role-words.ts';

const ROLES = ['sender', 'recipient'];

describe('the roles of members', () => {
  test('are read from rows, from objects in cells and from columns', () => {
    const nodes = new DrawnNodes();
    const lists = { sender: ['Ada'], recipient: ['Grace', 'Ada'] };
    const edge = { id: 1, event_ts: 5, members: ['Ada', 'Grace', 'Alan'] };
    const found = edgesOf(
      [
        { ...edge, roles: lists },
        { e: { ...edge, roles: lists } },
        { ...edge, ...lists },
        { 'a.id': 1, 'a.members': edge.members, 'a.sender': lists.sender, 'a.recipient': lists.recipient },
        { ...edge, members: [{ kind: 'Person', key: 'Ada' }], sender: [{ kind: 'Person', key: 'Ada' }] },
      ],
      nodes,
      ROLES,
    );
    expect(found.map(({ roles }) => roles)).toEqual([...Array(4).fill([3, 2, 0]), [1]]);
  });

  test('are undefined if no member has one, the result lacks them or they are no lists of members', () => {
    const rows = [
      { id: 1, event_ts: 5, members: [1, 2], sender: [], recipient: [] },
      { id: 1, event_ts: 5, members: [1, 2] },
      { id: 1, event_ts: 5, members: [1, 2], sender: 'Ada', recipient: [7, null] },
      { id: 1, event_ts: 5, members: [1, 2], roles: ['sender'] },
    ];
    expect(edgesOf(rows, undefined, ROLES).map(({ roles }) => roles)).toEqual(Array(4).fill(undefined));
    const odd = [{ id: 1, event_ts: 5, members: [1], roles: {}, constructor: [1] }];
    expect(edgesOf(odd, undefined, ['constructor'])[0]!.roles).toEqual([1]);
    expect(edgesOf([{ id: 1, event_ts: 5, members: [1], sender: [1] }])[0]!.roles).toBe(undefined);
  });

  test('tell shapes with equal members apart', () => {
    const edge = (id: number, roles: number[] | undefined) => ({ id, ts: id, end: undefined, members: [1, 2], roles });
    const { drawn, nodes } = graphOf([edge(1, [1, 2]), edge(2, [2, 1]), edge(3, [1, 2]), edge(4, undefined)]);
    expect(drawn.map(({ roles, edges }) => [roles, edges.map(({ id }) => id)])).toEqual([
      [
        [1, 2],
        [1, 3],
      ],
      [[2, 1], [2]],
      [undefined, [4]],
    ]);
    const { edges } = layOut({ nodes, edges: drawn, before: new Map(), halfWidth: () => 10, aspect: 1 });
    const middles = drawn.map(({ key }) => edges.get(key)!);
    expect(Math.hypot(middles[0]!.x - middles[1]!.x, middles[0]!.y - middles[1]!.y)).toBeGreaterThan(5);
  });

  test('are written beside the names of members', () => {
    const names = new Map([
      [1, 'Ada'],
      [2, 'Grace'],
    ]);
    expect(rolesIn(5, ['host', 'speaker', 'guest'])).toEqual(['host', 'guest']);
    expect(membersWithRoles({ members: [1, 2], roles: [3, 0] }, names, ROLES)).toBe('Ada (sender, recipient) · Grace');
    expect(membersWithRoles({ members: [1, 2], roles: undefined }, names, ROLES)).toBe('Ada · Grace');
    expect(membersWithRoles({ members: [7, 8, 9], roles: [1, 2, 0] }, new Map(), ROLES, 2)).toBe(
      '7 (sender), 8 (recipient) and 1 more',
    );
  });
});

describe('the lines of roles', () => {
  const [a, b] = [
    { x: 0, y: 0 },
    { x: 100, y: 0 },
  ];
  const numbersIn = (path: string) => path.match(/-?\d+\.\d/g)!.map(Number);

  test('end outside the nodes, and bend to one side of their direction', () => {
    const there = lineBetween(a, b, [10, 20], 1);
    expect(Math.hypot(there.start.x, there.start.y)).toBeCloseTo(12);
    expect(Math.hypot(there.end.x - 100, there.end.y)).toBeCloseTo(22);
    expect(numbersIn(there.path)).toHaveLength(6);
    // y points down, so the right of the direction from a to b is below.
    expect([there.towardsEnd.y, lineBetween(a, b, [10, 20], 0).towardsEnd.y]).toEqual([16, 0]);
    expect(lineBetween(b, a, [20, 10], 1).towardsEnd.y).toBe(-16);
    for (const one of numbersIn(lineBetween(a, a, [10, 10], 1).path)) expect(Number.isFinite(one)).toBe(true);
  });

  test('have heads with the tip at the node, and dots beside it', () => {
    const corners = numbersIn(headAt({ x: 80, y: 0 }, a));
    expect(corners.slice(0, 2)).toEqual([80, 0]);
    expect([corners[2], corners[4]]).toEqual([71, 71]);
    expect(corners[3]).toBe(-corners[5]!);
    expect(dotAt({ x: 80, y: 0 }, a, false).x).toBe(78);
    expect(dotAt({ x: 80, y: 0 }, a, true).x).toBe(68);
  });

  test('lead to the middle of an edge, and from a node that is alone to itself', () => {
    const spoke = spokeOf(a, 10, b);
    expect([spoke.start, spoke.end]).toEqual([{ x: 12, y: 0 }, b]);
    const loop = loopAt(a, 10);
    for (const point of [loop.start, loop.end]) expect(Math.hypot(point.x, point.y)).toBeCloseTo(12);
    expect(loop.start.x).toBe(-loop.end.x);
    expect(loop.towardsEnd.y).toBeLessThan(loop.end.y);
  });

  test('have marks side by side, beyond the name of a node', () => {
    expect(markPlaces(a, 10, b, 3).map(({ x }) => x)).toEqual([16, 27, 38]);
    expect(markPlaces(a, 10, { x: 0, y: 100 }, 1)).toEqual([{ x: 0, y: 32 }]);
    expect(onTheWay(a, a, 10).x).toBeCloseTo(Math.SQRT1_2 * 10);
    const looks = Array.from({ length: 16 }, (_, bit) => {
      const { path, look } = markOf(bit, a);
      return `${path} ${look}`;
    });
    expect(new Set(looks).size).toBe(16);
  });
});

describe('the time of an edge', () => {
  const at = (ts: number | undefined, end: number | null | undefined) => ({ ts, end });

  test('is a moment, or from its beginning to its end', () => {
    expect(spanText(at(0, undefined))).toBe('1970-01-01 00:00:00');
    expect(spanText(at(0, 60))).toBe('1970-01-01 00:00:00 – 1970-01-01 00:01:00');
    expect(spanText(at(0, null))).toBe('1970-01-01 00:00:00 – still holds');
    expect(spanText(at(undefined, undefined))).toBe('');
  });

  test('of several edges reaches from the first beginning to the last end', () => {
    const day = 86_400;
    const whenOf = (...edges: ReturnType<typeof at>[]) => whenText({ edges });
    expect(whenOf(at(0, undefined))).toBe('1 edge, 1970-01-01 00:00:00');
    expect(whenOf(at(day, undefined), at(0, undefined))).toBe('2 edges, 1970-01-01 to 1970-01-02');
    expect(whenOf(at(5, undefined), at(5, undefined))).toBe('2 edges, 1970-01-01 00:00:05');
    expect(whenOf(at(0, 5))).toBe('1 edge, 1970-01-01 00:00:00 – 1970-01-01 00:00:05');
    expect(whenOf(at(day, 3 * day), at(0, day))).toBe('2 edges, 1970-01-01 – 1970-01-04');
    expect(whenOf(at(day, 3 * day), at(0, null))).toBe('2 edges, 1970-01-01 – still holds');
    expect(whenOf(at(undefined, undefined))).toBe('1 edge');
  });

  test('is read from rows with ends', () => {
    const rows = [5, null, undefined].map((end) => ({ id: 1, event_ts: 2, end_ts: end as null, members: [1] }));
    expect(edgesOf(rows).map(({ end }) => end)).toEqual([5, null, undefined]);
  });
});
