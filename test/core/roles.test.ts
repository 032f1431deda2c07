// Checks role masks in every build: in records, segments, memtables, row text and column blocks.

import { describe, expect, it } from 'vitest';
import { buildColumnPlan, readColumnBlocks } from '../../src/core/index.ts';
import { BUILDS, gatherText, Instance, STATUS } from './support/instance.ts';
import {
  COLUMNS,
  concat,
  type Edge,
  naiveRecord,
  planOf,
  propertyBlock,
  randomTable,
  rowText,
} from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';
import { buildFrom, buildSegment, placeRecords } from './support/segments.ts';

const ROLES = Array.from({ length: 16 }, (_, bit) => (bit === 3 ? 'rôle "3"' : `role${bit}`));
const ROLE_COLUMN = 0xfffffffe;

/** Returns edges of which about two thirds have masks. */
function edgesWithMasks(random: Random, rows: number, most: number): Edge[] {
  const edges = randomTable(random, {
    rows,
    time: (each) => each.below(300),
    id: (_, row) => row,
    node: (each) => each.below(600) - 20,
    members: (each) => 1 + each.below(most),
    columns: COLUMNS,
    sparsity: 3,
  });
  return edges.map((edge) => {
    const masks = edge.members.map(() => (random.below(3) === 0 ? 0 : random.below(65536)));
    return random.below(3) === 0 || masks.every((mask) => mask === 0) ? edge : { ...edge, masks };
  });
}

function encodeRoles(core: Instance, edges: readonly Edge[], capacity: number): { status: number; bytes: Uint8Array } {
  const blocks = edges.map((edge) => (edge.properties.size > 0 ? propertyBlock(edge, COLUMNS) : new Uint8Array(0)));
  let end = 0;
  const ends = blocks.map((block) => {
    end += block.length;
    return end;
  });
  const masks = new Uint16Array(edges.flatMap(({ members, masks: own }) => own ?? members.map(() => 0)));
  const out = core.alloc(capacity);
  const status = core.x.hg_records_encode_roles(
    edges.length,
    core.putNumbers(edges.map(({ time }) => time)),
    core.putNumbers(edges.map(({ id }) => id)),
    core.putWords(edges.map(({ members }) => members.length)),
    core.putNumbers(edges.flatMap(({ members }) => members)),
    core.put(new Uint8Array(masks.buffer)),
    core.putWords(ends),
    core.put(concat([...blocks, new Uint8Array(8)])),
    255,
    out,
    capacity,
  );
  return { status, bytes: core.bytes(out, Math.max(0, status)) };
}

function placeRole(core: Instance, node: number, mask: number): number {
  const view = new DataView(new ArrayBuffer(32));
  for (const [place, value] of [node, node, mask].entries()) view.setFloat64(place * 8, value, true);
  view.setUint32(24, ROLE_COLUMN, true);
  return core.put(new Uint8Array(view.buffer));
}

function hasRole({ members, masks }: Edge, node: number, mask: number): boolean {
  const index = members.indexOf(node);
  return index >= 0 && ((masks?.[index] ?? 0) & mask) !== 0;
}

const edges = edgesWithMasks(randomFrom(11), 600, 9);
const large = edgesWithMasks(randomFrom(12), 20, 255);

describe.each(BUILDS)('role masks, %s build', (build) => {
  it('are encoded as section 1 of FORMAT.md says', () => {
    const core = new Instance(build);
    for (const some of [edges, large]) {
      const { status, bytes } = encodeRoles(core, some, 200_000);
      expect(status).toBeGreaterThan(0);
      expect(Buffer.from(bytes).equals(concat(some.map((edge) => naiveRecord(edge, COLUMNS))))).toBe(true);
      expect(core.x.hg_records_check(core.put(bytes), bytes.length, some.length)).toBe(0);
    }
  });

  it('need members that ascend, and room', () => {
    const core = new Instance(build);
    const edge = (members: number[]): Edge => ({
      time: 1,
      id: 1,
      members,
      masks: members.map(() => 1),
      properties: new Map(),
    });
    expect(encodeRoles(core, [edge([1, 2]), edge([2, 1])], 1000).status).toBe(STATUS.badArgument);
    expect(core.offset).toBe(1);
    expect(encodeRoles(core, [edge([2, 2])], 1000).status).toBe(STATUS.badArgument);
    expect(encodeRoles(core, [edge([1, 2])], 40).status).toBe(STATUS.tooSmall);
    const needed = core.needed;
    expect(encodeRoles(core, [edge([1, 2])], needed).status).toBeGreaterThan(0);
  });

  it('are refused where they are damaged', () => {
    const core = new Instance(build);
    const good = naiveRecord({ time: 1, id: 1, members: [1, 2], masks: [1, 0], properties: new Map() });
    const check = (bytes: Uint8Array) => core.x.hg_records_check(core.put(bytes), bytes.length, 1);
    expect(check(good)).toBe(0);
    const altered = (change: (bytes: Uint8Array) => void): Uint8Array => {
      const bytes = good.slice();
      change(bytes);
      return bytes;
    };
    // Without a mask that is not 0, with an unknown flag, without the flag, and cut off.
    expect(check(altered((bytes) => bytes.fill(0, bytes.length - 4)))).toBe(STATUS.corrupt);
    expect(check(altered((bytes) => bytes.fill(3, 5, 6)))).toBe(STATUS.corrupt);
    expect(check(altered((bytes) => bytes.fill(0, 5, 6)))).toBe(STATUS.corrupt);
    const cut = good.slice(0, good.length - 1);
    cut[0] = cut.length;
    expect(check(cut)).toBe(STATUS.corrupt);
  });

  it('survive a segment, its export and its rows', () => {
    const core = new Instance(build);
    for (const some of [edges, large]) {
      const segment = buildSegment(core, some, COLUMNS, 60);
      expect(core.x.hg_segment_field(segment.file, 0)).toBe(2);
      const rows = some.map((_, row) => row);
      const list = core.putWords(rows);
      const out = core.alloc(300_000);
      const bytes = core.x.hg_segment_records(segment.handle, list, rows.length, out, 300_000);
      expect(core.rows).toBe(rows.length);
      const rebuilt = buildFrom(core, placeAddresses(core, out, rows.length), rows.length, COLUMNS, 60);
      expect(bytes).toBeGreaterThan(0);
      expect(
        Buffer.from(core.bytes(rebuilt.file, rebuilt.status)).equals(core.bytes(segment.file, segment.bytes)),
      ).toBe(true);
      for (const roles of [ROLES, []]) {
        const plan = core.put(planOf(COLUMNS, roles).bytes);
        const expected = some.map((edge) => `${rowText(edge, COLUMNS, roles)}\n`).join('');
        for (const capacity of [400, 5000, 300_000]) {
          expect(
            gatherText(core, rows, 2, capacity, (at, n, kind, to, room) =>
              core.x.hg_segment_json(segment.handle, at, n, plan, kind, to, room),
            ),
          ).toBe(expected);
          const addresses = core.words(placeRecords(core, some, COLUMNS), some.length);
          expect(
            gatherText(core, addresses, 2, capacity, (at, n, kind, to, room) =>
              core.x.hg_records_json(at, n, plan, kind, to, room),
            ),
          ).toBe(expected);
        }
      }
    }
  });

  it('leave the bytes of a segment without them as they were', () => {
    const core = new Instance(build);
    const plain = edges.map(({ masks: _, ...edge }) => edge);
    const segment = buildSegment(core, plain, COLUMNS, 60);
    expect(core.x.hg_segment_field(segment.file, 0)).toBe(1);
    expect(core.x.hg_segment_section(segment.file, 10, 0)).toBe(0);
  });

  it('are refused in a segment of version 1, and with another size', () => {
    const core = new Instance(build);
    const segment = buildSegment(core, edges, COLUMNS, 60);
    const file = core.bytes(segment.file, segment.bytes);
    const altered = (change: (view: DataView) => void): number => {
      const bytes = file.slice();
      const view = new DataView(bytes.buffer);
      change(view);
      const sections = view.getUint32(20, true);
      const at = core.put(bytes);
      const first = core.x.hg_crc32c(at, 12, 0);
      view.setUint32(12, core.x.hg_crc32c(at + 16, 112 + 24 * sections, first), true);
      return core.x.hg_segment_check(core.put(bytes), bytes.length, 1);
    };
    const entry = Array.from({ length: 20 }, (_, i) => 128 + i * 24).find(
      (at) => new DataView(file.buffer).getUint16(at, true) === 10,
    )!;
    expect(altered(() => undefined)).toBe(0);
    expect(altered((view) => view.setUint32(8, 1, true))).toBe(STATUS.corrupt);
    expect(altered((view) => view.setUint32(entry + 12, view.getUint32(entry + 12, true) - 2, true))).toBe(
      STATUS.corrupt,
    );
    expect(altered((view) => view.setUint32(8, 4, true))).toBe(STATUS.unsupported);
  });

  it('filter rows by the role of a node, in segments and memtables', () => {
    const core = new Instance(build);
    const segment = buildSegment(core, edges, COLUMNS, 60);
    const memtable = core.x.hg_memtable_new(60, 0) >>> 0;
    const bytes = concat(edges.map((edge) => naiveRecord(edge, COLUMNS)));
    const at = core.x.hg_memtable_reserve(memtable, bytes.length, edges.length) >>> 0;
    core.core.memory.write(at, bytes);
    expect(core.x.hg_memtable_append(memtable, at, edges.length, 1)).toBe(0);
    const random = randomFrom(5);
    let found = 0;
    for (let round = 0; round < 300; round++) {
      const edge = edges[random.below(edges.length)]!;
      const node = random.below(8) === 0 ? random.below(900) : edge.members[random.below(edge.members.length)]!;
      const mask = random.below(2) === 0 ? 1 << random.below(16) : random.below(65536);
      const rows = edges.map((_, row) => row).filter(() => random.below(3) > 0);
      const expected = rows.filter((row) => hasRole(edges[row]!, node, mask));
      const range = placeRole(core, node, mask);
      for (const call of [
        (list: number) => core.x.hg_segment_filter(segment.handle, list, rows.length, range, 1),
        (list: number) => core.x.hg_memtable_filter(memtable, list, rows.length, range, 1),
      ]) {
        const list = core.putWords([...rows, 0]);
        expect(core.words(list, call(list))).toEqual(expected);
      }
      found += expected.length;
    }
    expect(found).toBeGreaterThan(100);
  });

  it('stand in column blocks beside the members', () => {
    const core = new Instance(build);
    const plan = buildColumnPlan({ ids: true, masks: true, columns: [{ id: 6, type: 'TEXT', missing: null }] });
    const planAt = core.put(plan.bytes);
    const segment = buildSegment(core, edges, COLUMNS, 60);
    const rows = edges.map((_, row) => row).filter((row) => row % 5 !== 0);
    const addresses = core.words(placeRecords(core, edges, COLUMNS), edges.length);
    const out = core.alloc(400_000);
    for (const [list, call] of [
      [rows, core.x.hg_segment_json.bind(undefined, segment.handle)],
      [rows.map((row) => addresses[row]!), core.x.hg_records_json],
    ] as const) {
      const written = call(core.putWords(list), list.length, planAt, 3, out, 400_000);
      expect(written).toBeGreaterThan(0);
      expect(core.rows).toBe(rows.length);
      const [block] = readColumnBlocks(core.bytes(out, written), plan);
      expect(Array.from(block!.ids)).toEqual(rows.map((row) => edges[row]!.id));
      expect(Array.from(block!.members)).toEqual(rows.flatMap((row) => edges[row]!.members));
      const masks = rows.flatMap((row) => edges[row]!.masks ?? edges[row]!.members.map(() => 0));
      expect(Array.from(block!.masks)).toEqual(masks);
    }
  });
});

function placeAddresses(core: Instance, base: number, count: number): number {
  const addresses: number[] = [];
  let at = base;
  for (let i = 0; i < count; i++) {
    addresses.push(at);
    at += new DataView(core.bytes(at, 4).buffer).getUint32(0, true);
  }
  return core.putWords(addresses);
}
