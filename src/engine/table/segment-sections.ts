// Reads the section directory of a segment file (assembly/FORMAT.md section 2), and checks the
// checksums of the sections while the file is read as a stream.

import { corruption, type HedgerowError } from '../../errors.ts';
import { type Crc32c, type FileHandle, readFully } from '../../storage/index.ts';

/**
 * The core exports the same numbers; test/abi/exports.test.ts compares them. They are repeated here
 * because files are also read where no core is loaded.
 */
export const SEGMENT_HEADER_BYTES = 128;
export const SECTION_ENTRY_BYTES = 24;

/** One entry of the section directory, as stored. */
export interface SectionEntry {
  kind: number;
  /** Column id, for column sections. */
  column: number;
  type: number;
  /** Size of a value in bytes; 0 if it varies. */
  width: number;
  offset: number;
  bytes: number;
  checksum: number;
  count: number;
}

/**
 * Returns the size of header and directory in bytes, computed from the section count in the header.
 */
export function segmentHeadBytes(header: Uint8Array): number {
  return SEGMENT_HEADER_BYTES + viewOf(header).getUint32(20, true) * SECTION_ENTRY_BYTES;
}

/**
 * Returns the header and directory of a file, unchecked. The result is shorter if the file is too
 * short.
 */
export function readSegmentHead(handle: FileHandle): Uint8Array {
  const header = new Uint8Array(SEGMENT_HEADER_BYTES);
  const found = readFully(handle, header, 0);
  if (found < header.length) return header.subarray(0, found);
  const head = new Uint8Array(Math.min(handle.size(), segmentHeadBytes(header)));
  return head.subarray(0, readFully(handle, head, 0));
}

/** Returns the directory entries that are completely in `head`, the first bytes of the file. */
export function sectionEntries(head: Uint8Array): SectionEntry[] {
  const view = viewOf(head);
  const end = Math.min(head.length, segmentHeadBytes(head));
  const entries: SectionEntry[] = [];
  for (let at = SEGMENT_HEADER_BYTES; at + SECTION_ENTRY_BYTES <= end; at += SECTION_ENTRY_BYTES) {
    entries.push({
      kind: view.getUint16(at, true),
      column: view.getUint16(at + 2, true),
      type: view.getUint8(at + 4),
      width: view.getUint8(at + 5),
      offset: view.getUint32(at + 8, true),
      bytes: view.getUint32(at + 12, true),
      checksum: view.getUint32(at + 16, true),
      count: view.getUint32(at + 20, true),
    });
  }
  return entries;
}

interface Stretch {
  offset: number;
  bytes: number;
}

/**
 * Returns the gaps between the directory, the sections and the end of the file. Their bytes must be
 * zeros.
 */
export function segmentGaps(head: Uint8Array, fileBytes: number): Stretch[] {
  const gaps: Stretch[] = [];
  let end = segmentHeadBytes(head);
  for (const { offset, bytes } of sectionEntries(head).sort((a, b) => a.offset - b.offset)) {
    if (offset > end) gaps.push({ offset: end, bytes: offset - end });
    end = Math.max(end, offset + bytes);
  }
  if (fileBytes > end) gaps.push({ offset: end, bytes: fileBytes - end });
  return gaps;
}

export function gapFault(path: string, offset: number): HedgerowError {
  return corruption(path, offset, 'the bytes between two sections are not zero');
}

/**
 * Checks the sections of one file and the gaps between them. The bytes of the file are passed to
 * `add` in order, in pieces of any size.
 */
export class SectionCheck {
  readonly #path: string;
  readonly #crc32c: Crc32c;
  readonly #entries: readonly SectionEntry[];
  readonly #sums: number[];
  readonly #gaps: readonly Stretch[];
  #offset = 0;

  /** `head` contains the header and directory of the file, which were checked before. */
  constructor(path: string, head: Uint8Array, fileBytes: number, crc32c: Crc32c) {
    this.#path = path;
    this.#crc32c = crc32c;
    this.#entries = sectionEntries(head);
    this.#sums = this.#entries.map(() => 0);
    this.#gaps = segmentGaps(head, fileBytes);
  }

  /** Throws `corrupt` for a gap that is not zero. */
  add(piece: Uint8Array): void {
    const start = this.#offset;
    this.#offset += piece.length;
    for (const [index, entry] of this.#entries.entries()) {
      const part = overlap(piece, start, entry);
      if (part.length > 0) this.#sums[index] = this.#crc32c(part, this.#sums[index]!) >>> 0;
    }
    for (const gap of this.#gaps)
      if (overlap(piece, start, gap).some((byte) => byte !== 0)) throw gapFault(this.#path, gap.offset);
  }

  /** Called at the end of the file. Throws `corrupt` when a checksum does not match. */
  finish(): void {
    for (const [index, { offset, checksum }] of this.#entries.entries()) {
      if (this.#sums[index] !== checksum)
        throw corruption(this.#path, offset, 'the checksum of the section there does not match');
    }
  }
}

/**
 * Returns the part of `piece` that is in the stretch. `start` is the offset of `piece` in the file.
 */
function overlap(piece: Uint8Array, start: number, { offset, bytes }: Stretch): Uint8Array {
  const from = Math.max(offset, start);
  return piece.subarray(from - start, Math.max(from, Math.min(offset + bytes, start + piece.length)) - start);
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
