// What readers of changes need besides the log: from which LSN on it records everything they need,
// and how tables looked before their definitions changed, because rows that were written before
// have the columns of that time.

import type { TableDefinition } from '../catalog/catalog.ts';
import { type CatalogChange, isOfShape } from '../catalog/changes.ts';

/** A definition that was replaced. */
export interface OldDefinition {
  /** LSN of the change. */
  readonly lsn: number;
  readonly definition: TableDefinition;
}

/** The history as stored in the manifest. */
export interface StoredHistory {
  /** Frames from this LSN on record times and deleted rows. */
  readonly fromLsn: number;
  /** Ascending by LSN. */
  readonly definitions: readonly OldDefinition[];
}

export class ChangeHistory {
  #fromLsn = Infinity;
  #definitions: OldDefinition[] = [];

  /** Frames from this LSN on record times and deleted rows; Infinity if none do. */
  get fromLsn(): number {
    return this.#fromLsn;
  }

  /** Whether changes are kept. */
  get isKept(): boolean {
    return this.#fromLsn !== Infinity;
  }

  load({ fromLsn, definitions }: StoredHistory): void {
    this.#fromLsn = fromLsn;
    this.#definitions = [...definitions];
  }

  /** Starts a history with the frame that begins with `lsn`. */
  begin(lsn: number): void {
    this.#fromLsn = lsn;
    this.#definitions = [];
  }

  /** Called before a catalog change is applied, with the table's definition until then. */
  changing(change: CatalogChange, lsn: number, definition: TableDefinition): void {
    if (lsn < this.#fromLsn || (this.#definitions.at(-1)?.lsn ?? 0) >= lsn) return;
    if (change.op === 'drop_table' || (change.op !== 'create_table' && isOfShape(change)))
      this.#definitions.push({ lsn, definition });
  }

  /**
   * Returns the definition of a table as of `lsn`; `current` is its definition now, undefined if it
   * was dropped.
   */
  definitionAt(id: number, lsn: number, current: TableDefinition | undefined): TableDefinition | undefined {
    return this.#definitions.find((old) => old.lsn > lsn && old.definition.id === id)?.definition ?? current;
  }

  /**
   * Returns what the manifest stores, without what is older than the log, whose oldest LSN is
   * `oldestLsn`; undefined if there is no history.
   */
  stored(oldestLsn: number): StoredHistory | undefined {
    if (!this.isKept) return undefined;
    this.#definitions = this.#definitions.filter(({ lsn }) => lsn >= oldestLsn);
    return { fromLsn: this.#fromLsn, definitions: this.#definitions };
  }
}
