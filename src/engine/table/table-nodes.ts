// Counts the distinct nodes of one table in bounded steps: the nodes in the dictionaries of its
// segments, which are read from the files, and the nodes in its memtables.

import type { CoreMemtable } from '../../core/index.ts';
import type { Fs } from '../../storage/index.ts';
import { type AscendingList, DistinctMerge } from './distinct-merge.ts';
import type { SegmentFile } from './segment-file.ts';
import type { Table } from './table.ts';
import { Version } from './version.ts';

/**
 * Memory in bytes for the chunks of all segments of a table together. It is exceeded if there are
 * so many segments that their chunks have the minimum size.
 */
const CHUNK_BYTES = 8 * 2 ** 20;
const MAX_CHUNK_IDS = 4096;
const MIN_CHUNK_IDS = 64;
/** Number of node ids of a memtable that are sorted at a time; takes about 2 ms. */
const SORT_IDS = 16384;
/** Number of rows of a memtable that one step adds to its node index. */
const INDEX_ROWS = 4096;
/** Number of values merged per step; takes less than a millisecond. */
const STEP_IDS = 8192;

/**
 * Returns the approximate number of node ids that a count would examine, or 0 if the count is in
 * the segment headers. Reads no file.
 */
export function nodesToCount(table: Table): number {
  const { segments, memtables } = table.version;
  const rows = memtables.reduce((sum, { memtable }) => sum + memtable.rows, 0);
  if (rows === 0 && segments.length < 2) return 0;
  return segments.reduce((sum, { facts }) => sum + facts.nodes, rows * 4);
}

/** Returns a lower bound for the number of distinct nodes in the table. Reads no file. */
export function leastNodes(table: Table): number {
  return table.version.segments.reduce((most, { facts }) => Math.max(most, facts.nodes), 0);
}

/**
 * One count of a table's nodes. Pins the segments of the table's version until `close`, which must
 * be called. Keeps each memtable until its nodes are copied.
 */
export class TableNodes {
  readonly #table: Table;
  readonly #segments: Version;
  #memtables: CoreMemtable[];
  #lists: AscendingList[] = [];
  #unsorted: Float64Array[] = [];
  #merge: DistinctMerge | undefined;
  /** Memory that the count uses now, in bytes. */
  bytes: number;

  constructor(table: Table) {
    const { segments, memtables } = table.version;
    this.#table = table;
    this.#segments = new Version(segments, [], table.bucketSeconds);
    this.#memtables = memtables.map(({ memtable }) => memtable).filter(({ rows }) => rows > 0);
    const ids = Math.floor(CHUNK_BYTES / 8 / Math.max(1, segments.length));
    const chunk = Math.min(MAX_CHUNK_IDS, Math.max(MIN_CHUNK_IDS, ids));
    const { fs } = table.context;
    for (const segment of segments) this.#lists.push(new DictionaryList(fs, segment, chunk));
    this.bytes = segments.length * Math.min(chunk, MAX_CHUNK_IDS) * 8;
  }

  /**
   * Does the next part of the work, which takes at most a few milliseconds. Returns the count when
   * finished, else undefined. Throws the error of a failed file read.
   */
  step(): number | undefined {
    const memtable = this.#memtables[0];
    if (memtable !== undefined) {
      if (memtable.index(INDEX_ROWS)) this.#copyNodes(memtable);
      return undefined;
    }
    const unsorted = this.#unsorted.pop();
    if (unsorted !== undefined) {
      this.#lists.push(new OneChunk(unsorted.sort()));
      return undefined;
    }
    this.#merge ??= new DistinctMerge(this.#lists);
    return this.#merge.step(STEP_IDS) ? undefined : this.#merge.count;
  }

  #copyNodes(memtable: CoreMemtable): void {
    this.#memtables.shift();
    const ids = memtable.nodeIds();
    this.bytes += ids.byteLength;
    for (let at = 0; at < ids.length; at += SORT_IDS) this.#unsorted.push(ids.subarray(at, at + SORT_IDS));
  }

  close(): void {
    this.#memtables = [];
    this.#lists = [];
    this.#unsorted = [];
    this.#merge = undefined;
    this.bytes = 0;
    this.#table.unpin(this.#segments);
  }
}

class OneChunk implements AscendingList {
  #ids: Float64Array | undefined;

  constructor(ids: Float64Array) {
    this.#ids = ids;
  }

  next(): Float64Array | undefined {
    const ids = this.#ids;
    this.#ids = undefined;
    return ids;
  }
}

/**
 * Reads the dictionary of a segment from its file, so the segment need not be in memory. The file
 * is opened for each chunk, so no file descriptor stays open.
 */
class DictionaryList implements AscendingList {
  readonly #fs: Fs;
  readonly #segment: SegmentFile;
  readonly #chunk: number;
  #ids: Float64Array | undefined;
  #at = 0;

  constructor(fs: Fs, segment: SegmentFile, chunk: number) {
    this.#fs = fs;
    this.#segment = segment;
    this.#chunk = chunk;
  }

  next(): Float64Array | undefined {
    const { path, facts } = this.#segment;
    const count = Math.min(this.#chunk, facts.nodes - this.#at);
    if (count === 0) return undefined;
    const width = facts.nodeWidth;
    const bytes = new Uint8Array(count * width);
    const handle = this.#fs.open(path, 'read');
    try {
      for (let at = 0; at < bytes.length; ) {
        const n = handle.read(bytes.subarray(at), facts.nodesOffset + this.#at * width + at);
        if (n === 0) throw new Error(`${path} ends within its dictionary`);
        at += n;
      }
    } finally {
      handle.close();
    }
    this.#ids ??= new Float64Array(count);
    const ids = this.#ids.subarray(0, count);
    const words = new Uint32Array(bytes.buffer);
    const { nodeMin } = facts;
    if (width === 4) for (let i = 0; i < count; i++) ids[i] = nodeMin + words[i]!;
    else for (let i = 0; i < count; i++) ids[i] = nodeMin + words[2 * i]! + words[2 * i + 1]! * 2 ** 32;
    this.#at += count;
    return ids;
  }
}
