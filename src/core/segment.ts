// A segment in an instance of its own: its bytes in linear memory, queried in place.

import { corruption, HedgerowError } from '../errors.ts';
import { SECTION_KIND, SEGMENT_FIELD, type Separator } from './abi.ts';
import type { Core } from './load.ts';
import { allocate, Region } from './region.ts';
import {
  RowWorkspace,
  STEP_ROWS,
  type StepBounds,
  type StepResult,
  type StepState,
  type TextSink,
} from './row-output.ts';
import type { RowPlan } from './row-plan.ts';
import { coreError, STATUS } from './status.ts';

/** Header facts of a segment file (FORMAT.md section 2). */
export interface SegmentFacts {
  bytes: number;
  rows: number;
  incidences: number;
  nodes: number;
  buckets: number;
  bucketSeconds: number;
  timeMin: number;
  timeMax: number;
  idMax: number;
  nodeMin: number;
  nodeMax: number;
  firstId: number;
  lastId: number;
  maxSize: number;
  table: number;
  nodeWidth: number;
  nodesOffset: number;
  filterOffset: number;
  filterBytes: number;
  /** CRC32C of the filter, as the directory says it. */
  filterChecksum: number;
}

function corruptStatus(core: Core, status: number, file: string): HedgerowError {
  if (status === STATUS.outOfMemory) return coreError(status, 'hg_segment_check');
  if (status === STATUS.unsupported) {
    return new HedgerowError(
      'corrupt',
      `${file} has a format version that this build does not read. Use the version of Hedgerow that wrote it, or a newer one.`,
      {
        fields: { file, offset: 8 },
      },
    );
  }
  return corruption(
    file,
    core.exports.hg_result_offset() >>> 0,
    'the bytes are not those of a segment that was written whole',
  );
}

/** Checks the head of a segment file (header and directory) in a scratch instance and reads its facts. Throws `corrupt`. */
export function readSegmentFacts(core: Core, head: Uint8Array, fileBytes: number, file: string): SegmentFacts {
  const { exports, memory } = core;
  const pointer = allocate(core, head.length);
  try {
    memory.write(pointer, head);
    const status = exports.hg_segment_check_header(pointer, head.length, fileBytes);
    if (status < 0) throw corruptStatus(core, status, file);
    return factsAt(core, pointer);
  } finally {
    exports.hg_memory_free(pointer);
  }
}

function factsAt(core: Core, base: number): SegmentFacts {
  const field = (name: keyof typeof SEGMENT_FIELD) => core.exports.hg_segment_field(base, SEGMENT_FIELD[name]);
  const filterOffset = core.exports.hg_segment_section(base, SECTION_KIND.filter, 0) >>> 0;
  const filterBytes = core.exports.hg_result_rows() >>> 0;
  return {
    bytes: field('bytes'),
    rows: field('rows'),
    incidences: field('incidences'),
    nodes: field('nodes'),
    buckets: field('buckets'),
    bucketSeconds: field('bucketSeconds'),
    timeMin: field('timeMin'),
    timeMax: field('timeMax'),
    idMax: field('idMax'),
    nodeMin: field('nodeMin'),
    nodeMax: field('nodeMax'),
    firstId: field('firstId'),
    lastId: field('lastId'),
    maxSize: field('maxSize'),
    table: field('table'),
    nodeWidth: field('nodeWidth'),
    nodesOffset: core.exports.hg_segment_section(base, SECTION_KIND.nodes, 0) >>> 0,
    filterOffset,
    filterBytes,
    filterChecksum: sectionChecksum(core, base, SECTION_KIND.filter),
  };
}

/** The checksum in the directory entry of a section (FORMAT.md section 2: u16 kind at 0, u32 CRC32C at 16 of each entry). */
function sectionChecksum(core: Core, base: number, kind: number): number {
  const { exports, memory } = core;
  const sections = exports.hg_segment_field(base, SEGMENT_FIELD.sections);
  const entryWords = exports.HG_SECTION_ENTRY_BYTES.value / 4;
  const words = memory.words;
  for (let index = 0; index < sections; index++) {
    const entry = (base + exports.HG_SEGMENT_HEADER_BYTES.value) / 4 + index * entryWords;
    if ((words[entry]! & 0xffff) === kind) return words[entry + 4]!;
  }
  return 0;
}

/** Rows of a segment that died, ascending, and the LSN each died at. Kept by the engine, copied into the instance when it changed. */
export interface DeadRows {
  readonly count: number;
  readonly rows: Uint32Array;
  readonly lsns: Float64Array;
  /** Changes with every change of the list. */
  readonly version: number;
}

export class ResidentSegment {
  readonly #core: Core;
  readonly #handle: number;
  readonly #work: RowWorkspace;
  readonly facts: SegmentFacts;
  #dead: Region | undefined;
  #deadVersion = -1;
  #deadFor: DeadRows | undefined;

  /**
   * Loads a file of `bytes` bytes through `read` into the instance and checks it. `deep` checks every reference, else the checksums only.
   * Throws `corrupt` with file and offset.
   */
  constructor(core: Core, bytes: number, read: (target: Uint8Array) => void, options: { deep: boolean; file: string }) {
    this.#core = core;
    const base = allocate(core, bytes);
    read(core.memory.borrow(base, bytes));
    const status = core.exports.hg_segment_check(base, bytes, options.deep ? 1 : 0);
    if (status < 0) throw corruptStatus(core, status, options.file);
    this.facts = factsAt(core, base);
    this.#handle = core.exports.hg_segment_open(base) >>> 0;
    if (this.#handle === 0) throw coreError(STATUS.outOfMemory, 'hg_segment_open');
    this.#work = new RowWorkspace(core);
  }

  get core(): Core {
    return this.#core;
  }

  /** Bytes of linear memory this instance holds. */
  get residentBytes(): number {
    return this.#core.memory.size;
  }

  /** First row whose (event_ts, id) is >= the key. */
  seek(eventTs: number, id: number): number {
    return this.#core.exports.hg_segment_seek(this.#handle, eventTs, id) >>> 0;
  }

  /** Row with exactly this key, or -1. */
  find(eventTs: number, id: number): number {
    return this.#core.exports.hg_segment_find(this.#handle, eventTs, id);
  }

  keyOf(row: number): { eventTs: number; id: number } {
    this.#core.exports.hg_segment_key(this.#handle, row, this.#work.key);
    const numbers = this.#core.memory.numbers;
    return { eventTs: numbers[this.#work.key / 8]!, id: numbers[this.#work.key / 8 + 1]! };
  }

  bucketsOf(from: number, to: number): number {
    return this.#core.exports.hg_segment_buckets(this.#handle, from, to) >>> 0;
  }

  /** Rows with the record's time and member set, ascending, dead ones too. */
  match(record: Uint8Array): Uint32Array {
    const pointer = allocate(this.#core, record.length);
    this.#core.memory.write(pointer, record);
    const { exports } = this.#core;
    let count = exports.hg_segment_match(this.#handle, pointer, this.#work.rows, STEP_ROWS) >>> 0;
    let out = this.#work.rows;
    let region: Region | undefined;
    if (count > STEP_ROWS) {
      region = new Region(this.#core, count * 4);
      out = region.pointer;
      count = exports.hg_segment_match(this.#handle, pointer, out, count) >>> 0;
    }
    const rows = this.#core.memory.words.slice(out / 4, out / 4 + count);
    region?.free();
    exports.hg_memory_free(pointer);
    return rows;
  }

  #uploadDead(dead: DeadRows): number {
    if (this.#deadFor === dead && this.#deadVersion === dead.version) return this.#dead!.pointer;
    const offset = (dead.count * 4 + 7) & ~7;
    this.#dead ??= new Region(this.#core, 1024);
    this.#dead.ensure(offset + dead.count * 8);
    const { pointer } = this.#dead;
    this.#core.memory.words.set(dead.rows.subarray(0, dead.count), pointer / 4);
    this.#core.memory.numbers.set(dead.lsns.subarray(0, dead.count), (pointer + offset) / 8);
    this.#deadFor = dead;
    this.#deadVersion = dead.version;
    return pointer;
  }

  /** Takes dead rows out of the row list in the workspace; returns how many stay. */
  #reconcile(n: number, dead: DeadRows, lsn: number): number {
    if (dead.count === 0 || n === 0) return n;
    const pointer = this.#uploadDead(dead);
    const offset = (dead.count * 4 + 7) & ~7;
    return this.#core.exports.hg_rows_reconcile(this.#work.rows, n, pointer, pointer + offset, dead.count, lsn) >>> 0;
  }

  /** Copies the lookup's nodes in; call before `step` with nodes. */
  setNodes(nodes: readonly number[]): void {
    this.#work.setNodes(nodes);
  }

  /**
   * Writes row text of live rows within the bounds (holding all `nodeCount` nodes set before, when not 0), at most `limit` rows and one text
   * buffer, in one call into the core. Fills `result`. Returns the row to go on from. Bounded: at most STEP_ROWS rows are looked at.
   */
  step(
    bounds: StepBounds,
    nodeCount: number,
    dead: DeadRows,
    lsn: number,
    limit: number,
    plan: RowPlan,
    separator: Separator,
    sink: TextSink,
    result: StepResult,
  ): number {
    const work = this.#work;
    const planAt = work.plan(plan);
    const deadAt = dead.count > 0 ? this.#uploadDead(dead) : 0;
    const block = work.block;
    let bytes: number;
    do {
      const numbers = this.#core.memory.numbers;
      const at = block / 8;
      numbers[at] = bounds.lowTs;
      numbers[at + 1] = bounds.lowId;
      numbers[at + 2] = bounds.endTs;
      numbers[at + 3] = bounds.stopTs;
      numbers[at + 4] = bounds.stopId;
      numbers[at + 5] = lsn;
      numbers[at + 6] = limit;
      numbers[at + 7] = separator;
      numbers[at + 8] = nodeCount;
      numbers[at + 9] = dead.count;
      numbers[at + 10] = work.nodes;
      numbers[at + 11] = deadAt;
      numbers[at + 12] = deadAt + ((dead.count * 4 + 7) & ~7);
      numbers[at + 13] = planAt;
      numbers[at + 14] = work.rows;
      numbers[at + 15] = work.text.pointer;
      numbers[at + 16] = work.text.bytes;
      bytes = this.#core.exports.hg_segment_step(this.#handle, block);
      if (bytes === STATUS.tooSmall) work.text.ensure(this.#core.exports.hg_result_needed() >>> 0);
    } while (bytes === STATUS.tooSmall);
    if (bytes < 0) throw coreError(bytes, 'hg_segment_step');
    const numbers = this.#core.memory.numbers;
    const at = block / 8 + 17;
    result.rows = numbers[at]!;
    result.firstTs = numbers[at + 1]!;
    result.lastTs = numbers[at + 2]!;
    result.lastId = numbers[at + 3]!;
    result.buckets = numbers[at + 4]!;
    result.state = numbers[at + 6]! as StepState;
    const next = numbers[at + 5]!;
    if (bytes > 0) sink.append(this.#core.memory.borrow(work.text.pointer, bytes));
    return next;
  }

  /** Whether a live row in [from, to) exists (with the nodes set before). */
  hasRow(from: number, to: number, nodeCount: number, dead: DeadRows, lsn: number): boolean {
    const { exports } = this.#core;
    let at = from;
    while (at < to) {
      let n: number;
      if (nodeCount > 0) {
        n = exports.hg_segment_lookup(this.#handle, this.#work.nodes, nodeCount, at, to, this.#work.rows, STEP_ROWS);
        at = exports.hg_result_rows() >>> 0;
      } else {
        n = Math.min(to - at, STEP_ROWS);
        exports.hg_rows_range(at, at + n, this.#work.rows);
        at += n;
      }
      if (n > 0 && this.#reconcile(n, dead, lsn) > 0) return true;
    }
    return false;
  }

  /**
   * Exports live rows of [from, to) as records into `out`, growing it; returns bytes written behind `used`.
   * The region must belong to this instance (compaction opens segments in its own).
   */
  exportRecords(from: number, to: number, dead: DeadRows, lsn: number, out: Region, used: number): number {
    const { exports } = this.#core;
    let written = used;
    for (let at = from; at < to; at += STEP_ROWS) {
      const count = Math.min(STEP_ROWS, to - at);
      exports.hg_rows_range(at, at + count, this.#work.rows);
      const n = this.#reconcile(count, dead, lsn);
      let done = 0;
      while (done < n) {
        const size = exports.hg_segment_records(
          this.#handle,
          this.#work.rows + done * 4,
          n - done,
          out.pointer + written,
          out.bytes - written,
        );
        if (size === STATUS.tooSmall) {
          out.extend(out.bytes + (exports.hg_result_needed() >>> 0), written);
          continue;
        }
        if (size < 0) throw coreError(size, 'hg_segment_records');
        done += exports.hg_result_rows() >>> 0;
        written += size;
        if (done < n) out.extend(out.bytes * 2, written);
      }
    }
    return written - used;
  }

  /** Distinct node ids, ascending. */
  nodeIds(): Float64Array {
    const { exports, memory } = this.#core;
    const region = new Region(this.#core, this.facts.nodes * 8);
    const n = exports.hg_segment_nodes(this.#handle, 0, region.pointer, this.facts.nodes) >>> 0;
    const ids = memory.numbers.slice(region.pointer / 8, region.pointer / 8 + n);
    region.free();
    return ids;
  }
}
