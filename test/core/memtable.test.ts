// Compares the memtable, in every build, with an array of edges that have LSNs of birth and death.

import { beforeEach, describe, expect, it } from 'vitest';
import { BUILDS, gatherText, Instance, STATUS } from './support/instance.ts';
import {
  COLUMNS,
  compareEdges,
  concat,
  type Edge,
  edgeOf,
  naiveRecord,
  planOf,
  randomValue,
  rowText,
  type Value,
} from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';

const BASE_LSN = 1000;
const BUCKET = 60;
const LAST = Number.POSITIVE_INFINITY;

interface Row extends Edge {
  row: number;
  lsn: number;
  death: number;
}

/** A memtable, and the array with which it must agree. */
class Pair {
  readonly core: Instance;
  readonly handle: number;
  readonly rows: Row[] = [];
  lsn = BASE_LSN;
  #out: number;

  constructor(core: Instance) {
    this.core = core;
    this.handle = core.x.hg_memtable_new(BUCKET, BASE_LSN) >>> 0;
    this.#out = core.alloc(65_536 * 4 + 64);
  }

  append(edges: readonly Edge[]): void {
    const bytes = concat(edges.map((edge) => naiveRecord(edge, COLUMNS)));
    const at = this.core.x.hg_memtable_reserve(this.handle, bytes.length, edges.length) >>> 0;
    this.core.core.memory.write(at, bytes);
    expect(this.core.x.hg_memtable_append(this.handle, at, edges.length, this.lsn + 1)).toBe(0);
    for (const edge of edges) this.rows.push({ ...edge, row: this.rows.length, lsn: ++this.lsn, death: LAST });
  }

  kill(row: number): void {
    const target = this.rows[row]!;
    const alive = target.death === LAST;
    this.lsn++;
    expect(this.core.x.hg_memtable_kill(this.handle, row, this.lsn)).toBe(alive ? 1 : 0);
    if (alive) target.death = this.lsn;
  }

  sort(): void {
    expect(this.core.x.hg_memtable_sort(this.handle)).toBe(0);
  }

  seek(time: number, id: number): number {
    return this.core.x.hg_memtable_seek(this.handle, time, id) >>> 0;
  }

  field(field: number): number {
    return this.core.x.hg_memtable_field(this.handle, field) >>> 0;
  }

  ordered(): Row[] {
    return [...this.rows].sort((a, b) => compareEdges(a, b));
  }

  visible(lsn: number): Row[] {
    return this.ordered().filter((row) => row.lsn <= lsn && row.death > lsn);
  }

  /**
   * Returns the rows at positions [from, to) as seen at an LSN, reading `capacity` rows at a time.
   */
  read(from: number, to: number, lsn: number, capacity: number): number[] {
    const rows: number[] = [];
    for (let at = from; at < to; ) {
      const n = this.core.x.hg_memtable_rows(this.handle, at, to, lsn, this.#out, capacity) >>> 0;
      rows.push(...this.core.words(this.#out, n));
      if (this.core.rows <= at) throw new Error('no progress');
      at = this.core.rows;
    }
    return rows;
  }

  lookup(nodes: readonly number[], low: [number, number], endTime: number, lsn: number): number[] {
    const list = this.core.putNumbers(nodes);
    const call = (capacity: number) =>
      this.core.x.hg_memtable_lookup(
        this.handle,
        list,
        nodes.length,
        low[0],
        low[1],
        endTime,
        lsn,
        this.#out,
        capacity,
      );
    let n = call(1);
    if (n === STATUS.tooSmall) n = call(this.core.needed);
    this.core.x.hg_memory_free(list);
    if (n < 0) throw new Error(`status ${n}`);
    return this.core.words(this.#out, n);
  }

  match(edge: Edge, lsn: number): number[] {
    const record = this.core.put(naiveRecord(edge));
    const n = this.core.x.hg_memtable_match(this.handle, record, lsn, this.#out, 1000) >>> 0;
    this.core.x.hg_memory_free(record);
    return this.core.words(this.#out, n);
  }
}

function randomEdge(random: Random, id: number, time: number, nodes: number): Edge {
  const members = Array.from({ length: 1 + random.below(5) }, () => random.below(nodes) - 5);
  const properties: Record<number, Value> = {};
  for (const column of COLUMNS) if (random.below(4) === 0) properties[column.id] = randomValue(random, column);
  return edgeOf(time, id, members, properties);
}

describe.each(BUILDS)('a memtable, %s build', (build) => {
  let core: Instance;

  beforeEach(() => {
    core = new Instance(build);
  });

  it('agrees with an array over random histories of inserts and deaths', () => {
    for (let seed = 1; seed <= 12; seed++) {
      const random = randomFrom(seed);
      const pair = new Pair(new Instance(build));
      const inOrder = seed % 3 === 0;
      for (let step = 0; step < 60; step++) {
        if (pair.rows.length > 0 && random.below(3) === 0) pair.kill(random.below(pair.rows.length));
        else {
          const first = pair.rows.length;
          const count = 1 + (random.below(4) === 0 ? random.below(80) : random.below(3));
          const time = (i: number) => (inOrder ? first + i : random.below(seed % 2 ? 30 : 100_000) - 50);
          pair.append(Array.from({ length: count }, (_, i) => randomEdge(random, first + i + 1, time(i), 40)));
        }
        if (random.below(4) === 0) compareAll(pair, random);
      }
      compareAll(pair, random);
    }
  });

  it('shows each snapshot exactly the rows that were born and not yet dead at its LSN', () => {
    const random = randomFrom(77);
    const pair = new Pair(core);
    for (let i = 0; i < 120; i++) {
      if (i % 3 === 2) pair.kill(random.below(pair.rows.length));
      else pair.append([randomEdge(random, i + 1, random.below(50), 20)]);
    }
    pair.sort();
    for (let lsn = BASE_LSN - 1; lsn <= pair.lsn + 1; lsn++) {
      expect(pair.read(0, pair.rows.length, lsn, 7)).toEqual(pair.visible(lsn).map((row) => row.row));
    }
    expect(pair.read(0, pair.rows.length, LAST, 1000)).toEqual(pair.visible(pair.lsn).map((row) => row.row));
    expect(pair.read(0, pair.rows.length, -LAST, 1000)).toEqual([]);
  });

  it('counts rows, deaths, buckets, bytes and incidences', () => {
    const random = randomFrom(5);
    for (const late of [false, true]) {
      const pair = new Pair(new Instance(build));
      for (let i = 0; i < 30; i++) {
        const count = 1 + random.below(40);
        const first = pair.rows.length;
        pair.append(
          range(count).map((j) =>
            randomEdge(random, first + j + 1, late ? random.below(9000) - 4500 : (first + j) * 7 - 3000, 90),
          ),
        );
        if (i % 5 === 0) pair.kill(random.below(pair.rows.length));
        expect(pair.field(2)).toBe(new Set(pair.rows.map((row) => Math.floor(row.time / BUCKET))).size);
      }
      expect(pair.field(0)).toBe(pair.rows.length);
      expect(pair.field(1)).toBe(pair.rows.filter((row) => row.death !== LAST).length);
      expect(pair.field(3)).toBe(pair.rows.reduce((sum, row) => sum + naiveRecord(row, COLUMNS).length, 0));
      expect(pair.field(4)).toBe(pair.rows.reduce((sum, row) => sum + row.members.length, 0));
      pair.sort();
      expect(pair.field(5)).toBe(pair.rows.length);
      expect(pair.field(99)).toBe(0);
    }
  });

  it('accepts large records, large batches and many rows', () => {
    const random = randomFrom(6);
    const pair = new Pair(core);
    const wide = edgeOf(
      5,
      1,
      range(255).map((i) => i * 1e12),
      { 6: 'y'.repeat(60_000) },
    );
    pair.append([wide]);
    pair.append(range(20_000).map((i) => edgeOf(random.below(1e6), i + 2, [random.below(3000), random.below(3000)])));
    pair.sort();
    const ordered = pair.ordered();
    expect(pair.read(0, ordered.length, LAST, 8192)).toEqual(ordered.map((row) => row.row));
    const node = pair.rows[100]!.members[0]!;
    const holders = ordered.filter((row) => row.members.includes(node)).map((row) => row.row);
    expect(pair.lookup([node], [-LAST, -LAST], LAST, LAST)).toEqual(holders);
    const out = core.alloc(4000 * 8);
    const count = core.x.hg_memtable_nodes(pair.handle, out, 4000);
    const nodes = new Set(pair.rows.flatMap((row) => row.members));
    expect(count).toBe(nodes.size);
    expect(new Set(core.numbers(out, count))).toEqual(nodes);
  });

  it('sorts rows that have one time and unordered ids in linear time', () => {
    const pair = new Pair(core);
    const count = 40_000;
    pair.append(range(count).map((i) => edgeOf(7, (i * 48_271) % 65_537, [1])));
    const started = process.cpuUsage();
    pair.sort();
    // CPU time in microseconds; a quadratic algorithm takes 2 s or more.
    expect(process.cpuUsage(started).user).toBeLessThan(1_000_000);
    expect(pair.read(0, count, LAST, count)).toEqual(pair.ordered().map((row) => row.row));
  });

  it('writes rows as text and copies their records', () => {
    const random = randomFrom(8);
    const pair = new Pair(core);
    pair.append(range(90).map((i) => randomEdge(random, i + 1, random.below(500), 30)));
    pair.sort();
    const rows = pair.read(0, 90, LAST, 100);
    const list = core.putWords(rows);
    core.x.hg_memtable_addresses(pair.handle, list, rows.length);
    const plan = core.put(planOf(COLUMNS).bytes);
    const addresses = core.words(list, rows.length);
    const expected = pair.ordered().map((row) => rowText(row, COLUMNS));
    for (const capacity of [1, 3000, 1 << 17]) {
      const text = gatherText(core, addresses, 0, capacity, (at, n, kind, out, room) =>
        core.x.hg_records_json(at, n, plan, kind, out, room),
      );
      expect(text).toBe(expected.join(','));
    }
  });

  it('refuses arguments outside the allowed ranges', () => {
    expect(core.x.hg_memtable_new(0, 0)).toBe(0);
    expect(core.x.hg_memtable_new(0.5, 0)).toBe(0);
    expect(core.x.hg_memtable_new(Number.NaN, 0)).toBe(0);
    const pair = new Pair(core);
    pair.append([edgeOf(1, 1, [1])]);
    const record = core.put(naiveRecord(edgeOf(1, 2, [1])));
    // No room was reserved.
    expect(core.x.hg_memtable_append(pair.handle, record, 1, BASE_LSN + 5)).toBe(STATUS.badArgument);
    expect(core.x.hg_memtable_reserve(pair.handle, 0, 1)).not.toBe(0);
    for (const lsn of [BASE_LSN, 0, -5, Number.NaN, BASE_LSN + 2 ** 32]) {
      expect(core.x.hg_memtable_append(pair.handle, record, 1, lsn)).toBe(STATUS.badArgument);
    }
    for (const lsn of [BASE_LSN, Number.NaN])
      expect(core.x.hg_memtable_kill(pair.handle, 0, lsn)).toBe(STATUS.badArgument);
    expect(core.x.hg_memtable_kill(pair.handle, 1, BASE_LSN + 9)).toBe(STATUS.badArgument);
    expect(core.x.hg_memtable_key(pair.handle, 1, record)).toBe(STATUS.badArgument);
    expect(core.x.hg_memtable_at(pair.handle, 1) >>> 0).toBe(0xffffffff);
    expect(core.x.hg_memtable_lookup(pair.handle, record, 0, 0, 0, 0, 0, record, 1)).toBe(STATUS.badArgument);
    expect(core.x.hg_memtable_lookup(pair.handle, record, 256, 0, 0, 0, 0, record, 1)).toBe(STATUS.badArgument);
    expect(pair.field(0)).toBe(1);
  });

  it('indexes nodes a few rows at a time, and a lookup indexes the remaining rows', () => {
    const random = randomFrom(9);
    const pair = new Pair(core);
    pair.append(range(100).map((i) => randomEdge(random, i + 1, i, 10)));
    expect(core.x.hg_memtable_index(pair.handle, 0)).toBe(100);
    expect(core.x.hg_memtable_index(pair.handle, 30)).toBe(70);
    const holders = pair.rows.filter((row) => row.members.includes(3)).map((row) => row.row);
    expect(pair.lookup([3], [-LAST, -LAST], LAST, LAST)).toEqual(holders);
    expect(core.x.hg_memtable_index(pair.handle, 0xffffffff)).toBe(0);
  });

  it('answers every read when it is empty', () => {
    const pair = new Pair(core);
    pair.sort();
    expect(pair.seek(0, 0)).toBe(0);
    expect(pair.lookup([1], [-LAST, -LAST], LAST, LAST)).toEqual([]);
    expect(pair.match(edgeOf(1, 1, [1]), LAST)).toEqual([]);
    expect(core.x.hg_memtable_find(pair.handle, 0, 0)).toBe(-1);
    expect(core.x.hg_memtable_nodes(pair.handle, 0, 0)).toBe(0);
  });
});

/** Compares every kind of read with the array, at random LSNs. */
function compareAll(pair: Pair, random: Random): void {
  const { core, handle } = pair;
  pair.sort();
  const ordered = pair.ordered();
  const key = core.alloc(16);
  const position = random.below(ordered.length);
  expect(core.x.hg_memtable_at(handle, position)).toBe(ordered[position]!.row);
  expect(core.x.hg_memtable_key(handle, ordered[position]!.row, key)).toBe(0);
  expect(core.numbers(key, 2)).toEqual([ordered[position]!.time, ordered[position]!.id]);
  for (let i = 0; i < 6; i++) {
    const lsn = BASE_LSN + random.below(pair.lsn - BASE_LSN + 2);
    const { time, id, members, row, death } = ordered[random.below(ordered.length)]!;
    const from = ordered.findIndex((other) => other.time > time || (other.time === time && other.id >= id));
    expect(pair.seek(time, id)).toBe(from);
    expect(core.x.hg_memtable_find(handle, time, id)).toBe(death === LAST ? row : -1);
    const seen = pair.visible(lsn);
    const behind = seen.filter((other) => compareEdges(other, { time, id } as Edge) >= 0).map((other) => other.row);
    expect(pair.read(from, ordered.length, lsn, 1 + random.below(20))).toEqual(behind);
    expect(core.x.hg_memtable_row_buckets(handle, core.putWords([...behind, 0]), behind.length)).toBe(
      new Set(behind.map((other) => Math.floor(pair.rows[other]!.time / BUCKET))).size,
    );
    const nodes = [members[0]!, members[random.below(members.length)]!].slice(0, 1 + (i & 1));
    if (i === 5) nodes.push([123_456, 0.5, Number.NaN][random.below(3)]!);
    const endTime = time + random.below(50);
    const held = seen.filter((other) => nodes.every((node) => other.members.includes(node)) && other.time <= endTime);
    const fromKey = held.filter((other) => compareEdges(other, { time, id } as Edge) >= 0);
    expect(pair.lookup(nodes, [time, id], endTime, lsn)).toEqual(fromKey.map((other) => other.row));
    const equal = seen.filter((other) => other.time === time && other.members.join() === members.join());
    expect(pair.match({ time, id: 0, members, properties: new Map() }, lsn)).toEqual(equal.map((other) => other.row));
  }
}

function range(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i);
}
