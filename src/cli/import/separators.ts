// What stands between the nodes of a list in one cell, where nobody says it.

const CANDIDATES = [';', ',', '|', ' '];

/** `usual`: where no cell shows another one. Names may hold commas and spaces: those count between numbers alone. */
export function separatorOf(cells: readonly unknown[], usual: string): string {
  const texts = cells.flatMap((cell) => (typeof cell === 'string' && cell.trim() !== '' ? [cell.trim()] : []));
  if (texts.some((text) => text.includes(usual))) return usual;
  const between = CANDIDATES.find(
    (mark) => texts.some((text) => text.includes(mark)) && texts.every((text) => isNumbers(text, mark)),
  );
  if (between !== undefined) return between;
  return texts.some((text) => text.includes('|')) ? '|' : usual;
}

function isNumbers(text: string, mark: string): boolean {
  return text.split(mark).every((part) => /^\s*[+-]?\d+\s*$/.test(part) || (part === '' && mark === ' '));
}
