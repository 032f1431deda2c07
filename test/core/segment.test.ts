// Builds segments from records in every build, checks them, and compares every read with naive
// JavaScript on the same rows.

import { describe, expect, it } from 'vitest';
import { BUILDS, gatherText, Instance, STATUS } from './support/instance.ts';
import {
  COLUMNS,
  type Column,
  concat,
  type Edge,
  edgeOf,
  naiveRecord,
  planOf,
  rowText,
  SAFE,
} from './support/model.ts';
import { randomFrom } from './support/random.ts';
import { type BuiltSegment, buildFrom, buildSegment, tryBuild } from './support/segments.ts';
import { makeTables, type NamedTable } from './support/shapes.ts';

const tables = makeTables();
const lines = new Map<NamedTable, string[]>(
  tables.map((table) => [table, table.edges.map((edge) => rowText(edge, table.columns))] as const),
);

function bucketsOf(table: NamedTable, rows: readonly number[]): number {
  return new Set(rows.map((row) => Math.floor(table.edges[row]!.time / table.bucketSeconds))).size;
}

/** Returns the row numbers [from, to). */
function range(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

/** Returns keys (time, id) to seek: existing ones, their neighbours, and the extremes. */
function keysOf(edges: readonly Edge[], random: ReturnType<typeof randomFrom>): [number, number][] {
  const keys: [number, number][] = [
    [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
    [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY],
    [-SAFE, -SAFE],
    [SAFE, SAFE],
    [0, 0],
  ];
  for (let i = 0; i < 60; i++) {
    const { time, id } = edges[random.below(edges.length)]!;
    keys.push([time, id], [time, id + 1], [time, id - 1], [time + 1, Number.NEGATIVE_INFINITY], [time - 1, id]);
    keys.push([time, Number.NEGATIVE_INFINITY], [time, Number.POSITIVE_INFINITY]);
  }
  return keys;
}

function lowerBound(edges: readonly Edge[], time: number, id: number): number {
  let low = 0;
  let high = edges.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const edge = edges[middle]!;
    if (edge.time < time || (edge.time === time && edge.id < id)) low = middle + 1;
    else high = middle;
  }
  return low;
}

describe.each(BUILDS)('segments, %s build', (build) => {
  describe.each(tables)('$name', (table) => {
    const { edges, columns, bucketSeconds } = table;
    let core: Instance;
    let built: BuiltSegment;

    /**
     * Returns the one instance for this table, with its segment. The first test that calls this
     * builds both.
     */
    function open(): { core: Instance; built: BuiltSegment } {
      if (core === undefined) {
        core = new Instance(build);
        built = buildSegment(core, edges, columns, bucketSeconds);
      }
      return { core, built };
    }

    function textOf(
      rows: readonly number[],
      separator: number,
      capacity: number,
      shown: readonly Column[] = columns,
    ): string {
      const { core, built } = open();
      const plan = core.put(planOf(shown).bytes);
      return gatherText(core, rows, separator, capacity, (list, n, kind, out, room) =>
        core.x.hg_segment_json(built.handle, list, n, plan, kind, out, room),
      );
    }

    it('is built as a file that passes the deep check, with the header that FORMAT.md describes', () => {
      const { core, built } = open();
      const header = new DataView(core.bytes(built.file, 128).buffer);
      expect([112, 114, 115].map((at) => header.getUint8(at))).toEqual([
        table.widths[0],
        table.widths[2],
        table.widths[3],
      ]);
      expect(header.getUint8(113)).toBe(table.widths[1]);
      const nodes = new Set(edges.flatMap((edge) => edge.members));
      const ids = edges.map((edge) => edge.id);
      const incidences = edges.reduce((sum, edge) => sum + edge.members.length, 0);
      const ascending = [...nodes].sort((a, b) => a - b);
      const least = (list: readonly number[]) => list.reduce((a, b) => Math.min(a, b));
      const most = (list: readonly number[]) => list.reduce((a, b) => Math.max(a, b));
      const fields = range(0, 19).map((field) => core.x.hg_segment_field(built.file, field));
      expect(fields).toEqual([
        1,
        built.bytes,
        edges.length,
        incidences,
        nodes.size,
        bucketsOf(table, range(0, edges.length)),
        bucketSeconds,
        edges[0]!.time,
        edges.at(-1)!.time,
        least(ids),
        most(ids),
        ascending[0],
        ascending.at(-1),
        edges[0]!.id,
        edges.at(-1)!.id,
        most(edges.map((edge) => edge.members.length)),
        9,
        header.getUint32(20, true),
        table.widths[3],
      ]);
      expect(core.x.hg_segment_field(built.file, 99)).toBeNaN();
      expect(core.x.hg_segment_check_header(built.file, Math.min(built.bytes, 4096), built.bytes)).toBe(0);
      const out = core.alloc(nodes.size * 8);
      expect(core.x.hg_segment_nodes(built.handle, 0, out, nodes.size)).toBe(nodes.size);
      expect(core.numbers(out, nodes.size)).toEqual(ascending);
      expect(core.x.hg_segment_nodes(built.handle, nodes.size - 1, out, 5)).toBe(1);
    });

    it('is written as the text that JSON.stringify gives for its rows', () => {
      const all = range(0, edges.length);
      const expected = lines.get(table)!;
      expect(textOf(all, 2, 1 << 16) === expected.map((line) => `${line}\n`).join('')).toBe(true);
      const some = all.filter((row) => row % 7 === 0 || row % 64 === 63).slice(0, 400);
      expect(`[${textOf(some, 0, 1 << 14)}]`).toBe(`[${some.map((row) => expected[row]).join(',')}]`);
      expect(textOf(some.slice(0, 3), 1, 1 << 14)).toBe(
        some
          .slice(0, 3)
          .map((row) => `,${expected[row]}`)
          .join(''),
      );
    });

    it('is written as the same text through a tiny buffer, row by row', () => {
      const rows = range(0, Math.min(edges.length, 150));
      const expected = rows.map((row) => lines.get(table)![row]);
      expect(textOf(rows, 0, 1)).toBe(expected.join(','));
      expect(textOf(rows, 2, 700)).toBe(expected.map((line) => `${line}\n`).join(''));
    });

    it('shows a column that it lacks with the default value of the column', () => {
      const later: Column = { id: 400, name: 'later', type: 'TEXT', indexed: false, byDefault: 'new "one"' };
      const rows = range(0, Math.min(edges.length, 50));
      for (const shown of [[], [later], [...columns.slice(0, 1), later]]) {
        expect(textOf(rows, 0, 1 << 14, shown)).toBe(rows.map((row) => rowText(edges[row]!, shown)).join(','));
      }
    });

    it('seeks and finds keys, and counts the buckets in row ranges and row lists', () => {
      const { core, built } = open();
      const random = randomFrom(100);
      const key = core.alloc(16);
      for (const [time, id] of keysOf(edges, random)) {
        const row = lowerBound(edges, time, id);
        expect(core.x.hg_segment_seek(built.handle, time, id) >>> 0).toBe(row);
        const found = row < edges.length && edges[row]!.time === time && edges[row]!.id === id;
        expect(core.x.hg_segment_find(built.handle, time, id)).toBe(found ? row : -1);
      }
      for (let i = 0; i < 80; i++) {
        const from = random.below(edges.length + 1);
        const to = Math.min(edges.length, from + random.below(i < 40 ? 300 : edges.length + 1));
        expect(core.x.hg_segment_buckets(built.handle, from, to)).toBe(
          from < to ? bucketsOf(table, range(from, to)) : 0,
        );
        const list = range(from, to).filter(() => random.below(5) === 0);
        expect(core.x.hg_segment_row_buckets(built.handle, core.putWords([...list, 0]), list.length)).toBe(
          bucketsOf(table, list),
        );
        if (from === edges.length) continue;
        expect(core.x.hg_segment_key(built.handle, from, key)).toBe(0);
        expect(core.numbers(key, 2)).toEqual([edges[from]!.time, edges[from]!.id]);
      }
      expect(core.x.hg_segment_key(built.handle, edges.length, key)).toBe(STATUS.badArgument);
    });

    it('lists the rows that contain 1 to 5 given nodes, in any row range and in several calls, and counts them', () => {
      const { core, built } = open();
      const random = randomFrom(200);
      for (let i = 0; i < 60; i++) {
        const k = 1 + (i % 5);
        const some = edges[random.below(edges.length)]!.members;
        const nodes = Array.from({ length: k }, () => some[random.below(some.length)]!);
        if (i % 9 === 8) nodes[random.below(k)] = [12345.5, SAFE + 2, Number.NaN, -77][random.below(4)]!;
        const from = i % 2 ? random.below(edges.length) : 0;
        const to = i % 3 ? edges.length : from + random.below(edges.length - from + 1);
        const expected = range(from, to).filter((row) => nodes.every((node) => edges[row]!.members.includes(node)));
        expect(lookup(core, built, nodes, from, to, 1 + random.below(i % 4 ? 20 : 70_000))).toEqual(expected);
        if (k === 1) expect(core.x.hg_segment_count(built.handle, nodes[0]!, from, to)).toBe(expected.length);
      }
      const out = core.alloc(4096);
      expect(core.x.hg_segment_lookup(built.handle, out, 0, 0, 1, out, 8)).toBe(STATUS.badArgument);
      expect(core.x.hg_segment_lookup(built.handle, out, 256, 0, 1, out, 8)).toBe(STATUS.badArgument);
      expect(core.x.hg_segment_lookup(built.handle, out, 1, 0, 1, out, 0)).toBe(STATUS.badArgument);
    });

    it('adds the number of rows of each of many ascending nodes, in any row range', () => {
      const { core, built } = open();
      const random = randomFrom(250);
      const all = [...new Set(edges.flatMap((edge) => edge.members))].sort((a, b) => a - b);
      for (let i = 0; i < 30; i++) {
        const share = [1, 2, 7, 100][i % 4]!;
        const others = range(0, random.below(20)).map(() => random.below(4_000_000) - 2_000_000);
        const some = new Set([...all.filter(() => random.below(share) === 0), ...(i % 3 ? others : [])]);
        const nodes = [...some].sort((a, b) => a - b);
        const from = i % 2 ? random.below(edges.length) : 0;
        const to = i % 5 ? edges.length : from + random.below(edges.length - from + 1);
        const counts = core.putWords([...nodes.map((_, place) => place), 0]);
        const at = core.putNumbers([...nodes, 0]);
        expect(core.x.hg_segment_counts(built.handle, at, nodes.length, from, to, counts)).toBe(nodes.length);
        const known = new Map<number, number>();
        for (const { members } of edges.slice(from, to))
          for (const node of members) known.set(node, (known.get(node) ?? 0) + 1);
        expect(core.words(counts, nodes.length)).toEqual(nodes.map((node, place) => place + (known.get(node) ?? 0)));
      }
      const counts = core.putWords([0, 0]);
      for (const wrong of [
        [5, 5],
        [5, 4],
        [1, 1.5],
        [1, Number.NaN],
      ])
        expect(core.x.hg_segment_counts(built.handle, core.putNumbers(wrong), 2, 0, 1, counts)).toBe(
          STATUS.badArgument,
        );
    });

    it('adds the number of rows of all nodes of a range, in any row range', () => {
      const { core, built } = open();
      const random = randomFrom(251);
      const all = [...new Set(edges.flatMap((edge) => edge.members))].sort((a, b) => a - b);
      for (let i = 0; i < 40; i++) {
        const near = i % 8 ? all[random.below(all.length)]! - random.below(3) : all[0]! - 5;
        const least = Math.max(near, -Number.MAX_SAFE_INTEGER);
        const n = random.below(i % 3 ? 40 : 5000);
        const from = i % 2 ? random.below(edges.length) : 0;
        const to = i % 5 ? edges.length : from + random.below(edges.length - from + 1);
        const expected = Array.from({ length: n }, (_, place) => place % 7);
        const counts = core.putWords([...expected, 0]);
        const found = new Set<number>();
        for (const { members } of edges.slice(from, to))
          for (const node of members) if (node >= least && node < least + n) expected[node - least]!++;
        for (const node of all) if (node >= least && node < least + n) found.add(node);
        const count = from < to ? found.size : 0;
        expect(core.x.hg_segment_tally(built.handle, least, n, from, to, counts)).toBe(count);
        expect(core.words(counts, n)).toEqual(expected);
      }
      const counts = core.putWords([0, 0]);
      for (const wrong of [1.5, Number.NaN, 2 ** 53])
        expect(core.x.hg_segment_tally(built.handle, wrong, 2, 0, 1, counts)).toBe(STATUS.badArgument);
    });

    it('has a filter without false negatives', () => {
      const { core, built } = open();
      const offset = core.x.hg_segment_section(built.file, 9, 0) >>> 0;
      const bytes = core.rows;
      const nodes = [...new Set(edges.flatMap((edge) => edge.members))];
      expect(nodes.filter((node) => core.x.hg_filter_test(built.file + offset, bytes, node) === 0)).toEqual([]);
      expect(core.x.hg_segment_section(built.file, 77, 0)).toBe(0);
    });

    it('matches a tombstone by time and exact member set', () => {
      const { core, built } = open();
      const random = randomFrom(300);
      const out = core.alloc(4096 * 4);
      for (let i = 0; i < 40; i++) {
        const edge = edges[random.below(edges.length)]!;
        const time = edge.time + (i % 5 === 4 ? 1 : 0);
        const members = i % 4 === 3 ? edge.members.slice(1).concat(-12_345) : edge.members;
        const expected = range(
          lowerBound(edges, time, Number.NEGATIVE_INFINITY),
          lowerBound(edges, time, Number.POSITIVE_INFINITY),
        ).filter((row) => edges[row]!.members.join() === edgeOf(0, 0, members).members.join());
        const record = core.put(naiveRecord(edgeOf(time, 0, members)));
        expect(core.x.hg_segment_match(built.handle, record, out, 4096)).toBe(expected.length);
        expect(core.words(out, expected.length)).toEqual(expected);
        core.core.memory.words[out / 4] = 99;
        expect(core.x.hg_segment_match(built.handle, record, out, 0)).toBe(expected.length);
        expect(core.words(out, 1)).toEqual([99]);
      }
    });

    it('finds rows by value through the order index of each numeric column', () => {
      const { core, built } = open();
      const random = randomFrom(400);
      for (const column of columns) {
        const values = edges.map((edge) =>
          edge.properties.has(column.id) ? edge.properties.get(column.id)! : column.byDefault,
        );
        const numeric = column.type === 'REAL' || column.type === 'INTEGER';
        if (!numeric || values.every((value) => value === null)) {
          expect(core.x.hg_segment_psi_count(built.handle, column.id, 0, 1, 0)).toBe(STATUS.badArgument);
          continue;
        }
        const numbers = values.filter((value) => value !== null) as number[];
        const bounds = [Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
        for (let i = 0; i < 12; i++) bounds.push(numbers[random.below(numbers.length)]!, (random.unit() - 0.5) * 200);
        for (let i = 0; i < 40; i++) {
          const [low, high] = [bounds[random.below(bounds.length)]!, bounds[random.below(bounds.length)]!];
          const flags = random.below(4);
          const expected = range(0, edges.length).filter((row) => {
            const value = values[row] as number | null;
            if (value === null) return false;
            return (flags & 1 ? value > low : value >= low) && (flags & 2 ? value < high : value <= high);
          });
          expectOrder(core, built, column.id, low, high, flags, expected);
        }
      }
    });

    it('exports its records, and a segment built from them is the same file', () => {
      const { core, built } = open();
      const records = exportAll(core, built, range(0, edges.length), edges.length > 10_000 ? 1 << 20 : 300);
      const base = core.put(records);
      expect(core.x.hg_records_check(base, records.length, edges.length)).toBe(0);
      const list = addressesOf(records, base);
      const plan = core.put(planOf(columns).bytes);
      const head = list.slice(0, 300);
      const text = gatherText(core, head, 2, 1 << 14, (at, n, kind, out, room) =>
        core.x.hg_records_json(at, n, plan, kind, out, room),
      );
      expect(text).toBe(
        lines
          .get(table)!
          .slice(0, head.length)
          .map((line) => `${line}\n`)
          .join(''),
      );
      const again = buildFrom(core, core.putWords(list), list.length, columns, bucketSeconds);
      expect(again.status).toBe(built.bytes);
      expect(Buffer.compare(core.bytes(again.file, built.bytes), core.bytes(built.file, built.bytes))).toBe(0);
    });
  });

  it('have no id section if ids are consecutive, and still find rows by id', () => {
    const core = new Instance(build);
    const edges = range(0, 300).map((row) => edgeOf(row, row + 40, [row % 7]));
    const built = buildSegment(core, edges, [], 10);
    core.x.hg_segment_section(built.file, 3, 0);
    expect(core.rows).toBe(0);
    expect(core.x.hg_segment_find(built.handle, 299, 339)).toBe(299);
  });

  it('are not built from unsorted, repeated or invalid rows and columns', () => {
    const core = new Instance(build);
    const edges = [edgeOf(1, 1, [1]), edgeOf(1, 2, [2])];
    const status = (list: Edge[], columns: readonly Column[] = [], bucket = 60) =>
      tryBuild(core, list, columns, bucket).status;
    expect(status([])).toBe(STATUS.badArgument);
    expect(status([edges[1]!, edges[0]!])).toBe(STATUS.badArgument);
    expect(status([edges[0]!, edges[0]!])).toBe(STATUS.badArgument);
    expect(status(edges, [], 0)).toBe(STATUS.badArgument);
    expect(status(edges, [], 0.5)).toBe(STATUS.badArgument);
    expect(status(edges, [], Number.NaN)).toBe(STATUS.badArgument);
    expect(status(edges, [COLUMNS[1]!, COLUMNS[0]!])).toBe(STATUS.badArgument);
    const text: Column = { id: 4, name: 'text', type: 'TEXT', indexed: false, byDefault: null };
    const number = naiveRecord(edgeOf(5, 5, [1], { 4: 3 }), COLUMNS);
    const list = core.putWords([core.put(number)]);
    const spec = core.putWords([text.id | (3 << 16), 0]);
    expect(core.x.hg_segment_build(list, 1, 60, 1, spec, 1, 0)).toBe(STATUS.badArgument);
    expect(core.x.hg_segment_build(list, 65_537, 60, 1, spec, 0, 0)).toBe(STATUS.badArgument);
  });

  it('are refused when any bit that a checksum covers has changed', () => {
    const core = new Instance(build);
    const edges = range(0, 40).map((row) =>
      edgeOf(row * 3, row * row, [row, row + 1, 9999], { 0: row / 8, 6: `t${row % 5}` }),
    );
    const built = buildSegment(core, edges, COLUMNS, 10);
    const bytes = core.bytes(built.file, built.bytes);
    const directoryEnd = 128 + 24 * core.x.hg_segment_field(built.file, 17);
    const covered = new Uint8Array(built.bytes).fill(1, 0, directoryEnd);
    const view = new DataView(bytes.buffer);
    for (let entry = 128; entry < directoryEnd; entry += 24) {
      covered.fill(
        1,
        view.getUint32(entry + 8, true),
        view.getUint32(entry + 8, true) + view.getUint32(entry + 12, true),
      );
    }
    const random = randomFrom(500);
    for (let i = 0; i < 1500; i++) {
      const bit = i < directoryEnd * 8 ? i : random.below(built.bytes * 8);
      const changed = bytes.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      core.core.memory.write(built.file, changed);
      const status = core.x.hg_segment_check(built.file, built.bytes, 0);
      if (covered[bit >> 3] === 1) expect([STATUS.corrupt, STATUS.unsupported]).toContain(status);
    }
    core.core.memory.write(built.file, bytes);
    expect(core.x.hg_segment_check(built.file, built.bytes, 1)).toBe(0);
    for (let length = 0; length < built.bytes; length += 97)
      expect(core.x.hg_segment_check(built.file, length, 1)).toBe(STATUS.corrupt);
  });
});

function lookup(
  core: Instance,
  built: BuiltSegment,
  nodes: readonly number[],
  from: number,
  to: number,
  capacity: number,
): number[] {
  const list = core.putNumbers(nodes);
  const out = core.alloc(capacity * 4 + 32);
  const rows: number[] = [];
  for (let at = from; at < to; ) {
    const n = core.x.hg_segment_lookup(built.handle, list, nodes.length, at, to, out, capacity);
    if (n < 0) throw new Error(`status ${n}`);
    const next = core.rows;
    if (next <= at) throw new Error('no progress');
    rows.push(...core.words(out, n));
    at = next;
  }
  core.x.hg_memory_free(out);
  core.x.hg_memory_free(list);
  return rows;
}

function expectOrder(
  core: Instance,
  built: BuiltSegment,
  column: number,
  low: number,
  high: number,
  flags: number,
  expected: readonly number[],
): void {
  expect(core.x.hg_segment_psi_count(built.handle, column, low, high, flags)).toBe(expected.length);
  const out = core.alloc(expected.length * 4 + 4);
  if (expected.length > 0) {
    expect(core.x.hg_segment_psi(built.handle, column, low, high, flags, out, expected.length - 1)).toBe(
      STATUS.tooSmall,
    );
    expect(core.needed).toBe(expected.length);
  }
  expect(core.x.hg_segment_psi(built.handle, column, low, high, flags, out, expected.length)).toBe(expected.length);
  expect(core.words(out, expected.length)).toEqual(expected);
  core.x.hg_memory_free(out);
}

/** Exports rows as records through a buffer of `capacity` bytes. */
function exportAll(
  core: Instance,
  built: BuiltSegment,
  rows: readonly number[],
  capacity: number,
): Uint8Array<ArrayBuffer> {
  const list = core.putWords(rows);
  let room = capacity;
  let out = core.alloc(room);
  const pieces: Uint8Array[] = [];
  for (let done = 0; done < rows.length; ) {
    const written = core.x.hg_segment_records(built.handle, list + done * 4, rows.length - done, out, room);
    if (written === STATUS.tooSmall) {
      room = core.needed;
      out = core.alloc(room);
      continue;
    }
    if (written < 0) throw new Error(`status ${written}`);
    pieces.push(core.bytes(out, written));
    done += core.rows;
  }
  return concat(pieces);
}

function addressesOf(records: Uint8Array<ArrayBuffer>, base: number): number[] {
  const view = new DataView(records.buffer);
  const list: number[] = [];
  for (let at = 0; at < records.length; at += view.getUint32(at, true)) list.push(base + at);
  return list;
}
