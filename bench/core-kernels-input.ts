// Loads real edges into an instance of the core, in the forms that the timed kernels take.

import { type Core, loadCore } from 'hedgerow/core';
import type { Columns } from './core-kernels-peers.ts';
import type { Edge } from './dataset.ts';

export const BUCKET_SECONDS = 10;

/** Edges in an instance of the core: as columns, as records, and as an open segment. */
export class Loaded {
  readonly core: Core = loadCore().instantiate();
  readonly columns: Columns;
  readonly rows: number;
  readonly incidences: number;
  readonly input: { times: number; ids: number; counts: number; members: number };
  /** Address of the records, stored back to back. */
  readonly records: number;
  readonly recordBytes: number;
  readonly list: number;
  readonly handle: number;
  /** Buffers for row lists and records (`out`), for text and for arguments. */
  readonly out: number;
  readonly outBytes: number;
  readonly text: number;
  readonly textBytes: number;
  readonly arguments: number;

  constructor(edges: readonly Edge[]) {
    this.columns = columnsOf(edges);
    const { rows, times, counts, members } = this.columns;
    this.rows = rows;
    this.incidences = members.length;
    const ids = Float64Array.from({ length: rows }, (_, row) => row + 1);
    this.input = {
      times: this.place(bytesOf(times)),
      ids: this.place(bytesOf(ids)),
      counts: this.place(bytesOf(counts)),
      members: this.place(bytesOf(members)),
    };
    this.outBytes = rows * 48 + members.length * 9;
    this.out = this.allocate(this.outBytes);
    this.textBytes = rows * 160 + members.length * 20;
    this.text = this.allocate(this.textBytes);
    this.arguments = this.allocate(64);
    this.recordBytes = this.encode();
    this.records = this.place(this.core.memory.borrow(this.out, this.recordBytes).slice());
    this.list = this.allocate(rows * 4);
    this.listRecords(this.records, this.list, rows);
    const built = this.build(0, 0);
    this.handle = this.core.exports.hg_segment_open(built) >>> 0;
  }

  allocate(bytes: number): number {
    const pointer = this.core.exports.hg_memory_alloc(bytes + 64) >>> 0;
    if (pointer === 0) throw new Error('the core has no memory left');
    return pointer;
  }

  place(bytes: Uint8Array): number {
    const pointer = this.allocate(bytes.length);
    this.core.memory.write(pointer, bytes);
    return pointer;
  }

  encode(): number {
    const { times, ids, counts, members } = this.input;
    const { exports } = this.core;
    return exports.hg_records_encode(this.rows, times, ids, counts, members, 0, 0, 255, this.out, this.outBytes);
  }

  /** Writes to `list` the address of each of `count` records, which are stored back to back. */
  listRecords(records: number, list: number, count: number): void {
    const view = new DataView(this.core.memory.bytes.buffer);
    for (let i = 0, at = records; i < count; i++) {
      view.setUint32(list + i * 4, at, true);
      at += view.getUint32(at, true);
    }
  }

  /** Builds the segment and returns its address; the caller frees it. */
  build(columns: number, columnCount: number): number {
    const { exports } = this.core;
    const bytes = exports.hg_segment_build(this.list, this.rows, BUCKET_SECONDS, 1, columns, columnCount, 0);
    if (bytes < 0) throw new Error(`hg_segment_build: ${bytes}`);
    return exports.hg_result_pointer() >>> 0;
  }
}

export function columnsOf(edges: readonly Edge[]): Columns {
  return {
    rows: edges.length,
    times: Float64Array.from(edges, (edge) => edge.event_ts),
    counts: Uint32Array.from(edges, (edge) => edge.members.length),
    members: Float64Array.from(edges.flatMap((edge) => edge.members)),
  };
}

export function bytesOf(list: ArrayBufferView): Uint8Array {
  return new Uint8Array(list.buffer, list.byteOffset, list.byteLength);
}
