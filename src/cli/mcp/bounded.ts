// Keeps answers small enough for a model to read: at most so many characters, with a hint how to get at the rest.

/** Characters of JSON of an answer, about; a single row may be larger. */
export const MOST_CHARACTERS = 60_000;

/** The first items that fit into `room` characters of JSON, one at least. */
export function fitting<T>(items: readonly T[], room: number = MOST_CHARACTERS): T[] {
  let left = room;
  let count = 0;
  for (const item of items) {
    left -= JSON.stringify(item).length + 1;
    if (left < 0 && count > 0) break;
    count += 1;
  }
  return items.slice(0, count);
}

/** At most `limit` rows of a stream, as many as fit; ends the stream then. `more`: there are others. */
export async function firstOf<T>(rows: AsyncIterable<T>, limit: number): Promise<{ rows: T[]; more: boolean }> {
  const taken: T[] = [];
  let left = MOST_CHARACTERS;
  for await (const row of rows) {
    left -= JSON.stringify(row).length + 1;
    if (taken.length === limit || (left < 0 && taken.length > 0)) return { rows: taken, more: true };
    taken.push(row);
  }
  return { rows: taken, more: false };
}

/** Reads a page again with fewer rows until it fits, so that its cursor goes on behind the last row shown. */
export async function fittingPage<T extends object>(limit: number, read: (limit: number) => Promise<T>): Promise<T> {
  for (let rows = limit; ; ) {
    const page = await read(rows);
    const size = JSON.stringify(page).length;
    if (size <= MOST_CHARACTERS || rows === 1) return page;
    rows = Math.max(1, Math.floor((rows * MOST_CHARACTERS * 0.9) / size));
  }
}

/** A text cut to `most` characters, which says that it is. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`;
}
