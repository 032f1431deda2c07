// Entity tags of reads: which state of which database an answer shows, so that a client that holds it need not get it again.

import { createHash } from 'node:crypto';
import type { Table } from '../engine/index.ts';

/** A number is the position in the log that last changed what was read; a text says the same with more in it. */
export type EntityTag = number | string;

export class EntityTags {
  /** Stands in front of every tag of this start of the service, so that tags of other databases never match. */
  readonly prefix: string;

  /** `boot` is random text of a start, without quotes. */
  constructor(boot: string) {
    this.prefix = `W/"${boot}-`;
  }

  textOf(tag: EntityTag): string {
    return `${this.prefix}${tag}"`;
  }

  /** True when `If-None-Match` is `*` or lists the tag (RFC 9110, 13.1.2: weak comparison). */
  matches(ifNoneMatch: string, tag: EntityTag): boolean {
    if (ifNoneMatch === '*') return true;
    const opaque = this.textOf(tag).slice(2);
    // A tag holds no quote, so its text between quotes stands nowhere else.
    for (const [found] of ifNoneMatch.matchAll(/"[^"]*"/g)) if (found === opaque) return true;
    return false;
  }
}

/** The tag of what readers see of one table now. */
export function tableTag(table: Table): EntityTag {
  return table.expirations === 0 ? table.changedLsn : `${table.changedLsn}.${table.expirations}`;
}

const TAGS_AT_ONCE = 1024;

/** The tag of what readers see of these tables now: they and nothing else, each as it is. */
export function tablesTag(tables: readonly Table[]): EntityTag {
  const hash = createHash('sha256');
  // A call into the hash costs more than a tag.
  for (let at = 0; at < tables.length; at += TAGS_AT_ONCE) {
    let tags = '';
    for (const table of tables.slice(at, at + TAGS_AT_ONCE)) tags += `${table.contentTag},`;
    hash.update(tags);
  }
  return hash.digest('base64url').slice(0, 22);
}
