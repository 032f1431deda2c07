// Tests the lookups ("ways") in the node index: together they must find every edge that contains
// enough of the nodes.

import { describe, expect, it } from 'vitest';
import { waysTo } from '../../src/rag/retrieval/ways.ts';
import { Random } from '../support/random.ts';

describe('the lookups for edges with at least k of n nodes', () => {
  it.each([1, 2, 3, 5, 8, 12, 40])('find every such edge for each k from 1 to n, if n is %i', (count) => {
    const random = new Random(count);
    const nodes = Array.from({ length: count }, (_, node) => node * 3);
    for (let least = 1; least <= count; least++) {
      for (const rows of [0, 1_000_000]) {
        const ways = waysTo(nodes, least, rows);
        expect(ways.length).toBeLessThanOrEqual(190);
        for (let round = 0; round < 20; round++) {
          const members = new Set(nodes);
          while (members.size > least) members.delete(nodes[random.below(count)]!);
          expect(ways.some((way) => way.every((node) => members.has(node)))).toBe(true);
        }
      }
    }
  });

  it('are for pairs of the rarest nodes if fewer rows are then read', () => {
    const nodes = [5, 1, 4, 2];
    expect(waysTo(nodes, 3, 1_000_000)).toEqual([
      [5, 1],
      [5, 4],
      [1, 4],
    ]);
    expect(waysTo(nodes, 3, 10)).toEqual([[5], [1]]);
    expect(waysTo(nodes, 4, 10)).toEqual([nodes]);
    expect(waysTo(nodes, 1, 1_000_000)).toEqual([[5], [1], [4], [2]]);
    expect(waysTo([], 1, 10)).toEqual([[]]);
  });
});
