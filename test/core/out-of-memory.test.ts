// Checks what the core does when memory cannot grow: it returns a status or 0, and everything that
// existed before stays valid.

import { describe, expect, it } from 'vitest';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { concat, edgeOf, naiveRecord, SAFE } from './support/model.ts';
import { buildSegment, placeRecords } from './support/segments.ts';

/**
 * Allocates all available memory, including every size class of the allocator's free lists. Most of
 * the memory is never written to.
 */
function exhaust(core: Instance): void {
  for (let bytes = 0xe0000000; bytes >= 1; bytes = Math.floor((bytes * 15) / 16)) {
    while (core.x.hg_memory_alloc(bytes) !== 0);
  }
}

const edges = Array.from({ length: 300 }, (_, row) => edgeOf(row * 100, row + 1, [row % 11, 50 + (row % 13)]));

describe.each(BUILDS)('the core without free memory, %s build', (build) => {
  it('refuses to build, deep-check or open a segment, but still reads one, and works again after a reset', () => {
    const core = new Instance(build);
    const built = buildSegment(core, edges, [], 60);
    const list = placeRecords(core, edges, []);
    const out = core.alloc(4096);
    const plan = core.putWords([0]);
    const rows = core.putWords([0, 1]);
    exhaust(core);
    expect(core.x.hg_segment_build(list, edges.length, 60, 1, 0, 0, 0)).toBe(STATUS.outOfMemory);
    expect(core.x.hg_segment_check(built.file, built.bytes, 1)).toBe(STATUS.outOfMemory);
    expect(core.x.hg_segment_check(built.file, built.bytes, 0)).toBe(0);
    expect(core.x.hg_segment_open(built.file)).toBe(0);
    expect(core.x.hg_segment_json(built.handle, rows, 2, plan, 0, out, 4096)).toBe(STATUS.outOfMemory);
    expect(core.x.hg_segment_records(built.handle, rows, 2, out, 4096)).toBe(STATUS.outOfMemory);
    expect(core.x.hg_records_merge(rows, 0, out, 8)).toBe(STATUS.outOfMemory);
    expect(core.x.hg_segment_find(built.handle, 500, 6)).toBe(5);
    core.x.hg_memory_reset();
    expect(buildSegment(core, edges, [], 60).bytes).toBe(built.bytes);
  });

  it('appends rows to the reserved space of a memtable, but cannot reserve more', () => {
    const core = new Instance(build);
    const memtable = core.x.hg_memtable_new(60, 0) >>> 0;
    const append = (first: number, list: typeof edges) => {
      const bytes = concat(list.map((edge) => naiveRecord(edge)));
      const at = core.x.hg_memtable_reserve(memtable, bytes.length, list.length) >>> 0;
      core.core.memory.write(at, bytes);
      return () => core.x.hg_memtable_append(memtable, at, list.length, first);
    };
    expect(append(1, edges.slice(0, 100))()).toBe(0);
    // Ascending rows, then a late row. For the late row the core needs the set of buckets, and
    // tries to build it in the middle of the append.
    const late = append(101, [...edges.slice(100, 150), edgeOf(-7000, 900, [5]), ...edges.slice(150, 160)]);
    const many = append(162, edges.slice(160).concat(edges.map((edge) => ({ ...edge, id: edge.id + 1000 }))));
    const out = core.alloc(8192);
    const nodes = core.putNumbers([5]);
    exhaust(core);
    const field = (number: number) => core.x.hg_memtable_field(memtable, number);
    expect(late()).toBe(0);
    expect(field(0)).toBe(161);
    // The set cannot be built, so the core counts how often the bucket changes from row to row.
    expect(field(2)).toBe(161);
    expect(many()).toBe(0);
    expect(field(0)).toBe(601);
    expect(core.x.hg_memtable_sort(memtable)).toBe(STATUS.outOfMemory);
    expect(core.x.hg_memtable_rows(memtable, 0, 200, SAFE, out, 2000)).toBe(150);
    expect(core.x.hg_memtable_lookup(memtable, nodes, 1, 0, 0, SAFE, SAFE, out, 2000)).toBe(STATUS.outOfMemory);
    expect(core.x.hg_memtable_nodes(memtable, out, 100)).toBe(STATUS.outOfMemory);
    expect(core.x.hg_memtable_new(60, 0)).toBe(0);
    expect(core.x.hg_memtable_reserve(memtable, 100_000, 1)).toBe(0);
    expect(core.x.hg_memtable_reserve(memtable, 1, 1_000_000)).toBe(0);
  });
});
