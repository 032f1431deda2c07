// The deletions of nodes in a random history of named tables, by key.

import type { NaiveKind, NaiveNode } from '../model/named-state.ts';

export class NamedDeaths {
  /** LSN of the newest deletion, by kind and key. */
  readonly #newest = new Map<NaiveKind, Map<NaiveNode['key'], number>>();

  add(nodes: readonly NaiveNode[], lsn: number): void {
    for (const { kind, key } of nodes) {
      const keys = this.#newest.get(kind) ?? new Map<NaiveNode['key'], number>();
      this.#newest.set(kind, keys.set(key, lsn));
    }
  }

  /** Forgets all, when the database is opened again: nobody has an older snapshot then. */
  clear(): void {
    this.#newest.clear();
  }

  /** Whether a node with the key was deleted after an LSN, whether or not it was there then. */
  isSince({ kind, key }: Pick<NaiveNode, 'kind' | 'key'>, lsn: number): boolean {
    return (this.#newest.get(kind)?.get(key) ?? 0) > lsn;
  }
}
