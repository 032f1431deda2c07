// Finds the separator of lists in cells where no flag names it.

const CANDIDATES = [';', ',', '|', ' '];
/** Marks that hardly a name holds. */
const LIST_MARKS = [';', '|'] as const;
/** One cell in this many may contain a mark by chance. */
const LISTS_IN = 10;

/**
 * `usual`: where no cell shows another one. Names may hold commas and spaces: those count between
 * numbers alone.
 */
export function separatorOf(cells: readonly unknown[], usual: string): string {
  const texts = cells.flatMap((cell) => (typeof cell === 'string' && cell.trim() !== '' ? [cell.trim()] : []));
  if (texts.some((text) => text.includes(usual))) return usual;
  const between = CANDIDATES.find(
    (mark) => texts.some((text) => text.includes(mark)) && texts.every((text) => isNumbers(text, mark)),
  );
  if (between !== undefined) return between;
  return texts.some((text) => text.includes('|')) ? '|' : usual;
}

/** The mark between names in many of these cells, and in how many; undefined: in few of them. */
export function listMark(cells: readonly unknown[]): { mark: string; count: number; of: number } | undefined {
  const texts = cells.flatMap((cell) => (typeof cell === 'string' && cell.trim() !== '' ? [cell.trim()] : []));
  const counts = LIST_MARKS.map((mark) => ({
    mark,
    count: texts.filter((text) => isBetween(text, mark)).length,
    of: texts.length,
  }));
  const [most] = counts.sort((a, b) => b.count - a.count);
  return most !== undefined && most.count > 0 && most.count * LISTS_IN >= texts.length ? most : undefined;
}

function isBetween(text: string, mark: string): boolean {
  return text.includes(mark) && text.split(mark).filter((part) => part.trim() !== '').length > 1;
}

function isNumbers(text: string, mark: string): boolean {
  return text.split(mark).every((part) => /^\s*[+-]?\d+\s*$/.test(part) || (part === '' && mark === ' '));
}
