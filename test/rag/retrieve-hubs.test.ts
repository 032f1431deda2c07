// Tests retrieval for hubs, which are nodes in very many edges. Retrieval must find the same edges
// as a scan of all rows, but must read only a small part of the rows.

import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Table } from '../../src/engine/index.ts';
import { EdgeReader } from '../../src/rag/retrieval/edge-rows.ts';
import { Random } from '../support/random.ts';
import { openSim, simDisk } from '../support/sim-engine.ts';
import { naiveRetrieval, type PlainRow, type Wish } from './naive-retrieval.ts';
import { FIRST_TS, insert, retrieved } from './retrieval-world.ts';

const ROWS = 24_000;
const HUBS = 14;
const NOTHING: Wish = { nodes: [], filters: [], top: null, order: 'score', keywords: [] };

describe('retrieval of hubs', () => {
  let table: Table;
  let rows: PlainRow[];
  /** The number of nodes in each lookup. */
  let looks: number[];
  /** The total number of rows read. */
  let read: number;

  beforeAll(async () => {
    const random = new Random(6);
    const database = await openSim(simDisk(6), { core: 'release', segmentRows: 4000 });
    await database.createTable({ name: 'Hubs', bucketSeconds: 500 });
    table = database.table('Hubs');
    const edges = Array.from({ length: ROWS }, (_, index) => ({
      event_ts: FIRST_TS + index * 2 + random.below(3),
      members: Array.from({ length: 1 + random.below(6) }, () => Math.min(random.below(HUBS), random.below(60))),
      properties: random.chance(0.2) ? { weight: random.below(40) / 10 } : {},
    }));
    await insert(table, edges.slice(0, ROWS - 2000));
    await database.compact();
    await insert(table, edges.slice(ROWS - 2000));
    rows = edges.map(({ event_ts, members, properties }, index) => ({
      id: index + 1,
      event_ts,
      members: [...new Set(members)].sort((a, b) => a - b),
      weight: properties.weight ?? null,
    }));
  });

  afterEach(() => vi.restoreAllMocks());

  function watch(): void {
    looks = [];
    read = 0;
    const readKeys = EdgeReader.prototype.readKeys;
    vi.spyOn(EdgeReader.prototype, 'readKeys').mockImplementation(function* (this: EdgeReader, bounds) {
      looks.push(bounds.nodes?.length ?? 0);
      for (const found of readKeys.call(this, bounds)) {
        read += found?.rows ?? 0;
        yield found;
      }
    });
  }

  it.each<[string, Partial<Wish>]>([
    ['node 3', { nodes: [3] }],
    ['nodes 3, 4', { nodes: [3, 4] }],
    ['nodes 1, 2, 3, 4, 5, 6', { nodes: [1, 2, 3, 4, 5, 6] }],
    ['nodes 12, 2, 3, 4, 5, 6, 7, 8, 9, 10', { nodes: [2, 3, 4, 5, 6, 7, 8, 9, 10, 12] }],
    ['nodes 1, 2, 3, 4, 5, 6 and weight > 2', { nodes: [1, 2, 3, 4, 5, 6], filters: [weightAbove(2)] }],
    ['oldest nodes 1, 2, 3, 4, 5, 6', { nodes: [1, 2, 3, 4, 5, 6], order: 'oldest' }],
    ['nodes 1, 2, 3, 99', { nodes: [1, 2, 3, 99] }],
  ])('finds the same edges as a scan of all rows for "%s"', (text, wish) => {
    for (const topK of [1, 7, 40, 900]) {
      watch();
      const found = retrieved(table, text, { topK });
      const wanted = naiveRetrieval(rows, { ...NOTHING, ...wish }, topK);
      expect(found.edges.map(({ edge_id }) => edge_id)).toEqual(wanted.ids);
      expect(found.truncated).toBe(wanted.truncated);
      expect(found.edges.map(({ members }) => members)).toEqual(wanted.ids.map((id) => rows[id - 1]!.members));
      vi.restoreAllMocks();
    }
  });

  it('looks up pairs of nodes and reads less than half of the rows', () => {
    watch();
    const { edges } = retrieved(table, 'nodes 1, 2, 3, 4, 5, 6', { topK: 20 });
    expect(edges.length).toBe(20);
    expect(looks).toContain(2);
    expect(read).toBeLessThan(ROWS / 2);
  });
});

function weightAbove(value: number): Wish['filters'][number] {
  return { column: 'weight', op: '>', value };
}
