// Keeps answers small enough for a model to read: a limited number of characters, with a hint how
// to get the rest.

/** Characters of JSON of an answer, about. */
export const MOST_CHARACTERS = 60_000;

/**
 * The first items that fit into `room` characters of JSON, one at least, which is shortened where
 * it alone is too long.
 */
export function fitting<T>(items: readonly T[], room: number = MOST_CHARACTERS): T[] {
  let left = room;
  let count = 0;
  for (const item of items) {
    left -= JSON.stringify(item).length + 1;
    if (left < 0 && count > 0) break;
    count += 1;
  }
  const first = items.slice(0, count);
  return count === 1 ? [shortened(first[0]!, room)] : first;
}

/**
 * At most `limit` rows of a stream, as many as fit; ends the stream then. `more`: there are others.
 */
export async function firstOf<T>(rows: AsyncIterable<T>, limit: number): Promise<{ rows: T[]; more: boolean }> {
  const taken: T[] = [];
  let left = MOST_CHARACTERS;
  for await (const row of rows) {
    left -= JSON.stringify(row).length + 1;
    if (taken.length === limit || (left < 0 && taken.length > 0)) return { rows: taken, more: true };
    taken.push(left < 0 ? shortened(row, MOST_CHARACTERS) : row);
  }
  return { rows: taken, more: false };
}

/**
 * Reads a page again with fewer rows until it fits, so that its cursor continues after the last row
 * shown.
 */
export async function fittingPage<T extends object>(limit: number, read: (limit: number) => Promise<T>): Promise<T> {
  for (let rows = limit; ; ) {
    const page = await read(rows);
    const size = JSON.stringify(page).length;
    if (size <= MOST_CHARACTERS) return page;
    if (rows === 1) return shortened(page, MOST_CHARACTERS);
    rows = Math.max(1, Math.floor((rows * MOST_CHARACTERS * 0.9) / size));
  }
}

/** A text cut to `most` characters, which says that it is. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`;
}

/**
 * The value with its long texts and lists cut until its JSON has about `room` characters; what was
 * cut off is counted in its place.
 */
export function shortened<T>(value: T, room: number): T {
  if (JSON.stringify(value).length <= room) return value;
  for (let most = room / 2; ; most /= 2) {
    const less = pruned(value, most);
    // With no room left at all the names of fields alone would be too long.
    if (most < 16 || JSON.stringify(less).length <= room) return less as T;
  }
}

/**
 * Texts to `most` characters, lists to an eighth as many entries: an entry with its comma takes
 * some.
 */
function pruned(value: unknown, most: number): unknown {
  if (typeof value === 'string') return cut(value, Math.floor(most));
  if (typeof value !== 'object' || value === null) return value;
  if (!Array.isArray(value))
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, pruned(one, most)]));
  const count = Math.max(1, Math.floor(most / 8));
  const first = value.slice(0, count).map((one) => pruned(one, most));
  return value.length <= count ? first : [...first, `… (${value.length - count} entries more)`];
}
