// Finds the known name nearest to a misspelt one, for messages that ask "Did you mean ...?".

/** Returns ` Did you mean X?`, which is appended to another sentence, or an empty text. */
export function didYouMean(given: string, known: Iterable<string>): string {
  const name = nearestName(given, known);
  return name === undefined ? '' : ` Did you mean ${name}?`;
}

/**
 * Returns the nearest known name, without regard to case. At most two typing mistakes are allowed,
 * and fewer than half the number of letters.
 */
export function nearestName(given: string, known: Iterable<string>): string | undefined {
  const name = given.slice(0, LONGEST).toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(2, Math.floor((name.length - 1) / 2)) + 1;
  for (const candidate of known) {
    if (Math.abs(candidate.length - name.length) >= bestDistance) continue;
    const distance = editDistance(name, candidate.toLowerCase());
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

const LONGEST = 64;

/**
 * Counts the insertions, deletions, changes of one character and swaps of neighbours that turn one
 * text into the other (Damerau-Levenshtein distance, restricted).
 */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1];
      let least = Math.min(row[j - 1]! + (same ? 0 : 1), next[j - 1]! + 1, row[j]! + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) least = Math.min(least, before[j - 2]! + 1);
      next.push(least);
    }
    before = row;
    row = next;
  }
  return row[b.length]!;
}
