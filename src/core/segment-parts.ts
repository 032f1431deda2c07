// Parts of a segment in an instance: the rows of a record, and the text block.

import { assert } from '../assert.ts';
import { SECTION_KIND } from './abi-fields.ts';
import type { Core } from './load.ts';
import { allocate, Region } from './region.ts';
import { STEP_ROWS } from './row-output.ts';
import { TextBlock } from './text-block.ts';

/**
 * Returns the rows of a segment with the record's time and member set, ascending. `list` is a
 * region for STEP_ROWS rows.
 */
export function matchRecord(core: Core, segment: number, list: number, record: Uint8Array): Uint32Array {
  const { exports, memory } = core;
  const pointer = allocate(core, record.length);
  memory.write(pointer, record);
  let count = exports.hg_segment_match(segment, pointer, list, STEP_ROWS) >>> 0;
  let out = list;
  let region: Region | undefined;
  if (count > STEP_ROWS) {
    region = new Region(core, count * 4);
    out = region.pointer;
    count = exports.hg_segment_match(segment, pointer, out, count) >>> 0;
  }
  const rows = memory.words.slice(out / 4, out / 4 + count);
  region?.free();
  exports.hg_memory_free(pointer);
  return rows;
}

/** Returns the text block of the checked segment file of `rows` rows at `base`, if it has one. */
export function textBlockAt(core: Core, base: number, rows: number): TextBlock | undefined {
  const offset = core.exports.hg_segment_section(base, SECTION_KIND.text, 0) >>> 0;
  if (offset === 0) return undefined;
  const block = new TextBlock(core, base + offset, { keepsColumns: true });
  assert(block.documents === rows, 'the documents of a text block are the rows of its segment');
  return block;
}
