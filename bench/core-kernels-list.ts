// The kernels timed on a segment of real edges, each with its peers.

import { buildRowPlan, encodeProperties, loadCore } from 'hedgerow/core';
import { type Random, randomFrom } from '../test/core/support/random.ts';
import { BUCKET_SECONDS, bytesOf, Loaded } from './core-kernels-input.ts';
import * as peers from './core-kernels-peers.ts';
import { drawCoMembers, drawNodes, drawWindows, type Edge } from './dataset.ts';

export interface Kernel {
  name: string;
  unit: string;
  /** Does the work once; every peer must return the same result. */
  ours: () => number;
  js: { name: string; run: () => number }[];
  /** Name and input of the peer in core-kernels.c. */
  c?: { name: string; queries: readonly [number, number][] };
  /** Returns how many units of work a run has done, given its result. */
  units: (result: number) => number;
}

const MERGED_RUNS = 4;
const WEIGHT_COLUMN = 0;
const REAL = 1;

/** Returns all kernels. They run on segments and records of the given edges, at most 65,536. */
export function makeKernels(edges: readonly Edge[]): Kernel[] {
  const loaded = new Loaded(edges);
  const segment = peers.buildSegment(loaded.columns);
  const random = randomFrom(51);
  return [
    ...codecKernels(loaded),
    ...buildKernels(loaded),
    ...timeKernels(loaded, segment, edges, random),
    ...nodeKernels(loaded, segment, edges),
    reconcileKernel(loaded),
    mergeKernel(loaded),
    jsonKernel(loaded, segment),
    psiKernel(edges, random),
    appendKernel(loaded),
  ];
}

function codecKernels(loaded: Loaded): Kernel[] {
  const { core, columns, rows, incidences, records } = loaded;
  const { exports, memory } = core;
  const view = new DataView(new ArrayBuffer(loaded.outBytes));
  const encoded = new DataView(memory.borrow(records, loaded.recordBytes + 8).slice().buffer);
  const leb = new DataView(new ArrayBuffer(loaded.outBytes));
  peers.encodeLeb128(columns, leb);
  const decoded = new Float64Array(256);
  const addresses = memory.words.slice(loaded.list / 4, loaded.list / 4 + rows);
  return [
    {
      name: 'encode records',
      unit: 'members',
      ours: () => Number(loaded.encode() > 0),
      js: [
        { name: 'JS stream-vbyte', run: () => Number(peers.encodeStreamVbyte(columns, view) === loaded.recordBytes) },
        { name: 'JS LEB128', run: () => Number(peers.encodeLeb128(columns, view) > 0) },
      ],
      units: () => incidences,
    },
    {
      name: 'decode records, one call each',
      unit: 'members',
      ours: () => {
        let sum = 0;
        for (let row = 0; row < rows; row++) {
          const count = exports.hg_record_members(addresses[row]!, loaded.out);
          sum = (sum + memory.numbers[loaded.out / 8 + count - 1]!) >>> 0;
        }
        return sum;
      },
      js: [
        { name: 'JS stream-vbyte', run: () => peers.decodeStreamVbyte(rows, encoded, decoded) },
        { name: 'JS LEB128', run: () => peers.decodeLeb128(rows, leb, decoded) },
      ],
      c: { name: 'decode', queries: [] },
      units: () => incidences,
    },
    {
      name: 'check records',
      unit: 'members',
      ours: () => exports.hg_records_check(records, loaded.recordBytes, rows),
      js: [{ name: 'JS decoding only', run: () => peers.decodeStreamVbyte(rows, encoded, decoded) * 0 }],
      units: () => incidences,
    },
  ];
}

function buildKernels(loaded: Loaded): Kernel[] {
  return [
    {
      name: 'build segment',
      unit: 'rows',
      ours: () => {
        const built = loaded.build(0, 0);
        const nodes = loaded.core.exports.hg_segment_field(built, 4);
        loaded.core.exports.hg_memory_free(built);
        return nodes;
      },
      js: [{ name: 'JS without filter and checksums', run: () => peers.buildSegment(loaded.columns).nodes.length }],
      units: () => loaded.rows,
    },
  ];
}

function timeKernels(loaded: Loaded, segment: peers.PeerSegment, edges: readonly Edge[], random: Random): Kernel[] {
  const { core, handle, rows, out } = loaded;
  const { exports } = core;
  const first = edges[0]!.event_ts;
  const span = edges[rows - 1]!.event_ts - first;
  const seeks = Array.from({ length: 4096 }, () => first + Math.floor(random.unit() * span));
  const windows = drawWindows(edges, 500, 0.02, 52);
  const list = new Uint32Array(rows);
  const sum = (queries: readonly number[], run: (query: number) => number) =>
    queries.reduce((total, query) => total + run(query), 0);
  return [
    {
      name: 'seek a time',
      unit: 'seeks',
      ours: () => sum(seeks, (time) => exports.hg_segment_seek(handle, time, -Infinity)),
      js: [{ name: 'JS', run: () => sum(seeks, (time) => peers.lowerBound(segment.times, time - first)) }],
      c: { name: 'seek', queries: seeks.map((time) => [time, 0]) },
      units: () => seeks.length,
    },
    {
      name: 'time range to row list',
      unit: 'rows',
      ours: () => {
        let total = 0;
        for (const { startTs, endTs } of windows) {
          const from = exports.hg_segment_seek(handle, startTs, -Infinity);
          const to = exports.hg_segment_seek(handle, endTs, Infinity);
          exports.hg_rows_range(from, to, out);
          total += to - from;
        }
        return total;
      },
      js: [
        {
          name: 'JS',
          run: () =>
            windows.reduce(
              (total, { startTs, endTs }) =>
                total + peers.rangeRows(segment.times, startTs - first, endTs - first, list),
              0,
            ),
        },
      ],
      c: { name: 'range', queries: windows.map(({ startTs, endTs }) => [startTs, endTs]) },
      units: (result) => result,
    },
  ];
}

function nodeKernels(loaded: Loaded, segment: peers.PeerSegment, edges: readonly Edge[]): Kernel[] {
  const { core, handle, rows, out, arguments: place } = loaded;
  const { exports, memory } = core;
  const nodes = drawNodes(edges, 1000, 53);
  const pairs = drawCoMembers(edges, 1000, 54);
  const list = new Uint32Array(rows + 64);
  return [
    {
      name: 'look up a node, by degree',
      unit: 'rows',
      ours: () => {
        let total = 0;
        for (const node of nodes) {
          memory.numbers[place / 8] = node;
          total += exports.hg_segment_lookup(handle, place, 1, 0, rows, out, rows);
        }
        return total;
      },
      js: [{ name: 'JS', run: () => nodes.reduce((total, node) => total + peers.lookup(segment, node, list), 0) }],
      c: { name: 'lookup', queries: nodes.map((node) => [node, 0]) },
      units: (result) => result,
    },
    {
      name: 'rows with two given nodes',
      unit: 'pairs',
      ours: () => {
        let total = 0;
        for (const [left, right] of pairs) {
          memory.numbers[place / 8] = left;
          memory.numbers[place / 8 + 1] = right;
          total += exports.hg_segment_lookup(handle, place, 2, 0, rows, out, rows);
        }
        return total;
      },
      js: [
        {
          name: 'JS',
          run: () => pairs.reduce((total, [left, right]) => total + peers.lookupBoth(segment, left, right, list), 0),
        },
      ],
      c: { name: 'both', queries: pairs },
      units: () => pairs.length,
    },
  ];
}

/** Returns a kernel that removes dead rows from a list: one row in eight, rows 3, 11, 19, ... */
function reconcileKernel(loaded: Loaded): Kernel {
  const { core, rows, out } = loaded;
  const dead = Uint32Array.from({ length: rows >> 3 }, (_, i) => i * 8 + 3);
  const deadAt = loaded.place(bytesOf(dead));
  const list = new Uint32Array(rows);
  return {
    name: 'remove dead rows from a list',
    unit: 'rows',
    ours: () => {
      core.exports.hg_rows_range(0, rows, out);
      return core.exports.hg_rows_reconcile(out, rows, deadAt, 0, dead.length, 0);
    },
    js: [{ name: 'JS', run: () => peers.reconcile(rows, dead, list) }],
    c: { name: 'reconcile', queries: [] },
    units: () => rows,
  };
}

/**
 * Returns a kernel that merges runs. Rows are dealt to the runs round-robin, so that the runs
 * interleave completely.
 */
function mergeKernel(loaded: Loaded): Kernel {
  const { core, rows, out, columns } = loaded;
  const { words, bytes } = core.memory;
  const records = Array.from({ length: MERGED_RUNS }, (): Uint8Array[] => []);
  const keys = Array.from({ length: MERGED_RUNS }, (): [number, number][] => []);
  for (let row = 0; row < rows; row++) {
    const at = words[loaded.list / 4 + row]!;
    records[row % MERGED_RUNS]!.push(bytes.slice(at, at + new DataView(bytes.buffer).getUint32(at, true)));
    keys[row % MERGED_RUNS]!.push([columns.times[row]!, row + 1]);
  }
  const regions = records.flatMap((run) => {
    const whole = Buffer.concat(run);
    return [loaded.place(whole), whole.length];
  });
  const runsAt = loaded.place(bytesOf(Uint32Array.from(regions)));
  const runs = keys.map((run) => ({
    times: Float64Array.from(run, ([time]) => time),
    ids: Float64Array.from(run, ([, id]) => id),
  }));
  const merged = new Uint32Array(rows);
  return {
    name: `merge ${MERGED_RUNS} runs`,
    unit: 'rows',
    ours: () => core.exports.hg_records_merge(runsAt, MERGED_RUNS, out, rows + 1),
    js: [{ name: 'JS on key columns', run: () => peers.mergeRuns(runs, merged) }],
    c: { name: 'merge', queries: [] },
    units: () => rows,
  };
}

function jsonKernel(loaded: Loaded, segment: peers.PeerSegment): Kernel {
  const { core, rows, columns } = loaded;
  const names = ['weight', 'mean_dist_m', 'formation'];
  const plan = loaded.place(buildRowPlan(names.map((name, id) => ({ id, name, missing: 'null' }))).bytes);
  const out = new Uint8Array(loaded.textBytes);
  core.exports.hg_rows_range(0, rows, loaded.out);
  const list = loaded.place(core.memory.borrow(loaded.out, rows * 4).slice());
  return {
    name: 'rows to JSON text',
    unit: 'rows',
    ours: () => core.exports.hg_segment_json(loaded.handle, list, rows, plan, 0, loaded.text, loaded.textBytes),
    js: [
      { name: 'JS concatenation', run: () => peers.jsonRows(segment, columns.times, out) },
      { name: 'JSON.stringify', run: () => peers.stringifyRows(segment, columns.times, out) },
    ],
    c: { name: 'json', queries: [] },
    units: () => rows,
  };
}

/**
 * Returns a kernel that finds the rows in a range of values. Uses a segment of its own that has a
 * numeric column with an order index; each range covers a hundredth of the values.
 */
function psiKernel(edges: readonly Edge[], random: Random): Kernel {
  const weights = Float64Array.from(edges, () => Math.floor(random.unit() * 1e6) / 100);
  const loaded = new Loaded(edges);
  const { core, rows, out, input } = loaded;
  const { exports } = core;
  const blocks = Array.from(weights, (value) =>
    Uint8Array.from(encodeProperties([{ column: WEIGHT_COLUMN, type: 'REAL', value }])),
  );
  const ends = Uint32Array.from(blocks, (block, i) => (i + 1) * block.length);
  const properties = loaded.place(Buffer.concat(blocks));
  const room = loaded.recordBytes + ends[rows - 1]! + 64;
  const records = loaded.allocate(room);
  const size = exports.hg_records_encode(
    rows,
    input.times,
    input.ids,
    input.counts,
    input.members,
    loaded.place(bytesOf(ends)),
    properties,
    255,
    records,
    room,
  );
  if (size < 0) throw new Error(`hg_records_encode: ${size}`);
  loaded.listRecords(records, loaded.list, rows);
  const column = loaded.place(bytesOf(Uint32Array.of(WEIGHT_COLUMN | (REAL << 16) | (1 << 24), 0)));
  const handle = exports.hg_segment_open(loaded.build(column, 1)) >>> 0;
  const order = Uint16Array.from(Array.from(weights.keys()).sort((a, b) => weights[a]! - weights[b]! || a - b));
  const sorted = Float64Array.from(order, (row) => weights[row]!);
  const lows = Array.from({ length: 200 }, () => random.unit() * 9900);
  const list = new Uint32Array(rows);
  return {
    name: 'rows in a range of values',
    unit: 'rows',
    ours: () =>
      lows.reduce(
        (total, low) => total + exports.hg_segment_psi(handle, WEIGHT_COLUMN, low, low + 100, 0, out, rows),
        0,
      ),
    js: [
      {
        name: 'JS',
        run: () => lows.reduce((total, low) => total + peers.psiRange(sorted, order, low, low + 100, list), 0),
      },
    ],
    units: (result) => result,
  };
}

/**
 * Returns a kernel that appends records to a new memtable, then does the first lookup, which builds
 * the index.
 */
function appendKernel(loaded: Loaded): Kernel {
  const { columns, rows, incidences } = loaded;
  const records = loaded.core.memory.borrow(loaded.records, loaded.recordBytes).slice();
  const core = loadCore().instantiate();
  const { exports, memory } = core;
  const node = columns.members[0]!;
  return {
    name: 'append to a memtable and index it',
    unit: 'members',
    ours: () => {
      exports.hg_memory_reset();
      const memtable = exports.hg_memtable_new(BUCKET_SECONDS, 0) >>> 0;
      const reserved = exports.hg_memtable_reserve(memtable, records.length, rows) >>> 0;
      memory.write(reserved, records);
      exports.hg_memtable_append(memtable, reserved, rows, 1);
      const place = exports.hg_memory_alloc(8) >>> 0;
      const out = exports.hg_memory_alloc(rows * 4 + 64) >>> 0;
      memory.numbers[place / 8] = node;
      return exports.hg_memtable_lookup(memtable, place, 1, -Infinity, -Infinity, Infinity, rows, out, rows);
    },
    js: [
      {
        name: 'JS Map of arrays',
        run: () => {
          const lists = new Map<number, number[]>();
          for (let row = 0, at = 0; row < rows; row++) {
            for (const end = at + columns.counts[row]!; at < end; at++) {
              const list = lists.get(columns.members[at]!);
              if (list === undefined) lists.set(columns.members[at]!, [row]);
              else list.push(row);
            }
          }
          return lists.get(node)!.length;
        },
      },
    ],
    units: () => incidences,
  };
}
