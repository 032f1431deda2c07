// Computes the entity tags of answers that show tables. A tag changes whenever the data that
// readers see changes.

import { createHash } from 'node:crypto';
import type { Table } from '../engine/index.ts';
import type { EntityTag } from '../http/index.ts';

/** Returns the tag for the current state of one table, as readers see it. */
export function tableTag(table: Table): EntityTag {
  return table.expirations === 0 ? table.changedLsn : `${table.changedLsn}.${table.expirations}`;
}

const TAGS_AT_ONCE = 1024;

/**
 * Returns the tag for the current state of a list of tables, as readers see it. The tag also
 * depends on which tables are in the list.
 */
export function tablesTag(tables: readonly Table[]): EntityTag {
  const hash = createHash('sha256');
  // Tags are hashed in batches: a call of the hash function costs more than computing a tag.
  for (let at = 0; at < tables.length; at += TAGS_AT_ONCE) {
    let tags = '';
    for (const table of tables.slice(at, at + TAGS_AT_ONCE)) tags += `${table.contentTag},`;
    hash.update(tags);
  }
  return hash.digest('base64url').slice(0, 22);
}
