// Compares searches in the tree of the ends of intervals with a naive filter, in every build, and
// checks that the deep check finds each changed entry.

import { describe, expect, it } from 'vitest';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { type Column, concat, type Edge, edgeOf, naiveRecord, SAFE, type Value } from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';
import { type BuiltSegment, buildSegment } from './support/segments.ts';

const END = 3;
const COLUMNS: readonly Column[] = [
  { id: 0, name: 'weight', type: 'REAL', indexed: true, byDefault: null },
  { id: END, name: 'end_ts', type: 'INTEGER', indexed: false, ends: true, byDefault: null },
  { id: 4, name: 'count', type: 'INTEGER', indexed: true, byDefault: 5 },
];
const INTERVAL = 18;

/** Kinds of lengths: short and long, none, all equal. */
const LENGTHS: readonly ((random: Random) => number | null)[] = [
  (random) => random.below(20),
  (random) => Math.floor(2 ** (random.unit() * 30)),
  (random) => (random.below(5) === 0 ? null : random.below(1000)),
  (random) => (random.below(400) === 0 ? 100_000 : 0),
  () => 0,
];

function edgesOf(rows: number, length: (random: Random) => number | null, random: Random): Edge[] {
  let time = random.below(1000) - 500;
  return Array.from({ length: rows }, (_, row) => {
    time += random.below(4);
    const long = length(random);
    const properties: Record<number, Value> = {};
    if (long !== null) properties[END] = time + long;
    // An explicit null means the same as no value.
    else if (random.below(2) === 0) properties[END] = null;
    return edgeOf(time, row + 1, [random.below(9)], properties);
  });
}

function endOf({ properties }: Edge): number {
  return (properties.get(END) as number | null | undefined) ?? Number.POSITIVE_INFINITY;
}

/** Returns the offset and the size of a section in a file, or 0 for both. */
function sectionOf(core: Instance, built: BuiltSegment, kind: number): [offset: number, bytes: number] {
  const offset = core.x.hg_segment_section(built.file, kind, END) >>> 0;
  return [offset, core.x.hg_result_rows() >>> 0];
}

/** Gives a changed file right checksums; returns the status of its deep check, and the offset. */
function checkResealed(core: Instance, file: Uint8Array<ArrayBuffer>): [status: number, offset: number] {
  const at = core.put(file);
  const view = new DataView(core.core.memory.bytes.buffer, at, file.length);
  const sections = view.getUint32(20, true);
  for (let i = 0; i < sections; i++) {
    const entry = 128 + i * 24;
    const sum = core.x.hg_crc32c(at + view.getUint32(entry + 8, true), view.getUint32(entry + 12, true), 0);
    view.setUint32(entry + 16, sum, true);
  }
  view.setUint32(12, core.x.hg_crc32c(at + 16, 112 + sections * 24, core.x.hg_crc32c(at, 12, 0)), true);
  const status = core.x.hg_segment_check(at, file.length, 1);
  return [status, core.offset];
}

function memtableOf(core: Instance, edges: readonly Edge[]): number {
  const memtable = core.x.hg_memtable_new(60, 0) >>> 0;
  const bytes = concat(edges.map((edge) => naiveRecord(edge, COLUMNS)));
  const at = core.x.hg_memtable_reserve(memtable, bytes.length, edges.length) >>> 0;
  core.core.memory.write(at, bytes);
  expect(core.x.hg_memtable_append(memtable, at, edges.length, 1)).toBe(0);
  return memtable;
}

describe.each(BUILDS)('the tree of the ends of intervals, %s build', (build) => {
  it('finds the rows that a naive filter finds, and is checked', () => {
    for (const rows of [1, 2, 15, 16, 17, 255, 256, 257, 4096, 4097, 20_000]) {
      const random = randomFrom(rows);
      for (const length of LENGTHS) {
        const core = new Instance(build);
        const edges = edgesOf(rows, length, random);
        const built = buildSegment(core, edges, COLUMNS, 60);
        const ends = edges.map(endOf);
        const greatest = Math.max(...ends);
        const [, bytes] = sectionOf(core, built, INTERVAL);
        const isOpen = ends.every((end) => end === Number.POSITIVE_INFINITY);
        expect(bytes === 0).toBe(isOpen);
        expect(core.x.hg_segment_field(built.file, 0)).toBe(isOpen ? 1 : 2);
        const distance = core.x.hg_segment_field(built.file, 19);
        if (!isOpen) {
          expect(distance).toBeGreaterThanOrEqual(greatest - edges.at(-1)!.time);
          expect(distance).toBe(distance === Number.POSITIVE_INFINITY ? distance : Math.fround(distance));
        }
        const out = core.alloc(rows * 4);
        for (let i = 0; i < 12; i++) {
          const from = i === 0 ? 0 : random.below(rows);
          const to = i === 0 ? rows : from + random.below(rows - from + 1);
          const near = edges[random.below(rows)]!;
          const time = [near.time, endOf(near), near.time + random.below(100), -SAFE, SAFE][random.below(5)]!;
          const found = core.x.hg_segment_stab(built.handle, END, time, from, to, out) >>> 0;
          const expected = edges.flatMap((_, row) =>
            row >= from && row < to && ends[row]! > Math.min(time, SAFE + 1) ? [row] : [],
          );
          expect(core.words(out, found), `${rows} rows, [${from}, ${to}) at ${time}`).toEqual(expected);
        }
      }
    }
  });

  it('is refused by the deep check if an entry, or the greatest end in the header, is another', () => {
    const random = randomFrom(3);
    const core = new Instance(build);
    const built = buildSegment(core, edgesOf(600, LENGTHS[1]!, random), COLUMNS, 60);
    const [offset, bytes] = sectionOf(core, built, INTERVAL);
    expect(bytes).toBe((38 + 3 + 1) * 8);
    for (let at = offset; at < offset + bytes; at += 8) {
      const file = core.bytes(built.file, built.bytes);
      new DataView(file.buffer).setBigInt64(at, new DataView(file.buffer).getBigInt64(at, true) + 1n, true);
      expect(checkResealed(core, file)).toEqual([STATUS.corrupt, offset]);
    }
    const file = core.bytes(built.file, built.bytes);
    new DataView(file.buffer).setFloat32(124, 1, true);
    expect(checkResealed(core, file)).toEqual([STATUS.corrupt, offset]);
    const older = core.bytes(built.file, built.bytes);
    new DataView(older.buffer).setUint32(8, 1, true);
    expect(checkResealed(core, older)).toEqual([STATUS.corrupt, offset]);
    expect(checkResealed(core, core.bytes(built.file, built.bytes))[0]).toBe(0);
  });

  it('tells the greatest end of the rows of a memtable from a row on', () => {
    const core = new Instance(build);
    const random = randomFrom(8);
    const edges = edgesOf(200, LENGTHS[1]!, random);
    const handle = memtableOf(core, edges);
    for (const from of [0, 1, 100, 199])
      expect(core.x.hg_memtable_greatest(handle, END, from)).toBe(Math.max(...edges.slice(from).map(endOf)));
    expect(core.x.hg_memtable_greatest(handle, END, 200)).toBe(Number.NEGATIVE_INFINITY);
    expect(core.x.hg_memtable_greatest(handle, 77, 0)).toBe(Number.POSITIVE_INFINITY);
  });
});
