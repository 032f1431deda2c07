// Row plans of named tables and of node tables: compares the text of segments and records with
// naive text, and, after translation, with JSON that has keys as members.

import { describe, expect, it } from 'vitest';
import { buildRowPlan, KeyDictionary, loadCore, type RowPlanOptions } from '../../src/core/index.ts';
import { BUILDS, Instance, STATUS } from './support/instance.ts';
import { COLUMNS, type Edge, planOf, randomTable, rowText } from './support/model.ts';
import { type Random, randomFrom } from './support/random.ts';
import { buildSegment, placeRecords } from './support/segments.ts';

const SEED = Number(process.env.HEDGEROW_SEED ?? 1);
const columnsOfPlan = COLUMNS.map(({ id, name, byDefault }) => ({ id, name, missing: JSON.stringify(byDefault) }));

/** Calls `write` until all rows are written; the text is not valid UTF-8 if it has marks. */
function gatherBytes(
  core: Instance,
  list: number,
  n: number,
  separator: number,
  capacity: number,
  write: (list: number, n: number, separator: number, out: number, capacity: number) => number,
): Buffer {
  const pieces: Uint8Array[] = [];
  let room = capacity;
  let out = core.alloc(room);
  for (let done = 0; done < n; ) {
    const kind = separator === 0 && done > 0 ? 1 : separator;
    const written = write(list + done * 4, n - done, kind, out, room);
    if (written === STATUS.tooSmall) {
      room = core.needed;
      out = core.alloc(room);
      continue;
    }
    if (written < 0) throw new Error(`status ${written}`);
    pieces.push(core.bytes(out, written));
    done += core.rows;
  }
  return Buffer.concat(pieces);
}

function markedText(edge: Edge): Buffer {
  const text = rowText(edge, COLUMNS);
  const marks = edge.members.map((member, i) => {
    const mark = Buffer.from(i === 0 ? '\u0001....' : ',\u0001....');
    mark.writeUInt32LE(member, mark.length - 4);
    return mark;
  });
  const [head, tail] = [text.indexOf('[') + 1, text.indexOf(']')];
  return Buffer.concat([Buffer.from(text.slice(0, head)), ...marks, Buffer.from(text.slice(tail))]);
}

/** Returns the text of the row as a node: the columns in the order of the table. */
function nodeText(edge: Edge): Buffer {
  const text = rowText(edge, COLUMNS);
  return Buffer.from(`{${text.slice(text.indexOf(']') + 2)}`);
}

function joined(rows: readonly Buffer[], separator: number): Buffer {
  return Buffer.concat(
    rows.flatMap((row, i) => {
      if (separator === 2) return [row, Buffer.from('\n')];
      return i === 0 && separator === 0 ? [row] : [Buffer.from(','), row];
    }),
  );
}

/** Nodes that fit into narrow and wide ids and ordinals of a segment. */
const NODES: Record<string, (random: Random) => number> = {
  'few small numbers': (random) => 1 + random.below(50),
  'numbers of 32 bits': (random) => 1 + random.below(2 ** 32 - 1),
  'numbers with bytes that are marks': (random) => 0x01010101 + 0x01000000 * random.below(5),
};

describe.each(BUILDS)('row text of the %s build', (build) => {
  it.each(Object.keys(NODES))('has marks as members, for %s', (name) => {
    const random = randomFrom(SEED);
    const edges = randomTable(random, {
      rows: 400,
      time: (_, row) => row * 3,
      id: (_, row) => row + 1,
      node: NODES[name]!,
      members: () => 1 + random.below(20),
      columns: COLUMNS,
      sparsity: 2,
    });
    const core = new Instance(build);
    const { handle } = buildSegment(core, edges, COLUMNS, 60);
    const records = placeRecords(core, edges, COLUMNS);
    const rows = core.putWords(edges.map((_, row) => row));
    const forms: [RowPlanOptions, (edge: Edge) => Buffer][] = [
      [{}, (edge) => Buffer.from(rowText(edge, COLUMNS))],
      [{ head: 'edge' }, (edge) => Buffer.from(rowText(edge, COLUMNS))],
      [{ named: true }, markedText],
      [{ head: 'node' }, nodeText],
      [{ head: 'node', named: true }, nodeText],
    ];
    for (const [options, textOf] of forms) {
      const plan = core.put(buildRowPlan(columnsOfPlan, options).bytes);
      for (const [separator, capacity] of [
        [0, 1 << 20],
        [1, 30_000],
        [2, 7000],
      ] as const) {
        const expected = joined(edges.map(textOf), separator);
        const ofSegment = gatherBytes(core, rows, edges.length, separator, capacity, (list, n, kind, out, room) =>
          core.x.hg_segment_json(handle, list, n, plan, kind, out, room),
        );
        expect(Buffer.compare(ofSegment, expected)).toBe(0);
        const ofRecords = gatherBytes(core, records, edges.length, separator, capacity, (list, n, kind, out, room) =>
          core.x.hg_records_json(list, n, plan, kind, out, room),
        );
        expect(Buffer.compare(ofRecords, expected)).toBe(0);
      }
    }
  });

  it('has keys as members after translation', () => {
    const random = randomFrom(SEED + 1);
    const dictionary = new KeyDictionary(loadCore(build).instantiate());
    dictionary.setKind(4, 'Person', false);
    const keys = Array.from(
      { length: 300 },
      (_, i) => `${'"n\\\u{1f33f}'.slice(0, i % 6).replace(/[\ud800-\udbff]$/, '')}${i}`,
    );
    for (const key of keys) dictionary.hold(4, key);
    const edges = randomTable(random, {
      rows: 1000,
      time: (_, row) => row,
      id: (_, row) => row + 1,
      node: () => 1 + random.below(keys.length),
      members: () => 1 + random.below(9),
      columns: [],
      sparsity: 1,
    });
    const core = new Instance(build);
    const { handle } = buildSegment(core, edges, [], 60);
    const plan = core.put(buildRowPlan([], { named: true }).bytes);
    const text = gatherBytes(
      core,
      core.putWords(edges.map((_, row) => row)),
      edges.length,
      0,
      9000,
      (list, n, kind, out, room) => core.x.hg_segment_json(handle, list, n, plan, kind, out, room),
    );
    const plain = edges.map(({ id, time, members }) => ({
      id,
      event_ts: time,
      members: members.map((n) => keys[n - 1]),
    }));
    expect(dictionary.translate(text, 'keys').toString()).toBe(JSON.stringify(plain).slice(1, -1));
    const objects = plain.map((row) => ({ ...row, members: row.members.map((key) => ({ kind: 'Person', key })) }));
    expect(dictionary.translate(text, 'objects').toString()).toBe(JSON.stringify(objects).slice(1, -1));
  });

  it('of a node plan without columns is empty objects, and a plan without options is as before', () => {
    const core = new Instance(build);
    const edges = [1, 2].map((id) => ({ time: 0, id, members: [id], properties: new Map() }));
    const { handle } = buildSegment(core, edges, [], 60);
    const out = core.alloc(4096);
    const plan = core.put(buildRowPlan([], { head: 'node' }).bytes);
    const written = core.x.hg_segment_json(handle, core.putWords([0, 1]), 2, plan, 0, out, 4096);
    expect(core.text(out, written)).toBe('{},{}');
    expect(buildRowPlan(columnsOfPlan, {}).bytes).toEqual(planOf(COLUMNS).bytes);
    expect([...buildRowPlan([]).bytes]).toEqual([0, 0, 0, 0]);
  });
});
