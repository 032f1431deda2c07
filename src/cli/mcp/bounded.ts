// Keeps answers small enough for a model to read: limits the number of characters of an answer.

/** Approximate limit for the length of an answer, in characters of JSON. */
export const MOST_CHARACTERS = 60_000;

/**
 * Returns the first items that fit into `room` characters of JSON, but at least one. A single item
 * that is too long is shortened.
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
 * Returns at most `limit` rows of a stream, as many as fit, and then ends the stream. `more` is
 * true when further rows exist.
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
 * Reads a page, and reads it again with fewer rows until it fits. This way its cursor continues
 * after the last row that is shown.
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

/** Cuts a text to `most` characters and appends the number of characters that were cut off. */
export function cut(text: string, most: number): string {
  return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} characters more)`;
}

/**
 * Cuts long texts and lists in the value until its JSON has about `room` characters. Each cut place
 * states how much was cut off.
 */
export function shortened<T>(value: T, room: number): T {
  if (JSON.stringify(value).length <= room) return value;
  for (let most = room / 2; ; most /= 2) {
    const less = pruned(value, most);
    // Stops at 16, because with very little room the names of the fields alone may be too long.
    if (most < 16 || JSON.stringify(less).length <= room) return less as T;
  }
}

/**
 * Cuts texts to `most` characters and lists to `most / 8` entries, because each entry takes several
 * characters.
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
