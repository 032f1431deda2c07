// Makes the entity tags of answers that show tables. A tag changes whenever the data that readers
// see changes.

import { createHash } from 'node:crypto';
import type { Table } from '../engine/index.ts';
import type { EntityTag } from '../http/index.ts';

/** Returns the tag for the state of one table that readers see now. */
export function tableTag(table: Table): EntityTag {
  return table.expirations === 0 ? table.changedLsn : `${table.changedLsn}.${table.expirations}`;
}

const TAGS_AT_ONCE = 1024;

/** Returns the tag for the state of exactly these tables that readers see now. */
export function tablesTag(tables: readonly Table[]): EntityTag {
  const hash = createHash('sha256');
  // Tags are hashed in batches: a call into the hash costs more than making a tag.
  for (let at = 0; at < tables.length; at += TAGS_AT_ONCE) {
    let tags = '';
    for (const table of tables.slice(at, at + TAGS_AT_ONCE)) tags += `${table.contentTag},`;
    hash.update(tags);
  }
  return hash.digest('base64url').slice(0, 22);
}
