// Checks the record codec in every build: round trips, canonical bytes, the worked example in
// FORMAT.md, and refusals.

import { describe, expect, it } from 'vitest';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import {
  COLUMNS,
  concat,
  type Edge,
  edgeOf,
  naiveRecord,
  propertyBlock,
  randomValue,
  SAFE,
  type Value,
} from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';

interface Input {
  times: number[];
  ids: number[];
  /** Members as passed in: in any order, and with duplicates. */
  members: number[][];
  blocks?: Uint8Array[];
  limit?: number;
  capacity?: number;
}

/** Calls `hg_records_encode`, and returns the status and the bytes. */
function encode(core: Instance, input: Input): { status: number; bytes: Uint8Array } {
  const { times, ids, members, blocks, limit = 255 } = input;
  const capacity =
    input.capacity ??
    members.reduce((sum, list) => sum + 40 + list.length * 9, 64) + (blocks ? concat(blocks).length : 0);
  let end = 0;
  const ends = blocks?.map((block) => {
    end += block.length;
    return end;
  });
  const out = core.alloc(capacity);
  const status = core.x.hg_records_encode(
    times.length,
    core.putNumbers(times),
    core.putNumbers(ids),
    core.putWords(members.map((list) => list.length)),
    core.putNumbers(members.flat()),
    ends ? core.putWords(ends) : 0,
    core.put(blocks ? concat(blocks) : new Uint8Array(8)),
    limit,
    out,
    capacity,
  );
  return { status, bytes: core.bytes(out, Math.max(0, status)) };
}

function encodeEdges(core: Instance, edges: readonly Edge[], shuffle?: Random): Uint8Array {
  const { status, bytes } = encode(core, {
    times: edges.map((edge) => edge.time),
    ids: edges.map((edge) => edge.id),
    members: edges.map((edge) => (shuffle ? shuffled(shuffle, edge.members) : edge.members)),
    blocks: edges.map((edge) => propertyBlock(edge, COLUMNS)),
  });
  expect(status).toBeGreaterThan(0);
  return bytes;
}

/** Returns the members in random order, some of them twice. */
function shuffled(random: Random, members: readonly number[]): number[] {
  const list = [...members, ...members.filter(() => random.below(4) === 0)];
  for (let i = list.length - 1; i > 0; i--) {
    const j = random.below(i + 1);
    [list[i], list[j]] = [list[j]!, list[i]!];
  }
  return list;
}

const WIDTHS = [2, 2 ** 8, 2 ** 16, 2 ** 32, 2 ** 53];

function randomMembers(random: Random, count: number): number[] {
  const span = Math.max(WIDTHS[random.below(WIDTHS.length)]!, count * 4);
  const base = random.below(3) === 0 ? -span / 2 : 0;
  const set = new Set<number>();
  if (count > 2 && random.below(8) === 0) set.add(SAFE).add(-SAFE);
  if (random.below(4) === 0) set.add(0);
  while (set.size < count) set.add(Math.max(-SAFE, Math.floor(base + random.unit() * span)));
  return [...set].slice(0, count);
}

function randomEdges(random: Random, counts: readonly number[]): Edge[] {
  return counts.map((count, row) => {
    const properties: Record<number, Value> = {};
    if (random.below(2) === 0) {
      for (const column of COLUMNS) if (random.below(2) === 0) properties[column.id] = randomValue(random, column);
    }
    const time = [row, -row, SAFE, -SAFE, Math.floor(random.unit() * 2 ** 40)][random.below(5)]!;
    return edgeOf(time, random.below(2) === 0 ? row : SAFE - row, randomMembers(random, count), properties);
  });
}

describe.each(BUILDS)('records, %s build', (build) => {
  it('encode the worked example in FORMAT.md byte by byte', () => {
    const core = new Instance(build);
    const edge = edgeOf(100, 7, [3, 5, 300], { 0: 0.5 });
    const expected =
      `2b000000 03 00 1d00 ${'6400000000000000'} ${'0700000000000000'} 10 06 02 2701 0100 0000 01 00 000000000000e03f`.replaceAll(
        ' ',
        '',
      );
    const bytes = encodeEdges(core, [edge]);
    expect(Buffer.from(bytes).toString('hex')).toBe(expected);
    expect(core.x.hg_records_check(core.put(bytes), bytes.length, 1)).toBe(0);
  });

  it('encode 1 to 255 members of every width as the format specifies, and decode them again', () => {
    const core = new Instance(build);
    const random = randomFrom(11);
    const counts = [
      ...Array.from({ length: 255 }, (_, i) => i + 1),
      ...Array.from({ length: 400 }, () => 1 + random.below(8)),
    ];
    const edges = randomEdges(random, counts);
    const bytes = encodeEdges(core, edges, random);
    expect(Buffer.compare(bytes, concat(edges.map((edge) => naiveRecord(edge, COLUMNS))))).toBe(0);
    const records = core.put(bytes);
    expect(core.x.hg_records_check(records, bytes.length, edges.length)).toBe(0);
    const out = core.alloc(255 * 8);
    let at = records;
    for (const edge of edges) {
      expect(core.numbers(out, core.x.hg_record_members(at, out))).toEqual(edge.members);
      at += naiveRecord(edge, COLUMNS).length;
    }
  });

  it('have equal bytes for equal member sets, whatever the order and the repetitions of the input', () => {
    const core = new Instance(build);
    const random = randomFrom(12);
    for (let round = 0; round < 60; round++) {
      const members = randomMembers(random, 1 + random.below(255));
      const edges = [edgeOf(1, 1, members), edgeOf(1, 1, members)];
      const bytes = encodeEdges(core, edges, random);
      const half = bytes.length / 2;
      expect(Buffer.compare(bytes.subarray(0, half), bytes.subarray(half))).toBe(0);
      core.x.hg_memory_reset();
    }
  });

  it('get consecutive ids when they were encoded without ids', () => {
    const core = new Instance(build);
    const edges = randomEdges(randomFrom(13), [1, 4, 9]).map((edge) => ({ ...edge, id: 0 }));
    const records = core.put(encodeEdges(core, edges));
    expect(core.x.hg_records_number(records, 3, SAFE - 3)).toBe(0);
    const expected = concat(edges.map((edge, row) => naiveRecord({ ...edge, id: SAFE - 3 + row }, COLUMNS)));
    expect(Buffer.compare(core.bytes(records, expected.length), expected)).toBe(0);
    expect(core.x.hg_records_number(records, 3, SAFE - 2)).toBe(STATUS.badArgument);
    expect(core.x.hg_records_number(records, 3, 0.5)).toBe(STATUS.badArgument);
  });

  it('refuse bad input with a status and the row', () => {
    const core = new Instance(build);
    const good = { times: [1, 2], ids: [1, 2], members: [[1], [2, 3]] };
    const refused = (change: Partial<Input>, status: number) => {
      expect(encode(core, { ...good, ...change }).status).toBe(status);
      expect(core.offset).toBe(1);
    };
    refused({ members: [[1], []] }, STATUS.emptyMembers);
    refused({ members: [[1], [1, 2, 3]], limit: 2 }, STATUS.tooManyMembers);
    refused({ members: [[1], Array.from({ length: 256 }, (_, i) => i)] }, STATUS.tooManyMembers);
    refused({ members: [[1], Array.from({ length: 300 }, (_, i) => i)], limit: 1000 }, STATUS.tooManyMembers);
    for (const bad of [0.5, Number.NaN, Number.POSITIVE_INFINITY, SAFE + 1, -SAFE - 1]) {
      refused({ members: [[1], [bad]] }, STATUS.badInteger);
      refused({ times: [1, bad] }, STATUS.badInteger);
      refused({ ids: [1, bad] }, STATUS.badInteger);
    }
    expect(encode(core, { ...good, members: [[1], [3, 3, 3]], limit: 1 }).status).toBeGreaterThan(0);
  });

  it('refuse a property block that ends before it begins', () => {
    const core = new Instance(build);
    const out = core.alloc(1000);
    const [times, members] = [core.putNumbers([1, 2]), core.putNumbers([1, 2])];
    const call = (ends: number[]) =>
      core.x.hg_records_encode(
        2,
        times,
        0,
        core.putWords([1, 1]),
        members,
        core.putWords(ends),
        core.alloc(64),
        64,
        out,
        1000,
      );
    expect(call([8, 4])).toBe(STATUS.badArgument);
    expect(call([8, 0xffffffff])).toBe(STATUS.badArgument);
  });

  it('report how much space they need, and a few retries succeed', () => {
    const core = new Instance(build);
    const edges = randomEdges(randomFrom(14), [3, 200, 1, 7]);
    const input = {
      times: edges.map((edge) => edge.time),
      ids: edges.map((edge) => edge.id),
      members: edges.map((edge) => edge.members),
    };
    let capacity = 0;
    let tries = 0;
    for (;;) {
      const { status } = encode(core, { ...input, capacity });
      if (status !== STATUS.tooSmall) break;
      expect(core.needed).toBeGreaterThan(capacity);
      capacity = core.needed;
      tries++;
    }
    expect(tries).toBeLessThanOrEqual(edges.length);
  });

  it('have every byte checked: after a change of one bit they are refused or still canonical', () => {
    const core = new Instance(build);
    const edges = randomEdges(randomFrom(15), [1, 5, 12]);
    const bytes = concat(edges.map((edge) => naiveRecord(edge, COLUMNS)));
    const records = core.put(bytes);
    let refused = 0;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const changed = bytes.slice();
      changed[bit >> 3]! ^= 1 << (bit & 7);
      core.core.memory.write(records, changed);
      if (core.x.hg_records_check(records, bytes.length, 3) === 0) continue;
      expect(core.offset).toBeLessThan(bytes.length);
      refused++;
    }
    expect(refused).toBeGreaterThan(100);
  });

  it('refuse input that is cut off or has too many or too few records', () => {
    const core = new Instance(build);
    const bytes = concat(randomEdges(randomFrom(16), [1, 5]).map((edge) => naiveRecord(edge, COLUMNS)));
    const records = core.put(bytes);
    for (let length = 0; length < bytes.length; length++) {
      expect(core.x.hg_records_check(records, length, 2)).toBe(STATUS.corrupt);
    }
    expect(core.x.hg_records_check(records, bytes.length, 1)).toBe(STATUS.corrupt);
    expect(core.x.hg_records_check(records, bytes.length, 3)).toBe(STATUS.corrupt);
    expect(core.x.hg_records_check(records, 0, 0)).toBe(0);
  });

  it('are copied by address until the output is full', () => {
    const core = new Instance(build);
    const edges = randomEdges(randomFrom(17), [2, 3, 250]);
    const pieces = edges.map((edge) => naiveRecord(edge, COLUMNS));
    const base = core.put(concat(pieces));
    const addresses = [base + pieces[0]!.length, base, base + pieces[0]!.length + pieces[1]!.length];
    const list = core.putWords(addresses);
    const out = core.alloc(8192);
    const room = pieces[0]!.length + pieces[1]!.length;
    expect(core.x.hg_records_copy(list, 3, out, room)).toBe(room);
    expect(core.rows).toBe(2);
    expect(Buffer.compare(core.bytes(out, room), concat([pieces[1]!, pieces[0]!]))).toBe(0);
    expect(core.x.hg_records_copy(list + 8, 1, out, 30)).toBe(STATUS.tooSmall);
    expect(core.needed).toBe(pieces[2]!.length);
  });

  it('use an allocator that refuses impossible sizes and reuses freed memory', () => {
    const core = new Instance(build);
    for (const bytes of [0xffffffff, 0xf0000001, 0xf0000000, 0xefffffff, 0xe0000001])
      expect(core.x.hg_memory_alloc(bytes)).toBe(0);
    const used = core.x.hg_memory_used();
    const first = core.alloc(1000);
    expect(first % 16).toBe(0);
    core.x.hg_memory_free(first);
    expect(core.alloc(1000)).toBe(first);
    core.x.hg_memory_free(first);
    core.x.hg_memory_free(0);
    expect(core.x.hg_memory_used()).toBe(used);
  });
});
