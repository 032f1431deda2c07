// Collects edges in an instance's memory and encodes them to records in one call.

import { HedgerowError } from '../errors.ts';
import { checkKey } from '../model/edge.ts';
import { EdgeLines } from './edge-lines.ts';
import type { Core } from './load.ts';
import { Region } from './region.ts';
import { coreError, STATUS } from './status.ts';

const BATCH_ROWS = 4096;
const BATCH_MEMBERS = 32768;

/** Statuses that mean that an edge is faulty; the core then reports its row. */
const EDGE_FAULTS: readonly number[] = [STATUS.tooManyMembers, STATUS.emptyMembers, STATUS.badInteger];

/**
 * Returns the error for an edge that the core refused. The message is the one of the model's check.
 */
function edgeError(status: number, eventTs: number, members: readonly number[], limit: number): HedgerowError {
  try {
    checkKey(eventTs, members, limit);
  } catch (error) {
    if (error instanceof HedgerowError) return error;
  }
  return coreError(status, 'hg_records_encode');
}

/** Encodes edges in batches. A batch belongs to one instance, and calls do not overlap. */
export class EdgeBatch {
  readonly #core: Core;
  readonly #rows: Region;
  readonly #members: Region;
  /** Role masks, u16 per member; made when an edge has roles. */
  #masks: Region | undefined;
  #hasMasks = false;
  readonly #properties: Region;
  readonly #out: Region;
  #lines: EdgeLines | undefined;
  #count = 0;
  #memberCount = 0;
  #propertyBytes = 0;

  constructor(core: Core) {
    this.#core = core;
    this.#rows = new Region(core, BATCH_ROWS * 24);
    this.#members = new Region(core, BATCH_MEMBERS * 8);
    this.#properties = new Region(core, 16384);
    this.#out = new Region(core, 65536);
  }

  /** Encodes lines of JSON in the same instance. */
  get lines(): EdgeLines {
    this.#lines ??= new EdgeLines(this.#core);
    return this.#lines;
  }

  get count(): number {
    return this.#count;
  }

  /** Whether `encode` should be called before more edges are added. */
  get full(): boolean {
    return this.#count === BATCH_ROWS || this.#memberCount >= BATCH_MEMBERS || this.#propertyBytes > 1 << 20;
  }

  clear(): void {
    this.#count = 0;
    this.#memberCount = 0;
    this.#propertyBytes = 0;
    this.#hasMasks = false;
  }

  /**
   * Adds an edge. `encode` checks the numbers. A caller that needs a separate error for each edge
   * checks the edges before adding them. `masks`: the roles of the members, which must then ascend.
   */
  add(
    eventTs: number,
    members: readonly number[],
    properties: Uint8Array | null,
    masks?: readonly number[] | undefined,
  ): void {
    const n = members.length;
    const row = this.#count;
    this.#members.extend((this.#memberCount + n) * 8, this.#memberCount * 8);
    if (properties !== null) this.#properties.extend(this.#propertyBytes + properties.length, this.#propertyBytes);
    if (masks !== undefined || this.#hasMasks) this.#addMasks(n, masks);
    const { numbers, words, bytes } = this.#core.memory;
    const base = this.#rows.pointer;
    numbers[base / 8 + row] = eventTs;
    words[(base + BATCH_ROWS * 16) / 4 + row] = n;
    const at = this.#members.pointer / 8 + this.#memberCount;
    for (let i = 0; i < n; i++) numbers[at + i] = members[i]!;
    if (properties !== null) {
      bytes.set(properties, this.#properties.pointer + this.#propertyBytes);
      this.#propertyBytes += properties.length;
    }
    words[(base + BATCH_ROWS * 20) / 4 + row] = this.#propertyBytes;
    this.#memberCount += n;
    this.#count = row + 1;
  }

  /** Sets the masks of the next n members; those of the edges before are 0 if they had none. */
  #addMasks(n: number, masks: readonly number[] | undefined): void {
    const from = this.#memberCount;
    this.#masks ??= new Region(this.#core, BATCH_MEMBERS * 2);
    this.#masks.extend((from + n) * 2, this.#hasMasks ? from * 2 : 0);
    const view = new Uint16Array(this.#core.memory.bytes.buffer, this.#masks.pointer, from + n);
    if (!this.#hasMasks) view.fill(0, 0, from);
    this.#hasMasks = true;
    for (let i = 0; i < n; i++) view[from + i] = masks === undefined ? 0 : masks[i]!;
  }

  /**
   * Encodes the added edges with the ids `firstId`, `firstId + 1`, ... and clears the batch. The
   * returned bytes are a view that is valid until the next call into this instance. They begin with
   * `headroom` bytes for the caller to fill, so that a prefix and the records form one piece.
   * Throws `empty_members`, `too_many_members` or `invalid_input`, where `fields.row` is the
   * position of the edge in the batch, or `overloaded`. The batch is cleared in every case.
   */
  encode(firstId: number, limit: number, headroom = 0): Uint8Array<ArrayBuffer> {
    try {
      return this.#encoded(firstId, limit, headroom);
    } finally {
      // Edges that are refused must not be encoded with the next ones.
      this.clear();
    }
  }

  /** Same as `encode`, but if it throws, the edges stay in the batch. */
  encodeOrKeep(firstId: number, limit: number): Uint8Array<ArrayBuffer> {
    const bytes = this.#encoded(firstId, limit, 0);
    this.clear();
    return bytes;
  }

  #encoded(firstId: number, limit: number, headroom: number): Uint8Array<ArrayBuffer> {
    const { memory } = this.#core;
    const base = this.#rows.pointer;
    const rows = this.#count;
    const bytesOfMember = this.#hasMasks ? 11 : 9;
    this.#out.ensure(headroom + rows * 40 + this.#memberCount * bytesOfMember + this.#propertyBytes + 64);
    const ids = memory.numbers;
    for (let i = 0; i < rows; i++) ids[base / 8 + BATCH_ROWS + i] = firstId + i;
    const size = this.#hasMasks ? this.#encodeRoles(limit, headroom) : this.#encodePlain(limit, headroom);
    if (size < 0) throw this.#describe(size, limit);
    return memory.borrow(this.#out.pointer, headroom + size);
  }

  #encodePlain(limit: number, headroom: number): number {
    const base = this.#rows.pointer;
    return this.#core.exports.hg_records_encode(
      this.#count,
      base,
      base + BATCH_ROWS * 8,
      base + BATCH_ROWS * 16,
      this.#members.pointer,
      this.#propertyBytes > 0 ? base + BATCH_ROWS * 20 : 0,
      this.#properties.pointer,
      limit,
      this.#out.pointer + headroom,
      this.#out.bytes - headroom,
    );
  }

  #encodeRoles(limit: number, headroom: number): number {
    const base = this.#rows.pointer;
    return this.#core.exports.hg_records_encode_roles(
      this.#count,
      base,
      base + BATCH_ROWS * 8,
      base + BATCH_ROWS * 16,
      this.#members.pointer,
      this.#masks!.pointer,
      this.#propertyBytes > 0 ? base + BATCH_ROWS * 20 : 0,
      this.#properties.pointer,
      limit,
      this.#out.pointer + headroom,
      this.#out.bytes - headroom,
    );
  }

  #describe(status: number, limit: number): HedgerowError {
    if (!EDGE_FAULTS.includes(status)) return coreError(status, 'hg_records_encode');
    const row = this.#core.exports.hg_result_offset() >>> 0;
    const { numbers, words } = this.#core.memory;
    const counts = (this.#rows.pointer + BATCH_ROWS * 16) / 4;
    let at = this.#members.pointer / 8;
    for (let i = 0; i < row; i++) at += words[counts + i]!;
    const members = Array.from(numbers.subarray(at, at + words[counts + row]!));
    const error = edgeError(status, numbers[this.#rows.pointer / 8 + row]!, members, limit);
    return new HedgerowError(error.code, error.message, {
      ...(error.errors ? { errors: error.errors } : {}),
      fields: { row },
    });
  }
}
