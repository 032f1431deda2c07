// Keeps the links between memories in a dump. The column `supersedes` of a memory holds the id of
// another one, and edges get new ids when they are loaded. So a dump says between which rows the
// links are, by the places of rows in the table's files: 0 is the first row of the first file.
//
// Example: of the rows with the ids 2, 3, 4 the last one has `supersedes` = 2. The dump has the
// link [2, 0]. The rows are loaded as 1, 2, 3, and the third gets `supersedes` = 1.

import { SUPERSEDES } from '../../model/memories.ts';
import type { Row } from '../run/runner.ts';

/**
 * The place of a row with a link, and that of the row with the linked id; null if no row has it.
 */
export type Link = readonly [place: number, target: number | null];

/** Links by the name of the table. */
export type Links = Readonly<Record<string, readonly Link[]>>;

/** Collects the links of one table while its rows are written. */
export class LinkCollector {
  /** The rows of the first file, and those that are set aside into the second one. */
  readonly #files = [new FileLinks(), new FileLinks()] as const;

  /** Adds rows in the order in which they are written. */
  add(rows: readonly Row[], isAside: boolean): void {
    this.#files[isAside ? 1 : 0].add(rows);
  }

  /** Returns the links, by place. */
  links(): Link[] {
    const places = new Map<number, number>();
    for (const { ids } of this.#files) for (const id of ids) places.set(id, places.size);
    let before = 0;
    return this.#files.flatMap(({ ids, linked }) => {
      const first = before;
      before += ids.length;
      return linked.map(([place, id]): Link => [first + place, places.get(id) ?? null]);
    });
  }
}

class FileLinks {
  readonly ids: number[] = [];
  /** Places in this file, with the ids in the column. */
  readonly linked: [place: number, id: number][] = [];

  add(rows: readonly Row[]): void {
    for (const row of rows) {
      const id = row[SUPERSEDES];
      if (typeof id === 'number') this.linked.push([this.ids.length, id]);
      this.ids.push(row.id as number);
    }
  }
}

/** Returns whether a value read from a dump is the list of links of a table with so many rows. */
export function areLinks(value: unknown, rowCount: number): value is readonly Link[] {
  const isPlace = (place: unknown) =>
    Number.isSafeInteger(place) && (place as number) >= 0 && (place as number) < rowCount;
  let last = -1;
  return (
    Array.isArray(value) &&
    value.every((link: unknown) => {
      if (!Array.isArray(link) || link.length !== 2) return false;
      const [place, target] = link as unknown[];
      if (!isPlace(place) || (place as number) <= last || (target !== null && !isPlace(target))) return false;
      last = place as number;
      return true;
    })
  );
}
