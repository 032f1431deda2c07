// Entity tags of reads. A tag identifies the state of the database that an answer shows, so that a
// client that already has the answer need not fetch it again.

import { createHash } from 'node:crypto';
import type { Table } from '../engine/index.ts';

/**
 * A number is the log position of the last change to the data that was read; a text identifies the
 * state in more detail.
 */
export type EntityTag = number | string;

export class EntityTags {
  /**
   * Prefix of every tag of this start of the service, so that tags of other databases never match.
   */
  readonly prefix: string;

  /** `boot` is a random text chosen at startup, without quotes. */
  constructor(boot: string) {
    this.prefix = `W/"${boot}-`;
  }

  textOf(tag: EntityTag): string {
    return `${this.prefix}${tag}"`;
  }

  /** True if `If-None-Match` is `*` or lists the tag (RFC 9110, 13.1.2: weak comparison). */
  matches(ifNoneMatch: string, tag: EntityTag): boolean {
    if (ifNoneMatch === '*') return true;
    const opaque = this.textOf(tag).slice(2);
    // A tag contains no quote, so a quoted text that is equal is the whole tag.
    for (const [found] of ifNoneMatch.matchAll(/"[^"]*"/g)) if (found === opaque) return true;
    return false;
  }
}

/** The tag of the state of one table that readers see now. */
export function tableTag(table: Table): EntityTag {
  return table.expirations === 0 ? table.changedLsn : `${table.changedLsn}.${table.expirations}`;
}

const TAGS_AT_ONCE = 1024;

/** The tag of the state of exactly these tables that readers see now. */
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
