// Compares column blocks with rows, in every build. Columns from segment rows and memtable records
// must contain what the rows contain, whichever parts are selected and however small the buffer is.

import { describe, expect, it } from 'vitest';
import {
  type BlockColumn,
  buildColumnPlan,
  type ColumnBlock,
  type ColumnPlan,
  readColumnBlocks,
} from '../../src/core/index.ts';
import type { Database, Table } from '../../src/engine/index.ts';
import { BUILDS, Instance, STATUS } from '../core/support/instance.ts';
import { COLUMNS, type Column, type Edge, edgeOf, randomTable, type Value } from '../core/support/model.ts';
import { type Random, randomFrom } from '../core/support/random.ts';
import { buildSegment, placeRecords } from '../core/support/segments.ts';
import { makeTables } from '../core/support/shapes.ts';
import { Random as SeededRandom } from '../support/random.ts';
import { openSim, rowsOf, simDisk } from '../support/sim-engine.ts';
import { makeTables as makeRandomTables, ROLES, randomEdges } from './random-tables.ts';

/** The parts of a row that a block must contain, in the plan's order. */
type Row = { time?: number; id?: number; size?: number; members?: number[]; values: Value[] };

interface Wanted {
  times: boolean;
  ids: boolean;
  sizes: boolean;
  members: boolean;
  columns: readonly Column[];
}

function planOf({ columns, ...parts }: Wanted): ColumnPlan {
  return buildColumnPlan({
    ...parts,
    columns: columns.map(({ id, type, byDefault }) => ({ id, type, missing: byDefault })),
  });
}

function expectedRow(edge: Edge, wanted: Wanted): Row {
  const values = wanted.columns.map(({ id, byDefault }) =>
    edge.properties.has(id) ? edge.properties.get(id)! : byDefault,
  );
  return {
    ...(wanted.times ? { time: edge.time } : {}),
    ...(wanted.ids ? { id: edge.id } : {}),
    ...(wanted.sizes || wanted.members ? { size: edge.members.length } : {}),
    ...(wanted.members ? { members: edge.members } : {}),
    values: values.map((value) => (value === 0 ? 0 : value)),
  };
}

function rowsOfBlock(block: ColumnBlock, wanted: Wanted): Row[] {
  const rows: Row[] = [];
  let member = 0;
  for (let i = 0; i < block.rows; i++) {
    const size = block.sizes[i]!;
    rows.push({
      ...(wanted.times ? { time: block.times[i]! } : {}),
      ...(wanted.ids ? { id: block.ids[i]! } : {}),
      ...(wanted.sizes || wanted.members ? { size } : {}),
      ...(wanted.members ? { members: [...block.members.subarray(member, member + size)] } : {}),
      values: wanted.columns.map((column, place) => valueIn(block, place, i, column.type)),
    });
    member += size;
  }
  expect(block.members.length).toBe(wanted.members ? member : 0);
  return rows;
}

function valueIn(block: ColumnBlock, place: number, row: number, type: string): Value {
  const column = block.columns[place]!;
  if (column.nulls[row] === 1) return null;
  if (column.kind === 'text') return column.texts[column.codes[row]!]!;
  const value = column.values[row]! + 0;
  return type === 'BOOLEAN' ? value === 1 : value;
}

/**
 * Repeats a call until all rows are done, and returns all blocks. The buffer grows only when a
 * single row needs more space.
 */
function gatherBlocks(
  instance: Instance,
  rows: readonly number[],
  plan: ColumnPlan,
  capacity: number,
  call: (list: number, n: number, plan: number, out: number, room: number) => number,
): ColumnBlock[] {
  const list = instance.putWords(rows.length > 0 ? rows : [0]);
  const planAt = instance.put(plan.bytes);
  const blocks: ColumnBlock[] = [];
  let room = capacity;
  let out = instance.alloc(room + GUARD.length);
  for (let done = 0; done < rows.length; ) {
    instance.core.memory.write(out + room, GUARD);
    const written = call(list + done * 4, rows.length - done, planAt, out, room);
    expect(instance.bytes(out + room, GUARD.length)).toEqual(GUARD);
    if (written === STATUS.tooSmall) {
      expect(instance.needed).toBeGreaterThan(room);
      room = instance.needed;
      out = instance.alloc(room + GUARD.length);
      continue;
    }
    expect(written).toBeGreaterThan(0);
    expect(written % 8).toBe(0);
    expect(instance.rows).toBeGreaterThan(0);
    const [block, ...more] = readColumnBlocks(instance.bytes(out, written), plan);
    expect(more).toEqual([]);
    expect(block!.rows).toBe(instance.rows);
    blocks.push(block!);
    done += instance.rows;
  }
  return blocks;
}

/** Bytes after the buffer, which no call may change. */
const GUARD = Uint8Array.from({ length: 16 }, (_, i) => 0xa0 + i);

function wantedOf(random: Random, columns: readonly Column[]): Wanted {
  const some = () => random.below(2) === 1;
  const chosen = columns.filter(() => random.below(3) > 0);
  const members = some();
  return {
    times: some(),
    ids: some(),
    sizes: members || some(),
    members,
    columns: random.below(5) === 0 ? [] : chosen,
  };
}

const EVERYTHING: Wanted = { times: true, ids: true, sizes: true, members: true, columns: COLUMNS };

function somePlaces(random: Random, count: number): number[] {
  const all = Array.from({ length: count }, (_, i) => i);
  if (random.below(3) === 0) return all.slice(0, MOST_PLACES);
  const share = 1 + random.below(9);
  return all.filter(() => random.below(share) === 0).slice(0, MOST_PLACES);
}

const MOST_PLACES = 600;

/**
 * Returns texts with characters of every length in UTF-8: the first and last of each range, and
 * random ones.
 */
function unicodeTexts(random: Random): string[] {
  const ends = [
    0, 1, 0x1f, 0x22, 0x5c, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x10ffff,
  ];
  const codePoint = () => {
    const code = random.below(4) === 0 ? ends[random.below(ends.length)]! : random.below(0x110000);
    return code >= 0xd800 && code <= 0xdfff ? 0x1f600 : code;
  };
  const texts = ends.map((code) => String.fromCodePoint(code));
  for (let i = 0; i < 60; i++)
    texts.push(Array.from({ length: random.below(40) }, () => String.fromCodePoint(codePoint())).join(''));
  return [...texts, '', 'x'.repeat(65_535), '😀'.repeat(16_000), '\0'.repeat(100)];
}

function unicodeEdges(random: Random): Edge[] {
  return unicodeTexts(random).flatMap((text, place) => [
    edgeOf(place, 3 * place, [place, place + 5], { 6: text, 7: `${text}!` }),
    edgeOf(place, 3 * place + 1, [1], place % 3 === 0 ? {} : { 6: null, 7: text }),
    edgeOf(place, 3 * place + 2, [1, 2, 3], { 7: null, 0: place / 4, 8: place % 2 === 0 }),
  ]);
}

describe.each(BUILDS)('column blocks, %s build', (build) => {
  const tables = [
    ...makeTables().filter((table) => table.edges.length < 60_000),
    { name: 'every character', bucketSeconds: 10, columns: COLUMNS, edges: unicodeEdges(randomFrom(5)) },
  ];

  describe.each(tables)('read from $name', ({ edges, columns, bucketSeconds }) => {
    it('contain the rows of a segment', () => {
      const core = new Instance(build);
      const random = randomFrom(edges.length);
      const segment = buildSegment(core, edges, columns, bucketSeconds);
      for (let round = 0; round < 4; round++) {
        const wanted = round === 0 ? EVERYTHING : wantedOf(random, COLUMNS);
        const rows = somePlaces(random, edges.length);
        const blocks = gatherBlocks(
          core,
          rows,
          planOf(wanted),
          [65_536, 64, 2000, 65_536][round]!,
          (list, n, plan, out, room) => core.x.hg_segment_json(segment.handle, list, n, plan, 3, out, room),
        );
        expect(blocks.flatMap((block) => rowsOfBlock(block, wanted))).toEqual(
          rows.map((row) => expectedRow(edges[row]!, wanted)),
        );
      }
    });

    it('contain the rows of memtable records', () => {
      const core = new Instance(build);
      const random = randomFrom(edges.length + 1);
      const list = placeRecords(core, edges, columns);
      const addresses = core.words(list, edges.length);
      for (let round = 0; round < 4; round++) {
        const wanted = round === 0 ? EVERYTHING : wantedOf(random, COLUMNS);
        const rows = somePlaces(random, edges.length);
        const blocks = gatherBlocks(
          core,
          rows.map((row) => addresses[row]!),
          planOf(wanted),
          [65_536, 64, 2000, 65_536][round]!,
          (at, n, plan, out, room) => core.x.hg_records_json(at, n, plan, 3, out, room),
        );
        expect(blocks.flatMap((block) => rowsOfBlock(block, wanted))).toEqual(
          rows.map((row) => expectedRow(edges[row]!, wanted)),
        );
      }
    });
  });

  it('contain the defaults if the segment was built before its columns were added', () => {
    const core = new Instance(build);
    const random = randomFrom(77);
    const edges = randomTable(random, {
      rows: 100,
      time: (_, row) => row,
      id: (_, row) => row,
      node: () => random.below(9),
      members: () => 2,
      columns: COLUMNS.slice(0, 3),
      sparsity: 2,
    });
    const { handle } = buildSegment(core, edges, COLUMNS.slice(0, 3), 10);
    const long = 'é'.repeat(20_000);
    const columns = COLUMNS.map((column) => (column.name === 'tag' ? { ...column, byDefault: long } : column));
    const wanted = { ...EVERYTHING, columns };
    const rows = edges.map((_, row) => row);
    const blocks = gatherBlocks(core, rows, planOf(wanted), 65_536, (list, n, plan, out, room) =>
      core.x.hg_segment_json(handle, list, n, plan, 3, out, room),
    );
    expect(blocks.flatMap((block) => rowsOfBlock(block, wanted))).toEqual(
      edges.map((edge) => expectedRow(edge, wanted)),
    );
  });

  it('follow each other in a scan, and contain the same values as the rows in JSON', async () => {
    for (const seed of [1, 2, 3]) {
      const random = new SeededRandom(seed);
      const database = await openSim(simDisk(seed), { core: build });
      const [contact] = await makeRandomTables(database, random, seed === 2 ? ROLES : []);
      for (let round = 0; round < 3; round++) {
        await contact!.insert(randomEdges(random, 40, contact!.table.roles.names));
        await contact!.deleteSome(random, 0.15);
        expectSameRows(database, contact!.table, random);
        if (round < 2) await database.compact();
        expectSameRows(database, contact!.table, random);
      }
    }
  });
});

/** Runs some scans of a table in both forms, and compares them. */
function expectSameRows(database: Database, table: Table, random: SeededRandom): void {
  const requests = [
    {},
    { startTs: -10, endTs: 20 },
    { nodes: [2] },
    { where: [{ column: 'n', low: 0, high: 5 }] },
    { limit: 7 },
    { nodes: [1, 2], startTs: 0 },
  ];
  for (const request of requests) {
    const columns = table.columns.columns.filter(() => random.below(4) > 0);
    const blockColumns = columns.map(({ id, type, default: missing }): BlockColumn => ({ id, type, missing }));
    const plan = buildColumnPlan({ times: true, ids: true, members: true, columns: blockColumns });
    const scan = table.scan({ format: 'columns', columns: plan, ...request }, database.snapshot(table));
    const rows: Record<string, unknown>[] = [];
    for (let bytes = scan.next(); bytes !== null; bytes = scan.next()) {
      expect(bytes.byteOffset % 8).toBe(0);
      for (const block of readColumnBlocks(bytes, plan)) rows.push(...objectsOf(block, columns));
    }
    const names = ['id', 'event_ts', 'members', ...columns.map((column) => column.name)];
    const expected = rowsOf(table, request).map((row) => Object.fromEntries(names.map((name) => [name, row[name]])));
    expect(rows).toEqual(expected);
  }
}

function objectsOf(
  block: ColumnBlock,
  columns: readonly { name: string; type: Column['type'] }[],
): Record<string, unknown>[] {
  const wanted: Wanted = {
    ...EVERYTHING,
    columns: columns.map((column) => ({ ...column, id: 0, indexed: false, byDefault: null })),
  };
  return rowsOfBlock(block, wanted).map(({ time, id, members, values }) => ({
    id,
    event_ts: time,
    members,
    ...Object.fromEntries(columns.map((column, place) => [column.name, values[place]])),
  }));
}
