// Compares merges, row lists, tombstone reconciliation and filter directories, in every build, with
// naive JavaScript.

import { describe, expect, it } from 'vitest';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { compareEdges, concat, type Edge, edgeOf, naiveRecord, SAFE } from './support/model.ts';
import { ascending, randomFrom } from './support/random.ts';
import { buildSegment } from './support/segments.ts';

interface PlacedRun {
  pointer: number;
  bytes: number;
  /** Each record's edge and address. */
  records: { edge: Edge; address: number }[];
}

function placeRun(core: Instance, edges: Edge[]): PlacedRun {
  const pieces = edges.map((edge) => naiveRecord(edge));
  const pointer = core.put(concat(pieces));
  let at = pointer;
  const records = edges.map((edge, index) => {
    const address = at;
    at += pieces[index]!.length;
    return { edge, address };
  });
  return { pointer, bytes: at - pointer, records };
}

function merge(core: Instance, runs: readonly PlacedRun[], capacity: number): { status: number; addresses: number[] } {
  const list = core.putWords(runs.length > 0 ? runs.flatMap((run) => [run.pointer, run.bytes]) : [0]);
  const out = core.alloc(capacity * 4 + 4);
  const status = core.x.hg_records_merge(list, runs.length, out, capacity);
  return { status, addresses: core.words(out, Math.max(0, status)) };
}

describe.each(BUILDS)('the core, %s build', (build) => {
  it("merges any number of sorted runs; among equal keys the earlier run's record is first", () => {
    const core = new Instance(build);
    const random = randomFrom(1);
    for (const k of [0, 1, 2, 3, 7, 64, 1024]) {
      core.x.hg_memory_reset();
      const runs = Array.from({ length: k }, () => {
        const edges = Array.from({ length: random.below(k > 64 ? 4 : 40) }, () =>
          edgeOf(random.below(30) - 15, random.below(20), [random.below(9)]),
        );
        return placeRun(core, edges.sort(compareEdges));
      });
      const expected = runs
        .flatMap((run, number) => run.records.map((record, place) => ({ ...record, number, place })))
        .sort((a, b) => compareEdges(a.edge, b.edge) || a.number - b.number || a.place - b.place)
        .map((record) => record.address);
      expect(merge(core, runs, expected.length)).toEqual({ status: expected.length, addresses: expected });
      if (expected.length > 0) expect(merge(core, runs, expected.length - 1).status).toBe(STATUS.badArgument);
    }
    expect(core.x.hg_records_merge(0, 2 ** 20 + 1, 0, 0)).toBe(STATUS.badArgument);
  });

  it('merges runs up to a key and leaves the rest of each run', () => {
    const core = new Instance(build);
    const random = randomFrom(11);
    const runs = Array.from({ length: 1200 }, () => {
      const edges = Array.from({ length: random.below(4) }, () => edgeOf(random.below(30), random.below(2 ** 30), [1]));
      return placeRun(core, edges.sort(compareEdges));
    });
    const whole = merge(core, runs, 10_000).addresses;
    const list = core.putWords(runs.flatMap((run) => [run.pointer, run.bytes]));
    const out = core.alloc(40_000);
    const stop = runs.flatMap((run) => run.records).find((record) => record.address === whole[500])!.edge;
    const steps: [number, number][] = [
      [-Infinity, 0],
      [stop.time, stop.id],
      [stop.time, stop.id],
      [25, -Infinity],
      [Infinity, Infinity],
    ];
    const merged: number[][] = [];
    for (const [time, id] of steps) {
      const count = core.x.hg_records_merge_until(list, runs.length, time, id, out, 10_000);
      merged.push(core.words(out, count));
    }
    expect(merged[0]).toEqual([]);
    expect(merged[1]).toEqual(whole.slice(0, 500));
    expect(merged[2]).toEqual([]);
    expect(merged.flat()).toEqual(whole);
    expect(core.x.hg_records_merge_until(list, runs.length, Infinity, Infinity, out, 0)).toBe(0);
  });

  it('intersects, unites and subtracts row lists', () => {
    const core = new Instance(build);
    const random = randomFrom(2);
    for (let i = 0; i < 200; i++) {
      core.x.hg_memory_reset();
      const span = [40, 1000, 65_536][i % 3]!;
      const a = ascending(random, random.below(i % 5 === 0 ? 3000 : 50), span);
      const b = ascending(random, random.below(i % 7 === 0 ? 3000 : 50), span);
      const [at, bt] = [core.putWords([...a, 0]), core.putWords([...b, 0])];
      const run = (call: (out: number) => number) => {
        const out = core.alloc((a.length + b.length) * 4 + 32);
        return core.words(out, call(out) >>> 0);
      };
      const inB = new Set(b);
      expect(run((out) => core.x.hg_rows_intersect(at, a.length, bt, b.length, out))).toEqual(
        a.filter((row) => inB.has(row)),
      );
      expect(run((out) => core.x.hg_rows_difference(at, a.length, bt, b.length, out))).toEqual(
        a.filter((row) => !inB.has(row)),
      );
      const both = [...new Set([...a, ...b])].sort((x, y) => x - y);
      expect(run((out) => core.x.hg_rows_union(at, a.length, bt, b.length, out))).toEqual(both);
    }
    const out = core.alloc(40);
    core.x.hg_rows_range(5, 9, out);
    expect(core.words(out, 4)).toEqual([5, 6, 7, 8]);
  });

  it('removes from a row list the rows that were dead at an LSN', () => {
    const core = new Instance(build);
    const random = randomFrom(3);
    for (let i = 0; i < 200; i++) {
      core.x.hg_memory_reset();
      const rows = ascending(random, random.below(200), 400);
      const dead = ascending(random, random.below(i % 4 === 0 ? 300 : 10), 400);
      const deaths = dead.map(() => random.below(50));
      const lsn = [random.below(50), Number.POSITIVE_INFINITY, -1][i % 3]!;
      const withLsns = i % 5 !== 0;
      const gone = new Set(dead.filter((_, index) => !withLsns || deaths[index]! <= lsn));
      const list = core.putWords([...rows, 0]);
      const kept = core.x.hg_rows_reconcile(
        list,
        rows.length,
        core.putWords([...dead, 0]),
        withLsns ? core.putNumbers([...deaths, 0]) : 0,
        dead.length,
        lsn,
      );
      expect(core.words(list, kept)).toEqual(rows.filter((row) => !gone.has(row)));
    }
  });

  it('probes a directory of filters without false negatives', () => {
    const core = new Instance(build);
    const random = randomFrom(4);
    const node = () => [random.below(4000), -random.below(4000), SAFE - random.below(50)][random.below(3)]!;
    const segments = Array.from({ length: 12 }, () =>
      Array.from({ length: 50 }, (_, row) => edgeOf(row, row, [node(), node(), node()])),
    );
    const directory = segments.map((edges) => {
      const built = buildSegment(core, edges, [], 10);
      const offset = core.x.hg_segment_section(built.file, 9, 0) >>> 0;
      return {
        pointer: built.file + offset,
        bytes: core.rows,
        min: core.x.hg_segment_field(built.file, 11),
        max: core.x.hg_segment_field(built.file, 12),
      };
    });
    const entries = new DataView(new ArrayBuffer(24 * directory.length));
    for (const [index, entry] of directory.entries()) {
      entries.setUint32(index * 24, entry.pointer, true);
      entries.setUint32(index * 24 + 4, entry.bytes, true);
      entries.setBigInt64(index * 24 + 8, BigInt(entry.min), true);
      entries.setBigInt64(index * 24 + 16, BigInt(entry.max), true);
    }
    const at = core.put(new Uint8Array(entries.buffer));
    const out = core.alloc(directory.length * 4);
    let admitted = 0;
    let wrong = 0;
    for (let i = 0; i < 400; i++) {
      const nodes = Array.from({ length: 1 + random.below(3) }, node);
      const found = core.words(
        out,
        core.x.hg_filters_probe(at, directory.length, core.putNumbers(nodes), nodes.length, out),
      );
      const holders = segments.flatMap((edges, index) => {
        const held = new Set(edges.flatMap((edge) => edge.members));
        return nodes.every((one) => held.has(one)) ? [index] : [];
      });
      expect(holders.filter((index) => !found.includes(index))).toEqual([]);
      expect(found).toEqual([...found].sort((a, b) => a - b));
      admitted += directory.length - holders.length;
      wrong += found.length - holders.length;
    }
    expect(wrong / admitted).toBeLessThan(0.02);
    for (const none of [0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(core.x.hg_filters_probe(at, directory.length, core.putNumbers([none]), 1, out)).toBe(0);
    }
  });
});
