// The tag of a text index in the sections of segments.

import type { ColumnSet } from '../../model/columns.ts';
import { ANALYZER_VERSION, LANGUAGES } from '../../text/index.ts';
import type { TextIndex } from '../catalog/catalog.ts';
import type { TextWork } from '../compaction/work.ts';

/** FNV-1a (Fowler, Noll, Vo), 32 bits. */
const OFFSET = 0x811c9dc5;
const PRIME = 0x01000193;

/**
 * Returns a u32 that tells the columns, the language and the version of the division into words
 * from others: a block with another tag is built again, and never searched.
 */
export function tagOf({ columns, language }: Pick<TextIndex, 'columns' | 'language'>): number {
  let hash = OFFSET;
  for (const value of [ANALYZER_VERSION, LANGUAGES.indexOf(language), ...columns])
    for (let shift = 0; shift < 32; shift += 8) hash = Math.imul(hash ^ ((value >>> shift) & 0xff), PRIME);
  return hash >>> 0;
}

/** Returns a text index of a table as it is built. */
export function textWorkOf(columns: ColumnSet, index: TextIndex): TextWork {
  return {
    language: index.language,
    columns: index.columns.map((id) => ({ id, missing: (columns.withId(id)?.default as string | null) ?? null })),
    tag: tagOf(index),
  };
}
