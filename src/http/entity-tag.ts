// Entity tags of reads. A tag identifies the state of the database that an answer shows, so that a
// client that already has the answer need not fetch it again.

/**
 * A number is the log position of the last change to the data that was read; a text identifies the
 * state in more detail.
 */
export type EntityTag = number | string;

export class EntityTags {
  /**
   * Prefix of all tags. It differs at each start of the service, so that tags of other databases
   * never match.
   */
  readonly prefix: string;

  /** `boot` is a random text chosen at startup, without quotes. */
  constructor(boot: string) {
    this.prefix = `W/"${boot}-`;
  }

  textOf(tag: EntityTag): string {
    return `${this.prefix}${tag}"`;
  }

  /**
   * Returns true if `If-None-Match` is `*` or lists the tag (RFC 9110, 13.1.2: weak comparison).
   */
  matches(ifNoneMatch: string, tag: EntityTag): boolean {
    if (ifNoneMatch === '*') return true;
    const opaque = this.textOf(tag).slice(2);
    // A tag contains no quote, so a quoted text that is equal is the whole tag.
    for (const [found] of ifNoneMatch.matchAll(/"[^"]*"/g)) if (found === opaque) return true;
    return false;
  }
}
