// Reads the facts of a segment file from its header and directory, without loading its rows into
// memory.

import { corruption, HedgerowError } from '../errors.ts';
import { KIND_CODES } from '../model/column-types.ts';
import { SECTION_KIND, SEGMENT_FIELD } from './abi-fields.ts';
import type { Core } from './load.ts';
import { allocate } from './region.ts';
import { coreError, STATUS } from './status.ts';

/** Header fields of a segment file (FORMAT.md section 2). */
export interface SegmentFacts {
  bytes: number;
  /**
   * CRC-32C of the header and the directory. The directory contains the checksums of the sections,
   * so this number identifies the contents of the file.
   */
  checksum: number;
  rows: number;
  incidences: number;
  nodes: number;
  buckets: number;
  bucketSeconds: number;
  timeMin: number;
  timeMax: number;
  idMin: number;
  idMax: number;
  nodeMin: number;
  nodeMax: number;
  firstId: number;
  lastId: number;
  maxSize: number;
  table: number;
  nodeWidth: number;
  /** Whether some member of some row has a role. */
  hasRoles: boolean;
  /** The tag of the index whose text block the segment has; undefined without a block. */
  textTag: number | undefined;
  /** Undefined if there is no tree: then no row has an end, or the table has no intervals. */
  interval: IntervalFacts | undefined;
  nodesOffset: number;
  filterOffset: number;
  filterBytes: number;
  /** CRC-32C of the filter, from the directory. */
  filterChecksum: number;
  /** Property columns in the file, ascending by id. */
  columns: readonly ColumnFacts[];
}

/** The tree of the ends of a segment's intervals (FORMAT.md section 2, kind 18). */
export interface IntervalFacts {
  /** Column id of the ends. */
  readonly column: number;
  /** No row's end is above this number; Infinity if some row has no end. */
  readonly greatestEnd: number;
}

/** A property column, from the directory. */
export interface ColumnFacts {
  id: number;
  /** Whether the type is INTEGER or REAL. */
  numeric: boolean;
  /** Whether some row has no value. */
  hasNulls: boolean;
  /** Whether no row has a value. */
  allNull: boolean;
  /** Whether the segment has a sorted index (PSI) of the column's values. */
  ordered: boolean;
}

/** Index of the header's checksum among the u32 of the header (FORMAT.md section 2). */
const HEADER_CHECKSUM_WORD = 3;

/**
 * Asserts that an intact file is the file that was written under this name, not an earlier or
 * different one. If `checksum` is undefined, nothing is checked. Throws `corrupt`.
 */
export function assertChecksum(facts: SegmentFacts, checksum: number | undefined, file: string): void {
  if (checksum === undefined || facts.checksum === checksum) return;
  throw corruption(
    file,
    HEADER_CHECKSUM_WORD * 4,
    `it is undamaged, but it is another file than the one that was written there (checksum ${facts.checksum}, expected ${checksum})`,
  );
}

/** Returns the error for the status of a failed check. */
export function corruptStatus(core: Core, status: number, file: string): HedgerowError {
  if (status === STATUS.outOfMemory) return coreError(status, 'hg_segment_check_step');
  if (status === STATUS.unsupported) {
    return new HedgerowError(
      'corrupt',
      `${file} has at offset 8 a format version that this build does not read. Use the version of Hedgerow that wrote it. If no other version was in use, the file is corrupt: restore it from a backup.`,
      {
        fields: { file, offset: 8 },
      },
    );
  }
  return corruption(
    file,
    core.exports.hg_result_offset() >>> 0,
    'the bytes are not those of a completely written segment',
  );
}

/**
 * Checks the head of a segment file (header and directory) in a scratch instance, and returns its
 * facts. Throws `corrupt`.
 */
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

/** Returns the facts of the checked file at `base`. */
export function factsAt(core: Core, base: number): SegmentFacts {
  const field = (name: keyof typeof SEGMENT_FIELD) => core.exports.hg_segment_field(base, SEGMENT_FIELD[name]);
  const sections = sectionsAt(core, base);
  const interval = sections.find(({ kind }) => kind === SECTION_KIND.interval);
  const filterOffset = core.exports.hg_segment_section(base, SECTION_KIND.filter, 0) >>> 0;
  const filterBytes = core.exports.hg_result_rows() >>> 0;
  return {
    bytes: field('bytes'),
    checksum: core.memory.words[base / 4 + HEADER_CHECKSUM_WORD]!,
    rows: field('rows'),
    incidences: field('incidences'),
    nodes: field('nodes'),
    buckets: field('buckets'),
    bucketSeconds: field('bucketSeconds'),
    timeMin: field('timeMin'),
    timeMax: field('timeMax'),
    idMin: field('idMin'),
    idMax: field('idMax'),
    nodeMin: field('nodeMin'),
    nodeMax: field('nodeMax'),
    firstId: field('firstId'),
    lastId: field('lastId'),
    maxSize: field('maxSize'),
    table: field('table'),
    nodeWidth: field('nodeWidth'),
    hasRoles: sections.some(({ kind }) => kind === SECTION_KIND.roles),
    textTag: sections.find(({ kind }) => kind === SECTION_KIND.text)?.count,
    interval: interval && { column: interval.column, greatestEnd: field('timeMax') + field('ends') },
    nodesOffset: core.exports.hg_segment_section(base, SECTION_KIND.nodes, 0) >>> 0,
    filterOffset,
    filterBytes,
    filterChecksum: sections.find((section) => section.kind === SECTION_KIND.filter)?.checksum ?? 0,
    columns: columnsOf(sections),
  };
}

/** A directory entry (FORMAT.md section 2). */
interface Section {
  kind: number;
  column: number;
  type: number;
  flags: number;
  checksum: number;
  count: number;
}

const FLAG_NULLS = 1;
const FLAG_ALL_NULL = 2;

function sectionsAt(core: Core, base: number): Section[] {
  const { exports, memory } = core;
  const count = exports.hg_segment_field(base, SEGMENT_FIELD.sections);
  const entryWords = exports.HG_SECTION_ENTRY_BYTES.value / 4;
  const { words } = memory;
  return Array.from({ length: count }, (_, index) => {
    const entry = (base + exports.HG_SEGMENT_HEADER_BYTES.value) / 4 + index * entryWords;
    const [kindAndColumn, layout] = [words[entry]!, words[entry + 1]!];
    return {
      kind: kindAndColumn & 0xffff,
      column: kindAndColumn >>> 16,
      type: layout & 0xff,
      flags: layout >>> 16,
      checksum: words[entry + 4]!,
      count: words[entry + 5]!,
    };
  });
}

function columnsOf(sections: readonly Section[]): ColumnFacts[] {
  const ordered = new Set(sections.filter(({ kind }) => kind === SECTION_KIND.psi).map(({ column }) => column));
  return sections
    .filter(({ kind }) => kind === SECTION_KIND.column)
    .map(({ column, type, flags }) => ({
      id: column,
      numeric: type === KIND_CODES.real || type === KIND_CODES.integer,
      hasNulls: (flags & (FLAG_NULLS | FLAG_ALL_NULL)) !== 0,
      allNull: (flags & FLAG_ALL_NULL) !== 0,
      ordered: ordered.has(column),
    }));
}
