// Finds the name somebody may have meant: for "did you mean".

const MOST_DIFFERENCES = 2;

/** `; did you mean port?`, or nothing. */
export function didYouMean(name: string, known: readonly string[]): string {
  const near = known
    .map((other) => ({ other, count: differences(name, other) }))
    .filter(({ other, count }) => count <= Math.min(MOST_DIFFERENCES, other.length - 2))
    .sort((a, b) => a.count - b.count)[0];
  return near === undefined ? '' : `; did you mean ${near.other}?`;
}

/** Edit distance: insertions, deletions and changes of one character. */
function differences(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, row[j]! + 1, next[j - 1]! + 1));
    }
    row = next;
  }
  return row[b.length]!;
}
